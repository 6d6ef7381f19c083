// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of elements as code calls them that has its elements in registers: of one register, of two, and of the
/// parts of complex elements. Kernels of N lanes are those of runtime/ElementKernels.cpp, which includes this.
#pragma once

#include "runtime/ElementFunctions.h"
#include "runtime/FloatKernels.h"

namespace toy::rt::TOY_ISA {
namespace {

/// Doubles of a register.
#if defined(__AVX512F__)
constexpr int native = 8;
#elif defined(__AVX2__)
constexpr int native = 4;
#else
constexpr int native = 2;
#endif

/// Of the table.
enum Row {
#define TOY_ELEMENT(KERNEL, NAME, DTYPE, INPUTS, OUTPUTS) row_##NAME##_##DTYPE,
#include "runtime/ElementFunctions.def"
};
struct Domain {
  double low = -__builtin_inf(), high = __builtin_inf();
  bool isPositive = false; ///< the sign of the NaN that the function of one element gives outside
};
/// Of a real function of one argument.
inline Domain domainOf(int row) {
  switch (row) {
  case row_log_F32:
  case row_log_F64:
  case row_log2_F32:
  case row_log2_F64:
    return {.low = 0};
  case row_log10_F32:
  case row_log10_F64:
    return {.low = 0, .isPositive = true};
  case row_log1p_F32:
  case row_log1p_F64:
    return {.low = -1};
  case row_acosh_F32:
  case row_acosh_F64:
    return {.low = 1};
  case row_asin_F32:
  case row_asin_F64:
  case row_acos_F32:
  case row_acos_F64:
    return {-1, 1, true};
  case row_atanh_F32:
  case row_atanh_F64:
    return {-1, 1};
  default:
    return {};
  }
}
/// Whether arguments are those of the lane before: a single number fills a register, and data repeat zeros.
template <int inputs, typename V> bool isRepeated(const V *arguments, unsigned lane) {
  for (int i = 0; i < inputs; ++i) {
    const auto bits = __builtin_bit_cast(decltype(arguments[i] < arguments[i]), arguments[i]);
    if (lane == 0 || bits[lane] != bits[lane - 1])
      return false;
  }
  return true;
}
/// What no lane's kernel takes goes one by one, but for what is NaN: NaN itself, of which data may be full, and what is
/// outside of the domain. Whoever calls this copies the arguments then: those of the usual path stay in registers.
template <int inputs, typename V, typename M>
__attribute__((noinline, cold)) V applyCarefully(int row, V result, M ordinary, const V *arguments) {
  if constexpr (inputs == 1) {
    const Domain domain = domainOf(row);
    const V x = arguments[0], low = domain.low, high = domain.high;
    const M isInside = (x >= low) & (x <= high);
    result = isInside ? result : x != x ? x + x : V(domain.isPositive ? __builtin_nanf("") : -__builtin_nanf(""));
    ordinary |= ~isInside;
    if (areAll(ordinary))
      return result;
  }
  for (unsigned lane = 0; lane < sizeof(V) / sizeof(result[0]); ++lane)
    if (!ordinary[lane]) {
      if (isRepeated<inputs>(arguments, lane)) {
        result[lane] = result[lane - 1];
        continue;
      }
      double one[inputs];
      for (int i = 0; i < inputs; ++i)
        one[i] = arguments[i][lane];
      elementFunctions()[row].careful(one);
      result[lane] = static_cast<decltype(result[0] + 0)>(one[0]);
    }
  return result;
}
template <auto kernel, int row, typename V = Argument<kernel>> V unary(V x) {
  V v[] = {x};
  auto ordinary = kernel(v);
  if (__builtin_expect(areAll(ordinary), 1))
    return v[0];
  const V arguments[] = {x};
  return applyCarefully<1>(row, v[0], ordinary, arguments);
}
template <auto kernel, int row, typename V = Argument<kernel>> V binary(V x, V y) {
  V v[] = {x, y};
  auto ordinary = kernel(v);
  if (__builtin_expect(areAll(ordinary), 1))
    return v[0];
  const V arguments[] = {x, y};
  return applyCarefully<2>(row, v[0], ordinary, arguments);
}
/// The same of floats that are computed in double: two registers of doubles, so that one is computed while the other
/// waits.
struct Halves {
  Lanes<native> low, high;
  explicit Halves(Floats<2 * native> x)
      : low(__builtin_convertvector(x.lo, Lanes<native>)), high(__builtin_convertvector(x.hi, Lanes<native>)) {}
  Halves(Lanes<native> low, Lanes<native> high) : low(low), high(high) {}
  Floats<2 * native> rounded() const {
    Floats<2 * native> x;
    x.lo = __builtin_convertvector(low, Floats<native>);
    x.hi = __builtin_convertvector(high, Floats<native>);
    return x;
  }
};
template <auto kernel, int row> Floats<2 * native> unarySingle(Floats<2 * native> x) {
  Halves v(x);
  Lanes<native> low[] = {v.low}, high[] = {v.high};
  Mask<native> first = kernel(low), second = kernel(high);
  if (__builtin_expect(!areAll(first & second), 0)) {
    const Lanes<native> lows[] = {v.low}, highs[] = {v.high};
    return Halves(applyCarefully<1>(row, low[0], first, lows), applyCarefully<1>(row, high[0], second, highs))
        .rounded();
  }
  return Halves(low[0], high[0]).rounded();
}
template <auto kernel, int row> Floats<2 * native> binarySingle(Floats<2 * native> x, Floats<2 * native> y) {
  Halves v(x), w(y);
  Lanes<native> low[] = {v.low, w.low}, high[] = {v.high, w.high};
  Mask<native> first = kernel(low), second = kernel(high);
  if (__builtin_expect(!areAll(first & second), 0)) {
    const Lanes<native> lows[] = {v.low, w.low}, highs[] = {v.high, w.high};
    return Halves(applyCarefully<2>(row, low[0], first, lows), applyCarefully<2>(row, high[0], second, highs))
        .rounded();
  }
  return Halves(low[0], high[0]).rounded();
}
template <auto kernel, int row, bool isSingle, int inputs, int outputs> constexpr auto direct() {
  if constexpr (outputs != 1 || inputs > 2)
    return static_cast<void (*)()>(nullptr);
  else if constexpr (isSingle && inputs == 1)
    return unarySingle<kernel, row>;
  else if constexpr (isSingle)
    return binarySingle<kernel, row>;
  else if constexpr (inputs == 1)
    return unary<kernel, row>;
  else
    return binary<kernel, row>;
}
} // namespace

/// Half of what a kernel computes with: a register.
template <typename V> using Half = decltype(V().lo + V().lo);
/// Gives both registers back: a function of C++ has one result in a register, and what it jumps to has its arguments
/// where a caller of other making finds two.
Floats<2 * native> bothRegisters(Floats<2 * native>, Floats<2 * native>) __asm__("toy_rt_both_registers");
Lanes<native> bothRegisters(Lanes<native>, Lanes<native>) __asm__("toy_rt_both_registers");
template <typename V> Half<V> bothRegisters(Half<V>, Half<V>, Half<V>, Half<V>) __asm__("toy_rt_both_registers");

namespace {

template <auto kernel, int row, int inputs, typename V = Argument<kernel>> V atOnce(const V (&arguments)[inputs]) {
  V v[inputs];
  for (int i = 0; i < inputs; ++i)
    v[i] = arguments[i];
  auto ordinary = kernel(v);
  if (__builtin_expect(areAll(ordinary), 1))
    return v[0];
  V copies[inputs];
  for (int i = 0; i < inputs; ++i)
    copies[i] = arguments[i];
  return applyCarefully<inputs>(row, v[0], ordinary, copies);
}
template <typename V> V joined(Half<V> low, Half<V> high) {
  V both;
  both.lo = low;
  both.hi = high;
  return both;
}
/// Two registers of arguments, and of results.
template <auto kernel, int row, typename V = Argument<kernel>> Half<V> unaryPair(Half<V> low, Half<V> high) {
  const V v = atOnce<kernel, row, 1>({joined<V>(low, high)});
  [[clang::musttail]] return bothRegisters(Half<V>(v.lo), Half<V>(v.hi));
}
/// Of first arguments, then of second ones.
template <auto kernel, int row, typename V = Argument<kernel>>
Half<V> binaryPair(Half<V> low, Half<V> high, Half<V> secondLow, Half<V> secondHigh) {
  const V v = atOnce<kernel, row, 2>({joined<V>(low, high), joined<V>(secondLow, secondHigh)});
  [[clang::musttail]] return bothRegisters<V>(v.lo, v.hi, secondLow, secondHigh);
}
/// Elements of c64, as many as a register has floats: their parts, and others of each element, in registers of floats,
/// in double on the way.
using PartLanes = Floats<2 * native>;
template <int inputs, int outputs> constexpr int mostParts = inputs > outputs ? inputs : outputs;
template <int inputs, int outputs>
__attribute__((noinline, cold)) void carefulComplex(int row, Lanes<native> *v, Mask<native> ordinary,
                                                    const Lanes<native> *arguments) {
  for (int lane = 0; lane < native; ++lane)
    if (!ordinary[lane]) {
      double one[mostParts<inputs, outputs>];
      for (int i = 0; i < inputs; ++i)
        one[i] = arguments[i][lane];
      elementFunctions()[row].careful(one);
      for (int i = 0; i < outputs; ++i)
        v[i][lane] = one[i];
    }
}
template <auto kernel, int row, int inputs, int outputs> void ofComplex(PartLanes *parts) {
  constexpr int most = mostParts<inputs, outputs>;
  Lanes<native> low[most], high[most];
  for (int i = 0; i < inputs; ++i) {
    const Halves v(parts[i]);
    low[i] = v.low;
    high[i] = v.high;
  }
  const Mask<native> first = kernel(low), second = kernel(high);
  if (__builtin_expect(!areAll(first & second), 0)) {
    Lanes<native> results[2][most], lows[inputs], highs[inputs];
    for (int i = 0; i < inputs; ++i) {
      const Halves v(parts[i]);
      lows[i] = v.low;
      highs[i] = v.high;
    }
    for (int i = 0; i < outputs; ++i) {
      results[0][i] = low[i];
      results[1][i] = high[i];
    }
    carefulComplex<inputs, outputs>(row, results[0], first, lows);
    carefulComplex<inputs, outputs>(row, results[1], second, highs);
    for (int i = 0; i < outputs; ++i) {
      low[i] = results[0][i];
      high[i] = results[1][i];
    }
  }
  for (int i = 0; i < outputs; ++i)
    parts[i] = Halves(low[i], high[i]).rounded();
}
template <auto kernel, int row> PartLanes ofTwoParts(PartLanes re, PartLanes im) {
  PartLanes parts[] = {re, im};
  ofComplex<kernel, row, 2, 2>(parts);
  [[clang::musttail]] return bothRegisters(parts[0], parts[1]);
}
template <auto kernel, int row> PartLanes oneOfTwoParts(PartLanes re, PartLanes im) {
  PartLanes parts[] = {re, im};
  ofComplex<kernel, row, 2, 1>(parts);
  return parts[0];
}
template <auto kernel, int row>
PartLanes ofFourParts(PartLanes re, PartLanes im, PartLanes otherRe, PartLanes otherIm) {
  PartLanes parts[] = {re, im, otherRe, otherIm};
  ofComplex<kernel, row, 4, 2>(parts);
  [[clang::musttail]] return bothRegisters<Floats<4 * native>>(parts[0], parts[1], otherRe, otherIm);
}
template <auto kernel, int row, int inputs, int outputs> constexpr auto complexFunction() {
  if constexpr (outputs == 1)
    return oneOfTwoParts<kernel, row>;
  else if constexpr (inputs == 2)
    return ofTwoParts<kernel, row>;
  else
    return ofFourParts<kernel, row>;
}
/// Whether both are computed in less time so than one after the other (1.1 to 1.4 times as fast, mostly): of atan2,
/// what is compared and chosen needs more registers than there are.
constexpr bool gainsByPairs(int row) { return row != row_atan2_F64; }
/// Of functions that are computed as they are given, and of c64.
template <auto narrow, auto wide, int row, int inputs, int outputs, DType dtype> constexpr auto paired() {
  constexpr bool isOfReals =
      (dtype == DType::F64 || __is_same(Argument<wide>, Floats<4 * native>)) && outputs == 1 && gainsByPairs(row);
  if constexpr (dtype == DType::C64 && inputs != 3) // an integer is no float
    return complexFunction<narrow, row, inputs, outputs>();
  else if constexpr (isOfReals && inputs == 1)
    return unaryPair<wide, row>;
  else if constexpr (isOfReals)
    return binaryPair<wide, row>;
  else
    return static_cast<void (*)()>(nullptr);
}

} // namespace
} // namespace toy::rt::TOY_ISA

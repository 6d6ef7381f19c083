// SPDX-License-Identifier: Apache-2.0
/// \file
/// A matrix in each lane, for the kernels of an instruction set: lanes know nothing of each other, so that a matrix has
/// the same result whatever lies beside it. No multiply-add is fused.
#pragma once
#include "runtime/LaneTransposes.h"
#include "runtime/SmallMatrixKernels.h"

namespace toy::rt {
namespace {

/// A number of each of several matrices.
template <typename T> struct RealLanes {
  using Part = T;
  using Vector = Register<T>;
  using Mask = decltype(Vector() == Vector());
  static constexpr int parts = 1, lanes = registerLanes<T>;
  Vector re;

  static RealLanes of(T x) { return {Vector(x)}; }
  RealLanes operator-() const { return {-re}; }
  RealLanes operator+(RealLanes y) const { return {re + y.re}; }
  RealLanes operator-(RealLanes y) const { return {re - y.re}; }
  RealLanes operator*(RealLanes y) const { return {re * y.re}; }
  RealLanes operator/(RealLanes y) const { return {re / y.re}; }
  Vector size() const { return __builtin_elementwise_abs(re); }
  RealLanes conjugate() const { return *this; }
  RealLanes scaled(Vector factor) const { return {re * factor}; }
  RealLanes dividedBy(Vector divisor) const { return {re / divisor}; }
  Vector largestPart() const { return size(); }
  Vector square() const { return re * re; }
  Mask isZero() const { return re == 0; }
  Mask isReal() const { return Vector(T(0)) == Vector(T(0)); }
  static RealLanes choose(Mask c, RealLanes x, RealLanes y) { return {c ? x.re : y.re}; }
  T *part(int) { return reinterpret_cast<T *>(&re); }
};
template <typename T> struct ComplexLanes {
  using Part = T;
  using Vector = Register<T>;
  using Mask = decltype(Vector() == Vector());
  static constexpr int parts = 2, lanes = registerLanes<T>;
  Vector re, im;

  static ComplexLanes of(T x) { return {Vector(x), Vector(T(0))}; }
  ComplexLanes operator-() const { return {-re, -im}; }
  ComplexLanes operator+(ComplexLanes y) const { return {re + y.re, im + y.im}; }
  ComplexLanes operator-(ComplexLanes y) const { return {re - y.re, im - y.im}; }
  ComplexLanes operator*(ComplexLanes y) const { return {re * y.re - im * y.im, re * y.im + im * y.re}; }
  /// By the larger part of the divisor first, so that no square leaves the range.
  ComplexLanes operator/(ComplexLanes y) const {
    Vector a = __builtin_elementwise_abs(y.re), b = __builtin_elementwise_abs(y.im), scale = a < b ? b : a;
    Vector u = y.re / scale, v = y.im / scale, d = y.re * u + y.im * v;
    return {(re * u + im * v) / d, (im * u - re * v) / d};
  }
  /// As LAPACK compares pivots.
  Vector size() const { return __builtin_elementwise_abs(re) + __builtin_elementwise_abs(im); }
  ComplexLanes conjugate() const { return {re, -im}; }
  ComplexLanes scaled(Vector factor) const { return {re * factor, im * factor}; }
  ComplexLanes dividedBy(Vector divisor) const { return {re / divisor, im / divisor}; }
  Vector largestPart() const {
    return __builtin_elementwise_max(__builtin_elementwise_abs(re), __builtin_elementwise_abs(im));
  }
  Vector square() const { return re * re + im * im; }
  Mask isZero() const { return (re == 0) & (im == 0); }
  Mask isReal() const { return im == 0; }
  static ComplexLanes choose(Mask c, ComplexLanes x, ComplexLanes y) { return {c ? x.re : y.re, c ? x.im : y.im}; }
  T *part(int p) { return reinterpret_cast<T *>(p ? &im : &re); }
};

constexpr int largest = SmallMatrices::largest;

/// `here` arrays of `size` numbers, one in each lane; lanes beyond them get those of the first. `known` is the size
/// where the compiler knows it, or 0.
template <int known, typename L> void load(L *to, const typename L::Part *from, int64_t size, int64_t here) {
  if constexpr (isTransposedByShuffles(known * L::parts))
    if (here == L::lanes)
      return toLanes<known * L::parts>(&to->re, from);
  for (int lane = 0; lane < L::lanes; ++lane) {
    const auto *own = from + (lane < here ? lane : 0) * size * L::parts;
    for (int64_t e = 0; e < size; ++e)
      for (int p = 0; p < L::parts; ++p)
        to[e].part(p)[lane] = own[e * L::parts + p];
  }
}
template <int known, typename L> void store(typename L::Part *to, L *from, int64_t size, int64_t here) {
  if constexpr (isTransposedByShuffles(known * L::parts))
    if (here == L::lanes)
      return toArrays<known * L::parts>(to, &from->re);
  for (int lane = 0; lane < here; ++lane)
    for (int64_t e = 0; e < size; ++e)
      for (int p = 0; p < L::parts; ++p)
        to[(lane * size + e) * L::parts + p] = from[e].part(p)[lane];
}
/// The first of `here` lanes, or -1.
template <typename L> int64_t firstOf(typename L::Mask mask, int64_t here) {
  for (int lane = 0; lane < here; ++lane)
    if (mask[lane])
      return lane;
  return -1;
}

template <typename L> void exchange(typename L::Mask where, L &x, L &y) {
  L first = L::choose(where, y, x);
  y = L::choose(where, x, y);
  x = first;
}
/// Calls f(first, here) with the numbers of the matrices that go together, until it gives the lane of one that fails.
/// The number of that matrix, or -1.
template <typename L, typename F> int64_t firstFailure(const SmallMatrices &x, F f) {
  for (int64_t first = 0; first < x.count; first += L::lanes)
    if (int64_t lane = f(first, x.count - first < L::lanes ? x.count - first : L::lanes); lane >= 0)
      return first + lane;
  return -1;
}

/// A power of 2 near a size, for which neither it nor its reciprocal leaves the range; infinity and NaN stay.
template <typename V> V nearPower(V size) {
  V power;
  if constexpr (sizeof(size[0]) == 4) {
    using Bits = uint32_t __attribute__((ext_vector_type(sizeof(V) / 4)));
    Bits bits = __builtin_bit_cast(Bits, size) & 0x7f800000u;
    power = __builtin_bit_cast(V, bits);
    power = __builtin_elementwise_max(power, V(0x1p-126f));
    power = ((power > 0x1p126f) & (power <= 0x1p127f)) ? V(0x1p126f) : power;
  } else {
    using Bits = uint64_t __attribute__((ext_vector_type(sizeof(V) / 8)));
    Bits bits = __builtin_bit_cast(Bits, size) & 0x7ff0000000000000u;
    power = __builtin_bit_cast(V, bits);
    power = __builtin_elementwise_max(power, V(0x1p-1022));
    power = ((power > 0x1p1022) & (power <= 0x1p1023)) ? V(0x1p1022) : power;
  }
  return power;
}

/// Householder's reflection I - tau v v^H, v[0] = 1, whose adjoint makes a column with `step` between its elements a
/// multiple of the first unit vector, which is left there over the rest of v. Returns tau.
template <typename L> L reflection(L *column, int64_t step, int64_t rows) {
  using V = typename L::Vector;
  const L alpha = column[0];
  V size = alpha.largestPart();
  typename L::Mask isPlain = alpha.isReal();
  for (int64_t i = 1; i < rows; ++i) {
    size = __builtin_elementwise_max(size, column[i * step].largestPart());
    isPlain &= column[i * step].isZero();
  }
  const V scale = nearPower(size), inverse = 1 / scale;
  V sum = V(0);
  for (int64_t i = 0; i < rows; ++i)
    sum += column[i * step].scaled(inverse).square();
  V norm = __builtin_elementwise_sqrt(sum) * scale;
  norm = __builtin_elementwise_copysign(norm, -alpha.re);
  L first = L::of(0);
  first.re = norm;
  const L tau = L::choose(isPlain, L::of(0), (first - alpha).dividedBy(norm));
  const L divisor = L::choose(isPlain, L::of(1), alpha - first);
  for (int64_t i = 1; i < rows; ++i)
    column[i * step] = column[i * step] / divisor;
  column[0] = L::choose(isPlain, alpha, first);
  return tau;
}
/// (I - tau v v^H) x of columns [0, columns) of x.
template <typename L>
void reflect(L tau, const L *v, int64_t step, int64_t rows, L *x, int64_t pitch, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    L sum = x[j];
    for (int64_t i = 1; i < rows; ++i)
      sum = sum + v[i * step].conjugate() * x[i * pitch + j];
    sum = tau * sum;
    x[j] = x[j] - sum;
    for (int64_t i = 1; i < rows; ++i)
      x[i * pitch + j] = x[i * pitch + j] - v[i * step] * sum;
  }
}

} // namespace
} // namespace toy::rt

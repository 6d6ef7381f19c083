// SPDX-License-Identifier: Apache-2.0
/// \file
/// The scalar meaning of every elementwise operation. Every primitive step is rounded to the dtype: sums, products,
/// quotients and square roots of floats computed in double and rounded once are exact float results.
#include "reference/EvaluatorImpl.h"

#include "runtime/ComplexMath.h"
#include "runtime/ElementFunctions.h"
#include "runtime/Scalar.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;

namespace toy {

static double rounded(double x, DType dtype) {
  return isHalf(dtype) ? fromHalf(dtype, toHalf(dtype, x)) : realOf(dtype) == DType::F32 ? static_cast<float>(x) : x;
}

Elem loadElement(DType dtype, const void *data, int64_t k) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return {static_cast<const uint8_t *>(data)[k]};
  case DType::I32:
    return {static_cast<const int32_t *>(data)[k]};
  case DType::BF16:
  case DType::F16:
    return {0, fromHalf(dtype, static_cast<const uint16_t *>(data)[k])};
  case DType::F32:
    return {0, static_cast<const float *>(data)[k]};
  case DType::F64:
    return {0, static_cast<const double *>(data)[k]};
  case DType::C64:
    return {0, static_cast<const float *>(data)[2 * k], static_cast<const float *>(data)[2 * k + 1]};
  case DType::C128:
    return {0, static_cast<const double *>(data)[2 * k], static_cast<const double *>(data)[2 * k + 1]};
  default:
    return {static_cast<const int64_t *>(data)[k]};
  }
}

void storeElement(DType dtype, void *data, int64_t k, Elem x) {
  switch (dtype) {
  case DType::Bool:
    static_cast<uint8_t *>(data)[k] = x.i != 0;
    break;
  case DType::U8:
    static_cast<uint8_t *>(data)[k] = x.i;
    break;
  case DType::I32:
    static_cast<int32_t *>(data)[k] = x.i;
    break;
  case DType::BF16:
  case DType::F16:
    static_cast<uint16_t *>(data)[k] = toHalf(dtype, x.re);
    break;
  case DType::F32:
    static_cast<float *>(data)[k] = x.re;
    break;
  case DType::F64:
    static_cast<double *>(data)[k] = x.re;
    break;
  case DType::C64:
    static_cast<float *>(data)[2 * k] = x.re;
    static_cast<float *>(data)[2 * k + 1] = x.im;
    break;
  case DType::C128:
    static_cast<double *>(data)[2 * k] = x.re;
    static_cast<double *>(data)[2 * k + 1] = x.im;
    break;
  default:
    static_cast<int64_t *>(data)[k] = x.i;
  }
}

/// Integers wrap to their width.
static int64_t wrapped(int64_t x, DType dtype) {
  return dtype == DType::Bool  ? x != 0
         : dtype == DType::U8  ? static_cast<uint8_t>(x)
         : dtype == DType::I32 ? static_cast<int32_t>(x)
                               : x;
}

static int64_t saturated(double x, DType dtype) {
  if (std::isnan(x))
    return 0;
  double low = dtype == DType::U8 ? 0 : dtype == DType::I32 ? INT32_MIN : -0x1p63;
  double high = dtype == DType::U8 ? 255 : dtype == DType::I32 ? INT32_MAX : 0x1p63;
  x = std::trunc(x);
  if (x <= low)
    return dtype == DType::U8 ? 0 : dtype == DType::I32 ? INT32_MIN : INT64_MIN;
  if (x >= high)
    return dtype == DType::U8 ? 255 : dtype == DType::I32 ? INT32_MAX : INT64_MAX;
  return static_cast<int64_t>(x);
}

Elem castElement(Elem x, DType from, DType to) {
  if (kindOf(from) <= DKind::Int) {
    if (kindOf(to) <= DKind::Int)
      return {wrapped(x.i, to)};
    return {0,
            realOf(to) == DType::F32 ? static_cast<double>(static_cast<float>(x.i))
                                     : rounded(static_cast<double>(x.i), to),
            0};
  }
  if (to == DType::Bool)
    return {x.re != 0 || std::isnan(x.re)};
  if (kindOf(to) <= DKind::Int)
    return {saturated(x.re, to)};
  return {0, rounded(x.re, to), isComplex(from) ? rounded(x.im, to) : 0.0};
}

Elem addElements(Elem x, Elem y, DType d) {
  if (kindOf(d) <= DKind::Int)
    return {wrapped(static_cast<int64_t>(uint64_t(x.i) + uint64_t(y.i)), d)};
  return {0, rounded(x.re + y.re, d), rounded(x.im + y.im, d)};
}

/// (a+bi)(c+di) = (ac-bd) + (ad+bc)i, every product and sum rounded.
Elem mulElements(Elem x, Elem y, DType d) {
  if (kindOf(d) <= DKind::Int)
    return {wrapped(static_cast<int64_t>(uint64_t(x.i) * uint64_t(y.i)), d)};
  auto r = [d](double v) { return rounded(v, d); };
  if (!isComplex(d))
    return {0, r(x.re * y.re)};
  return {0, r(r(x.re * y.re) - r(x.im * y.im)), r(r(x.re * y.im) + r(x.im * y.re))};
}

double minimumOf(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
double maximumOf(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

using RealFunction = double (*)(double, bool);
#define TOY_REAL(NAME)                                                                                                 \
  {#NAME, [](double x, bool single) -> double {                                                                        \
     return single ? static_cast<double>(NAME##f(static_cast<float>(x))) : NAME(x);                                    \
   }}

/// Real functions that the table of element functions lacks: libm in the element's precision.
static RealFunction realFunction(StringRef name) {
  static const std::pair<const char *, RealFunction> table[] = {
      TOY_REAL(erf),
      TOY_REAL(floor),
      TOY_REAL(ceil),
      TOY_REAL(trunc),
      TOY_REAL(sqrt),
      {"round", [](double x, bool) { return std::nearbyint(x); }},
      {"reciprocal", [](double x, bool) { return 1 / x; }},
      {"rsqrt", [](double x,
                   bool single) { return 1 / (single ? static_cast<double>(sqrtf(static_cast<float>(x))) : sqrt(x)); }},
  };
  for (auto &[known, function] : table)
    if (name == known)
      return function;
  return nullptr;
}

/// One element of a function of the table; arguments by parts.
static Elem byTable(int function, std::initializer_list<double> arguments, DType d) {
  double parts[4];
  std::copy(arguments.begin(), arguments.end(), parts);
  rt::applyElements(function, 1, parts);
  return {0, rounded(parts[0], d), rt::elementFunctions()[function].outputs == 2 ? rounded(parts[1], d) : 0};
}

static Elem fromComplex(rt::c128 z, DType d) { return {0, rounded(z.real(), d), rounded(z.imag(), d)}; }

static std::function<Elem(const Elem *)> unaryFunction(StringRef name, DType d) {
  bool complex = isComplex(d), floating = complex || isFloat(d), single = realOf(d) == DType::F32;
  if (name == "neg")
    return [=](const Elem *x) {
      return floating ? Elem{0, -x->re, -x->im} : Elem{wrapped(static_cast<int64_t>(-static_cast<uint64_t>(x->i)), d)};
    };
  if (name == "not")
    return [](const Elem *x) { return Elem{!x->i}; };
  if (name == "conj")
    return [](const Elem *x) { return Elem{0, x->re, -x->im}; };
  if (name == "real")
    return [](const Elem *x) { return Elem{0, x->re}; };
  if (name == "imag")
    return [](const Elem *x) { return Elem{0, x->im}; };
  if (name == "angle")
    return [=, f = rt::findElementFunction("atan2", realOf(d))](const Elem *x) {
      return byTable(f, {x->im, x->re}, realOf(d));
    };
  if (name == "abs2")
    return [=](const Elem *x) {
      return complex ? addElements(mulElements({0, x->re}, {0, x->re}, realOf(d)),
                                   mulElements({0, x->im}, {0, x->im}, realOf(d)), realOf(d))
                     : mulElements(*x, *x, d);
    };
  if (name == "abs" && !complex)
    return [=](const Elem *x) {
      return floating ? Elem{0, std::fabs(x->re)}
                      : Elem{wrapped(x->i < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x->i)) : x->i, d)};
    };
  if (name == "sign" && !complex)
    return [=](const Elem *x) {
      if (!floating)
        return Elem{(x->i > 0) - (x->i < 0)};
      return Elem{0, x->re == 0 || std::isnan(x->re) ? x->re : std::copysign(1.0, x->re)};
    };
  if (name == "isnan")
    return [](const Elem *x) { return Elem{std::isnan(x->re) || std::isnan(x->im)}; };
  if (name == "isinf")
    return [](const Elem *x) { return Elem{std::isinf(x->re) || std::isinf(x->im)}; };
  if (name == "isfinite")
    return [](const Elem *x) { return Elem{std::isfinite(x->re) && std::isfinite(x->im)}; };
  if (int f = rt::findElementFunction(name, d); f >= 0)
    return [=](const Elem *x) { return complex ? byTable(f, {x->re, x->im}, d) : byTable(f, {x->re}, d); };
  RealFunction real = realFunction(name);
  assert(real && (!complex || name == "round") && "every other function is in the table");
  return [=](const Elem *x) {
    return Elem{0, rounded(real(x->re, single), d), complex ? rounded(real(x->im, single), d) : 0};
  };
}

static bool compare(StringRef name, const Elem &x, const Elem &y, DType d) {
  if (isComplex(d))
    return (x.re == y.re && x.im == y.im) == (name == "eq");
  auto by = [&](auto a, auto b) {
    return name == "eq"   ? a == b
           : name == "ne" ? a != b
           : name == "lt" ? a < b
           : name == "le" ? a <= b
           : name == "gt" ? a > b
                          : a >= b;
  };
  return isFloat(d) ? by(x.re, y.re) : by(x.i, y.i);
}

static int64_t integerBinary(StringRef name, int64_t a, int64_t b) {
  if (name == "floordiv")
    return rt::floorDivide(a, b);
  if (name == "mod")
    return rt::floorModulo(a, b);
  if (name == "pow")
    return rt::integerPower(a, b);
  return name == "minimum" ? std::min(a, b) : std::max(a, b);
}

static std::function<Elem(const Elem *)> binaryFunction(StringRef name, DType dx, DType dy) {
  DType d = isComplex(dx) ? dx : isComplex(dy) ? dy : dx;
  bool complex = isComplex(d), floating = complex || isFloat(d), single = realOf(d) == DType::F32;
  bool realLeft = complex && !isComplex(dx), realRight = complex && !isComplex(dy);
  auto r = [d](double v) { return rounded(v, d); };
  if (name == "add")
    return [=](const Elem *x) {
      return realLeft    ? Elem{0, r(x[0].re + x[1].re), x[1].im}
             : realRight ? Elem{0, r(x[0].re + x[1].re), x[0].im}
                         : addElements(x[0], x[1], d);
    };
  if (name == "sub")
    return [=](const Elem *x) {
      if (!floating)
        return Elem{wrapped(static_cast<int64_t>(uint64_t(x[0].i) - uint64_t(x[1].i)), d)};
      return Elem{0, r(x[0].re - x[1].re), realLeft ? -x[1].im : realRight ? x[0].im : r(x[0].im - x[1].im)};
    };
  if (name == "mul")
    return [=](const Elem *x) {
      if (realLeft)
        return Elem{0, r(x[0].re * x[1].re), r(x[0].re * x[1].im)};
      if (realRight)
        return Elem{0, r(x[0].re * x[1].re), r(x[0].im * x[1].re)};
      return mulElements(x[0], x[1], d);
    };
  if (name == "div")
    return [=, f = rt::findElementFunction("div", d)](const Elem *x) {
      if (complex && !realRight)
        return single ? fromComplex(rt::divideSingle({x[0].re, x[0].im}, {x[1].re, x[1].im}), d)
                      : byTable(f, {x[0].re, x[0].im, x[1].re, x[1].im}, d);
      return Elem{0, r(x[0].re / x[1].re), complex ? r(x[0].im / x[1].re) : 0};
    };
  if (name == "complex")
    return [](const Elem *x) { return Elem{0, x[0].re, x[1].re}; };
  if (name == "polar")
    return [=, f = rt::findElementFunction("cis", realOf(d))](const Elem *x) {
      Elem unit = byTable(f, {x[1].re}, d);
      return Elem{0, r(x[0].re * unit.re), r(x[0].re * unit.im)};
    };
  if (name == "and" || name == "or")
    return [=](const Elem *x) { return Elem{name == "and" ? (x[0].i && x[1].i) : (x[0].i || x[1].i)}; };
  if (name == "atan2")
    return [=, f = rt::findElementFunction("atan2", d)](const Elem *x) { return byTable(f, {x[0].re, x[1].re}, d); };
  if (name == "hypot")
    return [=](const Elem *x) {
      return Elem{0, single ? static_cast<double>(hypotf(x[0].re, x[1].re)) : hypot(x[0].re, x[1].re)};
    };
  if (name == "pow" && complex)
    return [=, f = rt::findElementFunction(isInteger(dy) ? "powi" : "pow", d)](const Elem *x) {
      return isInteger(dy) ? byTable(f, {x[0].re, x[0].im, static_cast<double>(x[1].i)}, d)
                           : byTable(f, {x[0].re, x[0].im, x[1].re, x[1].im}, d);
    };
  if (name == "pow" && floating)
    return [=, f = rt::findElementFunction("pow", d)](const Elem *x) { return byTable(f, {x[0].re, x[1].re}, d); };
  if (name == "floordiv" && floating)
    return [=](const Elem *x) { return Elem{0, r(rt::floorDivide(x[0].re, x[1].re))}; };
  if (name == "mod" && floating)
    return [=](const Elem *x) { return Elem{0, r(rt::floorModulo(x[0].re, x[1].re))}; };
  if (name == "minimum" && floating)
    return [=](const Elem *x) { return Elem{0, minimumOf(x[0].re, x[1].re)}; };
  if (name == "maximum" && floating)
    return [=](const Elem *x) { return Elem{0, maximumOf(x[0].re, x[1].re)}; };
  if (name == "floordiv" || name == "mod" || name == "pow" || name == "minimum" || name == "maximum")
    return [=](const Elem *x) { return Elem{wrapped(integerBinary(name, x[0].i, x[1].i), d)}; };
  return [=](const Elem *x) { return Elem{compare(name, x[0], x[1], d)}; };
}

std::function<Elem(const Elem *)> scalarFunction(Operation *op) {
  StringRef name = op->getName().stripDialect();
  auto dtypeOf = [&](unsigned i) { return tensorTypeOf(op->getOperand(i)).getDtype(); };
  DType result = tensorTypeOf(op->getResult(0)).getDtype();
  if (isa<CastOp>(op))
    return [from = dtypeOf(0), result](const Elem *x) { return castElement(*x, from, result); };
  if (isa<WhereOp>(op))
    return [a = dtypeOf(1), c = dtypeOf(2), result](const Elem *x) {
      return x[0].i ? castElement(x[1], a, result) : castElement(x[2], c, result);
    };
  if (auto o = dyn_cast<FunctionPartOp>(op)) { // of the complex function on pairs
    DType complex = complexOf(result), second = op->getNumOperands() == 3 ? dtypeOf(2) : complex;
    auto function = op->getNumOperands() == 2 ? unaryFunction(o.getFunction(), complex)
                                              : binaryFunction(o.getFunction(), complex, second);
    return [function, isReal = o.getPart() == 0, integer = isInteger(second)](const Elem *x) {
      Elem pair[2] = {{0, x[0].re, x[1].re}, integer ? x[2] : Elem{0, x[2].re, x[3].re}};
      Elem value = function(pair);
      return Elem{0, isReal ? value.re : value.im};
    };
  }
  return op->getNumOperands() == 1 ? unaryFunction(name, dtypeOf(0)) : binaryFunction(name, dtypeOf(0), dtypeOf(1));
}

} // namespace toy

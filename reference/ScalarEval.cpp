// SPDX-License-Identifier: Apache-2.0
/// \file
/// The scalar meaning of every elementwise operation: an overload of `evaluate` each. Every primitive step is rounded
/// to the dtype: sums, products, quotients and square roots of floats computed in double and rounded once are exact
/// float results.
#include "reference/EvaluatorImpl.h"

#include "runtime/ComplexMath.h"
#include "runtime/ElementFunctions.h"
#include "runtime/Scalar.h"

#include <array>
#include <cmath>

using namespace mlir;

namespace toy {

static double rounded(double x, DType dtype) {
  return isHalf(dtype) ? fromHalf(dtype, toHalf(dtype, x)) : realOf(dtype) == DType::F32 ? static_cast<float>(x) : x;
}

ScalarValue loadElement(DType dtype, const void *data, int64_t k) {
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

template <typename T, typename... Parts> static void put(void *data, int64_t k, Parts... parts) {
  T *at = static_cast<T *>(data) + k * sizeof...(parts);
  ((*at++ = static_cast<T>(parts)), ...);
}

void storeElement(DType dtype, void *data, int64_t k, ScalarValue x) {
  switch (dtype) {
  case DType::Bool:
    return put<uint8_t>(data, k, x.i != 0);
  case DType::U8:
    return put<uint8_t>(data, k, x.i);
  case DType::I32:
    return put<int32_t>(data, k, x.i);
  case DType::BF16:
  case DType::F16:
    return put<uint16_t>(data, k, toHalf(dtype, x.re));
  case DType::F32:
    return put<float>(data, k, x.re);
  case DType::F64:
    return put<double>(data, k, x.re);
  case DType::C64:
    return put<float>(data, k, x.re, x.im);
  case DType::C128:
    return put<double>(data, k, x.re, x.im);
  default:
    return put<int64_t>(data, k, x.i);
  }
}

/// Integers wrap to their width.
static int64_t wrapped(int64_t x, DType dtype) {
  return dtype == DType::Bool  ? x != 0
         : dtype == DType::U8  ? static_cast<uint8_t>(x)
         : dtype == DType::I32 ? static_cast<int32_t>(x)
                               : x;
}

std::pair<int64_t, int64_t> integerRange(DType dtype) {
  return dtype == DType::Bool  ? std::pair<int64_t, int64_t>(0, 1)
         : dtype == DType::U8  ? std::pair<int64_t, int64_t>(0, UINT8_MAX)
         : dtype == DType::I32 ? std::pair<int64_t, int64_t>(INT32_MIN, INT32_MAX)
                               : std::pair<int64_t, int64_t>(INT64_MIN, INT64_MAX);
}

static int64_t saturated(double x, DType dtype) {
  auto [low, high] = integerRange(dtype);
  return std::isnan(x)                    ? 0
         : x <= static_cast<double>(low)  ? low
         : x >= static_cast<double>(high) ? high
                                          : static_cast<int64_t>(x);
}

/// An integer that f64 holds and that is rounded to the same half: of more than 53 bits, the last 11 only say whether
/// there is something beyond the others.
static int64_t withinDouble(int64_t x) {
  constexpr int64_t most = int64_t(1) << 53, last = 0x7ff;
  return (x < -most || x > most) && (x & last) != 0 ? (x & ~last) | 0x400 : x;
}

ScalarValue castElement(ScalarValue x, DType from, DType to) {
  if (kindOf(from) <= DKind::Int) {
    if (kindOf(to) <= DKind::Int)
      return {wrapped(x.i, to)};
    if (realOf(to) == DType::F32) // in one step
      return {0, static_cast<float>(x.i)};
    return {0, rounded(static_cast<double>(isHalf(to) ? withinDouble(x.i) : x.i), to)};
  }
  if (to == DType::Bool)
    return {x.re != 0 || std::isnan(x.re)};
  if (kindOf(to) <= DKind::Int)
    return {saturated(x.re, to)};
  return {0, rounded(x.re, to), isComplex(from) ? rounded(x.im, to) : 0.0};
}

ScalarValue addElements(ScalarValue x, ScalarValue y, DType d) {
  if (kindOf(d) <= DKind::Int)
    return {wrapped(static_cast<int64_t>(uint64_t(x.i) + uint64_t(y.i)), d)};
  return {0, rounded(x.re + y.re, d), rounded(x.im + y.im, d)};
}

ScalarValue mulElements(ScalarValue x, ScalarValue y, DType d) {
  if (kindOf(d) <= DKind::Int)
    return {wrapped(static_cast<int64_t>(uint64_t(x.i) * uint64_t(y.i)), d)};
  auto r = [d](double v) { return rounded(v, d); };
  if (!isComplex(d))
    return {0, r(x.re * y.re)};
  return {0, r(r(x.re * y.re) - r(x.im * y.im)), r(r(x.re * y.im) + r(x.im * y.re))};
}

ScalarValue minElements(ScalarValue x, ScalarValue y, DType) {
  bool isFirst = x.re < y.re || (x.re == y.re && std::signbit(x.re));
  return {std::min(x.i, y.i), std::isnan(x.re) || std::isnan(y.re) ? NAN : isFirst ? x.re : y.re};
}
ScalarValue maxElements(ScalarValue x, ScalarValue y, DType) {
  bool isFirst = x.re > y.re || (x.re == y.re && !std::signbit(x.re));
  return {std::max(x.i, y.i), std::isnan(x.re) || std::isnan(y.re) ? NAN : isFirst ? x.re : y.re};
}

namespace {

/// A function of the runtime's table, in any dtype that it has there. Arguments are given by parts.
struct TableFunction {
  explicit TableFunction(StringRef name) {
    for (int d = 0; d < numDTypes; ++d)
      rows[d] = rt::findElementFunction(name.str(), static_cast<DType>(d));
  }
  ScalarValue operator()(DType d, std::array<double, 4> parts) const {
    int row = rows[static_cast<int>(d)];
    rt::applyElements(row, 1, parts.data());
    return {0, rounded(parts[0], d), rt::elementFunctions()[row].outputs == 2 ? rounded(parts[1], d) : 0};
  }
  int rows[numDTypes];
};

/// The function of the table that is called as the operation.
template <typename Op> ScalarValue byTable(DType d, ScalarValue x) {
  static const TableFunction function(Op::getOperationName().drop_front(sizeof("toy")));
  return isComplex(d) ? function(d, {x.re, x.im}) : function(d, {x.re});
}
template <typename Op>
  requires llvm::is_one_of<Op, ExpOp, Exp2Op, Expm1Op, LogOp, Log1pOp, Log2Op, Log10Op, SinOp, CosOp, TanOp, SinhOp,
                           CoshOp, TanhOp, AsinOp, AcosOp, AtanOp, AsinhOp, AcoshOp, AtanhOp, ErfOp>::value
ScalarValue evaluate(Op, const Elementwise &op, ScalarValue x) {
  return byTable<Op>(op.dtype, x);
}

/// A real function that the table lacks: libm in the element's precision.
ScalarValue byLibm(const Elementwise &op, ScalarValue x, float (*single)(float), double (*function)(double)) {
  return {0, op.isSingle() ? static_cast<double>(single(static_cast<float>(x.re))) : function(x.re)};
}
ScalarValue evaluate(FloorOp, const Elementwise &op, ScalarValue x) { return byLibm(op, x, floorf, floor); }
ScalarValue evaluate(CeilOp, const Elementwise &op, ScalarValue x) { return byLibm(op, x, ceilf, ceil); }
ScalarValue evaluate(TruncOp, const Elementwise &op, ScalarValue x) { return byLibm(op, x, truncf, trunc); }
ScalarValue evaluate(RoundOp, const Elementwise &, ScalarValue x) {
  return {0, std::nearbyint(x.re), std::nearbyint(x.im)};
}
ScalarValue evaluate(SqrtOp, const Elementwise &op, ScalarValue x) {
  return op.isComplex() ? byTable<SqrtOp>(op.dtype, x) : op.rounded(std::sqrt(x.re));
}
ScalarValue evaluate(RsqrtOp, const Elementwise &op, ScalarValue x) {
  const bool isInTable = op.isComplex() || op.dtype == DType::F64;
  return isInTable ? byTable<RsqrtOp>(op.dtype, x) : op.rounded(1 / op.rounded(std::sqrt(x.re)).re);
}
ScalarValue evaluate(ReciprocalOp, const Elementwise &op, ScalarValue x) {
  if (op.isComplex() && op.isSingle()) {
    rt::c128 z = rt::divideSingle(1, {x.re, x.im});
    return op.rounded(z.real(), z.imag());
  }
  return op.isComplex() ? byTable<ReciprocalOp>(op.dtype, x) : op.rounded(1 / x.re);
}
ScalarValue evaluate(NegOp, const Elementwise &op, ScalarValue x) {
  return op.isIntegral() ? op.wrapped(-uint64_t(x.i)) : ScalarValue{0, -x.re, -x.im};
}
ScalarValue evaluate(NotOp, const Elementwise &, ScalarValue x) { return {!x.i}; }
ScalarValue evaluate(ConjOp, const Elementwise &, ScalarValue x) { return {0, x.re, -x.im}; }
ScalarValue evaluate(RealOp, const Elementwise &, ScalarValue x) { return {0, x.re}; }
ScalarValue evaluate(ImagOp, const Elementwise &, ScalarValue x) { return {0, x.im}; }
ScalarValue evaluate(AngleOp, const Elementwise &op, ScalarValue x) {
  static const TableFunction atan2("atan2");
  return atan2(realOf(op.dtype), {x.im, x.re});
}
ScalarValue evaluate(AbsOp, const Elementwise &op, ScalarValue x) {
  if (op.isIntegral())
    return x.i < 0 ? op.wrapped(-uint64_t(x.i)) : x;
  return op.isComplex() ? byTable<AbsOp>(op.dtype, x) : ScalarValue{0, std::fabs(x.re)};
}
ScalarValue evaluate(Abs2Op, const Elementwise &op, ScalarValue x) {
  auto squared = [real = realOf(op.dtype)](ScalarValue part) { return mulElements(part, part, real); };
  return op.isComplex() ? addElements(squared({0, x.re}), squared({0, x.im}), realOf(op.dtype)) : squared(x);
}
ScalarValue evaluate(SignOp, const Elementwise &op, ScalarValue x) {
  if (op.isIntegral())
    return {(x.i > 0) - (x.i < 0)};
  if (op.isComplex())
    return byTable<SignOp>(op.dtype, x);
  return {0, x.re == 0 || std::isnan(x.re) ? x.re : std::copysign(1.0, x.re)};
}
ScalarValue evaluate(IsNanOp, const Elementwise &, ScalarValue x) { return {std::isnan(x.re) || std::isnan(x.im)}; }
ScalarValue evaluate(IsInfOp, const Elementwise &, ScalarValue x) { return {std::isinf(x.re) || std::isinf(x.im)}; }
ScalarValue evaluate(IsFiniteOp, const Elementwise &, ScalarValue x) {
  return {std::isfinite(x.re) && std::isfinite(x.im)};
}
ScalarValue evaluate(CastOp, const Elementwise &op, ScalarValue x) { return castElement(x, op.operands[0], op.result); }

/// A real operand has no imaginary part, not even a zero: the other one's stays as it is.
ScalarValue evaluate(AddOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  ScalarValue sum = addElements(x, y, op.dtype);
  return {sum.i, sum.re, op.isReal(0) ? y.im : op.isReal(1) ? x.im : sum.im};
}
ScalarValue evaluate(SubOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  if (op.isIntegral())
    return op.wrapped(uint64_t(x.i) - uint64_t(y.i));
  return op.rounded(x.re - y.re, op.isReal(0) ? -y.im : op.isReal(1) ? x.im : x.im - y.im);
}
ScalarValue evaluate(MulOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  return op.isReal(0)   ? op.rounded(x.re * y.re, x.re * y.im)
         : op.isReal(1) ? op.rounded(x.re * y.re, x.im * y.re)
                        : mulElements(x, y, op.dtype);
}
ScalarValue evaluate(DivOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  static const TableFunction divide("div");
  if (!op.isComplex() || op.isReal(1))
    return op.rounded(x.re / y.re, op.isComplex() ? x.im / y.re : 0);
  if (!op.isSingle())
    return divide(op.dtype, {x.re, x.im, y.re, y.im});
  rt::c128 z = rt::divideSingle({x.re, x.im}, {y.re, y.im});
  return op.rounded(z.real(), z.imag());
}
ScalarValue evaluate(FloorDivOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  return op.isIntegral() ? op.wrapped(rt::floorDivide(x.i, y.i)) : op.rounded(rt::floorDivide(x.re, y.re));
}
ScalarValue evaluate(ModOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  return op.isIntegral() ? op.wrapped(rt::floorModulo(x.i, y.i)) : op.rounded(rt::floorModulo(x.re, y.re));
}
ScalarValue evaluate(PowOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  static const TableFunction power("pow"), integralPower("powi");
  if (op.isIntegral())
    return op.wrapped(rt::integerPower(x.i, y.i));
  if (!op.isComplex())
    return power(op.dtype, {x.re, y.re});
  return isInteger(op.operands[1]) ? integralPower(op.dtype, {x.re, x.im, static_cast<double>(y.i)})
                                   : power(op.dtype, {x.re, x.im, y.re, y.im});
}
ScalarValue evaluate(MinimumOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  return minElements(x, y, op.dtype);
}
ScalarValue evaluate(MaximumOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  return maxElements(x, y, op.dtype);
}
ScalarValue evaluate(Atan2Op, const Elementwise &op, ScalarValue x, ScalarValue y) {
  static const TableFunction atan2("atan2");
  return atan2(op.dtype, {x.re, y.re});
}
ScalarValue evaluate(CopysignOp, const Elementwise &, ScalarValue x, ScalarValue y) {
  return {0, std::copysign(x.re, std::isnan(y.re) ? 1.0 : y.re)};
}
ScalarValue evaluate(HypotOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  static const TableFunction hypot("hypot");
  return hypot(op.dtype, {x.re, y.re});
}
ScalarValue evaluate(ComplexOp, const Elementwise &, ScalarValue x, ScalarValue y) { return {0, x.re, y.re}; }
ScalarValue evaluate(PolarOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  static const TableFunction cis("cis");
  ScalarValue unit = cis(op.dtype, {y.re});
  return op.rounded(x.re * unit.re, x.re * unit.im);
}

bool areEqual(ScalarValue x, ScalarValue y) { return x.i == y.i && x.re == y.re && x.im == y.im; }
ScalarValue evaluate(EqOp, const Elementwise &, ScalarValue x, ScalarValue y) { return {areEqual(x, y)}; }
ScalarValue evaluate(NeOp, const Elementwise &, ScalarValue x, ScalarValue y) { return {!areEqual(x, y)}; }
ScalarValue evaluate(LtOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  return {op.isIntegral() ? x.i < y.i : x.re < y.re};
}
ScalarValue evaluate(LeOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  return {op.isIntegral() ? x.i <= y.i : x.re <= y.re};
}
ScalarValue evaluate(GtOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  return {op.isIntegral() ? x.i > y.i : x.re > y.re};
}
ScalarValue evaluate(GeOp, const Elementwise &op, ScalarValue x, ScalarValue y) {
  return {op.isIntegral() ? x.i >= y.i : x.re >= y.re};
}
ScalarValue evaluate(AndOp, const Elementwise &, ScalarValue x, ScalarValue y) { return {x.i && y.i}; }
ScalarValue evaluate(OrOp, const Elementwise &, ScalarValue x, ScalarValue y) { return {x.i || y.i}; }
ScalarValue evaluate(WhereOp, const Elementwise &op, const ScalarValue *x) {
  int chosen = x[0].i ? 1 : 2;
  return castElement(x[chosen], op.operands[chosen], op.result);
}
/// The complex function gets pairs, and an integer as it is.
ScalarValue evaluate(FunctionPartOp, const Elementwise &op, const ScalarValue *x) {
  ScalarValue pairs[] = {{0, x[0].re, x[1].re}, isInteger(op.operands[1]) ? x[2] : ScalarValue{0, x[2].re, x[3].re}};
  ScalarValue value = op.ofPairs(op, pairs);
  return {0, op.isImaginary ? value.im : value.re};
}

/// The overload for an operation. Without one, an elementwise operation does not compile.
template <typename Op> ScalarValue evaluateAs(const Elementwise &op, const ScalarValue *x) {
  if constexpr (!Op::template hasTrait<toy::OpTrait::Elementwise>())
    llvm_unreachable("no elementwise operation");
  else if constexpr (Op::template hasTrait<mlir::OpTrait::OneOperand>())
    return evaluate(Op(), op, x[0]);
  else if constexpr (Op::template hasTrait<mlir::OpTrait::NOperands<2>::Impl>())
    return evaluate(Op(), op, x[0], x[1]);
  else
    return evaluate(Op(), op, x);
}
template <typename... Ops> Elementwise::Evaluation evaluationNamed(StringRef name) {
  static const llvm::StringMap<Elementwise::Evaluation> table = {{Ops::getOperationName(), evaluateAs<Ops>}...};
  return table.lookup(name);
}
Elementwise::Evaluation evaluationOf(StringRef name) {
  return evaluationNamed<
#define GET_OP_LIST
#include "ir/ToyOps.cpp.inc"
      >(name);
}

} // namespace

ScalarValue Elementwise::rounded(double re, double im) const {
  return {0, toy::rounded(re, dtype), toy::rounded(im, dtype)};
}
ScalarValue Elementwise::wrapped(uint64_t n) const { return {toy::wrapped(static_cast<int64_t>(n), dtype)}; }

Elementwise::Elementwise(Operation *op)
    : evaluation(evaluationOf(op->getName().getStringRef())), result(tensorTypeOf(op->getResult(0)).getDtype()) {
  for (auto [given, operand] : llvm::zip(operands, op->getOperands()))
    given = tensorTypeOf(operand).getDtype();
  if (auto part = dyn_cast<FunctionPartOp>(op)) {
    ofPairs = evaluationOf(("toy." + part.getFunction()).str());
    isImaginary = part.getPart() == 1;
    operands[0] = complexOf(result);
    operands[1] = op->getNumOperands() == 3 ? operands[2] : operands[0];
  }
  dtype = operands[toy::isComplex(operands[1]) ? 1 : 0];
}

} // namespace toy

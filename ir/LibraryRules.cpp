// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rules of library functions.
#include "ir/ToyDialect.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy::rules {
namespace {

using Rule = LogicalResult (*)(RuleContext &);

SmallVector<Dim> batchOf(RuleContext &ctx, unsigned i, int64_t matrixAxes = 2) {
  SmallVector<Dim> dims = ctx.tensor(i).getDims();
  dims.truncate(dims.size() - matrixAxes);
  return dims;
}
Dim fromEnd(RuleContext &ctx, unsigned i, int64_t axis) { return ctx.dim(i, ctx.rank(i) - axis); }

SmallVector<Dim> with(SmallVector<Dim> dims, std::initializer_list<Dim> more) {
  dims.append(more);
  return dims;
}

LogicalResult needMatrix(RuleContext &ctx, unsigned i = 0) {
  if (kindOf(ctx.dtype(i)) < DKind::Float)
    return ctx.fail(DiagId::NeedsFloating, ctx.name, ctx.tensor(i));
  return ctx.rank(i) >= 2 ? success() : ctx.fail(DiagId::NeedsShape, ctx.name, "a matrix", ctx.tensor(i));
}

LogicalResult needSquare(RuleContext &ctx) {
  if (failed(needMatrix(ctx)))
    return failure();
  return ctx.unify(0, ctx.rank(0) - 2, 0, ctx.rank(0) - 1)
             ? success()
             : ctx.fail(DiagId::NeedsShape, ctx.name, "a square matrix", ctx.tensor(0));
}

LogicalResult determinant(RuleContext &ctx) {
  return failed(needSquare(ctx)) ? failure() : ctx.result(ctx.dtype(0), batchOf(ctx, 0));
}
LogicalResult squareMatrix(RuleContext &ctx) { return failed(needSquare(ctx)) ? failure() : ctx.result(ctx.tensor(0)); }

/// a [..., n, n] and b [..., n, k] of the same batches, or one matrix and a vector b [n].
LogicalResult solution(RuleContext &ctx) {
  if (failed(needSquare(ctx)))
    return failure();
  int64_t axis = ctx.rank(1) - (ctx.rank(1) == 1 ? 1 : 2);
  bool fits =
      ctx.rank(1) > 0 && ctx.rank(0) == std::max<int64_t>(ctx.rank(1), 2) && ctx.unify(0, ctx.rank(0) - 1, 1, axis);
  for (int64_t batch = 0; fits && batch < axis; ++batch)
    fits = ctx.unify(0, batch, 1, batch);
  if (!fits)
    return ctx.fail(DiagId::RowsDiffer, ctx.name, ctx.tensor(0), ctx.tensor(1));
  return ctx.result(ctx.tensor(1));
}

/// x, residuals, rank, singular values, as NumPy's.
LogicalResult leastSquares(RuleContext &ctx) {
  if (failed(needMatrix(ctx)))
    return failure();
  if (ctx.rank(0) != 2 || ctx.rank(1) < 1 || ctx.rank(1) > 2 || !ctx.unify(0, 0, 1, 0))
    return ctx.fail(DiagId::RowsDiffer, ctx.name, ctx.tensor(0), ctx.tensor(1));
  SmallVector<Dim> x = {ctx.dim(0, 1)};
  if (ctx.rank(1) == 2)
    x.push_back(ctx.dim(1, 1));
  (void)ctx.result(ctx.dtype(0), x);
  (void)ctx.result(realOf(ctx.dtype(0)), {ctx.freshDim()});
  (void)ctx.result(TensorType::scalar(ctx.context, DType::I64));
  return ctx.result(realOf(ctx.dtype(0)), {ctx.dim(0, 0).min(ctx.dim(0, 1))});
}

/// Both triangles as one matrix, the order of the rows, and how many were swapped.
LogicalResult pivotedFactors(RuleContext &ctx) {
  if (failed(needMatrix(ctx)))
    return failure();
  (void)ctx.result(ctx.tensor(0));
  (void)ctx.result(DType::I64, with(batchOf(ctx, 0), {fromEnd(ctx, 0, 2)}));
  return ctx.result(DType::I64, batchOf(ctx, 0));
}

LogicalResult orthogonalTriangular(RuleContext &ctx) {
  if (failed(needMatrix(ctx)))
    return failure();
  Dim m = fromEnd(ctx, 0, 2), n = fromEnd(ctx, 0, 1), k = m.min(n);
  (void)ctx.result(ctx.dtype(0), with(batchOf(ctx, 0), {m, k}));
  return ctx.result(ctx.dtype(0), with(batchOf(ctx, 0), {k, n}));
}

/// u, s, vh; the parameter is whether u and vh are square.
LogicalResult singularValues(RuleContext &ctx) {
  if (failed(needMatrix(ctx)))
    return failure();
  bool full = ctx.integers("parameters")[0] != 0;
  Dim m = fromEnd(ctx, 0, 2), n = fromEnd(ctx, 0, 1), k = m.min(n);
  (void)ctx.result(ctx.dtype(0), with(batchOf(ctx, 0), {m, full ? m : k}));
  (void)ctx.result(realOf(ctx.dtype(0)), with(batchOf(ctx, 0), {k}));
  return ctx.result(ctx.dtype(0), with(batchOf(ctx, 0), {full ? n : k, n}));
}

LogicalResult singularValuesAlone(RuleContext &ctx) {
  if (failed(needMatrix(ctx)))
    return failure();
  return ctx.result(realOf(ctx.dtype(0)), with(batchOf(ctx, 0), {fromEnd(ctx, 0, 2).min(fromEnd(ctx, 0, 1))}));
}

LogicalResult eigenvalues(RuleContext &ctx) {
  return failed(needSquare(ctx)) ? failure() : ctx.result(complexOf(ctx.dtype(0)), batchOf(ctx, 0, 1));
}
LogicalResult eigenvectors(RuleContext &ctx) {
  return failed(eigenvalues(ctx)) ? failure() : ctx.result(complexOf(ctx.dtype(0)), ctx.tensor(0).getDims());
}
LogicalResult hermitianEigenvalues(RuleContext &ctx) {
  return failed(needSquare(ctx)) ? failure() : ctx.result(realOf(ctx.dtype(0)), batchOf(ctx, 0, 1));
}
LogicalResult hermitianEigenvectors(RuleContext &ctx) {
  if (failed(needSquare(ctx)))
    return failure();
  (void)ctx.result(realOf(ctx.dtype(0)), batchOf(ctx, 0, 1));
  return ctx.result(ctx.tensor(0));
}
LogicalResult polynomialRoots(RuleContext &ctx) {
  if (ctx.rank(0) != 1)
    return ctx.fail(DiagId::NeedsShape, ctx.name, "a vector of coefficients", ctx.tensor(0));
  return ctx.result(complexOf(ctx.dtype(0)), {ctx.freshDim()});
}

LogicalResult transform(RuleContext &ctx, DType dtype, function_ref<Dim(Dim)> points) {
  if (ctx.rank(0) == 0)
    return ctx.fail(DiagId::NeedsShape, ctx.name, "at least one axis", ctx.tensor(0));
  SmallVector<Dim> dims(ctx.tensor(0).getDims());
  Dim n = ctx.sizeValue(ctx.operands[1]);
  if (n.isNumber() && n.value() < 1) {
    if (ctx.alwaysRuns)
      return ctx.fail(DiagId::TransformPoints, ctx.name, n.str());
    n = ctx.freshDim();
  }
  dims[ctx.integers("parameters")[0]] = points(n);
  return ctx.result(dtype, dims);
}
LogicalResult complexTransform(RuleContext &ctx) {
  return transform(ctx, ctx.dtype(0), [](Dim n) { return n; });
}
LogicalResult realTransform(RuleContext &ctx) {
  if (isComplex(ctx.dtype(0)))
    return ctx.fail(DiagId::ComplexToReal, ctx.tensor(0), std::string(nameOf(realOf(ctx.dtype(0)))));
  return transform(ctx, complexOf(ctx.dtype(0)),
                   [&](Dim n) { return n.floorDiv(Dim::number(ctx.context, 2)) + Dim::number(ctx.context, 1); });
}
LogicalResult inverseRealTransform(RuleContext &ctx) {
  return transform(ctx, realOf(ctx.dtype(0)), [](Dim n) { return n; });
}

LogicalResult convolved(RuleContext &ctx) {
  int64_t axes = ctx.rank(0) - 2;
  ArrayRef<int64_t> p = ctx.integers("parameters");
  int64_t groups = p[3 * axes], transposed = p[3 * axes + 1];
  if (axes < 1 || ctx.rank(1) != ctx.rank(0))
    return ctx.fail(DiagId::ConvolutionShapes, ctx.name, ctx.tensor(0), ctx.tensor(1));
  auto number = [&](int64_t n) { return Dim::number(ctx.context, n); };
  Dim channels = ctx.dim(0, 1), inner = ctx.dim(1, transposed ? 0 : 1) * number(transposed ? 1 : groups),
      outer = ctx.dim(1, transposed ? 1 : 0) * number(transposed ? groups : 1);
  bool divides = !outer.isNumber() || outer.value() % groups == 0;
  if ((channels.isNumber() && inner.isNumber() && channels != inner) || !divides)
    return ctx.fail(DiagId::ConvolutionShapes, ctx.name, ctx.tensor(0), ctx.tensor(1));
  SmallVector<Dim> dims = {ctx.dim(0, 0), outer};
  for (int64_t i = 0; i < axes; ++i) {
    Dim n = ctx.dim(0, i + 2), reach = (ctx.dim(1, i + 2) - number(1)) * number(p[2 * axes + i]) + number(1);
    Dim size = transposed ? (n - number(1)) * number(p[i]) + reach - number(2 * p[axes + i])
                          : (n + number(2 * p[axes + i]) - reach).floorDiv(number(p[i])) + number(1);
    if (size.isNumber() && size.value() < 1)
      return ctx.fail(DiagId::ConvolutionShapes, ctx.name, ctx.tensor(0), ctx.tensor(1));
    dims.push_back(size);
  }
  return ctx.result(ctx.dtype(0), dims);
}

/// Of values of any sizes in a vector of the same dtype.
LogicalResult places(RuleContext &ctx) {
  if (ctx.rank(0) != 1 || ctx.dtype(0) != ctx.dtype(1))
    return ctx.fail(DiagId::NeedsShape, ctx.name, "a vector", ctx.tensor(0));
  return ctx.result(DType::I64, ctx.tensor(1).getDims());
}

Rule ruleNamed(StringRef name) {
  return llvm::StringSwitch<Rule>(name)
#define TOY_LIBRARY(NAME, RULE) .Case(#NAME, RULE)
#include "ir/Library.def"
      .Default(nullptr);
}

} // namespace

LogicalResult library(RuleContext &ctx) {
  auto function = ctx.attributes.getAs<StringAttr>("function");
  Rule rule = function ? ruleNamed(function.getValue()) : nullptr;
  if (!rule)
    return ctx.fail(DiagId::NotAFunction, function ? function.getValue() : StringRef());
  ctx.name = function.getValue() == "convolution" ? "conv" : function.getValue().str();
  return rule(ctx);
}

LogicalResult systemCall(RuleContext &ctx) {
  StringRef function = ctx.attributes.getAs<StringAttr>("function").getValue();
  char result = systemFunction(function).result;
  if (!result)
    return ctx.fail(DiagId::NotAFunction, function);
  if (result == 's')
    return ctx.result(StrType::get(ctx.context));
  return result == 'f' ? ctx.result(TensorType::scalar(ctx.context, DType::F64)) : success();
}

/// How much of an axis is here, or comes from all ranks, is known when it runs.
LogicalResult axisOfRanks(RuleContext &ctx) {
  SmallVector<Dim> dims = ctx.tensor(0).getDims();
  int64_t axis = ctx.integer("axis");
  if (axis < 0 || axis >= static_cast<int64_t>(dims.size()))
    return ctx.fail(DiagId::AxisOutOfRange, axis, ctx.tensor(0));
  dims[axis] = ctx.freshDim();
  return ctx.result(ctx.dtype(0), dims);
}

LogicalResult sizesOfRank(RuleContext &ctx) {
  SmallVector<Dim> dims;
  for (int64_t axis = 0; axis < ctx.rank(0); ++axis)
    dims.push_back(ctx.freshDim());
  return ctx.result(ctx.dtype(0), dims);
}

} // namespace toy::rules

namespace toy {

bool DistributionRow::gives(DType dtype) const {
  return result == 'i'   ? dtype == DType::I64
         : result == 'd' ? dtype == DType::F64
                         : kindOf(dtype) >= DKind::Float && (result == 'c' || !isComplex(dtype));
}

std::optional<DistributionRow> distributionRow(StringRef name) {
  return llvm::StringSwitch<std::optional<DistributionRow>>(name)
#define TOY_DISTRIBUTION(NAME, DTYPE, RESULT) .Case(#NAME, DistributionRow{DType::DTYPE, RESULT})
#include "ir/Distributions.def"
      .Default(std::nullopt);
}

SystemFunction systemFunction(StringRef name) {
  return llvm::StringSwitch<SystemFunction>(name)
#define TOY_SYSTEM(NAME, OPERANDS, RESULT) .Case(#NAME, {OPERANDS, RESULT})
#include "ir/System.def"
      .Default({"", '\0'});
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators: promotion, broadcasting, matrix products, adjoints.
#include "irgen/Operations.h"

#include "ir/GramProduct.h"
#include "irgen/Expressions.h"
#include "irgen/Lists.h"
#include "irgen/Statements.h"

using namespace mlir;

namespace toy {

Value castTo(IRGen &g, Value x, DType dtype, SourceRange range) {
  if (tensorTypeOf(x).getDtype() == dtype)
    return x;
  return g.create<CastOp>(range, {x}, {g.dtypeAttr(dtype)});
}

Value castVal(IRGen &g, const RValue &x, DType dtype, SourceRange range) {
  if (x.literal && kindOf(dtype) >= kindOf(x.tensor().getDtype()))
    return numberAs(g, *x.literal, dtype);
  return castTo(g, x.value, dtype, range);
}

/// To a dtype, or to its real part's dtype when the value is real and the dtype complex.
static Value castOperand(IRGen &g, const RValue &x, DType dtype, SourceRange range) {
  return castVal(g, x, isComplex(dtype) && !isComplex(x.tensor().getDtype()) ? realOf(dtype) : dtype, range);
}

DType promoteAll(ArrayRef<RValue> values) {
  auto operand = [](const RValue &v) { return PromotionOperand{v.tensor().getDtype(), v.rank() > 0, v.weak}; };
  PromotionOperand all = operand(values[0]);
  for (const RValue &v : values.drop_front()) {
    PromotionOperand next = operand(v);
    all = {promote(all, next), all.ranked || next.ranked, all.weak && next.weak};
  }
  return all.dtype;
}

const RValue &needTensor(IRGen &g, const RValue &x, StringRef what, SourceRange range) {
  if (!x.isTensor())
    g.fail(DiagId::NotANumber, range, {what.str(), x.str()},
           x.isList() && !x.elements.empty() && isa_and_present<TensorType>(x.type().elementOfList().leaf)
               ? "`stack` makes a tensor of a list"
               : "");
  return x;
}

static StringRef opOf(ast::BinaryOp op) {
  static constexpr const char *names[] = {"add", "sub", "mul", "div", "floordiv", "mod", "matmul", "pow",
                                          "eq",  "ne",  "lt",  "le",  "gt",       "ge",  "and",    "or"};
  return names[static_cast<int>(op)];
}

/// What an operation of these operands computes in: integers beside halves become f32, too, so that only the result is
/// rounded.
static DType workingDType(DType dtype, ArrayRef<RValue> values) {
  bool isMixed = llvm::any_of(values, [](const RValue &v) { return !isHalf(v.tensor().getDtype()) && !v.weak; });
  return isHalf(dtype) && isMixed ? DType::F32 : dtype;
}

RValue elementwise(IRGen &g, StringRef op, const RValue &lhs, const RValue &rhs, DType dtype, SourceRange range,
                   SourceRange lhsRange, SourceRange rhsRange) {
  DType work = workingDType(dtype, {lhs, rhs});
  Value x = castOperand(g, lhs, work, lhsRange), y = castOperand(g, rhs, work, rhsRange),
        result = g.create(op, range, {x, y}, {}, {lhsRange, rhsRange});
  return work != dtype && tensorTypeOf(result).getDtype() == work ? castTo(g, result, dtype, range) : result;
}

/// Whether all elements are equal, as one bool; tensors of other sizes are not.
static Value equalTensors(IRGen &g, RValue lhs, RValue rhs, SourceRange range, SourceRange opRange,
                          SourceRange lhsRange, SourceRange rhsRange) {
  if (lhs.rank() != rhs.rank())
    return g.boolean(false, range);
  Value sizes = g.boolean(true, range);
  for (int64_t axis = 0; axis < lhs.rank(); ++axis)
    sizes = g.create<AndOp>(
        range, {sizes, g.create<EqOp>(range, {sizeOf(g, lhs.value, axis, range), sizeOf(g, rhs.value, axis, range)})});
  auto elements = [&] {
    for (int64_t axis = 0; axis < lhs.rank(); ++axis)
      rhs = withSize(g, rhs.value, axis, lhs.tensor().getDim(axis), range);
    RValue equal = binaryOperation(g, ast::BinaryOp::Eq, lhs, rhs, range, opRange, lhsRange, rhsRange);
    return equal.rank() == 0 ? equal.value
                             : g.create("all", range, {equal.value},
                                        {g.integersAttr("axes", llvm::to_vector(llvm::seq<int64_t>(0, lhs.rank()))),
                                         g.boolAttr("keepdims", false)});
  };
  if (auto known = constantOf(sizes))
    return *known ? elements() : sizes;
  Block *same = newBlock(g), *join = newBlock(g);
  join->addArgument(sizes.getType(), g.loc(range));
  cf::CondBranchOp::create(g.b, g.loc(range), g.create<TruthOp>(range, {sizes}), same, ValueRange(), join,
                           ValueRange(sizes));
  moveTo(g, same);
  ++g.fn().conditions;
  Value equal = elements();
  --g.fn().conditions;
  cf::BranchOp::create(g.b, g.loc(range), join, equal);
  moveTo(g, join);
  return join->getArgument(0);
}

/// Elements compare as they do alone; tuples of other lengths differ. So do members of structs.
static Value equalTrees(IRGen &g, const RValue &lhs, const RValue &rhs, SourceRange range, SourceRange opRange,
                        SourceRange lhsRange, SourceRange rhsRange) {
  if (lhs.elements.size() != rhs.elements.size())
    return g.boolean(false, range);
  Value all = g.boolean(true, range);
  for (auto [x, y] : llvm::zip_equal(lhs.elements, rhs.elements)) {
    bool areTensors = x.isTensor() && y.isTensor();
    RValue equal = areTensors ? RValue(equalTensors(g, x, y, range, opRange, lhsRange, rhsRange))
                              : binaryOperation(g, ast::BinaryOp::Eq, x, y, range, opRange, lhsRange, rhsRange);
    all = g.create<AndOp>(range, {all, equal.value});
  }
  return all;
}

/// An operand in a format string: a literal's text, anything else as a field.
static std::string inFormat(IRGen &g, const RValue &v, SourceRange range) {
  std::string source = g.sourceText(range);
  auto text = stringOf(v);
  return text && source == "\"" + text->str() + "\"" && !text->contains('{') && !text->contains('}')
             ? text->str()
             : "{" + source + "}";
}

/// Strings in the order of their bytes.
static Value compareTexts(IRGen &g, ast::BinaryOp op, Value lhs, Value rhs, SourceRange range) {
  bool swaps = op == ast::BinaryOp::Gt || op == ast::BinaryOp::Le;
  Value before = g.create<TextOp>(range, swaps ? ValueRange{rhs, lhs} : ValueRange{lhs, rhs},
                                  {g.stringAttr("function", "before")});
  return op == ast::BinaryOp::Lt || op == ast::BinaryOp::Gt ? before : g.create<NotOp>(range, {before});
}

RValue binaryOperation(IRGen &g, ast::BinaryOp op, const RValue &lhs, const RValue &rhs, SourceRange range,
                       SourceRange opRange, SourceRange lhsRange, SourceRange rhsRange) {
  using ast::BinaryOp;
  std::string spelling(ast::spellingOf(op));
  if (lhs.isStr() && rhs.isStr()) {
    if (op >= BinaryOp::Lt && op <= BinaryOp::Ge)
      return compareTexts(g, op, lhs.value, rhs.value, range);
    if (op == BinaryOp::Add)
      return g.create<StrConcatOp>(range, {lhs.value, rhs.value});
    if (op == BinaryOp::Eq || op == BinaryOp::Ne) {
      auto left = stringOf(lhs), right = stringOf(rhs);
      Value equal =
          left && right ? g.boolean(*left == *right, range) : g.create<StrEqOp>(range, {lhs.value, rhs.value});
      return op == BinaryOp::Eq ? equal : g.create<NotOp>(range, {equal});
    }
  }
  if (lhs.isList() && rhs.isList())
    if (auto result = listOperation(g, op, lhs, rhs, range, opRange, rhsRange))
      return *result;
  bool areTrees = lhs.kind == rhs.kind &&
                  (lhs.kind == RValue::Tuple || (lhs.kind == RValue::Struct && lhs.structName == rhs.structName));
  if (areTrees && (op == BinaryOp::Eq || op == BinaryOp::Ne)) {
    Value equal = equalTrees(g, lhs, rhs, range, opRange, lhsRange, rhsRange);
    return op == BinaryOp::Eq ? equal : g.create<NotOp>(range, {equal});
  }
  if (!lhs.isTensor() || !rhs.isTensor()) {
    if (lhs.kind == RValue::DTypeRef && rhs.kind == RValue::DTypeRef && (op == BinaryOp::Eq || op == BinaryOp::Ne))
      return g.boolean((lhs.dtype == rhs.dtype) == (op == BinaryOp::Eq), range);
    Diagnostic &d = g.report(DiagId::StringOperand, opRange, {spelling, lhs.str(), rhs.str()});
    d.label(lhsRange, lhs.str()).label(rhsRange, rhs.str());
    if (lhs.isStr() != rhs.isStr() && op == BinaryOp::Add)
      d.withHelp("`f\"" + inFormat(g, lhs, lhsRange) + inFormat(g, rhs, rhsRange) + "\"` is both as one string");
    else if (lhs.isStr() && op == BinaryOp::Mod)
      d.withHelp("`f\"{x:.3f}\"` is a text with values in it");
    if (lhs.isStr() && op == BinaryOp::Mul && rhs.isTensor())
      d.withHelp("a format string fills: `f\"{\"\":->20}\"` is 20 dashes");
    throw IRAbort();
  }
  if (op == BinaryOp::MatMul)
    return matmul(g, lhs, rhs, opRange, lhsRange, rhsRange);
  DType dtype = promoteAll({lhs, rhs});
  RValue result;
  switch (op) {
  case BinaryOp::Add:
  case BinaryOp::Sub:
  case BinaryOp::Mul:
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
    result = elementwise(g, opOf(op), lhs, rhs, dtype == DType::Bool ? DType::I64 : dtype, opRange, lhsRange, rhsRange);
    break;
  case BinaryOp::Div:
    result =
        elementwise<DivOp>(g, lhs, rhs, kindOf(dtype) <= DKind::Int ? DType::F64 : dtype, opRange, lhsRange, rhsRange);
    break;
  case BinaryOp::Pow:
    if (isComplex(lhs.tensor().getDtype()) && isInteger(rhs.tensor().getDtype()))
      result = g.create<PowOp>(opRange, {lhs.value, rhs.value}, {}, {lhsRange, rhsRange});
    else
      result = elementwise<PowOp>(g, lhs, rhs, dtype == DType::Bool ? DType::I64 : dtype, opRange, lhsRange, rhsRange);
    break;
  default:
    return elementwise(g, opOf(op), lhs, rhs, dtype, opRange, lhsRange, rhsRange);
  }
  result.weak = lhs.weak && rhs.weak;
  return result;
}

RValue matmul(IRGen &g, const RValue &lhs, const RValue &rhs, SourceRange range, SourceRange lhsRange,
              SourceRange rhsRange) {
  DType dtype = promoteAll({lhs, rhs});
  if (dtype == DType::Bool)
    dtype = DType::I64;
  DType work = workingDType(dtype, {lhs, rhs});
  Value x = castVal(g, lhs, work, lhsRange), y = castVal(g, rhs, work, rhsRange);
  Value product = g.create<MatMulOp>(range, {x, y}, {}, {lhsRange, rhsRange});
  if (int64_t kind = gramKind(x, y))
    product.getDefiningOp()->setAttr(gramAttribute, g.b.getI64IntegerAttr(kind));
  return castTo(g, product, dtype, range);
}

RValue unaryOperation(IRGen &g, ast::UnaryOp op, const RValue &x, SourceRange range) {
  needTensor(g, x, op == ast::UnaryOp::Not ? "not" : "-", range);
  if (op == ast::UnaryOp::Not)
    return g.create<NotOp>(range, {x.value});
  if (op == ast::UnaryOp::Plus)
    return x;
  Value operand = x.tensor().getDtype() == DType::Bool ? castTo(g, x.value, DType::I64, range) : x.value;
  RValue result = g.create<NegOp>(range, {operand});
  result.weak = x.weak;
  return result;
}

RValue transposeLast(IRGen &g, const RValue &x, SourceRange range) {
  int64_t rank = x.rank();
  if (rank < 2)
    return x;
  SmallVector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return permute(g, x.value, permutation, range);
}

RValue adjoint(IRGen &g, const RValue &x, SourceRange range) {
  needTensor(g, x, "'", range);
  RValue conjugated = x.tensor().isComplex() ? RValue(g.create<ConjOp>(range, {x.value})) : x;
  return transposeLast(g, conjugated, range);
}

} // namespace toy

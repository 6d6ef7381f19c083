// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values that are known while the program is compiled, and arguments that have to be.
#include "irgen/Expressions.h"

#include "irgen/Decisions.h"
#include "irgen/Operations.h"
#include "support/OtherSpellings.h"

using namespace mlir;

namespace toy {

std::optional<int64_t> constantOf(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        dense && dense.getNumElements() == 1 && dense.getElementType().isInteger())
      return (*dense.value_begin<APInt>()).getBitWidth() == 1 ? (*dense.value_begin<APInt>()).getZExtValue()
                                                              : (*dense.value_begin<APInt>()).getSExtValue();
  if (auto size = sizeBehind(value); size && size->isNumber())
    return size->value();
  return std::nullopt;
}

std::optional<StringRef> stringOf(const RValue &value) {
  auto constant = value.isStr() ? value.value.getDefiningOp<StrConstantOp>() : StrConstantOp();
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

Attribute constantLeaf(IRGen &g, Value leaf, SourceRange range) {
  if (auto text = stringOf(RValue(leaf)))
    return g.b.getStringAttr(*text);
  auto type = dyn_cast<TensorType>(leaf.getType());
  auto known = type && type.isScalar() ? constantOf(leaf) : std::nullopt;
  if (!known && type && type.isScalar())
    known = decidedInteger(g, leaf, range);
  return known ? g.b.getI64IntegerAttr(*known) : Attribute();
}

Value constantValue(IRGen &g, Type type, Attribute leaf, SourceRange range) {
  auto number = dyn_cast<IntegerAttr>(leaf);
  if (!number)
    return g.string(mlir::cast<StringAttr>(leaf).getValue(), range);
  DType dtype = mlir::cast<TensorType>(type).getDtype();
  return dtype == DType::Bool ? g.boolean(number.getInt() != 0, range)
                              : castTo(g, g.integer(number.getInt(), range), dtype, range);
}

/// A parameter that must be constant makes its function start again with the caller's constant in its place.
void needStatic(IRGen &g, Value value) {
  if (g.fn().decl)
    for (auto [parameter, leaf] : g.fn().parameterValues)
      if (parameter == value)
        throw StaticParameterNeeded{g.fn().decl, leaf};
}

std::string helpForVarying(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  bool isEntry = !argument || argument.getOwner()->isEntryBlock();
  return isEntry ? "" : "a loop over a tuple, as `for axis in (0, 1)`, has a constant in each turn";
}

/// An integer that is constant or decided here.
static int64_t neededInteger(IRGen &g, Value v, SourceRange range, StringRef what) {
  if (auto n = constantOf(v))
    return *n;
  if (auto n = decidedInteger(g, v, range))
    return *n;
  needStatic(g, v);
  g.fail(DiagId::StaticNeeded, range, {what.str(), "`" + g.sourceText(range) + "`"}, helpForVarying(v));
}

int64_t staticInteger(IRGen &g, const ast::Expr &e, StringRef what) {
  RValue v = genExpr(g, e);
  if (!v.isTensor() || v.rank() != 0 || kindOf(v.tensor().getDtype()) > DKind::Int)
    g.fail(DiagId::ArgumentKind, e.range, {what.str(), "the value", "an integer", v.str()});
  return neededInteger(g, v.value, e.range, what);
}

std::string staticString(IRGen &g, const ast::Expr &e, StringRef what) {
  RValue v = genExpr(g, e);
  if (auto text = stringOf(v))
    return text->str();
  if (v.isStr())
    needStatic(g, v.value);
  g.fail(DiagId::StaticNeeded, e.range, {what.str(), "the text"});
}

DType staticDType(IRGen &g, const ast::Expr &e) {
  RValue v = genExpr(g, e);
  if (v.kind != RValue::DTypeRef) {
    auto text = stringOf(v);
    std::string dtype = text.value_or("").str();
    if (!dtypeNamed(dtype))
      dtype = wordInstead(dtype);
    g.fail(DiagId::ArgumentKind, e.range, {"dtype", "the value", "a dtype", v.type().str()},
           dtypeNamed(dtype) ? "write `" + dtype + "`" : "");
  }
  return v.dtype;
}

Value indexValue(IRGen &g, const RValue &v, SourceRange range, StringRef what) {
  if (!v.isTensor() || v.rank() != 0 || !isInteger(v.tensor().getDtype()))
    g.fail(DiagId::ArgumentKind, range, {what.str(), "a size or index", "an integer", v.str()},
           v.isTensor() && isFloat(v.tensor().getDtype()) ? "convert it: `i64(…)`; `//` is the quotient of integers"
                                                          : "");
  return castTo(g, v.value, DType::I64, range);
}

Value indexValue(IRGen &g, const ast::Expr &e, StringRef what) { return indexValue(g, genExpr(g, e), e.range, what); }

static SmallVector<Value> indexList(IRGen &g, RValue v, SourceRange range, StringRef what) {
  SmallVector<Value> out;
  if (v.kind == RValue::Tuple) {
    for (const RValue &element : v.elements)
      out.push_back(indexValue(g, element, range, what));
    return out;
  }
  bool isList = v.isTensor() && v.rank() == 1 && isInteger(v.tensor().getDtype());
  if (isList && isFree(g, v.tensor().getDim(0))) { // as many as there are in this specialization
    Dim length = v.tensor().getDim(0), number = g.number(hintOf(g, length));
    decideSize(g, SizeFact::equal(length, number), range);
    v = withSize(g, v.value, 0, number, range);
  }
  if (isList && v.tensor().getDim(0).isNumber()) {
    for (int64_t i = 0; i < v.tensor().getDim(0).value(); ++i)
      out.push_back(castTo(g, selectIndex(g, v.value, 0, g.integer(i, range), range), DType::I64, range));
    return out;
  }
  return {indexValue(g, v, range, what)};
}

int64_t integerAt(IRGen &g, const ast::Bracket &bracket, ast::Bracket::Part part) {
  SourceRange range{bracket.range.buffer, part.begin, part.begin + part.length};
  int64_t n;
  if (StringRef(g.sourceText(range)).getAsInteger(10, n))
    g.fail(DiagId::LiteralRange, range, {g.sourceText(range), "i64"});
  return part.negative ? -n : n;
}

SmallVector<Value> indexList(IRGen &g, const ast::Expr &e, StringRef what) {
  SmallVector<Value> out;
  if (auto *bracket = ast::dynCast<ast::Bracket>(&e)) {
    if (bracket->compact && bracket->shape.size() == 1 && bracket->allIntegers) {
      for (ast::Bracket::Part part : bracket->re)
        out.push_back(g.integer(integerAt(g, *bracket, part), {e.range.buffer, part.begin, part.begin + part.length}));
      return out;
    }
    if (!bracket->compact) {
      for (const ast::ExprPtr &element : bracket->elements)
        out.push_back(indexValue(g, *element, what));
      return out;
    }
  }
  return indexList(g, genExpr(g, e), e.range, what);
}

SmallVector<int64_t> staticList(IRGen &g, ArrayRef<Value> values, SourceRange range, StringRef what) {
  return llvm::map_to_vector(values, [&](Value v) { return neededInteger(g, v, range, what); });
}
SmallVector<int64_t> staticList(IRGen &g, const ast::Expr &e, StringRef what) {
  return staticList(g, indexList(g, e, what), e.range, what);
}
SmallVector<int64_t> staticList(IRGen &g, const RValue &v, SourceRange range, StringRef what) {
  return staticList(g, indexList(g, v, range, what), range, what);
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists.
#include "irgen/Lists.h"

#include "irgen/Expressions.h"
#include "irgen/Indexing.h"
#include "irgen/Operations.h"

using namespace mlir;

namespace toy {

void refuse(IRGen &g, const ListTypeNeeded &need) {
  g.fail(DiagId::ListWithoutType, need.range, {need.what},
         "declare it: `var x: list[f64] = list();`, of structs only where all members have types");
}

void needListType(IRGen &g, const std::string &what, SourceRange range) {
  if (g.fn().mayLeaveOut > 0)
    throw ListTypeNeeded{what, range};
  refuse(g, {what, range});
}

/// The leaves of an element; one that has none is counted by a bool.
static SmallVector<Value> elementLeaves(IRGen &g, const RValue &element, SourceRange range) {
  SmallVector<Value> leaves;
  element.flatten(leaves);
  if (leaves.empty())
    leaves.push_back(g.boolean(false, range));
  return leaves;
}

/// A list with what `change` gives in place of each of its leaves.
static RValue withLists(const RValue &list, llvm::function_ref<Value(Value leaf, size_t number)> change) {
  SmallVector<Value> leaves;
  list.flatten(leaves);
  for (auto [i, leaf] : llvm::enumerate(leaves))
    leaf = change(leaf, i);
  ValueRange rest(leaves);
  return unflatten(list.type(), rest);
}

/// A list of a type from the leaves of its elements.
static RValue listOfLeaves(IRGen &g, const ValueType &list, ArrayRef<SmallVector<Value>> elements, SourceRange range) {
  SmallVector<Type> types;
  list.flatten(types);
  SmallVector<Value> lists;
  for (auto [i, type] : llvm::enumerate(types)) {
    SmallVector<Value> values;
    for (const SmallVector<Value> &element : elements)
      values.push_back(element[i]);
    lists.push_back(g.createOp<ListOp>(range, values, {}, {}, type)->getResult(0));
  }
  ValueRange rest(lists);
  return unflatten(list, rest);
}

RValue emptyList(IRGen &g, const ValueType &list, SourceRange range) { return listOfLeaves(g, list, {}, range); }

RValue adapted(IRGen &g, RValue value, const ValueType &type, SourceRange range) {
  if (value.kind == RValue::List)
    return value.elements.empty() && type.kind == ValueType::List ? emptyList(g, type, range) : value;
  for (auto [element, part] : llvm::zip(value.elements, type.elements))
    element = adapted(g, element, part, range);
  return value;
}

ValueType completed(ValueType type, const ValueType &other) {
  if (type.isOpenList() && other.kind == ValueType::List)
    return other;
  for (auto [element, part] : llvm::zip(type.elements, other.elements))
    element = completed(element, part);
  return type;
}

/// Whether values of one type may be elements of another one: the dtypes of tensors widen, sizes are free.
static bool fits(const ValueType &have, const ValueType &want, bool weak) {
  if (have.kind == ValueType::List && want.kind == ValueType::List)
    return have.isOpenList() || have.key() == want.key();
  if (have.kind != want.kind || have.elements.size() != want.elements.size() || have.structName != want.structName ||
      have.code != want.code || have.names != want.names ||
      (have.kind == ValueType::DTypeRef && have.dtype != want.dtype))
    return false;
  if (have.kind != ValueType::Leaf)
    return llvm::all_of(llvm::zip_equal(have.elements, want.elements),
                        [](auto pair) { return fits(std::get<0>(pair), std::get<1>(pair), false); });
  auto x = dyn_cast<TensorType>(have.leaf), y = dyn_cast<TensorType>(want.leaf);
  if (!x || !y)
    return have.leaf == want.leaf;
  DType from = x.getDtype(), to = y.getDtype();
  return x.getRank() == y.getRank() && kindOf(from) <= kindOf(to) && (weak || promote({from}, {to}) == to);
}

static RValue converted(IRGen &g, RValue value, const ValueType &element, SourceRange range) {
  if (value.kind == RValue::List)
    return adapted(g, value, element, range);
  if (value.isTensor())
    return castVal(g, value, cast<TensorType>(element.leaf).getDtype(), range);
  for (auto [part, type] : llvm::zip(value.elements, element.elements))
    part = converted(g, part, type, range);
  value.settle();
  return value;
}

/// `f64[_]` of `list[f64[_]]`.
static std::string elementText(const ValueType &list) {
  return StringRef(list.str()).drop_front(StringRef("list[").size()).drop_back().str();
}

static RValue asElement(IRGen &g, const RValue &value, const ValueType &element, SourceRange range) {
  if (!fits(value.type(), element, value.weak))
    g.fail(DiagId::ListElement, range, {value.str(), elementText(element.listOf(g.context))});
  return converted(g, value, element, range);
}

static bool hasOpenList(const ValueType &type) { return type.isOpenList() || llvm::any_of(type.elements, hasOpenList); }

/// The type that elements get from their first one.
static ValueType elementTypeOf(IRGen &g, const RValue &value, SourceRange range) {
  if (value.kind == RValue::Nothing)
    g.fail(DiagId::NoValue, range, {g.sourceText(range)});
  ValueType type = value.type();
  if (hasOpenList(type))
    needListType(g, "list", range);
  return type;
}

RValue makeList(IRGen &g, std::vector<RValue> values, ArrayRef<SourceRange> ranges, SourceRange range,
                std::optional<ValueType> wanted) {
  RValue open;
  open.kind = RValue::List;
  if (values.empty())
    return wanted ? emptyList(g, wanted->listOf(g.context), range) : open;
  ValueType element = wanted ? *wanted : elementTypeOf(g, values[0], ranges[0]);
  bool isWeak = values[0].weak;
  for (const RValue &value : llvm::drop_begin(values)) // the widest one decides
    if (ValueType type = value.type(); !wanted && !value.weak && fits(element, type, isWeak)) {
      element = type;
      isWeak = false;
    } else if (!wanted && isWeak && value.weak && fits(element, type, true))
      element = type;
  SmallVector<SmallVector<Value>> leaves;
  for (auto [value, place] : llvm::zip_equal(values, ranges))
    leaves.push_back(elementLeaves(g, asElement(g, value, element, place), place));
  return listOfLeaves(g, element.listOf(g.context), leaves, range);
}

Value listLength(IRGen &g, const RValue &list, SourceRange range) {
  SmallVector<Value> leaves;
  list.flatten(leaves);
  return leaves.empty() ? g.integer(0, range) : g.create<ListLenOp>(range, {leaves[0]});
}

RValue listElement(IRGen &g, const RValue &list, Value index, SourceRange range) {
  SmallVector<Value> leaves;
  list.elements[0].flatten(leaves);
  for (Value &leaf : leaves)
    leaf = g.createOp<ListElementOp>(range, {leaf, index})->getResult(0);
  ValueType element = list.type().elementOfList();
  ValueRange rest(leaves);
  return unflatten(element, rest);
}

RValue appended(IRGen &g, const RValue &list, RValue value, SourceRange range, SourceRange valueRange) {
  if (list.elements.empty())
    return makeList(g, {std::move(value)}, {valueRange}, range);
  SmallVector<Value> leaves =
      elementLeaves(g, asElement(g, value, list.type().elementOfList(), valueRange), valueRange);
  return withLists(list, [&](Value leaf, size_t i) { return g.create<ListAppendOp>(range, {leaf, leaves[i]}); });
}

RValue withElement(IRGen &g, const RValue &list, Value index, RValue value, SourceRange range, SourceRange valueRange) {
  SmallVector<Value> leaves =
      elementLeaves(g, asElement(g, value, list.type().elementOfList(), valueRange), valueRange);
  return withLists(list, [&](Value leaf, size_t i) { return g.create<ListSetOp>(range, {leaf, index, leaves[i]}); });
}

static void needElements(IRGen &g, const RValue &list, ArrayRef<ast::Subscript> subscripts, SourceRange range) {
  if (subscripts.size() != 1 || subscripts[0].form > ast::Subscript::Slice)
    g.fail(DiagId::TooManyIndices, range, {std::to_string(subscripts.size()), "a list"});
  if (list.elements.empty() && subscripts[0].form == ast::Subscript::Value)
    needListType(g, "[…]", range);
}

Value listIndex(IRGen &g, const RValue &list, ArrayRef<ast::Subscript> subscripts, SourceRange range) {
  needElements(g, list, subscripts, range);
  if (subscripts[0].form == ast::Subscript::Slice)
    g.fail(DiagId::NotAssignable, range, {"a slice of a list"});
  Value index = indexValue(g, *subscripts[0].value, "index");
  return g.create<CheckIndexOp>(range, {index, listLength(g, list, range)}, {g.integerAttr("axis", 0)});
}

RValue indexedList(IRGen &g, const RValue &list, ArrayRef<ast::Subscript> subscripts, SourceRange range) {
  needElements(g, list, subscripts, range);
  if (subscripts[0].form == ast::Subscript::Value)
    return listElement(g, list, listIndex(g, list, subscripts, range), range);
  Value start, count, step;
  sliceBounds(g, subscripts[0], listLength(g, list, range), start, count, step);
  return withLists(list, [&](Value leaf, size_t) { return g.create<ListSliceOp>(range, {leaf, start, count, step}); });
}

/// Whether all lists of leaves are equal; a list without a type is equal to empty ones.
static Value equalLists(IRGen &g, const RValue &lhs, const RValue &rhs, SourceRange range) {
  if (lhs.elements.empty() || rhs.elements.empty())
    return g.create<EqOp>(range, {listLength(g, lhs, range), listLength(g, rhs, range)});
  SmallVector<Value> left, right;
  lhs.flatten(left);
  rhs.flatten(right);
  Value all;
  for (auto [x, y] : llvm::zip_equal(left, right)) {
    Value equal = g.create<ListEqOp>(range, {x, y});
    all = all ? g.create<AndOp>(range, {all, equal}) : equal;
  }
  return all;
}

std::optional<RValue> listOperation(IRGen &g, ast::BinaryOp op, const RValue &lhs, const RValue &rhs, SourceRange range,
                                    SourceRange opRange, SourceRange rhsRange) {
  bool areOpen = lhs.elements.empty() || rhs.elements.empty();
  if (op != ast::BinaryOp::Add && op != ast::BinaryOp::Eq && op != ast::BinaryOp::Ne)
    return std::nullopt;
  if (!areOpen && lhs.type().key() != rhs.type().key()) {
    if (op != ast::BinaryOp::Add)
      return std::nullopt;
    g.fail(DiagId::ListElement, rhsRange, {elementText(rhs.type()), elementText(lhs.type())});
  }
  if (op != ast::BinaryOp::Add) {
    Value equal = equalLists(g, lhs, rhs, opRange);
    return op == ast::BinaryOp::Eq ? equal : g.create<NotOp>(opRange, {equal});
  }
  if (areOpen)
    return lhs.elements.empty() ? rhs : lhs;
  SmallVector<Value> others;
  rhs.flatten(others);
  return withLists(lhs, [&](Value leaf, size_t i) { return g.create<ListConcatOp>(range, {leaf, others[i]}); });
}

} // namespace toy

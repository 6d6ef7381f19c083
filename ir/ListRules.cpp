// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rules of lists and of functions of text.
#include "ir/ToyDialect.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy {

std::string ListType::str() const {
  std::string element = typeText(getElement());
  std::replace(element.begin(), element.end(), '?', '_'); // sizes are free
  return "list[" + element + "]";
}

namespace rules {

static Type elementOf(RuleContext &ctx) { return cast<ListType>(ctx.operands[0].getType()).getElement(); }

/// Whether a list may hold values of a type.
static bool isElement(Type type) {
  auto list = dyn_cast<ListType>(type);
  return isa<TensorType, StrType>(type) || (list && isElement(list.getElement()));
}

LogicalResult sameList(RuleContext &ctx) {
  Type list = ctx.operands[0].getType();
  return isElement(list) ? ctx.result(list) : ctx.fail(DiagId::ListElement, typeText(elementOf(ctx)), "no such values");
}
LogicalResult ownedElement(RuleContext &ctx) {
  Type element = ctx.operands[0].getType();
  for (unsigned i = 1; i < ctx.size() && isa<ListType>(element); ++i)
    element = cast<ListType>(element).getElement();
  auto tensor = dyn_cast<TensorType>(element);
  return isa<ListType>(element) || (tensor && !tensor.isScalar())
             ? success()
             : ctx.fail(DiagId::ListElement, typeText(elementOf(ctx)), "no such values");
}
LogicalResult listElement(RuleContext &ctx) { return ctx.result(elementOf(ctx)); }

LogicalResult listsEqual(RuleContext &ctx) {
  if (ctx.operands[0].getType() != ctx.operands[1].getType())
    return ctx.fail(DiagId::StringOperand, "==", typeText(ctx.operands[0].getType()),
                    typeText(ctx.operands[1].getType()));
  return ctx.result(TensorType::scalar(ctx.context, DType::Bool));
}

/// The second operand is an element, or another list.
static LogicalResult needType(RuleContext &ctx, unsigned operand, Type wanted) {
  Type have = ctx.operands[operand].getType();
  auto x = isa<TensorType>(have) ? ctx.tensor(operand) : TensorType(), y = dyn_cast<TensorType>(wanted);
  bool agree = have == wanted || (x && y && x.getDtype() == y.getDtype() && x.getRank() == y.getRank());
  return agree ? sameList(ctx) : ctx.fail(DiagId::ListElement, typeText(have), typeText(wanted));
}

LogicalResult listAppended(RuleContext &ctx) { return needType(ctx, ctx.size() - 1, elementOf(ctx)); }
LogicalResult listsJoined(RuleContext &ctx) { return needType(ctx, 1, ctx.operands[0].getType()); }

LogicalResult listSorted(RuleContext &ctx) {
  auto tensor = dyn_cast<TensorType>(elementOf(ctx));
  if (isa<ListType>(elementOf(ctx)) || (tensor && !tensor.isScalar()))
    return ctx.fail(DiagId::NotANumber, "sort", typeText(ctx.operands[0].getType()));
  return sameList(ctx);
}

LogicalResult listJoined(RuleContext &ctx) {
  auto element = dyn_cast<TensorType>(elementOf(ctx));
  if (!element)
    return ctx.fail(DiagId::NotANumber, ctx.flag("stacks") ? "stack" : "cat", typeText(ctx.operands[0].getType()));
  SmallVector<Dim> dims(element.getRank() + ctx.flag("stacks"), ctx.freshDim());
  return ctx.result(element.getDtype(), dims);
}

LogicalResult textFunction(RuleContext &ctx) {
  StringRef name = ctx.attributes.getAs<StringAttr>("function").getValue();
  char result = llvm::StringSwitch<char>(name)
#define TOY_TEXT(NAME, PARAMETERS, RESULT) .Case(#NAME, RESULT)
#include "ir/Text.def"
                    .Default('s');
  Type str = StrType::get(ctx.context);
  if (result == 'l')
    return ctx.result(ListType::get(ctx.context, str));
  if (result == 's')
    return ctx.result(str);
  return ctx.result(TensorType::scalar(ctx.context, result == 'i' ? DType::I64 : DType::Bool));
}

} // namespace rules
} // namespace toy

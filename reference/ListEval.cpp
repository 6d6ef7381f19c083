// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists and functions of text.
#include "reference/EvaluatorImpl.h"

#include "runtime/Text.h"

using namespace mlir;

namespace toy {

rt::ItemKind itemKindOf(Type element) {
  if (auto list = dyn_cast<ListType>(element)) {
    rt::ItemKind kind = itemKindOf(list.getElement());
    ++kind.depth;
    return kind;
  }
  auto tensor = dyn_cast<TensorType>(element);
  if (!tensor)
    return {rt::ItemKind::Text, DType::U8, 0, 0};
  return {tensor.isScalar() ? rt::ItemKind::Scalar : rt::ItemKind::Tensor, tensor.getDtype(),
          static_cast<uint8_t>(tensor.getRank()), 0};
}

template <> void Frame::evaluate(ListOp o) {
  rt::ListRef list(rt::newList(itemKindOf(cast<ListType>(o.getResult().getType()).getElement())));
  for (Value v : o.getValues()) {
    rt::Item item = rt::itemOf(*list, values[v]);
    list = rt::append(std::move(list), item);
  }
  values[o.getResult()] = std::move(list);
}

template <> void Frame::evaluate(ListLenOp o) { setInteger(o.getResult(), list(o.getList()).count); }

template <> void Frame::evaluate(ListElementOp o) {
  rt::Value element = rt::valueOf(list(o.getList()), integer(o.getIndex()));
  values[o.getResult()] = std::move(element);
}

template <> void Frame::evaluate(ListAppendOp o) {
  rt::Item item = rt::itemOf(list(o.getList()), values[o.getValue()]);
  values[o.getResult()] = rt::append(consumeList(o.getList(), o), item);
}

template <> void Frame::evaluate(ListSetOp o) {
  rt::Item item = rt::itemOf(list(o.getList()), values[o.getValue()]);
  values[o.getResult()] = rt::set(consumeList(o.getList(), o), integer(o.getIndex()), item);
}

template <> void Frame::evaluate(ListSliceOp o) {
  values[o.getResult()] =
      rt::slice(list(o.getList()), integer(o.getStart()), integer(o.getCount()), integer(o.getStep()));
}

template <> void Frame::evaluate(ListConcatOp o) {
  rt::ListRef other = std::get<rt::ListRef>(values[o.getOther()]);
  values[o.getResult()] = rt::concat(consumeList(o.getList(), o), *other);
}

template <> void Frame::evaluate(ListEqOp o) { setBool(o.getResult(), rt::equal(list(o.getLhs()), list(o.getRhs()))); }

template <> void Frame::evaluate(ListSortOp o) {
  values[o.getResult()] = rt::sorted(list(o.getList()), o.getDescending());
}

template <> void Frame::evaluate(ListJoinOp o) {
  set(o.getResult(), rt::joined(list(o.getList()), o.getAxis(), o.getStacks()));
}

template <> void Frame::evaluate(TextOp o) {
  SmallVector<rt::Value> arguments;
  for (Value v : o.getArguments())
    arguments.push_back(values[v]);
  StringRef name = o.getFunction();
  values[o.getResult()] =
      rt::callText(std::string_view(name.data(), name.size()), {arguments.data(), arguments.size()});
}

} // namespace toy

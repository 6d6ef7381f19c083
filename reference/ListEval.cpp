// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists and functions of text.
#include "reference/EvaluatorImpl.h"

#include "runtime/Io.h"
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

template <> void Frame::evaluate(ListUniqueOp o) { values[o.getResult()] = rt::unique(consumeList(o.getList(), o)); }

template <> void Frame::evaluate(ListOwnOp o) {
  const rt::List *in = &list(o.getList());
  for (int64_t index : integers(o.getIndices()))
    if (const void *element = rt::ownElement(*in, index))
      in = static_cast<const rt::List *>(element);
    else
      return;
}

template <> void Frame::evaluate(ListSliceOp o) {
  values[o.getResult()] =
      rt::slice(consumeList(o.getList(), o), integer(o.getStart()), integer(o.getCount()), integer(o.getStep()));
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
  const std::string name = o.getFunction().str();
  auto call = [&] { values[o.getResult()] = rt::callText(name, {arguments.data(), arguments.size()}); };
  auto path = [&] { return std::get<rt::StrRef>(arguments[0])->text; };
  if (name == "read_text" && path() == "-") // rank 0 has it
    return setText(o.getResult(), ranks::shareText(placeOf(o), [&] { return rt::readText("-"); }));
  if (name != "write_text" && name != "picture_saved")
    return call();
  setInteger(o.getResult(), 0);
  ranks::writeTogether(placeOf(o), path(), call);
}

} // namespace toy

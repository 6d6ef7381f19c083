// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values as a whole: copies, and what they hold.
#include "runtime/Value.h"
#include "runtime/Copies.h"

#include "runtime/List.h"
#include "runtime/Memory.h"
#include "runtime/Ownership.h"
#include "runtime/Reachable.h"

#include <cstring>

namespace toy::rt {

Tensor *newScalar(DType dtype, const void *element) {
  Tensor *t = newTensor(dtype, {});
  std::memcpy(t->data, element, sizeOf(dtype));
  return t;
}

Tensor *copyOf(const Tensor *source) {
  const void *from = onHost(*source);
  Tensor *t = newTensor(source->dtype, source->shape());
  copyBytes(t->data, from, source->count() * sizeOf(source->dtype));
  return t;
}

bool isHeldOnce(const Tensor &t) {
  return t.refs.load(std::memory_order_acquire) == 1 && t.storage->refs.load(std::memory_order_acquire) == 1;
}

TensorRef placeFor(const TensorRef &consumed) {
  if (!isHeldOnce(*consumed)) {
    onHost(*consumed);
    return TensorRef(newTensor(consumed->dtype, consumed->shape()));
  }
  onHostOnly(*consumed);
  return consumed;
}

Tensor *unique(Tensor *consumed) {
  if (isHeldOnce(*consumed)) {
    onHostOnly(*consumed);
    return consumed;
  }
  Tensor *copy = copyOf(consumed);
  countCopy();
  release(consumed);
  return copy;
}

static void addHeld(void *object, ItemKind::Kind kind, Held &held) {
  held.references.push_back(object);
  if (kind != ItemKind::List || !held.lists.insert(object).second)
    return;
  auto &list = *static_cast<const List *>(object);
  for (const Item &item : list.of.isObject() ? list.elements() : std::span<const Item>())
    addHeld(item.object, list.of.kind(), held);
}

void addHeld(const Value &value, Held &held) {
  if (auto *t = std::get_if<TensorRef>(&value))
    addHeld(t->get(), ItemKind::Tensor, held);
  else if (auto *s = std::get_if<StrRef>(&value))
    addHeld(s->get(), ItemKind::Text, held);
  else if (auto *list = std::get_if<ListRef>(&value))
    addHeld(list->get(), ItemKind::List, held);
  else if (auto *a = std::get_if<std::shared_ptr<Aggregate>>(&value))
    for (const Value &element : (*a)->elements)
      addHeld(element, held);
}

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values as a whole: copies, and what they hold.
#include "runtime/Value.h"

#include "runtime/List.h"
#include "runtime/Memory.h"
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
  std::memcpy(t->data, from, source->count() * sizeOf(source->dtype));
  return t;
}

Tensor *unique(Tensor *consumed) {
  if (consumed->refs.load(std::memory_order_acquire) == 1 &&
      consumed->storage->refs.load(std::memory_order_acquire) == 1) {
    onHostOnly(*consumed);
    return consumed;
  }
  Tensor *copy = copyOf(consumed);
  countCopy();
  release(consumed);
  return copy;
}

static void collect(const List &list, std::set<void *> &objects) {
  for (const Item &item : list.of.isObject() ? list.elements() : std::span<const Item>())
    if (objects.insert(item.object).second && list.of.kind() == ItemKind::List)
      collect(*item.list, objects);
}

void collectObjects(const Value &value, std::set<void *> &objects) {
  if (auto *t = std::get_if<TensorRef>(&value))
    objects.insert(t->get());
  else if (auto *s = std::get_if<StrRef>(&value))
    objects.insert(s->get());
  else if (auto *list = std::get_if<ListRef>(&value)) {
    objects.insert(list->get());
    collect(**list, objects);
  } else if (auto *a = std::get_if<std::shared_ptr<Aggregate>>(&value))
    for (const Value &element : (*a)->elements)
      collectObjects(element, objects);
}

} // namespace toy::rt

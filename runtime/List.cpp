// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists.
#include "runtime/List.h"

#include "runtime/ArrayOps.h"
#include "runtime/Error.h"
#include "runtime/Format.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"

#include <algorithm>
#include <cstring>

namespace toy::rt {

void retain(List *list) { retain<List>(list); }

/// Visits the object that an element refers to, if it is no scalar.
template <typename Visit> static void visitObject(const List &list, const Item &item, Visit visit) {
  switch (list.of.kind()) {
  case ItemKind::Scalar:
    return;
  case ItemKind::Tensor:
    return visit(item.tensor);
  case ItemKind::Text:
    return visit(item.text);
  case ItemKind::List:
    return visit(item.list);
  }
}

static void retainItem(const List &list, const Item &item) {
  visitObject(list, item, [](auto *object) { retain(object); });
}

Value valueOf(const List &list, int64_t index) {
  const Item &item = list.items[index];
  retainItem(list, item);
  switch (list.of.kind()) {
  case ItemKind::Scalar:
    return TensorRef(newScalar(list.of.dtype, item.element));
  case ItemKind::Tensor:
    return TensorRef(item.tensor);
  case ItemKind::Text:
    return StrRef(item.text);
  default:
    return ListRef(item.list);
  }
}

Item itemOf(const List &list, const Value &value) {
  Item item{};
  if (list.of.isObject()) {
    Value held = value;
    item.object = takeObject(held);
  } else
    std::memcpy(item.element, onHost(*std::get<TensorRef>(value)), sizeOf(list.of.dtype));
  return item;
}

/// Room for more elements; the caller owns the list.
static void add(List &list, std::span<const Item> items) {
  reserveItems(list, list.count + static_cast<int64_t>(items.size()));
  for (const Item &item : items) {
    retainItem(list, item);
    list.items[list.count++] = item;
    if (list.count % 65536 == 0)
      poll();
  }
}

static ListRef copyOf(const List &list) {
  ListRef copy(newList(list.of));
  add(*copy, list.elements());
  return copy;
}

ListRef unique(ListRef list) {
  if (list->refs.load(std::memory_order_acquire) == 1)
    return list;
  countCopy();
  return copyOf(*list);
}

void *ownElement(const List &list, int64_t index) {
  if (index < 0)
    index += list.count;
  if (index < 0 || index >= list.count)
    return nullptr;
  Item &item = list.items[index];
  auto isShared = [](const auto *counted) { return counted->refs.load(std::memory_order_acquire) != 1; };
  if (list.of.kind() == ItemKind::List) {
    if (isShared(item.list))
      release(std::exchange(item.list, copyOf(*item.list).take())), countCopy();
  } else if (isShared(item.tensor) || isShared(item.tensor->storage))
    release(std::exchange(item.tensor, copyOf(item.tensor))), countCopy();
  return item.object;
}

ListRef append(ListRef list, Item item) {
  ListRef own = unique(std::move(list));
  reserveItems(*own, own->count + 1);
  own->items[own->count++] = item;
  return own;
}

ListRef set(ListRef list, int64_t index, Item item) {
  ListRef own = unique(std::move(list));
  Item before = std::exchange(own->items[index], item);
  if (own->of.isObject() && before.object) // not taken out by compiled code, which puts another one there
    visitObject(*own, before, [](auto *object) { release(object); });
  return own;
}

ListRef concat(ListRef list, const List &other) {
  ListRef own = unique(std::move(list));
  add(*own, other.elements());
  return own;
}

/// Lets the elements behind the first `count` of a list go that nobody else holds.
static void shorten(List &list, int64_t count) {
  const std::span<const Item> gone = list.elements().subspan(count);
  list.count = count;
  for (const Item &item : gone)
    visitObject(list, item, [](auto *object) { release(object); });
}

ListRef slice(ListRef from, int64_t start, int64_t count, int64_t step) {
  if (start == 0 && step == 1 && from->refs.load(std::memory_order_acquire) == 1) {
    shorten(*from, count);
    return from;
  }
  const List &list = *from;
  ListRef out(newList(list.of));
  reserveItems(*out, count);
  if (step == 1)
    add(*out, list.elements().subspan(start, count));
  for (int64_t i = 0; step != 1 && i < count; ++i)
    add(*out, {&list.items[start + i * step], 1});
  return out;
}

/// Scalars side by side.
static TensorRef vectorOf(const List &list) {
  TensorRef out(newTensor(list.of.dtype, std::array{list.count}));
  int64_t width = sizeOf(list.of.dtype);
  for (int64_t i = 0; i < list.count; ++i)
    std::memcpy(out->as<char>() + i * width, list.items[i].element, width);
  return out;
}

/// The first seven bytes of a string and its length, at most eight, as an integer of the same order: where it is the
/// same for two strings, they are equal, or longer than seven bytes.
static int64_t beginOf(const std::string &text) {
  constexpr size_t bytes = 7;
  uint64_t begin = 0;
  std::memcpy(&begin, text.data(), std::min(text.size(), bytes));
  begin = __builtin_bswap64(begin) | std::min(text.size(), bytes + 1);
  return static_cast<int64_t>(begin ^ uint64_t(1) << 63);
}
static bool isWhole(int64_t begin) { return (begin & 0xff) < 8; }

/// Puts long strings whose first bytes are equal in order.
static void sortEquals(std::span<Item> equals, bool descending) {
  auto isBefore = [descending](const Item &x, const Item &y) {
    return descending ? y.text->text < x.text->text : x.text->text < y.text->text;
  };
  if (!std::ranges::is_sorted(equals, isBefore))
    std::ranges::stable_sort(equals, isBefore);
  poll();
}

/// Strings are sorted by their first bytes, as integers are, and then those of which these are equal.
static ListRef sortedTexts(const List &list, bool descending) {
  ListRef out(newList(list.of));
  const int64_t count = list.count;
  reserveItems(*out, count);
  TensorRef begins(newTensor(DType::I64, std::array{count}));
  auto *begin = begins->as<int64_t>();
  for (int64_t i = 0; i < count; ++i)
    begin[i] = beginOf(list.items[i].text->text);
  TensorRef order = argsort(begins, 0, descending);
  const auto *from = order->as<int64_t>();
  constexpr int64_t ahead = 16;
  for (int64_t i = 0; i < count; ++i) {
    if (i + ahead < count) // they lie anywhere
      __builtin_prefetch(list.items[from[i + ahead]].object, 1);
    out->items[out->count] = list.items[from[i]];
    retain(out->items[out->count++].text);
    if (out->count % 65536 == 0)
      poll();
  }
  std::span<Item> items(out->items, static_cast<size_t>(count));
  for (int64_t first = 0, last; first < count; first = last) {
    for (last = first + 1; last < count && begin[from[first]] == begin[from[last]];)
      ++last;
    if (last - first > 1 && !isWhole(begin[from[first]]))
      sortEquals(items.subspan(first, last - first), descending);
  }
  return out;
}

ListRef sorted(const List &list, bool descending) {
  if (list.of.isObject())
    return sortedTexts(list, descending);
  ListRef out = copyOf(list);
  TensorRef ordered = sort(vectorOf(list), 0, descending);
  int64_t width = sizeOf(list.of.dtype);
  for (int64_t i = 0; i < list.count; ++i)
    std::memcpy(out->items[i].element, ordered->as<char>() + i * width, width);
  return out;
}

static bool equalElements(DType dtype, const void *x, const void *y) {
  return kindOf(dtype) <= DKind::Int ? integerOf(dtype, x) == integerOf(dtype, y)
                                     : partsOf(dtype, x) == partsOf(dtype, y);
}

static bool equalTensors(const Tensor &x, const Tensor &y) {
  if (!std::ranges::equal(x.shape(), y.shape()))
    return false;
  const char *p = static_cast<const char *>(onHost(x)), *q = static_cast<const char *>(onHost(y));
  for (int64_t i = 0, n = x.count(), width = sizeOf(x.dtype); i < n; ++i)
    if (!equalElements(x.dtype, p + i * width, q + i * width))
      return false;
  return true;
}

bool equal(const List &x, const List &y) {
  return std::ranges::equal(x.elements(), y.elements(), [&](const Item &p, const Item &q) {
    switch (x.of.kind()) {
    case ItemKind::Scalar:
      return equalElements(x.of.dtype, p.element, q.element);
    case ItemKind::Tensor:
      return equalTensors(*p.tensor, *q.tensor);
    case ItemKind::Text:
      return p.text->text == q.text->text;
    default:
      return equal(*p.list, *q.list);
    }
  });
}

/// The sizes of all tensors side by side along an axis; the others agree.
static std::vector<int64_t> joinedSizes(const List &list, int64_t axis, bool stacks) {
  if (list.count == 0 && list.of.rank + stacks > 1)
    fail(DiagId::EmptyList, {stacks ? "stack" : "cat"});
  std::vector<int64_t> sizes(1, 0);
  if (list.count > 0)
    sizes.assign(list.items[0].tensor->sizes, list.items[0].tensor->sizes + list.of.rank);
  for (size_t i = 1; i < static_cast<size_t>(list.count); ++i)
    for (int64_t a = 0; a < list.of.rank; ++a)
      if (int64_t size = list.items[i].tensor->sizes[a]; !stacks && a == axis)
        sizes[a] += size;
      else if (size != sizes[a])
        fail(DiagId::SizesDiffer, {"sizes of axis " + std::to_string(a) + " of elements 0 and " + std::to_string(i),
                                   std::to_string(sizes[a]), std::to_string(size)});
  if (stacks && list.count > 0)
    sizes.insert(sizes.begin(), list.count);
  return sizes;
}

TensorRef joined(const List &list, int64_t axis, bool stacks) {
  if (!list.of.isObject())
    return vectorOf(list);
  std::vector<int64_t> sizes = joinedSizes(list, axis, stacks);
  TensorRef out(newTensor(list.of.dtype, sizes));
  int64_t rows = 1, at = 0, pitch = sizeOf(list.of.dtype);
  for (size_t a = 0; a < sizes.size(); ++a)
    (static_cast<int64_t>(a) < axis ? rows : pitch) *= sizes[a];
  for (const Item &item : list.elements()) {
    const char *from = static_cast<const char *>(onHost(*item.tensor));
    int64_t bytes = item.tensor->count() * sizeOf(list.of.dtype) / std::max<int64_t>(rows, 1);
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(out->as<char>() + row * pitch + at, from + row * bytes, bytes);
    at += bytes;
    poll();
  }
  return out;
}

ListRef listOf(std::vector<std::string> texts) {
  ListRef out(newList({ItemKind::Text, DType::U8, 0, 0}));
  reserveItems(*out, static_cast<int64_t>(texts.size()));
  for (std::string &text : texts)
    out->items[out->count++].text = newStr(std::move(text));
  return out;
}

} // namespace toy::rt

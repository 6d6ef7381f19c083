// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists: vectors of scalars, tensors, strings or lists of one kind, counted as tensors are. What changes one consumes
/// it and works in place where nobody else holds it, so that n appends take time for n elements.
#pragma once

#include "runtime/Value.h"

#include <span>

namespace toy::rt {

/// What the elements of a list are: a leaf, in `depth` lists.
struct ItemKind {
  enum Kind : uint8_t { Scalar, Tensor, Text, List };
  Kind leaf = Text;
  DType dtype = DType::F64; ///< of scalars and tensors
  uint8_t rank = 0;
  uint8_t depth = 0;

  Kind kind() const { return depth > 0 ? List : leaf; }
  bool isObject() const { return kind() != Scalar; }
  bool operator==(const ItemKind &) const = default;
};

/// An element: the bytes of a scalar, or a reference.
union Item {
  char element[16];
  void *object;
  Tensor *tensor;
  Str *text;
  List *list;
};

/// Compiled code relies on the offsets of `count` (8) and `items` (16).
struct List {
  std::atomic<int64_t> refs;
  int64_t count;
  Item *items;
  int64_t capacity;
  ItemKind of;

  std::span<const Item> elements() const { return {items, static_cast<size_t>(count)}; }
};
static_assert(offsetof(List, count) == 8 && offsetof(List, items) == 16 && sizeof(Item) == 16);

/// An empty list (refs = 1).
List *newList(ItemKind of);
/// Room for so many elements, at least doubled; accounted against the memory limit.
void reserveItems(List &list, int64_t count);

/// An element, as a scalar tensor where it is a scalar.
Value valueOf(const List &list, int64_t index);
/// The bytes or the (new) reference of a value.
Item itemOf(const List &list, const Value &value);
/// Takes the item's reference over.
ListRef append(ListRef list, Item item);
ListRef set(ListRef list, int64_t index, Item item);
/// The list itself where nobody else holds it, else a copy.
ListRef unique(ListRef list);
/// An element that is about to change in its place, in a list that nobody else holds: one that somebody else holds,
/// too, gets a copy in its place. Gives the element, or null where the index is outside.
void *ownElement(const List &list, int64_t index);
ListRef concat(ListRef list, const List &other);
/// In place where it is a beginning, by steps of 1.
ListRef slice(ListRef list, int64_t start, int64_t count, int64_t step);
/// Numbers with nan last, strings by their bytes; stable.
ListRef sorted(const List &list, bool descending);
bool equal(const List &x, const List &y);
/// The tensors along a new first axis, or along `axis`. Errors: sizes that differ; no elements and no sizes.
TensorRef joined(const List &list, int64_t axis, bool stacks);

/// A list of strings.
ListRef listOf(std::vector<std::string> texts);
/// New strings at the end of a list that nobody else holds.
void appendTexts(List &list, std::span<const std::string_view> texts);

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// The objects that a value holds.
#pragma once

#include "runtime/Value.h"

#include <set>

namespace toy::rt {

/// References to tensors, strings and lists: an entry for each, those from one list once.
struct Held {
  std::vector<const void *> references;
  std::set<const void *> lists;
};
void addHeld(const Value &value, Held &held);

} // namespace toy::rt

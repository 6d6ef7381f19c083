// SPDX-License-Identifier: Apache-2.0
/// \file
/// The objects that a value holds.
#pragma once

#include "runtime/Value.h"

#include <set>

namespace toy::rt {

/// Adds the tensors, strings and lists that are reachable from a value.
void collectObjects(const Value &value, std::set<void *> &objects);

} // namespace toy::rt

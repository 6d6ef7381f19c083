// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a session knows of its variables on several ranks.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace toy {

/// Top-level variables that differ between ranks, and axes of which the sizes do.
struct VaryingGlobals {
  std::set<std::string> values;
  std::set<std::pair<std::string, int64_t>> sizes;
};

} // namespace toy

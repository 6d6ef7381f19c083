// SPDX-License-Identifier: Apache-2.0
/// \file
/// How deep calls may be nested.
#pragma once

#include <cstdint>

namespace toy {

/// Calls of functions of the language that may be active at once.
inline constexpr int64_t mostCalls = 10000;

} // namespace toy

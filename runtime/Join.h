// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays one after the other.
#pragma once

#include <cstdint>
#include <span>

namespace toy::rt {

/// A part of each row of the result: `bytes` of each row of its own, which are `pitch` bytes apart.
struct JoinedPart {
  const char *data;
  int64_t bytes, pitch;
};
/// Writes `rows` rows, each of the parts' next bytes in order.
void join(char *to, std::span<const JoinedPart> parts, int64_t rows);

} // namespace toy::rt

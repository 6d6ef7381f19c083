// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copies of whole pieces, on all cores, past the caches where the result is large.
#include "runtime/Join.h"

#include "runtime/Parallel.h"

#include <algorithm>
#include <cstring>

namespace toy::rt {

namespace {
struct Join {
  char *to;
  std::span<const JoinedPart> parts;
  int64_t rowBytes, bytes;
};

template <int64_t size> void copyElement(char *to, const char *from) { std::memcpy(to, from, size); }
void copyPiece(char *to, const char *from, int64_t bytes) {
  switch (bytes) { // one element
  case 1:
    return copyElement<1>(to, from);
  case 4:
    return copyElement<4>(to, from);
  case 8:
    return copyElement<8>(to, from);
  case 16:
    return copyElement<16>(to, from);
  default:
    std::memcpy(to, from, bytes);
  }
}

constexpr int64_t unit = 64 << 10;

/// Bytes [begin, end) of the result.
void copyRange(const Join &j, int64_t begin, int64_t end) {
  const bool isLarge = j.bytes >= streamBytes;
  int64_t row = begin / j.rowBytes, skipped = begin % j.rowBytes; // of the row that begins before the range
  while (begin < end) {
    for (const JoinedPart &part : j.parts) {
      if (skipped >= part.bytes) {
        skipped -= part.bytes;
        continue;
      }
      const int64_t bytes = std::min(part.bytes - skipped, end - begin);
      const char *from = part.data + row * part.pitch + skipped;
      isLarge &&bytes >= 4096 ? streamCopy(j.to + begin, from, bytes) : copyPiece(j.to + begin, from, bytes);
      skipped = 0;
      begin += bytes;
      if (begin == end)
        break;
    }
    ++row;
  }
  if (isLarge)
    finishStream();
}
void copyUnits(void *context, int64_t begin, int64_t end) {
  const auto &j = *static_cast<const Join *>(context);
  for (int64_t at = begin; at < end; at += 64) { // 4 MB
    poll();
    copyRange(j, at * unit, std::min(std::min(at + 64, end) * unit, j.bytes));
  }
}
} // namespace

void join(char *to, std::span<const JoinedPart> parts, int64_t rows) {
  int64_t rowBytes = 0; // no more than the result has
  for (const JoinedPart &part : parts)
    rowBytes += part.bytes;
  Join j{to, parts, rowBytes, rowBytes * rows};
  if (j.bytes)
    parallelFor((j.bytes + unit - 1) / unit, 4, copyUnits, &j);
}

} // namespace toy::rt

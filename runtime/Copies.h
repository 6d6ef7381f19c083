// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copies of many bytes, on all cores.
#pragma once

#include <cstdint>

namespace toy::rt {

/// As memcpy; it does not look for Ctrl-C.
void copyBytes(void *to, const void *from, int64_t bytes);

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// How large a size of a tensor may be.
#pragma once

#include <cstdint>

namespace toy {

/// Of any axis, also of an empty tensor: what an address reaches. Sums of many sizes stay within 64 bits.
inline constexpr int64_t largestSize = (int64_t(1) << 47) - 1;

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Letters of pictures in pixels.
#pragma once

#include <array>
#include <cstdint>

namespace toy::rt {

/// Rows of 5 bits from the top: two for what stands above capitals, seven, two for what hangs below the line.
using Letter = std::array<uint8_t, 11>;

/// The letter of a code, of Latin, Greek or the signs of mathematics; a box for others.
Letter letterOf(uint32_t code);

} // namespace toy::rt

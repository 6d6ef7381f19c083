// SPDX-License-Identifier: Apache-2.0
/// \file
/// What may be written to a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace toy {

/// Whether the environment names a terminal that can move its cursor.
bool terminalMovesCursor();
struct ScreenSize {
  size_t rows, columns;
};
/// Of the terminal that a descriptor is, else standard output; 24 rows of 80 columns where it does not say.
ScreenSize screenSize(int descriptor = 1);
/// Whether colours are written to a descriptor. `choice` is that of --color: `always`, `never`, or `auto`: to a
/// terminal that is more than dumb, unless NO_COLOR is set and not empty.
bool writesColors(std::string_view choice, int descriptor);

} // namespace toy

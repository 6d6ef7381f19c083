// SPDX-License-Identifier: Apache-2.0
/// \file
/// TERM, NO_COLOR and isatty.
#include "support/Terminal.h"

#include <cstdlib>
#include <unistd.h>

namespace toy {

bool terminalMovesCursor() {
  const char *kind = std::getenv("TERM");
  return kind && *kind && std::string_view(kind) != "dumb";
}

bool writesColors(std::string_view choice, int descriptor) {
  const char *none = std::getenv("NO_COLOR");
  return choice == "always" || (choice == "auto" && isatty(descriptor) && terminalMovesCursor() && !(none && *none));
}

} // namespace toy

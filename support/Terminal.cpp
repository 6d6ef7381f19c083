// SPDX-License-Identifier: Apache-2.0
/// \file
/// TERM, NO_COLOR and isatty.
#include "support/Terminal.h"

#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace toy {

bool terminalMovesCursor() {
  const char *kind = std::getenv("TERM");
  return kind && *kind && std::string_view(kind) != "dumb";
}

ScreenSize screenSize(int descriptor) {
  winsize size{};
  bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return {known && size.ws_row > 2 ? size.ws_row : 24u, known && size.ws_col > 10 ? size.ws_col : 80u};
}

bool writesColors(std::string_view choice, int descriptor) {
  const char *none = std::getenv("NO_COLOR");
  return choice == "always" || (choice == "auto" && isatty(descriptor) && terminalMovesCursor() && !(none && *none));
}

} // namespace toy

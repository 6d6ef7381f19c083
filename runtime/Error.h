// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the runtime reports what a user did: an exception that names a row of the diagnostics table. It may pass through
/// compiled code.
#pragma once

#include "support/Diagnostics.h"

#include <string>
#include <vector>

namespace toy::rt {

struct Error {
  DiagId id;
  std::vector<std::string> args;
};

[[noreturn]] void fail(DiagId id, std::vector<std::string> args = {});

} // namespace toy::rt

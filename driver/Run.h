// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a command line asks for, from text to result.
#pragma once

#include "driver/Options.h"

#include <functional>

namespace toy {

class Session;

/// Runs the program; the exit status (0, 1, 2, 70, 130). `inspect` sees the session before it goes.
int runToy(const Options &options, const std::function<void(Session &)> &inspect = {});

} // namespace toy

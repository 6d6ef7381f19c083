// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a command line asks for, from text to result.
#pragma once

#include "driver/Options.h"

namespace toy {

/// Runs the program; the exit status (0, 1, 2, 70, 130).
int runToy(const Options &options);

} // namespace toy

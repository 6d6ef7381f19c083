// SPDX-License-Identifier: Apache-2.0
/// \file
/// `--ranks=N`: the program becomes the launcher that starts it N times.
#pragma once

#include "driver/Options.h"

namespace toy {

/// Does not return where it succeeds; else the exit status, after an error.
int launch(const Options &options, char **argv);

} // namespace toy

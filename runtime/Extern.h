// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls of functions in users' libraries (runtime/toy_extern.h).
#pragma once

#include "runtime/Value.h"

namespace toy::rt {

/// Whether calls are watched: writes beside the results and into the arguments are errors. Costs copies.
void setCheckBounds(bool on);
/// Fills `results`. The library is opened once: a name without a folder is looked for in the current one first, then as
/// the system does. Throws when it or the symbol is missing, when the function reports an error, and for writes out of
/// bounds.
void callExtern(const std::string &name, const std::string &library, const std::string &symbol,
                std::span<const Tensor *const> arguments, std::span<const TensorRef> results);

} // namespace toy::rt

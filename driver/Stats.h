// SPDX-License-Identifier: Apache-2.0
/// \file
/// --stats.
#pragma once

#include <string>

namespace toy {

class Session;

/// Writes the counters, compiles, guards and recognitions of a session to a file. Throws rt::Error.
void writeStats(Session &session, const std::string &path);

} // namespace toy

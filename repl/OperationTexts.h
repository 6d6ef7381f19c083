// SPDX-License-Identifier: Apache-2.0
/// \file
/// The documentation of the dialect's operations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace toy {

/// What `toy.NAME` is and an example of it, below its name; empty where the dialect has no such operation.
std::string operationText(std::string_view name);
/// All of them, as `toy.NAME`.
std::vector<std::string> operationNames();

} // namespace toy

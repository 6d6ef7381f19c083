// SPDX-License-Identifier: Apache-2.0
/// \file
/// Who else holds a tensor.
#pragma once

#include "runtime/Value.h"

namespace toy::rt {

/// Whether there is one reference to a tensor, and no other tensor has its elements.
bool isHeldOnce(const Tensor &t);

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Pictures while IR is generated: a struct `picture` of one text, which describes it (runtime/Picture.h).
#pragma once

#include "irgen/Context.h"

namespace toy {

bool isPicture(const ValueType &type);
bool isPicture(const RValue &value);
/// A picture on standard output, as what that is can show it.
void showPicture(IRGen &g, const RValue &picture, SourceRange range);

} // namespace toy

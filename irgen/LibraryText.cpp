// SPDX-License-Identifier: Apache-2.0
/// \file
/// The files of lib/toy, as they are.
#include "irgen/Prelude.h"

namespace toy {

static const char text[] = {
#embed "elements.toy"
    ,
#embed "reductions.toy"
    ,
#embed "statistics.toy"
    ,
#embed "arrays.toy"
    ,
#embed "algebra.toy"
    ,
#embed "lists.toy"
    ,
#embed "signals.toy"
    ,
#embed "networks.toy"
};

std::string_view libraryText() { return {text, sizeof text}; }

} // namespace toy

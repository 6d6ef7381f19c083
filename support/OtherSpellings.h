// SPDX-License-Identifier: Apache-2.0
/// \file
/// What other languages spell otherwise: the help of errors about it (support/OtherSpellings.def).
#pragma once

#include <string>
#include <string_view>

namespace toy {

/// The kinds of the table's rows that are one word.
enum class Other { Name, Type, Member, Declaration, Word, Character };

/// How a word of another language is written here, or "" where the table has none.
std::string helpForOther(Other kind, std::string_view word);

/// What takes the place of such a word as it is, whatever stands around it; or "".
std::string wordInstead(std::string_view word);

} // namespace toy

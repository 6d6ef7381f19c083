// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the language needs to know about characters beyond ASCII: which make up names, which are not seen, and one
/// spelling for each name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace toy {

/// The character at the start of a text whose first bytes are valid UTF-8 (utf8Length gives how many).
uint32_t codePointAt(std::string_view text);

/// Unicode's XID_Start and `_`; without characters that show nothing.
bool startsName(uint32_t code);
/// Unicode's XID_Continue; without characters that show nothing.
bool continuesName(uint32_t code);

/// Characters that make a text look other than it is.
enum class Deception : uint8_t {
  None,
  Direction, ///< changes the direction of what follows (Bidi_Control)
  Invisible, ///< shows nothing (Default_Ignorable_Code_Point)
  Blank,     ///< looks like a space or ends a line, and is neither
};
Deception deceptionOf(uint32_t code);

/// How messages name a character: `U+202E`, with the character itself where it can be shown: "`∂` (U+2202)".
std::string describeCharacter(uint32_t code);

/// A valid UTF-8 text in normalization form C: texts that are canonically equivalent become the same bytes.
std::string normalized(std::string_view text);

/// The bytes of the character at the start of a text; one where they are no UTF-8.
size_t characterLength(std::string_view text);
/// Columns that a text takes on a terminal: combining and invisible characters none, wide ones of East Asia two.
size_t columnsOf(std::string_view text);

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the editor offers while a line is typed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace toy {
class Session;

/// What stands behind the dot of any tensor.
inline constexpr std::string_view tensorMembers[] = {"T", "H", "real", "imag", "shape", "dtype"};

struct Completion {
  enum Kind : uint8_t {
    Other,
    Keyword,
    Variable,
    Function,
    Struct,
    DType,
    Member,
    Argument,
    Path,
    Symbol
  } kind = Other;
  std::string text;   ///< what takes the word's place
  std::string detail; ///< a signature or type
};
/// What can stand at the end of `text` in place of the word that begins at `begin` (set here). Only inputs of the
/// prompt may be commands.
std::vector<Completion> completionsAt(std::string_view text, Session &session, size_t &begin, bool isInput = true);
/// The rest of the word at the end of `text`, where it is begun and only one completion goes on like that.
std::string completionOf(std::string_view text, Session &session);

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
#include "support/OtherSpellings.h"

namespace toy {

std::string helpForOther(Other kind, std::string_view word) {
  static constexpr struct {
    Other kind;
    std::string_view word, help;
  } rows[] = {
#define TOY_OTHER_NAME(NAME, HELP) {Other::Name, NAME, HELP},
#define TOY_OTHER_TYPE(NAME, HELP) {Other::Type, NAME, HELP},
#define TOY_OTHER_MEMBER(NAME, HELP) {Other::Member, NAME, HELP},
#define TOY_OTHER_DECLARATION(WORD, HELP) {Other::Declaration, WORD, HELP},
#define TOY_OTHER_WORD(WORD, HELP) {Other::Word, WORD, HELP},
#define TOY_OTHER_CHARACTER(CHARACTER, HELP) {Other::Character, CHARACTER, HELP},
#include "support/OtherSpellings.def"
  };
  for (const auto &row : rows)
    if (row.kind == kind && row.word == word)
      return std::string(row.help);
  return "";
}

std::string wordInstead(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> rows[] = {
#define TOY_INSTEAD(WORD, HERE) {WORD, HERE},
#include "support/OtherSpellings.def"
  };
  for (auto [other, here] : rows)
    if (other == word)
      return std::string(here);
  return "";
}

} // namespace toy

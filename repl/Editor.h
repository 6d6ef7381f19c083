// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the parts of the line editor share: its state, drawing, and keys. Only they include this.
#pragma once

#include "runtime/Guard.h"
#include "support/Terminal.h"

#include <functional>
#include <pthread.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace toy {
class Session;

/// What readline's callbacks act on: there is one terminal.
struct Editor {
  Session *session = nullptr;
  std::function<bool(const std::string &)> isUnfinished;
  std::function<void()> shown;
  bool color = false;
  bool blocks = false; ///< the terminal can move its cursor
  pthread_t reader{};
  size_t cursorRow = 0;             ///< of the last drawing, from the prompt's row
  size_t top = 0;                   ///< the row of the text that stands there, where the screen has not room for all
  std::string suggestion;           ///< shown behind the text, which it would continue
  std::string previewed, preview;   ///< a text, and the value that was shown for it
  bool final = false;               ///< the text is accepted: no suggestion, no marks
  bool recalling = false;           ///< the last key brought an entry of the history
  std::string prefix, saved;        ///< of a recall: what entries begin with, and the text before
  int at = 0;                       ///< the entry that a recall shows
  std::vector<std::string> choices; ///< of the word that another Tab takes in turn
  size_t choice = 0, word = 0;      ///< the next one, and where the word begins
};
extern Editor editor;

inline constexpr std::string_view continuation = "...> ";

/// Writes to the terminal.
void put(const std::string &text);
/// Where text ends that starts at a place of the screen; a full row continues on the next one.
void advance(std::string_view text, size_t width, size_t &row, size_t &column);
/// Draws prompt, text and hints anew from the prompt's row, and puts the cursor where it belongs.
void redraw();
/// The text as it stays on the screen, and the cursor on the line below it.
void leaveText();
/// Binds the keys. A terminal that cannot move its cursor has lines, and so only some of them.
void bindKeys(bool blocks);
/// The next key; Ctrl-C empties the line and ends it.
int readKey(FILE *stream);

/// What a function gives, or nothing: what fails while somebody types must not end the typing.
template <typename F> auto orNothing(F compute) {
  decltype(compute()) result{};
  rt::guarded([&] { result = compute(); });
  return result;
}

} // namespace toy

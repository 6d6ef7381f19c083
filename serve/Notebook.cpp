// SPDX-License-Identifier: Apache-2.0
/// \file
/// The kernel's side of a notebook: cells are inputs of the prompt, and what they show comes in the order in which it
/// is shown.
#include "repl/Commands.h"
#include "repl/Completion.h"
#include "repl/Repl.h"
#include "repl/StringTexts.h"
#include "repl/Surroundings.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "runtime/Picture.h"
#include "serve/Channel.h"
#include "serve/Serve.h"

#include <fmt/format.h>

#include <algorithm>

namespace toy {

using llvm::json::Object;
using llvm::json::Value;

/// A cell, or what stands before and behind the cursor in it.
struct CellParams {
  std::string code, behind;
  int64_t number = 0;
};
static bool fromJSON(const Value &value, CellParams &out, llvm::json::Path path) {
  llvm::json::ObjectMapper object(value, path);
  return object && object.map("code", out.code) && object.mapOptional("behind", out.behind) &&
         object.mapOptional("number", out.number);
}

namespace {

/// Blocks of a stream as texts: what ends within a character waits for its rest.
class Utf8Pieces {
public:
  std::string next(std::string_view block) {
    pending += block;
    size_t end = pending.size();
    for (size_t back = 1; back <= std::min<size_t>(3, end); ++back)
      if ((pending[end - back] & 0xC0) != 0x80) {
        bool isCut =
            (pending[end - back] & 0xC0) == 0xC0 && utf8Length(std::string_view(pending).substr(end - back)) == 0;
        end -= isCut ? back : 0;
        break;
      }
    std::string whole = pending.substr(0, end);
    pending.erase(0, end);
    return llvm::json::isUTF8(whole) ? whole : llvm::json::fixUTF8(whole);
  }

private:
  std::string pending;
};

class Notebook {
public:
  explicit Notebook(Session &session)
      : session(session), prompt(session), channel([] {}, [] {}),
        show(channel.handler.outgoingNotification<Value>("show")) {
    channel.handler.method("execute", this, &Notebook::execute);
    channel.handler.method("complete", this, &Notebook::complete);
    channel.handler.method("inspect", this, &Notebook::inspect);
    channel.handler.method("isComplete", this, &Notebook::isComplete);
    rt::outputSink() = [this](rt::Stream stream, std::string_view block) {
      if (stream == rt::Stream::Echo)
        show(Object{{"kind", "value"}, {"text", echoed.next(block)}});
      else if (stream == rt::Stream::Output)
        show(Object{{"kind", "stdout"}, {"text", printed.next(block)}});
      else
        show(Object{{"kind", "stderr"}, {"text", warned.next(block)}});
    };
    rt::pictureSink() = [this](const rt::Picture &picture) { showPicture(picture); };
    session.whenReported = [this](const Diagnostic &d) { showDiagnostic(d); };
  }

  int run() {
    channel.run();
    rt::flushOutput();
    rt::outputSink() = nullptr;
    rt::pictureSink() = nullptr;
    session.whenReported = nullptr;
    return session.exitStatus.value_or(0);
  }

private:
  /// A page holds the element alone.
  static std::string withoutDeclaration(const std::string &svg) {
    size_t begin = svg.starts_with("<?xml") ? svg.find("<svg") : 0;
    return svg.substr(std::min(begin, svg.size()));
  }

  void showPicture(const rt::Picture &picture) {
    rt::flushOutput();
    bool isImage = picture.kind == rt::Picture::Image;
    Object data{{"text/plain", rt::pictureText(picture, 80, false)}};
    if (isImage)
      data["image/png"] = rt::base64(rt::pngOf(rt::picturePixels(picture, 2)));
    else
      data["image/svg+xml"] = withoutDeclaration(rt::pictureSvg(picture));
    show(Object{{"kind", "picture"}, {"data", std::move(data)}});
  }

  void showDiagnostic(const Diagnostic &d) {
    const DiagInfo &info = infoOf(d.id);
    show(Object{{"kind", info.severity == Severity::Error ? "error" : "stderr"},
                {"code", llvm::StringRef(info.code)},
                {"message", d.message},
                {"text", llvm::json::fixUTF8(session.getDiagnostics().render(d, true))}});
  }

  /// Runs the inputs of a cell up to the first that fails.
  bool runCell(const CellParams &cell) {
    bool unfinished;
    int errors = session.errorsShown;
    std::vector<std::string> inputs = inputsOf(session, withoutPrompts(cell.code), unfinished);
    int64_t line = 1;
    for (size_t i = 0; i < inputs.size(); ++i) {
      bool isCut = unfinished && i + 1 == inputs.size();
      std::string from = line > 1 ? fmt::format(" from line {}", line) : "";
      if (!prompt.run(inputs[i]))
        session.run(fmt::format("<cell {}{}>", cell.number, from), inputs[i], {!isCut}); // what is missing is said
      line += 1 + std::count(inputs[i].begin(), inputs[i].end(), '\n');
      if (session.errorsShown != errors || prompt.leave || session.exitStatus)
        return session.errorsShown == errors;
    }
    session.keepResult(static_cast<int>(cell.number));
    return true;
  }

  template <typename Work> static void answer(llvm::lsp::Callback<Value> reply, const Work &work) {
    rt::interruptFlag() = false; // what came too late for the last cell
    Channel::answer(std::move(reply), work);
  }

  void execute(const CellParams &cell, llvm::lsp::Callback<Value> reply) {
    answer(std::move(reply), [&]() -> Value {
      bool ok = runCell(cell);
      rt::flushOutput();
      Object out{{"ok", ok}};
      if (prompt.leave || session.exitStatus)
        out["exit"] = session.exitStatus.value_or(0);
      return out;
    });
  }

  void complete(const CellParams &cell, llvm::lsp::Callback<Value> reply) {
    answer(std::move(reply), [&]() -> Value {
      size_t begin;
      llvm::json::Array matches;
      for (const Completion &c : completionsAt(cell.code, session, begin))
        matches.push_back(Object{{"text", c.text}, {"detail", c.detail}});
      return Object{{"begin", static_cast<int64_t>(begin)}, {"matches", std::move(matches)}};
    });
  }

  /// The help of the word at the cursor, or of the call around it.
  void inspect(const CellParams &cell, llvm::lsp::Callback<Value> reply) {
    answer(std::move(reply), [&]() -> Value {
      size_t begin = cell.code.size(), end = 0;
      while (begin > 0 && isWord(cell.code[begin - 1]))
        --begin;
      while (end < cell.behind.size() && isWord(cell.behind[end]))
        ++end;
      std::string word = cell.code.substr(begin) + cell.behind.substr(0, end);
      std::string text = word.empty() ? "" : helpOn(word, &session);
      if (text.empty())
        if (auto call = Surroundings(std::string_view(cell.code).substr(StringTexts(cell.code).field)).call())
          text = helpOn(call->callee, &session);
      return Object{{"text", text}};
    });
  }

  void isComplete(const CellParams &cell, llvm::lsp::Callback<Value> reply) {
    answer(std::move(reply), [&]() -> Value {
      bool unfinished;
      inputsOf(session, withoutPrompts(cell.code), unfinished);
      auto indent = static_cast<int64_t>(2 * Surroundings(cell.code).openLines());
      return Object{{"complete", !unfinished}, {"indent", indent}};
    });
  }

  Session &session;
  Prompt prompt;
  Channel channel;
  llvm::lsp::OutgoingNotification<Value> show;
  Utf8Pieces printed, echoed, warned;
};

} // namespace

int serveNotebook(Session &session) { return Notebook(session).run(); }

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// A text in an editor: its places, its tree, and what the newest check that read it whole knows.
#pragma once

#include "sema/Names.h"
#include "session/Session.h"

#include "llvm/Support/LSP/Protocol.h"

#include <map>
#include <set>
#include <tuple>

namespace toy {

/// Positions of the protocol: lines, and columns in units of UTF-16, both from 0.
llvm::lsp::Position positionOf(const SourceBuffer &text, uint32_t offset);
llvm::lsp::Range rangeOf(const SourceBuffer &text, SourceRange range);
/// The offset of a position; what lies behind the end of its line is that end.
uint32_t offsetOf(const SourceBuffer &text, llvm::lsp::Position position);

/// A place as JSON that holds its own text; LLVM's refers to that of the URI.
llvm::json::Object locationOf(const llvm::lsp::URIForFile &uri, llvm::lsp::Range range);
/// Nothing for what is no absolute path, such as `<command line>`.
std::optional<llvm::lsp::URIForFile> uriOfFile(const std::string &path);

/// A text that was read: also one with errors, of which the sound statements are there.
class ParsedText {
public:
  ParsedText(std::string name, std::string text);
  const SourceBuffer &buffer() const { return sources.get(id); }
  std::string_view text(SourceRange range) const { return sources.text(range); }

private:
  SourceManager sources;
  DiagnosticEngine quiet{sources};
  BufferId id;

public:
  TokenBuffer tokens;
  ast::Module module;
  bool isWhole = false; ///< without errors
  sema::NameTable names;
};

struct Document {
  llvm::lsp::URIForFile uri;
  std::string path;
  int64_t version = 0;
  std::unique_ptr<ParsedText> parsed;
  bool isDue = false;               ///< its text was not checked yet
  std::unique_ptr<Session> session; ///< of the newest check of a text without errors of syntax, or of the first one
  bool knowsText = false;           ///< that text was whole
  /// What the newest check proposes, as it was reported.
  struct Proposal {
    llvm::lsp::Range range;
    Fix fix;
    llvm::lsp::Range place;
  };
  std::vector<Proposal> proposals;
  /// A member of a struct of a file; without a file it is built in.
  struct Member {
    std::string path, structure, name;
    bool operator<(const Member &o) const {
      return std::tie(path, structure, name) < std::tie(o.path, o.structure, o.name);
    }
  };
  /// What the newest check found members of structs to be, by where they stand in this text.
  std::map<uint32_t, std::set<Member>> members;

  std::string textBefore(uint32_t offset) const { return std::string(parsed->buffer().getText().substr(0, offset)); }
};

} // namespace toy

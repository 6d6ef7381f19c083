// SPDX-License-Identifier: Apache-2.0
/// \file
/// What can be said to a user: the rows of Diagnostics.def, single diagnostics, and the engine that collects and shows
/// them.
#pragma once

#include "support/Source.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace toy {

enum class Severity : uint8_t { Error, Warning, Remark };

enum class DiagId : uint16_t {
#define TOY_DIAG(NAME, CODE, SEVERITY, FORMAT, EXPLANATION) NAME,
#include "support/Diagnostics.def"
};

struct DiagInfo {
  std::string_view name, code;
  Severity severity;
  std::string_view format, explanation;
};
const DiagInfo &infoOf(DiagId id);
/// The row with a code such as `T0301`.
std::optional<DiagId> findDiagnostic(std::string_view code);
/// All rows, for documentation and tests.
std::vector<DiagId> allDiagnostics();
/// The row's text with `{0}`, `{1}`, … replaced.
std::string formatDiagnostic(DiagId id, const std::vector<std::string> &args);

/// A range with a short text under it; an empty text is a plain underline.
struct Label {
  SourceRange range;
  std::string text;
};

/// A text that in place of a range takes the cause away.
struct Fix {
  SourceRange range;
  std::string text;
};

/// One message: text, the narrowest range, labels for the other ranges, notes (with or without a place), help lines,
/// and what an editor can do at once.
struct Diagnostic {
  DiagId id;
  std::string message;
  SourceRange range;
  std::string rangeLabel;
  std::vector<Label> labels;
  std::vector<Label> notes;
  std::vector<std::string> help;
  std::vector<Fix> fixes = {};

  Diagnostic &label(SourceRange where, std::string text) {
    labels.push_back({where, std::move(text)});
    return *this;
  }
  Diagnostic &note(SourceRange where, std::string text) {
    notes.push_back({where, std::move(text)});
    return *this;
  }
  Diagnostic &withHelp(std::string text) {
    help.push_back(std::move(text));
    return *this;
  }
  Diagnostic &withFix(SourceRange where, std::string text) {
    fixes.push_back({where, std::move(text)});
    return *this;
  }
};

/// Collects diagnostics in the order they are found.
class DiagnosticEngine {
public:
  explicit DiagnosticEngine(SourceManager &sources) : sources(sources) {}

  /// Adds a message; the reference stays valid until the next one.
  Diagnostic &report(DiagId id, SourceRange range, std::vector<std::string> args = {});
  void add(Diagnostic diagnostic) { all.push_back(std::move(diagnostic)); }
  bool hasErrors() const;
  size_t errorCount() const;
  const std::vector<Diagnostic> &diagnostics() const { return all; }
  void clear() { all.clear(); }
  /// Takes back everything after the first `count` messages.
  void truncate(size_t count) { all.resize(std::min(count, all.size()), Diagnostic{DiagId{}, {}, {}, {}, {}, {}, {}}); }
  SourceManager &getSources() const { return sources; }

  /// The text of LANGUAGE's form, with ANSI colours if asked.
  std::string render(const Diagnostic &diagnostic, bool color) const;
  /// One JSON object on one line.
  std::string renderJson(const Diagnostic &diagnostic) const;

private:
  SourceManager &sources;
  std::vector<Diagnostic> all;
};

/// The candidate closest to a misspelt name, if it is close (at most a third of its letters differ).
std::optional<std::string> suggest(std::string_view name, const std::vector<std::string> &candidates);

} // namespace toy

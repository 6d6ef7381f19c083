// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rendering of diagnostics: source lines with carets and stacked labels, and JSON.
#include "support/Diagnostics.h"

#include "support/Theme.h"
#include "support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace toy {

Diagnostic &DiagnosticEngine::report(DiagId id, SourceRange range, std::vector<std::string> args) {
  for (std::string &arg : args)
    arg = printable(arg);
  all.push_back({id, formatDiagnostic(id, args), range, {}, {}, {}, {}});
  return all.back();
}

size_t DiagnosticEngine::errorCount() const {
  return std::count_if(all.begin(), all.end(),
                       [](const Diagnostic &d) { return infoOf(d.id).severity == Severity::Error; });
}
bool DiagnosticEngine::hasErrors() const { return errorCount() > 0; }

namespace {

/// A label on one line, in display columns from 0; `end` is at least `begin + 1`.
struct Mark {
  size_t begin, end;
  std::string text;
  bool primary;
};

constexpr size_t maxLineWidth = 160;

/// A line with tabs widened and, when it is long, cut around the marks.
struct DisplayLine {
  std::string text;
  size_t dropped = 0; ///< characters cut at the left
};

size_t displayWidth(std::string_view bytes) {
  return std::count_if(bytes.begin(), bytes.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

/// Cuts `line` (bytes) to about maxLineWidth characters around byte `focus`.
std::string_view cutAround(std::string_view line, size_t focus, size_t &droppedBytes) {
  droppedBytes = 0;
  if (line.size() <= maxLineWidth)
    return line;
  size_t begin = focus > maxLineWidth / 2 ? focus - maxLineWidth / 2 : 0;
  begin = std::min(begin, line.size() - maxLineWidth);
  while (begin > 0 && (line[begin] & 0xC0) == 0x80)
    --begin;
  size_t end = std::min(line.size(), begin + maxLineWidth);
  while (end < line.size() && (line[end] & 0xC0) == 0x80)
    ++end;
  droppedBytes = begin;
  return line.substr(begin, end - begin);
}

/// Control characters would disturb the terminal, and those of direction would move what is around them.
std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t length = std::max<size_t>(utf8Length(text), 1);
    bool isControl = static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7f;
    bool isDirection = length > 1 && deceptionOf(codePointAt(text)) == Deception::Direction;
    out += isControl ? " " : isDirection ? "\uFFFD" : text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

class Renderer {
public:
  Renderer(const SourceManager &sources, bool color) : sources(sources), color(color) {}

  std::string render(const Diagnostic &d) {
    const DiagInfo &info = infoOf(d.id);
    const char *severity = info.severity == Severity::Error     ? "error"
                           : info.severity == Severity::Warning ? "warning"
                                                                : "remark";
    out += paint(info.severity == Severity::Error     ? Style::Error
                 : info.severity == Severity::Warning ? Style::Warning
                                                      : Style::Remark,
                 fmt::format("{}[{}]", severity, info.code));
    out += paint(Style::Strong, fmt::format(": {}", d.message)) + "\n";
    if (d.range.valid())
      snippet(d.range, d.rangeLabel, d.labels);
    for (const Label &note : d.notes) {
      out += paint(Style::Strong, "note: ") + note.text + "\n";
      if (note.range.valid())
        snippet(note.range, "", {});
    }
    for (const std::string &help : d.help)
      out += paint(Style::Help, "help: ") + help + "\n";
    return std::move(out);
  }

private:
  std::string paint(Style style, const std::string &text) { return color ? painted(style, text) : text; }

  void snippet(SourceRange range, const std::string &text, const std::vector<Label> &labels) {
    const SourceBuffer &buffer = sources.get(range.buffer);
    uint32_t line = buffer.lineOf(range.begin);
    std::map<uint32_t, std::vector<std::pair<Label, bool>>> byLine;
    byLine[line].push_back({{range, text}, true});
    for (const Label &label : labels)
      if (label.range.buffer == range.buffer)
        byLine[buffer.lineOf(label.range.begin)].push_back({label, false});
    size_t gutter = std::to_string(byLine.rbegin()->first).size();
    std::string pad(gutter, ' ');
    out += paint(Style::Margin, pad + "--> ") +
           fmt::format("{}:{}:{}\n", buffer.getName(), line, buffer.columnOf(range.begin));
    out += paint(Style::Margin, pad + " |") + "\n";
    for (auto &[number, marks] : byLine)
      sourceLine(buffer, number, marks, gutter);
  }

  void sourceLine(const SourceBuffer &buffer, uint32_t number, const std::vector<std::pair<Label, bool>> &labels,
                  size_t gutter) {
    std::string_view whole = buffer.lineText(number);
    uint32_t start = buffer.lineBegin(number);
    size_t dropped;
    std::string_view line =
        cutAround(whole, std::min<size_t>(labels.front().first.range.begin - start, whole.size()), dropped);
    std::vector<Mark> marks;
    for (const auto &[label, primary] : labels) {
      size_t lo = std::clamp<size_t>(label.range.begin - start, dropped, dropped + line.size()) - dropped;
      size_t hi = std::clamp<size_t>(label.range.end - start, dropped + lo, dropped + line.size()) - dropped;
      size_t begin = displayWidth(line.substr(0, lo)), end = displayWidth(line.substr(0, hi));
      marks.push_back({begin, std::max(end, begin + 1), label.text, primary});
    }
    out += paint(Style::Margin, fmt::format("{:>{}} |", number, gutter)) + (line.empty() ? "" : " ") + printable(line) +
           "\n";
    underline(marks, std::string(gutter, ' ') + " |");
  }

  /// Carets, the rightmost label beside them, the others hanging below from right to left.
  void underline(std::vector<Mark> &marks, const std::string &gutter) {
    std::sort(marks.begin(), marks.end(), [](const Mark &a, const Mark &b) { return a.begin < b.begin; });
    std::string carets;
    for (const Mark &mark : marks) {
      carets.resize(std::max(carets.size(), mark.end), ' ');
      for (size_t i = mark.begin; i < mark.end; ++i)
        if (mark.primary || carets[i] == ' ')
          carets[i] = mark.primary ? '^' : '-';
    }
    std::vector<const Mark *> hanging;
    for (const Mark &mark : marks)
      if (!mark.text.empty())
        hanging.push_back(&mark);
    if (!hanging.empty() && hanging.back()->end == carets.size()) {
      carets += " " + hanging.back()->text;
      hanging.pop_back();
    }
    out += paint(Style::Margin, gutter) + " " + paint(Style::Error, carets) + "\n";
    while (!hanging.empty()) {
      std::string bars, text;
      for (const Mark *mark : hanging) {
        bars.resize(std::max(bars.size(), mark->begin), ' ');
        bars += '|';
      }
      text = bars.substr(0, hanging.back()->begin);
      text.resize(hanging.back()->begin, ' ');
      out += paint(Style::Margin, gutter) + " " + bars + "\n";
      out += paint(Style::Margin, gutter) + " " + text + hanging.back()->text + "\n";
      hanging.pop_back();
    }
  }

  const SourceManager &sources;
  bool color;
  std::string out;
};

std::string placeJson(const SourceManager &sources, SourceRange range) {
  if (!range.valid())
    return "null";
  const SourceBuffer &buffer = sources.get(range.buffer);
  uint32_t line = buffer.lineOf(range.begin), endLine = buffer.lineOf(range.end);
  return fmt::format("{{\"file\":{},\"line\":{},\"column\":{},\"end_line\":{},\"end_column\":{}}}",
                     jsonText(buffer.getName()), line, buffer.columnOf(range.begin), endLine,
                     buffer.columnOf(range.end));
}

} // namespace

std::string DiagnosticEngine::render(const Diagnostic &diagnostic, bool color) const {
  return Renderer(sources, color).render(diagnostic);
}

std::string DiagnosticEngine::renderJson(const Diagnostic &d) const {
  const DiagInfo &info = infoOf(d.id);
  const char *severity = info.severity == Severity::Error     ? "error"
                         : info.severity == Severity::Warning ? "warning"
                                                              : "remark";
  auto labelsJson = [&](const std::vector<Label> &labels) {
    std::string out = "[";
    for (const Label &label : labels)
      out += fmt::format("{}{{\"at\":{},\"text\":{}}}", out.size() > 1 ? "," : "", placeJson(sources, label.range),
                         jsonText(label.text));
    return out + "]";
  };
  std::string help = "[";
  for (const std::string &line : d.help)
    help += (help.size() > 1 ? "," : "") + jsonText(line);
  std::string fixes = "[";
  for (const Fix &fix : d.fixes)
    fixes += fmt::format("{}{{\"at\":{},\"text\":{}}}", fixes.size() > 1 ? "," : "", placeJson(sources, fix.range),
                         jsonText(fix.text));
  return fmt::format("{{\"severity\":\"{}\",\"code\":\"{}\",\"message\":{},\"at\":{},\"labels\":{},\"notes\":{},"
                     "\"help\":{}],\"fixes\":{}]}}",
                     severity, info.code, jsonText(d.message), placeJson(sources, d.range), labelsJson(d.labels),
                     labelsJson(d.notes), help, fixes);
}

} // namespace toy

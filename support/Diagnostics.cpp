// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of diagnostics, formatting of its rows, and suggestions for misspelt names.
#include "support/Diagnostics.h"

#include <algorithm>
#include <numeric>

namespace toy {

static const DiagInfo table[] = {
#define TOY_DIAG(NAME, CODE, SEVERITY, FORMAT, EXPLANATION) {#NAME, CODE, Severity::SEVERITY, FORMAT, EXPLANATION},
#include "support/Diagnostics.def"
};

const DiagInfo &infoOf(DiagId id) { return table[static_cast<size_t>(id)]; }

std::optional<DiagId> findDiagnostic(std::string_view code) {
  for (size_t i = 0; i < std::size(table); ++i)
    if (table[i].code == code)
      return static_cast<DiagId>(i);
  return std::nullopt;
}

std::vector<DiagId> allDiagnostics() {
  std::vector<DiagId> ids;
  for (size_t i = 0; i < std::size(table); ++i)
    ids.push_back(static_cast<DiagId>(i));
  return ids;
}

std::string formatDiagnostic(DiagId id, const std::vector<std::string> &args) {
  std::string_view format = infoOf(id).format;
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    bool opens = format[i] == '{' && i + 2 < format.size() && format[i + 1] >= '0' && format[i + 1] <= '9';
    bool hole = opens && format[i + 2] == '}', plural = opens && format.substr(i + 2, 3) == ":s}";
    if (!hole && !plural) {
      out += format[i];
      continue;
    }
    size_t index = format[i + 1] - '0';
    std::string text = index < args.size() ? args[index] : std::string();
    out += !plural ? text : text == "1" ? "" : "s";
    i += plural ? 4 : 2;
  }
  return out;
}

/// Edits (insertions, deletions, replacements, swaps of neighbours) between two short words.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = previous;
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::optional<std::string> suggest(std::string_view name, const std::vector<std::string> &candidates) {
  if (name.size() > 100)
    return std::nullopt;
  size_t best = std::max<size_t>(1, (name.size() + 1) / 3) + 1;
  std::optional<std::string> result;
  for (const std::string &candidate : candidates)
    if (size_t distance = editDistance(name, candidate); distance < best && candidate != name) {
      best = distance;
      result = candidate;
    }
  return result;
}

} // namespace toy

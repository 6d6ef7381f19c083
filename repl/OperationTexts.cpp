// SPDX-License-Identifier: Apache-2.0
/// \file
/// The documentation of the dialect's operations, which mlir-tblgen makes of their definitions in ir/*.td.
#include "repl/OperationTexts.h"

#include <algorithm>
#include <cctype>

namespace toy {

static const char manual[] = {
#embed "ToyOps.md"
};
static constexpr std::string_view heading = "### `toy.";

/// Calls `body` with the name and the section of each operation.
template <typename Body> static void forEachOperation(Body body) {
  std::string_view rest(manual, sizeof manual);
  for (size_t at = rest.find(heading); at != rest.npos;) {
    size_t name = at + heading.size(), end = rest.find(heading, name);
    body(rest.substr(name, rest.find('`', name) - name), rest.substr(name, end == rest.npos ? end : end - name));
    at = end;
  }
}

/// Blanks before every line that has text; no fences, no empty line behind another one.
static std::string indented(std::string_view text) {
  std::string out;
  bool wasEmpty = true;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("```") || (line.empty() && wasEmpty))
      continue;
    wasEmpty = line.empty();
    out += line.empty() ? "\n" : "  " + std::string(line) + "\n";
  }
  while (out.ends_with("\n\n"))
    out.pop_back();
  return out;
}

/// The summary stands between underscores, the description behind the fence of the syntax and before the first list.
static std::string textOf(std::string_view section) {
  size_t summary = section.find("\n_");
  std::string out;
  if (summary != section.npos) {
    size_t end = section.find("_\n", summary + 2);
    out = "  " + std::string(section.substr(summary + 2, end - summary - 2)) + ".\n";
    section.remove_prefix(end + 2);
  }
  if (size_t syntax = section.find("Syntax:\n\n```\n"); syntax != section.npos)
    section.remove_prefix(section.find("```\n", syntax + 13) + 4);
  size_t end = section.size();
  for (std::string_view list : {"\nTraits: ", "\nInterfaces: ", "\nEffects: ", "\n#### "})
    end = std::min(end, section.find(list));
  return out + indented(section.substr(0, end));
}

std::string operationText(std::string_view name) {
  std::string out;
  forEachOperation([&](std::string_view known, std::string_view section) {
    if (name == "toy." + std::string(known))
      out = std::string(name) + "\n" + textOf(section);
  });
  return out;
}

std::vector<std::string> operationNames() {
  std::vector<std::string> out;
  forEachOperation([&](std::string_view name, std::string_view) { out.push_back("toy." + std::string(name)); });
  return out;
}

} // namespace toy

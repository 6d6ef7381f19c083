// SPDX-License-Identifier: Apache-2.0
/// \file
/// What inputs of the prompt showed, as variables `_1`, `_2`, … by the numbers of the inputs: the newest ones, as far
/// as they do not take much memory.
#include "session/SessionImpl.h"

#include <algorithm>

namespace toy {

/// Whether a name is a variable's, or that of a part of it.
static bool isLeafOf(const std::string &name, const std::string &variable) {
  return name.starts_with(variable) && (name.size() == variable.size() || name[variable.size()] == '.');
}

/// What the program itself has given such a name is no result any more.
bool Session::isResult(const std::string &name) const {
  return !globalPlaces.contains(name) &&
         llvm::any_of(results, [&](const Result &result) { return result.name == name; });
}

void Session::dropResult(const Result &result) {
  if (globalPlaces.contains(result.name))
    return;
  globalTypes.erase(result.name);
  std::erase_if(globals, [&](auto &entry) { return isLeafOf(entry.first, result.name); });
}

/// Variables are those of an earlier time: results of inputs that were taken back go, and those that were given up do
/// not come back.
void Session::checkResults() {
  std::erase_if(results, [&](const Result &result) {
    const bool isGone = !globalTypes.contains(result.name);
    if (isGone)
      dropResult(result);
    return isGone;
  });
  auto isNumbered = [](const std::string &name) {
    return name.size() > 1 && name[0] == '_' && name.find_first_not_of("0123456789", 1) == std::string::npos;
  };
  std::erase_if(globalTypes, [&](auto &entry) {
    return isNumbered(entry.first) && !globalPlaces.contains(entry.first) && !isResult(entry.first);
  });
}

void Session::keepResult(int number) {
  constexpr int64_t mostBytes = 64 << 20;
  constexpr size_t most = 100;
  Result result{number, "_" + std::to_string(number), past.empty() ? "" : past.back().text, 0};
  if (!showedResult || stopped || globalTypes.contains(result.name))
    return;
  std::map<std::string, rt::Value> leaves;
  for (auto &[name, value] : globals)
    if (isLeafOf(name, "ans")) {
      leaves[result.name + name.substr(3)] = value;
      if (auto *tensor = std::get_if<rt::TensorRef>(&value))
        result.bytes += (*tensor)->count() * sizeOf((*tensor)->dtype);
    }
  if (leaves.empty() || result.bytes > mostBytes / 4)
    return;
  globals.merge(leaves);
  globalTypes[result.name] = globalTypes["ans"];
  results.push_back(std::move(result));
  int64_t bytes = 0;
  for (const Result &kept : results)
    bytes += kept.bytes;
  while (bytes > mostBytes || results.size() > most) {
    bytes -= results.front().bytes;
    dropResult(results.front());
    results.erase(results.begin());
  }
}

std::vector<Session::Result> Session::keptResults() const { return results; }

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Errors of running statements: where they happened, what blocks that catch them know, and undoing what a failed
/// statement did.
#include "runtime/Device.h"
#include "runtime/Error.h"
#include "runtime/Reachable.h"
#include "session/SessionImpl.h"

#include <fmt/format.h>

using namespace mlir;

namespace toy {

void Session::rollback(std::map<std::string, std::optional<rt::Value>> &changes) {
  for (auto &[name, value] : changes)
    if (value)
      globals[name] = *value;
    else
      globals.erase(name);
}

/// What an error may have left of what is newer than the block that it ended: variables are those from before, and
/// constants of compiled code are in no list.
std::vector<const void *> Session::heldObjects() {
  rt::Held held;
  for (auto &frame : frames)
    if (frame)
      for (const rt::Value &leaf : frame->leaves)
        rt::addHeld(leaf, held);
  return std::move(held.references);
}

SourceRange Session::rangeOf(Location location, bool whole) {
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return rangeOf(call.getCallee(), whole);
  if (auto fused = dyn_cast<FusedLoc>(location)) // the operator, then the whole expression
    return rangeOf(whole ? fused.getLocations().back() : fused.getLocations().front(), whole);
  auto range = dyn_cast<FileLineColRange>(location);
  if (!range)
    return {};
  StringRef file = range.getFilename();
  BufferId id = sources.find(std::string_view(file.data(), file.size()));
  if (id == noBuffer)
    return {};
  const SourceBuffer &buffer = sources.get(id);
  return {id, buffer.offsetOf(range.getStartLine(), range.getStartColumn()),
          buffer.offsetOf(range.getEndLine(), range.getEndColumn())};
}

/// The places in the user's own texts.
std::vector<SourceRange> Session::userRanges(ArrayRef<Location> chain) {
  std::vector<SourceRange> ranges;
  auto add = [&](auto &self, Location l) -> void {
    if (auto call = dyn_cast<CallSiteLoc>(l)) { // what was inlined may hold inlined calls itself
      self(self, call.getCallee());
      self(self, call.getCaller());
    } else
      ranges.push_back(rangeOf(l));
  };
  for (Location l : chain)
    add(add, l);
  std::erase_if(ranges, [&](SourceRange r) { return !r.valid() || sources.isLibrary(r); });
  return ranges;
}

/// The innermost place, and the calls that led there.
void Session::reportRuntimeError(const rt::Error &error, ArrayRef<Location> chain) {
  if (error.id == DiagId::Exited) {
    exitStatus = std::stoi(error.args[0]);
    return;
  }
  std::vector<SourceRange> ranges = userRanges(chain);
  Diagnostic &d = diagnostics.report(error.id, ranges.empty() ? SourceRange() : ranges[0], error.args);
  if (error.id == DiagId::DeviceFailed)
    for (int64_t site : rt::unfinishedOnDevice())
      if (auto place = compiler.engine.placeOf(site))
        if (SourceRange range = rangeOf(*place); range.valid())
          d.note(range, "this may not have been finished");
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (i == 6 && ranges.size() > 12) {
      d.note({}, "… " + std::to_string(ranges.size() - 12) + " more calls …");
      i = ranges.size() - 6;
    }
    d.note(ranges[i], "called here");
  }
}

void Session::beginAttempt() {
  attempts.push_back({{}, {}, runningEvaluator ? runningEvaluator->callChain.size() : 0});
}

/// What a block changed that has come to its end belongs to the one around it.
void Session::endAttempt(bool failed) {
  if (attempts.back().changes.empty() && attempts.back().journaled.empty())
    return attempts.pop_back();
  Attempt ended = std::move(attempts.back());
  attempts.pop_back();
  if (failed) {
    rollback(ended.changes);
    for (const std::string &name : ended.journaled) // which would hold values once more
      journal->erase(name);
  } else if (!attempts.empty()) {
    attempts.back().changes.merge(ended.changes);
    attempts.back().journaled.merge(ended.journaled);
  }
}

void Session::noteCaught(const rt::Error &error, ArrayRef<int64_t> sites, ArrayRef<Location> chain) {
  std::vector<Location> places = compiler.engine.takeFailureChain();
  for (int64_t site : sites)
    if (auto place = compiler.engine.placeOf(site))
      places.push_back(*place);
  std::vector<Location> inner = chain.vec();
  if (runningEvaluator) {
    std::vector<Location> &running = runningEvaluator->callChain;
    auto first = running.begin() + attempts.back().chain;
    if (chain.data() == running.data() + attempts.back().chain) // it is this one that asks
      inner.clear();
    places.insert(places.end(), first, running.end());
    running.erase(first, running.end());
  }
  llvm::append_range(places, inner);
  caughtError = {error, std::move(places)};
}

std::string Session::caught(int64_t part) {
  const rt::Error &error = caughtError.error;
  if (part == 0)
    return std::string(infoOf(error.id).code);
  if (part == 1) {
    bool isOwnText = error.id == DiagId::Failed || error.id == DiagId::AssertionFailed;
    return isOwnText ? error.args[0] : formatDiagnostic(error.id, error.args);
  }
  std::vector<SourceRange> ranges = userRanges(caughtError.places);
  if (ranges.empty())
    return "";
  const SourceBuffer &buffer = sources.get(ranges[0].buffer);
  return fmt::format("{}:{}:{}", buffer.getName(), buffer.lineOf(ranges[0].begin), buffer.columnOf(ranges[0].begin));
}

} // namespace toy

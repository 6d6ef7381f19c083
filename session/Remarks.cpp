// SPDX-License-Identifier: Apache-2.0
/// \file
/// What recognition found, in the user's words and at the user's places.
#include "runtime/Device.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <algorithm>

namespace toy {

std::vector<RecognitionRemark> Session::recognition() {
  std::vector<RecognitionRemark> all = earlierRemarks;
  std::set<std::tuple<BufferId, uint32_t, std::string, std::string>> seen;
  auto add = [&](mlir::Location place, std::string kind, std::string text, std::string strategy) {
    SourceRange range = rangeOf(place, true);
    if (!range.valid() || !seen.emplace(range.buffer, range.begin, kind, kind.empty() ? text : "").second)
      return;
    if (sources.isLibrary(range))
      return;
    const SourceBuffer &buffer = sources.get(range.buffer);
    uint32_t line = buffer.lineOf(range.begin);
    all.push_back({std::move(kind), std::move(text), std::move(strategy), std::string(buffer.getName()), line,
                   range.begin - buffer.lineBegin(line) + 1, range});
  };
  for (const Recognized &r : compiler.log.recognized)
    add(r.place, r.kind, r.form, r.strategy);
  for (const Missed &m : compiler.log.missed) {
    std::string reason = m.reason;
    for (auto [i, part] : llvm::enumerate(m.parts)) {
      std::string hole = "{" + std::to_string(i) + "}", text(sources.text(rangeOf(part, true)));
      if (size_t at = reason.find(hole); at != std::string::npos)
        reason.replace(at, hole.size(), text);
    }
    add(m.place, "", reason, "");
  }
  std::stable_sort(all.begin(), all.end(), [](auto &a, auto &b) {
    return std::tie(a.range.buffer, a.range.begin) < std::tie(b.range.buffer, b.range.begin);
  });
  return all;
}

std::vector<LoopRemark> Session::loopCosts() {
  std::vector<LoopRemark> all;
  std::set<std::tuple<BufferId, uint32_t, std::string>> seen;
  for (const LoopCost &cost : compiler.log.loops) {
    SourceRange range = rangeOf(cost.place, true);
    if (!range.valid() || !seen.emplace(range.buffer, range.begin, cost.text).second)
      continue;
    if (sources.isLibrary(range))
      continue;
    const SourceBuffer &buffer = sources.get(range.buffer);
    uint32_t line = buffer.lineOf(range.begin);
    all.push_back({cost.text, std::string(buffer.getName()), line, range.begin - buffer.lineBegin(line) + 1, range});
  }
  return all;
}

bool Session::isInspected(const std::string &text, SourceRange range) {
  if (range.buffer == inspected)
    return true;
  SourceManager scratch;
  DiagnosticEngine quiet(scratch);
  ParseResult parsed = parse(lex(scratch.add("<inspect>", text), quiet), quiet, {true});
  sema::NameSet calls;
  for (const ast::StmtPtr &s : parsed.module.items) {
    sema::Summary summary = sema::summarize(*s);
    calls.merge(summary.calls);
    calls.merge(summary.reads); // `f` alone
  }
  auto holds = [&](const ast::Function &f) {
    return f.range.buffer == range.buffer && f.range.begin <= range.begin && range.end <= f.range.end;
  };
  auto isInVariable = [&](const std::string &name) {
    const ValueType *type = global(name);
    return type && type->code && holds(*type->code);
  };
  return std::any_of(calls.begin(), calls.end(), isInVariable) ||
         std::any_of(defined.functions.begin(), defined.functions.end(),
                     [&](auto &entry) { return holds(*entry.second) && graph.reaches(calls, *entry.second); });
}

void Session::showDeviceWarnings() {
  for (const rt::MissingLibrary &missing : rt::takeMissingLibraries())
    diagnostics.report(DiagId::DeviceWithoutLibrary,
                       rangeOf(compiler.engine.placeOf(missing.site).value_or(mlir::UnknownLoc::get(ir())), true),
                       {missing.work, missing.reason});
  showDiagnostics();
}

/// What is new since the last time.
void Session::showRemarks() {
  for (const RecognitionRemark &r : recognition()) {
    if (!remarked
             .insert(fmt::format("{}:{}:{}:{}", r.range.buffer, r.range.begin, r.kind, r.kind.empty() ? r.text : ""))
             .second)
      continue;
    if (r.kind.empty())
      diagnostics.report(DiagId::MissedComplex, r.range, {r.text});
    else
      diagnostics.report(DiagId::RecognizedComplex, r.range, {r.kind, r.text, r.strategy});
  }
  for (const LoopRemark &cost : loopCosts())
    if (remarked.insert(fmt::format("{}:{}:{}", cost.range.buffer, cost.range.begin, cost.text)).second)
      diagnostics.report(DiagId::LoopCost, cost.range, {cost.text});
  for (const NotPadded &n : compiler.log.notPadded)
    if (SourceRange range = rangeOf(n.place, true);
        range.valid() && remarked.insert(fmt::format("{}:{}:{}", range.buffer, range.begin, n.reason)).second)
      diagnostics.report(DiagId::NotPadded, range, {n.size, n.reason});
  for (const rt::DeviceSplit &split : rt::takeDeviceSplits())
    if (SourceRange range = rangeOf(compiler.engine.placeOf(split.site).value_or(mlir::UnknownLoc::get(ir())), true);
        range.valid() && remarked.insert(fmt::format("{}:{}:{}", range.buffer, range.begin, split.reason)).second)
      diagnostics.report(DiagId::DeviceSequence, range,
                         {std::to_string(split.operations), split.operations == 1 ? "" : "s", split.reason});
  for (const rt::DeviceFallback &fallback : rt::takeDeviceFallbacks())
    diagnostics.report(DiagId::DeviceFallback,
                       rangeOf(compiler.engine.placeOf(fallback.site).value_or(mlir::UnknownLoc::get(ir())), true),
                       {fallback.reason});
  showDiagnostics();
}

} // namespace toy

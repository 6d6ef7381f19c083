// SPDX-License-Identifier: Apache-2.0
/// \file
/// Programs that stop at `breakpoint()`: what holds while they are stopped, and what is put back when they go on.
#include "ast/Parts.h"
#include "runtime/Progress.h"
#include "session/SessionImpl.h"

#include "llvm/ADT/ScopeExit.h"
#include <fmt/format.h>

namespace toy {

int64_t Session::noteBreakpoint(bool isBreakpoint, std::vector<std::pair<std::string, ValueType>> locals) {
  stops.push_back({isBreakpoint, std::move(locals)});
  return static_cast<int64_t>(stops.size()) - 1;
}

/// Whether statements, or what they call, mention functions among which there is one that is looked for.
bool Session::leadTo(llvm::ArrayRef<const ast::Stmt *> statements,
                     llvm::function_ref<bool(const sema::NameSet &)> names) {
  auto leads = [&](const std::string &name) {
    const ast::Function *f = functionOf(name);
    return f && (names(graph.mentions(*f).calls) || names(graph.mentions(*f).reads));
  };
  return llvm::any_of(statements, [&](const ast::Stmt *s) {
    sema::Summary summary = sema::summarize(*s);
    return names(summary.calls) || names(summary.reads) || llvm::any_of(summary.calls, leads) ||
           llvm::any_of(summary.reads, leads);
  });
}

/// Whether statements may come to a `breakpoint()` or a break, also in what they call.
bool Session::mayStop(llvm::ArrayRef<const ast::Stmt *> statements) {
  if (!whenStopped || stopped)
    return false;
  const bool isOwn = defined.function("breakpoint");
  return debugging || leadTo(statements, [&](const sema::NameSet &names) {
           return (names.contains("breakpoint") && !isOwn) ||
                  llvm::any_of(breaks, [&](const Break &b) { return names.contains(b.function); });
         });
}

static bool isWithin(SourceRange inner, SourceRange outer) {
  return inner.valid() && inner.buffer == outer.buffer && outer.begin <= inner.begin && inner.end <= outer.end;
}

/// The first statement of a function, or the first one that begins at a line.
const ast::Stmt *Session::statementOf(const Break &wanted) {
  const ast::Function *f = functionOf(wanted.function);
  const ast::Stmt *found = nullptr;
  auto visit = [&](auto &self, const ast::Stmt &s) -> void {
    bool isHere = s.kind != ast::NodeKind::Block &&
                  (!wanted.line || sources.get(s.range.buffer).lineOf(s.range.begin) == *wanted.line);
    if (!found && isHere)
      found = &s;
    ast::forEachPart(s, [&](const auto &part) {
      if constexpr (std::derived_from<std::decay_t<decltype(*part)>, ast::Stmt>)
        if (part && !found)
          self(self, *part);
    });
  };
  if (f && f->body)
    for (const ast::StmtPtr &s : f->body->statements)
      visit(visit, *s);
  return found;
}

std::string Session::placeOfBreak(const Break &wanted) {
  const ast::Stmt *s = statementOf(wanted);
  return s ? describe(s->range) : "";
}

/// What a stopped program must find again when it goes on, whatever was typed meanwhile.
class Session::StopState {
public:
  explicit StopState(Session &s)
      : s(s), change(s.nothingChanged()), globals(s.globals), past(std::move(s.past)),
        statementChanges(std::move(s.statementChanges)), attempts(std::move(s.attempts)), callers(std::move(s.callers)),
        journal(std::exchange(s.journal, nullptr)), recording(std::exchange(s.recording, nullptr)),
        evaluator(std::exchange(s.runningEvaluator, nullptr)), random(s.randomState), caught(s.caughtError),
        depth(std::exchange(s.callDepth, 0)), aside(s.instanceTable.takeAside()) {
    s.past.clear();
    s.statementChanges.clear();
    s.attempts.clear();
    s.callers.clear();
    s.options.compile.stops = false;
    s.stopped = true;
  }
  ~StopState() {
    s.stopped = false;
    s.options.compile.stops = true;
    s.takeBack(change);
    s.globals = std::move(globals);
    s.past = std::move(past);
    s.statementChanges = std::move(statementChanges);
    s.attempts = std::move(attempts);
    s.callers = std::move(callers);
    s.journal = journal;
    s.recording = recording;
    s.runningEvaluator = evaluator;
    s.randomState = random;
    s.caughtError = caught;
    s.callDepth = depth;
    s.instanceTable.putBack(std::move(aside));
  }

  /// Variables are those of the top level again.
  void hideLocals() const {
    s.globals = globals;
    s.globalTypes = change.types;
  }

private:
  Session &s;
  Change change;
  std::map<std::string, rt::Value> globals;
  std::vector<Change> past;
  std::map<std::string, std::optional<rt::Value>> statementChanges;
  std::vector<Attempt> attempts;
  std::vector<mlir::Location> callers;
  std::map<std::string, std::optional<rt::Value>> *journal;
  Change *recording;
  Evaluator *evaluator;
  rt::RandomState random;
  Caught caught;
  int depth;
  InstanceTable aside;
};

/// Local variables take the place of those of the top level.
void Session::setLocals(const Stop &stop, llvm::ArrayRef<rt::Value> leaves) {
  for (auto &[name, type] : stop.locals) {
    llvm::SmallVector<mlir::Type> types;
    type.flatten(types);
    auto own = leaves.take_front(types.size());
    leaves = leaves.drop_front(types.size());
    for (auto [i, leaf] : llvm::enumerate(own))
      globals[types.size() == 1 ? name : name + "." + std::to_string(i)] = leaf;
    auto next = own.begin();
    globalTypes[name] = concrete(type, [&] { return *next++; });
  }
}

/// Whether what is kept of a depth is of the call that runs there.
bool Session::isActive(int depth) const {
  if (depth < 1 || depth >= static_cast<int>(frames.size()) || !frames[depth])
    return false;
  const size_t caller = static_cast<size_t>(depth) - 1; // the statement itself has none
  return caller == 0 || (caller <= callers.size() && frames[depth]->caller == callers[caller - 1]);
}

Session::After Session::stopWith(Stop stop) {
  shownStop = std::move(stop);
  shownFrame = shownStop.depth;
  StopState state(*this);
  const rt::Activity quiet(rt::Activity::Quiet);
  stopState = &state;
  llvm::scope_exit done([&] { stopState = nullptr; });
  setLocals(shownStop, frames[shownFrame]->leaves);
  return whenStopped(shownStop);
}

std::string Session::changedLocal() const {
  for (const auto &[name, type] : shownStop.locals)
    if (stopState && !past.empty() &&
        llvm::any_of(past.back().values, [&](const auto &value) { // of structs each part has one
          return llvm::StringRef(value.first).split('.').first == llvm::StringRef(name);
        }))
      return name;
  return "";
}

std::optional<SourceRange> Session::showFrame(int by) {
  int depth = shownFrame + by;
  while (depth > 0 && depth < static_cast<int>(frames.size()) && !frames[depth])
    depth += by;
  if (!stopState || depth <= 0 || depth > shownStop.depth)
    return std::nullopt;
  shownFrame = depth;
  stopState->hideLocals();
  shownStop.locals = stops.at(frames[depth]->stop).locals;
  setLocals(shownStop, frames[depth]->leaves);
  return rangeOf(frames[depth]->place);
}

void Session::stopAt(int64_t number, mlir::Location place, llvm::ArrayRef<rt::Value> leaves) {
  if (!whenStopped || stopped)
    return;
  frames.resize(callDepth + 1);
  SourceRange range = rangeOf(place), outer = range;
  if (auto &before = frames[callDepth]; before && isWithin(range, before->outer))
    outer = before->outer;
  frames[callDepth].emplace(number, place, leaves.vec(), callers.empty() ? std::nullopt : std::optional(callers.back()),
                            outer);
  Stop stop = stops.at(number);
  stop.isBreakpoint |= llvm::any_of(breaks, [&](const Break &b) {
    const ast::Stmt *s = statementOf(b);
    return s && s->range.buffer == range.buffer && s->range.begin == range.begin && s->range.end == range.end;
  });
  if (!(stop.isBreakpoint || stepping == After::Step || (stepping == After::Next && callDepth <= stepDepth)))
    return;
  for (int depth = 1; depth < callDepth; ++depth)
    if (!isActive(depth))
      frames[depth].reset();
  std::vector<mlir::Location> chain = {place};
  llvm::append_range(chain, llvm::reverse(callers));
  stop.calls = userRanges(chain);
  stop.depth = callDepth;
  const int depth = callDepth;
  stepping = stopWith(std::move(stop));
  stepDepth = depth;
  if (exitStatus)
    throw rt::Error{DiagId::Exited, {std::to_string(*exitStatus)}};
  if (stepping == After::Quit)
    throw rt::Error{DiagId::Interrupted, {}};
}

/// The stop is the deepest function of the user's in whose newest statement lies what failed.
void Session::inspectFailure(llvm::ArrayRef<mlir::Location> chain) {
  auto isInside = [&](int depth) {
    if (depth > static_cast<int>(chain.size()) || !frames[depth])
      return false;
    return isWithin(rangeOf(chain[chain.size() - depth], true), frames[depth]->outer);
  };
  int depth = 1;
  while (depth < static_cast<int>(frames.size()) && isInside(depth))
    ++depth;
  if (--depth == 0)
    return;
  Stop stop = stops.at(frames[depth]->stop);
  stop.calls = userRanges({frames[depth]->place});
  llvm::append_range(stop.calls, userRanges(chain.take_back(depth - 1)));
  stop.depth = depth;
  stopWith(std::move(stop));
}

Session::Outcome Session::debug(std::string name, std::string text, ParseOptions parseOptions) {
  const bool before = std::exchange(debugging, whenStopped && !stopped);
  Outcome outcome = run(std::move(name), std::move(text), parseOptions);
  debugging = before;
  return outcome;
}

/// Of some functions: as deep as those of them that run.
std::optional<int> Session::traceDepth(mlir::Location function, bool isCall) {
  if (traced.empty() || tracesAll)
    return callDepth - 2;
  const SourceRange place = rangeOf(function);
  if (llvm::none_of(traced, [&](const std::string &name) {
        const ast::Function *f = functionOf(name);
        return f && f->nameRange.buffer == place.buffer && f->nameRange.begin == place.begin;
      }))
    return std::nullopt;
  while (!tracedCalls.empty() && (isCall ? tracedCalls.back() >= callDepth : tracedCalls.back() > callDepth))
    tracedCalls.pop_back();
  const int depth = static_cast<int>(tracedCalls.size()) - !isCall;
  if (isCall)
    tracedCalls.push_back(callDepth);
  return std::max(depth, 0);
}

std::string Session::describe(SourceRange place) {
  const SourceBuffer &buffer = sources.get(place.buffer);
  uint32_t line = buffer.lineOf(place.begin);
  std::string_view text = buffer.lineText(line);
  return fmt::format("{}:{}: {}", buffer.getName(), line,
                     text.substr(std::min(text.find_first_not_of(" \t"), text.size())));
}

} // namespace toy

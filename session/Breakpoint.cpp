// SPDX-License-Identifier: Apache-2.0
/// \file
/// Programs that stop at `breakpoint()`: what holds while they are stopped, and what is put back when they go on.
#include "runtime/Progress.h"
#include "session/SessionImpl.h"

#include <fmt/format.h>

namespace toy {

int64_t Session::noteBreakpoint(bool isBreakpoint, std::vector<std::pair<std::string, ValueType>> locals) {
  stops.push_back({isBreakpoint, std::move(locals)});
  return static_cast<int64_t>(stops.size()) - 1;
}

/// Whether statements may come to a `breakpoint()`, also in what they call.
bool Session::mayStop(llvm::ArrayRef<const ast::Stmt *> statements) {
  if (!whenStopped || stopped)
    return false;
  auto stops = [&](const sema::NameSet &calls) {
    return calls.contains("breakpoint") && !defined.function("breakpoint");
  };
  auto leadsTo = [&](const std::string &name) {
    const ast::Function *f = functionOf(name);
    return f && stops(graph.mentions(*f).calls);
  };
  return llvm::any_of(statements, [&](const ast::Stmt *s) {
    sema::Summary summary = sema::summarize(*s);
    return stops(summary.calls) || llvm::any_of(summary.calls, leadsTo) || llvm::any_of(summary.reads, leadsTo);
  });
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
  std::array<std::string, 3> caught;
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

void Session::stopAt(int64_t number, mlir::Location place, llvm::ArrayRef<rt::Value> leaves) {
  Stop stop = stops.at(number);
  if (!whenStopped || stopped ||
      !(stop.isBreakpoint || stepping == After::Step || (stepping == After::Next && callDepth <= stepDepth)))
    return;
  std::vector<mlir::Location> chain = {place};
  llvm::append_range(chain, llvm::reverse(callers));
  stop.calls = userRanges(chain);
  stop.depth = callDepth;
  const int depth = callDepth;
  {
    const StopState state(*this);
    const rt::Activity quiet(rt::Activity::Quiet);
    setLocals(stop, leaves);
    stepping = whenStopped(stop);
  }
  stepDepth = depth;
  if (exitStatus)
    throw rt::Error{DiagId::Exited, {std::to_string(*exitStatus)}};
  if (stepping == After::Quit)
    throw rt::Error{DiagId::Interrupted, {}};
}

std::string Session::describe(SourceRange place) {
  const SourceBuffer &buffer = sources.get(place.buffer);
  uint32_t line = buffer.lineOf(place.begin);
  std::string_view text = buffer.lineText(line);
  return fmt::format("{}:{}: {}", buffer.getName(), line,
                     text.substr(std::min(text.find_first_not_of(" \t"), text.size())));
}

} // namespace toy

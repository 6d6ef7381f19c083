// SPDX-License-Identifier: Apache-2.0
/// \file
/// Samples of compiled code, told by functions and lines of the user's texts.
#include "session/SessionImpl.h"

namespace toy {

Session::Profiling::Profiling(Session &session)
    : session(session), aside(session.instanceTable.takeAside()),
      jit(std::exchange(session.options.compile.jit, JitMode::Always)) {
  session.options.compile.profile = true;
  session.compiler.setProfiler(&profiler);
}

Session::Profiling::~Profiling() {
  session.compiler.setProfiler(nullptr);
  session.options.compile.profile = false;
  session.options.compile.jit = jit;
  session.instanceTable.putBack(std::move(aside));
}

namespace {

/// The definition of the top level that a place is in, or null.
const ast::Function *functionAround(const std::vector<std::unique_ptr<ast::Module>> &modules, SourceRange place) {
  for (const std::unique_ptr<ast::Module> &module : modules)
    for (const ast::StmtPtr &item : module->items)
      if (auto *f = ast::dynCast<ast::Function>(item.get()))
        if (f->range.buffer == place.buffer && f->range.begin <= place.begin && place.end <= f->range.end)
          return f;
  return nullptr;
}

/// Functions by the tree, or by the text for its statements.
class Tally {
public:
  Tally(const SourceManager &sources, const std::vector<std::unique_ptr<ast::Module>> &modules)
      : sources(sources), modules(modules) {}

  /// Places of the calls, the innermost first.
  void add(llvm::ArrayRef<SourceRange> chain, int64_t count) {
    std::set<std::pair<Key, uint32_t>> lines;
    std::set<Key> seen;
    for (auto [i, place] : llvm::enumerate(chain)) {
      auto [key, function] = find(place);
      uint32_t line = sources.get(place.buffer).lineOf(place.begin);
      Session::Profile::Time &time = function->time, &lineTime = function->lines[line];
      if (i == 0) {
        time.own += count;
        lineTime.own += count;
      }
      if (seen.insert(key).second) // a function that calls itself is there once
        time.all += count;
      if (lines.insert({key, line}).second)
        lineTime.all += count;
    }
  }

  std::vector<Session::Profile::Function> take() {
    std::vector<Session::Profile::Function> out;
    for (auto &[key, function] : functions)
      out.push_back(std::move(function));
    std::sort(out.begin(), out.end(), [](auto &a, auto &b) {
      return std::tuple(-a.time.own, -a.time.all, a.file, a.firstLine) <
             std::tuple(-b.time.own, -b.time.all, b.file, b.firstLine);
    });
    return out;
  }

private:
  using Key = std::pair<BufferId, uint32_t>; ///< where a function begins; of statements behind all of them

  std::pair<Key, Session::Profile::Function *> find(SourceRange place) {
    const ast::Function *f = functionAround(modules, place);
    const Key key(place.buffer, f ? f->range.begin : ~0u);
    auto [it, isNew] = functions.try_emplace(key);
    if (isNew) {
      const SourceBuffer &buffer = sources.get(place.buffer);
      it->second.name = f ? f->name : "statements";
      it->second.file = buffer.getName();
      it->second.firstLine = f ? buffer.lineOf(f->range.begin) : 1;
      uint32_t last = f ? buffer.lineOf(f->range.end - 1) : buffer.lineCount();
      for (uint32_t line = it->second.firstLine; line <= last; ++line)
        it->second.text.emplace_back(buffer.lineText(line));
    }
    return {key, &it->second};
  }

  const SourceManager &sources;
  const std::vector<std::unique_ptr<ast::Module>> &modules;
  std::map<Key, Session::Profile::Function> functions;
};

} // namespace

Session::Profile Session::Profiling::result() {
  Profile out;
  Tally tally(session.sources, session.modules);
  for (const Profiler::Sample &sample : profiler.samples()) {
    std::vector<mlir::Location> chain; // the innermost first
    for (uint32_t number : llvm::reverse(sample.chain))
      if (number <= profiler.places.size())
        chain.push_back(profiler.places[number - 1]);
    tally.add(session.userRanges(chain), sample.count);
    out.samples += sample.count;
  }
  out.functions = tally.take();
  out.lost = profiler.lost();
  return out;
}

} // namespace toy

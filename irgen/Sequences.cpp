// SPDX-License-Identifier: Apache-2.0
/// \file
/// Statements in a row, and what happens behind one that is given up: inside a loop, because the type of a list is not
/// known yet; where a program is only looked at, because it is wrong.
#include "irgen/Statements.h"

#include "irgen/Expressions.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

namespace {

/// Where generation stands in a function, to go on from behind a statement that was given up.
class Standing {
public:
  explicit Standing(IRGen &g)
      : g(g), state(g.fn()), depth(g.stack.size()), scopes(state.scopes.size()), loops(state.loops.size()),
        conditions(state.conditions), tries(state.tries), innermostTry(state.innermostTry),
        decides(g.decidesConditions), facts(state.facts) {}

  void goOn() {
    g.stack.resize(depth);
    state.scopes.resize(scopes);
    state.loops.resize(loops);
    state.conditions = conditions;
    state.tries = tries;
    state.innermostTry = innermostTry;
    state.facts = facts;
    g.decidesConditions = decides;
    moveTo(g, newBlock(g));
  }

private:
  IRGen &g;
  FunctionState &state;
  size_t depth, scopes, loops;
  unsigned conditions, tries;
  SourceRange innermostTry;
  bool decides;
  ShapeFacts facts;
};

} // namespace

/// A statement that needs the type of a list that has none yet is left out, and so is what fails because of that: what
/// comes behind may say the type, and the loop is generated again.
static void genInLoop(IRGen &g, const ast::Stmt &s) {
  FunctionState &state = g.fn();
  Standing before(g);
  size_t reported = g.diagnostics.diagnostics().size();
  ++state.mayLeaveOut;
  llvm::scope_exit done([&] { --state.mayLeaveOut; });
  auto leaveOut = [&] {
    g.diagnostics.truncate(reported);
    before.goOn();
  };
  try {
    genStatement(g, s);
  } catch (ListTypeNeeded &need) {
    leaveOut();
    if (!state.skipped)
      state.skipped = need;
  } catch (IRAbort &) {
    if (!state.skipped)
      throw;
    leaveOut();
  }
}

/// What a statement would have given a value is not known.
static void forgetValues(IRGen &g, const ast::Stmt &s) {
  std::vector<std::string> declared;
  if (auto *var = ast::dynCast<ast::Var>(&s))
    declared = var->names;
  else if (auto *f = ast::dynCast<ast::Function>(&s))
    declared = {f->name};
  bool isTop = !g.fn().decl && g.fn().scopes.size() == 1;
  for (const std::string &name : declared)
    g.fn().scopes.back()[name] = {{}, isTop, false, s.range, true};
  for (const std::string &name : sema::assignedIn(s))
    if (Variable *variable = lookup(g, name))
      variable->isUnknown = true;
}

void genNext(IRGen &g, const ast::Stmt &s) {
  if (!reachable(g))
    return;
  auto generate = g.fn().loops.empty() ? genStatement : genInLoop;
  if (!g.goesOn)
    return generate(g, s);
  Standing before(g);
  try {
    generate(g, s);
  } catch (IRAbort) {
    before.goOn(); // the module is of no use any more
    g.fn().isWrong = true;
    forgetValues(g, s);
  }
}

void genBlock(IRGen &g, const ast::Block &block) {
  g.fn().scopes.emplace_back();
  for (const ast::StmtPtr &s : block.statements)
    genNext(g, *s);
  g.fn().scopes.pop_back();
}

} // namespace toy

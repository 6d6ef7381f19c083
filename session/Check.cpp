// SPDX-License-Identifier: Apache-2.0
/// \file
/// A text that is looked at and not run.
#include "session/SessionImpl.h"

#include "llvm/ADT/ScopeExit.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace mlir;

namespace toy {

/// The items of a text in the order in which they take effect: those of a file stand where it is imported first.
std::vector<const ast::Stmt *> Session::withImports(const ast::Module &module) {
  std::vector<const ast::Stmt *> out;
  for (const ast::StmtPtr &s : module.items) {
    auto *item = ast::dynCast<ast::Import>(s.get());
    if (!item) {
      out.push_back(s.get());
      continue;
    }
    if (const ast::Module *file = importOnce(*item))
      llvm::append_range(out, withImports(*file));
  }
  return out;
}

/// In the order of the text, each once: calls of a function that is wrong find the same errors in it.
static void tidy(DiagnosticEngine &diagnostics) {
  std::vector<Diagnostic> all = diagnostics.diagnostics();
  auto placeOf = [](const Diagnostic &d) { return std::tuple(d.range.buffer, d.range.begin); };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Diagnostic &a, const Diagnostic &b) { return placeOf(a) < placeOf(b); });
  diagnostics.clear();
  std::set<std::tuple<DiagId, BufferId, uint32_t>> told;
  for (Diagnostic &d : all)
    if (told.emplace(d.id, d.range.buffer, d.range.begin).second)
      diagnostics.add(std::move(d));
}

void Session::usesMember(const std::string &structure, const std::string &member, SourceRange range) {
  if (!isChecking)
    return;
  SourceRange declared;
  if (const ast::Struct *decl = defined.structure(structure))
    for (const ast::Parameter &m : decl->members)
      if (m.name == member)
        declared = m.range;
  memberUses.push_back({range, declared, structure, member});
}

bool Session::check(std::string name, std::string text, ParseOptions parseOptions) {
  bool ok = false;
  isChecking = true;
  llvm::scope_exit looked([&] { isChecking = false; });
  bool ended = protect(name, [&] {
    diagnostics.clear();
    ParseResult result = parse(lex(sources.add(name, std::move(text)), diagnostics), diagnostics, parseOptions);
    if (result.status == ParseStatus::Complete) {
      modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
      ast::Module &module = *modules.back();
      if (declare(module) && checkDefinitions(module)) {
        std::vector<const ast::Stmt *> all = withImports(module), own;
        for (const ast::StmtPtr &s : module.items)
          if (s->kind != ast::NodeKind::Import)
            own.push_back(s.get());
        if (llvm::all_of(all, [](const ast::Stmt *s) { return isDefinition(*s); }))
          for (const ast::Stmt *definition : all)
            define(*definition);
        if (const ast::Stmt *main = parseOptions.prompt ? nullptr : callOfMain(module))
          all.push_back(main);
        OwningOpRef<ModuleOp> typed = ModuleOp::create(UnknownLoc::get(ir()));
        InstanceTable::Unit unit(instanceTable);
        TopLevel top;
        toy::check(*typed, all, own, *this, diagnostics, top);
        globalTypes = std::move(top.stored);
        globalPlaces = std::move(top.places);
        if (!diagnostics.hasErrors())
          allRanksMeet(*typed);
        tidy(diagnostics);
      }
    }
    ok = !diagnostics.hasErrors();
    showDiagnostics();
  });
  return ok && ended;
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inputs, declarations and the tables that IR generation asks for.
#include "session/SessionImpl.h"

#include "runtime/Guard.h"
#include "runtime/Io.h"
#include "runtime/Output.h"
#include "runtime/ranks/Ranks.h"
#include "support/DeferredInitializers.h"

#include "ir/ToyDialect.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Memory.h"

#include "llvm/Support/ErrorHandling.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <new>
#include <unistd.h>

using namespace mlir;

namespace toy {

Session::Session(SessionOptions sessionOptions)
    : options(std::move(sessionOptions)), diagnostics(sources), compiler(options.compile),
      mainNames(firstNames(options)) {
  static std::once_flag handled;
  std::call_once(handled, [] {
    llvm::install_fatal_error_handler([](void *, const char *reason, bool) { rt::abandon(reason); });
    // An exception, not a jump: tables that are being made for the first time give up their guards, and frames of ours
    // what they own.
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { throw std::bad_alloc(); });
  });
}

Session::~Session() { forgetPrelude(sources); }

/// The context, made when it is first asked for, or before: then this waits for the other thread.
MLIRContext *Session::ir(bool prepares) {
  std::call_once(contextMade, [&] {
    initializeIr();
    context = newContext();
    if (prepares && options.compile.jit != JitMode::Never)
      compiler.warmUp(context.get());
  });
  return context.get();
}

void Session::prepare() { ir(true); }

void Session::showDiagnostics() {
  bool sharesRow = !diagnostics.diagnostics().empty() && !whenReported && isatty(STDERR_FILENO);
  sharesRow ? rt::endRow() : rt::flushOutput();
  if (diagnostics.hasErrors())
    ranks::beforeError();
  for (const Diagnostic &d : diagnostics.diagnostics()) {
    if (infoOf(d.id).severity != Severity::Error && !ranks::isFirst())
      continue;
    faulted |= d.id == DiagId::Internal || d.id == DiagId::Fault;
    errorsShown += infoOf(d.id).severity == Severity::Error;
    if (whenReported) {
      whenReported(d);
      continue;
    }
    std::string text = options.json ? diagnostics.renderJson(d) + "\n" : diagnostics.render(d, options.color);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  diagnostics.clear();
}

void Session::define(const ast::Stmt &definition) {
  if (auto *f = ast::dynCast<ast::Function>(&definition)) {
    if (auto variable = globalTypes.find(f->name);
        variable != globalTypes.end() && variable->second.kind == ValueType::Function)
      globalTypes.erase(variable); // the definition takes its place
    if (std::exchange(defined.functions[f->name], f) == f)
      return;
    instanceTable.forgetUsersOf(f->name);
  } else if (auto *s = ast::dynCast<ast::Struct>(&definition)) {
    if (std::exchange(defined.structures[s->name], s) == s)
      return;
    instanceTable.clear(); // their types may hold the old members
  }
  graph.forget();
}

/// Statements without control flow whose types do not depend on what running the one before gives.
bool Session::isSimple(const ast::Stmt &s, const sema::Summary &summary) {
  using ast::NodeKind;
  bool loads = false;
  for (const char *name : {"load", "read_binary"})
    loads |= summary.calls.count(name) && !defined.function(name);
  return !loads && (s.kind == NodeKind::Var || s.kind == NodeKind::Assign || s.kind == NodeKind::ExprStmt ||
                    s.kind == NodeKind::Print);
}

bool Session::executeJoined(ArrayRef<const ast::Stmt *> statements, unsigned factors) {
  if (statements.size() > 1 && factors > 1) { // they may hold the parts of a complex product
    size_t reported = diagnostics.diagnostics().size();
    bool generated = true;
    bool ok = execute(statements, &generated);
    if (generated)
      return ok;
    diagnostics.truncate(reported); // one after the other, then: those before the error run
  }
  for (const ast::Stmt *s : statements)
    if (!execute({s}))
      return false;
  return true;
}

/// Everything of a text takes effect in its order.
bool Session::executeAll(const ast::Module &module) {
  constexpr size_t most = 64;
  std::vector<const ast::Stmt *> joined;
  unsigned factors = 0;
  auto flush = [&] {
    std::vector<const ast::Stmt *> now;
    std::swap(now, joined);
    return now.empty() || executeJoined(now, std::exchange(factors, 0));
  };
  for (const ast::StmtPtr &s : module.items) {
    if (isDefinition(*s)) {
      const std::string &name = nameOf(*s).first;
      bool isNew = defined.function(name) != s.get() && defined.structure(name) != s.get();
      if (isNew && !flush())
        return false;
      define(*s);
      continue;
    }
    if (auto *item = ast::dynCast<ast::Import>(s.get())) {
      if (!flush() || !import(*item))
        return false;
      continue;
    }
    sema::Summary summary = options.join ? sema::summarize(*s) : sema::Summary();
    if (options.join && isSimple(*s, summary)) {
      joined.push_back(s.get());
      factors += summary.factors;
      if (joined.size() == most && !flush())
        return false;
    } else if (!flush() || !execute({s.get()}))
      return false;
  }
  return flush();
}

bool Session::protect(const std::string &name, const std::function<void()> &body) {
  recycleWhenDue();
  std::optional<rt::Error> error = rt::guarded(body);
  if (!error)
    return true;
  damaged = true;
  compiler.times.leaveAll();
  callDepth = 0;
  callers.clear();
  auto report = [&] {
    if (std::exchange(journal, nullptr))
      rollback(statementChanges);
    recording = nullptr;
    runningEvaluator = nullptr;
    attempts.clear();
    instanceTable.forgetPending();
    importing.clear();
    Diagnostic &d = diagnostics.report(error->id, {}, error->args);
    if (error->id == DiagId::Fault)
      d.note({}, "in " + name + (options.prompt ? "; :save the session before you go on" : ""));
    showDiagnostics();
  };
  if (rt::guarded(report)) // nor is there memory for a report
    std::fputs("error[R0108]: out of memory\n", stderr);
  return false;
}

/// Types, constants and code are made anew from time to time, and after what may have left them half done.
void Session::recycleWhenDue() {
  if ((!damaged && executed <= 5000) || options.compile.profile || stopped)
    return;
  executed = 0;
  if (context)
    recycle();
  damaged = false;
}

Session::Change Session::nothingChanged() const {
  return {{}, globalTypes, globalPlaces, defined, imported, mainNames, moduleNames};
}

const std::map<std::string, std::string> *Session::namesOfModule(const std::string &alias) const {
  auto it = mainNames.modules.find(alias);
  return it == mainNames.modules.end() ? nullptr : &it->second.names;
}

/// A text, protected; what ends it takes back what it changed, and what it was about to compile.
Session::Outcome Session::run(std::string name, std::string text, ParseOptions parseOptions) {
  bool outermost = !recording && !journal && importing.empty();
  if (!outermost)
    return runText(std::move(name), std::move(text), parseOptions);
  recycleWhenDue();
  Change change;
  if (options.prompt) {
    change = nothingChanged();
    change.text = text;
    recording = &change;
  }
  Outcome outcome = Failed;
  bool before = std::exchange(faulted, false);
  protect(name, [&] { outcome = runText(name, text, parseOptions); });
  recording = nullptr;
  runsAgain = false;
  if (faulted)
    writeReproducer(name, text);
  faulted |= before;
  showedResult = false;
  if (outcome == Failed && options.prompt) {
    lastFailed = text;
    takeBack(change);
  } else if (outcome == Done && options.prompt) {
    showedResult = llvm::any_of(change.values,
                                [](auto &entry) { return entry.first == "ans" || entry.first.starts_with("ans."); });
    past.push_back(std::move(change));
    if (past.size() > 16)
      past.erase(past.begin());
  }
  return outcome;
}

Session::Outcome Session::runAgain(std::string name, std::string text, ParseOptions parseOptions) {
  runsAgain = true;
  return run(std::move(name), std::move(text), parseOptions);
}

Session::Outcome Session::runText(std::string name, std::string text, ParseOptions parseOptions) {
  const std::string path = name;
  diagnostics.clear();
  if (text.size() >= (1ull << 31)) {
    diagnostics.report(DiagId::SourceTooLarge, {}, {std::to_string(text.size())});
    showDiagnostics();
    return Failed;
  }
  ParseResult result = [&] {
    PhaseTimes::Phase timer(compiler.times, "parse");
    return parse(lex(sources.add(std::move(name), std::move(text)), diagnostics), diagnostics, parseOptions);
  }();
  if (result.status == ParseStatus::Incomplete) {
    diagnostics.clear();
    return Incomplete;
  }
  bool ok = result.status == ParseStatus::Complete;
  if (ok) {
    modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
    ast::Module &module = *modules.back();
    if (std::exchange(runsAgain, false))
      forgetFile(path);
    ok = declare(module) && checkDefinitions(module);
    if (ok)
      showDiagnostics(); // warnings
    ok = ok && executeAll(module);
    if (const ast::Stmt *main = ok && !parseOptions.prompt ? callOfMain(module) : nullptr)
      ok = execute({main});
  }
  showDiagnostics();
  return ok ? Done : Failed;
}

/// `main();` for a text that defines such a function and holds no statements, else null.
const ast::Stmt *Session::callOfMain(const ast::Module &module) {
  const ast::Function *main = defined.function("main");
  bool isScript = llvm::any_of(module.items, [](const ast::StmtPtr &s) { return isStatement(*s); });
  if (isScript || !main || !main->parameters.empty() ||
      llvm::none_of(module.items, [&](const ast::StmtPtr &s) { return s.get() == main; }))
    return nullptr;
  auto call = std::make_unique<ast::Call>(main->nameRange);
  call->callee = "main";
  call->calleeRange = main->nameRange;
  auto statement = std::make_unique<ast::ExprStmt>(main->nameRange);
  statement->value = std::move(call);
  modules.push_back(std::make_unique<ast::Module>());
  modules.back()->items.push_back(std::move(statement));
  return modules.back()->items.back().get();
}

/// Functions behind the public ones, in the order in which they are called.
static void sortByCalls(ModuleOp module) {
  SetVector<Operation *> order;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic())
      order.insert(function);
  for (size_t i = 0; i < order.size(); ++i)
    order[i]->walk([&](func::CallOp call) { order.insert(module.lookupSymbol(call.getCallee())); });
  for (Operation *function : order)
    function->moveBefore(module.getBody(), module.getBody()->end());
}

OwningOpRef<ModuleOp> Session::lower(std::string name, std::string text, ParseOptions parseOptions) {
  inspected = sources.add(std::move(name), std::move(text));
  ParseResult result = parse(lex(inspected, diagnostics), diagnostics, parseOptions);
  if (result.status != ParseStatus::Complete)
    return {};
  silence(result.module);
  modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
  ast::Module &module = *modules.back();
  if (!declare(module) || !checkDefinitions(module))
    return {};
  std::vector<const ast::Stmt *> items;
  for (const ast::StmtPtr &s : module.items) {
    if (auto *item = ast::dynCast<ast::Import>(s.get())) {
      if (!import(*item))
        return {};
    } else
      items.push_back(s.get());
  }
  if (llvm::all_of(items, [](const ast::Stmt *s) { return isDefinition(*s); })) {
    for (const ast::Stmt *definition : items)
      define(*definition);
    if (const ast::Stmt *main = callOfMain(module))
      items.push_back(main);
  }
  OwningOpRef<ModuleOp> out = ModuleOp::create(UnknownLoc::get(ir()));
  TopLevel top;
  if (!generateOnly(*out, items, top))
    return {};
  importBodies(*out, [&](StringRef symbol) { return bodyOf(symbol); }, compiler.engine); // that the check has made
  sortByCalls(*out);
  return out;
}

SourceRange Session::placeOfGlobal(const std::string &name) {
  auto it = globalPlaces.find(name);
  return it == globalPlaces.end() ? SourceRange() : it->second;
}

const ValueType *Session::global(const std::string &name) {
  auto it = globalTypes.find(name);
  if (it == globalTypes.end())
    return nullptr;
  return namesVaryingSizes ? &(namedTypes[name] = withNamedSizes(name, it->second)) : &it->second;
}

std::optional<int64_t> Session::globalInteger(const std::string &name) {
  return varyingGlobals.values.contains(name) ? std::nullopt : storedInteger(name); // the code is that of all ranks
}

std::optional<int64_t> Session::storedInteger(const std::string &name) {
  const ValueType *type = global(name); // a struct's only member has the struct's name
  auto it = type && type->kind == ValueType::Leaf ? globals.find(name) : globals.end();
  auto *tensor = it == globals.end() ? nullptr : std::get_if<rt::TensorRef>(&it->second);
  if (!tensor || (*tensor)->rank != 0)
    return std::nullopt;
  if ((*tensor)->dtype == DType::I64)
    return *static_cast<int64_t *>(rt::onHost(**tensor));
  return (*tensor)->dtype == DType::Bool ? std::optional<int64_t>(*static_cast<uint8_t *>(rt::onHost(**tensor)))
                                         : std::nullopt;
}

std::vector<std::string> Session::names() {
  std::vector<std::string> out;
  for (auto &[name, type] : globalTypes)
    out.push_back(name);
  for (auto &[name, decl] : defined.functions)
    out.push_back(name);
  for (auto &[name, decl] : defined.structures)
    out.push_back(name);
  return out;
}

std::vector<std::pair<std::string, std::string>> Session::variables() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (auto &[name, type] : globalTypes)
    if (!name.starts_with("$") && !isResult(name))
      out.emplace_back(name, type.str());
  return out;
}

std::vector<std::string> Session::functionNames() const {
  std::vector<std::string> out;
  for (auto &[name, decl] : defined.functions)
    out.push_back(name);
  return out;
}

rt::Value Session::getGlobal(const std::string &name) { return globals.at(name); }

void Session::setGlobal(const std::string &name, rt::Value value) {
  auto note = [&](std::map<std::string, std::optional<rt::Value>> &changes) {
    auto [change, isNew] = changes.try_emplace(name);
    if (auto it = globals.find(name); isNew && it != globals.end())
      change->second = it->second;
    return isNew;
  };
  bool isNew = journal && note(*journal);
  if (!attempts.empty()) {
    note(attempts.back().changes);
    if (isNew)
      attempts.back().journaled.insert(name);
  }
  globals[name] = std::move(value);
}

void Session::releaseGlobal(const std::string &name) {
  if (!attempts.empty() || (recording && !recording->values.contains(name) && !(journal && journal->contains(name))))
    return; // if this input fails, the value will be wanted again
  globals[name] = rt::TensorRef();
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Inputs, declarations and the tables that IR generation asks for.
#include "repl/Session.h"

#include "repl/SessionImpl.h"
#include "runtime/Guard.h"
#include "runtime/Io.h"
#include "runtime/Output.h"
#include "support/DeferredInitializers.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "ir/ToyDialect.h"
#include "runtime/Memory.h"

#include "llvm/Support/ErrorHandling.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <new>

using namespace mlir;

namespace toy {

Session::Session(SessionOptions sessionOptions)
    : options(sessionOptions), diagnostics(sources),
      engine({sessionOptions.optimization, sessionOptions.fuse, sessionOptions.recognize, sessionOptions.complexMatmul, sessionOptions.fastMath, sessionOptions.cache, sessionOptions.device, sessionOptions.unpack}) {
  static std::once_flag handled;
  std::call_once(handled, [] {
    llvm::install_fatal_error_handler([](void *, const char *reason, bool) { rt::abandon(reason); });
    // An exception, not a jump: tables that are being made for the first time give up their guards, and frames of ours what they own.
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { throw std::bad_alloc(); });
  });
}

Session::~Session() { forgetPrelude(sources); }

/// The context, made when it is first asked for, or before: then this waits for the other thread.
MLIRContext *Session::ir(bool prepares) {
  std::call_once(contextMade, [&] {
    runDeferredInitializers();
    context = newContext();
    if (prepares && options.jit != SessionOptions::Never)
      engine.prepare(context.get());
  });
  return context.get();
}

void Session::prepare() { ir(true); }

void Session::showDiagnostics() {
  rt::flushOutput();
  for (const Diagnostic &d : diagnostics.diagnostics()) {
    faulted |= d.id == DiagId::Internal || d.id == DiagId::Fault;
    errorsShown += infoOf(d.id).severity == Severity::Error;
    std::string text = options.json ? diagnostics.renderJson(d) + "\n" : diagnostics.render(d, options.color);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  diagnostics.clear();
}

static bool isDefinition(const ast::Stmt &s) { return s.kind == ast::NodeKind::Function || s.kind == ast::NodeKind::Struct; }
static bool isStatement(const ast::Stmt &s) { return !isDefinition(s) && s.kind != ast::NodeKind::Import; }

/// The name and place of a function or struct.
static std::pair<const std::string &, SourceRange> nameOf(const ast::Stmt &definition) {
  if (auto *f = ast::dynCast<ast::Function>(&definition))
    return {f->name, f->nameRange};
  auto &s = ast::cast<ast::Struct>(definition);
  return {s.name, s.nameRange};
}

void Session::define(const ast::Stmt &definition) {
  if (auto *f = ast::dynCast<ast::Function>(&definition)) {
    if (std::exchange(functions[f->name], f) == f)
      return;
    std::erase_if(instances, [&](auto &entry) { return entry.second.functions.count(f->name) > 0; });
  } else if (auto *s = ast::dynCast<ast::Struct>(&definition)) {
    if (std::exchange(structures[s->name], s) == s)
      return;
    instances.clear(); // their types may hold the old members
  }
  graph.forget();
}

static std::string canonicalPath(const ast::Import &item, const SourceManager &sources, std::string &path) {
  namespace fs = std::filesystem;
  fs::path from(sources.get(item.range.buffer).getName());
  path = (fs::path(item.path).is_absolute() ? fs::path(item.path) : from.parent_path() / item.path).string();
  return fs::weakly_canonical(path).string();
}

/// Reads and parses imported files, which are relative to the importing one, and theirs.
bool Session::readImports(const ast::Module &module) {
  for (const ast::StmtPtr &s : module.items) {
    auto *item = ast::dynCast<ast::Import>(s.get());
    if (!item)
      continue;
    std::string path, key = canonicalPath(*item, sources, path), text;
    if (importing.count(key)) {
      diagnostics.report(DiagId::ImportCycle, item->pathRange, {item->path});
      return false;
    }
    if (importedModules.count(key))
      continue;
    try {
      text = rt::readSource(path);
    } catch (rt::Error &e) {
      diagnostics.report(e.id, item->pathRange, e.args);
      return false;
    }
    ParseResult result = parse(lex(sources.add(path, std::move(text)), diagnostics), diagnostics);
    if (result.status != ParseStatus::Complete)
      return false;
    modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
    importedModules[key] = modules.back().get();
    importing.insert(key);
    bool ok = readImports(*importedModules[key]);
    importing.erase(key);
    if (!ok) {
      importedModules.erase(key);
      return false;
    }
  }
  return true;
}

/// A name that one text defines twice is worth a warning, one that two files define an error: which of them is meant would depend on the order of imports.
bool Session::checkNames(const ast::Module &module) {
  struct First {
    const ast::Module *module;
    SourceRange range;
  };
  std::map<std::string, First> all;
  std::set<const ast::Module *> seen;
  bool ok = true;
  auto visit = [&](auto &self, const ast::Module &m) -> void {
    if (!seen.insert(&m).second)
      return;
    for (const ast::StmtPtr &s : m.items) {
      if (auto *item = ast::dynCast<ast::Import>(s.get())) {
        std::string path;
        if (auto it = importedModules.find(canonicalPath(*item, sources, path)); it != importedModules.end())
          self(self, *it->second);
      }
      if (!isDefinition(*s))
        continue;
      auto [name, range] = nameOf(*s);
      auto [first, isNew] = all.try_emplace(name, First{&m, range});
      if (isNew)
        continue;
      bool inOneText = first->second.module == &m;
      ok &= inOneText;
      diagnostics.report(inOneText ? DiagId::DefinedTwice : DiagId::DefinedInTwoFiles, range, {name})
          .note(first->second.range, inOneText ? "until then this one is called" : "the other one is here");
    }
  };
  visit(visit, module);
  return ok;
}

void Session::defineUnknown(const ast::Module &module) {
  std::set<std::string> builtins;
  std::set<const ast::Module *> seen;
  auto visit = [&](auto &self, const ast::Module &m) -> void {
    if (!seen.insert(&m).second)
      return;
    for (const ast::StmtPtr &s : m.items) {
      if (auto *item = ast::dynCast<ast::Import>(s.get())) {
        std::string path, key = canonicalPath(*item, sources, path);
        if (auto it = importedModules.find(key); it != importedModules.end() && !imported.count(key))
          self(self, *it->second);
      }
      if (!isDefinition(*s))
        continue;
      if (builtins.empty())
        for (const BuiltinInfo &info : allBuiltins())
          builtins.insert(info.name);
      const std::string &name = nameOf(*s).first;
      if (!functions.count(name) && !structures.count(name) && !builtins.count(name))
        define(*s);
    }
  };
  visit(visit, module);
}

bool Session::declare(const ast::Module &module) {
  if (!readImports(module) || !checkNames(module))
    return false;
  defineUnknown(module);
  return true;
}

/// An imported file's definitions and statements take effect, once.
bool Session::import(const ast::Import &item) {
  std::string path, key = canonicalPath(item, sources, path);
  if (!imported.insert(key).second)
    return true;
  importing.insert(key);
  bool ok = executeAll(*importedModules.at(key));
  importing.erase(key);
  if (!ok) {
    imported.erase(key);
    importedModules.erase(key);
  }
  return ok;
}

/// Statements without control flow whose types do not depend on what running the one before gives.
bool Session::isSimple(const ast::Stmt &s, const sema::Summary &summary) {
  using ast::NodeKind;
  bool loads = false;
  for (const char *name : {"load", "read_binary"})
    loads |= summary.calls.count(name) && !function(name);
  return !loads && (s.kind == NodeKind::Var || s.kind == NodeKind::Assign || s.kind == NodeKind::ExprStmt || s.kind == NodeKind::Print);
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
      bool isNew = function(name) != s.get() && structure(name) != s.get();
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
  auto report = [&] {
    if (std::exchange(journal, nullptr))
      rollback(statementChanges);
    recording = nullptr;
    runningEvaluator = nullptr;
    for (const std::string &key : pendingInstances)
      instances.erase(key);
    pendingInstances.clear();
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
  if (!damaged && executed <= 5000)
    return;
  executed = 0;
  if (context)
    recycle();
  damaged = false;
}

/// A text, protected; what ends it takes back what it changed, and what it was about to compile.
Session::Outcome Session::run(std::string name, std::string text, ParseOptions parseOptions) {
  bool outermost = !recording && !journal && importing.empty();
  if (!outermost)
    return runText(std::move(name), std::move(text), parseOptions);
  recycleWhenDue();
  Change change;
  if (options.prompt) {
    change = {{}, globalTypes, functions, structures};
    recording = &change;
  }
  Outcome outcome = Failed;
  bool before = std::exchange(faulted, false);
  protect(name, [&] { outcome = runText(name, text, parseOptions); });
  recording = nullptr;
  if (faulted)
    writeReproducer(name, text);
  faulted |= before;
  if (outcome == Failed && options.prompt)
    takeBack(change);
  else if (outcome == Done && options.prompt) {
    past.push_back(std::move(change));
    if (past.size() > 16)
      past.erase(past.begin());
  }
  return outcome;
}

Session::Outcome Session::runText(std::string name, std::string text, ParseOptions parseOptions) {
  diagnostics.clear();
  if (text.size() >= (1ull << 31)) {
    diagnostics.report(DiagId::SourceTooLarge, {}, {std::to_string(text.size())});
    showDiagnostics();
    return Failed;
  }
  ParseResult result = [&] {
    PhaseTimer timer(phaseMs["parse"]);
    return parse(lex(sources.add(std::move(name), std::move(text)), diagnostics), diagnostics, parseOptions);
  }();
  if (result.status == ParseStatus::Incomplete) {
    diagnostics.clear();
    return Incomplete;
  }
  bool ok = result.status == ParseStatus::Complete;
  if (ok) {
    modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
    const ast::Module &module = *modules.back();
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
  const ast::Function *main = function("main");
  bool isScript = llvm::any_of(module.items, [](const ast::StmtPtr &s) { return isStatement(*s); });
  if (isScript || !main || !main->parameters.empty() || llvm::none_of(module.items, [&](const ast::StmtPtr &s) { return s.get() == main; }))
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

OwningOpRef<ModuleOp> Session::lower(std::string name, std::string text, ParseOptions parseOptions) {
  ParseResult result = parse(lex(sources.add(std::move(name), std::move(text)), diagnostics), diagnostics, parseOptions);
  if (result.status != ParseStatus::Complete)
    return {};
  silence(result.module);
  modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
  const ast::Module &module = *modules.back();
  if (!declare(module))
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
  return generateOnly(*out, items, top) ? std::move(out) : OwningOpRef<ModuleOp>();
}

const TypeDesc *Session::global(const std::string &name) {
  auto it = globalTypes.find(name);
  return it == globalTypes.end() ? nullptr : &it->second;
}

std::optional<int64_t> Session::globalInteger(const std::string &name) {
  const TypeDesc *type = global(name); // a struct's only member has the struct's name
  auto it = type && type->kind == TypeDesc::Leaf ? globals.find(name) : globals.end();
  auto *tensor = it == globals.end() ? nullptr : std::get_if<rt::TensorRef>(&it->second);
  if (!tensor || (*tensor)->rank != 0)
    return std::nullopt;
  if ((*tensor)->dtype == DType::I64)
    return *static_cast<int64_t *>(rt::onHost(**tensor));
  return (*tensor)->dtype == DType::Bool ? std::optional<int64_t>(*static_cast<uint8_t *>(rt::onHost(**tensor))) : std::nullopt;
}

const ast::Function *Session::function(const std::string &name) {
  auto it = functions.find(name);
  return it == functions.end() ? nullptr : it->second;
}

const ast::Struct *Session::structure(const std::string &name) {
  auto it = structures.find(name);
  return it == structures.end() ? nullptr : it->second;
}

const Instance *Session::findInstance(const std::string &key) {
  auto it = instances.find(key);
  return it == instances.end() ? nullptr : &it->second;
}

void Session::addInstance(const std::string &key, const Instance &instance) {
  instances[key] = instance;
  pendingInstances.push_back(key);
}

void Session::forgetInstances(size_t count) {
  for (const std::string &key : llvm::ArrayRef(pendingInstances).drop_front(count))
    instances.erase(key);
  pendingInstances.resize(count);
}

std::string Session::newSymbol(const std::string &base) { return base + "." + std::to_string(counter++); }

std::vector<std::string> Session::names() {
  std::vector<std::string> out;
  for (auto &[name, type] : globalTypes)
    out.push_back(name);
  for (auto &[name, decl] : functions)
    out.push_back(name);
  for (auto &[name, decl] : structures)
    out.push_back(name);
  return out;
}

std::vector<std::pair<std::string, std::string>> Session::variables() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (auto &[name, type] : globalTypes)
    if (!name.starts_with("$"))
      out.emplace_back(name, type.str());
  return out;
}

std::vector<std::string> Session::functionNames() const {
  std::vector<std::string> out;
  for (auto &[name, decl] : functions)
    out.push_back(name);
  return out;
}

rt::Value Session::getGlobal(const std::string &name) { return globals.at(name); }

void Session::setGlobal(const std::string &name, rt::Value value) {
  if (journal && !journal->count(name)) {
    auto it = globals.find(name);
    (*journal)[name] = it == globals.end() ? std::nullopt : std::optional(it->second);
  }
  globals[name] = std::move(value);
}

void Session::releaseGlobal(const std::string &name) {
  if (recording && !recording->values.contains(name) && !(journal && journal->contains(name)))
    return; // if this input fails, the value will be wanted again
  globals[name] = rt::TensorRef();
}

} // namespace toy

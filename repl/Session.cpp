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

using namespace mlir;

namespace toy {

Session::Session(SessionOptions sessionOptions)
    : options(sessionOptions), diagnostics(sources),
      engine({sessionOptions.optimization, sessionOptions.fuse, sessionOptions.recognize, sessionOptions.complexMatmul, sessionOptions.fastMath, sessionOptions.cache, sessionOptions.device, sessionOptions.unpack}) {
  static std::once_flag handled;
  std::call_once(handled, [] {
    llvm::install_fatal_error_handler([](void *, const char *reason, bool) { rt::abandon(reason); });
    llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { rt::abandon("out of memory"); });
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

/// Enters functions, structs and imports; statements are left for later.
bool Session::declare(const ast::Module &module, bool *hasStatements) {
  for (const ast::StmtPtr &item : module.items) {
    if (auto *f = ast::dynCast<ast::Function>(item.get())) {
      functions[f->name] = f;
      std::erase_if(instances, [&](auto &entry) { return entry.second.functions.count(f->name) > 0; });
    } else if (auto *s = ast::dynCast<ast::Struct>(item.get())) {
      structures[s->name] = s;
      instances.clear(); // their types may hold the old members
    } else if (auto *i = ast::dynCast<ast::Import>(item.get())) {
      if (!import(*i))
        return false;
    } else if (hasStatements)
      *hasStatements = true;
  }
  return true;
}

/// A file's declarations, once; its path is relative to the importing file.
bool Session::import(const ast::Import &item) {
  namespace fs = std::filesystem;
  fs::path from(sources.get(item.range.buffer).getName());
  fs::path path = fs::path(item.path).is_absolute() ? fs::path(item.path) : from.parent_path() / item.path;
  std::string key = fs::weakly_canonical(path).string();
  if (importing.count(key)) {
    diagnostics.report(DiagId::ImportCycle, item.pathRange, {item.path});
    return false;
  }
  if (!imported.insert(key).second)
    return true;
  std::string text;
  try {
    text = rt::readSource(path.string());
  } catch (rt::Error &e) {
    diagnostics.report(e.id, item.pathRange, e.args);
    imported.erase(key);
    return false;
  }
  importing.insert(key);
  ParseResult result = parse(lex(sources.add(path.string(), std::move(text)), diagnostics), diagnostics);
  bool ok = result.status == ParseStatus::Complete;
  modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
  const ast::Module &module = *modules.back();
  ok = ok && declare(module, nullptr);
  std::vector<const ast::Stmt *> statements;
  for (const ast::StmtPtr &s : module.items)
    if (ok && s->kind != ast::NodeKind::Function && s->kind != ast::NodeKind::Struct && s->kind != ast::NodeKind::Import)
      ok = execute({s.get()});
  importing.erase(key);
  if (!ok)
    imported.erase(key);
  return ok;
}

static bool isStatement(const ast::Stmt &s) {
  return s.kind != ast::NodeKind::Function && s.kind != ast::NodeKind::Struct && s.kind != ast::NodeKind::Import;
}

/// Statements without control flow whose types do not depend on what running the one before gives.
static bool isSimple(const ast::Stmt &s, std::string_view text) {
  using ast::NodeKind;
  return (s.kind == NodeKind::Var || s.kind == NodeKind::Assign || s.kind == NodeKind::ExprStmt || s.kind == NodeKind::Print) &&
         text.find("load") == text.npos && text.find("read_binary") == text.npos;
}

/// Whether statements could hold both parts of a complex product.
static bool mayHoldProducts(std::string_view text) {
  size_t products = 0, sums = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    products += text[i] == '*' || text[i] == '@';
    sums += text[i] == '+' || text[i] == '-';
  }
  return products > 1 && sums > 1;
}

bool Session::executeJoined(ArrayRef<const ast::Stmt *> statements) {
  auto text = [&](const ast::Stmt &first, const ast::Stmt &last) { return sources.text(first.range.to(last.range)); };
  if (statements.size() > 1 && mayHoldProducts(text(*statements.front(), *statements.back()))) {
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

bool Session::executeAll(const ast::Module &module) {
  constexpr size_t most = 64;
  std::vector<const ast::Stmt *> joined;
  auto flush = [&] {
    std::vector<const ast::Stmt *> now;
    std::swap(now, joined);
    return now.empty() || executeJoined(now);
  };
  for (const ast::StmtPtr &s : module.items) {
    if (!isStatement(*s))
      continue;
    if (options.join && isSimple(*s, sources.text(s->range))) {
      joined.push_back(s.get());
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
  bool hasStatements = false;
  if (ok) {
    modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
    const ast::Module &module = *modules.back();
    ok = declare(module, &hasStatements) && checkDefinitions(module);
    ok = ok && executeAll(module);
    if (ok && !hasStatements && !parseOptions.prompt)
      if (const ast::Function *main = function("main"); main && main->parameters.empty() && main->range.buffer == module.items.back()->range.buffer) {
        auto call = std::make_unique<ast::Call>(main->nameRange);
        call->callee = "main";
        call->calleeRange = main->nameRange;
        auto statement = std::make_unique<ast::ExprStmt>(main->nameRange);
        statement->value = std::move(call);
        modules.push_back(std::make_unique<ast::Module>());
        modules.back()->items.push_back(std::move(statement));
        ok = execute({modules.back()->items.back().get()});
      }
  }
  showDiagnostics();
  return ok ? Done : Failed;
}

OwningOpRef<ModuleOp> Session::lower(std::string name, std::string text) {
  ParseResult result = parse(lex(sources.add(std::move(name), std::move(text)), diagnostics), diagnostics);
  if (result.status != ParseStatus::Complete)
    return {};
  modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
  if (!declare(*modules.back(), nullptr))
    return {};
  std::vector<const ast::Stmt *> statements;
  for (const ast::StmtPtr &s : modules.back()->items)
    if (isStatement(*s))
      statements.push_back(s.get());
  if (const ast::Function *main = function("main"); statements.empty() && main && main->parameters.empty()) {
    auto call = std::make_unique<ast::Call>(main->nameRange);
    call->callee = "main";
    auto statement = std::make_unique<ast::ExprStmt>(main->nameRange);
    statement->value = std::move(call);
    modules.push_back(std::make_unique<ast::Module>());
    modules.back()->items.push_back(std::move(statement));
    statements.push_back(modules.back()->items.back().get());
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(ir()));
  TopLevel top;
  return generateOnly(*module, statements, top) ? std::move(module) : OwningOpRef<ModuleOp>();
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
  if (it == instances.end())
    return nullptr;
  for (auto &[name, type] : it->second.globals)
    if (const TypeDesc *now = global(name); !now || now->str() != type)
      return nullptr;
  return &it->second;
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

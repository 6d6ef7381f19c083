// SPDX-License-Identifier: Apache-2.0
/// \file
/// Running statements: generation, the choice between evaluation and compilation, errors, and undoing what a failed statement did.
#include "ir/ToyDialect.h"
#include "passes/Pipelines.h"
#include "repl/SessionImpl.h"
#include "runtime/Device.h"
#include "runtime/Error.h"
#include "runtime/Guard.h"
#include "runtime/Io.h"
#include "runtime/Memory.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

/// Concrete sizes from the values, in place of what was known statically.
static TypeDesc concrete(TypeDesc type, llvm::function_ref<rt::Value()> nextLeaf) {
  for (TypeDesc &element : type.elements)
    element = concrete(element, nextLeaf);
  if (type.kind != TypeDesc::Leaf)
    return type;
  rt::Value leaf = nextLeaf();
  if (auto *t = std::get_if<rt::TensorRef>(&leaf)) {
    SmallVector<Dim> dims;
    for (int64_t n : (*t)->shape())
      dims.push_back(Dim::number(type.leaf.getContext(), n));
    type.leaf = TensorType::get(type.leaf.getContext(), (*t)->dtype, dims);
  }
  return type;
}

static size_t leafCount(const TypeDesc &type) {
  SmallVector<Type> leaves;
  type.flatten(leaves);
  return leaves.size();
}

void Session::rollback(std::map<std::string, std::optional<rt::Value>> &changes) {
  for (auto &[name, value] : changes)
    if (value)
      globals[name] = *value;
    else
      globals.erase(name);
}

std::vector<const rt::Value *> Session::liveValues() const {
  std::vector<const rt::Value *> out;
  for (auto &[name, value] : globals)
    out.push_back(&value);
  return out;
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
  return {id, buffer.offsetOf(range.getStartLine(), range.getStartColumn()), buffer.offsetOf(range.getEndLine(), range.getEndColumn())};
}

/// The innermost place in the user's own text, and the calls that led there.
void Session::reportRuntimeError(const rt::Error &error, ArrayRef<Location> chain) {
  std::vector<SourceRange> ranges;
  for (Location l : chain) {
    while (auto call = dyn_cast<CallSiteLoc>(l)) {
      ranges.push_back(rangeOf(call.getCallee()));
      l = call.getCaller();
    }
    ranges.push_back(rangeOf(l));
  }
  std::erase_if(ranges, [&](SourceRange r) { return !r.valid() || sources.get(r.buffer).getName() == "<library>"; });
  Diagnostic &d = diagnostics.report(error.id, ranges.empty() ? SourceRange() : ranges[0], error.args);
  if (error.id == DiagId::DeviceFailed)
    for (int64_t site : rt::unfinishedOnDevice())
      if (auto place = engine.placeOf(site))
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

/// Small straight-line statements are evaluated; loops and large tensors are compiled.
bool Session::worthCompiling(ModuleOp module, StringRef symbol) {
  if (options.jit != SessionOptions::Auto)
    return options.jit == SessionOptions::Always;
  auto top = module.lookupSymbol<func::FuncOp>(symbol);
  bool heavy = false;
  SmallPtrSet<Block *, 16> seen;
  for (Block &block : top.getBody()) {
    seen.insert(&block);
    for (Block *next : block.getSuccessors())
      heavy |= seen.contains(next); // a back edge: a loop
  }
  double work = 0;
  int64_t operations = 0;
  auto count = [&](auto &self, Operation *op) -> void {
    if (auto call = dyn_cast<func::CallOp>(op))
      if (func::FuncOp callee = bodyOf(call.getCallee()); callee && callee->hasAttr("toy.prelude"))
        callee.walk([&](Operation *inner) { self(self, inner); });
    ++operations;
    bool reduces = op->hasTrait<OpTrait::Reduction>(); // reads all of its operand; the others write all of their result
    if (op->hasTrait<OpTrait::Elementwise>() || op->hasTrait<OpTrait::IndexMap>() || reduces)
      for (Type type : reduces ? TypeRange(op->getOperandTypes()) : TypeRange(op->getResultTypes()))
        if (auto tensor = dyn_cast<TensorType>(type))
          work += static_cast<double>(tensor.getStaticCount().value_or(1 << 20));
  };
  top.walk([&](Operation *op) { count(count, op); });
  if (!heavy && operations > 4096) // a long literal, run once: compiling it costs more
    return false;
  return heavy || work > 8192;
}

/// The body of a function's instance, or null.
func::FuncOp Session::bodyOf(StringRef symbol) {
  auto it = symbolModules.find(symbol.str());
  return it == symbolModules.end() ? func::FuncOp() : it->second->module->lookupSymbol<func::FuncOp>(symbol);
}

/// IR to look at: its instances are not kept. False after errors.
bool Session::generateOnly(ModuleOp module, ArrayRef<const ast::Stmt *> statements, TopLevel &top) {
  std::vector<std::string> outer;
  std::swap(outer, pendingInstances);
  auto before = specializationSets;
  bool ok = generate(module, statements, *this, diagnostics, top);
  specializationSets = std::move(before);
  for (const std::string &key : pendingInstances)
    instances.erase(key);
  std::swap(outer, pendingInstances);
  return ok;
}

bool Session::padsToBuckets() { return options.device && rt::deviceIsWanted(); }

void Session::formIsUsedAgain(Specialization &form) {
  if (options.jit == SessionOptions::Never || form.generic)
    return;
  std::vector<SizeFact> facts;
  for (const SizeGuard &guard : form.guards)
    facts.push_back(guard.fact);
  form.native = engine.compileGuards(form.fixed, facts, form.places());
}

/// What declared sizes must imply is said where a function is defined.
bool Session::checkDefinitions(const ast::Module &module) {
  bool ok = true;
  for (const ast::StmtPtr &item : module.items)
    if (auto *f = ast::dynCast<ast::Function>(item.get())) {
      OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(ir()));
      std::vector<std::string> outer;
      std::swap(outer, pendingInstances);
      ok &= checkDefinition(*scratch, *f, *this, diagnostics);
      for (const std::string &key : pendingInstances)
        instances.erase(key);
      std::swap(outer, pendingInstances);
    }
  return ok;
}

/// Everything of a module but the function `except`.
bool Session::compileModule(CompiledModule &owner, const std::string &except) {
  PhaseTimer timer(phaseMs["compile"]);
  std::string error;
  std::vector<CompiledFunction> compiled;
  bool fromCache = false;
  if (!engine.compile(*owner.module, except, [&](StringRef symbol) { return bodyOf(symbol); }, compiled, fromCache, error)) {
    bool isInterrupted = rt::interruptFlag().exchange(false);
    isInterrupted ? diagnostics.report(DiagId::Interrupted, {}) : diagnostics.report(DiagId::Internal, {}, {error});
    return false;
  }
  owner.compiled = true;
  cacheHits += fromCache;
  for (const CompiledFunction &f : compiled)
    compiles.push_back({f.name, f.reason + (fromCache ? "; its code was kept from before" : ""), timer.milliseconds() / compiled.size(), f.dynamic});
  return true;
}

/// Functions are compiled when an evaluated statement calls the first one of their module; those of the library are evaluated with the statement.
bool Session::isCompiled(const std::string &symbol) {
  if (engine.has(symbol) || options.jit == SessionOptions::Never)
    return engine.has(symbol);
  func::FuncOp callee = bodyOf(symbol);
  if (!callee || callee->hasAttr("toy.prelude") || symbolModules[symbol]->compiled)
    return false;
  PhaseTimer timer(phaseMs["run"]);
  bool ok = compileModule(*symbolModules[symbol], symbolModules[symbol]->top);
  phaseMs["run"] -= 2 * timer.milliseconds(); // once for this timer, once for the statement's
  return ok && engine.has(symbol);
}

std::vector<rt::Value> Session::callExternal(const std::string &symbol, std::vector<rt::Value> arguments) {
  auto it = symbolModules.find(symbol);
  assert(it != symbolModules.end() && "an instance has a module");
  CompiledModule &owner = *it->second;
  if (!isCompiled(symbol)) {
    Evaluator evaluator(*owner.module, *this, {options.naiveMatmul, options.complexMatmul});
    try {
      return evaluator.call(owner.module->lookupSymbol<func::FuncOp>(symbol), std::move(arguments));
    } catch (...) {
      if (runningEvaluator)
        llvm::append_range(runningEvaluator->callChain, evaluator.callChain);
      throw;
    }
  }
  return engine.call(symbol, owner.module->lookupSymbol<func::FuncOp>(symbol), std::move(arguments), *this);
}

/// What a statement changed belongs to the input it stands in.
void Session::remember(std::map<std::string, std::optional<rt::Value>> &changes) {
  if (recording)
    for (auto &[name, value] : changes)
      recording->values.try_emplace(name, std::move(value));
}

bool Session::runTop(std::shared_ptr<CompiledModule> owner, const TopLevel &top, bool wait) {
  std::map<std::string, std::optional<rt::Value>> &changes = statementChanges;
  changes.clear();
  journal = &changes;
  llvm::scope_exit finish([&] { journal = nullptr; });
  rt::ObjectMark mark = rt::markObjects(options.prompt && options.jit != SessionOptions::Never); // a script ends with its first error
  engine.takeFailureChain(); // of an error that nobody asked about
  auto function = owner->module->lookupSymbol<func::FuncOp>(top.symbol);
  PhaseTimer timer(phaseMs["run"]);
  bool compiled = owner->compiled && engine.has(top.symbol);
  std::vector<Location> chain;
  auto succeed = [&] {
    wait ? rt::waitForDevice() : rt::flushDevice("the statement ends");
    remember(changes);
    return true;
  };
  auto undo = [&](const rt::Error &error) {
    rollback(changes);
    changes.clear();
    std::vector<Location> inCode = engine.takeFailureChain();
    chain.insert(chain.begin(), inCode.begin(), inCode.end());
    reportRuntimeError(error, chain);
    return false;
  };
  try {
    if (compiled) {
      engine.call(top.symbol, function, {}, *this);
      return succeed();
    }
    Evaluator evaluator(*owner->module, *this, {options.naiveMatmul, options.complexMatmul});
    runningEvaluator = &evaluator;
    llvm::scope_exit done([&] {
      runningEvaluator = nullptr;
      chain = evaluator.callChain;
    });
    evaluator.call(function, {});
    return succeed();
  } catch (...) {
    bool failed = undo(rt::currentError());
    std::vector<const rt::Value *> keep = liveValues();
    if (options.jit != SessionOptions::Never)
      rt::releaseSince(mark, keep);
    return failed;
  }
}

/// Whether a function holds values whose sizes are not known before it runs.
static bool decidesSizesLate(ModuleOp module, StringRef symbol) {
  auto isLate = [](Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  return module.lookupSymbol<func::FuncOp>(symbol).walk([&](Operation *op) {
    return llvm::any_of(op->getResultTypes(), isLate) ? WalkResult::interrupt() : WalkResult::advance();
  }).wasInterrupted();
}

bool Session::isInterrupted() { return rt::interruptFlag().load(std::memory_order_relaxed); }

/// Generates, checks and, where it is worth it (or always), compiles statements; null after errors.
std::shared_ptr<Session::CompiledModule> Session::prepare(ArrayRef<const ast::Stmt *> statements, TopLevel &top, bool always, bool *generated) {
  auto owner = std::make_shared<CompiledModule>();
  owner->module = ModuleOp::create(UnknownLoc::get(ir()));
  std::vector<std::string> outerPending;
  std::swap(outerPending, pendingInstances);
  llvm::scope_exit restore([&] { std::swap(outerPending, pendingInstances); });
  {
    PhaseTimer timer(phaseMs["irgen"]);
    if (!generate(*owner->module, statements, *this, diagnostics, top)) {
      rt::interruptFlag() = false;
      for (const std::string &key : pendingInstances)
        instances.erase(key);
      if (generated)
        *generated = false;
      return nullptr;
    }
  }
  if (generated && statements.size() > 1 && decidesSizesLate(*owner->module, top.symbol)) { // one after the other, their sizes are known
    for (const std::string &key : pendingInstances)
      instances.erase(key);
    *generated = false;
    return nullptr;
  }
  if (failed(mlir::verify(*owner->module))) {
    diagnostics.report(DiagId::Internal, statements[0]->range, {"the IR of this statement does not verify"});
    return nullptr;
  }
  if (pendingInstances.empty() && !top.symbol.empty())
    ++cacheHits;
  for (const std::string &key : pendingInstances)
    symbolModules[instances[key].symbol] = owner;
  owner->top = top.symbol;
  bool compileTop = options.jit != SessionOptions::Never && (always || worthCompiling(*owner->module, top.symbol));
  if (compileTop && !compileModule(*owner, "")) {
    for (const std::string &key : pendingInstances)
      instances.erase(key);
    return nullptr;
  }
  if (!compileTop)
    engine.recognize(*owner->module, top.symbol, [&](StringRef symbol) { return bodyOf(symbol); });
  return owner;
}

bool Session::execute(ArrayRef<const ast::Stmt *> statements, bool *generated) {
  ++executed;
  TopLevel top;
  std::shared_ptr<CompiledModule> owner = prepare(statements, top, false, generated);
  if (!owner)
    return false;
  if (options.remarks)
    showRemarks();
  bool ok = runTop(owner, top);
  if (options.remarks) // of functions that were compiled when they were called
    showRemarks();
  if (ok)
    for (auto &[name, type] : top.stored) {
      size_t n = leafCount(type), i = 0;
      globalTypes[name] = concrete(type, [&] { return globals.at(n == 1 ? name : name + "." + std::to_string(i++)); });
    }
  return ok;
}

/// A string, now: `$text = e;` as a statement of its own.
bool Session::evaluateText(const ast::Expr &e, std::string &text) {
  auto statement = std::make_unique<ast::Var>(e.range);
  std::string name = "$text" + std::to_string(counter++);
  statement->names = {name};
  statement->nameRanges = {e.range};
  statement->value.reset(const_cast<ast::Expr *>(&e)); // borrowed, given back below
  bool ok = execute({statement.get()});
  statement->value.release();
  if (!ok)
    return false;
  auto *found = std::get_if<rt::StrRef>(&globals.at(name));
  if (found)
    text = (*found)->text;
  else
    diagnostics.report(DiagId::ArgumentKind, e.range, {"load", "the path", "a string", globalTypes[name].str()});
  globals.erase(name);
  globalTypes.erase(name);
  return found;
}

/// One array, or a struct of all arrays by their names.
std::string Session::loadNow(const ast::Expr &path, const ast::Expr *member, TypeDesc &type) {
  std::string file, wanted, loaded = "$load" + std::to_string(counter++);
  if (!evaluateText(path, file) || (member && !evaluateText(*member, wanted)))
    return "";
  auto leafOf = [&](const rt::Tensor &tensor) {
    TypeDesc leaf;
    leaf.kind = TypeDesc::Leaf;
    SmallVector<Dim> dims;
    for (int64_t n : tensor.shape())
      dims.push_back(Dim::number(ir(), n));
    leaf.leaf = TensorType::get(ir(), tensor.dtype, dims);
    return leaf;
  };
  try {
    std::vector<rt::NamedTensor> all;
    if (wanted.empty())
      all = rt::loadAll(file);
    auto isName = [](const rt::NamedTensor &entry) { return !entry.name.empty() && !std::isdigit(entry.name[0]) && llvm::all_of(entry.name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }); };
    if (all.size() < 2 || !llvm::all_of(all, isName)) {
      rt::TensorRef tensor = rt::load(file, wanted);
      type = leafOf(*tensor);
      globals[loaded] = tensor;
    } else {
      type.kind = TypeDesc::Struct;
      type.structName = "file";
      for (auto [i, entry] : llvm::enumerate(all)) {
        type.names.push_back(entry.name);
        type.elements.push_back(leafOf(*entry.tensor));
        globals[loaded + "." + std::to_string(i)] = entry.tensor;
      }
    }
    globalTypes[loaded] = type;
    return loaded;
  } catch (rt::Error &error) {
    diagnostics.report(error.id, path.range, error.args);
    return "";
  }
}

} // namespace toy

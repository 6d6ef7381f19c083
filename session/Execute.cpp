// SPDX-License-Identifier: Apache-2.0
/// \file
/// Running statements: generation, and the choice between evaluation and compilation.
#include "ir/ToyDialect.h"
#include "passes/CountedLoops.h"
#include "passes/HiddenPrints.h"
#include "passes/VaryingCollectives.h"
#include "runtime/Device.h"
#include "runtime/Error.h"
#include "runtime/Guard.h"
#include "runtime/Memory.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "runtime/Progress.h"
#include "runtime/Watch.h"
#include "runtime/ranks/Ranks.h"
#include "session/SessionImpl.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"
#include <fmt/format.h>

#include <optional>

using namespace mlir;

namespace toy {

/// Concrete sizes from the values, in place of what was known statically.
ValueType concrete(ValueType type, llvm::function_ref<rt::Value()> nextLeaf) {
  for (ValueType &element : type.elements)
    element = concrete(element, nextLeaf);
  if (type.kind != ValueType::Leaf)
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

static size_t leafCount(const ValueType &type) {
  SmallVector<Type> leaves;
  type.flatten(leaves);
  return leaves.size();
}

/// The body of a function's instance, or null.
func::FuncOp Session::bodyOf(StringRef symbol) {
  auto it = symbolModules.find(symbol.str());
  return it == symbolModules.end() ? func::FuncOp() : it->second->module->lookupSymbol<func::FuncOp>(symbol);
}

/// IR to look at: its instances are not kept. False after errors.
bool Session::generateOnly(ModuleOp module, ArrayRef<const ast::Stmt *> statements, TopLevel &top) {
  InstanceTable::Unit unit(instanceTable);
  auto before = instanceTable.specializations;
  bool ok = generate(module, statements, *this, diagnostics, top);
  instanceTable.specializations = std::move(before);
  return ok;
}

bool Session::usesDevice() { return options.compile.device && rt::deviceIsWanted(); }

void Session::isUsedAgain(Specialization &specialization) {
  if (options.compile.jit == JitMode::Never || specialization.generic)
    return;
  std::vector<SizeFact> facts;
  for (const SizeGuard &guard : specialization.guards)
    facts.push_back(guard.fact);
  specialization.native = compiler.engine.compileGuards(specialization.fixed, facts, specialization.places());
}

/// What declared sizes must imply is said where a function is defined; its first call finds the instance that this has
/// made.
bool Session::checkDefinitions(const ast::Module &module) {
  PhaseTimes::Phase timer(compiler.times, "generate");
  bool ok = true;
  for (const ast::StmtPtr &item : module.items)
    if (auto *f = ast::dynCast<ast::Function>(item.get())) {
      auto owner = std::make_shared<CompiledModule>();
      owner->module = ModuleOp::create(UnknownLoc::get(ir()));
      InstanceTable::Unit added(instanceTable);
      DefinitionCheck check = checkDefinition(*owner->module, *f, *this, diagnostics);
      ok &= check != DefinitionCheck::Wrong;
      if (check != DefinitionCheck::Generated)
        continue;
      own(owner, added);
      added.keep();
    }
  return ok;
}

/// Says where the instances of a unit are, and the blocks whose errors are caught.
void Session::own(std::shared_ptr<CompiledModule> owner, const InstanceTable::Unit &added) {
  for (auto function : owner->module->getOps<func::FuncOp>())
    if (function->hasAttr(triedCall) && !function.isExternal())
      symbolModules[function.getSymName().str()] = owner;
  for (const std::string &key : added.keys())
    symbolModules[instanceTable.find(key)->symbol] = owner;
}

/// Everything of a module but the function `evaluated`.
bool Session::compileModule(CompiledModule &owner, const std::string &evaluated) {
  std::optional<Profiler::Running> unwatched;
  if (options.compile.profile)
    unwatched.emplace(false);
  auto begin = PhaseTimes::Clock::now();
  CompiledUnit unit;
  if (!compiler.compile({*owner.module, evaluated, [&](StringRef symbol) { return bodyOf(symbol); }}, unit)) {
    bool isInterrupted = rt::interruptFlag().exchange(false);
    isInterrupted ? diagnostics.report(DiagId::Interrupted, {})
                  : diagnostics.report(DiagId::Internal, {}, {unit.error});
    return false;
  }
  owner.compiled = true;
  cacheHits += unit.fromCache;
  double ms = std::chrono::duration<double, std::milli>(PhaseTimes::Clock::now() - begin).count();
  for (const CompiledFunction &f : unit.functions)
    compiles.push_back({f.name, f.reason + (unit.fromCache ? "; its code was kept from before" : ""),
                        ms / unit.functions.size(), f.dynamic});
  return true;
}

/// A module with one function, and declarations of what it calls.
static OwningOpRef<ModuleOp> moduleWith(func::FuncOp function, llvm::function_ref<func::FuncOp(StringRef)> bodyOf) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  OpBuilder b(module->getBodyRegion());
  auto copy = cast<func::FuncOp>(b.clone(*function));
  copy.setPublic();
  copy.walk([&](func::CallOp call) {
    if (!module->lookupSymbol(call.getCallee()))
      func::FuncOp::create(b, call.getLoc(), call.getCallee(), bodyOf(call.getCallee()).getFunctionType()).setPrivate();
  });
  return module;
}

/// Functions are compiled when an evaluated statement calls the first one of their module; those of the library are
/// evaluated with the statement. One whose calls were all inlined there has no code yet: it is compiled by itself.
bool Session::isCompiled(const std::string &symbol) {
  if (compiler.engine.has(symbol) || options.compile.jit == JitMode::Never)
    return compiler.engine.has(symbol);
  func::FuncOp callee = bodyOf(symbol);
  if (!callee || callee->hasAttr("toy.prelude") || callee->hasAttr(triedCall))
    return false;
  CompiledModule &owner = *symbolModules[symbol];
  CompiledModule alone;
  if (owner.compiled)
    alone.module = moduleWith(callee, [&](StringRef called) { return bodyOf(called); });
  return (owner.compiled ? compileModule(alone, "") : compileModule(owner, owner.top)) && compiler.engine.has(symbol);
}

std::vector<rt::Value> Session::callExternal(const std::string &symbol, std::vector<rt::Value> arguments) {
  auto it = symbolModules.find(symbol);
  assert(it != symbolModules.end() && "an instance has a module");
  CompiledModule &owner = *it->second;
  if (!isCompiled(symbol)) {
    Evaluator evaluator(*owner.module, *this, options.compile);
    try {
      return evaluator.call(owner.module->lookupSymbol<func::FuncOp>(symbol), std::move(arguments));
    } catch (...) {
      if (runningEvaluator)
        llvm::append_range(runningEvaluator->callChain, evaluator.callChain);
      throw;
    }
  }
  return compiler.engine.call(symbol, std::move(arguments), *this);
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
  rt::Watch watch(options.prompt && options.compile.jit != JitMode::Never); // a script ends with its first error
  compiler.engine.takeFailureChain();                                       // of an error that nobody asked about
  auto function = owner->module->lookupSymbol<func::FuncOp>(top.symbol);
  PhaseTimes::Phase timer(compiler.times, "run");
  const rt::Activity activity(rt::Activity::Turns);
  bool compiled = owner->compiled && compiler.engine.has(top.symbol);
  std::vector<Location> chain;
  auto succeed = [&] {
    wait ? rt::waitForDevice() : rt::flushDevice("the statement ends");
    remember(changes);
    return true;
  };
  auto undo = [&](const rt::Error &error) {
    std::vector<Location> inCode = compiler.engine.takeFailureChain();
    chain.insert(chain.begin(), inCode.begin(), inCode.end());
    reportRuntimeError(error, chain);
    if (debugging && !stopped && error.id != DiagId::Interrupted && error.id != DiagId::Exited) {
      showDiagnostics();
      inspectFailure(chain);
    }
    rollback(changes);
    changes.clear();
    return false;
  };
  try {
    if (compiled) {
      compiler.engine.call(top.symbol, {}, *this);
      return succeed();
    }
    Evaluator evaluator(*owner->module, *this, options.compile);
    runningEvaluator = &evaluator;
    llvm::scope_exit done([&] {
      runningEvaluator = nullptr;
      chain = evaluator.callChain;
    });
    evaluator.call(function, {});
    return succeed();
  } catch (...) {
    bool failed = undo(rt::currentError());
    if (options.compile.jit != JitMode::Never)
      watch.giveBack(heldObjects());
    return failed;
  }
}

/// The evaluator has just counted: of a loop whose header this is, a turn is over.
void Session::tellTurns(Block *block, llvm::function_ref<std::optional<int64_t>(Value)> integerOf) {
  auto function = cast<func::FuncOp>(block->getParentOp());
  if (!isOfTopLevel(function))
    return;
  int64_t turns[4] = {};
  unsigned n = 0;
  for (const CountedLoop &loop : countedLoopsAround(FunctionLoops(function), block)) {
    auto done = integerOf(loop.counter), total = integerOf(loop.bound);
    if (!done || !total || n == 4)
      break;
    turns[n++] = *done;
    turns[n++] = *total;
  }
  rt::noteTurn(turns[0], turns[1], turns[2], turns[3]);
}

/// Whether a function holds values whose sizes are not known before it runs.
static bool decidesSizesLate(ModuleOp module, StringRef symbol) {
  auto isLate = [](Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  return module.lookupSymbol<func::FuncOp>(symbol)
      .walk([&](Operation *op) {
        return llvm::any_of(op->getResultTypes(), isLate) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool Session::isInterrupted() { return rt::interruptFlag().load(std::memory_order_relaxed); }

/// The function that an operation stands for, as users know it.
static std::string calledName(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = op->getParentOfType<ModuleOp>().lookupSymbol(call.getCallee());
    auto name = callee ? callee->getAttrOfType<StringAttr>("toy.name") : StringAttr();
    return name ? name.str() : "try";
  }
  if (isa<TextOp, SystemOp>(op))
    return op->getAttrOfType<StringAttr>("function").str();
  return isa<BroadcastRanksOp>(op) ? "broadcast" : op->getName().stripDialect().str();
}

/// Says which collectives only some ranks would come to, as far as that is known before the program runs.
bool Session::reportVaryingCollectives(ModuleOp module) {
  auto found = findVaryingCollectives(module, [&](StringRef symbol) { return bodyOf(symbol); }, varyingGlobals);
  std::set<std::pair<BufferId, uint32_t>> told;
  for (auto [op, branch] : found) {
    SourceRange range = rangeOf(op->getLoc()), condition = rangeOf(branch->getLoc());
    if (!told.emplace(range.buffer, range.begin).second)
      continue;
    diagnostics
        .report(DiagId::VaryingCollective, range, {calledName(op), "the condition around it is not the same on all"})
        .note(condition, "this differs between ranks");
  }
  return found.empty();
}

bool Session::allRanksMeet(ModuleOp module) {
  isOfRanks = isOfRanks || concernsRanks(module) || (options.compile.checkReplicated && ranks::count() > 1);
  if (!isOfRanks)
    return true;
  if (!reportVaryingCollectives(module))
    return false;
  if (ranks::count() > 1) {
    if (options.compile.checkReplicated)
      insertReplicatedChecks(module, [&](StringRef symbol) { return bodyOf(symbol); }, varyingGlobals);
    warnOfHiddenPrints(module);
  }
  return true;
}

/// The type without the sizes that differ between ranks.
ValueType Session::withNamedSizes(const std::string &name, ValueType type) const {
  const size_t leaves = leafCount(type);
  type.mapSizes([&](unsigned leaf, size_t axis, Dim dim) {
    const std::string part = leaves == 1 ? name : name + "." + std::to_string(leaf);
    return varyingGlobals.sizes.contains({part, static_cast<int64_t>(axis)}) ? Dim::unknown(dim.getContext()) : dim;
  });
  return type;
}

/// Code for the sizes that variables have here does not tell that they differ between ranks. So what reads such
/// variables is generated once more, with names for these sizes, and looked at alone.
bool Session::allRanksMeetForAnySize(ModuleOp module, ArrayRef<const ast::Stmt *> statements) {
  auto readsOne = [&](GlobalLoadOp load) {
    auto first = varyingGlobals.sizes.lower_bound({load.getName().str(), 0});
    return first != varyingGlobals.sizes.end() && first->first == load.getName() ? WalkResult::interrupt()
                                                                                 : WalkResult::advance();
  };
  if (varyingGlobals.sizes.empty() || !loadedNow.empty() || !module.walk(readsOne).wasInterrupted())
    return true;
  const size_t reported = diagnostics.diagnostics().size();
  const VaryingGlobals before = varyingGlobals;
  InstanceTable aside = instanceTable.takeAside();
  llvm::scope_exit back([&] {
    instanceTable.putBack(std::move(aside));
    varyingGlobals = before;
    namesVaryingSizes = false;
  });
  namesVaryingSizes = true;
  OwningOpRef<ModuleOp> named = ModuleOp::create(UnknownLoc::get(ir()));
  TopLevel top;
  const bool isGenerated = generate(*named, statements, *this, diagnostics, top);
  diagnostics.truncate(reported);
  return !isGenerated || reportVaryingCollectives(*named);
}

/// Says which output nobody will see. Rank 0 says it; what differs between ranks it knows of itself alone.
void Session::warnOfHiddenPrints(ModuleOp module) {
  const std::optional<int> rank = ranks::printer();
  if (!rank || !ranks::isFirst())
    return;
  auto integerOf = [&](StringRef name) {
    return *rank != ranks::rank() && varyingGlobals.values.contains(name.str()) ? std::nullopt
                                                                                : storedInteger(name.str());
  };
  auto body = [&](StringRef symbol) { return bodyOf(symbol); };
  const PrintingRank printer{*rank, ranks::count(), integerOf, body};
  for (Operation *op : findHiddenPrints(module, printer))
    if (SourceRange range = rangeOf(op->getLoc());
        remarked.insert(fmt::format("hidden {} {}", range.buffer, range.begin)).second)
      diagnostics.report(DiagId::NeverShown, range, {std::to_string(*rank)});
}

/// Generates, checks and, where it is worth it (or always), compiles statements; null after errors.
std::shared_ptr<Session::CompiledModule> Session::prepare(ArrayRef<const ast::Stmt *> statements, TopLevel &top,
                                                          bool always, bool *generated) {
  auto owner = std::make_shared<CompiledModule>();
  owner->module = ModuleOp::create(UnknownLoc::get(ir()));
  InstanceTable::Unit added(instanceTable);
  {
    PhaseTimes::Phase timer(compiler.times, "generate");
    if (!generate(*owner->module, statements, *this, diagnostics, top)) {
      rt::interruptFlag() = false;
      if (generated)
        *generated = false;
      return nullptr;
    }
  }
  if (generated && statements.size() > 1 &&
      decidesSizesLate(*owner->module, top.symbol)) { // one after the other, their sizes are known
    *generated = false;
    return nullptr;
  }
  if (failed(mlir::verify(*owner->module))) {
    diagnostics.report(DiagId::Internal, statements[0]->range, {"the IR of this statement does not verify"});
    return nullptr;
  }
  if (!allRanksMeetForAnySize(*owner->module, statements) || !allRanksMeet(*owner->module))
    return nullptr;
  if (added.keys().empty() && !top.symbol.empty())
    ++cacheHits;
  own(owner, added);
  owner->top = top.symbol;
  Unit unit{*owner->module, "", [&](StringRef symbol) { return bodyOf(symbol); }};
  bool compileTop = options.compile.jit != JitMode::Never && (always || compiler.isWorthCompiling(unit, top.symbol));
  if (compileTop && !compileModule(*owner, ""))
    return nullptr;
  added.keep();
  if (!compileTop)
    compiler.recognize(unit, top.symbol);
  return owner;
}

bool Session::execute(ArrayRef<const ast::Stmt *> statements, bool *generated) {
  const bool traces = !traced.empty() && !tracesAll && leadTo(statements, [&](const sema::NameSet &names) {
    return llvm::any_of(traced, [&](const std::string &f) { return names.contains(f); });
  });
  std::optional<Evaluating> tracing, stopping;
  tracedCalls.clear();
  if (traces)
    tracing.emplace(*this, &CompileOptions::traceCalls);
  if (!mayStop(statements))
    return executeNow(statements, generated);
  stopping.emplace(*this, &CompileOptions::stops);
  stops.clear();
  frames.clear();
  stepping = After::Continue;
  bool ok = executeNow(statements, generated);
  frames.clear();
  return ok;
}

bool Session::executeNow(ArrayRef<const ast::Stmt *> statements, bool *generated) {
  ++executed;
  ranks::carryOn();
  TopLevel top;
  llvm::scope_exit forget([this, from = loadedNow.size()] { forgetLoaded(from); });
  std::shared_ptr<CompiledModule> owner = prepare(statements, top, false, generated);
  if (!owner)
    return false;
  if (options.compile.remarks)
    showRemarks();
  bool ok = runTop(owner, top);
  if (options.compile.remarks) // of functions that were compiled when they were called
    showRemarks();
  showDeviceWarnings();
  if (ok)
    for (auto &[name, type] : top.stored) {
      globalPlaces[name] = top.places[name];
      size_t n = leafCount(type), i = 0;
      globalTypes[name] = concrete(type, [&] { return globals.at(n == 1 ? name : name + "." + std::to_string(i++)); });
    }
  return ok;
}

} // namespace toy

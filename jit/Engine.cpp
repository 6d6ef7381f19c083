// SPDX-License-Identifier: Apache-2.0
/// \file
/// LLVM's passes and code generator, ORC LLJIT.
#include "jit/EngineImpl.h"

#include "jit/Abi.h"
#include "jit/Profiler.h"
#include "jit/ScalarLoops.h"
#include "jit/StripTurns.h"
#include "jit/Target.h"
#include "passes/lowering/Attributes.h"
#include "reference/EvaluatorImpl.h"
#include "runtime/Apart.h"
#include "runtime/Error.h"
#include "runtime/Parallel.h"
#include "runtime/Progress.h"
#include "support/DeferredInitializers.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <mutex>

using namespace llvm;

namespace toy {

bool Engine::Impl::makeMachines(const CompileOptions &options, std::string &error) {
  machine = makeMachine(codeLevel(options.optimization), error);
  quickMachine = makeMachine(CodeGenOptLevel::None, error);
  return machine && quickMachine;
}

Engine::Engine(const CompileOptions &options) : options(options), impl(std::make_unique<Impl>()) {
  impl->options = &options;
}
Engine::~Engine() = default;

bool Engine::start(std::string &error) {
  if (impl->jit)
    return true;
  initializeCode();
  auto fail = [&](Error e) {
    error = toString(std::move(e));
    return false;
  };
  if (!impl->makeMachines(options, error))
    return false;
  auto host = targetMachineBuilder(CodeGenOptLevel::Default);
  if (!host)
    return fail(host.takeError());
  auto created = orc::LLJITBuilder().setJITTargetMachineBuilder(*host).create();
  if (!created)
    return fail(created.takeError());
  orc::LLJIT &jit = **created;
  orc::SymbolMap map;
  for (auto symbols : {abiSymbols(), runtimeCalls()})
    for (auto &[name, address] : symbols)
      map[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported};
  map[jit.mangleAndIntern("toy_rt_promote")] = {orc::ExecutorAddr::fromPtr(&promoteKernel), JITSymbolFlags::Exported};
  if (Error e = jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(map))))
    return fail(std::move(e));
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit.getDataLayout().getGlobalPrefix());
  if (!process)
    return fail(process.takeError());
  jit.getMainJITDylib().addGenerator(std::move(*process));
  impl->jit = std::move(*created);
  impl->promoter.emplace(options.optimization, [impl = &*impl](MemoryBufferRef object) {
    Error e = impl->linkKernels(MemoryBuffer::getMemBufferCopy(object.getBuffer()), /*isKept=*/false);
    const bool linked = !e;
    consumeError(std::move(e)); // quick code does
    return linked;
  });
  return true;
}

void Engine::renew(bool damaged) {
  if (damaged) {
    abiState().passed.clear();
    static_cast<void>(impl.release());
  }
  impl = std::make_unique<Impl>();
  impl->options = &options;
}

void Engine::setProfiler(Profiler *profiler) { impl->profiler = profiler; }

void Engine::nameKernel(StringRef digest, std::string name) {
  std::lock_guard lock(impl->linking);
  impl->kernelNames[digest] = std::move(name);
}

void Engine::setTarget(Module &module) {
  module.setDataLayout(impl->machine->createDataLayout());
  module.setTargetTriple(impl->machine->getTargetTriple());
}

// Loops of groups read by steps, which are several loads of whole registers, or as fast one by one; x86's gathers take
// longer, and processors do not look ahead of them. Loops of the program also read by positions.
void Engine::setFeatures(Module &module) {
  const std::string all = impl->machine->getTargetFeatureString().str();
  const bool isX86 = impl->machine->getTargetTriple().isX86();
  for (Function &f : module)
    if (!f.isDeclaration()) {
      const bool isKernel = isX86 && f.hasFnAttribute(sharedKernel);
      f.addFnAttr("target-cpu", impl->machine->getTargetCPU());
      f.addFnAttr("target-features", !isKernel ? all : all.empty() ? "+prefer-no-gather" : all + ",+prefer-no-gather");
    }
}

std::string Engine::targetKey(bool quick, bool loops) const {
  std::string effort = quick ? "quick" : "O" + std::to_string(options.optimization) + (loops ? "loops" : "");
  return (impl->machine->getTargetCPU() + impl->machine->getTargetFeatureString() + effort).str();
}

void Engine::Impl::runApart(const CompileOptions &options, bool brief, std::function<void()> work) {
  if (brief)
    return work();
  try {
    rt::runApart(std::move(work));
  } catch (rt::Error &) { // the thread that was left goes on with these machines
    std::string error;
    makeMachines(options, error);
    throw;
  }
}

void Engine::optimize(std::shared_ptr<MachineCode> code, int64_t before) {
  constexpr unsigned fewInstructions = 3000;
  code->brief = code->module->getInstructionCount() < fewInstructions;
  auto machine = code->quick ? impl->quickMachine : impl->machine;
  int level = code->quick ? 0 : code->loops && options.optimization < 0 ? 3 : options.optimization;
  impl->runApart(options, code->brief, [code, machine, level, before] {
    SmallPtrSet<const Function *, 16> begun;
    auto goesOn = [&](const Function *function) {
      if (function && begun.insert(function).second)
        rt::noteDone(rt::Activity::Units, before + static_cast<int64_t>(begun.size()) - 1);
      return !rt::isInterrupted();
    };
    if (level >= 2 && code->loops) {
      VectorizerLog log(*code->context);
      optimizeModule(*code->module, *machine, level, goesOn);
      log.embed(*code->module);
    } else if (level != 0)
      optimizeModule(*code->module, *machine, level, goesOn);
    lookAtEachTurn(*code->module);
    eraseUnusedVariants(*code->module);
  });
}

void Engine::assemble(std::shared_ptr<MachineCode> code, std::string &error) {
  auto machine = code->quick ? impl->quickMachine : impl->machine;
  auto problem = std::make_shared<std::string>();
  impl->runApart(options, code->brief, [code, machine, problem] {
    sanitize(*code->module, *machine);
    rt::poll();
    if (!code->quick)
      prepareAddresses(*code->module, code->loops);
    if (auto made = orc::SimpleCompiler(*machine)(*code->module))
      code->object = std::move(*made);
    else
      *problem = toString(made.takeError());
  });
  error = *problem;
}

std::string Engine::written(MachineCode &code, bool asObject, std::string &error) {
  SmallString<0> buffer;
  raw_svector_ostream out(buffer);
  legacy::PassManager passes;
  if (impl->machine->addPassesToEmitFile(passes, out, nullptr,
                                         asObject ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile)) {
    error = "the target writes no assembly";
    return "";
  }
  prepareAddresses(*code.module, code.loops);
  passes.run(*code.module);
  return buffer.str().str();
}

/// A library of its own for an object: what the runtime exports, the kernels that it calls, and `symbols`.
Expected<orc::JITDylib &> Engine::Impl::addObject(std::unique_ptr<MemoryBuffer> object, const ObjectKernels &named,
                                                  orc::SymbolMap symbols) {
  std::unique_lock lock(linking);
  symbols[jit->mangleAndIntern("toy.promoter")] = {orc::ExecutorAddr::fromPtr(&*promoter), JITSymbolFlags::Exported};
  for (const std::string &digest : named.called)
    symbols[jit->mangleAndIntern(kernelSymbol(digest))] = {kernels.lookup(digest), JITSymbolFlags::Exported};
  auto dylib = jit->createJITDylib("m" + std::to_string(objects++));
  lock.unlock();
  if (!dylib)
    return dylib.takeError();
  dylib->addToLinkOrder(jit->getMainJITDylib());
  if (Error e = dylib->define(orc::absoluteSymbols(std::move(symbols))))
    return e;
  if (Error e = jit->addObjectFile(*dylib, std::move(object)))
    return e;
  return *dylib;
}

/// What `perf` shows of a kernel, by its symbol or that of a part.
static std::string shownKernel(StringRef symbol, const StringMap<std::string> &names) {
  if (!symbol.consume_front(kernelSymbol("")))
    return symbol.str();
  auto it = names.find(symbol.substr(0, digestLength));
  return it == names.end() ? ("loop " + symbol.substr(0, 12)).str() : it->second;
}

Error Engine::Impl::linkKernels(std::unique_ptr<MemoryBuffer> object, bool isKept) {
  const ObjectKernels named(*object);
  auto copy = options->perfMap ? MemoryBuffer::getMemBufferCopy(object->getBuffer()) : nullptr;
  auto dylib = addObject(std::move(object), named, orc::SymbolMap());
  if (!dylib)
    return dylib.takeError();
  orc::SymbolLookupSet wanted;
  for (const std::string &digest : named.defined)
    wanted.add(jit->mangleAndIntern(kernelSymbol(digest)));
  for (const std::string &digest : named.quick)
    wanted.add(jit->mangleAndIntern(tierSymbol(digest)));
  orc::JITDylibSearchOrder here = {{&*dylib, orc::JITDylibLookupFlags::MatchAllSymbols}};
  auto found = jit->getExecutionSession().lookup(here, std::move(wanted));
  if (!found)
    return found.takeError();
  auto addressOf = [&](const std::string &symbol) { return found->at(jit->mangleAndIntern(symbol)).getAddress(); };
  std::lock_guard lock(linking);
  for (const std::string &digest : named.quick)
    if (KernelTier *tier = tiers[digest] = addressOf(tierSymbol(digest)).toPtr<KernelTier *>(); isKept)
      tier->left = elementsOfKept;
  for (const std::string &digest : named.defined) {
    kernels[digest] = addressOf(kernelSymbol(digest));
    if (KernelTier *tier = tiers.lookup(digest); tier && !is_contained(named.quick, digest))
      tier->code.store(kernels[digest].toPtr<void *>(), std::memory_order_release);
  }
  if (copy && !named.defined.empty()) {
    std::string first = kernelSymbol(named.defined[0]);
    writePerfMap(functionsOf(*copy, first, kernels[named.defined[0]].getValue(), false),
                 [&](StringRef name) { return shownKernel(name, kernelNames); });
  }
  return Error::success();
}

void Engine::linkKernels(std::unique_ptr<MemoryBuffer> object, bool isKept, std::string &error) {
  if (Error e = impl->linkKernels(std::move(object), isKept))
    error = toString(std::move(e));
}

bool Engine::hasKernel(StringRef digest) const {
  std::lock_guard lock(impl->linking);
  return impl->kernels.contains(digest);
}

std::vector<Promoter::Kernel> Engine::takePromoted() {
  return impl->promoter ? impl->promoter->takeMade() : std::vector<Promoter::Kernel>();
}

/// Says where the functions of an object are that was linked.
void Engine::Impl::mapCode(const Linkable &linkable, MemoryBufferRef object) {
  auto anchor = llvm::find_if(linkable.functions, [](const Linkable::Function &f) { return f.isDefined; });
  if (anchor == linkable.functions.end())
    return;
  auto address = orc::ExecutorAddr::fromPtr(entries.at(anchor->symbol).call).getValue();
  std::vector<CodeFunction> functions = functionsOf(object, anchor->name + ".entry", address, profiler != nullptr);
  if (options->perfMap)
    writePerfMap(functions, [&](StringRef symbol) {
      auto [name, rest] = symbol.split('.');
      for (const Linkable::Function &f : linkable.functions)
        if (f.name == name && f.isDefined)
          return rest.empty() ? f.shown : (f.shown + "." + rest).str();
      return symbol.str();
    });
  if (profiler)
    profiler->addCode(std::move(functions));
}

/// Each object is linked on its own: its functions, those it calls in other objects, and its data.
void Engine::link(Linkable linkable, std::string &error) {
  orc::LLJIT &jit = *impl->jit;
  auto named = [&](StringRef name) { return jit.mangleAndIntern(name); };
  auto exported = [](void *address) {
    return orc::ExecutorSymbolDef(orc::ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported);
  };
  auto &data = impl->data.emplace_back(std::make_unique<int64_t[]>(linkable.operations.size() + 1));
  data[0] = static_cast<int64_t>(impl->sites.size());
  for (auto [i, op] : enumerate(linkable.operations))
    data[i + 1] = reinterpret_cast<int64_t>(op);
  append_range(impl->sites, linkable.sites);
  auto &constants = impl->constants.emplace_back(std::make_unique<std::vector<rt::TensorRef>>());
  const rt::Unlisted apart; // they are the engine's, whatever fails meanwhile
  for (mlir::Operation *op : linkable.constants) {
    auto constant = cast<ConstantOp>(op);
    auto value = cast<mlir::DenseElementsAttr>(constant.getValue());
    constants->push_back(constantTensor(value, tensorTypeOf(constant.getResult()).getDtype()));
  }
  auto work = [&]() -> Error {
    orc::SymbolMap symbols;
    symbols[named("toy.data")] = exported(data.get());
    symbols[named("toy.constants")] = exported(constants->data());
    if (linkable.kernels)
      symbols[named("toy.kernels")] = exported(linkable.kernels);
    for (const Linkable::Function &f : linkable.functions)
      if (auto it = impl->addresses.find(f.symbol); !f.isDefined && it != impl->addresses.end())
        symbols[named(f.name)] = {it->second, JITSymbolFlags::Exported | JITSymbolFlags::Callable};
    const ObjectKernels kernels(*linkable.object);
    auto copy =
        impl->profiler || options.perfMap ? MemoryBuffer::getMemBufferCopy(linkable.object->getBuffer()) : nullptr;
    auto dylib = impl->addObject(std::move(linkable.object), kernels, std::move(symbols));
    if (!dylib)
      return dylib.takeError();
    for (Linkable::Function &f : linkable.functions) {
      if (!f.isDefined)
        continue;
      auto entry = jit.lookup(*dylib, f.name + ".entry"), body = jit.lookup(*dylib, f.name);
      if (!entry)
        return entry.takeError();
      impl->entries[f.symbol] = {entry->toPtr<void (*)(void **, void **)>(), std::move(f.signature)};
      if (body)
        impl->addresses[f.symbol] = *body;
      else
        consumeError(body.takeError());
    }
    if (copy)
      impl->mapCode(linkable, *copy);
    impl->modules.push_back(std::move(linkable.ir));
    return Error::success();
  };
  if (Error e = work())
    error = toString(std::move(e));
}

bool Engine::has(StringRef symbol) const { return impl->entries.count(symbol.str()); }

std::vector<mlir::Location> Engine::takeFailureChain() { return std::exchange(impl->chain, {}); }

std::optional<mlir::Location> Engine::placeOf(int64_t site) const {
  return site >= 0 && site < static_cast<int64_t>(impl->sites.size()) ? std::optional(impl->sites[site]) : std::nullopt;
}

EngineStats &Engine::stats() {
  EngineStats &stats = impl->stats;
  stats.kernels = abiState().kernels;
  for (int i = 0; i < numDTypes; ++i)
    if (int64_t n = abiState().products[i])
      stats.kernels["gemm_" + std::string(nameOf(static_cast<DType>(i)))] = n;
  stats.loops = abiLoops();
  stats.repacks = abiState().repacks;
  stats.promoted = impl->promoter ? impl->promoter->count() : 0;
  return stats;
}

std::vector<rt::Value> Engine::call(StringRef symbol, std::vector<rt::Value> arguments, Environment &environment) {
  const Impl::Entry &entry = impl->entries.at(symbol.str());
  SmallVector<void *> operands, results(entry.signature.results.size(), nullptr);
  for (auto [passing, value] : zip_equal(entry.signature.arguments, arguments))
    operands.push_back(rt::takeObject(passing == Passing::Pairs ? value = pairsView(value) : value));
  AbiState &state = abiState();
  Environment *before = std::exchange(state.environment, &environment);
  impl->chain.clear();
  state.passed.clear();
  abiSite() = -1;
  std::optional<Profiler::Running> watched;
  if (impl->profiler)
    watched.emplace();
  try {
    entry.call(operands.data(), results.data());
  } catch (...) {
    if (abiSite() >= 0)
      impl->chain.push_back(impl->sites[abiSite()]);
    for (int64_t site : state.passed)
      impl->chain.push_back(impl->sites[site]);
    state.passed.clear(); // and keeps its room
    state.environment = before;
    throw;
  }
  state.environment = before;
  std::vector<rt::Value> out;
  for (auto [passing, object] : zip_equal(entry.signature.results, results))
    if (passing == Passing::Text)
      out.push_back(rt::StrRef(static_cast<rt::Str *>(object)));
    else if (passing == Passing::List)
      out.push_back(rt::ListRef(static_cast<rt::List *>(object)));
    else {
      rt::Value tensor = rt::TensorRef(static_cast<rt::Tensor *>(object));
      out.push_back(passing == Passing::Pairs ? complexView(tensor) : tensor);
    }
  return out;
}

} // namespace toy

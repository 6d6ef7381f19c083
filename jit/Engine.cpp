// SPDX-License-Identifier: Apache-2.0
/// \file
/// LLVM's passes and code generator, ORC LLJIT.
#include "jit/EngineImpl.h"

#include "jit/Abi.h"
#include "jit/ScalarLoops.h"
#include "jit/Target.h"
#include "passes/lowering/Attributes.h"
#include "reference/EvaluatorImpl.h"
#include "runtime/Apart.h"
#include "runtime/Error.h"
#include "runtime/Parallel.h"
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

static Expected<orc::JITTargetMachineBuilder> targetMachineBuilder(CodeGenOptLevel level) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (host)
    host->setCodeGenOptLevel(level);
  return host;
}

bool Engine::Impl::makeMachines(const CompileOptions &options, std::string &error) {
  auto make = [&](CodeGenOptLevel level, std::shared_ptr<TargetMachine> &made) {
    auto builder = targetMachineBuilder(level);
    auto target = builder ? builder->createTargetMachine() : builder.takeError();
    if (!target) {
      error = toString(target.takeError());
      return false;
    }
    made = std::move(*target);
    return true;
  };
  return make(options.optimization < 3 ? CodeGenOptLevel::Less : CodeGenOptLevel::Default, machine) &&
         make(CodeGenOptLevel::None, quickMachine);
}

Engine::Engine(const CompileOptions &options) : options(options), impl(std::make_unique<Impl>()) {}
Engine::~Engine() = default;

bool Engine::start(std::string &error) {
  if (impl->jit)
    return true;
  runDeferredInitializers();
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
  if (Error e = jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(map))))
    return fail(std::move(e));
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit.getDataLayout().getGlobalPrefix());
  if (!process)
    return fail(process.takeError());
  jit.getMainJITDylib().addGenerator(std::move(*process));
  impl->jit = std::move(*created);
  return true;
}

void Engine::renew(bool damaged) {
  if (damaged) {
    abiState().passed.clear();
    static_cast<void>(impl.release());
  }
  impl = std::make_unique<Impl>();
}

void Engine::setTarget(Module &module) {
  module.setDataLayout(impl->machine->createDataLayout());
  module.setTargetTriple(impl->machine->getTargetTriple());
}

void Engine::setFeatures(Module &module) {
  for (Function &f : module)
    if (!f.isDeclaration()) {
      f.addFnAttr("target-cpu", impl->machine->getTargetCPU());
      f.addFnAttr("target-features", impl->machine->getTargetFeatureString());
    }
}

std::string Engine::targetKey(bool quick, bool loops) const {
  std::string effort = quick ? "quick" : "O" + std::to_string(options.optimization) + (loops ? "loops" : "");
  return (impl->machine->getTargetCPU() + impl->machine->getTargetFeatureString() + effort).str();
}

/// Versions of functions for vectors that no loop took.
static void eraseUnusedVariants(Module &module) {
  for (Function &f : make_early_inc_range(module))
    if (f.hasFnAttribute(vectorVariant) && f.use_empty())
      f.eraseFromParent();
}

/// Puts small functions that call themselves into themselves, three levels deep: what a call costs is paid once in
/// several.
static void inlineRecursion(Module &module) {
  constexpr unsigned levels = 3, mostInstructions = 80, mostSelfCalls = 2;
  SmallVector<Function *> functions;
  for (Function &f : module)
    if (!f.isDeclaration() && f.getInstructionCount() <= mostInstructions &&
        none_of(f.args(), [](Argument &argument) { return argument.getType()->isPointerTy(); }))
      functions.push_back(&f);
  auto callsOf = [](Function &f) {
    SmallVector<CallBase *> calls;
    for (Instruction &i : instructions(f))
      if (auto *call = dyn_cast<CallBase>(&i); call && call->getCalledFunction() == &f)
        calls.push_back(call);
    return calls;
  };
  for (Function *f : functions) {
    if (auto calls = callsOf(*f); calls.empty() || calls.size() > mostSelfCalls)
      continue;
    ValueToValueMapTy map;
    Function *body = CloneFunction(f, map);
    for (unsigned level = 0; level < levels; ++level)
      for (CallBase *call : callsOf(*f)) {
        call->setCalledFunction(body);
        InlineFunctionInfo info;
        if (!InlineFunction(*call, info).isSuccess())
          call->setCalledFunction(f);
      }
    body->eraseFromParent();
  }
}

static void runPasses(Module &module, TargetMachine &machine, int level) {
  PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([](StringRef, Any) { return !rt::isInterrupted(); });
  PassBuilder builder(&machine, PipelineTuningOptions(), std::nullopt, &callbacks);
  PassAnalyses analyses(builder);
  ModulePassManager passes;
  if (level >= 2)
    inlineRecursion(module);
  if (level >= 3)
    passes = builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3);
  else {
    // What loop nests need, and nothing else: a small function compiles in a few milliseconds.
    const char *pipeline =
        "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),loop(indvars),"
        "loop-vectorize,instcombine<no-verify-fixpoint>,loop-unroll<O2>,sroa,early-cse,loop-mssa(licm),simplifycfg)";
    if (Error e = builder.parsePassPipeline(passes, pipeline))
      report_fatal_error(std::move(e));
  }
  SmallVector<GlobalValue *> variants; // no call names them yet
  for (Function &f : module)
    if (f.hasFnAttribute(vectorVariant))
      variants.push_back(&f);
  appendToCompilerUsed(module, variants);
  passes.run(module, analyses.modules);
  if (GlobalVariable *used = module.getGlobalVariable("llvm.compiler.used"))
    used->eraseFromParent();
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

void Engine::optimize(std::shared_ptr<MachineCode> code) {
  constexpr unsigned fewInstructions = 3000;
  code->brief = code->module->getInstructionCount() < fewInstructions;
  auto machine = code->quick ? impl->quickMachine : impl->machine;
  int level = code->quick ? 0 : code->loops && options.optimization < 0 ? 3 : options.optimization;
  impl->runApart(options, code->brief, [code, machine, level] {
    if (level >= 2 && code->loops) {
      VectorizerLog log(*code->context);
      runPasses(*code->module, *machine, level);
      log.embed(*code->module);
    } else if (level != 0)
      runPasses(*code->module, *machine, level);
    eraseUnusedVariants(*code->module);
  });
}

void Engine::assemble(std::shared_ptr<MachineCode> code, std::string &error) {
  auto machine = code->quick ? impl->quickMachine : impl->machine;
  auto problem = std::make_shared<std::string>();
  impl->runApart(options, code->brief, [code, machine, problem] {
    sanitize(*code->module, *machine);
    rt::poll();
    if (auto made = orc::SimpleCompiler(*machine)(*code->module))
      code->object = std::move(*made);
    else
      *problem = toString(made.takeError());
  });
  error = *problem;
}

std::string Engine::written(Module &module, bool asObject, std::string &error) {
  SmallString<0> buffer;
  raw_svector_ostream out(buffer);
  legacy::PassManager passes;
  if (impl->machine->addPassesToEmitFile(passes, out, nullptr,
                                         asObject ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile)) {
    error = "the target writes no assembly";
    return "";
  }
  passes.run(module);
  return buffer.str().str();
}

/// A library of its own for an object: what the runtime exports, the kernels that it calls, and `symbols`.
Expected<orc::JITDylib &> Engine::Impl::addObject(std::unique_ptr<MemoryBuffer> object, const ObjectKernels &named,
                                                  orc::SymbolMap symbols) {
  auto dylib = jit->createJITDylib("m" + std::to_string(objects++));
  if (!dylib)
    return dylib.takeError();
  dylib->addToLinkOrder(jit->getMainJITDylib());
  for (const std::string &digest : named.called)
    symbols[jit->mangleAndIntern(kernelSymbol(digest))] = {kernels.lookup(digest), JITSymbolFlags::Exported};
  if (Error e = dylib->define(orc::absoluteSymbols(std::move(symbols))))
    return e;
  if (Error e = jit->addObjectFile(*dylib, std::move(object)))
    return e;
  return *dylib;
}

void Engine::linkKernels(std::unique_ptr<MemoryBuffer> object, std::string &error) {
  orc::LLJIT &jit = *impl->jit;
  const ObjectKernels named(*object);
  auto work = [&]() -> Error {
    auto dylib = impl->addObject(std::move(object), named, orc::SymbolMap());
    if (!dylib)
      return dylib.takeError();
    orc::SymbolLookupSet wanted;
    for (const std::string &digest : named.defined)
      wanted.add(jit.mangleAndIntern(kernelSymbol(digest)));
    orc::JITDylibSearchOrder here = {{&*dylib, orc::JITDylibLookupFlags::MatchAllSymbols}};
    auto found = jit.getExecutionSession().lookup(here, std::move(wanted));
    if (!found)
      return found.takeError();
    for (const std::string &digest : named.defined)
      impl->kernels[digest] = found->at(jit.mangleAndIntern(kernelSymbol(digest))).getAddress();
    return Error::success();
  };
  if (Error e = work())
    error = toString(std::move(e));
}

bool Engine::hasKernel(StringRef digest) const { return impl->kernels.contains(digest); }

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
    impl->modules.push_back(std::move(linkable.ir));
    return Error::success();
  };
  if (Error e = work())
    error = toString(std::move(e));
}

bool Engine::has(StringRef symbol) const { return impl->entries.count(symbol.str()); }

std::vector<const void *> Engine::heldObjects() const {
  std::vector<const void *> held;
  for (const auto &constants : impl->constants)
    for (const rt::TensorRef &constant : *constants)
      held.push_back(constant.get());
  return held;
}

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

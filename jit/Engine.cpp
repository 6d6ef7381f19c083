// SPDX-License-Identifier: Apache-2.0
/// \file
/// toy → groups → LLVM IR → optimized → ORC LLJIT.
#include "jit/EngineImpl.h"

#include "ir/ToyDialect.h"
#include "jit/Abi.h"
#include "jit/DeviceCompiler.h"
#include "jit/Target.h"
#include "passes/Pipelines.h"
#include "passes/lowering/FunctionEmitter.h"
#include "runtime/Apart.h"
#include "runtime/Error.h"
#include "runtime/Parallel.h"
#include "support/DeferredInitializers.h"
#include "support/Sanitizers.h"

#include "mlir/IR/Verifier.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace toy {

/// Whether the functions of a module do little work each time they run: no loops, no recursion, few elements, all sizes known.
static bool isCheap(mlir::ModuleOp module) {
  constexpr int64_t manyElements = 4096;
  int64_t elements = 0;
  DenseMap<mlir::Operation *, bool> active; // functions on the way to the current one, and those that were left
  auto visit = [&](auto &self, mlir::func::FuncOp function) -> bool {
    auto [it, isNew] = active.try_emplace(function, true);
    if (!isNew)
      return !it->second;
    SmallPtrSet<mlir::Block *, 8> seen;
    for (mlir::Block &block : function.getBody()) {
      seen.insert(&block);
      if (any_of(block.getSuccessors(), [&](mlir::Block *next) { return seen.contains(next); }))
        return false;
      for (mlir::Operation &op : block) {
        for (mlir::Type type : concat<const mlir::Type>(SmallVector<mlir::Type>(op.getResultTypes()), SmallVector<mlir::Type>(op.getOperandTypes())))
          if (auto tensor = dyn_cast<TensorType>(type))
            elements += tensor.getStaticCount().value_or(manyElements + 1);
        if (elements > manyElements)
          return false;
        if (auto call = dyn_cast<mlir::func::CallOp>(op))
          if (auto callee = module.lookupSymbol<mlir::func::FuncOp>(call.getCallee()); callee && !callee.isExternal() && !self(self, callee))
            return false;
      }
    }
    active[function] = false;
    return true;
  };
  return all_of(module.getOps<mlir::func::FuncOp>(), [&](mlir::func::FuncOp f) { return visit(visit, f); });
}

bool Engine::Impl::makeMachines(std::string &error) {
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
  return make(options.optimization < 3 ? CodeGenOptLevel::Less : CodeGenOptLevel::Default, machine) && make(CodeGenOptLevel::None, quickMachine);
}

/// Target, JIT and the symbols of the runtime: on first use.
bool Engine::Impl::start(std::string &error) {
  if (jit)
    return true;
  runDeferredInitializers();
  if (!cache)
    cache = std::make_unique<CodeCache>(options.cache);
  auto fail = [&](Error e) {
    error = toString(std::move(e));
    return false;
  };
  if (!makeMachines(error))
    return false;
  auto host = targetMachineBuilder(CodeGenOptLevel::Default);
  if (!host)
    return fail(host.takeError());
  auto created = orc::LLJITBuilder().setJITTargetMachineBuilder(*host).create();
  if (!created)
    return fail(created.takeError());
  jit = std::move(*created);
  orc::SymbolMap map;
  for (auto &[name, address] : abiSymbols())
    map[jit->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported};
  if (Error e = jit->getMainJITDylib().define(orc::absoluteSymbols(std::move(map))))
    return fail(std::move(e));
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit->getDataLayout().getGlobalPrefix());
  if (!process)
    return fail(process.takeError());
  jit->getMainJITDylib().addGenerator(std::move(*process));
  return true;
}

/// Declared functions get their bodies: to be compiled here if they have no code yet, otherwise to be inlined.
void Engine::Impl::importBodies(mlir::ModuleOp module, Engine::BodyLookup bodyOf) {
  SmallVector<mlir::func::FuncOp> declared;
  auto collect = [&](mlir::Operation *in) {
    in->walk([&](mlir::func::CallOp call) {
      if (auto callee = module.lookupSymbol<mlir::func::FuncOp>(call.getCallee()); callee && callee.isExternal())
        declared.push_back(callee);
    });
  };
  collect(module);
  mlir::OpBuilder b(module.getBodyRegion());
  while (!declared.empty()) {
    mlir::func::FuncOp declaration = declared.pop_back_val(), body;
    if (!declaration.isExternal() || !(body = bodyOf(declaration.getSymName())))
      continue;
    mlir::func::FuncOp copy = body.clone();
    declaration.getBody().takeBody(copy.getBody());
    copy->destroy();
    declaration->setAttrs(body->getAttrDictionary());
    declaration.setPrivate();
    if (entries.count(declaration.getSymName().str()))
      declaration->setAttr("toy.imported", b.getUnitAttr());
    declaration.walk([&](mlir::func::CallOp call) {
      auto callee = module.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
      if (!callee) {
        callee = mlir::func::FuncOp::create(b, call.getLoc(), call.getCallee(), bodyOf(call.getCallee()).getFunctionType());
        callee.setPrivate();
      }
      if (callee.isExternal())
        declared.push_back(callee);
    });
  }
}

/// A copy without one function, after the passes.
mlir::OwningOpRef<mlir::ModuleOp> Engine::Impl::lowered(mlir::ModuleOp module, StringRef except, Engine::BodyLookup bodyOf, std::string &error, Stage stage) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  importBodies(*copy, bodyOf);
  if (auto function = copy->lookupSymbol<mlir::func::FuncOp>(except); function && !except.empty()) {
    function.walk([&](mlir::func::CallOp call) { // the user functions it calls stay; library functions are evaluated with it
      if (auto callee = copy->lookupSymbol<mlir::func::FuncOp>(call.getCallee()); callee && !callee.isExternal() && !callee->hasAttr("toy.imported") && !callee->hasAttr("toy.prelude"))
        callee.setPublic();
    });
    function.erase();
  }
  bool device = mayUseDevice();
  std::unique_ptr<mlir::PassManager> &passes = pipelines[static_cast<int>(stage)][device];
  if (!passes) { // kept: their patterns are collected once
    passes = std::make_unique<mlir::PassManager>(module.getContext());
    passes->enableVerifier(hasAddressSanitizer); // otherwise once, at the end
    PipelineOptions pipeline{options.fuse, options.recognize, options.complexMatmul, options.fastMath, device, &log};
    buildRecognition(*passes, pipeline);
    if (stage == Stage::Unpacked || (stage == Stage::Selected && options.unpack))
      buildUnpacking(*passes, pipeline);
    if (stage == Stage::Selected)
      buildSelection(*passes, pipeline);
  }
  if (mlir::failed(passes->run(*copy)) || mlir::failed(mlir::verify(*copy))) {
    error = "a pass failed";
    return {};
  }
  return copy;
}

std::unique_ptr<Module> Engine::Impl::emitModule(mlir::ModuleOp module, LLVMContext &context, std::vector<mlir::Location> &places, std::vector<mlir::Operation *> &operations, DeviceCode *device) {
  if (device && options.fuse) {
    mlir::PassManager passes(module.getContext());
    buildDeviceGroups(passes);
    if (mlir::failed(passes.run(module)))
      llvm_unreachable("rows are grouped or left alone");
  }
  auto out = std::make_unique<Module>("toy", context);
  out->setDataLayout(machine->createDataLayout());
  out->setTargetTriple(machine->getTargetTriple());
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (rt::poll(); !function.isExternal())
      FunctionEmitter(*out, function, {places, operations, device, options.device && rt::deviceWasOpened()}).emit();
  for (Function &f : *out)
    if (!f.isDeclaration()) {
      f.addFnAttr("target-cpu", machine->getTargetCPU());
      f.addFnAttr("target-features", machine->getTargetFeatureString());
    }
  return out;
}

void Engine::Impl::eraseUnusedVariants(Module &module) {
  for (Function &f : make_early_inc_range(module))
    if (f.hasFnAttribute("toy.variant") && f.use_empty())
      f.eraseFromParent();
}

void Engine::Impl::optimize(Module &module, TargetMachine &machine, int level) {
  if (level == 0)
    return;
  PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([](StringRef, Any) { return !rt::isInterrupted(); });
  PassBuilder builder(&machine, PipelineTuningOptions(), std::nullopt, &callbacks);
  PassAnalyses analyses(builder);
  ModulePassManager passes;
  if (level >= 3)
    passes = builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3);
  else {
    // What loop nests need, and nothing else: a small function compiles in a few milliseconds.
    const char *pipeline = "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),loop(indvars),loop-vectorize,"
                           "instcombine<no-verify-fixpoint>,loop-unroll<O2>,sroa,early-cse,loop-mssa(licm),simplifycfg)";
    if (Error e = builder.parsePassPipeline(passes, pipeline))
      report_fatal_error(std::move(e));
  }
  SmallVector<GlobalValue *> variants; // no call names them yet
  for (Function &f : module)
    if (f.hasFnAttribute("toy.variant"))
      variants.push_back(&f);
  appendToCompilerUsed(module, variants);
  passes.run(module, analyses.modules);
  if (GlobalVariable *used = module.getGlobalVariable("llvm.compiler.used"))
    used->eraseFromParent();
}

std::unique_ptr<MemoryBuffer> Engine::Impl::generate(std::unique_ptr<LLVMContext> context, std::unique_ptr<Module> code, bool quick, std::string &error) {
  struct Generation {
    std::unique_ptr<LLVMContext> context;
    std::unique_ptr<Module> code;
    std::shared_ptr<TargetMachine> machine;
    std::unique_ptr<MemoryBuffer> object;
    std::string error;
  };
  constexpr unsigned fewInstructions = 3000; // some hundredths of a second
  bool brief = code->getInstructionCount() < fewInstructions;
  auto job = std::make_shared<Generation>(Generation{std::move(context), std::move(code), quick ? quickMachine : machine, nullptr, {}});
  auto work = [job, level = quick ? 0 : options.optimization] {
    optimize(*job->code, *job->machine, level);
    eraseUnusedVariants(*job->code);
    sanitize(*job->code, *job->machine);
    rt::poll();
    if (auto made = orc::SimpleCompiler(*job->machine)(*job->code))
      job->object = std::move(*made);
    else
      job->error = toString(made.takeError());
  };
  try {
    if (brief)
      work();
    else
      rt::runApart(work);
  } catch (rt::Error &) { // the thread that was left goes on with this machine
    makeMachines(error);
    throw;
  }
  error = job->error;
  return std::move(job->object);
}

Engine::Engine(EngineOptions options) : impl(std::make_unique<Impl>()) { impl->options = options; }
Engine::~Engine() = default;

void Engine::renew(bool damaged) {
  EngineOptions options = impl->options;
  auto cache = std::move(impl->cache);
  if (damaged) {
    abiState().calls.clear();
    static_cast<void>(impl.release());
  }
  impl = std::make_unique<Impl>();
  impl->options = options;
  impl->cache = std::move(cache);
}

/// Functions are named by their order, so that equal code is equal whatever else a session holds. Gives the new name of each function of the dialect.
static std::map<std::string, std::string> renameFunctions(Module &code, mlir::ModuleOp module) {
  std::map<std::string, std::string> names;
  unsigned defined = 0, called = 0;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    names[function.getSymName().str()] = function.isExternal() ? "X" + std::to_string(called++) : "F" + std::to_string(defined++);
  for (Function &f : code) {
    StringRef name = f.getName();
    for (size_t dot = name.size(); dot != StringRef::npos; dot = name.substr(0, dot).rfind('.'))
      if (auto it = names.find(name.substr(0, dot).str()); it != names.end()) {
        f.setName(it->second + name.substr(dot));
        break;
      }
  }
  return names;
}

/// Links an object on its own: its functions, those it calls in other modules, and its data.
Error Engine::Impl::load(std::unique_ptr<MemoryBuffer> object, mlir::ModuleOp module, const std::map<std::string, std::string> &names, std::vector<mlir::Location> &places, std::vector<mlir::Operation *> &operations,
                         rt::DeviceKernel **kernels) {
  data.push_back(std::make_unique<int64_t[]>(operations.size() + 1));
  data.back()[0] = static_cast<int64_t>(sites.size());
  for (auto [i, op] : enumerate(operations))
    data.back()[i + 1] = reinterpret_cast<int64_t>(op);
  sites.insert(sites.end(), places.begin(), places.end());
  auto dylib = jit->createJITDylib("m" + std::to_string(data.size()));
  if (!dylib)
    return dylib.takeError();
  dylib->addToLinkOrder(jit->getMainJITDylib());
  orc::SymbolMap symbols;
  symbols[jit->mangleAndIntern("toy.data")] = {orc::ExecutorAddr::fromPtr(data.back().get()), JITSymbolFlags::Exported};
  if (kernels)
    symbols[jit->mangleAndIntern("toy.kernels")] = {orc::ExecutorAddr::fromPtr(kernels), JITSymbolFlags::Exported};
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isExternal())
      if (auto it = addresses.find(function.getSymName().str()); it != addresses.end())
        symbols[jit->mangleAndIntern(names.at(it->first))] = {it->second, JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  if (Error e = dylib->define(orc::absoluteSymbols(std::move(symbols))))
    return e;
  if (Error e = jit->addObjectFile(*dylib, std::move(object)))
    return e;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (!function.isExternal()) {
      std::string symbol = function.getSymName().str();
      auto entry = jit->lookup(*dylib, names.at(symbol) + ".entry"), body = jit->lookup(*dylib, names.at(symbol));
      if (!entry)
        return entry.takeError();
      entries[symbol] = entry->toPtr<void (*)(void **, void **)>();
      if (body)
        addresses[symbol] = *body;
      else
        consumeError(body.takeError());
    }
  return Error::success();
}

rt::DeviceKernel **Engine::Impl::loadKernels(DeviceCode &code, std::string &error) {
  if (code.kernels.empty())
    return nullptr;
  int architecture = rt::deviceArchitecture();
  std::string key = cache->keyOf(code.module, "ptx" + std::to_string(architecture)), ptx;
  if (std::unique_ptr<MemoryBuffer> kept = cache->find(key))
    ptx = kept->getBuffer().str();
  else {
    ptx = compileToPtx(code.module, architecture, error);
    if (ptx.empty())
      return nullptr;
    cache->add(key, MemoryBufferRef(ptx, "ptx"));
  }
  deviceModules.push_back(std::make_unique<rt::DeviceModule>(std::move(ptx)));
  kernelTables.push_back(std::make_unique<rt::DeviceKernel *[]>(code.kernels.size()));
  for (auto [i, name] : enumerate(code.kernels)) {
    rt::DeviceKernel *kernel = rt::handWrittenKernel(name);
    if (!kernel)
      kernel = deviceKernels.emplace_back(std::make_unique<rt::DeviceKernel>(rt::DeviceKernel{deviceModules.back().get(), name})).get();
    kernelTables.back()[i] = kernel;
  }
  return kernelTables.back().get();
}

bool Engine::compile(mlir::ModuleOp module, StringRef except, BodyLookup bodyOf, std::vector<CompiledFunction> &compiled, bool &fromCache, std::string &error) {
  if (!impl->start(error))
    return false;
  auto copy = impl->lowered(module, except, bodyOf, error);
  if (!copy)
    return false;
  auto context = std::make_unique<LLVMContext>();
  std::vector<mlir::Location> places;
  std::vector<mlir::Operation *> operations;
  std::unique_ptr<Module> deviceModule;
  std::optional<DeviceCode> device;
  rt::DeviceKernel **kernels = nullptr;
  if (impl->mayUseDevice()) {
    deviceModule = newDeviceModule(*context);
    device.emplace(DeviceCode{*deviceModule, {}});
  }
  std::unique_ptr<Module> code = impl->emitModule(*copy, *context, places, operations, device ? &*device : nullptr);
  if (device && !(kernels = impl->loadKernels(*device, error)) && !error.empty())
    return false;
  auto names = renameFunctions(*code, *copy);
  bool quick = impl->options.optimization == 0 || (impl->options.optimization < 0 && isCheap(*copy));
  auto fail = [&](Error e) {
    error = toString(std::move(e));
    return false;
  };
  std::string key = impl->cache->keyOf(*code, (impl->machine->getTargetCPU() + impl->machine->getTargetFeatureString() + (quick ? "quick" : "O" + std::to_string(impl->options.optimization))).str());
  std::unique_ptr<MemoryBuffer> object = impl->preparing ? nullptr : impl->cache->find(key);
  fromCache = object != nullptr;
  if (!object) {
    std::string problems;
    raw_string_ostream stream(problems);
    if (verifyModule(*code, &stream)) {
      error = "the generated LLVM IR is not valid: " + problems;
      return false;
    }
    deviceModule.reset(); // which lives in the same context
    object = impl->generate(std::move(context), std::move(code), quick, error);
    if (!object)
      return false;
    if (!impl->preparing)
      impl->cache->add(key, *object);
  }
  if (Error e = impl->load(std::move(object), *copy, names, places, operations, kernels))
    return fail(std::move(e));
  for (auto function : copy->getOps<mlir::func::FuncOp>())
    if (!function.isExternal())
      if (auto user = function->getAttrOfType<mlir::StringAttr>("toy.name"))
        compiled.push_back({user.str(), function->hasAttr("toy.reason") ? function->getAttrOfType<mlir::StringAttr>("toy.reason").str() : "first call with these types", function->hasAttr("toy.dynamic")});
  impl->modules.push_back(std::move(copy));
  return true;
}

bool Engine::has(StringRef symbol) const { return impl->entries.count(symbol.str()); }
std::vector<mlir::Location> Engine::takeFailureChain() { return std::exchange(impl->chain, {}); }

std::optional<mlir::Location> Engine::placeOf(int64_t site) const { return site >= 0 && site < static_cast<int64_t>(impl->sites.size()) ? std::optional(impl->sites[site]) : std::nullopt; }

RecognitionLog &Engine::recognition() { return impl->log; }

void Engine::recognize(mlir::ModuleOp module, StringRef symbol, BodyLookup bodyOf) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>(symbol);
  auto mayMatter = [](mlir::Operation &op) { return isa<AddOp, SubOp, MulOp, MatMulOp, mlir::func::CallOp>(op); };
  if (!impl->options.recognize || count_if(function.getOps(), mayMatter) < 3)
    return;
  std::string error;
  impl->lowered(module, "", bodyOf, error, Stage::Recognized);
}

EngineStats &Engine::stats() {
  impl->stats.kernels = abiState().kernels;
  for (int i = 0; i < numDTypes; ++i)
    if (int64_t n = abiState().products[i])
      impl->stats.kernels["gemm_" + std::string(nameOf(static_cast<DType>(i)))] = n;
  impl->stats.loops = abiLoops();
  impl->stats.repacks = abiState().repacks;
  return impl->stats;
}

std::vector<rt::Value> Engine::call(StringRef symbol, mlir::func::FuncOp function, std::vector<rt::Value> arguments, Environment &environment) {
  auto *entry = impl->entries.at(symbol.str());
  // Unpacked code takes and gives pairs, which are the same memory under another header.
  auto isPacked = [&](mlir::Type type) { return impl->options.unpack && isa<TensorType>(type) && cast<TensorType>(type).isComplex(); };
  for (auto [v, type] : zip_equal(arguments, function.getArgumentTypes()))
    if (isPacked(type))
      v = pairsView(v);
  SmallVector<void *> operands, results(function.getNumResults(), nullptr);
  for (rt::Value &v : arguments)
    operands.push_back(std::holds_alternative<rt::StrRef>(v) ? static_cast<void *>(std::get<rt::StrRef>(v).take()) : std::get<rt::TensorRef>(v).take());
  AbiState &state = abiState();
  Environment *before = std::exchange(state.environment, &environment);
  size_t depth = state.calls.size();
  impl->chain.clear();
  abiSite() = -1;
  try {
    entry(operands.data(), results.data());
  } catch (...) {
    if (abiSite() >= 0)
      impl->chain.push_back(impl->sites[abiSite()]);
    for (size_t i = state.calls.size(); i > depth; --i)
      impl->chain.push_back(impl->sites[state.calls[i - 1]]);
    state.calls.resize(depth);
    state.environment = before;
    throw;
  }
  state.environment = before;
  std::vector<rt::Value> out;
  for (auto [type, object] : zip_equal(function.getResultTypes(), results))
    if (isa<StrType>(type))
      out.push_back(rt::StrRef(static_cast<rt::Str *>(object)));
    else
      out.push_back(rt::TensorRef(static_cast<rt::Tensor *>(object)));
  for (auto [v, type] : zip_equal(out, function.getResultTypes()))
    if (isPacked(type))
      v = complexView(v);
  return out;
}

} // namespace toy

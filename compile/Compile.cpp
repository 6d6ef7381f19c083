// SPDX-License-Identifier: Apache-2.0
/// \file
/// The recipe first, then what its phases do.
#include "compile/CompileImpl.h"

#include "ir/ToyDialect.h"
#include "jit/DeviceCompiler.h"
#include "jit/Promotion.h"
#include "jit/ScalarLoops.h"
#include "jit/SharedKernels.h"
#include "passes/lowering/FunctionEmitter.h"
#include "passes/lowering/LentArguments.h"
#include "runtime/Parallel.h"
#include "runtime/Progress.h"
#include "support/Sanitizers.h"

#include "mlir/IR/Verifier.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace toy {

static int64_t definedFunctions(const Module &module) {
  return llvm::count_if(module, [](const Function &f) { return !f.isDeclaration(); });
}

bool Compiler::compile(const Unit &unit, CompiledUnit &c, Phase last) {
  PhaseTimes ignored;
  auto phase = [&](Phase phase, const char *name, function_ref<void()> body) {
    if (phase > last || !c.error.empty())
      return;
    PhaseTimes::Phase timer(warming ? ignored : times, name);
    body();
  };
  phase(Phase::Recognize, "recognize", [&] {
    copyModule(unit, c);
    runPasses(c, Phase::Recognize);
  });
  phase(Phase::Algebra, "algebra", [&] { runPasses(c, Phase::Algebra); });
  if (options.unpack || last == Phase::Unpack)
    phase(Phase::Unpack, "unpack", [&] {
      runPasses(c, Phase::Unpack);
      if (last != Phase::Unpack)
        runPasses(c, Phase::Algebra); // what became visible in real operations
    });
  phase(Phase::Select, "select", [&] { runPasses(c, Phase::Select); });
  phase(Phase::Lower, "lower", [&] {
    lower(c);
    c.code->quick = last == Phase::Link && isQuick(c);
    c.code->loops = hasElementLoops(*c.ir);
  });
  std::string key;
  if (last == Phase::Link && c.error.empty() && !warming && !options.profile && !options.perfMap)
    key = findInCache(c);
  if (!c.fromCache) {
    std::optional<rt::Activity> activity;
    if (last == Phase::Link && !warming && c.error.empty())
      activity.emplace(rt::Activity::Units, "", definedFunctions(*c.code->module));
    if (last == Phase::Link && !c.code->quick && !options.profile) // a loop of others has no place
      phase(Phase::Optimize, "kernels", [&] { splitKernels(c); });
    phase(Phase::Optimize, "optimize", [&] { optimize(c); });
    phase(Phase::Assemble, "assemble", [&] { assemble(c); });
    if (!key.empty() && c.error.empty())
      keep(key, c);
  }
  phase(Phase::Link, "link", [&] { link(c); });
  return c.error.empty();
}

static Signature signatureOf(mlir::func::FuncOp function, const CompileOptions &options) {
  auto passing = [&](mlir::TypeRange types) {
    return map_to_vector(types, [&](mlir::Type type) {
      auto tensor = dyn_cast<TensorType>(type);
      return isa<ListType>(type)                    ? Passing::List
             : !tensor                              ? Passing::Text
             : options.unpack && tensor.isComplex() ? Passing::Pairs
                                                    : Passing::Tensor;
    });
  };
  return {passing(function.getArgumentTypes()), passing(function.getResultTypes())};
}

void importBodies(mlir::ModuleOp module, const BodyLookup &bodyOf, const Engine &engine) {
  SmallVector<mlir::func::FuncOp> declared;
  module.walk([&](mlir::func::CallOp call) {
    if (auto callee = module.lookupSymbol<mlir::func::FuncOp>(call.getCallee()); callee && callee.isExternal())
      declared.push_back(callee);
  });
  mlir::OpBuilder b(module.getBodyRegion());
  while (!declared.empty()) {
    mlir::func::FuncOp declaration = declared.pop_back_val(), body;
    if (!declaration.isExternal() || !(body = bodyOf(declaration.getSymName())))
      continue;
    mlir::func::FuncOp copy = body.clone();
    declaration.getBody().takeBody(copy.getBody());
    copy->destroy();
    declaration->setAttrs(body->getAttrDictionary());
    declaration->setLoc(body.getLoc());
    declaration.setPrivate();
    if (engine.has(declaration.getSymName()))
      declaration->setAttr("toy.imported", b.getUnitAttr());
    declaration.walk([&](mlir::func::CallOp call) {
      auto callee = module.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
      if (!callee) {
        mlir::FunctionType type = bodyOf(call.getCallee()).getFunctionType();
        callee = mlir::func::FuncOp::create(b, call.getLoc(), call.getCallee(), type);
        callee.setPrivate();
      }
      if (callee.isExternal())
        declared.push_back(callee);
    });
  }
}

/// A copy with the bodies of what is called, without what the evaluator runs: the user functions that it calls stay,
/// library functions are evaluated with it.
void Compiler::copyModule(const Unit &unit, CompiledUnit &c) {
  c.ir = mlir::ModuleOp(unit.module).clone();
  importBodies(*c.ir, unit.bodyOf, engine);
  for (auto function : c.ir->getOps<mlir::func::FuncOp>())
    c.signatures[function.getSymName()] = signatureOf(function, options);
  auto evaluated =
      unit.evaluated.empty() ? mlir::func::FuncOp() : c.ir->lookupSymbol<mlir::func::FuncOp>(unit.evaluated);
  if (!evaluated)
    return;
  SmallVector<mlir::func::FuncOp> open = {evaluated}; // and the blocks in it whose errors are caught
  while (!open.empty()) {
    mlir::func::FuncOp function = open.pop_back_val();
    function.walk([&](mlir::func::CallOp call) {
      auto callee = c.ir->lookupSymbol<mlir::func::FuncOp>(call.getCallee());
      if (call->hasAttr(triedCall))
        open.push_back(callee);
      else if (callee && !callee.isExternal() && !callee->hasAttr("toy.imported") && !callee->hasAttr("toy.prelude"))
        callee.setPublic();
    });
    function.erase();
  }
}

/// Pass managers are kept: the patterns of their passes are collected once.
void Compiler::runPasses(CompiledUnit &c, Phase phase) {
  bool device = usesDevice();
  std::unique_ptr<mlir::PassManager> &passes = state->pipelines[static_cast<int>(phase)][device];
  if (!passes) {
    passes = std::make_unique<mlir::PassManager>(c.ir->getContext());
    passes->enableVerifier(hasAddressSanitizer); // otherwise once, at the end
    auto build = phase == Phase::Recognize ? buildRecognition
                 : phase == Phase::Algebra ? buildAlgebra
                 : phase == Phase::Unpack  ? buildUnpacking
                                           : buildSelection;
    build(*passes, options, {device, &log});
  }
  if (mlir::failed(passes->run(*c.ir)) || mlir::failed(mlir::verify(*c.ir)))
    c.error = "a pass failed";
}

void Compiler::emitFunctions(CompiledUnit &c, DeviceCode *device) {
  if (device && options.fuse) {
    mlir::PassManager passes(c.ir->getContext());
    buildDeviceGroups(passes);
    if (mlir::failed(passes.run(*c.ir)))
      llvm_unreachable("rows are grouped or left alone");
  }
  c.code->module = std::make_unique<Module>("toy", *c.code->context);
  engine.setTarget(*c.code->module);
  EmissionTables tables{c.linkable.sites, c.linkable.operations, c.linkable.constants, device,
                        options.device && (rt::deviceWasOpened() || rt::deviceIsWanted())};
  std::optional<CodePlaces> places;
  if (options.profile && !warming && profiler)
    tables.places = &places.emplace(*c.code->module, profiler->places);
  for (auto function : c.ir->getOps<mlir::func::FuncOp>())
    if (rt::poll(); !function.isExternal())
      FunctionEmitter(*c.code->module, function, tables).emit();
  if (places)
    places->finish();
  engine.setFeatures(*c.code->module);
}

/// Functions are named by their order, so that equal code is equal whatever else a session holds.
static void nameFunctions(CompiledUnit &c) {
  StringMap<std::string> names;
  unsigned defined = 0, called = 0;
  for (auto function : c.ir->getOps<mlir::func::FuncOp>()) {
    StringRef symbol = function.getSymName();
    names[symbol] = function.isExternal() ? "X" + std::to_string(called++) : "F" + std::to_string(defined++);
    auto user = function->getAttrOfType<mlir::StringAttr>("toy.name");
    c.linkable.functions.push_back({symbol.str(), names[symbol], !function.isExternal(),
                                    user ? user.str() : symbol.str(), c.signatures.lookup(symbol)});
  }
  for (Function &f : *c.code->module) {
    StringRef name = f.getName();
    for (size_t dot = name.size(); dot != StringRef::npos; dot = name.substr(0, dot).rfind('.'))
      if (auto it = names.find(name.substr(0, dot)); it != names.end()) {
        f.setName(it->second + name.substr(dot));
        break;
      }
  }
}

void Compiler::lower(CompiledUnit &c) {
  if (!engine.start(c.error))
    return;
  markRecursion(*c.ir);
  markLentArguments(*c.ir);
  if (!cache) {
    cache = std::make_unique<CodeCache>(options.cache);
    ready = std::make_unique<ReadyKernels>(options.cache ? cache->build() : "");
  }
  if (usesDevice()) {
    std::unique_ptr<Module> module = newDeviceModule(*c.code->context);
    DeviceCode device{*module, {}};
    emitFunctions(c, &device);
    c.linkable.kernels = tableOf(device);
  } else
    emitFunctions(c, nullptr);
  nameFunctions(c);
}

bool Compiler::isQuick(const CompiledUnit &c) const {
  return options.optimization == 0 ||
         (options.optimization == CompileOptions::byCost && !options.profile && isCheap(*c.ir));
}

/// PTX of a kernel, from the cache or made. The other kernels of its module are not read: many are forms for sizes that
/// never come, and the driver's compiler takes some ten milliseconds for each.
static std::string ptxOf(CodeCache &cache, StringRef bitcode, const std::string &digest, StringRef kernel,
                         int architecture) {
  std::string key = CodeCache::keyOf(formatv("{0} {1} ptx{2}", digest, kernel, architecture).str()), error;
  if (std::unique_ptr<MemoryBuffer> kept = cache.find(key))
    return kept->getBuffer().str();
  LLVMContext context;
  Expected<std::unique_ptr<Module>> module = getLazyBitcodeModule({bitcode, "kernels"}, context);
  if (module) {
    for (Function &f : make_early_inc_range(**module))
      if (f.getCallingConv() == CallingConv::PTX_Kernel && f.getName() != kernel)
        f.eraseFromParent();
    if (Error problem = (*module)->materializeAll())
      module = std::move(problem);
  }
  std::string ptx = module ? compileToPtx(**module, architecture, error) : toString(module.takeError());
  if (!module || ptx.empty())
    rt::fail(DiagId::DeviceFailed, {"compiling kernels failed: " + (module ? error : ptx)});
  cache.add(key, MemoryBufferRef(ptx, "ptx"));
  return ptx;
}

/// The table of kernels; null where there are none. They are compiled when they run: the device may not be open yet,
/// and many never do.
rt::DeviceKernel **Compiler::tableOf(DeviceCode &code) {
  if (code.kernels.empty())
    return nullptr;
  auto bitcode = std::make_shared<std::string>();
  raw_string_ostream stream(*bitcode);
  WriteBitcodeToFile(code.module, stream);
  auto digest = std::make_shared<const std::string>(cache->keyOf(code.module, "kernels"));
  auto &table = state->kernelTables.emplace_back(std::make_unique<rt::DeviceKernel *[]>(code.kernels.size()));
  for (auto [i, name] : enumerate(code.kernels)) {
    table[i] = rt::handWrittenKernel(name);
    if (table[i])
      continue;
    state->deviceModules.push_back(
        std::make_unique<rt::DeviceModule>([cache = cache.get(), digest, bitcode, name](int capability) {
          return ptxOf(*cache, *bitcode, *digest, name, capability);
        }));
    rt::DeviceKernel kernel{state->deviceModules.back().get(), name};
    table[i] = state->deviceKernels.emplace_back(std::make_unique<rt::DeviceKernel>(std::move(kernel))).get();
  }
  return table.get();
}

std::string Compiler::findInCache(CompiledUnit &c) {
  std::string key = cache->keyOf(*c.code->module, engine.targetKey(c.code->quick, c.code->loops));
  c.code->object = cache->find(key);
  c.fromCache = c.code->object && haveKernels(ObjectKernels(*c.code->object).called);
  return key;
}

/// What a kernel that turned out to be worth it is kept under.
static std::string promotedKey(StringRef digest) { return CodeCache::keyOf(("promoted " + digest).str()); }

/// All are looked for before any is missed: the object of one may have another whose file was lost.
bool Compiler::haveKernels(ArrayRef<std::string> digests) {
  for (const std::string &digest : digests) {
    if (warming || engine.hasKernel(digest))
      continue;
    std::unique_ptr<MemoryBuffer> object = ready->find(digest);
    const bool isReady = object != nullptr;
    if (std::unique_ptr<MemoryBuffer> batch = isReady ? nullptr : cache->find(digest))
      object = cache->find(batch->getBuffer().str());
    if (!object)
      continue;
    const ObjectKernels named(*object);
    if (!haveKernels(named.called))
      continue;
    std::string error; // a kernel that cannot be linked is not there
    engine.linkKernels(std::move(object), /*isKept=*/true, error);
    for (const std::string &linked : isReady ? std::vector<std::string>() : named.defined)
      if (std::unique_ptr<MemoryBuffer> better = cache->find(promotedKey(linked)))
        engine.linkKernels(std::move(better), /*isKept=*/true, error);
  }
  return llvm::all_of(digests, [&](StringRef digest) { return engine.hasKernel(digest); });
}

/// A symbol of a unit, `F0.k1`, with the user's name of the function.
static std::string shownName(const CompiledUnit &c, StringRef symbol) {
  auto [name, rest] = symbol.split('.');
  for (const Linkable::Function &f : c.linkable.functions)
    if (f.name == name)
      return (f.shown + "." + rest).str();
  return symbol.str();
}

void Compiler::splitKernels(CompiledUnit &c) {
  auto isKnown = [&](StringRef digest, StringRef name) {
    if (options.perfMap)
      engine.nameKernel(digest, shownName(c, name));
    bool known = haveKernels(digest.str());
    ++(known ? kernels.kept : kernels.made);
    kernels.ready += known && ready->find(digest);
    return known;
  };
  keepPromoted();
  const bool byCost = options.optimization == CompileOptions::byCost, tiered = byCost && !makesReady;
  for (KernelBatch &batch : takeKernels(*c.code->module, engine.targetKey() + cache->build(), tiered, isKnown)) {
    auto &code = c.kernels.emplace_back(std::make_shared<MachineCode>(c.code->context));
    code->module = std::move(batch.module);
    code->quick = batch.quick;
  }
  c.code->quick = byCost && isQuickAroundKernels(*c.ir, c.code->module->getInstructionCount());
}

void Compiler::optimize(CompiledUnit &c) {
  std::string problems;
  raw_string_ostream stream(problems);
  int64_t optimized = 0;
  for (auto &code : llvm::concat<std::shared_ptr<MachineCode>>(c.kernels, MutableArrayRef(c.code))) {
    const int64_t functions = definedFunctions(*code->module);
    if (dropCounts(*code->module); verifyModule(*code->module, &stream))
      c.error = "the generated LLVM IR is not valid: " + problems;
    else
      engine.optimize(code, optimized);
    optimized += functions;
  }
}

void Compiler::assemble(CompiledUnit &c) {
  for (auto &code : llvm::concat<std::shared_ptr<MachineCode>>(c.kernels, MutableArrayRef(c.code)))
    if (c.error.empty())
      engine.assemble(code, c.error);
}

void Compiler::keepPromoted() {
  for (const Promoter::Kernel &kernel : engine.takePromoted())
    cache->add(promotedKey(kernel.digest), *kernel.object);
}

/// A kernel's file names the object that it is in.
void Compiler::keep(const std::string &key, const CompiledUnit &c) {
  for (const auto &code : c.kernels) {
    if (makesReady)
      readyObjects.push_back(code->object->getBuffer().str());
    std::string batch = CodeCache::keyOf(code->object->getBuffer());
    cache->add(batch, *code->object);
    for (const std::string &digest : ObjectKernels(*code->object).defined)
      cache->add(digest, MemoryBufferRef(batch, "batch"));
  }
  cache->add(key, *c.code->object);
}

/// What LLVM made of loops: those without vectors, and checks that are made once, before the loop.
void Compiler::noteLoops(const CompiledUnit &c) {
  for (auto &[number, reason] : scalarLoopsOf(*c.code->object)) {
    if (number >= c.linkable.sites.size())
      continue;
    mlir::Location place = c.linkable.sites[number];
    if (reason.empty())
      llvm::erase_if(log.loops, [&](const LoopCost &cost) { return cost.isCheck && cost.place == place; });
    else
      log.loops.push_back({place, "no vector code: " + reason});
  }
}

void Compiler::link(CompiledUnit &c) {
  for (auto function : c.ir->getOps<mlir::func::FuncOp>()) {
    auto user = function->getAttrOfType<mlir::StringAttr>("toy.name");
    if (!user || function.isExternal() || function->hasAttr(triedCall))
      continue;
    auto reason = function->getAttrOfType<mlir::StringAttr>("toy.reason");
    c.functions.push_back(
        {user.str(), reason ? reason.str() : "first call with these types", function->hasAttr("toy.dynamic")});
  }
  for (const auto &code : c.kernels)
    engine.linkKernels(std::move(code->object), /*isKept=*/false, c.error);
  if (!warming && c.code->object)
    noteLoops(c);
  c.linkable.ir = std::move(c.ir);
  c.linkable.object = std::move(c.code->object);
  engine.link(std::move(c.linkable), c.error);
}

Compiler::Compiler(const CompileOptions &options)
    : engine(options), options(options), makesReady(std::getenv("TOY_MAKE_KERNELS")), state(std::make_unique<State>()) {
}
Compiler::~Compiler() {
  if (cache)
    keepPromoted();
  if (makesReady && cache && !ReadyKernels::write(makesReady, cache->build(), readyObjects))
    errs() << "cannot write " << makesReady << "\n";
}

void Compiler::setProfiler(Profiler *watching) {
  profiler = watching;
  engine.setProfiler(watching);
}

bool Compiler::usesDevice() const { return options.device && !warming && rt::deviceIsWanted(); }

void Compiler::renew(bool damaged) {
  engine.renew(damaged);
  if (damaged)
    static_cast<void>(state.release());
  state = std::make_unique<State>();
  log = {};
}

} // namespace toy

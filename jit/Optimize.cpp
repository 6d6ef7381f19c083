// SPDX-License-Identifier: Apache-2.0
/// \file
/// The host's machine, and LLVM's passes for it.
#include "jit/AlikeOperands.h"
#include "jit/CarriedExtrema.h"
#include "jit/HoistChecks.h"
#include "jit/InvariantAddresses.h"
#include "jit/LaneConversions.h"
#include "jit/LanePairs.h"
#include "jit/LaneProducts.h"
#include "jit/RecursiveGuards.h"
#include "jit/StripTurns.h"
#include "jit/Target.h"
#include "passes/lowering/Attributes.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <mutex>

using namespace llvm;

namespace toy {

/// What LLVM does by default otherwise. Loops with several ways out are unrolled like others: a check of an index
/// leaves its loop in the cold. Loops are unrolled to 100 instructions, not to the 512 of the processor's loop buffer:
/// they run as long, and are compiled in two thirds of the time. What is asked of all blocks, or of all stores of one,
/// is asked of fewer of them: functions of hundreds of loops, and blocks of thousands of stores, take as long as they
/// are. The same holds for registers: a value is not split among the blocks of a region where there are many of them.
/// A loop down a column has no form for rows of one element, in place of one that gathers elements. And what two
/// branches begin with alike is not put before them: LLVM 22 takes an operand that one of them may leave undefined for
/// the same operand of the other, and gives it another register afterwards (llvm-project#204549). Blocks are merged
/// when they are placed.
static void setLimits() {
  auto &options = cl::getRegisteredOptions();
  for (auto [name, value] : {std::pair("unroll-runtime-multi-exit", "true"),
                             {"memdep-block-number-limit", "100"},
                             {"grow-region-complexity-budget", "1000"},
                             {"dag-maps-huge-region", "200"},
                             {"unroll-partial-threshold", "100"},
                             {"enable-mem-access-versioning", "false"},
                             {"disable-branch-fold", "true"}})
    if (auto it = options.find(name); it != options.end())
      it->second->addOccurrence(0, it->first, value);
}

/// Of the host's features only those that its processor's name does not say: LLVM looks a function's features up by
/// their text, many times a function, and reads that of each that it has not met.
static void nameFewFeatures(orc::JITTargetMachineBuilder &host) {
  std::string problem;
  const Target *target = TargetRegistry::lookupTarget(host.getTargetTriple(), problem);
  if (!target)
    return;
  std::unique_ptr<MCSubtargetInfo> processor(target->createMCSubtargetInfo(host.getTargetTriple(), host.getCPU(), ""));
  StringSet<> named;
  for (const SubtargetFeatureKV &feature : processor->getEnabledProcessorFeatures())
    named.insert(feature.Key);
  SubtargetFeatures few;
  for (const std::string &feature : host.getFeatures().getFeatures())
    if (SubtargetFeatures::isEnabled(feature) != named.contains(SubtargetFeatures::StripFlag(feature)))
      few.AddFeature(feature);
  host.getFeatures() = few;
}

Expected<orc::JITTargetMachineBuilder> targetMachineBuilder(CodeGenOptLevel level) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    setLimits();
  });
  static std::optional<orc::JITTargetMachineBuilder> known;
  static std::mutex finding;
  std::lock_guard lock(finding);
  if (!known) {
    auto host = orc::JITTargetMachineBuilder::detectHost();
    if (!host)
      return host;
    nameFewFeatures(*host);
    known = std::move(*host);
  }
  return orc::JITTargetMachineBuilder(*known).setCodeGenOptLevel(level);
}

CodeGenOptLevel codeLevel(int optimization) {
  return optimization < 3 ? CodeGenOptLevel::Less : CodeGenOptLevel::Default;
}

std::shared_ptr<TargetMachine> makeMachine(CodeGenOptLevel level, std::string &error) {
  auto builder = targetMachineBuilder(level);
  auto target = builder ? builder->createTargetMachine() : builder.takeError();
  if (target)
    return std::move(*target);
  error = toString(target.takeError());
  return nullptr;
}

void eraseUnusedVariants(Module &module) {
  for (Function &f : make_early_inc_range(module))
    if (f.hasFnAttribute(vectorVariant) && f.use_empty())
      f.eraseFromParent();
}

static SmallVector<CallBase *> callsIn(Function &f, function_ref<bool(Function &)> isMeant) {
  SmallVector<CallBase *> calls;
  for (Instruction &i : instructions(f))
    if (auto *call = dyn_cast<CallBase>(&i); call && call->getCalledFunction() && isMeant(*call->getCalledFunction()))
      calls.push_back(call);
  return calls;
}

static bool hasLoops(Function &f) {
  DominatorTree tree(f);
  return !LoopInfo(tree).empty();
}

/// Keeps functions with loops out of a caller that would be large with them, unless it calls them in loops: a call is
/// nothing beside a loop, and the time of some passes grows with the square of a function.
static void keepLoopsApart(Module &module) {
  constexpr unsigned largeCaller = 2500;
  DenseMap<Function *, unsigned> sizes;
  DenseMap<Function *, bool> repeats;
  for (Function &f : module)
    sizes[&f] = f.getInstructionCount();
  for (Function &f : module) {
    const SmallVector<CallBase *> calls = callsIn(f, [](Function &callee) { return !callee.isDeclaration(); });
    unsigned size = sizes[&f];
    for (CallBase *call : calls)
      size += sizes[call->getCalledFunction()];
    if (size <= largeCaller || calls.empty())
      continue;
    DominatorTree tree(f);
    const LoopInfo loops(tree);
    for (CallBase *call : calls) {
      if (loops.getLoopFor(call->getParent()))
        continue;
      auto [it, isNew] = repeats.try_emplace(call->getCalledFunction(), false);
      if (isNew)
        it->second = hasLoops(*call->getCalledFunction());
      if (it->second)
        call->setIsNoInline();
    }
  }
}

/// The outermost loops, where there are several: those of a function, or of the one loop that holds all others.
static SmallVector<Loop *> outermostLoops(const LoopInfo &loops) {
  SmallVector<Loop *> outermost(loops.rbegin(), loops.rend());
  while (outermost.size() == 1) {
    const Loop *only = outermost.front();
    outermost.assign(only->rbegin(), only->rend());
  }
  return outermost;
}

/// Makes a function of each outermost loop of `f` that no error leaves, and of what follows its failed checks.
static SmallVector<Function *> outlineLoopsOf(Function &f) {
  SmallVector<Function *> functions;
  DominatorTree tree(f);
  LoopInfo loops(tree);
  const SmallVector<Loop *> outermost = outermostLoops(loops);
  for (Loop *loop : outermost)
    simplifyLoop(loop, &tree, &loops, nullptr, nullptr, nullptr, false);
  CodeExtractorAnalysisCache cache(f);
  for (Loop *loop : outermost) {
    SmallVector<BasicBlock *> exits;
    loop->getUniqueExitBlocks(exits);
    if (!loop->isLoopSimplifyForm() || any_of(exits, [](BasicBlock *exit) { return exit->isEHPad(); }))
      continue;
    SmallVector<BasicBlock *> blocks(loop->blocks());
    copy_if(exits, std::back_inserter(blocks),
            [](BasicBlock *exit) { return isa<UnreachableInst>(exit->getTerminator()); });
    CodeExtractor extractor(blocks, &tree);
    if (!extractor.isEligible())
      continue;
    if (Function *outlined = extractor.extractCodeRegion(cache)) {
      outlined->setName("loop"); // a shared kernel's is looked up by its name
      outlined->addFnAttr(Attribute::NoInline);
      for (const char *ofWhole : {sharedKernel, kernelElements, runsOnce})
        outlined->removeFnAttr(ofWhole);
      functions.push_back(outlined);
    }
  }
  return functions;
}

static void outlineLoops(Module &module) {
  constexpr unsigned largeFunction = 5000;
  auto isLarge = [](Function &f) { return f.getInstructionCount() > largeFunction; };
  SmallVector<Function *> large;
  for (Function &f : module)
    if (isLarge(f) && !f.hasFnAttribute(vectorVariant))
      large.push_back(&f);
  while (!large.empty())
    for (Function *f : outlineLoopsOf(*large.pop_back_val())) // of a loop: those in it are next, so that this ends
      if (isLarge(*f))
        large.push_back(f);
}

/// Puts what only a function calls, but for the form that other modules call, into it: what does not change from one
/// call to the next is computed once.
static void inlineOnlyCalls(Function &f) {
  constexpr unsigned mostInstructions = 300;
  auto isOnlyHere = [&](Function &callee) {
    return &callee != &f && callee.hasLocalLinkage() && !callee.isDeclaration() && !callee.hasNUsesOrMore(3) &&
           callee.getInstructionCount() <= mostInstructions && !callee.hasFnAttribute(Attribute::NoInline) &&
           !callee.hasFnAttribute(Attribute::Cold);
  };
  for (CallBase *call : callsIn(f, isOnlyHere)) {
    InlineFunctionInfo info;
    if (!call->isNoInline())
      InlineFunction(*call, info);
  }
}

/// Puts small ones of functions that call each other into the others, and larger ones into the only one that calls
/// them: of what a parser's functions do, a call is much.
static void inlineMutualRecursion(ArrayRef<CallGraphNode *> cycle) {
  constexpr unsigned mostInstructions = 80, mostOfOneCaller = 320, mostCalls = 2;
  SmallVector<Function *> functions;
  for (CallGraphNode *node : cycle)
    if (Function *f = node->getFunction(); f && !f->isDeclaration())
      functions.push_back(f);
  for (Function *callee : functions) {
    SmallPtrSet<Function *, 8> callers; // found from the callee: looking for them takes its square with many functions
    for (User *user : callee->users())
      if (auto *call = dyn_cast<CallBase>(user); call && call->getCalledFunction() == callee)
        callers.insert(call->getFunction());
    const unsigned most =
        count_if(functions, [&](Function *f) { return callers.contains(f); }) == 1 ? mostOfOneCaller : mostInstructions;
    if (callers.contains(callee) || callee->getInstructionCount() > most)
      continue;
    for (Function *caller : functions) {
      if (!callers.contains(caller))
        continue;
      SmallVector<CallBase *> calls = callsIn(*caller, [&](Function &called) { return &called == callee; });
      for (CallBase *call : calls.size() <= mostCalls ? calls : SmallVector<CallBase *>()) {
        InlineFunctionInfo info;
        InlineFunction(*call, info);
      }
    }
  }
}

/// What was put into another function need not look for Ctrl-C where it begins: all that calls lead around in a circle
/// enters a function again.
static void dropPolls(Module &module) {
  for (Function &f : module)
    for (Instruction &i : make_early_inc_range(instructions(f)))
      if (i.hasMetadata(entryPoll) && i.getParent() != &f.getEntryBlock() &&
          i.getParent()->getSinglePredecessor() != &f.getEntryBlock()) {
        i.replaceAllUsesWith(Constant::getNullValue(i.getType()));
        i.eraseFromParent();
      }
}

static SmallVector<CallBase *> callsItself(Function &f) {
  return callsIn(f, [&](Function &callee) { return &callee == &f; });
}

static void inlineIntoItself(Function &f, unsigned levels) {
  ValueToValueMapTy map;
  Function *body = CloneFunction(&f, map);
  for (unsigned level = 0; level < levels; ++level)
    for (CallBase *call : callsItself(f)) {
      call->setCalledFunction(body);
      InlineFunctionInfo info;
      if (!InlineFunction(*call, info).isSuccess())
        call->setCalledFunction(&f);
    }
  body->eraseFromParent();
}

/// Puts small functions that call themselves into themselves, up to three levels deep: what a call costs is paid once
/// in several. Where there are loops, it is little beside them. Of others, calls begin with what they ask first.
static void inlineRecursion(Module &module) {
  constexpr unsigned mostInstructions = 200, mostWithLoops = 80, mostSelfCalls = 2;
  CallGraph graph(module);
  SmallVector<std::vector<CallGraphNode *>> cycles;
  for (auto it = scc_begin(&graph); !it.isAtEnd(); ++it)
    if (it->size() > 1)
      cycles.push_back(*it);
  for (const std::vector<CallGraphNode *> &cycle : cycles)
    inlineMutualRecursion(cycle);
  for (Function &f : module)
    if (!f.isDeclaration() && !callsItself(f).empty())
      inlineOnlyCalls(f);
  SmallVector<Function *> functions;
  for (Function &f : module)
    if (!f.isDeclaration())
      functions.push_back(&f);
  for (Function *f : functions) {
    const size_t calls = callsItself(*f).size(), size = f->getInstructionCount();
    if (calls == 0)
      continue;
    if (calls > mostSelfCalls || size > mostInstructions || (size > mostWithLoops && hasLoops(*f)))
      askBeforeCalls(*f);
    else
      inlineIntoItself(*f, size <= mostWithLoops ? 3 : 2);
  }
  dropPolls(module);
}

/// What loop nests need, and nothing else: a small function compiles in a few milliseconds. Loops that run in strips
/// are turned around, so that their end is where they go back.
static void addFewPasses(PassBuilder &builder, ModulePassManager &passes, bool inStrips) {
  auto add = [&](StringRef pipeline) {
    if (Error e = builder.parsePassPipeline(passes, pipeline))
      report_fatal_error(std::move(e));
  };
  add("function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>)");
  add(inStrips ? "function(loop-mssa(loop-rotate,licm),loop(indvars),loop-simplify)"
               : "function(loop-mssa(licm),loop(indvars))");
  if (inStrips)
    passes.addPass(createModuleToFunctionPassAdaptor(StripTurns()));
  add("function(loop-vectorize,instcombine<no-verify-fixpoint>,loop-unroll<O2>,sroa,early-cse,loop-mssa(licm),"
      "simplifycfg)");
  passes.addPass(createModuleToFunctionPassAdaptor(LaneConversions()));
  passes.addPass(createModuleToFunctionPassAdaptor(LaneProducts()));
  passes.addPass(createModuleToFunctionPassAdaptor(LanePairs()));
}

/// Straight code that runs once goes through no pass, and through the fast selector: nothing of it is put anywhere
/// else.
static void leaveStraightCode(Module &module) {
  for (Function &f : module) {
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 4> back;
    if (f.isDeclaration() || !f.hasFnAttribute(runsOnce))
      continue;
    if (FindFunctionBackedges(f, back); !back.empty())
      continue;
    f.addFnAttr(Attribute::NoInline);
    f.addFnAttr(Attribute::OptimizeNone);
  }
}

namespace {
/// Loops of few turns that are written out late divide by the same in each: what two of them have in common is found
/// where it is divisions.
struct CommonDivisions : PassInfoMixin<CommonDivisions> {
  static PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    constexpr unsigned many = 4; // of one divisor
    SmallDenseMap<Value *, unsigned> divisions;
    for (Instruction &i : instructions(function))
      if (i.isIntDivRem() && !isa<Constant>(i.getOperand(1)) && ++divisions[i.getOperand(1)] == many)
        return EarlyCSEPass().run(function, analyses);
    return PreservedAnalyses::all();
  }
};

/// All passes of code generation but one, which takes up to half of its time.
class NoStrengthReduction : public OptPassGate {
  bool shouldRunPass(StringRef pass, StringRef) const override { return pass != "Loop Strength Reduction"; }
  bool isEnabled() const override { return true; }
};
} // namespace

/// For each jump that is threaded past a block, all blocks are looked through for where its values come from; for each
/// vector that is put together of single values, the instructions of its block are numbered again.
static bool isTooLargeFor(StringRef pass, const Function &function) {
  constexpr size_t manyBlocks = 1000, manyInstructions = 4000;
  return (pass == "JumpThreadingPass" && function.size() > manyBlocks) ||
         (pass == "SLPVectorizerPass" &&
          any_of(function, [](const BasicBlock &block) { return block.size() > manyInstructions; }));
}

void optimizeModule(Module &module, TargetMachine &machine, int level, function_ref<bool(const Function *)> goesOn) {
  PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([goesOn](StringRef pass, Any ir) {
    auto *held = any_cast<const Function *>(&ir);
    const Function *function = held ? *held : nullptr;
    return goesOn(function) && !(function && (function->hasOptNone() || isTooLargeFor(pass, *function)));
  });
  PipelineTuningOptions tuning;
  tuning.SLPVectorization = true; // the parts of complex numbers, and fields of structs, side by side
  PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  PassAnalyses analyses(builder);
  builder.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &passes, OptimizationLevel) { passes.addPass(KeepCheckedLoops()); });
  builder.registerVectorizerStartEPCallback([](FunctionPassManager &passes, OptimizationLevel) {
    passes.addPass(LoopSimplifyPass());
    passes.addPass(HoistChecks());
    passes.addPass(LoopSimplifyPass());
    passes.addPass(StripTurns());
    passes.addPass(AlikeOperands());
  });
  builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, OptimizationLevel, ThinOrFullLTOPhase) {
    passes.addPass(createModuleToFunctionPassAdaptor(CommonDivisions()));
    passes.addPass(createModuleToFunctionPassAdaptor(LaneConversions()));
    passes.addPass(createModuleToFunctionPassAdaptor(LaneProducts()));
    passes.addPass(createModuleToFunctionPassAdaptor(LanePairs()));
    passes.addPass(createModuleToFunctionPassAdaptor(CarriedExtrema()));
  });
  ModulePassManager passes;
  leaveStraightCode(module);
  if (level >= 2) {
    outlineLoops(module);
    keepLoopsApart(module);
    inlineRecursion(module);
  }
  if (level >= 3)
    passes = builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3);
  else
    addFewPasses(builder, passes, module.getFunction(turnMark) != nullptr);
  SmallVector<GlobalValue *> variants; // no call names them yet
  for (Function &f : module)
    if (f.hasFnAttribute(vectorVariant))
      variants.push_back(&f);
  appendToCompilerUsed(module, variants);
  passes.run(module, analyses.modules);
  if (GlobalVariable *used = module.getGlobalVariable("llvm.compiler.used"))
    used->eraseFromParent();
}

void prepareAddresses(Module &module, bool loops) {
  constexpr unsigned manyInstructions = 1500;
  static NoStrengthReduction none;
  const bool isLarge = module.getInstructionCount() > manyInstructions;
  const bool hasSums = !isLarge && loops && !multipliesForAddresses(module);
  if (hasSums)
    moveInvariantAddresses(module);
  module.getContext().setOptPassGate(isLarge || hasSums ? none : getGlobalPassGate());
}

} // namespace toy

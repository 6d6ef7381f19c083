// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers of places as debug information, and stores of them in front of calls.
#include "passes/lowering/CodePlaces.h"

#include "passes/lowering/Attributes.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace toy {

static DISubprogram *newSubprogram(DIBuilder &builder, DIFile *file, StringRef name) {
  DISubroutineType *type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  return builder.createFunction(file, name, name, file, 1, type, 1, DINode::FlagZero, DISubprogram::SPFlagDefinition);
}

static DIFile *fileOf(DIBuilder &builder) { return builder.createFile("places", "."); }

CodePlaces::CodePlaces(Module &module, std::vector<mlir::Location> &places) : module(module), places(places) {
  DIBuilder builder(module);
  unknown = DISubprogram::getDistinct(module.getContext(), nullptr, "", "", fileOf(builder), 1, nullptr, 1, nullptr, 0,
                                      0, DINode::FlagZero, DISubprogram::SPFlagZero, nullptr);
}

DebugLoc CodePlaces::of(mlir::Location place) {
  auto [it, isNew] = numbers.try_emplace(place, 0);
  if (isNew) {
    places.push_back(place);
    it->second = places.size();
  }
  return DILocation::get(module.getContext(), it->second, 0, unknown);
}

static Value *depthOf(Function &function) { return function.getArg(function.arg_size() - 1); }

/// Volatile: a handler of signals reads them.
static void storeDepth(IRBuilder<> &b, Value *depth) {
  Module &module = *b.GetInsertBlock()->getModule();
  b.CreateStore(depth, module.getOrInsertGlobal("toy_rt_profile_depth", b.getInt64Ty()), /*isVolatile=*/true);
}

static void storePlace(IRBuilder<> &b, Value *depth, int64_t number) {
  Module &module = *b.GetInsertBlock()->getModule();
  Value *all = module.getOrInsertGlobal("toy_rt_profile_places", b.getInt64Ty());
  b.CreateStore(b.getInt64(number), b.CreateGEP(b.getInt64Ty(), all, {depth}), /*isVolatile=*/true);
}

void CodePlaces::tellReturn(IRBuilder<> &b, Function &function, bool isLibrary) {
  Value *depth = depthOf(function);
  if (!isLibrary)
    storePlace(b, depth, b.getCurrentDebugLocation().getLine() + inCode);
  storeDepth(b, isLibrary ? b.CreateSub(depth, b.getInt64(1)) : depth);
}

static bool runsLoops(CallBase &call) {
  auto isKernel = [](Value *v) {
    auto *function = dyn_cast<Function>(v);
    return function && function->hasFnAttribute(sharedKernel);
  };
  return isKernel(call.getCalledOperand()) || any_of(call.args(), isKernel);
}

void CodePlaces::tellCalls(Function &function, bool isLibrary) {
  SmallVector<CallBase *> calls;
  for (Instruction &i : instructions(function))
    if (auto *call = dyn_cast<CallBase>(&i); call && !isa<IntrinsicInst>(i) && !call->onlyReadsMemory() && !isLibrary)
      calls.push_back(call);
  Value *depth = depthOf(function);
  for (CallBase *call : calls)
    if (call->getDebugLoc()) {
      const int64_t number = call->getDebugLoc().getLine();
      const bool loops = runsLoops(*call);
      IRBuilder<> b(call);
      storePlace(b, depth, loops ? number + inCode : number);
      storeDepth(b, depth);
      if (loops || call->isTerminator())
        continue;
      b.SetInsertPoint(call->getNextNode());
      storePlace(b, depth, number + inCode);
    }
  IRBuilder<> b(&function.getEntryBlock(), function.getEntryBlock().begin());
  storePlace(b, depth, isLibrary ? 0 : inCode);
  if (!isLibrary)
    storeDepth(b, depth);
}

void CodePlaces::finish() {
  LLVMContext &context = module.getContext();
  DIBuilder builder(module);
  DIFile *file = fileOf(builder);
  builder.createCompileUnit(DISourceLanguageName(dwarf::DW_LANG_C99), file, "toy", /*isOptimized=*/true, "", 0, "",
                            DICompileUnit::LineTablesOnly);
  for (Function &function : module) {
    if (none_of(instructions(function), [](Instruction &i) { return static_cast<bool>(i.getDebugLoc()); }))
      continue;
    DISubprogram *own = newSubprogram(builder, file, function.getName());
    function.setSubprogram(own);
    for (Instruction &i : instructions(function))
      if (const DebugLoc &location = i.getDebugLoc())
        i.setDebugLoc(DILocation::get(context, location.getLine(), 0, own));
      else if (isa<CallBase>(i)) // LLVM wants to know where inlined code was called
        i.setDebugLoc(DILocation::get(context, 0, 0, own));
  }
  builder.finalize();
  module.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
  module.addModuleFlag(Module::Warning, "Dwarf Version", 5);
}

} // namespace toy

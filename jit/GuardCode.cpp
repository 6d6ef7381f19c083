// SPDX-License-Identifier: Apache-2.0
/// \file
/// Guards of a specialization as machine code.
#include "jit/EngineImpl.h"
#include "passes/lowering/SizeEmitter.h"

#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace toy {

Engine::SizeGuards Engine::compileGuards(ArrayRef<std::optional<int64_t>> fixed, ArrayRef<SizeFact> facts,
                                         const StringMap<unsigned> &places) {
  std::string error;
  if (!start(error))
    return nullptr;
  LLVMContext context;
  Module module("guards", context);
  setTarget(module);
  IRBuilder<> b(context);
  auto *function = Function::Create(FunctionType::get(b.getInt1Ty(), {b.getPtrTy()}, false), Function::ExternalLinkage,
                                    "guards", module);
  function->addRetAttr(Attribute::ZExt);
  b.SetInsertPoint(BasicBlock::Create(context, "", function));
  auto load = [&](unsigned place) {
    return b.CreateLoad(b.getInt64Ty(), b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), function->getArg(0), place));
  };
  auto named = [&](StringRef name) { return load(places.lookup(name)); };
  SizeEmitter emitter(b, named);
  Value *all = b.getTrue();
  for (auto [i, size] : enumerate(fixed))
    if (size)
      all = b.CreateAnd(all, b.CreateICmpEQ(load(i), b.getInt64(*size)));
  for (const SizeFact &fact : facts)
    if (fact.dim.isUnknown())
      all = b.getFalse();
    else {
      CmpInst::Predicate relation = fact.relation == SizeFact::Zero      ? CmpInst::ICMP_EQ
                                    : fact.relation == SizeFact::NonZero ? CmpInst::ICMP_NE
                                                                         : CmpInst::ICMP_SGE;
      all = b.CreateAnd(all, b.CreateICmp(relation, emitter.compute(fact.dim).value, b.getInt64(0)));
    }
  b.CreateRet(b.CreateAnd(all, emitter.exact())); // what cannot be computed does not hold
  auto object = orc::SimpleCompiler(*impl->quickMachine)(module);
  auto dylib = impl->jit->createJITDylib("guards" + std::to_string(impl->guards++));
  if (!object || !dylib) {
    consumeError(joinErrors(object.takeError(), dylib.takeError()));
    return nullptr;
  }
  if (Error e = impl->jit->addObjectFile(*dylib, std::move(*object))) {
    consumeError(std::move(e));
    return nullptr;
  }
  auto address = impl->jit->lookup(*dylib, "guards");
  if (!address) {
    consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<bool (*)(const int64_t *)>();
}

} // namespace toy

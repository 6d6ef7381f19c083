// SPDX-License-Identifier: Apache-2.0
/// \file
/// Guards of a compiled form as machine code.
#include "jit/EngineImpl.h"

#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace toy {

namespace {
/// Emits the steps of sizes. `isExact` says whether none so far left 64 bits or divided by 0: what cannot be computed does not hold.
struct GuardEmitter : DimComputation<Value *> {
  GuardEmitter(IRBuilder<> &b, Value *sizes, const StringMap<unsigned> &places) : b(b), sizes(sizes), places(places), isExact(b.getTrue()) {}

  Value *load(unsigned place) { return b.CreateLoad(b.getInt64Ty(), b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), sizes, place)); }
  Value *constant(int64_t n) override { return b.getInt64(n); }
  Value *symbol(StringRef name) override { return load(places.lookup(name)); }

  Value *combine(Operation op, Value *left, Value *right) override {
    switch (op) {
    case Add: return checked(Intrinsic::sadd_with_overflow, left, right);
    case Subtract: return checked(Intrinsic::ssub_with_overflow, left, right);
    case Multiply: return checked(Intrinsic::smul_with_overflow, left, right);
    case FloorDivide: return floorDivide(left, right);
    case Minimum: return b.CreateBinaryIntrinsic(Intrinsic::smin, left, right);
    case Maximum: return b.CreateBinaryIntrinsic(Intrinsic::smax, left, right);
    }
    llvm_unreachable("all operations are listed");
  }

  Value *checked(Intrinsic::ID operation, Value *left, Value *right) {
    Value *pair = b.CreateBinaryIntrinsic(operation, left, right);
    isExact = b.CreateAnd(isExact, b.CreateNot(b.CreateExtractValue(pair, 1)));
    return b.CreateExtractValue(pair, 0);
  }

  Value *floorDivide(Value *left, Value *right) {
    Value *zero = b.getInt64(0), *overflows = b.CreateAnd(b.CreateICmpEQ(left, b.getInt64(INT64_MIN)), b.CreateICmpEQ(right, b.getInt64(-1)));
    Value *isBad = b.CreateOr(b.CreateICmpEQ(right, zero), overflows), *divisor = b.CreateSelect(isBad, b.getInt64(1), right);
    isExact = b.CreateAnd(isExact, b.CreateNot(isBad));
    Value *quotient = b.CreateSDiv(left, divisor), *rest = b.CreateSub(left, b.CreateMul(quotient, divisor));
    Value *isBelow = b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSLT(b.CreateXor(left, divisor), zero));
    return b.CreateSub(quotient, b.CreateZExt(isBelow, b.getInt64Ty()));
  }

  Value *holds(const SizeFact &fact) {
    if (fact.dim.isUnknown())
      return b.getFalse();
    Value *value = compute(fact.dim), *zero = b.getInt64(0);
    return fact.relation == SizeFact::Zero ? b.CreateICmpEQ(value, zero) : fact.relation == SizeFact::NonZero ? b.CreateICmpNE(value, zero) : b.CreateICmpSGE(value, zero);
  }

  IRBuilder<> &b;
  Value *sizes;
  const StringMap<unsigned> &places;
  Value *isExact;
};
} // namespace

Engine::SizeGuards Engine::compileGuards(ArrayRef<std::optional<int64_t>> fixed, ArrayRef<SizeFact> facts, const StringMap<unsigned> &places) {
  std::string error;
  if (!impl->start(error))
    return nullptr;
  LLVMContext context;
  Module module("guards", context);
  module.setDataLayout(impl->machine->createDataLayout());
  module.setTargetTriple(impl->machine->getTargetTriple());
  IRBuilder<> b(context);
  auto *function = Function::Create(FunctionType::get(b.getInt1Ty(), {b.getPtrTy()}, false), Function::ExternalLinkage, "guards", module);
  function->addRetAttr(Attribute::ZExt);
  b.SetInsertPoint(BasicBlock::Create(context, "", function));
  GuardEmitter emitter(b, function->getArg(0), places);
  Value *all = b.getTrue();
  for (auto [i, size] : enumerate(fixed))
    if (size)
      all = b.CreateAnd(all, b.CreateICmpEQ(emitter.load(i), b.getInt64(*size)));
  for (const SizeFact &fact : facts)
    all = b.CreateAnd(all, emitter.holds(fact));
  b.CreateRet(b.CreateAnd(all, emitter.isExact));
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

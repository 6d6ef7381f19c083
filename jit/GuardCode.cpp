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
struct GuardEmitter {
  IRBuilder<> &b;
  Value *sizes;
  const StringMap<unsigned> &places;

  Value *load(unsigned place) { return b.CreateLoad(b.getInt64Ty(), b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), sizes, place)); }

  Value *atom(mlir::MLIRContext *context, StringRef text) {
    auto parts = Dim::atomParts(context, text);
    if (!parts)
      return load(places.lookup(text));
    Value *left = size(parts->left), *right = size(parts->right);
    if (parts->kind == Dim::Atom::Min || parts->kind == Dim::Atom::Max)
      return b.CreateBinaryIntrinsic(parts->kind == Dim::Atom::Min ? Intrinsic::smin : Intrinsic::smax, left, right);
    // Floor division; by 0 it is 0, as SizeTest has it.
    Value *zero = b.getInt64(0), *isZero = b.CreateICmpEQ(right, zero), *divisor = b.CreateSelect(isZero, b.getInt64(1), right);
    Value *quotient = b.CreateSDiv(left, divisor), *rest = b.CreateSub(left, b.CreateMul(quotient, divisor));
    Value *isBelow = b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSLT(b.CreateXor(left, divisor), zero));
    Value *floor = b.CreateSelect(isZero, zero, b.CreateSub(quotient, b.CreateZExt(isBelow, b.getInt64Ty())));
    return parts->kind == Dim::Atom::Quotient ? floor : b.CreateSub(left, b.CreateMul(floor, right));
  }

  Value *size(Dim dim) {
    Value *sum = b.getInt64(0);
    dim.forEachTerm([&](int64_t coefficient, ArrayRef<std::string> atoms) {
      Value *term = b.getInt64(coefficient);
      for (const std::string &text : atoms)
        term = b.CreateMul(term, atom(dim.getAttr().getContext(), text));
      sum = b.CreateAdd(sum, term);
    });
    return sum;
  }

  Value *holds(const SizeFact &fact) {
    Value *value = size(fact.dim), *zero = b.getInt64(0);
    return fact.relation == SizeFact::Zero ? b.CreateICmpEQ(value, zero) : fact.relation == SizeFact::NonZero ? b.CreateICmpNE(value, zero) : b.CreateICmpSGE(value, zero);
  }
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
  GuardEmitter emitter{b, function->getArg(0), places};
  Value *all = b.getTrue();
  for (auto [i, size] : enumerate(fixed))
    if (size)
      all = b.CreateAnd(all, b.CreateICmpEQ(emitter.load(i), b.getInt64(*size)));
  for (const SizeFact &fact : facts)
    all = b.CreateAnd(all, emitter.holds(fact));
  b.CreateRet(all);
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

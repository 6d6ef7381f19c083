// SPDX-License-Identifier: Apache-2.0
/// \file
/// The first use of LLVM's code generator reads its tables and pages from disk and builds its registries. A small function is generated on a
/// thread of its own as soon as it is known that something will be compiled, while the user's functions are still on their way.
#include "jit/Engine.h"
#include "jit/Target.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>
#include <thread>

using namespace llvm;

namespace toy {

void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
}

/// `for (i = 0; i < n; ++i) x[i] = x[i] * 2` on vectors, as kernels are.
static void buildLoop(Module &module) {
  IRBuilder<> b(module.getContext());
  Type *vector = FixedVectorType::get(b.getDoubleTy(), 4);
  auto *f = Function::Create(FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty()}, false), Function::ExternalLinkage, "warm_up", module);
  BasicBlock *entry = BasicBlock::Create(b.getContext(), "", f), *loop = BasicBlock::Create(b.getContext(), "", f),
             *exit = BasicBlock::Create(b.getContext(), "", f);
  b.SetInsertPoint(entry);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  PHINode *i = b.CreatePHI(b.getInt64Ty(), 2);
  Value *at = b.CreateInBoundsGEP(vector, f->getArg(0), i), *next = b.CreateAdd(i, b.getInt64(1));
  b.CreateStore(b.CreateFMul(b.CreateLoad(vector, at), ConstantFP::get(vector, 2)), at);
  i->addIncoming(b.getInt64(0), entry);
  i->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpSLT(next, f->getArg(1)), loop, exit);
  b.SetInsertPoint(exit);
  b.CreateRetVoid();
}

static void warmUpCodeGenerator() {
  auto builder = targetMachineBuilder(CodeGenOptLevel::Less);
  if (!builder)
    return consumeError(builder.takeError());
  auto machine = builder->createTargetMachine();
  if (!machine)
    return consumeError(machine.takeError());
  LLVMContext context;
  Module module("warm-up", context);
  module.setDataLayout((*machine)->createDataLayout());
  module.setTargetTriple((*machine)->getTargetTriple());
  buildLoop(module);
  SmallString<0> object;
  raw_svector_ostream out(object);
  legacy::PassManager passes;
  MCContext *mc = nullptr;
  if (!(*machine)->addPassesToEmitMC(passes, mc, out, true))
    passes.run(module);
}

void expectCompiles() {
  static std::jthread thread;
  if (!thread.joinable() && std::thread::hardware_concurrency() > 1)
    thread = std::jthread(warmUpCodeGenerator);
}

Expected<orc::JITTargetMachineBuilder> targetMachineBuilder(CodeGenOptLevel level) {
  initializeTarget();
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (host)
    host->setCodeGenOptLevel(level);
  return host;
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Quick kernels that count, and the thread that makes better ones.
#include "jit/Promotion.h"

#include "jit/SharedKernels.h"
#include "jit/Target.h"
#include "passes/lowering/Attributes.h"
#include "runtime/Apart.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/IR/IRBuilder.h"

#include <csignal>
#include <limits>
#include <sched.h>

using namespace llvm;

namespace toy {

/// Elements after which code has cost more than its optimization takes (some milliseconds).
constexpr int64_t manyElements = 1 << 21;

static CallInst *elementsTold(Function &kernel) {
  for (Instruction &i : kernel.getEntryBlock())
    if (auto *call = dyn_cast<CallInst>(&i);
        call && call->getCalledFunction() && call->getCalledFunction()->getName() == kernelElements)
      return call;
  return nullptr;
}

bool canCount(Function &kernel) { return elementsTold(kernel); }

void dropCounts(Module &module) {
  Function *told = module.getFunction(kernelElements);
  if (!told)
    return;
  for (User *call : make_early_inc_range(told->users()))
    cast<CallInst>(call)->eraseFromParent();
  told->eraseFromParent();
}

/// The data of a quick kernel.
static GlobalVariable *newTier(Module &module, StringRef digest, StringRef bitcode) {
  LLVMContext &context = module.getContext();
  auto text = [&](StringRef bytes) {
    Constant *data = ConstantDataArray::getString(context, bytes, /*AddNull=*/false);
    return new GlobalVariable(module, data->getType(), /*isConstant=*/true, GlobalValue::PrivateLinkage, data);
  };
  Type *pointer = PointerType::get(context, 0), *word = Type::getInt64Ty(context);
  auto *type = StructType::get(context, {pointer, word, pointer, word, pointer});
  Constant *fields[] = {Constant::getNullValue(pointer), ConstantInt::get(word, manyElements), text(bitcode),
                        ConstantInt::get(word, bitcode.size()), text(digest)};
  auto *tier = new GlobalVariable(module, type, /*isConstant=*/false, GlobalValue::ExternalLinkage,
                                  ConstantStruct::get(type, fields), tierSymbol(digest));
  tier->setAlignment(Align(alignof(KernelTier)));
  return tier;
}

void countRuns(Function &kernel, StringRef digest, StringRef bitcode) {
  Module &module = *kernel.getParent();
  GlobalVariable *tier = newTier(module, digest, bitcode);
  CallInst *told = elementsTold(kernel);
  Value *elements = told->getArgOperand(0);
  BasicBlock &entry = kernel.getEntryBlock(), *body = entry.splitBasicBlock(told, "run");
  told->eraseFromParent();
  auto block = [&](const char *name) { return BasicBlock::Create(module.getContext(), name, &kernel, body); };
  BasicBlock *better = block("better"), *count = block("count"), *enough = block("enough");
  entry.getTerminator()->eraseFromParent();
  IRBuilder<> b(&entry);
  Type *pointer = b.getPtrTy();
  Value *left = b.CreateStructGEP(tier->getValueType(), tier, 1);
  auto atomic = [](auto *access, AtomicOrdering order) {
    access->setAlignment(Align(8));
    access->setOrdering(order);
    return access;
  };
  Value *known = atomic(b.CreateLoad(pointer, tier), AtomicOrdering::Acquire);
  b.CreateCondBr(b.CreateIsNull(known), count, better);
  b.SetInsertPoint(count);
  Value *now = b.CreateSub(atomic(b.CreateLoad(b.getInt64Ty(), left), AtomicOrdering::Monotonic), elements);
  atomic(b.CreateStore(now, left), AtomicOrdering::Monotonic);
  b.CreateCondBr(b.CreateICmpSLT(now, b.getInt64(0)), enough, body);
  b.SetInsertPoint(enough);
  auto promote = module.getOrInsertFunction("toy_rt_promote", pointer, pointer, pointer, b.getInt64Ty());
  Value *promoter = module.getOrInsertGlobal("toy.promoter", b.getInt8Ty());
  Value *made = b.CreateCall(promote, {tier, promoter, elements});
  b.CreateCondBr(b.CreateIsNull(made), body, better);
  b.SetInsertPoint(better);
  PHINode *code = b.CreatePHI(pointer, 2);
  code->addIncoming(known, &entry);
  code->addIncoming(made, enough);
  CallInst *call =
      b.CreateCall(kernel.getFunctionType(), code, SmallVector<Value *>(make_pointer_range(kernel.args())));
  call->setTailCallKind(CallInst::TCK_MustTail);
  b.CreateRetVoid();
}

/// A second thread would only take the processor from the program.
static bool hasOneProcessor() {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) == 1;
}

void *promoteKernel(KernelTier *tier, Promoter *promoter, int64_t elements) {
  promoter->ask(*tier);
  return elements >= manyElements || hasOneProcessor() ? promoter->await(*tier) : nullptr;
}

Promoter::~Promoter() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

void Promoter::ask(KernelTier &tier) {
  std::lock_guard lock(mutex);
  if (stopping || tier.left >= 0) // another thread has asked
    return;
  tier.left = std::numeric_limits<int64_t>::max();
  asked.push_back(&tier);
  if (!thread.joinable()) {
    sigset_t all, before; // the program's signals are for its other threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread = std::thread([this] { work(); });
    } catch (const std::system_error &) { // there is none to be had: quick code does
      stopping = true;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  changed.notify_all();
}

void *Promoter::await(KernelTier &tier) {
  std::unique_lock lock(mutex);
  while (!stopping && !rt::isInterrupted() && (current == &tier || is_contained(asked, &tier)))
    changed.wait_for(lock, std::chrono::milliseconds(20)); // Ctrl-C notifies nobody
  return tier.code;
}

std::vector<Promoter::Kernel> Promoter::takeMade() {
  std::lock_guard lock(mutex);
  return std::exchange(done, {});
}

void Promoter::work() {
  std::string problem;
  std::shared_ptr<TargetMachine> machine = makeMachine(codeLevel(level), problem);
  std::unique_lock lock(mutex);
  if (!machine)
    stopping = true;
  while (true) {
    changed.wait(lock, [&] { return stopping || !asked.empty(); });
    if (stopping)
      return;
    current = asked.front();
    asked.pop_front();
    lock.unlock();
    Kernel kernel{std::string(current->digest, digestLength), compile(*machine, *current)};
    const bool linked = kernel.object && !stopping && link(*kernel.object);
    lock.lock();
    if (linked) {
      ++made;
      done.push_back(std::move(kernel));
    }
    current = nullptr;
    changed.notify_all();
  }
}

std::unique_ptr<MemoryBuffer> Promoter::compile(TargetMachine &machine, const KernelTier &tier) {
  LLVMContext context;
  auto module = parseBitcodeFile(MemoryBufferRef(StringRef(tier.bitcode, tier.size), "kernel"), context);
  if (!module) {
    consumeError(module.takeError());
    return nullptr;
  }
  Function *kernel = (*module)->getFunction(sharedKernelName);
  kernel->setName(kernelSymbol(StringRef(tier.digest, digestLength)));
  kernel->setLinkage(GlobalValue::ExternalLinkage);
  dropCounts(**module);
  optimizeModule(**module, machine, level, [&](const Function *) { return !stopping; });
  eraseUnusedVariants(**module);
  sanitize(**module, machine);
  prepareAddresses(**module, /*loops=*/false);
  auto object = orc::SimpleCompiler(machine)(**module);
  if (!object) {
    consumeError(object.takeError());
    return nullptr;
  }
  return std::move(*object);
}

} // namespace toy

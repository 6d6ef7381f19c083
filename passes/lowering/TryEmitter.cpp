// SPDX-License-Identifier: Apache-2.0
/// \file
/// Blocks whose errors are caught: calls of them by the runtime, what they fail with, and what was caught.
#include "passes/lowering/FunctionEmitter.h"

#include "passes/lowering/Attributes.h"

using namespace llvm;

namespace toy {

/// Where a value lies that is given or taken by way of memory: a word for an object or a part of a scalar.
static Value *wordAt(IRBuilder<> &b, Value *words, unsigned i) {
  return b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), words, i);
}

/// `void NAME.tried(int64_t *words, int64_t depth)`: calls a block with the words as arguments, and puts its results in
/// their place. The block owns its arguments, so it gets references of its own, which are taken back where it fails.
static Function *throughWords(Module &module, mlir::func::FuncOp block, Function *body) {
  LLVMContext &context = module.getContext();
  IRBuilder<> b(context);
  const std::string name = (block.getSymName() + ".tried").str();
  if (Function *known = module.getFunction(name))
    return known;
  auto *f = Function::Create(FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty()}, false),
                             Function::InternalLinkage, name, module);
  f->addFnAttr(Attribute::getWithUWTableKind(context, UWTableKind::Default));
  b.SetInsertPoint(BasicBlock::Create(context, "entry", f));
  SmallVector<Value *> arguments;
  auto take = [&] {
    unsigned i = arguments.size();
    arguments.push_back(b.CreateLoad(body->getArg(i)->getType(), wordAt(b, f->getArg(0), i)));
  };
  for (mlir::Type type : block.getArgumentTypes()) {
    take();
    auto tensor = dyn_cast<TensorType>(type);
    if (tensor && tensor.isScalar()) {
      if (tensor.isComplex())
        take();
      continue;
    }
    b.CreateCall(module.getOrInsertFunction(forObject("toy_rt_retain", type), b.getVoidTy(), b.getPtrTy()),
                 {arguments.back()});
  }
  arguments.push_back(f->getArg(1));
  CallInst *call = b.CreateCall(body, arguments);
  auto *parts = dyn_cast<StructType>(call->getType());
  for (unsigned i = 0; i < (parts ? parts->getNumElements() : 1); ++i)
    b.CreateStore(parts ? b.CreateExtractValue(call, i) : call, wordAt(b, f->getArg(0), i));
  b.CreateRetVoid();
  return f;
}

/// `toy_rt_try(call, words, block, depth)`: the runtime calls the block and catches its errors. It counts as no call.
void FunctionEmitter::emitTry(mlir::func::CallOp op) {
  setSite(op);
  auto block = op->getParentOfType<mlir::ModuleOp>().lookupSymbol<mlir::func::FuncOp>(op.getCallee());
  Function *body = declare(module, block);
  SmallVector<Value *> values;
  for (mlir::Value v : op.getOperands())
    append(values, v);
  auto *parts = dyn_cast<StructType>(body->getReturnType());
  const size_t results = parts ? parts->getNumElements() : 1;
  Value *words = stackArray(b.getInt64Ty(), std::max(values.size(), results));
  for (auto [i, value] : enumerate(values))
    b.CreateStore(value, wordAt(b, words, i));
  tables.operations.push_back(op);
  Value *address = tableWord("toy.data", tables.operations.size(), b.getPtrTy());
  address->setName("try.call");
  scalars.call("toy_rt_try", b.getVoidTy(),
               {address, words, throughWords(module, block, body), f->getArg(f->arg_size() - 1)});
  unsigned part = 0;
  placeResults(op, [&] {
    Value *word = b.CreateLoad(parts ? parts->getElementType(part) : body->getReturnType(), wordAt(b, words, part));
    ++part;
    return word;
  });
}

void FunctionEmitter::emit(SystemOp op) {
  if (op->hasAttr("toy.noted")) // the block returns what says so
    callWithObjects("toy_rt_note_failure", op, op->getOperands(), false);
  else if (op.getFunction() == "caught")
    slots[op.getResult(0)].object =
        scalars.call("toy_rt_caught", b.getPtrTy(), {slots[op.getArguments()[0]].scalar.re});
  else
    emitEval(op);
}

void FunctionEmitter::emit(AbsentOp op) {
  auto tensor = dyn_cast<TensorType>(op.getResult().getType());
  if (!tensor || !tensor.isScalar())
    return emitEval(op);
  Value *none = Constant::getNullValue(scalars.partType(tensor.getDtype()));
  slots[op.getResult()].scalar = {none, tensor.isComplex() ? none : nullptr};
}

} // namespace toy

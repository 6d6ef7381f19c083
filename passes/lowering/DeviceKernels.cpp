// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups as kernels of a CUDA device, from the same elements as the loops of the host and in the same order, so that
/// results have the same bits. Launches, and maps: 16 bytes a thread where the index allows it.
#include "passes/lowering/KernelEmitter.h"

#include "runtime/Value.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

#include <set>

using namespace llvm;

namespace toy {

bool KernelEmitter::isForDevice(FusedOp op) {
  return llvm::all_of(op.getBody().front(), [](mlir::Operation &inner) {
    if (auto group = dyn_cast<FusedOp>(inner))
      return isForDevice(group);
    if (auto concat = dyn_cast<ConcatOp>(inner); concat && concat.getParts().size() > 8)
      return false; // copies by the host
    return !isa<FloorDivOp, ModOp, PowOp>(inner) || kindOf(tensorTypeOf(inner.getResult(0)).getDtype()) > DKind::Int;
  });
}

/// What one of a thread's special registers holds.
Value *KernelEmitter::special(Intrinsic::ID which) {
  return k.CreateZExt(k.CreateIntrinsic(which, {}), k.getInt64Ty());
}

Value *KernelEmitter::threadNumber(bool isAnyBlock) {
  leastBlock = isAnyBlock ? warp : threadsOfBlock;
  Value *size = isAnyBlock ? special(Intrinsic::nvvm_read_ptx_sreg_ntid_x) : i64(threadsOfBlock);
  return k.CreateAdd(k.CreateMul(special(Intrinsic::nvvm_read_ptx_sreg_ctaid_x), size, "", true, true),
                     special(Intrinsic::nvvm_read_ptx_sreg_tid_x), "", true, true);
}

/// A device divides words of 64 bits in about a hundred instructions: what is divided by a size that the caller knows
/// is multiplied instead (rt::Divisor).
Value *KernelEmitter::quotient(Value *n, Value *size) {
  auto known = find_if(captures, [&](auto &entry) { return entry.second == size; });
  if (!device || isa<Constant>(size) || known == captures.end())
    return k.CreateUDiv(n, size);
  Value *callerSize = known->first;
  ScalarEmitter calls(*caller.GetInsertBlock()->getModule(), caller);
  auto word = [&](const char *name) { return capture(calls.call(name, caller.getInt64Ty(), {callerSize}, true)); };
  Value *multiplier = word("toy_rt_multiplier"), *shift = word("toy_rt_multiplier_shift");
  Type *wide = k.getInt128Ty();
  Value *product = k.CreateMul(k.CreateZExt(n, wide), k.CreateZExt(multiplier, wide), "", true),
        *high = k.CreateTrunc(k.CreateLShr(product, 64), k.getInt64Ty());
  return k.CreateSelect(k.CreateICmpEQ(multiplier, i64(0)), n, k.CreateLShr(high, shift));
}

void KernelEmitter::guarded(Value *condition, function_ref<void()> body) {
  BasicBlock *inside = BasicBlock::Create(k.getContext(), "", kernel),
             *after = BasicBlock::Create(k.getContext(), "", kernel);
  k.CreateCondBr(condition, inside, after);
  k.SetInsertPoint(inside);
  body();
  k.CreateBr(after);
  k.SetInsertPoint(after);
  memo.clear();
}

/// How many blocks a multiprocessor has room for at least, or 0 for as many as ptxas likes: of folds it would rather
/// store some registers than have fewer. What several steps read at once fills the way to memory with fewer threads if
/// elements are wide, those of the operands too. Many addresses and sizes, which take two registers each, leave too few
/// of those that four blocks have.
static int64_t leastBlocks(FusedOp op, size_t arguments) {
  bool isFold = llvm::any_of(op.getBody().front(), [](mlir::Operation &inner) {
    return isa<FusedOp>(inner) || inner.hasTrait<OpTrait::Reduction>();
  });
  int64_t bytes = toy::sizeOf(tensorTypeOf(op.getResult(0)).getDtype());
  for (mlir::Value operand : op->getOperands())
    if (!tensorTypeOf(operand).isScalar()) // those are parameters
      bytes = std::max<int64_t>(bytes, toy::sizeOf(tensorTypeOf(operand).getDtype()));
  return !isFold || bytes < 8 ? 0 : bytes > 8 || arguments > 32 ? 2 : arguments > 9 ? 3 : 4;
}

/// Ends the kernel; in the caller, its launch. Parameters are the results' addresses, the operands' addresses, and
/// words.
Value *KernelEmitter::finishLaunch(Value *threads, ArrayRef<LaunchResult> results, Value *site) {
  k.CreateRetVoid();
  LLVMContext &context = k.getContext();
  SmallVector<Value *> objects, words, order = {callerOut};
  append_range(order, otherOuts);
  for (Value *v : captured)
    if (!is_contained(order, v))
      (v->getType()->isPointerTy() ? objects : words).push_back(v);
  append_range(order, objects);
  append_range(order, words);
  SmallVector<Type *> types;
  for (Value *v : order)
    types.push_back(v->getType()->isPointerTy() ? v->getType() : k.getInt64Ty());
  auto *made = Function::Create(FunctionType::get(k.getVoidTy(), types, false), Function::ExternalLinkage,
                                "k" + Twine(device->kernels.size()), module);
  made->setCallingConv(CallingConv::PTX_Kernel);
  made->addFnAttr("nvvm.maxntid", std::to_string(threadsOfBlock));
  if (int64_t blocks = leastBlocks(op, order.size()))
    made->addFnAttr("nvvm.minctasm", std::to_string(blocks));
  made->splice(made->end(), kernel);
  for (auto [i, v] : enumerate(order)) {
    Value *argument = made->getArg(i);
    auto *load = cast<LoadInst>(captures.at(v));
    if (v->getType()->isPointerTy()) {
      made->addParamAttrs(i,
                          AttrBuilder(context).addAttribute(Attribute::NoAlias).addAlignmentAttr(Align(accessBytes)));
      if (i >= results.size())
        made->addParamAttr(i, Attribute::ReadOnly);
    } else if (v->getType() != k.getInt64Ty()) {
      IRBuilder<> convert(load);
      argument = convert.CreateTruncOrBitCast(argument, convert.getIntNTy(v->getType()->getPrimitiveSizeInBits()));
      if (!v->getType()->isIntegerTy())
        argument = convert.CreateBitCast(argument, v->getType());
    }
    auto *slot = dyn_cast<Instruction>(load->getPointerOperand());
    load->replaceAllUsesWith(argument);
    load->eraseFromParent();
    if (slot && slot->use_empty())
      slot->eraseFromParent();
  }
  kernel->eraseFromParent();
  kernel = nullptr;
  return launchKernel(made->getName().str(), results, objects, words, threads, site, leastBlock);
}

/// In the caller: a launch, or null where the host should compute.
Value *KernelEmitter::launchKernel(const std::string &name, ArrayRef<LaunchResult> results, ArrayRef<Value *> objects,
                                   ArrayRef<Value *> words, Value *threads, Value *site, int64_t leastBlock) {
  Function *function = caller.GetInsertBlock()->getParent();
  IRBuilder<> start(&function->getEntryBlock(), function->getEntryBlock().begin());
  auto array = [&](Type *type, ArrayRef<Value *> values) {
    Value *memory = start.CreateAlloca(type, start.getInt32(std::max<size_t>(values.size(), 1)));
    for (auto [i, v] : enumerate(values)) {
      Value *word = v;
      if (!v->getType()->isPointerTy()) {
        word = v->getType()->isIntegerTy()
                   ? v
                   : caller.CreateBitCast(v, caller.getIntNTy(v->getType()->getPrimitiveSizeInBits()));
        word = caller.CreateZExtOrTrunc(word, caller.getInt64Ty());
      }
      caller.CreateStore(word, caller.CreateConstInBoundsGEP1_64(type, memory, i));
    }
    return memory;
  };
  Module &host = *function->getParent();
  Value *table = host.getOrInsertGlobal("toy.kernels", caller.getPtrTy());
  LoadInst *word = caller.CreateLoad(
      caller.getPtrTy(), caller.CreateConstInBoundsGEP1_64(caller.getPtrTy(), table, device->kernels.size()));
  device->kernels.push_back(name);
  SmallVector<Value *> dtypes, sizes;
  for (const LaunchResult &result : results) {
    dtypes.push_back(caller.getInt64(static_cast<int>(result.dtype)));
    append_range(sizes, result.sizes);
  }
  ScalarEmitter calls(host, caller);
  return calls.call("toy_rt_launch", caller.getPtrTy(),
                    {word, caller.getInt64(results.size()), array(caller.getInt64Ty(), dtypes),
                     caller.getInt64(results[0].sizes.size()), array(caller.getInt64Ty(), sizes), others,
                     array(caller.getPtrTy(), objects), caller.getInt64(objects.size()),
                     array(caller.getInt64Ty(), words), caller.getInt64(words.size()), threads,
                     caller.getInt64(leastBlock), site, caller.getInt64(device->region)});
}

Value *KernelEmitter::emitLaunch(DeviceCode &code, Value *site, Value *otherObjects) {
  device = &code;
  others = otherObjects;
  SmallVector<std::unique_ptr<Argument>> outs; // stand for the results' addresses until the kernel is finished
  for (size_t i = 0; i < op.getNumResults(); ++i)
    outs.push_back(std::make_unique<Argument>(caller.getPtrTy(), "out"));
  callerOut = outs[0].get();
  for (auto &out : drop_begin(outs))
    otherOuts.push_back(out.get());
  mlir::Operation *def = root.getDefiningOp();
  bool isRope;
  Value *object = launchRope(site, isRope);
  if (!isRope)
    object = !def                                  ? launchMap(site)
             : isa<FusedOp>(def)                   ? launchRows(site)
             : def->hasTrait<OpTrait::Reduction>() ? launchReduction(def, site)
                                                   : launchMap(site);
  callerOut = nullptr;
  otherOuts.clear();
  return object;
}

/// Loads of what an element needs, as far as its indices alone say. Elementary functions have branches, which loads do
/// not cross by themselves: what neighbours need is one access, and what several steps need is on its way together,
/// only if it is asked for before the first of them is computed.
void KernelEmitter::prefetch(mlir::Value value, const Indices &indices) {
  std::set<std::pair<void *, std::vector<Value *>>> seen;
  auto visit = [&](auto &self, mlir::Value v, const Indices &at) -> void {
    if (rowValues.contains(v) ||
        !seen.emplace(v.getAsOpaquePointer(), std::vector<Value *>(at.begin(), at.end())).second)
      return;
    mlir::Operation *def = v.getDefiningOp();
    if (isStaged(v, at) || (!def && !behind(v))) {
      elementAt(v, at);
      return;
    }
    if (mlir::Value inner = behind(v))
      return self(self, inner, at);
    if (auto part = dyn_cast<PartOp>(def)) {
      Indices own = at;
      own.push_back(i64(part.getIndex()));
      return self(self, part.getX(), own);
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(def))
      self(self, broadcast.getX(), stretched(broadcast, at));
    else if (def->hasTrait<OpTrait::Elementwise>())
      for (mlir::Value operand : def->getOperands())
        self(self, operand, aligned(operand, tensorTypeOf(v).getRank(), at));
  };
  visit(visit, value, indices);
}

/// `number` elements from one on, along the last axis. All are read before any is written, so that neighbours are one
/// access.
void KernelEmitter::storeNeighbours(ArrayRef<Output> outputs, Value *first, const Indices &indices, int64_t number) {
  SmallVector<std::pair<Value *, Element>> elements;
  SmallVector<Indices> all;
  for (int64_t i = 0; i < number; ++i) {
    all.push_back(indices);
    if (i > 0)
      all.back().back() = k.CreateAdd(indices.back(), i64(i), "", true, true);
    for (auto [value, out] : outputs)
      if (auto pack = value.getDefiningOp<PackOp>()) {
        prefetch(pack.getRe(), all.back());
        prefetch(pack.getIm(), all.back());
      } else
        prefetch(value, all.back());
  }
  for (auto [i, own] : enumerate(all)) {
    Value *place = i > 0 ? k.CreateAdd(first, i64(i), "", true, true) : first;
    for (auto [value, out] : outputs)
      elements.emplace_back(place, mapElement(value, own));
  }
  for (auto [i, output] : enumerate(outputs))
    for (size_t j = i; j < elements.size(); j += outputs.size())
      storeMapElement(output.first, output.second, elements[j].first, elements[j].second);
}

Value *KernelEmitter::launchMap(Value *site) {
  auto [sizes, bytes] = beginMap();
  if (findTransposed(static_cast<int64_t>(sizes.size())))
    return launchTiles(site, sizes);
  int64_t width = std::clamp<int64_t>(accessBytes / bytes, 1, 8);
  Dim last = sizes.empty() ? Dim() : rootType.getDim(sizes.size() - 1);
  bool sameRow =
      !sizes.empty() && last.isNumber() && last.value() % width == 0; // neighbours share all indices but the last
  if (sizes.empty())
    width = 1;
  if (!flat && last.isNumber() && !sameRow)
    width = 1;
  if (flat || sizes.empty() || last.isNumber())
    return launchMap(site, sizes, width, sameRow);
  return launchEither(
      sizes.back(), width, [&] { return launchMap(site, sizes, width, true); },
      [&] { return launchMap(site, sizes, 1, false); });
}

/// One of two launches: with a size that is a multiple of a width, or with any.
Value *KernelEmitter::launchEither(Value *size, int64_t width, function_ref<Value *()> wide,
                                   function_ref<Value *()> narrow) {
  if (width == 1)
    return narrow();
  Value *isMultiple = caller.CreateICmpEQ(caller.CreateURem(size, caller.getInt64(width)), caller.getInt64(0));
  return oneOf(isMultiple, wide, narrow);
}

/// In a kernel, the size of a result's last axis that is counted, known to be a multiple of a width, as are the equal
/// sizes of operands: their rows begin aligned.
void KernelEmitter::captureMultiple(Dim dim, Value *size, int64_t width) {
  if (isa<Constant>(size) || width == 1)
    return;
  Value *part = capture(caller.CreateUDiv(size, caller.getInt64(width))),
        *multiple = k.CreateMul(part, i64(width), "", true, true);
  captures[size] = multiple;
  for (mlir::BlockArgument argument : op.getBody().getArguments())
    if (TensorType type = tensorTypeOf(argument); !type.isScalar() && type.getDims().back() == dim)
      captures[callerSize(argument, type.getRank() - 1)] = multiple;
}

/// `sameRow`: the last size is a multiple of the width.
Value *KernelEmitter::launchMap(Value *site, ArrayRef<Value *> sizes, int64_t width, bool sameRow) {
  Value *count = product(sizes);
  begin();
  if (sameRow)
    captureMultiple(rootType.getDim(sizes.size() - 1), sizes.back(), width);
  Value *out = capture(callerOut), *n = capture(count),
        *first = k.CreateMul(threadNumber(false), i64(width), "", true, true);
  SmallVector<Value *> inner = captureAll(sizes);
  auto steps = [&](int64_t number) {
    storeNeighbours(Output(root, out), first,
                    sizes.empty() ? Indices()
                    : flat        ? Indices{first}
                                  : decode(first, inner),
                    number);
  };
  if (width == 1 || sameRow)
    guarded(k.CreateICmpSLT(first, n), [&] { steps(width); });
  else {
    Value *end = k.CreateAdd(first, i64(width), "", true, true);
    guarded(k.CreateICmpSLE(end, n), [&] { steps(width); });
    guarded(k.CreateICmpSGT(end, n),
            [&] { loop(first, n, [&](Value *i) { storeMapElement(root, out, i, mapElement(root, Indices{i})); }); });
  }
  Value *threads = caller.CreateUDiv(caller.CreateAdd(count, caller.getInt64(width - 1)), caller.getInt64(width));
  return finishLaunch(threads, {{rootType.getDtype(), resultSizes()}}, site);
}

/// What `make` gives if the condition holds, else null.
Value *KernelEmitter::onlyIf(Value *condition, function_ref<Value *()> make) {
  Function *function = caller.GetInsertBlock()->getParent();
  BasicBlock *before = caller.GetInsertBlock(), *on = BasicBlock::Create(caller.getContext(), "", function),
             *join = BasicBlock::Create(caller.getContext(), "", function);
  caller.CreateCondBr(condition, on, join);
  caller.SetInsertPoint(on);
  auto known = callerSizes; // those that are found inside are not known behind
  Value *made = make();
  callerSizes = std::move(known);
  BasicBlock *end = caller.GetInsertBlock();
  caller.CreateBr(join);
  caller.SetInsertPoint(join);
  PHINode *result = caller.CreatePHI(caller.getPtrTy(), 2);
  result->addIncoming(ConstantPointerNull::get(caller.getPtrTy()), before);
  result->addIncoming(made, end);
  return result;
}

/// One of two launches, of which a known condition leaves the text of one.
Value *KernelEmitter::oneOf(Value *condition, function_ref<Value *()> then, function_ref<Value *()> otherwise) {
  if (auto *known = dyn_cast<ConstantInt>(condition))
    return known->isOne() ? then() : otherwise();
  Value *first = onlyIf(condition, then), *second = onlyIf(caller.CreateNot(condition), otherwise);
  return caller.CreateSelect(condition, first, second);
}

/// Whether one of two conditions holds in the caller; known if that is known.
Value *KernelEmitter::either(Value *a, Value *b) {
  for (auto [one, other] : {std::pair(a, b), std::pair(b, a)})
    if (auto *known = dyn_cast<ConstantInt>(one))
      return known->isOne() ? one : other;
  return caller.CreateOr(a, b);
}

} // namespace toy

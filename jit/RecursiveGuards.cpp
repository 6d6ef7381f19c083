// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where the first questions of a function end, and its rest as a function of its own.
#include "jit/RecursiveGuards.h"
#include "passes/lowering/Attributes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace toy {

namespace {
/// The look for Ctrl-C at a function's beginning: `if (flag) { rare } after`.
struct Poll {
  LoadInst *flag;
  BranchInst *branch;
  BasicBlock *rare, *after;
};
} // namespace

static SmallVector<CallBase *> callsOf(Function &f, Function &in) {
  SmallVector<CallBase *> calls;
  for (Instruction &i : instructions(in))
    if (auto *call = dyn_cast<CallBase>(&i); call && call->getCalledFunction() == &f)
      calls.push_back(call);
  return calls;
}

static std::optional<Poll> pollOf(Function &f) {
  for (Instruction &i : instructions(f)) {
    if (!i.hasMetadata(entryPoll))
      continue;
    auto *flag = dyn_cast<LoadInst>(&i);
    auto *branch = dyn_cast<BranchInst>(i.getParent()->getTerminator());
    if (!flag || !flag->hasOneUse() || !branch || !branch->isConditional() ||
        branch->getCondition() != flag->user_back() || !isa<ICmpInst>(branch->getCondition()))
      return std::nullopt;
    BasicBlock *rare = branch->getSuccessor(0), *after = branch->getSuccessor(1);
    if (rare->getSingleSuccessor() != after || !rare->getSinglePredecessor() || !after->phis().empty())
      return std::nullopt;
    return Poll{flag, branch, rare, after};
  }
  return std::nullopt;
}

/// What is reached from `from` without `end`.
static SmallSetVector<BasicBlock *, 16> reachedBefore(BasicBlock *from, BasicBlock *end) {
  SmallSetVector<BasicBlock *, 16> reached;
  reached.insert(from);
  for (unsigned i = 0; i < reached.size(); ++i)
    for (BasicBlock *next : successors(reached[i]))
      if (next != end)
        reached.insert(next);
  return reached;
}

static bool returns(const SmallSetVector<BasicBlock *, 16> &blocks) {
  return any_of(blocks, [](BasicBlock *block) { return isa<ReturnInst>(block->getTerminator()); });
}

/// Whether some blocks are nothing but questions, of up to `most` instructions; where they fail, they may call.
static bool areQuestions(const SmallSetVector<BasicBlock *, 16> &blocks, unsigned most, const Poll &poll,
                         const LoopInfo &loops) {
  unsigned count = 0;
  for (BasicBlock *block : blocks) {
    if (block == poll.rare || isa<UnreachableInst>(block->getTerminator()))
      continue;
    if (loops.getLoopFor(block))
      return false;
    for (Instruction &i : *block) {
      const bool isPlain = isa<CallBase>(i) ? isa<IntrinsicInst>(i) && !i.mayReadOrWriteMemory() : !isa<AllocaInst>(i);
      if ((&i != poll.flag && (i.mayWriteToMemory() || !isPlain)) || ++count > most)
        return false;
    }
  }
  return true;
}

/// Where the rest of a function begins that all its calls of itself are in, or null: as late as what stands before it
/// is nothing but questions. What stands before a block stands before all later ones, so that it is asked from the
/// function's beginning: of a long function the most is never looked at.
static BasicBlock *beginOfRest(Function &f, ArrayRef<CallBase *> calls, const Poll &poll) {
  constexpr size_t mostQuestions = 100, mostCopies = 450; // instructions, of one call and of all
  const unsigned most = std::min(mostQuestions, mostCopies / calls.size());
  DominatorTree tree(f);
  const LoopInfo loops(tree);
  BasicBlock *common = calls.front()->getParent(), *rest = nullptr;
  for (CallBase *call : calls)
    common = tree.findNearestCommonDominator(common, call->getParent());
  auto above = [&](BasicBlock *block) {
    DomTreeNode *node = tree.getNode(block)->getIDom();
    return node ? node->getBlock() : nullptr;
  };
  SmallVector<BasicBlock *> candidates;
  for (BasicBlock *block = common; block && block != &f.getEntryBlock(); block = above(block))
    candidates.push_back(block);
  for (BasicBlock *candidate : reverse(candidates)) {
    const auto blocks = reachedBefore(&f.getEntryBlock(), candidate);
    if (!areQuestions(blocks, most, poll, loops))
      break;
    if (returns(blocks) && blocks.contains(poll.after) && !loops.getLoopFor(candidate))
      rest = candidate;
  }
  if (rest)
    for (BasicBlock *up = above(rest); up && up != poll.after && !returns(reachedBefore(up, rest)); up = above(rest))
      rest = up; // what is asked there returns nothing
  return rest;
}

/// What the rest of a function needs of its questions. What follows both of them is in both.
static SmallSetVector<Instruction *, 8> valuesFor(BasicBlock *rest) {
  SmallSetVector<Instruction *, 8> needed;
  const auto blocks = reachedBefore(rest, nullptr);
  for (BasicBlock *block : blocks)
    for (Instruction &i : *block)
      for (Use &use : i.operands()) {
        auto *phi = dyn_cast<PHINode>(&i);
        auto *value = dyn_cast<Instruction>(use);
        if (value && !blocks.contains(value->getParent()) && (!phi || blocks.contains(phi->getIncomingBlock(use))))
          needed.insert(value);
      }
  return needed;
}

/// Whether a value is computed again from the arguments in a few instructions: where elements lie, how many there are.
static bool isRepeated(Value *value, int depth = 0) {
  constexpr int deepest = 3;
  if (isa<Argument, Constant>(value))
    return true;
  auto *op = dyn_cast<Instruction>(value);
  auto *load = dyn_cast<LoadInst>(value);
  return op && depth < deepest && (load ? load->isSimple() : isa<GetElementPtrInst, CastInst>(op)) &&
         all_of(op->operands(), [&](Value *operand) { return isRepeated(operand, depth + 1); });
}

/// Puts a value and what it is computed from at the end of a block.
static void moveTo(BasicBlock *block, Value *value) {
  auto *op = dyn_cast<Instruction>(value);
  if (!op || op->getParent() == block)
    return;
  for (Value *operand : op->operands())
    moveTo(block, operand);
  op->moveBefore(*block, block->end());
}

/// The rest as a function of the same arguments and of what it needs of the questions; it begins with the look for
/// Ctrl-C.
static Function *makeRest(Function &f, BasicBlock *begin, const Poll &poll, ArrayRef<Instruction *> given,
                          ArrayRef<Instruction *> repeated) {
  SmallVector<Type *> types(f.getFunctionType()->params());
  for (Instruction *value : given)
    types.push_back(value->getType());
  auto *type = FunctionType::get(f.getReturnType(), types, /*isVarArg=*/false);
  Function *rest =
      Function::Create(type, GlobalValue::InternalLinkage, f.getAddressSpace(), f.getName() + ".rest", f.getParent());
  ValueToValueMapTy map;
  for (Argument &argument : f.args())
    map[&argument] = rest->getArg(argument.getArgNo());
  SmallVector<ReturnInst *> returned;
  CloneFunctionInto(rest, &f, map, CloneFunctionChangeType::LocalChangesOnly, returned);
  rest->setLinkage(GlobalValue::InternalLinkage);
  for (auto [i, value] : enumerate(given))
    map[value]->replaceAllUsesWith(rest->getArg(f.arg_size() + i));
  auto copyOf = [&](BasicBlock *block) { return cast<BasicBlock>(map[block]); };
  BasicBlock *entry = BasicBlock::Create(f.getContext(), "entry", rest, &rest->getEntryBlock());
  for (Instruction *value : repeated)
    moveTo(entry, map[value]);
  IRBuilder<> b(entry);
  Instruction *flag = b.Insert(poll.flag->clone()), *test = cast<Instruction>(poll.branch->getCondition())->clone();
  test->replaceUsesOfWith(poll.flag, flag);
  b.Insert(test);
  Instruction *branch = b.Insert(poll.branch->clone());
  branch->setOperand(0, test);
  branch->replaceSuccessorWith(poll.rare, copyOf(poll.rare));
  branch->replaceSuccessorWith(poll.after, copyOf(begin));
  copyOf(poll.rare)->getTerminator()->replaceSuccessorWith(copyOf(poll.after), copyOf(begin));
  removeUnreachableBlocks(*rest);
  return rest;
}

bool askBeforeCalls(Function &f) {
  const SmallVector<CallBase *> calls = callsOf(f, f);
  const std::optional<Poll> poll = calls.empty() ? std::nullopt : pollOf(f);
  BasicBlock *begin = poll && !f.isVarArg() ? beginOfRest(f, calls, *poll) : nullptr;
  if (!begin || begin == poll->after || !begin->phis().empty())
    return false;
  SmallVector<Instruction *> given, repeated;
  for (Instruction *value : valuesFor(begin))
    (isRepeated(value) ? repeated : given).push_back(value);
  Function *rest = makeRest(f, begin, *poll, given, repeated);

  BasicBlock *more = BasicBlock::Create(f.getContext(), "", &f);
  IRBuilder<> b(more);
  SmallVector<Value *> arguments(make_pointer_range(f.args()));
  append_range(arguments, given);
  CallInst *call = b.CreateCall(rest, arguments);
  call->setCallingConv(f.getCallingConv());
  if (f.getReturnType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(call);
  for (BasicBlock *before : SmallVector<BasicBlock *>(predecessors(begin)))
    before->getTerminator()->replaceSuccessorWith(begin, more);
  poll->flag->replaceAllUsesWith(Constant::getNullValue(poll->flag->getType()));
  poll->flag->eraseFromParent();
  removeUnreachableBlocks(f);
  for (CallBase *again : callsOf(f, *rest)) {
    InlineFunctionInfo info;
    InlineFunction(*again, info);
  }
  return true;
}

} // namespace toy

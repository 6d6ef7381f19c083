// SPDX-License-Identifier: Apache-2.0
/// \file
/// Addresses are numbers of 64 bits that wrap, and so are indices: the order of sums does not matter.
#include "jit/InvariantAddresses.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace toy {

namespace {
/// A number that a loop does not change, and whether it is subtracted.
using Term = std::pair<Value *, bool>;

/// An index as a number that changes in each turn of a loop and others that do not.
struct Index {
  const Loop &loop;
  Value *changing = nullptr;
  uint64_t constant = 0;
  std::vector<Term> fixed = {};

  bool add(Value *v, bool isSubtracted, unsigned depth = 0) {
    constexpr unsigned deepest = 6;
    if (auto *number = dyn_cast<ConstantInt>(v)) {
      const auto c = static_cast<uint64_t>(number->getSExtValue());
      constant += isSubtracted ? -c : c;
      return true;
    }
    if (loop.isLoopInvariant(v)) {
      fixed.emplace_back(v, isSubtracted);
      return true;
    }
    auto *sum = dyn_cast<BinaryOperator>(v);
    if (sum && depth < deepest && (sum->getOpcode() == Instruction::Add || sum->getOpcode() == Instruction::Sub))
      return add(sum->getOperand(0), isSubtracted, depth + 1) &&
             add(sum->getOperand(1), isSubtracted != (sum->getOpcode() == Instruction::Sub), depth + 1);
    if (changing || isSubtracted)
      return false;
    changing = v;
    return true;
  }
};

/// Addresses in a loop that are counted from one in front of it.
struct Group {
  const Loop *loop;
  Value *base;
  Type *type; ///< of what an index counts
  std::vector<Term> fixed;
  struct Place {
    GetElementPtrInst *address;
    Value *changing;
    uint64_t constant;
  };
  SmallVector<Place> places = {};

  bool isFor(const Loop *other, const GetElementPtrInst &address, ArrayRef<Term> terms) const {
    return loop == other && base == address.getPointerOperand() && type == address.getSourceElementType() &&
           ArrayRef(fixed) == terms;
  }
};
} // namespace

/// Where all that the loop does not change is known: not at a call that may throw, which may be what gives it.
static bool hasPlaceBefore(const Loop &loop) {
  const BasicBlock *before = loop.getLoopPredecessor();
  return before && isa<BranchInst>(before->getTerminator());
}

static void collect(GetElementPtrInst &address, const Loop &loop, std::vector<Group> &groups) {
  constexpr size_t mostGroups = 32; // that are looked through
  constexpr int mostBases = 8;      // of a loop: each takes a register
  if (address.getNumIndices() != 1 || !address.getType()->isPointerTy() || !hasPlaceBefore(loop) ||
      !loop.isLoopInvariant(address.getPointerOperand()) || !address.getOperand(1)->getType()->isIntegerTy(64))
    return;
  Index index{loop};
  if (!index.add(address.getOperand(1), /*isSubtracted=*/false) || !index.changing || index.fixed.empty())
    return;
  auto last = groups.size() > mostGroups ? groups.end() - mostGroups : groups.begin();
  auto it = std::find_if(last, groups.end(), [&](Group &g) { return g.isFor(&loop, address, index.fixed); });
  if (it == groups.end() && std::count_if(last, it, [&](Group &g) { return g.loop == &loop; }) >= mostBases)
    return;
  if (it == groups.end())
    it = groups.insert(it, Group{&loop, address.getPointerOperand(), address.getSourceElementType(), index.fixed});
  it->places.push_back({&address, index.changing, index.constant});
}

/// The address in front of the loop, and from it those in the loop.
static void move(const Group &group) {
  IRBuilder<> b(group.loop->getLoopPredecessor()->getTerminator());
  Value *base = group.base;
  for (auto [number, isSubtracted] : group.fixed)
    base = b.CreateGEP(group.type, base, isSubtracted ? b.CreateNeg(number) : number);
  for (auto [address, changing, constant] : group.places) {
    b.SetInsertPoint(address);
    Value *there = b.CreateGEP(group.type, base, changing);
    if (constant != 0)
      there = b.CreateGEP(group.type, there, b.getInt64(constant));
    address->replaceAllUsesWith(there);
  }
}

/// Whether a number becomes an address, by sums.
static bool isForAddress(const Value *number, unsigned depth = 0) {
  constexpr unsigned deepest = 4;
  return depth < deepest &&
         llvm::any_of(
             number->users(),
             [&](const User *user) {
               if (isa<GetElementPtrInst>(user))
                 return true;
               auto *sum = dyn_cast<BinaryOperator>(user);
               return sum && (sum->getOpcode() == Instruction::Add || sum->getOpcode() == Instruction::Sub) &&
                      isForAddress(sum, depth + 1);
             });
}

static bool multipliesForAddresses(Function &function) {
  DominatorTree tree(function);
  LoopInfo loops(tree);
  return llvm::any_of(instructions(function), [&](Instruction &i) {
    const Loop *loop = i.getOpcode() == Instruction::Mul ? loops.getLoopFor(i.getParent()) : nullptr;
    return loop && loop->isInnermost() && !loop->isLoopInvariant(&i) && isForAddress(&i) &&
           (loop->isLoopInvariant(i.getOperand(0)) || loop->isLoopInvariant(i.getOperand(1)));
  });
}

bool multipliesForAddresses(Module &module) {
  return llvm::any_of(module, [](Function &f) { return !f.isDeclaration() && multipliesForAddresses(f); });
}

static void moveInvariantAddresses(Function &function) {
  DominatorTree tree(function);
  LoopInfo loops(tree);
  std::vector<Group> groups;
  for (Instruction &i : instructions(function))
    if (auto *address = dyn_cast<GetElementPtrInst>(&i))
      if (const Loop *loop = loops.getLoopFor(i.getParent()))
        collect(*address, *loop, groups);
  SmallVector<WeakTrackingVH> old;
  for (const Group &group : llvm::reverse(groups)) { // what one is counted from may be in another, further out
    move(group);
    for (const Group::Place &place : group.places)
      old.emplace_back(place.address);
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(old);
}

void moveInvariantAddresses(Module &module) {
  for (Function &f : module)
    if (!f.isDeclaration())
      moveInvariantAddresses(f);
}

} // namespace toy

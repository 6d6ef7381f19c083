// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups of operations that become one loop nest.
#include "passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "passes/Passes.h.inc"

namespace {

bool isRanked(Operation *op) { return op->getNumResults() == 1 && isa<TensorType>(op->getResult(0).getType()) && !tensorTypeOf(op->getResult(0)).isScalar(); }

/// Views cost nothing at run time as they are: they stay outside of groups.
bool isView(Operation *op) { return isa<ViewAsRealOp, ViewAsComplexOp>(op); }

/// Joining many parts is copying, not choosing: code would grow with their number.
bool hasManyParts(Operation *op) { return isa<ConcatOp>(op) && op->getNumOperands() > 8; }

/// Operations on packed pairs are the runtime's.
bool isPackedForm(Operation *op) { return op->hasAttr("packed"); }

bool isIndexMap(Operation *op) { return !isPackedForm(op) && op->hasTrait<OpTrait::IndexMap>() && !isView(op) && isRanked(op) && !hasManyParts(op); }
/// Checked integer operations may fail, but element by element like the others.
bool isElementwise(Operation *op) { return !isPackedForm(op) && op->hasTrait<OpTrait::Elementwise>() && isRanked(op); }
bool isReduction(Operation *op) { return !isPackedForm(op) && op->hasTrait<OpTrait::Reduction>(); }
bool isFusible(Operation *op) { return isIndexMap(op) || isElementwise(op) || isReduction(op); }

/// Index maps whose result has each element of the operand at most once.
bool keepsElementsOnce(Operation *op) { return isa<PermuteOp, SliceOp, ConcatOp, PadOp, DiagonalOp, PackOp, PartOp>(op); }

struct Group {
  Operation *root;
  SetVector<Operation *> members; ///< the root and what joined it
};

/// Decides for one block, from its end to its start, which operations join their consumers.
class Grouper {
public:
  explicit Grouper(Block &block) : block(block) {
    unsigned readings = 0;
    for (Operation &op : block)
      interval[&op] = isa<ClockOp>(op) ? ++readings : readings;
  }

  void run(bool fuse) {
    for (Operation &op : llvm::reverse(block)) {
      if (!isFusible(&op))
        continue;
      if (fuse && isIndexMap(&op) && joinAll(&op))
        continue;
      if (fuse && isElementwise(&op) && isMemoryEffectFree(&op) && joinOne(&op))
        continue;
      groups.push_back({&op, {}});
      groups.back().members.insert(&op);
      groupsOf[&op].push_back(groups.size() - 1);
    }
  }

  std::vector<Group> groups;

private:
  /// Index maps are read in place by every consumer; only uses outside of groups need the stored tensor.
  bool joinAll(Operation *op) {
    SmallVector<size_t> targets;
    for (Operation *user : op->getUsers()) {
      if (user->getBlock() != &block || !isFusible(user) || interval[user] != interval[op])
        return false;
      if (isReduction(user) && isa<ConcatOp, PadOp>(op))
        return false;
      llvm::append_range(targets, groupsOf[user]);
    }
    for (size_t g : targets) {
      groups[g].members.insert(op);
      if (!llvm::is_contained(groupsOf[op], g))
        groupsOf[op].push_back(g);
    }
    return !targets.empty();
  }

  /// Computed values join when all uses are in one group and no element is asked for twice.
  bool joinOne(Operation *op) {
    std::optional<size_t> target;
    auto shape = tensorTypeOf(op->getResult(0)).getSizes();
    unsigned throughMaps = 0, uses = 0;
    for (OpOperand &use : op->getUses()) {
      Operation *user = use.getOwner();
      if (user->getBlock() != &block || !isFusible(user) || groupsOf[user].size() != 1 || interval[user] != interval[op])
        return false;
      if (target && *target != groupsOf[user][0])
        return false;
      target = groupsOf[user][0];
      ++uses;
      if (isElementwise(user)) {
        if (tensorTypeOf(user->getResult(0)).getSizes() != shape) // broadcast: its elements would be computed again
          return false;
      } else if (keepsElementsOnce(user))
        ++throughMaps;
      else if (!isReduction(user))
        return false;
    }
    if (!target || (throughMaps && uses > 1))
      return false;
    groups[*target].members.insert(op);
    groupsOf[op].push_back(*target);
    return true;
  }

  Block &block;
  DenseMap<Operation *, unsigned> interval; ///< between readings of the clock, over which no work moves
  DenseMap<Operation *, SmallVector<size_t>> groupsOf;
};

/// Replaces the members by one `toy.fused` at the root's place.
void outline(const Group &group) {
  SmallVector<Operation *> members(group.members.begin(), group.members.end());
  llvm::sort(members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SetVector<Value> inputs;
  for (Operation *op : members)
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp() || !group.members.contains(operand.getDefiningOp()))
        inputs.insert(operand);
  OpBuilder b(group.root);
  auto fused = FusedOp::create(b, group.root->getLoc(), group.root->getResultTypes(), inputs.getArrayRef());
  Block *body = b.createBlock(&fused.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Operation *op : members)
    b.clone(*op, mapping);
  YieldOp::create(b, group.root->getLoc(), mapping.lookup(group.root->getResult(0)));
  group.root->getResult(0).replaceAllUsesWith(fused.getResult(0));
  group.root->erase();
}

struct FuseElementwisePass : impl::FuseElementwiseBase<FuseElementwisePass> {
  using FuseElementwiseBase::FuseElementwiseBase;
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    for (Block &block : getOperation().getBody())
      blocks.push_back(&block);
    for (Block *block : blocks) {
      Grouper grouper(*block);
      grouper.run(fuse);
      for (const Group &group : llvm::reverse(grouper.groups))
        outline(group);
      // Members that joined are dead now; those of several groups were cloned into each.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
        if (isFusible(&op) && op.use_empty())
          op.erase();
    }
  }
};

} // namespace
} // namespace toy

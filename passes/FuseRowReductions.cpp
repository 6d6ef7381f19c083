// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups of groups: what computes rows from reductions of the same rows (softmax, norms) becomes one kernel of a
/// device, with a result for each of its values that others read later; behind a sum over ranks, one pass over memory
/// on the host.
#include "passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_FUSEROWREDUCTIONS
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t longestOnlyRow = 8192;

Operation *rootOf(FusedOp group) { return group.getBody().front().getTerminator()->getOperand(0).getDefiningOp(); }

bool hasNoFailure(FusedOp group) {
  return llvm::all_of(group.getBody().front(),
                      [](Operation &op) { return isa<YieldOp>(op) || isMemoryEffectFree(&op); });
}

/// The groups that the rows of one group are computed from.
class RowGroup {
public:
  RowGroup(FusedOp last, const DenseMap<Operation *, unsigned> &interval) : last(last), interval(interval) {}

  /// Finds them; true if there is a reduction among them.
  bool find() {
    if (last.getNumResults() != 1 || !isRowOfMaps(last))
      return false;
    shape = tensorTypeOf(last.getResult(0));
    members.insert(last);
    for (size_t i = 0; i < members.size(); ++i)
      for (Value input : FusedOp(members[i]).getInputs())
        if (auto producer = input.getDefiningOp<FusedOp>(); producer && isMember(producer))
          members.insert(producer);
    // What reads a value before the end, or in another place, needs it stored before.
    for (bool changed = true; changed;) {
      changed = false;
      for (FusedOp member : llvm::to_vector(members))
        if (member != last && !isReadHereOrLater(member)) {
          members.remove(member);
          changed = true;
        }
    }
    return llvm::any_of(members, [](FusedOp member) { return rootOf(member)->hasTrait<OpTrait::Reduction>(); });
  }

  /// Whether one of them reads what ranks have summed.
  bool isBehindSum() const {
    return llvm::any_of(members, [](FusedOp member) {
      return llvm::any_of(member.getInputs(), [](Value input) { return input.getDefiningOp<AllReduceOp>(); });
    });
  }

  bool contains(FusedOp group) const { return members.contains(group); }

  /// Makes them one group of groups in the place of the last.
  void outline() {
    SmallVector<FusedOp> order(members.begin(), members.end());
    llvm::sort(order, [](FusedOp a, FusedOp b) { return a->isBeforeInBlock(b); });
    SetVector<Value> inputs;
    for (FusedOp member : order)
      for (Value input : member.getInputs())
        if (auto producer = input.getDefiningOp<FusedOp>(); !producer || !members.contains(producer))
          inputs.insert(input);
    OpBuilder b(last);
    SmallVector<Value> results = {last.getResult(0)};
    for (FusedOp member : order)
      if (member != last &&
          llvm::any_of(member->getUsers(), [&](Operation *user) { return !members.contains(dyn_cast<FusedOp>(user)); }))
        results.push_back(member.getResult(0));
    auto outer = FusedOp::create(b, last.getLoc(), TypeRange(ValueRange(results)), inputs.getArrayRef());
    Block *body = b.createBlock(&outer.getBody());
    IRMapping mapping;
    for (Value input : inputs)
      mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (FusedOp member : order)
      b.clone(*member, mapping);
    YieldOp::create(b, last.getLoc(), llvm::map_to_vector(results, [&](Value v) { return mapping.lookup(v); }));
    for (auto [v, stored] : llvm::zip_equal(results, outer.getResults()))
      v.replaceAllUsesWith(stored);
    for (FusedOp member : llvm::reverse(order))
      member.erase();
  }

private:
  /// A group without reduction. One row alone would leave a device idle, unless it is known to be short.
  static bool isRowOfMaps(FusedOp group) {
    TensorType type = tensorTypeOf(group.getResult(0));
    Operation *root = rootOf(group);
    if (!root || root->hasTrait<OpTrait::Reduction>() || isa<PackOp, FusedOp>(root) || type.isScalar() ||
        !hasNoFailure(group))
      return false;
    Dim n = type.getDims().back();
    return n.isNumber() ? n.value() > 1 && (n.value() <= longestOnlyRow || type.getRank() > 1) : type.getRank() > 1;
  }

  /// Whether a result has the rows of the last group, of full length or of one element.
  bool hasRows(TensorType type, bool full) const {
    return type.getRank() == shape.getRank() && type.getSizes().drop_back() == shape.getSizes().drop_back() &&
           (full ? type.getDims().back() == shape.getDims().back() : type.getDims().back().is(1));
  }

  bool isMember(FusedOp group) const {
    Operation *root = rootOf(group);
    if (group->getBlock() != last->getBlock() || interval.lookup(group) != interval.lookup(last) ||
        group.getNumResults() != 1 || !root || isa<PackOp, FusedOp>(root) || !hasNoFailure(group))
      return false;
    TensorType type = tensorTypeOf(group.getResult(0));
    if (!root->hasTrait<OpTrait::Reduction>())
      return hasRows(type, true) || hasRows(type, false);
    auto axes = root->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
    return !isa<ArgMaxOp, ArgMinOp>(root) && axes.size() == 1 && axes[0] == shape.getRank() - 1 &&
           hasRows(type, false) && hasRows(tensorTypeOf(root->getOperand(0)), true);
  }

  bool isReadHereOrLater(FusedOp member) const {
    return llvm::all_of(member->getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (auto reader = dyn_cast<FusedOp>(user); reader && members.contains(reader))
        return isReadInPlace(reader.getBody().getArgument(use.getOperandNumber()));
      return user->getBlock() != last->getBlock() || last->isBeforeInBlock(user);
    });
  }

  /// Whether elements of a value are read at the index that is computed, and nowhere else.
  bool isReadInPlace(Value v) const {
    return llvm::all_of(v.getUsers(), [&](Operation *user) {
      if (isa<YieldOp>(user) || user->hasTrait<OpTrait::Reduction>())
        return true;
      return user->hasTrait<OpTrait::Elementwise>() && tensorTypeOf(user->getResult(0)).getRank() == shape.getRank() &&
             isReadInPlace(user->getResult(0));
    });
  }

  FusedOp last;
  const DenseMap<Operation *, unsigned> &interval;
  TensorType shape;
  SetVector<FusedOp> members;
};

struct FuseRowReductionsPass : impl::FuseRowReductionsBase<FuseRowReductionsPass> {
  using FuseRowReductionsBase::FuseRowReductionsBase;
  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      DenseMap<Operation *, unsigned> interval; // between readings of the clock
      unsigned readings = 0;
      DenseSet<Operation *> reduced; // groups that are a reduction or made of one: no other is looked into
      SmallVector<FusedOp> groups;
      for (Operation &op : block) {
        interval[&op] = isa<ClockOp>(op) ? ++readings : readings;
        auto group = dyn_cast<FusedOp>(op);
        if (!group)
          continue;
        Operation *root = rootOf(group);
        auto isReduced = [&](Value input) { return reduced.contains(input.getDefiningOp()); };
        if ((root && root->hasTrait<OpTrait::Reduction>()) || llvm::any_of(group.getInputs(), isReduced)) {
          reduced.insert(group);
          groups.push_back(group);
        }
      }
      while (!groups.empty()) {
        RowGroup rows(groups.pop_back_val(), interval);
        if (!rows.find() || (behindSums && !rows.isBehindSum()))
          continue;
        llvm::erase_if(groups, [&](FusedOp group) { return rows.contains(group); });
        rows.outline();
      }
    }
  }
};

} // namespace
} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups see neighbouring axes that all their values share as one: loops are as long, and as few, as memory allows.
#include "ir/Constants.h"
#include "passes/Passes.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_MERGEAXES
#include "passes/Passes.h.inc"

namespace {

/// Below so many elements views of operands cost more than what is gained.
constexpr int64_t leastElements = 2048;

/// A group of operations on elements and reductions, and which of its axes are one. Values of fewer axes have the last
/// ones, as in all broadcasting.
class MergedGroup {
public:
  explicit MergedGroup(FusedOp group) : group(group), body(group.getBody().front()) {}

  /// Finds the axes; true if some are merged, and something is gained.
  bool find() {
    if (group->getNumResults() != 1 || group->hasAttr("toy.inLoop") || !isOfElements())
      return false;
    findSizes();
    if (rank < 3 || !isLong())
      return false;
    mergedOf.assign(rank, 0);
    for (int64_t axis = 1; axis < rank; ++axis)
      mergedOf[axis] = mergedOf[axis - 1] + (joinsNext(axis - 1) ? 0 : 1);
    mergedRank = mergedOf.back() + 1;
    return mergedRank < rank;
  }

  void rewrite() {
    OpBuilder b(group);
    SmallVector<Value> inputs;
    for (Value input : group.getInputs())
      inputs.push_back(reshaped(b, input, mergedType(tensorTypeOf(input))));
    b.setInsertionPointAfter(group);
    Value result = group.getResult(0);
    const TensorType before = tensorTypeOf(result);
    retype();
    const Value yielded = body.getTerminator()->getOperand(0);
    group.getInputsMutable().assign(inputs);
    result.setType(yielded.getType());
    SmallVector<OpOperand *> uses = llvm::map_to_vector(result.getUses(), [](OpOperand &use) { return &use; });
    Value view = reshaped(b, result, before);
    for (OpOperand *use : uses)
      use->set(view);
  }

private:
  /// A reduction that drops axes ends its group, and so do axes in another order, alone or before that.
  bool isOfElements() const {
    return llvm::all_of(body, [&](Operation &op) {
      if (isa<YieldOp>(op) || op.hasTrait<toy::OpTrait::Elementwise>())
        return true;
      if (isa<PermuteOp>(op))
        return op.hasOneUse() && (isa<YieldOp>(*op.user_begin()) || isLastReduction(**op.user_begin()));
      return op.hasTrait<toy::OpTrait::Reduction>() && (keepsAxes(op) || isa<YieldOp>(*op.user_begin())) &&
             op.getResult(0).hasOneUse();
    });
  }
  static bool isLastReduction(Operation &op) {
    return op.hasTrait<toy::OpTrait::Reduction>() && !keepsAxes(op) && op.hasOneUse() && isa<YieldOp>(*op.user_begin());
  }
  /// As axes of the other values.
  static SmallVector<int64_t> reducedAxes(Operation &op) {
    auto permute = op.getOperand(0).getDefiningOp<PermuteOp>();
    return llvm::map_to_vector(axesOf(op),
                               [&](int64_t axis) { return permute ? permute.getPermutation()[axis] : axis; });
  }
  static bool keepsAxes(Operation &op) { return op.getAttrOfType<BoolAttr>("keepdims").getValue(); }
  static ArrayRef<int64_t> axesOf(Operation &op) { return op.getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef(); }

  /// All values but the result of a reduction that drops axes and permuted ones.
  SmallVector<TensorType> valueTypes() {
    SmallVector<TensorType> types = llvm::map_to_vector(body.getArguments(), [](Value v) { return tensorTypeOf(v); });
    for (Operation &op : body.without_terminator())
      if (!isa<PermuteOp>(op) && (!op.hasTrait<toy::OpTrait::Reduction>() || keepsAxes(op)))
        types.push_back(tensorTypeOf(op.getResult(0)));
    return types;
  }
  void findSizes() {
    const SmallVector<TensorType> types = valueTypes();
    for (TensorType type : types)
      rank = std::max(rank, type.getRank());
    sizes.assign(rank, Dim::number(group.getContext(), 1));
    for (TensorType type : types)
      for (int64_t axis = 0; axis < type.getRank(); ++axis)
        if (!type.getDim(axis).is(1))
          sizes[rank - type.getRank() + axis] = type.getDim(axis);
  }
  bool isLong() const {
    int64_t count = 1;
    for (Dim size : sizes)
      if (size.isNumber() && (size.is(0) || llvm::MulOverflow(count, size.value(), count)))
        return false;
    return count >= leastElements;
  }

  /// Whether all values have both axes, or neither, reductions take both or neither, and both stay together.
  bool joinsNext(int64_t axis) {
    if (!sizes[axis].isNumber() || !sizes[axis + 1].isNumber())
      return false;
    if (sizes[axis].is(1) || sizes[axis + 1].is(1))
      return false; // what has no size is not worth a view
    auto has = [&](TensorType type, int64_t a) {
      const int64_t own = a - (rank - type.getRank());
      return own >= 0 && type.getDim(own) == sizes[a];
    };
    auto isNamed = [&](TensorType type, int64_t a) { // a name of this size: of an element of a list, say
      const int64_t own = a - (rank - type.getRank());
      return own >= 0 && !type.getDim(own).isNumber();
    };
    for (TensorType type : valueTypes())
      if (has(type, axis) != has(type, axis + 1) || isNamed(type, axis) || isNamed(type, axis + 1))
        return false;
    return llvm::all_of(body, [&](Operation &op) {
      if (auto permute = dyn_cast<PermuteOp>(op)) {
        ArrayRef<int64_t> permutation = permute.getPermutation();
        const auto *at = llvm::find(permutation, axis);
        return static_cast<int64_t>(permutation.size()) == rank && at + 1 != permutation.end() && at[1] == axis + 1;
      }
      if (!op.hasTrait<toy::OpTrait::Reduction>())
        return true;
      if (tensorTypeOf(op.getOperand(0)).getRank() != rank)
        return false;
      const SmallVector<int64_t> reduced = reducedAxes(op);
      return llvm::is_contained(reduced, axis) == llvm::is_contained(reduced, axis + 1);
    });
  }

  TensorType mergedType(TensorType type) const {
    SmallVector<Dim> dims;
    int64_t last = -1;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      const int64_t merged = mergedOf[rank - type.getRank() + axis];
      if (merged == last)
        dims.back() = dims.back() * type.getDim(axis);
      else
        dims.push_back(type.getDim(axis));
      last = merged;
    }
    return type.withDims(dims);
  }

  /// The types of all values, and the axes of reductions.
  void retype() {
    for (BlockArgument argument : body.getArguments())
      argument.setType(mergedType(tensorTypeOf(argument)));
    DenseMap<Operation *, SmallVector<int64_t>> reduced;
    for (Operation &op : body.without_terminator())
      if (op.hasTrait<toy::OpTrait::Reduction>())
        reduced[&op] = mergedAxes(reducedAxes(op));
    for (Operation &op : body.without_terminator()) {
      if (auto permute = dyn_cast<PermuteOp>(op)) {
        retype(permute);
        continue;
      }
      const bool isReduction = op.hasTrait<toy::OpTrait::Reduction>();
      if (isReduction) {
        SmallVector<int64_t> &axes = reduced[&op];
        if (auto permute = op.getOperand(0).getDefiningOp<PermuteOp>())
          for (int64_t &axis : axes)
            axis = llvm::find(permute.getPermutation(), axis) - permute.getPermutation().begin();
        op.setAttr("axes", DenseI64ArrayAttr::get(op.getContext(), axes));
        if (!keepsAxes(op)) {
          SmallVector<Dim> kept;
          TensorType operand = tensorTypeOf(op.getOperand(0));
          for (int64_t axis = 0; axis < operand.getRank(); ++axis)
            if (!llvm::is_contained(axes, axis))
              kept.push_back(operand.getDim(axis));
          op.getResult(0).setType(tensorTypeOf(op.getResult(0)).withDims(kept));
          continue;
        }
      }
      op.getResult(0).setType(mergedType(tensorTypeOf(op.getResult(0))));
    }
  }

  SmallVector<int64_t> mergedAxes(ArrayRef<int64_t> axes) const {
    SmallVector<int64_t> merged;
    for (int64_t axis : axes)
      if (merged.empty() || merged.back() != mergedOf[axis])
        merged.push_back(mergedOf[axis]);
    return merged;
  }
  /// Of an operand that has its merged type.
  void retype(PermuteOp permute) {
    const SmallVector<int64_t> axes = mergedAxes(permute.getPermutation());
    const SmallVector<Dim> dims =
        llvm::map_to_vector(axes, [type = tensorTypeOf(permute.getX())](int64_t axis) { return type.getDim(axis); });
    permute.setPermutation(axes);
    permute.getResult().setType(tensorTypeOf(permute.getResult()).withDims(dims));
  }

  /// A view under other sizes of the same elements: of a view, what it is a view of.
  static Value reshaped(OpBuilder &b, Value x, TensorType type) {
    if (tensorTypeOf(x) == type)
      return x;
    if (auto view = x.getDefiningOp<ReshapeOp>(); view && tensorTypeOf(view.getX()) == type)
      return view.getX();
    const TensorType from = tensorTypeOf(x);
    const TensorType integer = TensorType::scalar(b.getContext(), DType::I64);
    SmallVector<Value> sizes;
    for (Dim size : type.getDims()) {
      if (size.isNumber()) {
        sizes.push_back(integerConstant(b, x.getLoc(), size.value()));
        continue;
      }
      const SmallVector<Dim> dims = from.getDims();
      sizes.push_back(DimOp::create(b, x.getLoc(), integer, x, llvm::find(dims, size) - dims.begin()));
    }
    return ReshapeOp::create(b, x.getLoc(), type, x, sizes);
  }

  FusedOp group;
  Block &body;
  int64_t rank = 0, mergedRank = 0;
  SmallVector<Dim> sizes;        ///< of all axes
  SmallVector<int64_t> mergedOf; ///< the merged axis of each axis
};

struct MergeAxesPass : impl::MergeAxesBase<MergeAxesPass> {
  void runOnOperation() override {
    getOperation().walk([](FusedOp op) {
      if (MergedGroup group(op); group.find())
        group.rewrite();
    });
    // Views between groups that are read as they were made.
    getOperation().walk([](ReshapeOp view) {
      if (view->use_empty())
        view.erase();
    });
  }
};

} // namespace
} // namespace toy

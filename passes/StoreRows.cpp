// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stores of rows as loops over their elements. A row that is computed from rows, and stored, would be a tensor of its
/// own and a call of the runtime that copies it. Element by element it is neither, if what is read of the tensor that
/// is stored into is not yet overwritten then: of each place of the row a turn reads what stands there, in whatever
/// rows, and writes it last.
#include "ir/Constants.h"
#include "ir/Consumption.h"
#include "passes/ControlFlow.h"
#include "passes/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_STOREROWS
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t none = -1; ///< no axis: every index is 0

bool isRanked(Value v) {
  auto type = dyn_cast<TensorType>(v.getType());
  return type && !type.isScalar();
}

bool isSameNumber(Value a, Value b) {
  auto n = constantInteger(a);
  return a == b || (n && n == constantInteger(b));
}

bool isSameDim(Value a, int64_t i, Value b, int64_t j) {
  Dim dim = tensorTypeOf(a).getDim(i);
  return !dim.isUnknown() && dim == tensorTypeOf(b).getDim(j) && hasLocalSizes(a) && hasLocalSizes(b);
}

/// The axis of an operand that is called like an axis of what it is broadcast to.
std::optional<int64_t> axisOfName(Value operand, Value result, int64_t row) {
  int64_t at = row - (tensorTypeOf(result).getRank() - tensorTypeOf(operand).getRank());
  return at >= 0 && isSameDim(operand, at, result, row) ? std::optional(at) : std::nullopt;
}

/// The number of elements along an axis, as the value that it was made with, if any.
Value sizeOf(Value v, int64_t axis) {
  Operation *def = v.getDefiningOp();
  if (!def)
    return {};
  if (def->hasTrait<toy::OpTrait::Elementwise>()) {
    for (Value operand : def->getOperands())
      if (auto at = axisOfName(operand, v, axis))
        return sizeOf(operand, *at);
    return {};
  }
  return llvm::TypeSwitch<Operation *, Value>(def)
      .Case<ReshapeOp, BroadcastOp, FullOp>([&](auto op) { return op.getSizes()[axis]; })
      .Case([&](SliceOp op) { return op.getCounts()[axis]; })
      .Default(Value());
}

/// The axis of an operand along an axis of what it is broadcast to; nothing where that is not known.
std::optional<int64_t> axisOfOperand(Value operand, Value result, int64_t row) {
  int64_t at = row - (tensorTypeOf(result).getRank() - tensorTypeOf(operand).getRank());
  if (row == none || at < 0 || tensorTypeOf(operand).getDim(at).is(1))
    return none;
  Value size = sizeOf(operand, at), whole = sizeOf(result, row);
  bool isSame = isSameDim(operand, at, result, row) || (size && whole && isSameNumber(size, whole));
  return isSame ? std::optional(at) : std::nullopt;
}

/// The axis of a reshape's operand, where only axes of 1 come and go.
std::optional<int64_t> axisBeforeReshape(ReshapeOp op, int64_t row) {
  auto widths = [](Value v) {
    SmallVector<int64_t> axes;
    for (auto [axis, dim] : llvm::enumerate(tensorTypeOf(v).getDims()))
      if (!dim.is(1))
        axes.push_back(axis);
    return axes;
  };
  SmallVector<int64_t> from = widths(op.getX()), to = widths(op.getResult());
  if (from.size() != to.size())
    return std::nullopt;
  std::optional<int64_t> found = none;
  for (auto [i, j] : llvm::zip(from, to)) {
    if (!isSameDim(op.getX(), i, op.getResult(), j))
      return std::nullopt;
    if (j == row)
      found = i;
  }
  return found;
}

/// The axes along which an operation's operands are read for an axis of its result: one an operand that is read.
std::optional<SmallVector<int64_t>> axesOfOperands(Operation *op, int64_t row) {
  std::optional<int64_t> axis;
  if (op->hasTrait<toy::OpTrait::Elementwise>()) {
    SmallVector<int64_t> axes;
    for (Value operand : op->getOperands()) {
      if (!(axis = axisOfOperand(operand, op->getResult(0), row)))
        return std::nullopt;
      axes.push_back(*axis);
    }
    return axes;
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    axis = axisBeforeReshape(reshape, row);
  else if (auto permute = dyn_cast<PermuteOp>(op))
    axis = row == none ? none : permute.getPermutation()[row];
  else if (isa<BroadcastOp>(op))
    axis = axisOfOperand(op->getOperand(0), op->getResult(0), row);
  else if (isa<FullOp>(op))
    axis = none;
  return axis ? std::optional(SmallVector<int64_t>{*axis}) : std::nullopt;
}

/// What takes some cycles an element. Functions are better off in kernels, which use vectors and threads.
bool isCheap(Operation *op) {
  return isa<AddOp, SubOp, MulOp, DivOp, NegOp, AbsOp, Abs2Op, MinimumOp, MaximumOp, LtOp, LeOp, GtOp, GeOp, EqOp, NeOp,
             AndOp, OrOp, NotOp, WhereOp, CastOp, RealOp, ImagOp, ConjOp, ComplexOp, ReshapeOp, PermuteOp, BroadcastOp,
             FullOp, SliceOp>(op) &&
         isMemoryEffectFree(op);
}

/// Whether a value has as many elements along an axis as a store takes.
bool hasSize(Value v, int64_t axis, Value count) {
  if (Value size = sizeOf(v, axis); size && isSameNumber(size, count))
    return true;
  if (auto n = constantInteger(count))
    return tensorTypeOf(v).getDim(axis).is(*n);
  auto dim = count.getDefiningOp<DimOp>();
  return dim && isSameDim(v, axis, dim.getX(), dim.getAxis());
}

bool isSameCount(Value a, Value b) {
  auto x = a.getDefiningOp<DimOp>(), y = b.getDefiningOp<DimOp>();
  return isSameNumber(a, b) || (x && y && isSameDim(x.getX(), x.getAxis(), y.getX(), y.getAxis()));
}

/// A store of one row.
struct RowStore {
  SliceStoreOp op;
  int64_t axis; ///< along which the row lies: all others have one index
  std::optional<int64_t> valueAxis = none;

  Value start() { return op.getStarts()[axis]; }
  Value count() { return op.getCounts()[axis]; }
  int64_t step() { return op.getSteps()[axis]; }
};

std::optional<RowStore> rowStore(SliceStoreOp op) {
  if (op->hasAttr("packed") || isHalf(tensorTypeOf(op.getX()).getDtype()))
    return std::nullopt;
  RowStore store{op, none};
  for (auto [axis, count] : llvm::enumerate(op.getCounts())) {
    if (constantInteger(count) == 1)
      continue;
    if (store.axis != none)
      return std::nullopt;
    store.axis = axis;
  }
  if (store.axis == none) // an element
    return std::nullopt;
  Value values = op.getValues();
  int64_t at = store.axis - (tensorTypeOf(op.getX()).getRank() - tensorTypeOf(values).getRank());
  if (at < 0 || tensorTypeOf(values).getDim(at).is(1))
    return store;
  store.valueAxis = at;
  return hasSize(values, at, store.count()) ? std::optional(store) : std::nullopt;
}

/// Stores into one tensor, one behind the other, of rows that lie side by side, and what is computed for them alone.
class RowLoop {
public:
  explicit RowLoop(RowStore first) { stores.push_back(first); }

  /// Takes a store over, if what stands between it and those before only serves it.
  bool join(RowStore next) {
    constexpr size_t mostStores = 16; // each of which may ask what the others left
    RowStore &first = stores.front(), &last = stores.back();
    if (stores.size() == mostStores || next.op.getX() != last.op.getResult() || next.axis != first.axis ||
        next.step() != first.step() || !isSameNumber(next.start(), first.start()) ||
        !isSameCount(next.count(), first.count()))
      return false;
    stores.push_back(next);
    collect();
    bool isClosed =
        llvm::all_of(last.op->getUsers(), [&](Operation *user) { return user == next.op || members.contains(user); });
    if (isClosed && llvm::all_of(stores, [&](RowStore &store) { return canRead(store); }))
      return true;
    stores.pop_back();
    collect();
    return false;
  }

  /// Decides what is computed element by element, and makes the loop.
  void emit() {
    collect();
    for (RowStore &store : stores)
      if (!canRead(store)) // the tensor is made and copied: not if it is the one that is stored into
        wholes.insert(store.op.getValues());
    if (llvm::any_of(wholes, [&](Value v) { return versionOf(v).has_value(); }))
      return;
    makeLoop();
  }

private:
  Operation *place() { return stores.back().op; }

  /// What has no other use than these stores: what they use, as soon as the last user is one of them.
  void collect() {
    members.clear();
    for (RowStore &store : llvm::reverse(stores))
      members.insert(store.op);
    for (size_t i = 0; i < members.size(); ++i)
      for (Value operand : members[i]->getOperands())
        if (Operation *def = operand.getDefiningOp(); def && def->getBlock() == place()->getBlock() && onlyServes(def))
          members.insert(def);
  }
  bool onlyServes(Operation *op) {
    return op->getNumResults() == 1 && isRanked(op->getResult(0)) && isCheap(op) &&
           !isHalf(tensorTypeOf(op->getResult(0)).getDtype()) && llvm::all_of(op->getUses(), [&](OpOperand &use) {
             return members.contains(use.getOwner()) &&
                    !(isa<SliceStoreOp>(use.getOwner()) && use.getOperandNumber() == 0);
           });
  }

  /// How many stores there were before a value of the tensor that is stored into.
  std::optional<size_t> versionOf(Value v) {
    if (v == stores.front().op.getX())
      return 0;
    for (auto [i, store] : llvm::enumerate(stores))
      if (v == store.op.getResult())
        return i + 1;
    return std::nullopt;
  }

  bool canRead(RowStore &store) { return canRead(store.op.getValues(), *store.valueAxis); }
  bool canRead(Value v, int64_t row) {
    if (!isRanked(v))
      return !isHalf(tensorTypeOf(v).getDtype());
    Operation *def = v.getDefiningOp();
    if (!def || !members.contains(def))
      return !versionOf(v);
    if (auto slice = dyn_cast<SliceOp>(def))
      return isInPlace(slice, row);
    auto axes = axesOfOperands(def, row);
    return axes && llvm::all_of(llvm::zip(def->getOperands(), *axes),
                                [&](auto pair) { return canRead(std::get<0>(pair), std::get<1>(pair)); });
  }

  /// Whether the elements of a slice are still there when they are read: nothing stores into what it is of, or each
  /// turn into none but its own place of the rows.
  bool isInPlace(SliceOp slice, int64_t row) {
    if (isHalf(tensorTypeOf(slice.getX()).getDtype()))
      return false;
    RowStore &store = stores.front();
    if (versionOf(slice.getX()))
      return row == store.axis && isSameNumber(slice.getStarts()[row], store.start()) &&
             slice.getSteps()[row] == store.step();
    return llvm::none_of(slice.getX().getUsers(), [&](Operation *user) {
      return takesFirst(user) && user->getOperand(0) == slice.getX() && user->getBlock() == slice->getBlock() &&
             user->isBeforeInBlock(place());
    });
  }

  // --- the change

  void makeLoop() {
    Operation *last = place();
    OpBuilder b(last);
    Location loc = last->getLoc();
    Value zero = integerConstant(b, loc, 0), one = integerConstant(b, loc, 1);
    Block *before = last->getBlock(), *after = before->splitBlock(last);
    Value x = stores.front().op.getX();
    Block *header = b.createBlock(after, {x.getType(), zero.getType()}, {loc, loc}), *body = b.createBlock(after);
    Value k = header->getArgument(1);
    b.setInsertionPointToEnd(before);
    cf::BranchOp::create(b, loc, header, ValueRange{x, zero});
    b.setInsertionPointToEnd(header);
    Type truth = TensorType::scalar(b.getContext(), DType::Bool);
    Value goesOn = LtOp::create(b, loc, truth, ValueRange{k, stores.front().count()});
    cf::CondBranchOp::create(b, loc, TruthOp::create(b, loc, b.getI1Type(), goesOn), body, ValueRange(), after,
                             ValueRange());
    b.setInsertionPointToEnd(body);
    Value changed = storeElements(b, header->getArgument(0), k);
    Value next = exact<AddOp>(b, loc, k, one);
    cf::BranchOp::create(b, loc, header, ValueRange{changed, next});
    stores.back().op.replaceAllUsesWith(header->getArgument(0));
    for (Operation *op : members)
      if (op->use_empty())
        op->erase();
  }

  template <typename Op> static Value exact(OpBuilder &b, Location loc, Value x, Value y) {
    auto op = Op::create(b, loc, x.getType(), ValueRange{x, y});
    op->setAttr("toy.exact", b.getUnitAttr()); // places lie inside
    return op;
  }

  /// A turn: what is read of each version of the tensor is read before the next one is made.
  Value storeElements(OpBuilder &b, Value x, Value k) {
    for (auto [i, store] : llvm::enumerate(stores)) {
      current = x;
      for (RowStore &later : llvm::drop_begin(stores, i))
        read(b, later.op.getValues(), *later.valueAxis, k, i);
      Value v = element(b, store.op.getValues(), *store.valueAxis, k);
      SmallVector<Value> at = places(b, store.op.getLoc(), store.op.getStarts(), store.op.getSteps(), store.axis, k);
      x = ElementStoreOp::create(b, store.op.getLoc(), x.getType(), x, v, at);
    }
    return x;
  }

  /// Reads what a value needs of one version.
  void read(OpBuilder &b, Value v, int64_t row, Value k, size_t version) {
    Operation *def = v.getDefiningOp();
    if (!isRanked(v) || !def || !members.contains(def) || wholes.contains(v))
      return;
    if (auto slice = dyn_cast<SliceOp>(def)) {
      if (versionOf(slice.getX()) == version)
        element(b, v, row, k);
      return;
    }
    for (auto [operand, axis] : llvm::zip(def->getOperands(), *axesOfOperands(def, row)))
      read(b, operand, axis, k, version);
  }

  Value element(OpBuilder &b, Value v, int64_t row, Value k) {
    if (!isRanked(v))
      return v;
    auto [it, isNew] = known.try_emplace({v, row}, Value());
    if (isNew) {
      Value made = makeElement(b, v, row, k);
      return known[{v, row}] = made;
    }
    return it->second;
  }
  Value makeElement(OpBuilder &b, Value v, int64_t row, Value k) {
    Operation *def = v.getDefiningOp();
    Location loc = v.getLoc();
    Type scalar = TensorType::scalar(b.getContext(), tensorTypeOf(v).getDtype());
    if (!def || !members.contains(def) || wholes.contains(v)) {
      SmallVector<Value> at(tensorTypeOf(v).getRank(), Value());
      for (auto [axis, index] : llvm::enumerate(at))
        index = static_cast<int64_t>(axis) == row ? k : integerConstant(b, loc, 0);
      return ElementOp::create(b, loc, scalar, v, at);
    }
    if (auto slice = dyn_cast<SliceOp>(def)) {
      Value from = versionOf(slice.getX()) ? current : slice.getX();
      return ElementOp::create(b, loc, scalar, from, places(b, loc, slice.getStarts(), slice.getSteps(), row, k));
    }
    SmallVector<Value> elements;
    for (auto [operand, axis] : llvm::zip(def->getOperands(), *axesOfOperands(def, row)))
      elements.push_back(element(b, operand, axis, k));
    if (!def->hasTrait<toy::OpTrait::Elementwise>())
      return elements[0];
    Operation *op = b.clone(*def);
    op->setOperands(elements);
    op->getResult(0).setType(scalar);
    return op->getResult(0);
  }

  static SmallVector<Value> places(OpBuilder &b, Location loc, ValueRange starts, ArrayRef<int64_t> steps, int64_t row,
                                   Value k) {
    SmallVector<Value> at(starts);
    if (row == none)
      return at;
    Value along = steps[row] == 1 ? k : exact<MulOp>(b, loc, k, integerConstant(b, loc, steps[row]));
    at[row] = constantInteger(starts[row]) == 0 ? along : exact<AddOp>(b, loc, starts[row], along);
    return at;
  }

  SmallVector<RowStore, 2> stores;
  llvm::SetVector<Operation *> members; ///< users before what they use
  llvm::DenseSet<Value> wholes;         ///< that are made as tensors
  llvm::DenseMap<std::pair<Value, int64_t>, Value> known;
  Value current; ///< the tensor as far as it is stored in a turn
};

/// What the size of a value is asked of instead: what it was made with, or an operand that has it.
std::pair<Value, int64_t> sourceOfSize(Value x, int64_t axis) {
  while (Operation *def = x.getDefiningOp()) {
    Value from;
    int64_t at = axis;
    if (auto store = dyn_cast<SliceStoreOp>(def))
      from = store.getX();
    else if (def->hasTrait<toy::OpTrait::Elementwise>())
      for (Value operand : def->getOperands())
        if (auto along = axisOfName(operand, x, axis); !from && along)
          from = operand, at = *along;
    if (!from)
      break;
    x = from;
    axis = at;
  }
  return {x, axis};
}

/// dim(x) ==> what the axis of x was made with, or dim of what x was made of, asked where that is made: a store may be
/// the last use of it, and a question keeps nothing stored.
void askOthersForSizes(func::FuncOp function) {
  SmallVector<DimOp> questions;
  function.walk([&](DimOp op) { questions.push_back(op); });
  OpBuilder b(function.getContext());
  for (DimOp op : questions) {
    auto [x, axis] = sourceOfSize(op.getX(), op.getAxis());
    auto reshape = x.getDefiningOp<ReshapeOp>();
    Value size = reshape && !axisBeforeReshape(reshape, axis) ? Value() : sizeOf(x, axis);
    if (!size && x == op.getX())
      continue;
    b.setInsertionPointAfterValue(x);
    if (!size)
      size = DimOp::create(b, op.getLoc(), op.getType(), x, axis);
    op.replaceAllUsesWith(size);
    op.erase();
  }
}

struct StoreRowsPass : impl::StoreRowsBase<StoreRowsPass> {
  void runOnOperation() override {
    FunctionLoops loops(getOperation());
    WalkResult any = getOperation().walk(
        [&](SliceStoreOp op) { return loops.of(op->getBlock()) ? WalkResult::interrupt() : WalkResult::advance(); });
    if (!any.wasInterrupted())
      return;
    askOthersForSizes(getOperation());
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(getOperation());
    eliminateCommonSubExpressions(rewriter, dominance, getOperation()); // questions that are one now
    SmallVector<RowLoop> found;
    for (Block &block : getOperation().getBody()) {
      if (!loops.of(&block))
        continue;
      bool isOpen = false;
      for (SliceStoreOp op : block.getOps<SliceStoreOp>()) {
        std::optional<RowStore> store = rowStore(op);
        if (store && !(isOpen && found.back().join(*store)))
          found.push_back(RowLoop(*store));
        isOpen = store.has_value();
      }
    }
    for (RowLoop &loop : llvm::reverse(found))
      loop.emit();
  }
};

} // namespace
} // namespace toy

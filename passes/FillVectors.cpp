// SPDX-License-Identifier: Apache-2.0
/// \file
/// `row = list(); for j in range(n) { row = append(row, v); }`: how long the vector gets is known before the loop,
/// where nothing in it can fail, as a place outside would, before it has become so long. So it is made with that
/// length, and its elements are stored, several at once where LLVM makes vectors of the loop.
#include "passes/FillVectors.h"
#include "passes/CountedLoops.h"

using namespace mlir;

namespace toy {

namespace {

/// A vector without elements that a loop begins with, and what makes it longer.
struct Growth {
  BlockArgument vector;
  AppendOp append;
};

class Filler {
public:
  explicit Filler(func::FuncOp function) : loops(function), b(function.getContext()) {}

  void run() {
    for (CFGLoop *loop : loops.all()) {
      auto counted = countedLoop(*loop);
      if (!counted || counted->isDown || !counted->start || constantInteger(counted->start).value_or(-1) < 0 ||
          !comesToItsEnd(*loop)) // whose turns do not wrap
        continue;
      for (BlockArgument argument : llvm::to_vector(loop->getHeader()->getArguments()))
        if (auto growth = growthOf(*loop, *counted, argument))
          fill(*loop, *counted, *growth);
    }
  }

private:
  /// Whether a loop is left where it has counted to its end, and by no error either.
  static bool comesToItsEnd(CFGLoop &loop) {
    auto cannotFail = [&](Operation &op) {
      if (isa<ConstantOp, TruthOp, DimOp, AppendOp, RelabelOp, cf::BranchOp, cf::CondBranchOp>(op))
        return true;
      if (isa<ModOp, FloorDivOp>(op) && constantInteger(op.getOperand(1)).value_or(0) == 0)
        return false;
      return op.hasTrait<toy::OpTrait::Elementwise>() && tensorTypeOf(op.getResult(0)).isScalar() &&
             isMemoryEffectFree(&op);
    };
    return llvm::all_of(loop.getBlocks(), [&](Block *block) {
      auto isInside = [&](Block *to) { return loop.contains(to); };
      return llvm::all_of(*block, cannotFail) &&
             (block == loop.getHeader() || llvm::all_of(block->getSuccessors(), isInside));
    });
  }

  static Value beforeNames(Value v) {
    while (auto relabel = v.getDefiningOp<RelabelOp>())
      v = relabel.getX();
    return v;
  }

  static std::optional<Growth> growthOf(CFGLoop &loop, CountedLoop &counted, BlockArgument argument) {
    auto type = dyn_cast<TensorType>(argument.getType());
    if (!type || type.getRank() != 1)
      return std::nullopt;
    for (const BlockEdge &entry : entriesOf(loop)) {
      auto empty = beforeNames(entry.operandOf(argument)).getDefiningOp<FullOp>();
      if (!empty || tensorTypeOf(empty.getResult()).getStaticCount() != 0 || !isa<cf::BranchOp>(entry.terminator))
        return std::nullopt;
    }
    auto append = beforeNames(counted.back.getDestOperands()[argument.getArgNumber()]).getDefiningOp<AppendOp>();
    if (!append || append.getX() != argument || !loop.contains(append->getBlock()) ||
        !tensorTypeOf(append.getRow()).isScalar() || tensorTypeOf(append.getRow()).getDtype() != type.getDtype())
      return std::nullopt;
    auto isAsked = [&](Operation *user) {
      return !loop.contains(user->getBlock()) || user == append || isa<DimOp>(user);
    };
    auto isLast = [&](Operation *user) {
      auto relabel = dyn_cast<RelabelOp>(user);
      return user == counted.back || isa<DimOp>(user) ||
             (relabel && llvm::all_of(relabel->getUsers(), [&](Operation *next) { return next == counted.back; }));
    };
    return llvm::all_of(argument.getUsers(), isAsked) && llvm::all_of(append->getUsers(), isLast)
               ? std::optional(Growth{argument, append})
               : std::nullopt;
  }

  void fill(CFGLoop &loop, CountedLoop &counted, Growth growth) {
    const unsigned number = growth.vector.getArgNumber();
    auto type = cast<TensorType>(growth.vector.getType());
    for (const BlockEdge &entry : entriesOf(loop)) {
      Location loc = growth.append.getLoc();
      b.setInsertionPoint(entry.terminator);
      // Of a bound far below the start, the difference would wrap.
      Value end = MaximumOp::create(b, loc, counted.bound.getType(), counted.bound, counted.start);
      Value count = difference(loc, end, counted.start);
      TensorType made = type.withDims({Dim::symbol(b.getContext(), "filled$" + std::to_string(names++))});
      Value full = FullOp::create(b, loc, made, zeroConstant(b, loc, type.getDtype()), ValueRange(count));
      entry.operands()[number].set(RelabelOp::create(b, loc, type, full));
    }
    askCounter(growth.vector, counted, 0, &loop);
    askCounter(growth.append.getResult(), counted, 1, nullptr);
    b.setInsertionPoint(growth.append);
    Value at = difference(growth.append.getLoc(), counted.counter, counted.start);
    Value stored =
        ElementStoreOp::create(b, growth.append.getLoc(), type, growth.vector, growth.append.getRow(), ValueRange(at));
    counted.back.getDestOperandsMutable()[number].set(stored);
    for (Operation *user : llvm::make_early_inc_range(growth.append->getUsers()))
      user->erase(); // other names
    growth.append.erase();
  }

  /// In the loop, a vector is as long as there were turns.
  void askCounter(Value vector, CountedLoop &counted, int64_t more, CFGLoop *inside) {
    for (Operation *user : llvm::make_early_inc_range(vector.getUsers())) {
      auto dim = dyn_cast<DimOp>(user);
      if (!dim || (inside && !inside->contains(dim->getBlock())))
        continue;
      b.setInsertionPoint(dim);
      Value length = difference(dim.getLoc(), counted.counter, counted.start);
      if (more)
        length = AddOp::create(b, dim.getLoc(), length.getType(), length, integerConstant(b, dim.getLoc(), more));
      dim.replaceAllUsesWith(length);
      dim.erase();
    }
  }

  Value difference(Location loc, Value end, Value start) {
    return constantInteger(start) == 0 ? end : Value(SubOp::create(b, loc, end.getType(), end, start));
  }

  FunctionLoops loops;
  OpBuilder b;
  int names = 0;
};

} // namespace

void fillVectors(func::FuncOp function) {
  if (!function.isExternal() && !function.getBody().hasOneBlock())
    Filler(function).run();
}

} // namespace toy

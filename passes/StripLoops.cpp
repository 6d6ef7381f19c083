// SPDX-License-Identifier: Apache-2.0
/// \file
/// Counted innermost loops run in strips, between which Ctrl-C is looked for: a look at each turn would keep them from
/// becoming vector code.
#include "passes/Constants.h"
#include "passes/ControlFlow.h"
#include "passes/Passes.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_STRIPLOOPS
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t strip = 1 << 14; ///< turns: some tens of microseconds

/// `for counter in start..bound` with steps of 1: the header compares, one block goes back to it. Between strips the
/// header runs once more, so it stores nothing.
struct CountedLoop {
  BlockArgument counter;
  Value bound;
  LtOp test;
  cf::BranchOp back;
};

std::optional<CountedLoop> countedLoop(CFGLoop &loop) {
  Block *header = loop.getHeader(), *latch = loop.getLoopLatch();
  auto leave = dyn_cast<cf::CondBranchOp>(header->getTerminator());
  auto back = latch ? dyn_cast<cf::BranchOp>(latch->getTerminator()) : cf::BranchOp();
  auto truth = leave ? leave.getCondition().getDefiningOp<TruthOp>() : TruthOp();
  auto test = truth ? truth->getOperand(0).getDefiningOp<LtOp>() : LtOp();
  auto counter = test ? dyn_cast<BlockArgument>(test.getLhs()) : BlockArgument();
  if (!back || !counter || counter.getOwner() != header || test->getBlock() != header || !test->hasOneUse() ||
      !truth->hasOneUse() || !loop.contains(leave.getTrueDest()) || loop.contains(leave.getFalseDest()))
    return std::nullopt;
  Operation *bound = test.getRhs().getDefiningOp();
  Block *boundBlock = bound ? bound->getBlock() : cast<BlockArgument>(test.getRhs()).getOwner();
  auto next = back.getDestOperands()[counter.getArgNumber()].getDefiningOp<AddOp>();
  bool stores = !header->getOps<ElementSetOp>().empty();
  if (stores || loop.contains(boundBlock) || tensorTypeOf(counter).getDtype() != DType::I64 || !next ||
      next.getLhs() != counter || constantInteger(next.getRhs()) != 1)
    return std::nullopt;
  return CountedLoop{counter, test.getRhs(), test, back};
}

/// Whether a turn takes some nanoseconds: nothing is called.
bool isLight(CFGLoop &loop) {
  return llvm::all_of(loop.getBlocks(), [](Block *block) {
    return llvm::all_of(*block, [](Operation &op) {
      return isa<ElementOp, ElementSetOp, CheckIndexOp, ConstantOp, DimOp, TruthOp>(op) ||
             op.hasTrait<mlir::OpTrait::IsTerminator>() ||
             (op.hasTrait<toy::OpTrait::Elementwise>() && tensorTypeOf(op.getResult(0)).isScalar());
    });
  });
}

/// ^header(args, i): i < bound                  ^strips(args, i): end = bound - i < strip ? bound : i + strip
///     ? ^body : ^exit(…)               ==>     ^header(args, i): i < end ? ^body : ^between
/// ^latch: ^header(args', i + 1)                ^between: i < bound ? ^strips(args, i) : ^exit(…)
void stripMine(CFGLoop &loop, CountedLoop counted) {
  Block *header = loop.getHeader();
  Location loc = counted.test.getLoc();
  OpBuilder b(header->getParentOp()->getContext());
  Block *strips = b.createBlock(header);
  for (BlockArgument argument : header->getArguments())
    strips->addArgument(argument.getType(), argument.getLoc());
  for (const BlockEdge &entry : entriesOf(loop))
    entry.terminator->setSuccessor(strips, entry.successor);

  b.setInsertionPointToStart(strips);
  Value from = strips->getArgument(counted.counter.getArgNumber()), width = integerConstant(b, loc, strip);
  auto make = [&](auto op, Type type, ValueRange operands) {
    return decltype(op)::create(b, loc, type, operands).getResult();
  };
  Type i64 = from.getType(), boolean = counted.test.getType();
  Value left = make(SubOp(), i64, {counted.bound, from}), isLast = make(LtOp(), boolean, {left, width});
  Value end = make(WhereOp(), i64, {isLast, counted.bound, make(AddOp(), i64, {from, width})});
  cf::BranchOp::create(b, loc, header, strips->getArguments());

  auto leave = cast<cf::CondBranchOp>(header->getTerminator());
  counted.test.getRhsMutable().assign(end);
  Block *between = b.createBlock(header->getNextNode());
  Value more = LtOp::create(b, loc, boolean, counted.counter, counted.bound);
  Value truth = TruthOp::create(b, loc, b.getI1Type(), more);
  SmallVector<Value> out(leave.getFalseDestOperands());
  SmallVector<Value> again(header->getArguments());
  cf::CondBranchOp::create(b, loc, truth, strips, again, leave.getFalseDest(), out);
  leave.getFalseDestOperandsMutable().clear();
  leave->setSuccessor(between, 1);
  counted.back->setAttr("toy.bare", b.getUnitAttr());
}

struct StripLoopsPass : impl::StripLoopsBase<StripLoopsPass> {
  void runOnOperation() override {
    FunctionLoops loops(getOperation());
    for (CFGLoop *loop : loops.all())
      if (loop->isInnermost() && isLight(*loop))
        if (auto counted = countedLoop(*loop))
          stripMine(*loop, *counted);
  }
};

} // namespace
} // namespace toy

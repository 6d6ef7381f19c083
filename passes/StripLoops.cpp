// SPDX-License-Identifier: Apache-2.0
/// \file
/// Counted loops that call nothing run in strips, between which Ctrl-C is looked for: a look at each turn would keep
/// them from becoming vector code. Loops of few turns, and nests of them, are over before anybody could wait.
#include "passes/Constants.h"
#include "passes/ControlFlow.h"
#include "passes/Passes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_STRIPLOOPS
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t strip = 1 << 14; ///< turns, with those of the loops inside: some tens of microseconds

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

/// The least that a counter can be: what it begins with, where it only goes up.
std::optional<int64_t> leastOf(Value v, int depth = 0) {
  constexpr int deepest = 4;
  if (auto n = constantInteger(v))
    return n;
  if (auto sum = v.getDefiningOp<AddOp>(); sum && sum->hasAttr("toy.exact") && depth < deepest) {
    auto a = leastOf(sum.getLhs(), depth + 1), b = leastOf(sum.getRhs(), depth + 1);
    int64_t least;
    return a && b && !llvm::AddOverflow(*a, *b, least) ? std::optional(least) : std::nullopt;
  }
  auto argument = dyn_cast<BlockArgument>(v);
  if (!argument || argument.getOwner()->isEntryBlock() || depth == deepest)
    return std::nullopt;
  std::optional<int64_t> least;
  for (const BlockEdge &edge : edgesInto(argument.getOwner())) {
    Value next = edge.operandOf(argument);
    auto step = next ? next.getDefiningOp<AddOp>() : AddOp();
    bool goesUp = step && step->hasAttr("toy.exact") && step.getLhs() == argument &&
                  constantInteger(step.getRhs()).value_or(-1) >= 0;
    auto from = next && !goesUp && next != argument ? constantInteger(next) : std::nullopt;
    if (!goesUp && next != argument && !from)
      return std::nullopt;
    if (from)
      least = std::min(least.value_or(*from), *from);
  }
  return least;
}

/// A number of turns that a counted loop does not pass, if it is small.
std::optional<int64_t> mostTurns(CFGLoop &loop, const CountedLoop &counted) {
  auto end = constantInteger(counted.bound);
  if (!end)
    return std::nullopt;
  int64_t most = 0;
  for (const BlockEdge &entry : entriesOf(loop)) {
    auto start = leastOf(entry.operandOf(counted.counter));
    int64_t turns;
    if (!start || llvm::SubOverflow(*end, *start, turns) || turns > strip)
      return std::nullopt;
    most = std::max(most, turns);
  }
  return most;
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

/// ^header(args, i): i < bound                  ^strips(args, i): end = i + minimum(bound - i, strip)
///     ? ^body : ^exit(…)               ==>     ^header(args, i): i < end ? ^body : ^between
/// ^latch: ^header(args', i + 1)                ^between: i < bound ? ^strips(args, i) : ^exit(…)
void stripMine(CFGLoop &loop, CountedLoop counted, int64_t turns) {
  Block *header = loop.getHeader();
  Location loc = counted.test.getLoc();
  OpBuilder b(header->getParentOp()->getContext());
  Block *strips = b.createBlock(header);
  for (BlockArgument argument : header->getArguments())
    strips->addArgument(argument.getType(), argument.getLoc());
  for (const BlockEdge &entry : entriesOf(loop))
    entry.terminator->setSuccessor(strips, entry.successor);

  b.setInsertionPointToStart(strips);
  Value from = strips->getArgument(counted.counter.getArgNumber()), width = integerConstant(b, loc, turns);
  auto make = [&](auto op, Type type, ValueRange operands) {
    return decltype(op)::create(b, loc, type, operands).getResult();
  };
  Type i64 = from.getType(), boolean = counted.test.getType();
  Value left = make(SubOp(), i64, {counted.bound, from}), here = make(MinimumOp(), i64, {left, width});
  Value end = make(AddOp(), i64, {from, here}); // LLVM finds the number of turns, `here`, made
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
    llvm::DenseMap<CFGLoop *, int64_t> bare; // with the most turns of those without a look, and of all that is in them
    const auto all = loops.all();
    for (CFGLoop *loop : llvm::reverse(all)) {
      int64_t inside = 1;
      bool areBare = llvm::all_of(loop->getSubLoops(), [&](CFGLoop *inner) {
        auto it = bare.find(inner);
        inside += it == bare.end() ? 0 : it->second;
        return it != bare.end() && inside <= strip;
      });
      auto counted = areBare && isLight(*loop) ? countedLoop(*loop) : std::nullopt;
      if (!counted)
        continue;
      if (auto turns = mostTurns(*loop, *counted); turns && *turns * inside <= strip) {
        counted->back->setAttr("toy.bare", UnitAttr::get(&getContext()));
        bare[loop] = *turns * inside;
      } else
        stripMine(*loop, *counted, strip / inside);
    }
  }
};

} // namespace
} // namespace toy

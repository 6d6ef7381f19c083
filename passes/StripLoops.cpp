// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which loops run in strips, between which Ctrl-C is looked for: counted ones that call nothing, because a look at
/// each turn would keep them from becoming vector code. Loops of few turns, and nests of them, are over before anybody
/// could wait, also where they call functions: those look themselves where they have longer loops or call themselves.
/// The strips are made when LLVM has simplified the loops (jit/StripTurns.h): their edges would hide what a turn hands
/// to the next one.
#include "passes/CountedLoops.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_STRIPLOOPS
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t strip = 1 << 14; ///< turns, with those of the loops inside: some tens of microseconds
constexpr int64_t turnsOfCall = 1 << 9;

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
    Value first = entry.operandOf(counted.counter);
    auto start = counted.isDown ? constantInteger(first) : leastOf(first);
    int64_t turns;
    if (!start || (counted.isDown ? llvm::SubOverflow(*start, *end, turns) : llvm::SubOverflow(*end, *start, turns)) ||
        turns > strip)
      return std::nullopt;
    most = std::max(most, turns);
  }
  return most;
}

/// Whether a turn takes some nanoseconds: nothing is called, or functions of the program alone.
bool isLight(CFGLoop &loop, bool mayCall) {
  return llvm::all_of(loop.getBlocks(), [&](Block *block) {
    return llvm::all_of(*block, [&](Operation &op) {
      return isa<ElementOp, ElementSetOp, CheckIndexOp, ConstantOp, DimOp, TruthOp, ListLenOp, ListElementOp>(op) ||
             op.hasTrait<mlir::OpTrait::IsTerminator>() ||
             (mayCall && isa<UniqueOp, ListUniqueOp, ListOwnOp, RelabelOp, ShortenOp, func::CallOp>(op) &&
              !op.hasAttr(triedCall)) ||
             (mayCall && isa<AppendOp>(op) && tensorTypeOf(op.getOperand(1)).isScalar()) ||
             (op.hasTrait<toy::OpTrait::Elementwise>() && tensorTypeOf(op.getResult(0)).isScalar());
    });
  });
}

/// Whether a loop divides by a number that a turn makes of the turn's before and of constants: known in each turn, if
/// it is known which turn it is. Dividing by a known number takes a fifth of the time.
bool dividesByDigits(CFGLoop &loop, CountedLoop counted) {
  auto isKnownInTurns = [&](Value v) {
    auto argument = dyn_cast<BlockArgument>(v);
    if (!argument || argument.getOwner() != loop.getHeader() || tensorTypeOf(v).getDtype() != DType::I64)
      return false;
    Operation *next = counted.back.getDestOperands()[argument.getArgNumber()].getDefiningOp();
    return next && isa<MulOp, FloorDivOp, AddOp, SubOp>(next) &&
           llvm::all_of(next->getOperands(), [&](Value operand) { return operand == v || constantInteger(operand); }) &&
           llvm::all_of(entriesOf(loop),
                        [&](const BlockEdge &entry) { return constantInteger(entry.operandOf(argument)).has_value(); });
  };
  return llvm::any_of(loop.getBlocks(), [&](Block *block) {
    return llvm::any_of(*block,
                        [&](Operation &op) { return isa<FloorDivOp, ModOp>(op) && isKnownInTurns(op.getOperand(1)); });
  });
}

/// Whether each turn of a loop is to have code of its own.
bool isWorthUnrolling(CFGLoop &loop) {
  constexpr int64_t fewTurns = 8;
  constexpr size_t manyOperations = 256;
  auto counted = countedLoop(loop);
  size_t operations = 0;
  for (Block *block : loop.getBlocks())
    operations += block->getOperations().size();
  return counted && operations <= manyOperations && mostTurns(loop, *counted).value_or(fewTurns + 1) <= fewTurns &&
         dividesByDigits(loop, *counted);
}

struct StripLoopsPass : impl::StripLoopsBase<StripLoopsPass> {
  void runOnOperation() override {
    FunctionLoops loops(getOperation());
    llvm::DenseMap<CFGLoop *, int64_t> bare; // with the most turns of those without a look, and of all that is in them
    const auto all = loops.all();
    for (CFGLoop *loop : llvm::reverse(all)) {
      if (isWorthUnrolling(*loop))
        loop->getLoopLatch()->getTerminator()->setAttr("toy.unroll", UnitAttr::get(&getContext()));
      int64_t inside = 1;
      bool areBare = llvm::all_of(loop->getSubLoops(), [&](CFGLoop *inner) {
        auto it = bare.find(inner);
        inside += it == bare.end() ? 0 : it->second;
        return it != bare.end() && inside <= strip;
      });
      const bool callsNothing = isLight(*loop, /*mayCall=*/false);
      auto counted = areBare && isLight(*loop, /*mayCall=*/true) ? countedLoop(*loop) : std::nullopt;
      if (!counted)
        continue;
      Builder b(&getContext());
      if (!callsNothing) {
        if (auto turns = mostTurns(*loop, *counted); turns && *turns * (inside + turnsOfCall) <= strip) {
          bare[loop] = *turns * (inside + turnsOfCall);
          counted->back->setAttr("toy.brief", b.getUnitAttr());
        }
        continue;
      }
      counted->back->setAttr("toy.bare", b.getUnitAttr());
      if (auto turns = mostTurns(*loop, *counted); turns && *turns * inside <= strip)
        bare[loop] = *turns * inside;
      else
        counted->back->setAttr("toy.strip", b.getI64IntegerAttr(strip / inside));
    }
  }
};

} // namespace
} // namespace toy

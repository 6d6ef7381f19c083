// SPDX-License-Identifier: Apache-2.0
/// \file
/// Intervals of integers: one equation a value, solved for all at once.
#include "passes/IntegerBounds.h"

#include "ir/Constants.h"
#include "support/SizeLimit.h"

using namespace mlir;

namespace toy {

/// The exact bounds of a sum, difference or product.
static std::pair<__int128, __int128> boundsOf(Operation *op, Interval a, Interval b) {
  if (isa<AddOp>(op))
    return {__int128(a.lo) + b.lo, __int128(a.hi) + b.hi};
  if (isa<SubOp>(op))
    return {__int128(a.lo) - b.hi, __int128(a.hi) - b.lo};
  __int128 corners[] = {__int128(a.lo) * b.lo, __int128(a.lo) * b.hi, __int128(a.hi) * b.lo, __int128(a.hi) * b.hi};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}
static bool fits(std::pair<__int128, __int128> bounds) {
  return bounds.first >= INT64_MIN && bounds.second <= INT64_MAX;
}

bool Bounds::isExact(Operation *op, Spot at) {
  return ofStride(op, at) || fits(boundsOf(op, of(op->getOperand(0), at), of(op->getOperand(1), at)));
}

Interval Bounds::madeAs(Value v) const {
  auto it = made.find(v);
  return it == made.end() ? Interval() : it->second;
}

void Bounds::forEachEquation(llvm::function_ref<void(Value, Interval)> visit) {
  for (Block *block : order) {
    for (BlockArgument argument : block->getArguments())
      if (isInteger64(argument))
        visit(argument, ofArgument(argument));
    for (Operation &op : *block) {
      bool isReached = llvm::none_of(op.getOperands(), [&](Value operand) { return madeAs(operand).isEmpty(); });
      for (Value result : op.getResults())
        if (isInteger64(result))
          visit(result, isReached ? ofOperation(&op, &op) : Interval::empty());
    }
  }
}

/// Both ends as far as they may go, where they do not stay: first so far that sums and small multiples still fit,
/// because what follows from a size is no more than that.
static Interval widened(Interval before, Interval now) {
  constexpr int64_t far = largestSize << 4;
  if (before.isEmpty())
    return now;
  return {now.lo >= before.lo ? before.lo
          : now.lo >= -far    ? -far
                              : INT64_MIN,
          now.hi <= before.hi ? before.hi
          : now.hi <= far     ? far
                              : INT64_MAX};
}

void Bounds::solve() {
  bool changed = true;
  for (int round = 0; changed; ++round) {
    changed = false;
    forEachEquation([&](Value v, Interval next) {
      if (next.isEmpty())
        next = Interval::empty();
      auto [it, isNew] = made.try_emplace(v, next);
      Interval before = it->second, &now = it->second;
      if (isNew) {
        changed = true;
        return;
      }
      now = before | next;
      if (round > widenAfter && isa<BlockArgument>(v))
        now = widened(before, now);
      changed |= now.lo != before.lo || now.hi != before.hi;
    });
    if (round == mostRounds) { // nothing is known
      made.clear();
      return;
    }
  }
  for (int round = 0; round < narrowings; ++round)
    forEachEquation([&](Value v, Interval next) {
      Interval &now = made[v];
      now = {std::max(now.lo, next.lo), std::min(now.hi, next.hi)};
    });
}

/// Of an expression of sizes.
static Interval ofSize(SizeValueOp size, Dim expression, llvm::function_ref<Interval(unsigned)> operand) {
  if (expression.kind() == Dim::Kind::Max) {
    Interval most{INT64_MIN, INT64_MIN};
    for (Dim member : expression.operands()) {
      Interval next = ofSize(size, member, operand);
      most = {std::max(most.lo, next.lo), std::max(most.hi, next.hi)};
    }
    return most;
  }
  if (expression.isNumber())
    return {expression.constant(), expression.constant()};
  __int128 lo = expression.constant(), hi = lo;
  bool isSum = true;
  expression.forEachTerm([&](int64_t factor, Dim name) {
    auto at = SizeValueOp::operandOf(name.symbolName());
    isSum &= at.has_value();
    if (!at)
      return;
    Interval by = operand(*at);
    lo += __int128(factor) * (factor < 0 ? by.hi : by.lo);
    hi += __int128(factor) * (factor < 0 ? by.lo : by.hi);
  });
  return isSum && fits({lo, hi}) ? Interval{int64_t(lo), int64_t(hi)} : Interval();
}

/// `start - stop` of a `range` with a step that is a value, from the number of its turns: `0 - (start - stop) // step`,
/// or 0. A counter from 0 on that is less is not 0: `counter * step < stop - start`.
static SubOp wayOf(Value turns, Value step) {
  auto choice = turns.getDefiningOp<WhereOp>();
  auto count = choice ? choice->getOperand(1).getDefiningOp<SubOp>() : SubOp();
  auto quotient = count ? count.getRhs().getDefiningOp<FloorDivOp>() : FloorDivOp();
  auto way = quotient ? quotient->getOperand(0).getDefiningOp<SubOp>() : SubOp();
  if (!way || constantInteger(count.getLhs()) != 0 || constantInteger(choice->getOperand(2)) != 0 ||
      quotient->getOperand(1) != step)
    return {};
  return way;
}

std::optional<Bounds::Stride> Bounds::strideOf(Operation *product, Spot at) {
  auto counter = isa<MulOp>(product) ? dyn_cast<BlockArgument>(product->getOperand(0)) : BlockArgument();
  auto about = counter ? factsOf.find(counter) : factsOf.end();
  if (about == factsOf.end())
    return std::nullopt;
  Value step = product->getOperand(1);
  for (const auto &[fact, block, check] : about->second) {
    if (fact.lesser != counter || fact.gap < 1 || check || !dominates(block, product->getBlock()))
      continue;
    SubOp way = wayOf(fact.greater, step);
    if (!way)
      continue;
    Value start = way.getLhs(), stop = way.getRhs();
    // No deeper: what is known of the stop may be known by this product, which would ask for the stop again.
    auto bounds = boundsOf(way, of(start, at, 1), of(stop, at, 1));
    if (fits(bounds) && of(counter, at, 1).lo >= 0 && of(step, at, 1).lo > 0)
      return Stride{start, stop};
  }
  return std::nullopt;
}

std::optional<Interval> Bounds::ofStride(Operation *product, Spot at) {
  auto stride = strideOf(product, at);
  if (!stride)
    return std::nullopt;
  __int128 most = __int128(of(stride->stop, at, 1).hi) - of(stride->start, at, 1).lo - 1;
  return Interval{0, static_cast<int64_t>(std::clamp<__int128>(most, 0, INT64_MAX))};
}

/// That what is counted is at or above the start, and below the stop.
void Bounds::noteStride(Operation *product) {
  auto stride = strideOf(product, product);
  if (!stride)
    return;
  auto noteBetween = [&](Value v) {
    note({stride->start, v, 0}, v.getParentBlock());
    note({v, stride->stop, 1}, v.getParentBlock());
  };
  if (constantInteger(stride->start) == 0)
    noteBetween(product->getResult(0));
  for (Operation *user : product->getUsers())
    if (isa<AddOp>(user) && user->getOperand(0) == product->getResult(0) && user->getOperand(1) == stride->start)
      noteBetween(user->getResult(0));
}

Interval Bounds::ofOperation(Operation *op, Spot at, int depth, bool again) {
  auto operand = [&](unsigned i) { return of(op->getOperand(i), at, depth, again); };
  if (auto check = dyn_cast<CheckIndexOp>(op)) {
    Interval index = operand(0), size = operand(1);
    int64_t most = std::clamp<int64_t>(size.hi, 1, largestSize) - 1;
    return index.lo >= 0 ? Interval{std::min(index.lo, most), std::min(index.hi, most)} : Interval{0, most};
  }
  if (isa<DimOp, ListLenOp>(op))
    return {0, largestSize};
  if (isa<CheckSizeOp>(op))
    return {std::clamp<int64_t>(operand(0).lo, 0, largestSize), std::clamp<int64_t>(operand(0).hi, 0, largestSize)};
  if (auto size = dyn_cast<SizeValueOp>(op))
    return ofSize(size, size.getExpr(), operand);
  if (auto stride = ofStride(op, at))
    return *stride;
  if (isa<AddOp, SubOp, MulOp>(op)) {
    auto bounds = boundsOf(op, operand(0), operand(1));
    return fits(bounds) ? Interval{int64_t(bounds.first), int64_t(bounds.second)} : Interval();
  }
  if (isa<MinimumOp>(op)) {
    Interval a = operand(0), b = operand(1);
    return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
  }
  if (isa<MaximumOp>(op)) {
    Interval a = operand(0), b = operand(1);
    return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
  }
  if (isa<WhereOp>(op) && isInteger64(op->getOperand(1)) && isInteger64(op->getOperand(2)))
    return operand(1) | operand(2);
  if (isa<ModOp>(op)) {
    if (Interval divisor = operand(1); divisor.lo > 0)
      return {0, divisor.hi - 1};
    return {};
  }
  if (isa<FloorDivOp>(op)) {
    Interval a = operand(0), divisor = operand(1);
    if (divisor.lo <= 0)
      return {};
    return {a.lo >= 0 ? 0 : a.lo, a.hi >= 0 ? a.hi / divisor.lo : -1};
  }
  if (auto cast = dyn_cast<CastOp>(op)) {
    DType from = tensorTypeOf(cast.getX()).getDtype();
    if (from == DType::Bool || from == DType::U8)
      return {0, from == DType::Bool ? 1 : 255};
    if (from == DType::I32)
      return {INT32_MIN, INT32_MAX};
  }
  return {};
}

Interval Bounds::ofArgument(BlockArgument argument) {
  Block *block = argument.getOwner();
  if (block->isEntryBlock() || block->hasNoPredecessors())
    return {};
  Interval all = Interval::empty(); // until something gets here
  for (const BlockEdge &edge : edgesInto(block)) {
    Value v = edge.operandOf(argument);
    if (!v)
      return {};
    if (constantInteger(v) || made.contains(v))
      all = all | of(v, edge.from(), 1);
  }
  return all;
}

} // namespace toy

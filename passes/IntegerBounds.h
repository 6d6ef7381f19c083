// SPDX-License-Identifier: Apache-2.0
/// \file
/// Intervals of i64 scalars and linear inequalities between them. Integers of the language wrap: an interval is of the
/// exact value, and what may wrap has none.
#pragma once

#include "passes/ControlFlow.h"

#include "ir/ToyDialect.h"

namespace toy {

/// Whether a value is an i64 scalar.
bool isInteger64(mlir::Value v);

struct Interval {
  int64_t lo = INT64_MIN, hi = INT64_MAX;

  /// Of a value that is not made, as far as is known: no number at all.
  static constexpr Interval empty() { return {INT64_MAX, INT64_MIN}; }
  bool isEmpty() const { return lo > hi; }
  bool isUnknown() const { return lo == INT64_MIN && hi == INT64_MAX; }
  Interval operator|(Interval other) const { return {std::min(lo, other.lo), std::max(hi, other.hi)}; }
};

/// A constant and values times factors, computed without wrapping. What becomes too large is not known, so that no sum
/// of terms times 64 bits leaves 128.
struct Linear {
  static constexpr __int128 mostFactor = __int128(1) << 40, mostConstant = __int128(1) << 80;
  static constexpr size_t mostTerms = 64;
  __int128 constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, __int128>, 4> terms;
  bool isKnown = true;

  void add(mlir::Value v, __int128 factor) {
    auto it = llvm::find_if(terms, [&](auto term) { return term.first == v; });
    if (it == terms.end())
      it = terms.insert(it, {v, 0});
    it->second += factor;
    isKnown &= -mostFactor <= it->second && it->second <= mostFactor && terms.size() <= mostTerms;
    if (it->second == 0)
      terms.erase(it);
  }
  bool isSame(const Linear &other) const {
    Linear difference = *this;
    difference.add(other, -1);
    return difference.isKnown && difference.constant == 0 && difference.terms.empty();
  }
  void add(const Linear &other, int64_t factor) {
    isKnown &= other.isKnown && -mostFactor <= factor && factor <= mostFactor;
    if (!isKnown)
      return;
    constant += other.constant * factor;
    isKnown = -mostConstant <= constant && constant <= mostConstant;
    for (auto [v, f] : other.terms)
      add(v, f * factor);
  }
};

/// `lesser + gap <= greater`, where control has passed a branch or a check.
struct Fact {
  mlir::Value lesser, greater;
  int64_t gap;
};

/// Before an operation, or at the end of a block.
struct Spot {
  Spot(mlir::Operation *op) : block(op->getBlock()), op(op) {}
  Spot(mlir::Block *block) : block(block) {}
  bool isBehind(mlir::Operation *other) const {
    return other->getBlock() == block && (!op || other->isBeforeInBlock(op));
  }

  mlir::Block *block;
  mlir::Operation *op = nullptr;
};

/// What is known of i64 values. Each has an interval where it is made, the solution of one equation a value: what
/// blocks are handed grows until it is stable, or to all numbers on a side where it keeps growing, and shrinks again by
/// what branches say. Facts of the blocks around a place make it smaller there.
class Bounds {
public:
  explicit Bounds(mlir::func::FuncOp function);

  /// What a check found holds from here on: an index lies in [-size, size), a size is its check's result.
  void noteCheck(mlir::Operation *op);

  /// Of a value in a block, by `depth` facts about facts; `again`: what was not known of its operands where it was made
  /// may be known here.
  Interval of(mlir::Value v, Spot at, int depth = 2, bool again = true);
  bool isNeverNegative(mlir::Value v, Spot at, int depth = 0);
  bool isPositive(mlir::Value v, Spot at) { return of(v, at).lo > 0 || isSumAtLeast(1, v, 0, v, 1, at); }
  /// Whether `greater - lesser >= gap` in a block.
  bool isBelow(mlir::Value lesser, mlir::Value greater, int64_t gap, Spot at, int depth = 0);
  /// Whether `f * a + g * b >= least` in a block.
  bool isSumAtLeast(int64_t f, mlir::Value a, int64_t g, mlir::Value b, int64_t least, Spot at);
  /// Whether a sum, difference or product never wraps.
  bool isExact(mlir::Operation *op, Spot at);
  /// Whether nothing in an expression of sizes leaves 64 bits.
  bool isExact(SizeValueOp size, Dim expression, Spot at);
  /// An expression of sizes without members of minima and maxima that others decide instead of.
  Dim deciding(SizeValueOp size, Dim expression, Spot at);
  mlir::DominanceInfo dominance;

private:
  static constexpr int deepest = 10, mostSteps = 3000; ///< of one question
  static constexpr int mostChoices = 4;                ///< one in the other, of which each is asked for
  static constexpr int mostFacts = 32;                 ///< that are looked at about one value
  static constexpr int widenAfter = 2, mostRounds = 40, narrowings = 2;

  // --- facts

  static llvm::SmallVector<Fact, 2> factsBehind(mlir::Operation *op);

  // InductiveBounds.cpp
  llvm::SmallVector<Fact> assumptions();
  void noteHandedOn();

  void note(Fact fact, mlir::Block *block);
  void noteOfValues(Fact fact, mlir::Block *block, mlir::Operation *check);

  void noteBranch(mlir::Block &block);

  /// What only goes up in a loop stays at or above what it began with; what only goes down, below.
  void noteCounter(mlir::BlockArgument argument);

  bool dominates(mlir::Block *block, mlir::Block *at);

  void forEachFact(Spot at, llvm::function_ref<void(const Fact &)> visit);

  // --- intervals

  Interval madeAs(mlir::Value v) const;

  /// Calls `visit(value, interval)` for all that is made, by the equations as things stand.
  void forEachEquation(llvm::function_ref<void(mlir::Value, Interval)> visit);

  void solve();

  Interval ofOperation(mlir::Operation *op, Spot at, int depth = 1, bool again = true);

  /// What a block is handed, on the edges from which something is known to come.
  Interval ofArgument(mlir::BlockArgument argument);

  /// `counter * step` of `range(start, stop, step)`, or nothing: at least 0, and less than `stop - start`.
  struct Stride {
    mlir::Value start, stop;
  };
  std::optional<Stride> strideOf(mlir::Operation *product, Spot at);
  std::optional<Interval> ofStride(mlir::Operation *product, Spot at);
  void noteStride(mlir::Operation *product);

  /// A value as a sum of others, as far as nothing wraps.
  Linear linear(mlir::Value v, Spot at, int depth);

  /// The size of what a block is handed, if all that it may be handed has the same: rows that change places have.
  std::optional<Linear> sharedSize(DimOp dim, int depth);

  /// What a group's result was made with: the operand of the operation in it that says how long the axis is.
  static mlir::Value sizeOperand(mlir::Value v, int64_t axis);

  /// An expression of sizes, of which the run checks that nothing wraps, if it is a sum, or the largest of several of
  /// which one is known to be it.
  std::optional<Linear> linear(SizeValueOp size, Dim expression, Spot at, int depth);

  bool isAtLeast(SizeValueOp size, Dim more, Dim less, Spot at);

  bool isNonNegative(const Linear &sum, Spot at, int more);

  struct Place {
    Fact fact;
    mlir::Block *block;
    mlir::Operation *check; ///< known behind it, or null: from the block's start on
  };
  mlir::func::FuncOp function;
  std::vector<mlir::Block *> order; ///< of blocks, what dominates first
  llvm::DenseMap<mlir::Block *, std::vector<Fact>> facts;
  llvm::DenseMap<mlir::Value, std::vector<Place>> factsOf; ///< the same, by value
  llvm::DenseMap<mlir::Value, Interval> made;
  llvm::DenseMap<mlir::Operation *, std::optional<Linear>> shared; ///< answers about sizes, or that one is looked for
  int steps = 0;
};

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Intervals of i64 scalars and linear inequalities between them, and what they prove about indices and sums. Integers
/// of the language wrap: an interval is of the exact value, and what may wrap has none.
#include "passes/Constants.h"
#include "passes/ControlFlow.h"
#include "passes/Passes.h"
#include "support/SizeLimit.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_BOUNDINDICES
#include "passes/Passes.h.inc"

namespace {

bool isInteger64(Value v) {
  auto type = dyn_cast<TensorType>(v.getType());
  return type && type.isScalar() && type.getDtype() == DType::I64;
}

struct Interval {
  int64_t lo = INT64_MIN, hi = INT64_MAX;

  Interval operator|(Interval other) const { return {std::min(lo, other.lo), std::max(hi, other.hi)}; }
};

/// The exact bounds of a sum, difference or product.
std::pair<__int128, __int128> boundsOf(Operation *op, Interval a, Interval b) {
  if (isa<AddOp>(op))
    return {__int128(a.lo) + b.lo, __int128(a.hi) + b.hi};
  if (isa<SubOp>(op))
    return {__int128(a.lo) - b.hi, __int128(a.hi) - b.lo};
  __int128 corners[] = {__int128(a.lo) * b.lo, __int128(a.lo) * b.hi, __int128(a.hi) * b.lo, __int128(a.hi) * b.hi};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}
bool fits(std::pair<__int128, __int128> bounds) { return bounds.first >= INT64_MIN && bounds.second <= INT64_MAX; }

/// A constant and values times factors, computed without wrapping. What becomes too large is not known, so that no sum
/// of terms times 64 bits leaves 128.
struct Linear {
  static constexpr __int128 mostFactor = __int128(1) << 40, mostConstant = __int128(1) << 80;
  static constexpr size_t mostTerms = 64;
  __int128 constant = 0;
  SmallVector<std::pair<Value, __int128>, 4> terms;
  bool isKnown = true;

  void add(Value v, __int128 factor) {
    auto it = llvm::find_if(terms, [&](auto term) { return term.first == v; });
    if (it == terms.end())
      it = terms.insert(it, {v, 0});
    it->second += factor;
    isKnown &= -mostFactor <= it->second && it->second <= mostFactor && terms.size() <= mostTerms;
    if (it->second == 0)
      terms.erase(it);
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
  Value lesser, greater;
  int64_t gap;
};

class Bounds {
public:
  explicit Bounds(func::FuncOp function) : dominance(function) {
    for (Block &block : function.getBody())
      noteBranch(block);
  }

  /// An index was found to lie in [-size, size).
  void noteCheck(CheckIndexOp op) { facts[op->getBlock()].push_back({op.getIndex(), op.getSize(), 1}); }

  Interval of(Value v, Block *at) {
    steps = 0;
    return intervalOf(v, at, 0);
  }
  /// Whether `greater - lesser >= gap` in a block.
  bool isBelow(Value lesser, Value greater, int64_t gap, Block *at) {
    steps = 0;
    auto isMore = [&](Linear left) {
      left.add(linear(lesser, at, 0), -1);
      left.constant -= gap;
      return isNonNegative(left, at, 2);
    };
    auto size = greater.getDefiningOp<SizeValueOp>();
    if (size && size.getExpr().kind() == Dim::Kind::Max)
      return llvm::any_of(size.getExpr().operands(), [&](Dim member) {
        auto sum = linear(size, member, at, 0);
        return sum && isMore(*sum);
      });
    return isMore(linear(greater, at, 0));
  }
  /// Whether a sum, difference or product never wraps.
  bool neverWraps(Operation *op, Block *at) {
    steps = 0;
    return isExact(op, at);
  }
  DominanceInfo dominance;

private:
  static constexpr int deepest = 10, mostSteps = 3000; ///< of one question

  void noteBranch(Block &block) {
    auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator());
    if (!branch || branch.getTrueDest() == branch.getFalseDest())
      return;
    auto truth = branch.getCondition().getDefiningOp<TruthOp>();
    Operation *test = truth ? truth->getOperand(0).getDefiningOp() : nullptr;
    if (!test || !isa<LtOp, LeOp, GtOp, GeOp, EqOp, NeOp>(test) || !isInteger64(test->getOperand(0)) ||
        !isInteger64(test->getOperand(1)))
      return;
    Value a = test->getOperand(0), b = test->getOperand(1);
    auto note = [&](Block *to, bool holds) {
      // All other ways lead from the block itself back to it: what was true at the entry still is.
      if (!llvm::all_of(to->getPredecessors(),
                        [&](Block *from) { return from == &block || dominance.dominates(to, from); }))
        return;
      std::vector<Fact> &known = facts[to];
      if (isa<EqOp>(test) == holds && isa<EqOp, NeOp>(test)) {
        known.push_back({a, b, 0});
        known.push_back({b, a, 0});
      } else if (isa<LtOp, LeOp, GtOp, GeOp>(test)) {
        bool isLess = isa<LtOp, LeOp>(test) == holds, isStrict = isa<LtOp, GtOp>(test) == holds;
        known.push_back({isLess ? a : b, isLess ? b : a, isStrict});
      }
    };
    note(branch.getTrueDest(), true);
    note(branch.getFalseDest(), false);
  }

  void forEachFact(Block *at, llvm::function_ref<void(const Fact &)> visit) {
    auto visitAll = [&](Block *block) {
      if (auto it = facts.find(block); it != facts.end())
        for (const Fact &fact : it->second)
          if (++steps <= mostSteps)
            visit(fact);
    };
    if (at->getParent()->hasOneBlock()) // which has no tree
      return visitAll(at);
    for (auto *node = dominance.getNode(at); node && ++steps <= mostSteps; node = node->getIDom())
      visitAll(node->getBlock());
  }

  Interval intervalOf(Value v, Block *at, int depth) {
    if (auto n = constantInteger(v))
      return {*n, *n};
    if (depth > deepest || ++steps > mostSteps || !isInteger64(v))
      return {};
    Interval known;
    if (auto it = assumed.find(v); it != assumed.end())
      known = it->second;
    else if (Operation *def = v.getDefiningOp())
      known = ofOperation(def, at, depth + 1);
    else
      known = ofArgument(cast<BlockArgument>(v), depth + 1);
    if (depth < 4)
      forEachFact(at, [&](const Fact &fact) {
        if (fact.lesser == v)
          if (Interval other = intervalOf(fact.greater, at, std::max(depth + 1, 4)); other.hi >= INT64_MIN + fact.gap)
            known.hi = std::min(known.hi, other.hi - fact.gap);
        if (fact.greater == v)
          if (Interval other = intervalOf(fact.lesser, at, std::max(depth + 1, 4)); other.lo <= INT64_MAX - fact.gap)
            known.lo = std::max(known.lo, other.lo + fact.gap);
      });
    return known;
  }

  bool isExact(Operation *op, Block *at) {
    return fits(boundsOf(op, intervalOf(op->getOperand(0), at, 0), intervalOf(op->getOperand(1), at, 0)));
  }

  Interval ofOperation(Operation *op, Block *at, int depth) {
    if (isa<DimOp, CheckSizeOp, CheckIndexOp>(op))
      return {0, largestSize};
    auto operand = [&](unsigned i) { return intervalOf(op->getOperand(i), at, depth); };
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
        return {0, 255};
      if (from == DType::I32)
        return {INT32_MIN, INT32_MAX};
    }
    return {};
  }

  /// What a block is handed. On edges that come back to it the argument may be taken to lie where it began, if it stays
  /// there.
  Interval ofArgument(BlockArgument argument, int depth) {
    Block *block = argument.getOwner();
    if (block->isEntryBlock() || block->hasNoPredecessors())
      return {};
    SmallVector<std::pair<Value, Block *>> back;
    Interval start{INT64_MAX, INT64_MIN};
    for (const BlockEdge &edge : edgesInto(block)) {
      Value v = edge.operandOf(argument);
      if (dominance.dominates(block, edge.from()))
        back.push_back({v, edge.from()});
      else
        start = start | intervalOf(v, edge.from(), depth);
    }
    if (back.empty())
      return start;
    auto stays = [&](Interval assumption, auto holds) {
      assumed[argument] = assumption;
      bool all = llvm::all_of(back, [&](auto edge) { return holds(intervalOf(edge.first, edge.second, depth)); });
      assumed.erase(argument);
      return all;
    };
    Interval known;
    if (start.lo != INT64_MIN && stays({start.lo, INT64_MAX}, [&](Interval i) { return i.lo >= start.lo; }))
      known.lo = start.lo;
    if (start.hi != INT64_MAX && stays({known.lo, start.hi}, [&](Interval i) { return i.hi <= start.hi; }))
      known.hi = start.hi;
    return known;
  }

  /// A value as a sum of others, as far as nothing wraps.
  Linear linear(Value v, Block *at, int depth) {
    Linear out;
    if (auto n = constantInteger(v)) {
      out.constant = *n;
      return out;
    }
    Operation *def = v.getDefiningOp();
    if (def && depth < deepest && isa<AddOp, SubOp>(def) && isExact(def, at)) {
      out = linear(def->getOperand(0), at, depth + 1);
      out.add(linear(def->getOperand(1), at, depth + 1), isa<AddOp>(def) ? 1 : -1);
      return out;
    }
    if (def && depth < deepest && isa<MulOp>(def) && isExact(def, at))
      for (unsigned i : {0, 1})
        if (auto factor = constantInteger(def->getOperand(i)); factor) {
          out.add(linear(def->getOperand(1 - i), at, depth + 1), *factor);
          return out;
        }
    if (auto check = dyn_cast_if_present<CheckIndexOp>(def); check && check.getNonnegative())
      return linear(check.getIndex(), at, depth + 1);
    if (auto check = dyn_cast_if_present<CheckSizeOp>(def))
      return linear(check.getSize(), at, depth + 1);
    if (auto size = dyn_cast_if_present<SizeValueOp>(def))
      if (auto sum = linear(size, size.getExpr(), at, depth + 1))
        return *sum;
    out.add(v, 1);
    return out;
  }

  /// An expression of sizes, of which the run checks that nothing wraps, if it is a sum.
  std::optional<Linear> linear(SizeValueOp size, Dim expression, Block *at, int depth) {
    bool isSum = true;
    Linear out;
    out.constant = expression.constant();
    if (!expression.isNumber())
      expression.forEachTerm([&](int64_t factor, Dim name) {
        auto operand = SizeValueOp::operandOf(name.symbolName());
        isSum &= operand.has_value();
        if (operand)
          out.add(linear(size.getOperand(*operand), at, depth + 1), factor);
      });
    return isSum ? std::optional(out) : std::nullopt;
  }

  bool isNonNegative(const Linear &sum, Block *at, int more) {
    if (!sum.isKnown)
      return false;
    __int128 least = sum.constant;
    for (auto [v, factor] : sum.terms) {
      Interval interval = intervalOf(v, at, 0);
      least += factor * (factor > 0 ? interval.lo : interval.hi);
    }
    if (least >= 0)
      return true;
    if (more == 0 || steps > mostSteps)
      return false;
    bool found = false;
    forEachFact(at, [&](const Fact &fact) { // sum = (greater - lesser - gap) + rest, the first of which is not negative
      if (found || ++steps > mostSteps)
        return;
      Linear known = linear(fact.greater, at, 0);
      known.add(linear(fact.lesser, at, 0), -1);
      known.constant -= fact.gap;
      bool helps = llvm::any_of(known.terms, [&](auto term) {
        return llvm::any_of(sum.terms, [&](auto other) {
          return other.first == term.first && (other.second > 0) == (term.second > 0);
        });
      });
      if (!helps)
        return;
      Linear rest = sum;
      rest.add(known, -1);
      found = isNonNegative(rest, at, more - 1);
    });
    return found;
  }

  llvm::DenseMap<Block *, std::vector<Fact>> facts;
  llvm::DenseMap<Value, Interval> assumed; ///< of arguments whose loops are looked at
  int steps = 0;
};

struct BoundIndicesPass : impl::BoundIndicesBase<BoundIndicesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    bool checks = false;
    function.walk([&](CheckIndexOp) { checks = true; });
    if (!checks)
      return;
    Bounds bounds(function);
    llvm::DenseMap<std::pair<Value, Value>, SmallVector<CheckIndexOp, 1>> done;
    Builder b(&getContext());
    auto visit = [&](Block *block) {
      for (Operation &op : llvm::make_early_inc_range(*block)) {
        if (isa<AddOp, SubOp, MulOp>(op) && isInteger64(op.getResult(0)) && bounds.neverWraps(&op, block))
          op.setAttr("toy.exact", b.getUnitAttr());
        auto check = dyn_cast<CheckIndexOp>(op);
        if (!check)
          continue;
        auto &earlier = done[{check.getIndex(), check.getSize()}];
        auto same = llvm::find_if(
            earlier, [&](CheckIndexOp other) { return bounds.dominance.dominates(other.getOperation(), &op); });
        if (same != earlier.end()) {
          check.replaceAllUsesWith(same->getResult());
          check.erase();
          continue;
        }
        bool isPositive = bounds.of(check.getIndex(), block).lo >= 0;
        if (isPositive && bounds.isBelow(check.getIndex(), check.getSize(), 1, block)) {
          check.replaceAllUsesWith(check.getIndex());
          check.erase();
          continue;
        }
        if (isPositive)
          check.setNonnegative(true);
        bounds.noteCheck(check);
        earlier.push_back(check);
      }
    };
    if (function.getBody().hasOneBlock())
      visit(&function.getBody().front());
    else
      visitInDominanceOrder(bounds.dominance.getRootNode(&function.getBody()), visit);
  }

private:
  template <typename Node> static void visitInDominanceOrder(Node *root, llvm::function_ref<void(Block *)> visit) {
    SmallVector<Node *> left = {root};
    while (!left.empty()) {
      Node *node = left.pop_back_val();
      visit(node->getBlock());
      for (Node *child : *node)
        left.push_back(child);
    }
  }
};

} // namespace
} // namespace toy

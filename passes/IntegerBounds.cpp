// SPDX-License-Identifier: Apache-2.0
#include "passes/IntegerBounds.h"

#include "ir/Constants.h"
#include "support/SizeLimit.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace toy {

bool isInteger64(Value v) {
  auto type = dyn_cast<TensorType>(v.getType());
  return type && type.isScalar() && type.getDtype() == DType::I64;
}

Bounds::Bounds(func::FuncOp function) : dominance(function), function(function) {
  llvm::append_range(order, llvm::ReversePostOrderTraversal<Region *>(&function.getBody()));
  for (Block &block : function.getBody()) {
    noteBranch(block);
    for (Operation &op : block)
      for (Fact fact : factsBehind(&op))
        noteOfValues(fact, &block, &op);
  }
  solve();
  for (Block *block : order)
    for (auto product : block->getOps<MulOp>())
      if (isInteger64(product))
        noteStride(product);
  for (Block *block : order)
    for (BlockArgument argument : block->getArguments())
      if (isInteger64(argument))
        noteCounter(argument);
  noteHandedOn();
}

void Bounds::noteCheck(Operation *op) { llvm::append_range(facts[op->getBlock()], factsBehind(op)); }

Interval Bounds::of(Value v, Spot at, int depth, bool again) {
  if (auto n = constantInteger(v))
    return {*n, *n};
  Interval known = madeAs(v);
  if (depth == 0)
    return known;
  Operation *def = v.getDefiningOp();
  if (again && known.isUnknown() && def && isa<AddOp, SubOp, MulOp>(def))
    known = ofOperation(def, at, depth, false);
  auto about = factsOf.find(v);
  if (about == factsOf.end())
    return known;
  int left = mostFacts;
  for (const auto &[fact, block, check] : about->second) {
    if (left-- == 0)
      break;
    if (block == at.block ? check && !at.isBehind(check) : !dominates(block, at.block))
      continue;
    auto narrow = [&](Value side, int64_t Interval::*end, __int128 gap, auto tighter) {
      __int128 limit = of(side, at, depth - 1).*end + gap;
      if (INT64_MIN <= limit && limit <= INT64_MAX)
        known.*end = tighter(known.*end, static_cast<int64_t>(limit));
    };
    auto least = [](int64_t a, int64_t b) { return std::min(a, b); };
    auto most = [](int64_t a, int64_t b) { return std::max(a, b); };
    if (fact.lesser == v)
      narrow(fact.greater, &Interval::hi, -__int128(fact.gap), least);
    if (fact.greater == v)
      narrow(fact.lesser, &Interval::lo, fact.gap, most);
  }
  return known;
}

/// Whether each of two values that one is chosen from has a property, or where one is enough, one.
static bool holdsOfChoice(Value v, bool isMoreEnough, llvm::function_ref<bool(Value)> holds) {
  Operation *def = v.getDefiningOp();
  if (isa_and_present<WhereOp>(def))
    return holds(def->getOperand(1)) && holds(def->getOperand(2));
  if (!isa_and_present<MinimumOp, MaximumOp>(def))
    return false;
  Value a = def->getOperand(0), b = def->getOperand(1);
  return isa<MaximumOp>(def) == isMoreEnough ? holds(a) || holds(b) : holds(a) && holds(b);
}

bool Bounds::isNeverNegative(Value v, Spot at, int depth) {
  steps = 0;
  return of(v, at).lo >= 0 || isNonNegative(linear(v, at, 0), at, 2) ||
         (depth < mostChoices &&
          holdsOfChoice(v, true, [&](Value choice) { return isNeverNegative(choice, at, depth + 1); }));
}

bool Bounds::isBelow(Value lesser, Value greater, int64_t gap, Spot at, int depth) {
  if (depth < mostChoices &&
      holdsOfChoice(lesser, false, [&](Value choice) { return isBelow(choice, greater, gap, at, depth + 1); }))
    return true;
  auto remainder = lesser.getDefiningOp<ModOp>();
  if (remainder && depth < mostChoices && of(remainder.getRhs(), at).lo > 0 &&
      isBelow(remainder.getRhs(), greater, gap - 1, at, depth + 1))
    return true;
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

bool Bounds::isSumAtLeast(int64_t f, Value a, int64_t g, Value b, int64_t least, Spot at) {
  steps = 0;
  Linear sum;
  sum.constant = -__int128(least);
  sum.add(linear(a, at, 0), f);
  sum.add(linear(b, at, 0), g);
  return isNonNegative(sum, at, 2);
}

/// The value n of which an expression is `n` or `n + 1`, with any number; null if it is something else.
static Value onlyTerm(SizeValueOp size, Dim expression) {
  SmallVector<std::pair<int64_t, Value>, 2> terms;
  if (llvm::is_contained({Dim::Kind::Sum, Dim::Kind::Symbol}, expression.kind()))
    expression.forEachTerm([&](int64_t factor, Dim name) {
      auto operand = SizeValueOp::operandOf(name.symbolName());
      terms.push_back({factor, operand ? size.getOperand(*operand) : Value()});
    });
  return terms.size() == 1 && terms[0].first == 1 ? terms[0].second : Value();
}

SmallVector<Fact, 2> Bounds::factsBehind(Operation *op) {
  if (auto check = dyn_cast<CheckIndexOp>(op)) {
    const auto index = constantInteger(check.getIndex()).value_or(0); // from the end: `index + size >= 0`
    return {{check.getIndex(), check.getSize(), index < 0 && index > -largestSize ? -2 * index : 1}};
  }
  if (isa<MinimumOp>(op) && isInteger64(op->getResult(0)))
    return {{op->getResult(0), op->getOperand(0), 0}, {op->getResult(0), op->getOperand(1), 0}};
  if (isa<MaximumOp>(op) && isInteger64(op->getResult(0)))
    return {{op->getOperand(0), op->getResult(0), 0}, {op->getOperand(1), op->getResult(0), 0}};
  if (auto size = dyn_cast<SizeValueOp>(op); size && size.getExpr().kind() == Dim::Kind::Max) {
    SmallVector<Fact, 2> found; // of `max(0, n)`: n is not more
    for (Dim member : size.getExpr().operands())
      if (Value of = onlyTerm(size, member))
        found.push_back({of, size.getResult(), member.constant()});
    return found;
  }
  auto check = dyn_cast<CheckSizeOp>(op);
  if (!check)
    return {};
  SmallVector<Fact, 2> found = {{check.getSize(), check.getResult(), 0}, {check.getResult(), check.getSize(), 0}};
  // Of `n + 1` it says something about `n`.
  if (auto size = check.getSize().getDefiningOp<SizeValueOp>())
    if (Value of = onlyTerm(size, size.getExpr())) {
      int64_t more = size.getExpr().constant();
      found.push_back({of, check.getResult(), more});
      found.push_back({check.getResult(), of, -more});
    }
  return found;
}

void Bounds::note(Fact fact, Block *block) {
  facts[block].push_back(fact);
  noteOfValues(fact, block, nullptr);
}

void Bounds::noteOfValues(Fact fact, Block *block, Operation *check) {
  for (Value v : {fact.lesser, fact.greater})
    if (!constantInteger(v))
      factsOf[v].push_back({fact, block, check});
}

void Bounds::noteBranch(Block &block) {
  auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator());
  if (!branch || branch.getTrueDest() == branch.getFalseDest())
    return;
  auto truth = branch.getCondition().getDefiningOp<TruthOp>();
  Operation *test = truth ? truth->getOperand(0).getDefiningOp() : nullptr;
  if (!test || !isa<LtOp, LeOp, GtOp, GeOp, EqOp, NeOp>(test) || !isInteger64(test->getOperand(0)) ||
      !isInteger64(test->getOperand(1)))
    return;
  Value a = test->getOperand(0), b = test->getOperand(1);
  auto noteIn = [&](Block *to, bool holds) {
    // All other ways lead from the block itself back to it: what was true at the entry still is.
    if (!llvm::all_of(to->getPredecessors(),
                      [&](Block *from) { return from == &block || dominance.dominates(to, from); }))
      return;
    if (isa<EqOp>(test) == holds && isa<EqOp, NeOp>(test)) {
      note({a, b, 0}, to);
      note({b, a, 0}, to);
    } else if (isa<LtOp, LeOp, GtOp, GeOp>(test)) {
      bool isLess = isa<LtOp, LeOp>(test) == holds, isStrict = isa<LtOp, GtOp>(test) == holds;
      note({isLess ? a : b, isLess ? b : a, isStrict}, to);
    }
  };
  noteIn(branch.getTrueDest(), true);
  noteIn(branch.getFalseDest(), false);
}

void Bounds::noteCounter(BlockArgument argument) {
  Block *block = argument.getOwner();
  if (block->isEntryBlock())
    return;
  Value start;
  bool up = true, down = true;
  for (const BlockEdge &edge : edgesInto(block)) {
    Value v = edge.operandOf(argument);
    if (!dominates(block, edge.from())) {
      if (start && start != v)
        return;
      start = v;
      continue;
    }
    if (v == argument)
      continue;
    Operation *step = v.getDefiningOp();
    if (!isa_and_present<AddOp, SubOp>(step) || step->getOperand(0) != argument || !isExact(step, step))
      return;
    Interval by = of(step->getOperand(1), step);
    up &= isa<AddOp>(step) ? by.lo >= 0 : by.hi <= 0;
    down &= isa<AddOp>(step) ? by.hi <= 0 : by.lo >= 0;
  }
  if (start && up != down)
    note(up ? Fact{start, argument, 0} : Fact{argument, start, 0}, block);
}

bool Bounds::dominates(Block *block, Block *at) {
  return block == at || (!function.getBody().hasOneBlock() && dominance.dominates(block, at));
}

void Bounds::forEachFact(Spot at, llvm::function_ref<void(const Fact &)> visit) {
  auto visitAll = [&](Block *block) {
    if (auto it = facts.find(block); it != facts.end())
      for (const Fact &fact : it->second)
        if (++steps <= mostSteps)
          visit(fact);
  };
  if (at.block->getParent()->hasOneBlock()) // which has no tree
    return visitAll(at.block);
  for (auto *node = dominance.getNode(at.block); node && ++steps <= mostSteps; node = node->getIDom())
    visitAll(node->getBlock());
}

Linear Bounds::linear(Value v, Spot at, int depth) {
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
  if (auto size = dyn_cast_if_present<SizeValueOp>(def); size && depth < deepest)
    if (auto sum = linear(size, size.getExpr(), at, depth + 1))
      return *sum;
  if (auto dim = dyn_cast_if_present<DimOp>(def); dim && depth < deepest)
    if (auto size = sharedSize(dim, depth + 1))
      return *size;
  out.add(v, 1);
  return out;
}

std::optional<Linear> Bounds::sharedSize(DimOp dim, int depth) {
  auto [it, isNew] = shared.try_emplace(dim, std::nullopt);
  if (!isNew || !isa<BlockArgument>(dim.getX()))
    return it->second;
  llvm::SetVector<Value> web;
  web.insert(dim.getX());
  std::optional<Linear> same;
  SmallVector<Block *> joins;
  for (size_t i = 0; i < web.size(); ++i) {
    Value v = web[i];
    auto argument = dyn_cast<BlockArgument>(v);
    if (argument && !argument.getOwner()->isEntryBlock()) {
      joins.push_back(argument.getOwner());
      for (const BlockEdge &edge : edgesInto(argument.getOwner()))
        web.insert(edge.operandOf(argument));
    } else if (Operation *def = v.getDefiningOp(); isa_and_present<RelabelOp, ElementStoreOp, UniqueOp>(def))
      web.insert(def->getOperand(0));
    else {
      Value size = sizeOperand(v, dim.getAxis());
      if (!size)
        return std::nullopt;
      Linear next = linear(size, dim.getOperation(), depth);
      if (same && !same->isSame(next))
        return std::nullopt;
      same = next;
    }
  }
  // Numbers that are made anew between two handovers would be another turn's.
  for (auto [v, factor] : same ? same->terms : decltype(same->terms)())
    if (llvm::any_of(joins, [&](Block *join) { return !dominance.properlyDominates(v.getParentBlock(), join); }))
      return std::nullopt;
  return shared[dim] = same;
}

Value Bounds::sizeOperand(Value v, int64_t axis) {
  auto group = v.getDefiningOp<FusedOp>();
  Dim dim = tensorTypeOf(v).getDim(axis);
  // Names of sizes that come from elsewhere may say something else there.
  bool isLocal = group && llvm::all_of(group.getInputs(), [](Value input) { return hasLocalSizes(input); });
  if (!isLocal || dim.isUnknown() || dim.isNumber())
    return {};
  Block *body = &group.getBody().front();
  auto outside = [&](Value inner) {
    auto argument = dyn_cast<BlockArgument>(inner);
    return argument && argument.getOwner() == body ? group.getInputs()[argument.getArgNumber()] : Value();
  };
  for (Operation &op : *body) {
    if (!isa<FullOp, IotaOp>(op))
      continue;
    SmallVector<Dim> dims = tensorTypeOf(op.getResult(0)).getDims();
    if (auto at = llvm::find(dims, dim); at != dims.end()) {
      auto full = dyn_cast<FullOp>(op);
      return outside(full ? full.getSizes()[at - dims.begin()] : cast<IotaOp>(op).getSize());
    }
  }
  return {};
}

std::optional<Linear> Bounds::linear(SizeValueOp size, Dim expression, Spot at, int depth) {
  if (expression.kind() == Dim::Kind::Max) {
    for (Dim member : expression.operands()) {
      auto most = linear(size, member, at, depth);
      bool isMost = most && llvm::all_of(expression.operands(), [&](Dim other) {
                      auto less = linear(size, other, at, depth);
                      if (!less)
                        return false;
                      Linear difference = *most;
                      difference.add(*less, -1);
                      return isNonNegative(difference, at, 0);
                    });
      if (isMost)
        return most;
    }
    return std::nullopt;
  }
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

/// The members of a minimum or maximum, to which a constant may have been added.
struct Choice {
  explicit Choice(Dim expression) {
    Dim only;
    int terms = 0;
    if (!expression.isNumber() && !expression.isUnknown())
      expression.forEachTerm([&](int64_t factor, Dim term) {
        only = term;
        terms += factor == 1 ? 1 : 2;
      });
    if (terms != 1)
      return;
    isMax = only.kind() == Dim::Kind::Max;
    if (isMax || only.kind() == Dim::Kind::Min)
      for (Dim member : only.operands())
        members.push_back(member + Dim::number(expression.getContext(), expression.constant()));
    inner = only;
  }
  Dim inner;                   ///< without the constant
  SmallVector<Dim, 4> members; ///< none of anything else
  bool isMax = false;
};

bool Bounds::isAtLeast(SizeValueOp size, Dim more, Dim less, Spot at) {
  const Choice greater(more), smaller(less);
  auto isNotLess = [&](Dim member) { return isAtLeast(size, more, member, at); };
  auto isNotMore = [&](Dim member) { return isAtLeast(size, member, less, at); };
  if (!smaller.members.empty())
    return smaller.isMax ? llvm::all_of(smaller.members, isNotLess) : llvm::any_of(smaller.members, isNotLess);
  if (!greater.members.empty())
    return greater.isMax ? llvm::any_of(greater.members, isNotMore) : llvm::all_of(greater.members, isNotMore);
  auto difference = linear(size, more, at, 0), other = linear(size, less, at, 0);
  if (!difference || !other)
    return false;
  difference->add(*other, -1);
  return isNonNegative(*difference, at, 1);
}

bool Bounds::isExact(SizeValueOp size, Dim expression, Spot at) {
  const Choice choice(expression);
  if (!choice.members.empty()) {
    auto areExact = [&](ArrayRef<Dim> members) {
      return llvm::all_of(members, [&](Dim member) { return isExact(size, member, at); });
    };
    return areExact(choice.members) && (expression.constant() == 0 || areExact(choice.inner.operands()));
  }
  if (expression.isNumber())
    return true;
  Value term = onlyTerm(size, expression);
  if (!term)
    return false;
  const Interval interval = of(term, at);
  const __int128 more = expression.constant();
  return interval.lo + more >= INT64_MIN && interval.hi + more <= INT64_MAX;
}

Dim Bounds::deciding(SizeValueOp size, Dim expression, Spot at) {
  Choice choice(expression);
  SmallVector<Dim, 4> &members = choice.members;
  if (members.empty())
    return expression;
  for (Dim &member : members)
    member = deciding(size, member, at);
  for (size_t i = members.size(); i-- > 0;) {
    steps = 0;
    auto decides = [&](Dim other) {
      return other != members[i] &&
             isAtLeast(size, choice.isMax ? other : members[i], choice.isMax ? members[i] : other, at);
    };
    if (isExact(size, members[i], at) && llvm::any_of(members, decides))
      members.erase(members.begin() + i);
  }
  Dim all = members.front();
  for (Dim member : ArrayRef(members).drop_front())
    all = choice.isMax ? all.max(member) : all.min(member);
  return all;
}

bool Bounds::isNonNegative(const Linear &sum, Spot at, int more) {
  if (!sum.isKnown)
    return false;
  __int128 least = sum.constant;
  for (auto [v, factor] : sum.terms) {
    Interval interval = of(v, at);
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
      return llvm::any_of(
          sum.terms, [&](auto other) { return other.first == term.first && (other.second > 0) == (term.second > 0); });
    });
    if (!helps)
      return;
    Linear rest = sum;
    rest.add(known, -1);
    found = isNonNegative(rest, at, more - 1);
  });
  return found;
}

} // namespace toy

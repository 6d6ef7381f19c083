// SPDX-License-Identifier: Apache-2.0
/// \file
/// Decisions about sizes while a function is generated: what is known, what becomes a guard, what the run checks.
#include "irgen/Decisions.h"

#include "irgen/Expressions.h"
#include "irgen/Operations.h"

using namespace mlir;

namespace toy {

bool isFree(IRGen &g, Dim dim) {
  return g.fn().sizes != nullptr && !dim.isNumber() && dim.evaluate(g.fn().sizes->hints);
}
int64_t hintOf(IRGen &g, Dim dim) { return *dim.evaluate(g.fn().sizes->hints); }

bool decideSize(Specialization &specialization, SizeFact fact, SourceRange range, bool isCheck) {
  if (Truth truth = specialization.facts.decide(fact); truth != Truth::Unknown)
    return truth == Truth::Yes;
  bool holds = fact.holds(specialization.hints);
  if (isCheck && !holds)
    return false;
  SizeFact taken = holds ? fact : fact.negated();
  (isCheck ? specialization.checks : specialization.decisions).push_back({taken, range});
  specialization.facts.assume(taken);
  return holds;
}

void requireFact(IRGen &g, SizeFact fact, SourceRange range, llvm::function_ref<void()> refuse,
                 llvm::function_ref<void()> check) {
  if (fact.dim.isUnknown())
    return check();
  if (isFree(g, fact.dim)) { // a run-time check: with other sizes the call is an error
    if (!decideSize(g, fact, range, true))
      refuse();
    return;
  }
  switch (g.fn().facts.decide(fact)) {
  case Truth::Yes:
    return;
  case Truth::No:
    return refuse();
  case Truth::Unknown:
    break;
  }
  check();
  g.fn().facts.assume(fact);
}

std::optional<int64_t> decidedInteger(IRGen &g, Value value, SourceRange range) {
  auto dim = sizeBehind(value);
  if (!dim || !isFree(g, *dim))
    return std::nullopt;
  int64_t n = hintOf(g, *dim);
  decideSize(g, SizeFact::equal(*dim, g.number(n)), range);
  return n;
}

std::optional<SizeFact> comparison(ast::BinaryOp op, std::optional<Dim> a, std::optional<Dim> b) {
  if (!a || !b)
    return std::nullopt;
  Dim one = Dim::number(a->getContext(), 1);
  switch (op) {
  case ast::BinaryOp::Eq:
    return SizeFact::equal(*a, *b);
  case ast::BinaryOp::Ne:
    return SizeFact::equal(*a, *b).negated();
  case ast::BinaryOp::Lt:
    return SizeFact::atLeast(*b, *a + one);
  case ast::BinaryOp::Le:
    return SizeFact::atLeast(*b, *a);
  case ast::BinaryOp::Gt:
    return SizeFact::atLeast(*a, *b + one);
  case ast::BinaryOp::Ge:
    return SizeFact::atLeast(*a, *b);
  default:
    return std::nullopt;
  }
}

/// Comparisons of sizes, and `not` of such.
static std::optional<bool> decidedCondition(IRGen &g, Value condition, SourceRange range) {
  Operation *op = condition.getDefiningOp();
  if (!op || !g.fn().sizes)
    return std::nullopt;
  if (isa<NotOp>(op)) {
    auto inner = decidedCondition(g, op->getOperand(0), range);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (!isa<EqOp, NeOp, LtOp, LeOp, GtOp, GeOp>(op))
    return std::nullopt;
  auto a = sizeBehind(op->getOperand(0)), b = sizeBehind(op->getOperand(1));
  if (!a || !b || (!isFree(g, *a) && !a->isNumber()) || (!isFree(g, *b) && !b->isNumber()) ||
      (a->isNumber() && b->isNumber()))
    return std::nullopt;
  ast::BinaryOp comparator = isa<EqOp>(op)   ? ast::BinaryOp::Eq
                             : isa<NeOp>(op) ? ast::BinaryOp::Ne
                             : isa<LtOp>(op) ? ast::BinaryOp::Lt
                             : isa<LeOp>(op) ? ast::BinaryOp::Le
                             : isa<GtOp>(op) ? ast::BinaryOp::Gt
                                             : ast::BinaryOp::Ge;
  SizeFact fact = *comparison(comparator, a, b);
  return fact.dim.evaluate(g.fn().sizes->hints) ? std::optional(decideSize(g, fact, range)) : std::nullopt;
}

std::optional<int64_t> knownCondition(IRGen &g, Value condition, SourceRange range) {
  if (auto known = constantOf(condition))
    return known;
  return decidedCondition(g, condition, range);
}

/// Whether an expression is made of names, numbers and shapes only: evaluating it again does nothing.
static bool isSizeExpression(const ast::Expr &e) {
  if (auto *binary = ast::dynCast<ast::Binary>(&e))
    return isSizeExpression(*binary->first) &&
           llvm::all_of(binary->steps, [](const auto &step) { return isSizeExpression(*step.operand); });
  if (auto *index = ast::dynCast<ast::Index>(&e)) {
    auto *shape = ast::dynCast<ast::Member>(index->base.get());
    return shape && shape->member == "shape" && index->subscripts.size() == 1 &&
           index->subscripts[0].form == ast::Subscript::Value;
  }
  return e.kind == ast::NodeKind::Name || e.kind == ast::NodeKind::Number;
}

/// What a condition says about sizes: comparisons joined by `and`; nothing where any part is something else.
std::vector<SizeFact> factsOf(IRGen &g, const ast::Expr &e) {
  std::vector<SizeFact> out;
  auto *binary = ast::dynCast<ast::Binary>(&e);
  if (!binary)
    return out;
  if (binary->steps[0].op == ast::BinaryOp::And) {
    std::vector<const ast::Expr *> parts = {binary->first.get()};
    for (const auto &step : binary->steps)
      parts.push_back(step.operand.get());
    for (const ast::Expr *part : parts) {
      std::vector<SizeFact> more = factsOf(g, *part);
      if (more.empty())
        return {};
      llvm::append_range(out, more);
    }
    return out;
  }
  if (binary->steps.size() != 1 || !isSizeExpression(*binary->first) || !isSizeExpression(*binary->steps[0].operand))
    return out;
  auto sizeOfExpr = [&](const ast::Expr &side) -> std::optional<Dim> {
    RValue v = genExpr(g, side);
    return v.isTensor() && v.rank() == 0 ? sizeBehind(v.value) : std::nullopt;
  };
  auto fact = comparison(binary->steps[0].op, sizeOfExpr(*binary->first), sizeOfExpr(*binary->steps[0].operand));
  return fact ? std::vector{*fact} : out;
}

bool haveWanted(IRGen &g, MutableArrayRef<Value> operands, ArrayRef<WantedSize> all, StringRef what,
                SourceRange range) {
  bool changed = false;
  for (const WantedSize &wanted : all) {
    Dim have = tensorTypeOf(operands[wanted.operand]).getDim(wanted.axis), size = g.number(wanted.size);
    SizeFact fact = wanted.orMore ? SizeFact::atLeast(have, size) : SizeFact::equal(have, size);
    bool isAnonymous = have.isUnknown(), isDecided = !isAnonymous && isFree(g, have);
    if (isDecided && !decideSize(g, fact, range, wanted.orMore))
      g.fail(DiagId::NotProvable, range,
             {"that the size " + have.str() + " is " + (wanted.orMore ? "at least " : "") + size.str()});
    Truth known = isDecided ? Truth::Yes : isAnonymous ? Truth::Unknown : g.fn().facts.decide(fact);
    if (wanted.orMore) {
      if (known != Truth::Yes)
        g.create<CheckSizeOp>(range, {sizeOf(g, operands[wanted.operand], wanted.axis, range)},
                              {g.stringAttr("reduced", what)});
      continue;
    }
    if (known != Truth::Yes)
      g.create<CheckEqualOp>(range,
                             {sizeOf(g, operands[wanted.operand], wanted.axis, range), g.integer(wanted.size, range)},
                             {g.stringAttr("what", whatNeedsSize(wanted.axis, what))});
    operands[wanted.operand] = withSize(g, operands[wanted.operand], wanted.axis, size, range);
    changed = true;
  }
  return changed;
}

/// Makes two axes of operands the same size in their types, or one of them 1 where that is allowed. False where nothing
/// can be decided here. Sizes that the call at hand does not allow end the specialization; with static sizes the error
/// says why.
static bool unifySizes(IRGen &g, MutableArrayRef<Value> operands, const SizeAssumption &a, SourceRange range) {
  Dim lhs = tensorTypeOf(operands[a.lhsOperand]).getDim(a.lhsAxis),
      rhs = tensorTypeOf(operands[a.rhsOperand]).getDim(a.rhsAxis);
  if ((!isFree(g, lhs) && !lhs.isNumber()) || (!isFree(g, rhs) && !rhs.isNumber()))
    return false;
  SizeFact equal = SizeFact::equal(lhs, rhs);
  if (!equal.dim.evaluate(g.fn().sizes->hints))
    return false;
  if (equal.holds(g.fn().sizes->hints)) {
    decideSize(g, equal, range, !a.mayBroadcast);
    if (rhs.isNumber() && !lhs.isNumber())
      operands[a.lhsOperand] = withSize(g, operands[a.lhsOperand], a.lhsAxis, rhs, range);
    else
      operands[a.rhsOperand] = withSize(g, operands[a.rhsOperand], a.rhsAxis, lhs, range);
    return true;
  }
  Dim one = g.number(1);
  if (a.mayBroadcast)
    for (auto [dim, operand, axis] :
         {std::tuple(lhs, a.lhsOperand, a.lhsAxis), std::tuple(rhs, a.rhsOperand, a.rhsAxis)})
      if (isFree(g, dim) && hintOf(g, dim) == 1) {
        decideSize(g, SizeFact::equal(dim, one), range);
        operands[operand] = withSize(g, operands[operand], axis, one, range);
        return true;
      }
  g.fail(DiagId::NotProvable, range, {"that the sizes " + lhs.str() + " and " + rhs.str() + " are equal"});
}

/// In a generic specialization: computed sizes (`(n + 1) // 2`) that are 1 stretch, so that which of them are
/// is told apart, as it is for the sizes of arguments. True where an operand became one that stretches.
static bool stretchInGeneric(IRGen &g, MutableArrayRef<Value> operands, const SizeAssumption &a, SourceRange range) {
  Specialization &specialization = *g.fn().generic;
  Dim one = g.number(1);
  if (!a.mayBroadcast)
    return false;
  for (auto [operand, axis] : {std::pair(a.lhsOperand, a.lhsAxis), std::pair(a.rhsOperand, a.rhsAxis)}) {
    Dim dim = tensorTypeOf(operands[operand]).getDim(axis);
    if (dim.isNumber() || !dim.symbolName().empty() || !dim.evaluate(specialization.hints))
      continue;
    if (decideSize(specialization, SizeFact::equal(dim, one), range)) {
      operands[operand] = withSize(g, operands[operand], axis, one, range);
      return true;
    }
  }
  return false;
}

bool decideSizes(IRGen &g, MutableArrayRef<Value> operands, ArrayRef<SizeAssumption> assumptions, SourceRange range) {
  bool changed = false;
  for (const SizeAssumption &a : assumptions)
    if (g.fn().sizes)
      changed |= unifySizes(g, operands, a, range);
    else if (g.fn().generic)
      changed |= stretchInGeneric(g, operands, a, range);
  return changed;
}

} // namespace toy

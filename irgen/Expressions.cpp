// SPDX-License-Identifier: Apache-2.0
/// \file
/// Expressions, names, members, conditions.
#include "irgen/Builtins.h"
#include "irgen/Decisions.h"
#include "irgen/Indexing.h"
#include "irgen/Statements.h"
#include "support/OtherSpellings.h"

#include <cmath>

using namespace mlir;

namespace toy {

static constexpr std::pair<const char *, double> constants[] = {{"pi", M_PI}, {"inf", INFINITY}, {"nan", NAN}};

bool isConstant(StringRef name) {
  return llvm::any_of(constants, [&](const auto &constant) { return name == constant.first; });
}

static RValue genName(IRGen &g, const ast::Name &n) {
  if (auto value = readVariable(g, n.name, n.range))
    return *value;
  if (auto dtype = dtypeNamed(n.name))
    return RValue(*dtype);
  for (auto [constant, x] : constants)
    if (n.name == constant) {
      RValue val = g.floating(x, DType::F64, n.range);
      val.weak = true;
      return val;
    }
  if (n.name == "args")
    g.fail(DiagId::FunctionAsValue, n.range, {"args"}, "use `len(args)` and `args[i]`");
  if (auto function = namedFunction(g, n.name))
    return *function;
  unknownName(g, n.name, n.range, false);
}

static RValue genMember(IRGen &g, const ast::Member &m) {
  RValue base = genExpr(g, *m.base);
  if (base.kind == RValue::Struct)
    for (auto [i, known] : llvm::enumerate(base.names))
      if (known == m.member) {
        g.host.usesMember(base.structName, m.member, m.memberRange);
        return base.elements[i];
      }
  if (base.isTensor()) {
    if (m.member == "T")
      return transposeLast(g, base, m.range);
    if (m.member == "H")
      return adjoint(g, base, m.range);
    if (m.member == "real" || m.member == "imag") {
      if (base.tensor().isComplex())
        return g.create(m.member, m.range, {base.value});
      return m.member == "real" ? base : zerosLike(g, base, m.range);
    }
    if (m.member == "dtype")
      return RValue(base.tensor().getDtype());
    if (m.member == "shape")
      return RValue::tuple(sizesOf(g, base.value, m.range));
  }
  std::string help = base.isTensor() ? helpForOther(Other::Member, m.member) : "";
  if (help.empty() && base.isTensor() && findBuiltin(m.member))
    help = "`" + m.member + "` is a function: `" + m.member + "(…)`";
  if (!help.empty())
    g.fail(DiagId::UnknownMember, m.memberRange, {base.str(), m.member}, help);
  std::vector<std::string> candidates =
      base.isTensor() ? std::vector<std::string>{"T", "H", "real", "imag", "shape", "dtype"} : base.names;
  g.failNear(DiagId::UnknownMember, m.memberRange, {base.str(), m.member}, m.member, candidates, ".");
}

/// `and`/`or`: elementwise on tensors, control flow on scalars.
static RValue genLogical(IRGen &g, const ast::Binary &e) {
  RValue left = needTensor(g, genExpr(g, *e.first), "and", e.first->range);
  SourceRange leftRange = e.first->range;
  for (const auto &step : e.steps) {
    bool isAnd = step.op == ast::BinaryOp::And;
    StringRef op = isAnd ? "and" : "or";
    if (left.tensor().getDtype() != DType::Bool)
      g.fail(DiagId::NeedsBool, leftRange, {op.str(), left.type().str()});
    if (left.rank() > 0) {
      RValue right = needTensor(g, genExpr(g, *step.operand), op, step.operand->range);
      left = g.create(op, step.opRange, {left.value, right.value}, {}, {leftRange, step.operand->range});
    } else if (auto known = g.decidesConditions ? knownCondition(g, left.value, leftRange) : constantOf(left.value)) {
      if ((*known != 0) == isAnd)
        left = needTensor(g, genExpr(g, *step.operand), op, step.operand->range);
    } else {
      Block *more = newBlock(g), *join = newBlock(g);
      Value truth = g.create<TruthOp>(leftRange, {left.value});
      join->addArgument(left.value.getType(), g.loc(step.opRange));
      cf::CondBranchOp::create(g.b, g.loc(step.opRange), truth, isAnd ? more : join,
                               isAnd ? ValueRange() : ValueRange(left.value), isAnd ? join : more,
                               isAnd ? ValueRange(left.value) : ValueRange());
      moveTo(g, more);
      ++g.fn().conditions;
      RValue right = needTensor(g, genExpr(g, *step.operand), op, step.operand->range);
      --g.fn().conditions;
      if (right.rank() > 0 || right.tensor().getDtype() != DType::Bool)
        g.fail(DiagId::NeedsBool, step.operand->range, {op.str(), right.type().str()});
      cf::BranchOp::create(g.b, g.loc(step.opRange), join, right.value);
      moveTo(g, join);
      left = join->getArgument(0);
    }
    if (left.tensor().getDtype() != DType::Bool)
      g.fail(DiagId::NeedsBool, step.operand->range, {op.str(), left.type().str()});
    leftRange = leftRange.to(step.operand->range);
  }
  return left;
}

Value genCondition(IRGen &g, const ast::Expr &e) {
  RValue v = genExpr(g, e);
  if (!v.isTensor() || v.rank() != 0 || v.tensor().getDtype() != DType::Bool) {
    std::string help;
    if (auto *tuple = ast::dynCast<ast::Tuple>(&e); tuple && tuple->elements.size() == 2)
      help = "without parentheses: `" + g.sourceText(tuple->elements[0]->range) + ", " +
             g.sourceText(tuple->elements[1]->range) + "`";
    else if (v.isTensor() && v.rank() > 0)
      help = "`any(" + g.sourceText(e.range) + ")` or `all(" + g.sourceText(e.range) + ")` is one bool";
    else if (v.isTensor())
      help = "write `" + g.sourceText(e.range) + " != 0`";
    g.fail(DiagId::NotScalarCondition, e.range, {v.type().str()}, help.size() < 120 ? help : "");
  }
  return v.value;
}

RValue genExpr(IRGen &g, const ast::Expr &e) {
  using ast::NodeKind;
  if (auto known = g.given.find(&e); known != g.given.end())
    return known->second;
  switch (e.kind) {
  case NodeKind::Lambda:
    return closureOf(g, *ast::cast<ast::Lambda>(e).function);
  case NodeKind::TryElse:
    return genTryElse(g, ast::cast<ast::TryElse>(e));
  case NodeKind::Name:
    return genName(g, ast::cast<ast::Name>(e));
  case NodeKind::Number:
    return genLiteral(g, e);
  case NodeKind::Bool:
    return g.boolean(ast::cast<ast::Bool>(e).value, e.range);
  case NodeKind::String:
    return g.string(ast::cast<ast::String>(e).text, e.range);
  case NodeKind::Format:
    return genFormat(g, ast::cast<ast::Format>(e));
  case NodeKind::Bracket:
    return genBracket(g, ast::cast<ast::Bracket>(e));
  case NodeKind::Unary: {
    auto &u = ast::cast<ast::Unary>(e);
    if (u.op == ast::UnaryOp::Neg && isLiteral(e))
      return genLiteral(g, e);
    return unaryOperation(g, u.op, genExpr(g, *u.operand), e.range);
  }
  case NodeKind::Binary: {
    auto &chain = ast::cast<ast::Binary>(e);
    if (chain.steps.front().op >= ast::BinaryOp::And)
      return genLogical(g, chain);
    RValue left = genExpr(g, *chain.first);
    SourceRange leftRange = chain.first->range;
    for (const auto &step : chain.steps) {
      RValue right = genExpr(g, *step.operand);
      left = binaryOperation(g, step.op, left, right, leftRange.to(step.operand->range), step.opRange, leftRange,
                             step.operand->range);
      leftRange = leftRange.to(step.operand->range);
    }
    return left;
  }
  case NodeKind::Call:
    return genCall(g, ast::cast<ast::Call>(e));
  case NodeKind::Index:
    return genIndex(g, ast::cast<ast::Index>(e));
  case NodeKind::Member:
    return genMember(g, ast::cast<ast::Member>(e));
  case NodeKind::Adjoint:
    return adjoint(g, genExpr(g, *ast::cast<ast::Adjoint>(e).operand), e.range);
  case NodeKind::Tuple: {
    std::vector<RValue> elements;
    for (const ast::ExprPtr &element : ast::cast<ast::Tuple>(e).elements)
      elements.push_back(genExpr(g, *element));
    return RValue::tuple(std::move(elements));
  }
  default:
    g.fail(DiagId::BraceValue, e.range);
  }
}

} // namespace toy

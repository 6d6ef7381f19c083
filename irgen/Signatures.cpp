// SPDX-License-Identifier: Apache-2.0
/// \file
/// What signatures say about sizes: their names, what follows from them, and attributes (@dynamic, @static, @buckets).
#include "irgen/Declarations.h"

#include "irgen/Decisions.h"
#include "irgen/Expressions.h"
#include "irgen/SizeBinder.h"

using namespace mlir;

namespace toy {

Dim sizeDim(IRGen &g, const ast::Expr &e) {
  if (auto *name = ast::dynCast<ast::Name>(&e))
    return Dim::symbol(g.context, name->name);
  if (auto *number = ast::dynCast<ast::Number>(&e)) {
    int64_t n;
    if (StringRef(number->re).getAsInteger(10, n))
      g.fail(DiagId::LiteralRange, e.range, {number->re, "a size"});
    return g.number(n);
  }
  auto &binary = ast::cast<ast::Binary>(e);
  Dim left = sizeDim(g, *binary.first);
  for (const ast::Binary::Step &step : binary.steps) {
    Dim right = sizeDim(g, *step.operand);
    bool divides = step.op == ast::BinaryOp::FloorDiv || step.op == ast::BinaryOp::Mod;
    if (divides && right.is(0))
      g.fail(DiagId::BadSizeExpression, step.opRange, {"division by 0"});
    left = step.op == ast::BinaryOp::Add        ? left + right
           : step.op == ast::BinaryOp::Sub      ? left - right
           : step.op == ast::BinaryOp::Mul      ? left * right
           : step.op == ast::BinaryOp::FloorDiv ? left.floorDiv(right)
                                                : left.mod(right);
    if (left.isUnknown())
      g.fail(DiagId::BadSizeExpression, step.opRange, {"its numbers are too large"});
  }
  return left;
}

void collectDeclared(IRGen &g, const ast::TypeExpr &type, llvm::function_ref<void(Dim, const ast::Expr &)> visit) {
  for (const ast::TypeExpr &element : type.elements)
    collectDeclared(g, element, visit);
  for (const ast::ExprPtr &size : type.sizes)
    if (size)
      visit(sizeDim(g, *size), *size);
}

std::set<std::string> sizeNamesOf(IRGen &g, const ast::Function &decl) {
  std::set<std::string> names;
  auto isParameter = [&](StringRef s) {
    return llvm::any_of(decl.parameters, [&](const ast::Parameter &p) { return p.name == s; });
  };
  auto collect = [&](const ast::TypeExpr &type, bool ofResult) {
    collectDeclared(g, type, [&](Dim dim, const ast::Expr &) {
      dim.collectSymbols([&](StringRef s) {
        if (!ofResult || isParameter(s))
          names.insert(s.str());
      });
    });
  };
  for (const ast::Parameter &parameter : decl.parameters)
    if (parameter.type)
      collect(*parameter.type, false);
  if (decl.result)
    collect(*decl.result, true);
  return names;
}

/// A comparison of size expressions over declared names; nothing for other conditions.
static std::optional<SizeFact> declaredFact(IRGen &g, const ast::Expr &clause) {
  auto *binary = ast::dynCast<ast::Binary>(&clause);
  auto isSize = [](auto &self, const ast::Expr &e) -> bool {
    if (auto *inner = ast::dynCast<ast::Binary>(&e))
      return self(self, *inner->first) && llvm::all_of(inner->steps, [&](const ast::Binary::Step &step) {
               return step.op != ast::BinaryOp::Div && step.op != ast::BinaryOp::MatMul &&
                      step.op <= ast::BinaryOp::Mod && self(self, *step.operand);
             });
    auto *number = ast::dynCast<ast::Number>(&e);
    return e.kind == ast::NodeKind::Name ||
           (number && number->form == ast::Number::Integer && !number->re.starts_with('-'));
  };
  if (!binary || binary->steps.size() != 1 || !isSize(isSize, *binary->first) ||
      !isSize(isSize, *binary->steps[0].operand))
    return std::nullopt;
  return comparison(binary->steps[0].op, sizeDim(g, *binary->first), sizeDim(g, *binary->steps[0].operand));
}

std::vector<Dim> sizeEquations(IRGen &g, const ast::Function &decl, const std::set<std::string> &names) {
  std::vector<Dim> out;
  for (const ast::ExprPtr &clause : decl.where)
    if (auto fact = declaredFact(g, *clause); fact && fact->relation == SizeFact::Zero) {
      bool known = true;
      fact->dim.collectSymbols([&](StringRef s) { known &= names.count(s.str()) > 0; });
      if (known)
        out.push_back(fact->dim);
    }
  return out;
}

void checkSignature(IRGen &g, const ast::Function &decl) {
  std::set<std::string> names = sizeNamesOf(g, decl);
  llvm::StringSet<> known;
  for (const ast::Parameter &parameter : decl.parameters)
    if (names.count(parameter.name))
      known.insert(parameter.name);
  std::vector<Dim> expressions;
  std::vector<SourceRange> places;
  ShapeFacts facts;
  for (const ast::Parameter &parameter : decl.parameters)
    if (parameter.type)
      collectDeclared(g, *parameter.type, [&](Dim dim, const ast::Expr &e) {
        expressions.push_back(dim);
        places.push_back(e.range);
        facts.assume(SizeFact::atLeast(dim, g.number(0)));
      });
  llvm::append_range(expressions, sizeEquations(g, decl, names));
  std::vector<std::string> unsolved;
  auto refuseOpen = [&](const std::string &name, SourceRange range) {
    g.fail(DiagId::UnsolvedSize, range, {name},
           "make it a parameter (`" + name + ": i64`), declare another argument `" + name +
               "` long, or write what it is: `where " + name + " == …`");
  };
  (void)solveSizes(expressions, known, unsolved);
  for (auto [dim, place] : llvm::zip(expressions, places))
    dim.collectSymbols([&](StringRef s) {
      if (llvm::is_contained(unsolved, s))
        refuseOpen(s.str(), place);
    });
  for (const ast::ExprPtr &clause : decl.where)
    if (auto fact = declaredFact(g, *clause)) {
      bool aboutSizes = true;
      fact->dim.collectSymbols([&](StringRef s) { aboutSizes &= names.count(s.str()) > 0; });
      if (aboutSizes && facts.decide(*fact) == Truth::No)
        g.fail(DiagId::ContradictorySizes, clause->range, {g.sourceText(clause->range)});
      if (aboutSizes)
        facts.assume(*fact);
    }
  if (!decl.result)
    return;
  std::vector<Dim> results;
  places.clear();
  collectDeclared(g, *decl.result, [&](Dim dim, const ast::Expr &e) {
    results.push_back(dim);
    places.push_back(e.range);
  });
  unsolved.clear();
  (void)solveSizes(results, known, unsolved); // a name of the result alone is whatever comes
  for (auto [dim, place] : llvm::zip(results, places))
    dim.collectSymbols([&](StringRef s) {
      if (llvm::is_contained(unsolved, s))
        refuseOpen(s.str(), place);
    });
}

/// The parameter that an argument of an attribute names.
static const std::string &parameterNamed(IRGen &g, const ast::Function &decl, const ast::Attribute &attribute,
                                         const ast::Expr *argument) {
  auto *name = ast::dynCast<ast::Name>(argument);
  if (!name || llvm::none_of(decl.parameters, [&](const ast::Parameter &p) { return p.name == name->name; }))
    g.fail(DiagId::SizeAttribute, attribute.range,
           {attribute.name, "the first argument is a parameter of `" + decl.name + "`"});
  return name->name;
}

std::set<std::string> positionsOf(IRGen &g, const ast::Function &decl) {
  std::set<std::string> names;
  for (const ast::Attribute &attribute : decl.attributes)
    if (attribute.name == "positions")
      names.insert(
          parameterNamed(g, decl, attribute, attribute.arguments.empty() ? nullptr : attribute.arguments[0].get()));
  return names;
}

SizeAttribute sizeAttribute(IRGen &g, const ast::Function &decl, const std::string &parameter, int64_t rank,
                            int64_t axis) {
  SizeAttribute out;
  for (const ast::Attribute &attribute : decl.attributes) {
    if (attribute.name == "buckets" || attribute.name == "positions")
      continue;
    const std::string &name =
        parameterNamed(g, decl, attribute, attribute.arguments.empty() ? nullptr : attribute.arguments[0].get());
    if (attribute.arguments.size() != 2 && (attribute.name == "static" || attribute.arguments.size() != 4))
      g.fail(DiagId::SizeAttribute, attribute.range,
             {attribute.name, attribute.name == "static" ? "a parameter and an axis are wanted"
                                                         : "a parameter, an axis and perhaps two bounds are wanted"});
    if (name != parameter)
      continue;
    if (int64_t at = staticInteger(g, *attribute.arguments[1], attribute.name); at < -rank || at >= rank)
      g.fail(DiagId::SizeAttribute, attribute.arguments[1]->range,
             {attribute.name, "`" + parameter + "` has rank " + std::to_string(rank)});
    else if ((at + rank) % rank != axis)
      continue;
    out.kind = attribute.name == "static" ? SizeAttribute::Static : SizeAttribute::Dynamic;
    out.range = attribute.range;
    if (attribute.arguments.size() == 4) {
      out.lo = staticInteger(g, *attribute.arguments[2], "dynamic");
      out.hi = staticInteger(g, *attribute.arguments[3], "dynamic");
      if (out.lo < 0 || out.hi < out.lo)
        g.fail(DiagId::SizeAttribute, attribute.range,
               {attribute.name, "no size lies between " + std::to_string(out.lo) + " and " + std::to_string(out.hi)});
    }
  }
  return out;
}

DictionaryAttr bucketsOf(IRGen &g, const ast::Function &decl) {
  SmallVector<NamedAttribute> rows;
  for (const ast::Attribute &attribute : decl.attributes) {
    if (attribute.name != "buckets")
      continue;
    auto refuse = [&](const std::string &why) {
      g.fail(DiagId::SizeAttribute, attribute.range, {attribute.name, why});
    };
    auto *name = attribute.arguments.size() == 2 ? ast::dynCast<ast::Name>(attribute.arguments[0].get()) : nullptr;
    if (!name)
      refuse("a size of the signature and a list of numbers are wanted: `@buckets(N, [8, 16])`");
    if (!g.fn().declaredSizes.count(name->name))
      refuse("`" + name->name + "` is no size in the signature of `" + decl.name + "`");
    if (llvm::any_of(rows, [&](NamedAttribute row) { return row.getName() == name->name; }))
      refuse("`" + name->name + "` has buckets already");
    auto sizes = staticList(g, *attribute.arguments[1], attribute.name);
    if (sizes.empty() || sizes.front() < 1 ||
        std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) != sizes.end())
      refuse("the sizes are positive and in ascending order");
    rows.emplace_back(g.b.getStringAttr(name->name), g.b.getDenseI64ArrayAttr(sizes));
  }
  return rows.empty() ? nullptr : g.b.getDictionaryAttr(rows);
}

} // namespace toy

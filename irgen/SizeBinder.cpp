// SPDX-License-Identifier: Apache-2.0
/// \file
/// Declared sizes are solved for their names, then proven, refuted, or checked while the program runs.
#include "irgen/SizeBinder.h"

#include "irgen/Decisions.h"
#include "irgen/Declarations.h"
#include "irgen/Operations.h"

using namespace mlir;

namespace toy {

std::vector<SizeSolution> solveSizes(ArrayRef<Dim> expressions, llvm::StringSet<> &known,
                                     std::vector<std::string> &unsolved) {
  std::vector<SizeSolution> out;
  auto unknownIn = [&](Dim dim) {
    std::vector<std::string> names;
    dim.collectSymbols([&](StringRef s) {
      if (!known.contains(s) && !llvm::is_contained(names, s))
        names.push_back(s.str());
    });
    return names;
  };
  auto take = [&](size_t i, StringRef name, int64_t factor, Dim rest) {
    out.push_back({name.str(), i, factor, rest});
    known.insert(name);
  };
  for (auto [i, dim] : llvm::enumerate(expressions))
    if (StringRef name = dim.symbolName(); !name.empty() && !known.contains(name))
      take(i, name, 1, Dim::number(dim.getContext(), 0));
  for (bool changed = true; std::exchange(changed, false);)
    for (auto [i, dim] : llvm::enumerate(expressions)) {
      std::vector<std::string> names = unknownIn(dim);
      if (names.size() != 1)
        continue;
      // dim is rest + factor * name, or it is not linear in the name.
      MLIRContext *context = dim.getContext();
      Dim name = Dim::symbol(context, names[0]), zero = Dim::number(context, 0);
      Dim rest = dim.substitute({{names[0], zero}}), slope = dim - rest,
          factor = slope.substitute({{names[0], Dim::number(context, 1)}});
      if (!factor.isNumber() || factor.is(0) || slope != factor * name)
        continue;
      take(i, names[0], factor.value(), rest);
      changed = true;
    }
  for (Dim dim : expressions)
    for (const std::string &name : unknownIn(dim))
      if (!llvm::is_contained(unsolved, name))
        unsolved.push_back(name);
  return out;
}

void SizeBinder::know(StringRef name, Dim dim, Value value) {
  names.insert(name);
  dims[name] = dim;
  values[name] = value;
}

void SizeBinder::declare(Dim size, Value x, int64_t axis, SourceRange range, std::string what,
                         std::function<void(Dim)> refuse) {
  equations.push_back({size, x, axis, range, std::move(what), std::move(refuse)});
}

void SizeBinder::declare(const ast::TypeExpr &type, const RValue &value, SourceRange range, const std::string &what,
                         const std::function<void(const ast::TypeExpr &, const RValue &, int64_t, Dim)> &refuse) {
  for (auto [element, part] : llvm::zip(type.elements, value.elements))
    declare(element, part, range, what, refuse);
  if (!value.isTensor())
    return;
  for (auto [axis, size] : llvm::enumerate(type.sizes))
    if (size)
      declare(sizeDim(g, *size), value.value, axis, range, what,
              [&type, value, axis = axis, refuse](Dim wanted) { refuse(type, value, axis, wanted); });
}

std::vector<std::string> SizeBinder::solve() {
  std::vector<Dim> expressions;
  for (const Equation &equation : equations)
    expressions.push_back(equation.size);
  std::vector<std::string> unsolved;
  solutions = solveSizes(expressions, names, unsolved);
  for (const SizeSolution &solution : solutions) {
    const Equation &equation = equations[solution.equation];
    Dim size = equation.x ? tensorTypeOf(equation.x).getDim(equation.axis) : g.number(0);
    dims[solution.name] = (size - here(solution.rest)).floorDiv(g.number(solution.factor));
  }
  return unsolved;
}

void SizeBinder::require() {
  for (const SizeSolution &solution : solutions) {
    const Equation &equation = equations[solution.equation];
    if (equation.size.symbolName() == solution.name)
      continue;
    Dim found = dims[solution.name], zero = g.number(0);
    auto text = [&] { return "`" + solution.name + "` = " + found.str(); };
    requireFact(
        g, SizeFact::atLeast(found, zero), equation.range,
        [&] {
          g.fail(DiagId::NegativeSize, equation.range, {text()},
                 "`" + equation.size.str() + "` is the size of an axis, and `" + solution.name + "` is 0 or more");
        },
        [&] {
          g.create<CheckSizeOp>(equation.range, {valueOf(solution.name, equation.range)},
                                {g.stringAttr("name", solution.name)});
        });
  }
  for (const Equation &equation : equations) {
    if (!equation.x)
      continue; // the `where` clause is checked where it stands
    Dim wanted = here(equation.size), have = tensorTypeOf(equation.x).getDim(equation.axis);
    requireFact(
        g, SizeFact::equal(have, wanted), equation.range, [&] { equation.refuse(wanted); },
        [&] {
          g.create<CheckEqualOp>(
              equation.range,
              {sizeOf(g, equation.x, equation.axis, equation.range), valueOf(equation.size, equation.range)},
              {g.stringAttr("what", equation.what + " (axis " + std::to_string(equation.axis) + ", `" +
                                        equation.size.str() + "`)")});
        });
  }
}

Value SizeBinder::valueOf(Dim declared, SourceRange range) {
  return sizeExpression(g, declared, range, [&](StringRef name) { return valueOf(name, range); });
}

Value SizeBinder::valueOf(StringRef name, SourceRange range) {
  Value &value = values[name];
  if (value)
    return value;
  const SizeSolution &solution = *llvm::find_if(solutions, [&](const SizeSolution &s) { return s.name == name; });
  const Equation &equation = equations[solution.equation];
  Value size = equation.x ? sizeOf(g, equation.x, equation.axis, range) : g.integer(0, range);
  if (!solution.rest.is(0))
    size = arith<SubOp>(g, size, valueOf(solution.rest, range), range);
  if (solution.factor != 1)
    size = arith<FloorDivOp>(g, size, g.integer(solution.factor, range), range);
  return values[name] = size; // `value` may have moved
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Declared sizes are solved for their names, then proven, refuted, or checked while the program runs.
#include "irgen/SizeBinder.h"

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

void SizeBinder::declare(const ast::TypeExpr &type, const Val &value, SourceRange range, const std::string &what,
                         const std::function<void(const ast::TypeExpr &, const Val &, int64_t, Dim)> &refuse) {
  for (auto [element, part] : llvm::zip(type.elements, value.elements))
    declare(element, part, range, what, refuse);
  if (!value.isTensor())
    return;
  for (auto [axis, size] : llvm::enumerate(type.sizes))
    if (size)
      declare(gen.sizeDim(*size), value.value, axis, range, what,
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
    Dim size = equation.x ? tensorTypeOf(equation.x).getDim(equation.axis) : Dim::number(gen.context, 0);
    dims[solution.name] = (size - here(solution.rest)).floorDiv(Dim::number(gen.context, solution.factor));
  }
  return unsolved;
}

void SizeBinder::require() {
  for (const SizeSolution &solution : solutions) {
    const Equation &equation = equations[solution.equation];
    if (equation.size.symbolName() == solution.name)
      continue;
    Dim found = dims[solution.name], zero = Dim::number(gen.context, 0);
    auto text = [&] { return "`" + solution.name + "` = " + found.str(); };
    gen.require(
        SizeFact::atLeast(found, zero), equation.range,
        [&] {
          gen.fail(DiagId::NegativeSize, equation.range, {text()},
                   "`" + equation.size.str() + "` is the size of an axis, and `" + solution.name + "` is 0 or more");
        },
        [&] {
          gen.create<CheckSizeOp>(equation.range, {valueOf(solution.name, equation.range)},
                                  {gen.stringAttr("name", solution.name)});
        });
  }
  for (const Equation &equation : equations) {
    if (!equation.x)
      continue; // the `where` clause is checked where it stands
    Dim wanted = here(equation.size), have = tensorTypeOf(equation.x).getDim(equation.axis);
    gen.require(
        SizeFact::equal(have, wanted), equation.range, [&] { equation.refuse(wanted); },
        [&] {
          gen.create<CheckEqualOp>(
              equation.range,
              {gen.sizeOf(equation.x, equation.axis, equation.range), valueOf(equation.size, equation.range)},
              {gen.stringAttr("what", equation.what + " (axis " + std::to_string(equation.axis) + ", `" +
                                          equation.size.str() + "`)")});
        });
  }
}

Value SizeBinder::valueOf(Dim declared, SourceRange range) {
  return gen.sizeExpression(declared, range, [&](StringRef name) { return valueOf(name, range); });
}

Value SizeBinder::valueOf(StringRef name, SourceRange range) {
  Value &value = values[name];
  if (value)
    return value;
  const SizeSolution &solution = *llvm::find_if(solutions, [&](const SizeSolution &s) { return s.name == name; });
  const Equation &equation = equations[solution.equation];
  Value size = equation.x ? gen.sizeOf(equation.x, equation.axis, range) : gen.integer(0, range);
  if (!solution.rest.is(0))
    size = gen.arith<SubOp>(size, valueOf(solution.rest, range), range);
  if (solution.factor != 1)
    size = gen.arith<FloorDivOp>(size, gen.integer(solution.factor, range), range);
  return values[name] = size; // `value` may have moved
}

//===-- declared types
//-------------------------------------------------------------------------------------------------===//

/// The size that a declaration writes, over its names.
Dim IRGen::sizeDim(const ast::Expr &e) {
  if (auto *name = ast::dynCast<ast::Name>(&e))
    return Dim::symbol(context, name->name);
  if (auto *number = ast::dynCast<ast::Number>(&e)) {
    int64_t n;
    if (StringRef(number->re).getAsInteger(10, n))
      fail(DiagId::LiteralRange, e.range, {number->re, "a size"});
    return Dim::number(context, n);
  }
  auto &binary = ast::cast<ast::Binary>(e);
  Dim left = sizeDim(*binary.first);
  for (const ast::Binary::Step &step : binary.steps) {
    Dim right = sizeDim(*step.operand);
    bool divides = step.op == ast::BinaryOp::FloorDiv || step.op == ast::BinaryOp::Mod;
    if (divides && right.is(0))
      fail(DiagId::BadSizeExpression, step.opRange, {"division by 0"});
    left = step.op == ast::BinaryOp::Add        ? left + right
           : step.op == ast::BinaryOp::Sub      ? left - right
           : step.op == ast::BinaryOp::Mul      ? left * right
           : step.op == ast::BinaryOp::FloorDiv ? left.floorDiv(right)
                                                : left.mod(right);
    if (left.isUnknown())
      fail(DiagId::BadSizeExpression, step.opRange, {"its numbers are too large"});
  }
  return left;
}

/// A fact about sizes that the program relies on: where it is proven nothing is done, where it can never hold `refuse`
/// reports that, and otherwise `check` makes the program ask; from there on it is known.
void IRGen::require(SizeFact fact, SourceRange range, llvm::function_ref<void()> refuse,
                    llvm::function_ref<void()> check) {
  if (fact.dim.isUnknown())
    return check();
  if (isFree(fact.dim)) { // a check of this form: with other sizes the call is an error
    if (!decideSize(fact, range, true))
      refuse();
    return;
  }
  switch (fn().facts.decide(fact)) {
  case Truth::Yes:
    return;
  case Truth::No:
    return refuse();
  case Truth::Unknown:
    break;
  }
  check();
  fn().facts.assume(fact);
}

/// The names of a signature that occur in the types of its parameters.
static void collectDeclared(IRGen &gen, const ast::TypeExpr &type,
                            llvm::function_ref<void(Dim, const ast::Expr &)> visit) {
  for (const ast::TypeExpr &element : type.elements)
    collectDeclared(gen, element, visit);
  for (const ast::ExprPtr &size : type.sizes)
    if (size)
      visit(gen.sizeDim(*size), *size);
}

/// The names in sizes of parameters, and the parameters that sizes of the result name: other names of the result are
/// whatever comes.
std::set<std::string> IRGen::sizeNamesOf(const ast::Function &decl) {
  std::set<std::string> names;
  auto isParameter = [&](StringRef s) {
    return llvm::any_of(decl.parameters, [&](const ast::Parameter &p) { return p.name == s; });
  };
  auto collect = [&](const ast::TypeExpr &type, bool ofResult) {
    collectDeclared(*this, type, [&](Dim dim, const ast::Expr &) {
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

/// `where` clauses that say what a size is: `M == N//2`, as M - N//2, where both sides are made of names of sizes.
static std::vector<Dim> sizeEquations(IRGen &gen, const ast::Function &decl, const std::set<std::string> &names) {
  std::vector<Dim> out;
  for (const ast::ExprPtr &clause : decl.where)
    if (auto fact = gen.declaredFact(*clause); fact && fact->relation == SizeFact::Zero) {
      bool known = true;
      fact->dim.collectSymbols([&](StringRef s) { known &= names.count(s.str()) > 0; });
      if (known)
        out.push_back(fact->dim);
    }
  return out;
}

/// A comparison of size expressions over declared names; nothing for other conditions.
std::optional<SizeFact> IRGen::declaredFact(const ast::Expr &clause) {
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
  return comparison(binary->steps[0].op, sizeDim(*binary->first), sizeDim(*binary->steps[0].operand));
}

/// A signature whose sizes leave a name open, or contradict each other, is an error where it stands.
void IRGen::checkSignature(const ast::Function &decl) {
  std::set<std::string> names = sizeNamesOf(decl);
  llvm::StringSet<> known;
  for (const ast::Parameter &parameter : decl.parameters)
    if (names.count(parameter.name))
      known.insert(parameter.name);
  std::vector<Dim> expressions;
  std::vector<SourceRange> places;
  ShapeFacts facts;
  for (const ast::Parameter &parameter : decl.parameters)
    if (parameter.type)
      collectDeclared(*this, *parameter.type, [&](Dim dim, const ast::Expr &e) {
        expressions.push_back(dim);
        places.push_back(e.range);
        facts.assume(SizeFact::atLeast(dim, Dim::number(context, 0)));
      });
  llvm::append_range(expressions, sizeEquations(*this, decl, names));
  std::vector<std::string> unsolved;
  auto refuseOpen = [&](const std::string &name, SourceRange range) {
    fail(DiagId::UnsolvedSize, range, {name},
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
    if (auto fact = declaredFact(*clause)) {
      bool aboutSizes = true;
      fact->dim.collectSymbols([&](StringRef s) { aboutSizes &= names.count(s.str()) > 0; });
      if (aboutSizes && facts.decide(*fact) == Truth::No)
        fail(DiagId::ContradictorySizes, clause->range, {sourceText(clause->range)});
      if (aboutSizes)
        facts.assume(*fact);
    }
  if (!decl.result)
    return;
  std::vector<Dim> results;
  places.clear();
  collectDeclared(*this, *decl.result, [&](Dim dim, const ast::Expr &e) {
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

/// Names that undeclared axes have from the caller and that mean something else in the callee get other names there.
static Dim renamed(Dim dim, const std::set<std::string> &taken, llvm::StringMap<Dim> &names,
                   llvm::StringMap<Dim> &back) {
  MLIRContext *context = dim.getContext();
  dim.collectSymbols([&](StringRef s) {
    if (!taken.count(s.str()) || names.count(s))
      return;
    std::string other = s.str();
    do
      other += "$";
    while (back.count(other));
    names[s] = Dim::symbol(context, other);
    back[other] = Dim::symbol(context, s);
  });
  return dim.substitute(names);
}

/// Arguments under the declared types of the parameters: widened, every declared size proven or checked, in the
/// callee's names. Gives what these names are for the caller.
llvm::StringMap<Dim> IRGen::declareArguments(const ast::Function &decl, std::vector<Val> &values,
                                             ArrayRef<SourceRange> ranges) {
  std::set<std::string> names = sizeNamesOf(decl);
  SizeBinder binder(*this);
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    if (parameter.type)
      values[i] = widened(values[i], *parameter.type, parameter.name, ranges[i]);
    if (names.count(parameter.name)) {
      Value n = indexValue(values[i], ranges[i], decl.name);
      auto dim = sizeBehind(n);
      if (!dim || (dim->isNumber() && dim->value() < 0))
        n = create<CheckSizeOp>(ranges[i], {n}, {stringAttr("name", parameter.name)});
      binder.know(parameter.name, dim ? *dim : nameOfSize(n), n);
    }
  }
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    if (!parameter.type)
      continue;
    auto refuse = [&, range = ranges[i], &parameter = parameter](const ast::TypeExpr &type, const Val &value,
                                                                 int64_t axis, Dim wanted) {
      std::string size = sizeDim(*type.sizes[axis]).str();
      fail(DiagId::SizeRelation, range,
           {parameter.name, value.type().str(), ast::str(type),
            size + (wanted.str() == size ? "" : " = " + wanted.str()) + " in axis " + std::to_string(axis)});
    };
    binder.declare(*parameter.type, values[i], ranges[i], "actual and declared size of `" + parameter.name + "`",
                   refuse);
  }
  for (Dim zero : sizeEquations(*this, decl, names))
    binder.declareZero(zero);
  for (const std::string &open : binder.solve())
    fail(DiagId::UnsolvedSize, decl.nameRange, {open});
  binder.require();
  llvm::StringMap<Dim> sizes = binder.sizes(), hygiene, back;
  auto relabelAll = [&](auto &self, Val &value, const ast::TypeExpr *type, SourceRange range) -> void {
    for (auto [i, element] : llvm::enumerate(value.elements))
      self(self, element, type && i < type->elements.size() ? &type->elements[i] : nullptr, range);
    if (!value.isTensor())
      return;
    SmallVector<Dim> dims = value.tensor().getDims();
    for (auto [axis, dim] : llvm::enumerate(dims))
      dim = type && axis < type->sizes.size() && type->sizes[axis] ? sizeDim(*type->sizes[axis])
                                                                   : renamed(dim, names, hygiene, back);
    bool weak = value.weak;
    auto *literal = value.literal;
    value = Val::leaf(relabel(value.value, value.tensor().withDims(dims), range));
    value.weak = weak;
    value.literal = literal;
  };
  for (auto [i, parameter] : llvm::enumerate(decl.parameters))
    relabelAll(relabelAll, values[i], parameter.type ? &*parameter.type : nullptr, ranges[i]);
  for (const auto &entry : back)
    sizes[entry.first()] = entry.second;
  return sizes;
}

/// The names of a signature become readable values at the function's entry.
void IRGen::bindSizes(const ast::Function &decl, ArrayRef<Val> arguments) {
  FunctionState &state = fn();
  state.declaredSizes = sizeNamesOf(decl);
  SizeBinder binder(*this);
  for (auto [parameter, value] : llvm::zip_equal(decl.parameters, arguments))
    if (state.declaredSizes.count(parameter.name)) {
      Dim name = Dim::symbol(context, parameter.name);
      Value n = indexValue(value, parameter.range, decl.name);
      if (auto known = constantOf(n))
        state.facts.assume(SizeFact::equal(name, Dim::number(context, *known)));
      state.sizeNames[n] = name;
      binder.know(parameter.name, name, n);
    }
  for (auto [parameter, value] : llvm::zip_equal(decl.parameters, arguments))
    if (parameter.type) {
      binder.declare(*parameter.type, value, decl.nameRange, "", nullptr);
      collectDeclared(*this, *parameter.type, [&](Dim dim, const ast::Expr &) {
        state.facts.assume(SizeFact::atLeast(dim, Dim::number(context, 0)));
      });
    }
  for (Dim zero : sizeEquations(*this, decl, state.declaredSizes))
    binder.declareZero(zero);
  (void)binder.solve();
  for (const std::string &name : state.declaredSizes) {
    Value value = binder.valueOf(Dim::symbol(context, name), decl.nameRange);
    state.sizeValues[name] = value;
    state.scopes.front().try_emplace(name, Variable{Val::leaf(value)});
  }
}

/// A value under a declared type of a result, a local or a member. Names that `known` does not have are bound by it.
Val IRGen::declaredAs(Val value, const ast::TypeExpr &type, const std::string &name, SourceRange range,
                      SizeBinder &binder) {
  value = widened(value, type, name, range);
  binder.declare(type, value, range, "actual and declared size of `" + name + "`",
                 [this, name, range](const ast::TypeExpr &type, const Val &value, int64_t, Dim) {
                   fail(DiagId::DeclaredType, range, {name, ast::str(type), value.type().str()});
                 });
  return value;
}

/// What is returned, under the declared type of the result: its sizes are those of the signature, or whatever comes
/// under a name of its own.
Val IRGen::declaredResult(Val value, SourceRange range) {
  const ast::Function &decl = *fn().decl;
  SizeBinder binder(*this);
  for (auto &[name, size] : fn().sizeValues)
    binder.know(name, Dim::symbol(context, name), size);
  value = declaredAs(value, *decl.result, decl.name, range, binder);
  (void)binder.solve();
  binder.require();
  auto refine = [&](auto &self, const ast::TypeExpr &type, Val &value) -> void {
    for (auto [element, part] : llvm::zip(type.elements, value.elements))
      self(self, element, part);
    if (!value.isTensor() || type.sizes.empty())
      return;
    SmallVector<Dim> dims = value.tensor().getDims();
    for (auto [axis, dim] : llvm::enumerate(dims))
      if (type.sizes[axis])
        dim = binder.here(sizeDim(*type.sizes[axis]));
    value = Val::leaf(relabel(value.value, value.tensor().withDims(dims), range));
  };
  refine(refine, *decl.result, value);
  return value;
}

/// Names that a declaration may use: sizes of the signature, and variables that are integers.
void IRGen::knowVariables(SizeBinder &binder, const ast::TypeExpr &type) {
  collectDeclared(*this, type, [&](Dim dim, const ast::Expr &e) {
    dim.collectSymbols([&](StringRef s) {
      bool found;
      if (binder.isKnown(s))
        return;
      Val v = readVariable(s.str(), e.range, found);
      if (!found)
        return;
      Value n = indexValue(v, e.range, "a size");
      auto known = sizeBehind(n);
      binder.know(s, known ? *known : Dim::unknown(context), n);
    });
  });
}

/// A local value under its declared type; names that are new are integers from there on.
Val IRGen::declaredLocal(Val value, const ast::TypeExpr &type, const std::string &name, SourceRange range) {
  SizeBinder binder(*this);
  knowVariables(binder, type);
  value = declaredAs(value, type, name, range, binder);
  for (const std::string &open : binder.solve())
    fail(DiagId::UnsolvedSize, type.range, {open});
  binder.require();
  bool scoped = fn().decl || fn().scopes.size() > 1; // a statement of the top level ends with its names
  for (const SizeSolution &solution : binder.solved())
    if (scoped)
      fn().scopes.back()[solution.name] = {Val::leaf(binder.valueOf(Dim::symbol(context, solution.name), range)),
                                           false};
  return value;
}

/// The members of a struct under their declared types; names of sizes mean the same in all of them.
void IRGen::checkMembers(const ast::Struct &decl, Val &value, SourceRange range) {
  SizeBinder binder(*this);
  for (auto [member, element] : llvm::zip_equal(decl.members, value.elements))
    if (member.type)
      element = declaredAs(element, *member.type, member.name, range, binder);
  for (const std::string &open : binder.solve())
    fail(DiagId::UnsolvedSize, decl.nameRange, {open});
  binder.require();
}

} // namespace toy

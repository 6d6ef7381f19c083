// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values under declared types: widened, with sizes that are proven or checked.
#include "irgen/Declarations.h"

#include "irgen/Decisions.h"
#include "irgen/Expressions.h"
#include "irgen/Functions.h"
#include "irgen/Lists.h"
#include "irgen/Operations.h"
#include "irgen/SizeBinder.h"
#include "support/OtherSpellings.h"

using namespace mlir;

namespace toy {

ValueType typeOf(IRGen &g, const ast::TypeExpr &type) {
  ValueType desc;
  if (type.form == ast::TypeExpr::Tuple) {
    desc.kind = ValueType::Tuple;
    for (const ast::TypeExpr &element : type.elements)
      desc.elements.push_back(typeOf(g, element));
    return desc;
  }
  if (type.form == ast::TypeExpr::List)
    return typeOf(g, type.elements[0]).listOf(g.context);
  if (type.name == "str" && type.form == ast::TypeExpr::Named) {
    desc.kind = ValueType::Leaf;
    desc.leaf = StrType::get(g.context);
    return desc;
  }
  if (const ast::Struct *decl = g.host.definitions().structure(type.name)) {
    if (!isWhole(g, type))
      g.fail(DiagId::UnknownType, type.range, {type.name}, "`" + type.name + "` needs types of its members");
    desc.kind = ValueType::Struct;
    desc.structName = decl->name;
    for (const ast::Parameter &member : decl->members) {
      desc.names.push_back(member.name);
      desc.elements.push_back(typeOf(g, *member.type));
    }
    return desc;
  }
  auto dtype = dtypeNamed(type.name);
  if (!dtype) {
    bool isWholeName = g.sourceText(type.range) == type.name;
    if (std::string help = helpForOther(Other::Type, type.name); !help.empty())
      g.fail(DiagId::UnknownType, type.range, {type.name}, help, isWholeName ? wordInstead(type.name) : "");
    std::vector<std::string> candidates = g.host.names();
    llvm::erase_if(candidates, [&](const std::string &name) { return !g.host.definitions().structure(name); });
    candidates.insert(candidates.end(), {"str", "list"});
    for (int i = 0; i < numDTypes; ++i)
      candidates.emplace_back(nameOf(static_cast<DType>(i)));
    g.failNear(DiagId::UnknownType, type.range, {type.name}, type.name, candidates);
  }
  desc.kind = ValueType::Leaf;
  SmallVector<Dim> dims;
  for (const ast::ExprPtr &size : type.sizes)
    dims.push_back(size ? sizeDim(g, *size) : Dim::unknown(g.context));
  desc.leaf = TensorType::get(g.context, *dtype, dims);
  return desc;
}

/// Whether a type is a declared one, which may leave things open.
static bool isDeclared(IRGen &g, const ValueType &have, const ast::TypeExpr &type) {
  if (type.form == ast::TypeExpr::Tuple)
    return have.kind == ValueType::Tuple && have.elements.size() == type.elements.size() &&
           llvm::all_of(llvm::zip_equal(have.elements, type.elements),
                        [&](auto pair) { return isDeclared(g, std::get<0>(pair), std::get<1>(pair)); });
  if (type.form == ast::TypeExpr::List)
    return have.kind == ValueType::List && (have.isOpenList() || isDeclared(g, have.elementOfList(), type.elements[0]));
  if (type.name == "list")
    return have.kind == ValueType::List;
  if (type.name == "fn")
    return have.isCallable();
  if (g.host.definitions().structure(type.name))
    return have.kind == ValueType::Struct && have.structName == type.name;
  auto tensor = dyn_cast_if_present<TensorType>(have.leaf);
  if (type.name == "str")
    return have.kind == ValueType::Leaf && isa<StrType>(have.leaf);
  return tensor && tensor.getRank() == static_cast<int64_t>(type.sizes.size()) &&
         (type.name == "_" || tensor.getDtype() == cast<TensorType>(typeOf(g, type).leaf).getDtype());
}

/// A value in the dtype of a declared type, whose kind and rank it has; sizes are not looked at.
static RValue widened(IRGen &g, RValue value, const ast::TypeExpr &type, const std::string &name, SourceRange range) {
  auto refuse = [&](const std::string &declared) {
    g.fail(DiagId::DeclaredType, range, {name, declared, value.str()});
  };
  if (type.form == ast::TypeExpr::Tuple) {
    if (value.kind != RValue::Tuple || value.elements.size() != type.elements.size())
      refuse(ast::str(type));
    for (size_t i = 0; i < type.elements.size(); ++i)
      value.elements[i] = widened(g, value.elements[i], type.elements[i], name, range);
    return value;
  }
  if (type.form == ast::TypeExpr::List || type.name == "list") {
    if (!isDeclared(g, value.type(), type))
      refuse(ast::str(type));
    bool isOpen = value.elements.empty() && type.form == ast::TypeExpr::List && isWhole(g, type);
    return isOpen ? emptyList(g, typeOf(g, type), range) : value;
  }
  if (const ast::Struct *decl = g.host.definitions().structure(type.name)) {
    if (value.kind != RValue::Struct || value.structName != decl->name)
      refuse(decl->name);
    return value;
  }
  if (type.name == "str" || type.name == "fn") {
    if (type.name == "str" ? !value.isStr() : !value.isCallable()) // a dtype converts
      refuse(type.name);
    return value;
  }
  if (type.name != "_" && !dtypeNamed(type.name))
    (void)typeOf(g, type); // says that there is no such type
  if (!value.isTensor())
    refuse(ast::str(type));
  DType have = value.tensor().getDtype(),
        dtype = type.name == "_" ? have : cast<TensorType>(typeOf(g, type).leaf).getDtype();
  bool widens = have == dtype || value.weak || promote({have}, {dtype}) == dtype;
  if (!widens || kindOf(have) > kindOf(dtype) || value.rank() != static_cast<int64_t>(type.sizes.size()))
    refuse(ast::str(type));
  return castVal(g, value, dtype, range);
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

llvm::StringMap<Dim> declareArguments(IRGen &g, const ast::Function &decl, std::vector<RValue> &values,
                                      ArrayRef<SourceRange> ranges) {
  std::set<std::string> names = sizeNamesOf(g, decl);
  SizeBinder binder(g);
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    if (parameter.type)
      values[i] = widened(g, values[i], *parameter.type, parameter.name, ranges[i]);
    if (names.count(parameter.name)) {
      Value n = indexValue(g, values[i], ranges[i], decl.name);
      auto dim = sizeBehind(n);
      if (!dim || (dim->isNumber() && dim->value() < 0))
        n = g.create<CheckSizeOp>(ranges[i], {n}, {g.stringAttr("name", parameter.name)});
      binder.know(parameter.name, dim ? *dim : nameOfSize(g, n), n);
    }
  }
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    if (!parameter.type)
      continue;
    std::string what = "actual and declared size of `" + parameter.name + "`";
    auto refuse = [&, what, range = ranges[i], &parameter = parameter](const ast::TypeExpr &type, const RValue &value,
                                                                       int64_t axis, Dim wanted) {
      std::string have = value.tensor().getDim(axis).str();
      for (const RValue &argument : values) // others have decided what the name is
        if (argument.isTensor())
          failLater(g, argument.value, {DiagId::SizesDiffer, {what, have, wanted.str()}, range});
      std::string size = sizeDim(g, *type.sizes[axis]).str();
      g.fail(DiagId::SizeRelation, range,
             {parameter.name, value.type().str(), ast::str(type),
              size + (wanted.str() == size ? "" : " = " + wanted.str()) + " in axis " + std::to_string(axis)});
    };
    binder.declare(*parameter.type, values[i], ranges[i], what, refuse);
  }
  for (Dim zero : sizeEquations(g, decl, names))
    binder.declareZero(zero);
  for (const std::string &open : binder.solve())
    g.fail(DiagId::UnsolvedSize, decl.nameRange, {open});
  binder.require();
  llvm::StringMap<Dim> sizes = binder.sizes(), hygiene, back;
  auto relabelAll = [&](auto &self, RValue &value, const ast::TypeExpr *type, SourceRange range) -> void {
    for (auto [i, element] : llvm::enumerate(value.elements))
      self(self, element, type && i < type->elements.size() ? &type->elements[i] : nullptr, range);
    if (!value.isTensor())
      return;
    SmallVector<Dim> dims = value.tensor().getDims();
    for (auto [axis, dim] : llvm::enumerate(dims))
      dim = type && axis < type->sizes.size() && type->sizes[axis] ? sizeDim(g, *type->sizes[axis])
                                                                   : renamed(dim, names, hygiene, back);
    bool weak = value.weak;
    auto *literal = value.literal;
    value = relabel(g, value.value, value.tensor().withDims(dims), range);
    value.weak = weak;
    value.literal = literal;
  };
  for (auto [i, value] : llvm::enumerate(values)) { // what was captured stands behind the arguments
    const ast::Parameter *parameter = i < decl.parameters.size() ? &decl.parameters[i] : nullptr;
    relabelAll(relabelAll, value, parameter && parameter->type ? &*parameter->type : nullptr, ranges[i]);
  }
  for (const auto &entry : back)
    sizes[entry.first()] = entry.second;
  return sizes;
}

void bindSizes(IRGen &g, const ast::Function &decl, ArrayRef<RValue> arguments) {
  FunctionState &state = g.fn();
  state.declaredSizes = sizeNamesOf(g, decl);
  SizeBinder binder(g);
  for (auto [parameter, value] : llvm::zip_equal(decl.parameters, arguments))
    if (state.declaredSizes.count(parameter.name)) {
      Dim name = Dim::symbol(g.context, parameter.name);
      Value n = indexValue(g, value, parameter.range, decl.name);
      if (auto known = constantOf(n))
        state.facts.assume(SizeFact::equal(name, g.number(*known)));
      state.sizeNames[n] = name;
      binder.know(parameter.name, name, n);
    }
  for (auto [parameter, value] : llvm::zip_equal(decl.parameters, arguments))
    if (parameter.type) {
      binder.declare(*parameter.type, value, decl.nameRange, "", nullptr);
      collectDeclared(g, *parameter.type,
                      [&](Dim dim, const ast::Expr &) { state.facts.assume(SizeFact::atLeast(dim, g.number(0))); });
    }
  for (Dim zero : sizeEquations(g, decl, state.declaredSizes))
    binder.declareZero(zero);
  (void)binder.solve();
  for (const std::string &name : state.declaredSizes) {
    Value value = binder.valueOf(Dim::symbol(g.context, name), decl.nameRange);
    state.sizeValues[name] = value;
    state.scopes.front().try_emplace(name, Variable{RValue(value)});
  }
}

/// A value under a declared type of a result, a local or a member. Names that `known` does not have are bound by it.
static RValue declaredAs(IRGen &g, RValue value, const ast::TypeExpr &type, const std::string &name, SourceRange range,
                         SizeBinder &binder) {
  value = widened(g, value, type, name, range);
  binder.declare(type, value, range, "actual and declared size of `" + name + "`",
                 [&g, name, range](const ast::TypeExpr &type, const RValue &value, int64_t, Dim) {
                   g.fail(DiagId::DeclaredType, range, {name, ast::str(type), value.type().str()});
                 });
  return value;
}

RValue declaredResult(IRGen &g, RValue value, SourceRange range) {
  const ast::Function &decl = *g.fn().decl;
  SizeBinder binder(g);
  for (auto &[name, size] : g.fn().sizeValues)
    binder.know(name, Dim::symbol(g.context, name), size);
  value = declaredAs(g, value, *decl.result, decl.name, range, binder);
  (void)binder.solve();
  binder.require();
  auto refine = [&](auto &self, const ast::TypeExpr &type, RValue &value) -> void {
    for (auto [element, part] : llvm::zip(type.elements, value.elements))
      self(self, element, part);
    if (!value.isTensor() || type.sizes.empty())
      return;
    SmallVector<Dim> dims = value.tensor().getDims();
    for (auto [axis, dim] : llvm::enumerate(dims))
      if (type.sizes[axis])
        dim = binder.here(sizeDim(g, *type.sizes[axis]));
    value = relabel(g, value.value, value.tensor().withDims(dims), range);
  };
  refine(refine, *decl.result, value);
  return value;
}

/// Names that a declaration may use: sizes of the signature, and variables that are integers.
static void knowVariables(IRGen &g, SizeBinder &binder, const ast::TypeExpr &type) {
  collectDeclared(g, type, [&](Dim dim, const ast::Expr &e) {
    dim.collectSymbols([&](StringRef s) {
      auto v = binder.isKnown(s) ? std::nullopt : readVariable(g, s.str(), e.range);
      if (!v)
        return;
      Value n = indexValue(g, *v, e.range, "a size");
      auto known = sizeBehind(n);
      binder.know(s, known ? *known : Dim::unknown(g.context), n);
    });
  });
}

RValue declaredLocal(IRGen &g, RValue value, const ast::TypeExpr &type, const std::string &name, SourceRange range) {
  SizeBinder binder(g);
  knowVariables(g, binder, type);
  value = declaredAs(g, value, type, name, range, binder);
  for (const std::string &open : binder.solve())
    g.fail(DiagId::UnsolvedSize, type.range, {open});
  binder.require();
  bool scoped = g.fn().decl || g.fn().scopes.size() > 1; // a statement of the top level ends with its names
  for (const SizeSolution &solution : binder.solved())
    if (scoped)
      g.fn().scopes.back()[solution.name] = {RValue(binder.valueOf(Dim::symbol(g.context, solution.name), range)),
                                             false};
  return value;
}

void checkMembers(IRGen &g, const ast::Struct &decl, RValue &value, SourceRange range) {
  SizeBinder binder(g);
  for (auto [member, element] : llvm::zip_equal(decl.members, value.elements))
    if (member.type)
      element = declaredAs(g, element, *member.type, member.name, range, binder);
  for (const std::string &open : binder.solve())
    g.fail(DiagId::UnsolvedSize, decl.nameRange, {open});
  binder.require();
}

RValue makeStruct(IRGen &g, const ast::Struct &decl, std::vector<RValue> values, SourceRange range) {
  if (values.size() != decl.members.size())
    g.fail(DiagId::StructArity, range, {decl.name, std::to_string(decl.members.size()), std::to_string(values.size())});
  RValue out;
  out.kind = RValue::Struct;
  out.structName = decl.name;
  for (auto [i, member] : llvm::enumerate(decl.members)) {
    out.names.push_back(member.name);
    out.elements.push_back(values[i]);
  }
  checkMembers(g, decl, out, range);
  for (RValue &element : out.elements)
    element.settle();
  return out;
}

RValue structValue(IRGen &g, const ast::Struct &decl, const ast::Expr &value) {
  auto *brace = ast::dynCast<ast::Brace>(&value);
  if (!brace)
    return widened(
        g, genExpr(g, value),
        [&] {
          ast::TypeExpr t;
          t.name = decl.name;
          t.range = value.range;
          return t;
        }(),
        decl.name, value.range);
  size_t given = brace->elements.size(), all = decl.members.size();
  if (given > all || (given < all && !decl.members[given].defaultValue))
    g.fail(DiagId::StructArity, value.range,
           {decl.name, std::to_string(decl.members.size()), std::to_string(brace->elements.size())});
  std::vector<RValue> values;
  for (auto [i, element] : llvm::enumerate(brace->elements)) {
    const ast::Struct *inner =
        decl.members[i].type ? g.host.definitions().structure(decl.members[i].type->name) : nullptr;
    if (element->kind == ast::NodeKind::Brace && !inner)
      g.fail(DiagId::BraceValue, element->range);
    values.push_back(inner ? structValue(g, *inner, *element) : genExpr(g, *element));
  }
  for (size_t i = given; i < all; ++i)
    values.push_back(defaultOf(g, decl.members[i], RValue()));
  return makeStruct(g, decl, std::move(values), value.range);
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Statements without control flow: declarations, assignments, output, assertions.
#include "irgen/IRGenImpl.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace toy {

void IRGen::block(const ast::Block &block) {
  fn().scopes.emplace_back();
  for (const ast::StmtPtr &s : block.statements)
    if (reachable())
      statement(*s);
  fn().scopes.pop_back();
}

void IRGen::statement(const ast::Stmt &s) {
  using ast::NodeKind;
  switch (s.kind) {
  case NodeKind::Block:
    return block(ast::cast<ast::Block>(s));
  case NodeKind::Var:
    return var(ast::cast<ast::Var>(s));
  case NodeKind::Assign:
    return assign(ast::cast<ast::Assign>(s));
  case NodeKind::If:
    return ifStatement(ast::cast<ast::If>(s));
  case NodeKind::While:
    return whileStatement(ast::cast<ast::While>(s));
  case NodeKind::For:
    return forStatement(ast::cast<ast::For>(s));
  case NodeKind::Return:
    return returnStatement(ast::cast<ast::Return>(s));
  case NodeKind::Break:
    return leaveLoop(s, true);
  case NodeKind::Continue:
    return leaveLoop(s, false);
  case NodeKind::ExprStmt: {
    auto &e = ast::cast<ast::ExprStmt>(s);
    Val value = expr(*e.value);
    if (value.kind == Val::Nothing || value.kind == Val::DTypeRef)
      return;
    if (e.silenced) {
      SmallVector<Value> leaves;
      value.flatten(leaves);
      create<UseOp>(s.range, leaves);
      return;
    }
    printVals({value}, s.range, true);
    if (!fn().decl)
      define("ans", value, s.range, true);
    return;
  }
  case NodeKind::Print: {
    std::vector<const ast::Expr *> values;
    for (const ast::ExprPtr &value : ast::cast<ast::Print>(s).values)
      values.push_back(value.get());
    return print(values, s.range, false);
  }
  case NodeKind::Write: {
    Val v = expr(*ast::cast<ast::Write>(s).value);
    if (!v.isStr() && !(v.isTensor() && v.tensor().getDtype() == DType::U8))
      fail(DiagId::ArgumentKind, s.range, {"write", "the value", "a string or a u8 tensor", v.type().str()});
    create<WriteOp>(s.range, {v.value});
    return;
  }
  case NodeKind::Assert: {
    auto &a = ast::cast<ast::Assert>(s);
    Value c = condition(*a.condition);
    bool computed = a.text && a.text->kind != NodeKind::String; // only when it is needed
    Block *failing = computed ? newBlock() : nullptr, *on = computed ? newBlock() : nullptr;
    if (computed) {
      cf::CondBranchOp::create(b, loc(s.range), create<TruthOp>(s.range, {c}), on, failing);
      moveTo(failing);
    }
    Val text = a.text ? expr(*a.text) : Val::leaf(string(sourceText(a.condition->range), s.range));
    if (!text.isStr())
      fail(DiagId::ArgumentKind, a.text->range, {"assert", "the text", "a string", text.type().str()});
    create<AssertOp>(s.range, {c, text.value});
    for (const SizeFact &fact : factsOf(*a.condition))
      fn().facts.assume(fact);
    if (computed) {
      cf::BranchOp::create(b, loc(s.range), on);
      moveTo(on);
    }
    return;
  }
  default:
    fail(DiagId::NestedFunction, s.range, {std::string(ast::nameOf(s.kind))});
  }
}

/// The structure of a value for `toy.print`: `_` a leaf, `(_, _)` a tuple, `Pair{a: _, b: _}` a struct.
static std::string structureOf(const Val &v) {
  if (v.kind == Val::Leaf)
    return "_";
  std::string out = v.kind == Val::Tuple ? "(" : v.structName + "{";
  for (auto [i, element] : llvm::enumerate(v.elements))
    out += (i ? ", " : "") + (v.kind == Val::Struct ? v.names[i] + ": " : std::string()) + structureOf(element);
  return out + (v.kind == Val::Tuple ? ")" : "}");
}

void IRGen::print(ArrayRef<const ast::Expr *> values, SourceRange range, bool echo) {
  std::vector<Val> vals;
  for (const ast::Expr *e : values)
    vals.push_back(expr(*e));
  printVals(vals, range, echo);
}

void IRGen::printVals(ArrayRef<Val> values, SourceRange range, bool echo) {
  std::string structure;
  SmallVector<Value> leaves;
  for (auto [i, v] : llvm::enumerate(values)) {
    Val shown = v.kind == Val::DTypeRef ? Val::leaf(string(std::string(nameOf(v.dtype)), range)) : v;
    if (shown.kind == Val::Nothing)
      fail(DiagId::NoValue, range, {"argument " + std::to_string(i + 1)});
    structure += (i ? ";" : "") + structureOf(shown);
    shown.flatten(leaves);
  }
  create<PrintOp>(range, leaves, {stringAttr("structure", structure), boolAttr("echo", echo)});
}

/// Gives a variable its value; `declare` makes it in the innermost scope. Top-level variables are stored at the end of
/// the statement, and before calls of functions that read them.
void IRGen::define(const std::string &name, Val value, SourceRange range, bool declare) {
  if (value.kind == Val::DTypeRef)
    fail(DiagId::FunctionAsValue, range, {std::string(nameOf(value.dtype))},
         "dtypes are arguments and conversions, not values");
  if (value.kind == Val::Nothing)
    fail(DiagId::NoValue, range, {sourceText(range)});
  value.weak = false;
  value.literal = nullptr;
  bool topScope = !fn().decl && fn().scopes.size() == 1;
  Variable *variable = declare ? nullptr : lookup(name);
  if (!variable && !declare) {
    const TypeDesc *global = host.global(name);
    if (!global) {
      Diagnostic &d = report(DiagId::AssignUndeclared, range, {name});
      d.withHelp("declare it: `var " + name + " = …;`");
      throw IRAbort();
    }
    if (fn().decl)
      fail(DiagId::ReadOnlyGlobal, range, {name});
    variable = &fn().scopes.front()[name];
    variable->isGlobal = true;
  }
  if (!variable)
    variable = &fn().scopes.back()[name];
  variable->value = value;
  variable->isGlobal |= topScope && declare;
  if (variable->isGlobal)
    fn().assignedGlobals.insert(name);
}

TypeDesc IRGen::typeOf(const ast::TypeExpr &type) {
  TypeDesc desc;
  if (type.form == ast::TypeExpr::Tuple) {
    desc.kind = TypeDesc::Tuple;
    for (const ast::TypeExpr &element : type.elements)
      desc.elements.push_back(typeOf(element));
    return desc;
  }
  if (type.name == "str" && type.form == ast::TypeExpr::Named) {
    desc.kind = TypeDesc::Leaf;
    desc.leaf = StrType::get(context);
    return desc;
  }
  auto dtype = dtypeNamed(type.name);
  if (!dtype) {
    std::vector<std::string> candidates = host.names();
    for (int i = 0; i < numDTypes; ++i)
      candidates.emplace_back(nameOf(static_cast<DType>(i)));
    Diagnostic &d = report(DiagId::UnknownType, type.range, {type.name});
    if (auto near = suggest(type.name, candidates))
      d.withHelp("did you mean `" + *near + "`?");
    throw IRAbort();
  }
  desc.kind = TypeDesc::Leaf;
  SmallVector<Dim> dims;
  for (const ast::ExprPtr &size : type.sizes)
    dims.push_back(size ? sizeDim(*size) : Dim::unknown(context));
  desc.leaf = TensorType::get(context, *dtype, dims);
  return desc;
}

Val IRGen::widened(Val value, const ast::TypeExpr &type, const std::string &name, SourceRange range) {
  auto refuse = [&](const std::string &declared) {
    fail(DiagId::DeclaredType, range, {name, declared, value.kind == Val::DTypeRef ? "a dtype" : value.type().str()});
  };
  if (type.form == ast::TypeExpr::Tuple) {
    if (value.kind != Val::Tuple || value.elements.size() != type.elements.size())
      refuse(ast::str(type));
    for (size_t i = 0; i < type.elements.size(); ++i)
      value.elements[i] = widened(value.elements[i], type.elements[i], name, range);
    return value;
  }
  if (const ast::Struct *decl = host.definitions().structure(type.name)) {
    if (value.kind != Val::Struct || value.structName != decl->name)
      refuse(decl->name);
    return value;
  }
  if (type.name == "str") {
    if (!value.isStr())
      refuse("str");
    return value;
  }
  if (!value.isTensor())
    refuse(ast::str(type));
  DType have = value.tensor().getDtype(),
        dtype = type.name == "_" ? have : cast<TensorType>(typeOf(type).leaf).getDtype();
  bool widens = have == dtype || value.weak || promote({have}, {dtype}) == dtype;
  if (!widens || kindOf(have) > kindOf(dtype) || value.tensor().getRank() != static_cast<int64_t>(type.sizes.size()))
    refuse(ast::str(type));
  return Val::leaf(castVal(value, dtype, range));
}

Val IRGen::makeStruct(const ast::Struct &decl, std::vector<Val> values, SourceRange range) {
  if (values.size() != decl.members.size())
    fail(DiagId::StructArity, range, {decl.name, std::to_string(decl.members.size()), std::to_string(values.size())});
  Val out;
  out.kind = Val::Struct;
  out.structName = decl.name;
  for (auto [i, member] : llvm::enumerate(decl.members)) {
    out.names.push_back(member.name);
    out.elements.push_back(values[i]);
  }
  checkMembers(decl, out, range);
  for (Val &element : out.elements) {
    element.weak = false;
    element.literal = nullptr;
  }
  return out;
}

/// `{a, b}`, nested braces for members that are structs.
Val IRGen::structValue(const ast::Struct &decl, const ast::Expr &value) {
  auto *brace = ast::dynCast<ast::Brace>(&value);
  if (!brace)
    return widened(
        expr(value),
        [&] {
          ast::TypeExpr t;
          t.name = decl.name;
          t.range = value.range;
          return t;
        }(),
        decl.name, value.range);
  if (brace->elements.size() != decl.members.size())
    fail(DiagId::StructArity, value.range,
         {decl.name, std::to_string(decl.members.size()), std::to_string(brace->elements.size())});
  std::vector<Val> values;
  for (auto [i, element] : llvm::enumerate(brace->elements)) {
    const ast::Struct *inner =
        decl.members[i].type ? host.definitions().structure(decl.members[i].type->name) : nullptr;
    if (element->kind == ast::NodeKind::Brace && !inner)
      fail(DiagId::BraceValue, element->range);
    values.push_back(inner ? structValue(*inner, *element) : expr(*element));
  }
  return makeStruct(decl, std::move(values), value.range);
}

void IRGen::var(const ast::Var &s) {
  if (s.isTuple) {
    Val value = expr(*s.value);
    if (value.kind != Val::Tuple)
      fail(DiagId::NotATuple, s.value->range, {value.type().str()});
    if (value.elements.size() != s.names.size())
      fail(DiagId::TupleSize, s.range, {std::to_string(s.names.size()), std::to_string(value.elements.size())});
    for (size_t i = 0; i < s.names.size(); ++i)
      define(s.names[i], value.elements[i], s.nameRanges[i], true);
    return;
  }
  Val value;
  if (s.type && host.definitions().structure(s.type->name)) {
    value = structValue(*host.definitions().structure(s.type->name), *s.value);
  } else if (s.type && s.value->kind == ast::NodeKind::Brace) {
    fail(DiagId::UnknownType, s.type->range, {s.type->name});
  } else {
    auto *callee = ast::dynCast<ast::Call>(s.value.get());
    if (callee && callee->callee == "load" && s.type && !callee->isMember && !host.definitions().function("load")) {
      // The declared type is the result type; the file is checked against it.
      TypeDesc type = typeOf(*s.type);
      auto bound = bindArguments(*callee, {"path", "name"}, {false, true}, "load");
      Val path = expr(*bound[0].second),
          member = bound[1].second ? expr(*bound[1].second) : Val::leaf(string("", callee->range));
      auto tensor = dyn_cast<TensorType>(type.leaf);
      if (!path.isStr() || !member.isStr() || !tensor)
        fail(DiagId::ArgumentKind, callee->range, {"load", "the path", "a string", path.type().str()});
      SmallVector<Dim> dims = tensor.getDims();
      for (Dim &dim : dims)
        if (!dim.isNumber()) // read off the file, then compared with what is declared
          dim = freshSize();
      value = Val::leaf(
          createOp<LoadOp>(s.value->range, {path.value, member.value}, {}, {}, TypeRange(Type(tensor.withDims(dims))))
              ->getResult(0));
    } else if (s.type && s.value->kind == ast::NodeKind::Bracket && dtypeNamed(s.type->name))
      value = bracket(ast::cast<ast::Bracket>(*s.value),
                      kindOf(*dtypeNamed(s.type->name)) >= DKind::Float ? dtypeNamed(s.type->name) : std::nullopt);
    else
      value = expr(*s.value);
    if (s.type)
      value = declaredLocal(value, *s.type, s.names[0], s.value->range);
  }
  if (s.shape) {
    needTensor(value, "var<>", s.value->range);
    SmallVector<Value> sizes;
    for (int64_t n : *s.shape)
      sizes.push_back(integer(n, s.shapeRange));
    // A scalar fills, anything else is reshaped; numbers are f64 as inside brackets.
    if (value.tensor().getRank() == 0) {
      Value x = kindOf(value.tensor().getDtype()) == DKind::Int && value.weak
                    ? castVal(value, DType::F64, s.value->range)
                    : value.value;
      SmallVector<Value> operands = {x};
      llvm::append_range(operands, sizes);
      value = Val::leaf(create<FullOp>(s.range, operands));
    } else {
      auto count = value.tensor().getStaticCount();
      int64_t want = 1;
      for (int64_t n : *s.shape)
        want *= n;
      if (count && *count != want)
        fail(DiagId::ShapeRank, s.shapeRange,
             {llvm::join(llvm::map_range(*s.shape, [](int64_t n) { return std::to_string(n); }), ", "),
              std::to_string(*count), value.type().str()});
      value = Val::leaf(reshape(value.value, sizes, s.range));
    }
  }
  define(s.names[0], value, s.nameRanges[0], true);
}

/// The base with the part that a path of indices and members selects replaced.
Val IRGen::updated(const Val &base, ArrayRef<const ast::Expr *> path, const Val &value, SourceRange range,
                   SourceRange valueRange) {
  if (path.empty())
    return value;
  if (auto *m = ast::dynCast<ast::Member>(path[0])) {
    if (base.kind == Val::Struct)
      for (auto [i, known] : llvm::enumerate(base.names))
        if (known == m->member) {
          Val out = base;
          out.elements[i] = updated(base.elements[i], path.drop_front(), value, range, valueRange);
          if (const ast::Struct *decl = host.definitions().structure(base.structName);
              decl && decl->members.size() == base.names.size())
            checkMembers(*decl, out, valueRange);
          out.elements[i].weak = false;
          out.elements[i].literal = nullptr;
          return out;
        }
    if (base.isTensor() && base.tensor().isComplex() && (m->member == "real" || m->member == "imag") &&
        path.size() == 1) {
      Value re = create<RealOp>(range, {base.value}), im = create<ImagOp>(range, {base.value});
      TensorType target = base.tensor().withDType(realOf(base.tensor().getDtype()));
      needTensor(value, m->member, valueRange);
      if (value.tensor().isComplex())
        fail(DiagId::ComplexStore, valueRange, {value.type().str(), target.str()});
      bool fits = value.tensor().getRank() <= target.getRank();
      for (int64_t i = 1; fits && i <= value.tensor().getRank(); ++i) {
        Dim from = value.tensor().getDim(value.tensor().getRank() - i), to = target.getDim(target.getRank() - i);
        fits = from.is(1) || from == to || !(from - to).isNumber();
      }
      if (!fits)
        fail(DiagId::CannotStore, valueRange, {value.type().str(), target.str()});
      Value part = castVal(value, target.getDtype(), valueRange);
      if (target.getRank() > 0)
        part = broadcastTo(part, sizesOf(base.value, range), range);
      return Val::leaf(create<ComplexOp>(range, m->member == "real" ? ValueRange{part, im} : ValueRange{re, part}));
    }
    fail(DiagId::UnknownMember, m->memberRange, {base.type().str(), m->member});
  }
  auto &e = ast::cast<ast::Index>(*path[0]);
  if (base.kind == Val::Tuple)
    fail(DiagId::NotAssignable, range, {"an element of a tuple"});
  needTensor(base, "index", e.base->range);
  Plan plan = planIndex(base, e.subscripts, e.range);
  Val part = value;
  if (path.size() > 1)
    part = updated(applyPlan(base.value, plan, e.range), path.drop_front(), value, range, valueRange);
  needTensor(part, "=", valueRange);
  return Val::leaf(storePlan(base.value, plan, part, e.range, valueRange));
}

void IRGen::assignTo(const ast::Expr &target, Val value, SourceRange range) {
  if (auto *tuple = ast::dynCast<ast::Tuple>(&target)) {
    if (value.kind != Val::Tuple)
      fail(DiagId::NotATuple, range, {value.type().str()});
    if (value.elements.size() != tuple->elements.size())
      fail(DiagId::TupleSize, target.range,
           {std::to_string(tuple->elements.size()), std::to_string(value.elements.size())});
    for (size_t i = 0; i < tuple->elements.size(); ++i)
      assignTo(*tuple->elements[i], value.elements[i], range);
    return;
  }
  SmallVector<const ast::Expr *> path;
  const ast::Expr *base = &target;
  while (base->kind != ast::NodeKind::Name) {
    path.insert(path.begin(), base);
    base = base->kind == ast::NodeKind::Index ? ast::cast<ast::Index>(*base).base.get()
                                              : ast::cast<ast::Member>(*base).base.get();
  }
  auto &name = ast::cast<ast::Name>(*base);
  if (!path.empty()) {
    bool found;
    Val old = readVariable(name.name, name.range, found);
    if (!found)
      unknownName(name.name, name.range, false);
    value = updated(old, path, value, target.range, range);
  }
  define(name.name, value, name.range, false);
}

void IRGen::assign(const ast::Assign &s) {
  if (!s.op)
    return assignTo(*s.target, expr(*s.value), s.value->range);
  if (s.target->kind == ast::NodeKind::Tuple)
    fail(DiagId::NotAssignable, s.target->range, {"a tuple with an operator"});
  Val old = expr(*s.target), value = expr(*s.value);
  assignTo(*s.target, binary(*s.op, old, value, s.range, s.opRange, s.target->range, s.value->range), s.value->range);
}

} // namespace toy

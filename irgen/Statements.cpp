// SPDX-License-Identifier: Apache-2.0
/// \file
/// Statements without control flow: declarations, assignments, output, assertions.
#include "irgen/Statements.h"
#include "irgen/Pictures.h"

#include "irgen/Decisions.h"
#include "irgen/Declarations.h"
#include "irgen/Expressions.h"
#include "irgen/Functions.h"
#include "irgen/Indexing.h"
#include "irgen/Lists.h"
#include "irgen/Operations.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace toy {

void printedLeaves(const RValue &v, SmallVectorImpl<Value> &leaves) {
  if (v.kind == RValue::Leaf)
    leaves.push_back(v.value);
  size_t before = leaves.size();
  if (v.kind != RValue::Function && !isPicture(v))
    for (const RValue &element : v.elements)
      printedLeaves(element, leaves);
  if (SmallVector<Value> all; v.isList() && leaves.size() == before) { // one says how many elements there are
    v.flatten(all);
    leaves.append(all.begin(), all.begin() + !all.empty());
  }
}

/// Lists whose elements the runtime shows as they are have leaves, or such lists, as elements. Others are trees.
static std::string listStructure(const RValue &v) {
  if (v.elements.empty())
    return "$6:list()";
  const RValue *inner = &v;
  while (inner->isList())
    inner = &inner->elements[0];
  if (inner->kind == RValue::Leaf)
    return "_";
  std::string text = v.type().str();
  SmallVector<Value> shown;
  printedLeaves(v.elements[0], shown);
  return "[" + std::to_string(text.size()) + ":" + text + structureOf(v.elements[0]) + (shown.empty() ? "_]" : "]");
}

std::string structureOf(const RValue &v) {
  if (v.kind == RValue::Leaf)
    return "_";
  if (v.isCallable()) {
    std::string text = v.kind == RValue::DTypeRef ? std::string(nameOf(v.dtype)) : v.type().str();
    return "$" + std::to_string(text.size()) + ":" + text;
  }
  if (v.isList())
    return listStructure(v);
  if (isPicture(v)) // one among other values is not drawn
    return "$7:picture";
  std::string out = v.kind == RValue::Tuple ? "(" : v.structName + "{";
  for (auto [i, element] : llvm::enumerate(v.elements))
    out += (i ? ", " : "") + (v.kind == RValue::Struct ? v.names[i] + ": " : std::string()) + structureOf(element);
  return out + (v.kind == RValue::Tuple ? ")" : "}");
}

static void printValues(IRGen &g, ArrayRef<RValue> values, SourceRange range, bool echo) {
  std::string structure;
  SmallVector<Value> leaves;
  for (auto [i, given] : llvm::enumerate(values)) {
    if (given.kind == RValue::Nothing)
      g.fail(DiagId::NoValue, range, {"argument " + std::to_string(i + 1)});
    RValue v = isPicture(given) ? textOf(g, given, Value(), range) : given;
    structure += (i ? ";" : "") + structureOf(v);
    printedLeaves(v, leaves);
  }
  g.create<PrintOp>(range, leaves, {g.stringAttr("structure", structure), g.boolAttr("echo", echo)});
}

static RValue word(IRGen &g, const ast::Expr *e, const char *name, const char *usual, SourceRange range) {
  RValue v = e ? genExpr(g, *e) : RValue(g.string(usual, range));
  if (!v.isStr())
    g.fail(DiagId::ArgumentKind, e->range, {"print", "`" + std::string(name) + "`", "a string", v.str()});
  return v;
}

void genPrint(IRGen &g, ArrayRef<const ast::Expr *> values, const PrintWords &words, SourceRange range) {
  std::vector<RValue> vals;
  for (const ast::Expr *e : values)
    vals.push_back(genExpr(g, *e));
  if (!words.sep && !words.end && !words.to) {
    if (vals.size() == 1 && isPicture(vals[0]))
      return showPicture(g, vals[0], range);
    return printValues(g, vals, range, false);
  }
  RValue sep = word(g, words.sep, "sep", " ", range), end = word(g, words.end, "end", "\n", range);
  std::string to = words.to ? staticString(g, *words.to, "print") : "stdout";
  if (to != "stdout" && to != "stderr")
    g.fail(DiagId::ArgumentKind, words.to->range,
           {"print", "`to`", "\"stdout\" or \"stderr\"", g.sourceText(words.to->range)});
  Operation *write = g.createOp<WriteOp>(range, {joinedText(g, vals, sep, end, range)});
  if (to == "stderr")
    write->setAttr("to_errors", g.b.getUnitAttr());
}

static bool isListCall(IRGen &g, const ast::Call *call) {
  return isCallOf(g, call, "list") &&
         llvm::all_of(call->arguments, [](const ast::Argument &argument) { return argument.keyword.empty(); });
}

/// `var xs: list[f64] = list(1, 2);`: the elements are read under the declared type.
static RValue genList(IRGen &g, const ast::Call &call, const ValueType &element) {
  std::vector<RValue> values;
  SmallVector<SourceRange> ranges;
  for (const ast::Argument &argument : call.arguments) {
    values.push_back(genExpr(g, *argument.value));
    ranges.push_back(argument.value->range);
  }
  return makeList(g, std::move(values), ranges, call.range, element);
}

/// The value of a declaration, under its type.
static RValue genDeclared(IRGen &g, const ast::Var &s) {
  if (!s.type)
    return genExpr(g, *s.value);
  auto *callee = ast::dynCast<ast::Call>(s.value.get());
  bool isLoad = isCallOf(g, callee, "load");
  if (const ast::Struct *decl = g.host.definitions().structure(s.type->name))
    return isLoad ? loadedStruct(g, *callee, *decl) : structValue(g, *decl, *s.value);
  if (s.value->kind == ast::NodeKind::Brace)
    g.fail(DiagId::UnknownType, s.type->range, {s.type->name});
  auto dtype = dtypeNamed(s.type->name);
  RValue value;
  if (isLoad)
    value = loadedValue(g, *callee, *s.type);
  else if (s.value->kind == ast::NodeKind::Bracket && dtype)
    value = genBracket(g, ast::cast<ast::Bracket>(*s.value), kindOf(*dtype) >= DKind::Float ? dtype : std::nullopt);
  else if (s.type->form == ast::TypeExpr::List && isWhole(g, *s.type) && isListCall(g, callee))
    value = genList(g, *callee, typeOf(g, s.type->elements[0]));
  else
    value = genExpr(g, *s.value);
  return declaredLocal(g, value, *s.type, s.names[0], s.value->range);
}

/// `var x<2, 3> = …`: a scalar fills, anything else is reshaped; numbers are f64 as inside brackets.
static Value shaped(IRGen &g, const RValue &value, const ast::Var &s) {
  needTensor(g, value, "var<>", s.value->range);
  SmallVector<Value> sizes;
  int64_t want = 1;
  for (int64_t n : *s.shape) {
    sizes.push_back(g.integer(n, s.shapeRange));
    want *= n;
  }
  if (value.rank() == 0) {
    bool isInteger = kindOf(value.tensor().getDtype()) == DKind::Int && value.weak;
    Value x = isInteger ? castVal(g, value, DType::F64, s.value->range) : value.value;
    return g.create<FullOp>(s.range, join(x, sizes));
  }
  if (auto count = value.tensor().getStaticCount(); count && *count != want)
    g.fail(DiagId::ShapeRank, s.shapeRange,
           {llvm::join(llvm::map_range(*s.shape, [](int64_t n) { return std::to_string(n); }), ", "),
            std::to_string(*count), value.type().str()});
  return reshape(g, value.value, sizes, s.range);
}

/// What a function gives that returns nothing is no value.
static void needValue(IRGen &g, const RValue &value, SourceRange range) {
  if (value.kind == RValue::Nothing)
    g.fail(DiagId::NoValue, range, {g.sourceText(range)});
}

static constexpr const char *namesAndValues = "the numbers of names and of values";

/// The rows of a tensor, of which there have to be so many.
static std::vector<RValue> rowsOf(IRGen &g, Value x, int64_t count, SourceRange range, SourceRange names) {
  Dim rows = tensorTypeOf(x).getDim(0), wanted = g.number(count);
  std::string text = std::to_string(count);
  auto refuse = [&] {
    if (rows.isNumber()) {
      failLater(g, x, {DiagId::SizesDiffer, {namesAndValues, text, rows.str()}, names});
      g.fail(DiagId::TupleSize, names, {text, rows.str()});
    }
    g.fail(DiagId::NotProvable, range, {"that the size " + rows.str() + " is " + text});
  };
  requireFact(g, SizeFact::equal(rows, wanted), range, refuse, [&] {
    const std::set<std::string> &declared = g.fn().declaredSizes;
    if (!declared.empty() && !rows.isUnknown() && isDeclared(rows, declared))
      g.fail(DiagId::NotProvable, range, {"that the size " + rows.str() + " is " + text},
             "write `where " + rows.str() + " == " + text + "` behind the signature");
    g.create<CheckEqualOp>(range, {g.integer(count, range), sizeOf(g, x, 0, range)},
                           {g.stringAttr("what", namesAndValues)});
  });
  if (rows != wanted)
    x = withSize(g, x, 0, wanted, range);
  std::vector<RValue> out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(selectIndex(g, x, 0, g.integer(i, range), range));
  return out;
}

RValue takenApart(IRGen &g, const RValue &value, size_t count, SourceRange range, SourceRange names) {
  if (value.isTensor() && value.rank() > 0)
    return RValue::tuple(rowsOf(g, value.value, static_cast<int64_t>(count), range, names));
  if (value.isList()) {
    if (value.elements.empty())
      needListType(g, "…", range);
    g.create<CheckEqualOp>(range, {g.integer(static_cast<int64_t>(count), range), listLength(g, value, range)},
                           {g.stringAttr("what", namesAndValues)});
    std::vector<RValue> elements;
    for (size_t i = 0; i < count; ++i)
      elements.push_back(listElement(g, value, g.integer(static_cast<int64_t>(i), range), range));
    return RValue::tuple(std::move(elements));
  }
  if (value.kind != RValue::Tuple)
    g.fail(DiagId::NotATuple, range, {value.type().str()});
  if (value.elements.size() != count)
    g.fail(DiagId::TupleSize, names, {std::to_string(count), std::to_string(value.elements.size())});
  return value;
}

static void genVar(IRGen &g, const ast::Var &s) {
  if (s.isTuple) {
    RValue value = takenApart(g, genExpr(g, *s.value), s.names.size(), s.value->range, s.range);
    for (size_t i = 0; i < s.names.size(); ++i)
      defineVariable(g, s.names[i], value.elements[i], s.nameRanges[i], true);
    return;
  }
  RValue value = genDeclared(g, s);
  needValue(g, value, s.value->range);
  defineVariable(g, s.names[0], s.shape ? shaped(g, value, s) : value, s.nameRanges[0], true);
}

/// The base with the part that a path of indices and members selects replaced.
static RValue updatedPart(IRGen &g, const RValue &base, ArrayRef<const ast::Expr *> path, const RValue &value,
                          SourceRange range, SourceRange valueRange) {
  if (path.empty())
    return value;
  if (auto *m = ast::dynCast<ast::Member>(path[0])) {
    if (base.kind == RValue::Struct)
      for (auto [i, known] : llvm::enumerate(base.names))
        if (known == m->member) {
          g.host.usesMember(base.structName, m->member, m->memberRange);
          RValue out = base;
          out.elements[i] = updatedPart(g, base.elements[i], path.drop_front(), value, range, valueRange);
          if (const ast::Struct *decl = g.host.definitions().structure(base.structName);
              decl && decl->members.size() == base.names.size())
            checkMembers(g, *decl, out, valueRange);
          out.elements[i].settle();
          return out;
        }
    if (base.isTensor() && base.tensor().isComplex() && (m->member == "real" || m->member == "imag")) {
      Value re = g.create<RealOp>(range, {base.value}), im = g.create<ImagOp>(range, {base.value});
      TensorType target = base.tensor().withDType(realOf(base.tensor().getDtype()));
      const RValue now = m->member == "real" ? re : im;
      const RValue stored = updatedPart(g, now, path.drop_front(), value, range, valueRange);
      needTensor(g, stored, m->member, valueRange);
      if (stored.tensor().isComplex())
        g.fail(DiagId::ComplexStore, valueRange, {stored.type().str(), target.str()});
      bool fits = stored.rank() <= target.getRank();
      for (int64_t i = 1; fits && i <= stored.rank(); ++i) {
        Dim from = stored.tensor().getDim(stored.rank() - i), to = target.getDim(target.getRank() - i);
        fits = from.is(1) || from == to || !(from - to).isNumber();
        if (!fits)
          failLater(g, stored.value, {DiagId::SizesDiffer, {"sizes of a broadcast", from.str(), to.str()}, valueRange});
      }
      if (!fits)
        g.fail(DiagId::CannotStore, valueRange, {stored.type().str(), target.str()});
      Value part = castVal(g, stored, target.getDtype(), valueRange);
      if (target.getRank() > 0)
        part = broadcastTo(g, part, sizesOf(g, base.value, range), range);
      return g.create<ComplexOp>(range, m->member == "real" ? ValueRange{part, im} : ValueRange{re, part});
    }
    g.fail(DiagId::UnknownMember, m->memberRange, {base.type().str(), m->member});
  }
  auto &e = ast::cast<ast::Index>(*path[0]);
  if (base.kind == RValue::Tuple)
    g.fail(DiagId::NotAssignable, range, {"an element of a tuple"});
  if (base.isList()) {
    Value index = listIndex(g, base, e.subscripts, e.range);
    RValue element = value;
    if (path.size() > 1)
      element = updatedPart(g, listElement(g, base, index, e.range), path.drop_front(), value, range, valueRange);
    return withElement(g, base, index, element, e.range, valueRange);
  }
  needTensor(g, base, "index", e.base->range);
  IndexPlan plan = planIndex(g, base, e.subscripts, e.range);
  RValue part = value;
  if (path.size() > 1)
    part = updatedPart(g, applyPlan(g, base.value, plan, e.range), path.drop_front(), value, range, valueRange);
  needTensor(g, part, "=", valueRange);
  return storeIndexed(g, base.value, plan, part, e.range, valueRange);
}

static void assignTo(IRGen &g, const ast::Expr &target, RValue value, SourceRange range) {
  if (auto *tuple = ast::dynCast<ast::Tuple>(&target)) {
    value = takenApart(g, value, tuple->elements.size(), range, target.range);
    for (size_t i = 0; i < tuple->elements.size(); ++i)
      assignTo(g, *tuple->elements[i], value.elements[i], range);
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
    auto old = readVariable(g, name.name, name.range);
    if (!old)
      unknownName(g, name.name, name.range, false);
    value = updatedPart(g, *old, path, value, target.range, range);
  }
  defineVariable(g, name.name, value, name.range, false);
}

/// The subscripts of a target that is read and stored, which are evaluated once and before both.
static SmallVector<const ast::Expr *> subscriptsOf(const ast::Expr &target) {
  SmallVector<const ast::Expr *> out;
  if (auto *member = ast::dynCast<ast::Member>(&target))
    return subscriptsOf(*member->base);
  auto *index = ast::dynCast<ast::Index>(&target);
  if (!index)
    return out;
  out = subscriptsOf(*index->base);
  for (const ast::Subscript &s : index->subscripts)
    for (const ast::ExprPtr *e : {&s.value, &s.start, &s.stop, &s.step})
      if (*e)
        out.push_back(e->get());
  return out;
}

static void genAssign(IRGen &g, const ast::Assign &s) {
  if (!s.op) {
    RValue value = genExpr(g, *s.value);
    needValue(g, value, s.value->range);
    return assignTo(g, *s.target, value, s.value->range);
  }
  if (s.target->kind == ast::NodeKind::Tuple)
    g.fail(DiagId::NotAssignable, s.target->range, {"a tuple with an operator"});
  SmallVector<const ast::Expr *> subscripts = subscriptsOf(*s.target);
  llvm::scope_exit forget([&] {
    for (const ast::Expr *e : subscripts)
      g.given.erase(e);
  });
  for (const ast::Expr *e : subscripts) {
    RValue value = genPositions(g, *e);
    g.given[e] = value;
  }
  RValue old = genExpr(g, *s.target), value = genExpr(g, *s.value);
  assignTo(g, *s.target, binaryOperation(g, *s.op, old, value, s.range, s.opRange, s.target->range, s.value->range),
           s.value->range);
}

void genWrite(IRGen &g, const ast::Expr &e, SourceRange range) {
  RValue v = genExpr(g, e);
  if (!v.isStr() && !(v.isTensor() && v.tensor().getDtype() == DType::U8))
    g.fail(DiagId::ArgumentKind, range, {"write", "the value", "a string or a u8 tensor", v.type().str()});
  g.create<WriteOp>(range, {v.value});
}

/// `xs.append(x);` changes nothing.
static void needUse(IRGen &g, const ast::Expr &e) {
  auto *call = ast::dynCast<ast::Call>(&e);
  if (!call || call->callee != "append" || call->arguments.empty() || lookup(g, "append") || userFunction(g, "append"))
    return;
  std::string list = g.sourceText(call->arguments[0].value->range), arguments;
  for (const ast::Argument &argument : call->arguments)
    arguments += (arguments.empty() ? "" : ", ") + g.sourceText(argument.value->range);
  std::string help = "`" + list + " = append(" + arguments + ");`";
  g.fail(DiagId::UnusedResult, e.range, {"append"}, help.size() < 120 ? help : "");
}

/// An expression as a statement: its value is shown, unless `;` silences it.
static void genEcho(IRGen &g, const ast::ExprStmt &s) {
  RValue value = genExpr(g, *s.value);
  if (s.silenced)
    needUse(g, *s.value);
  if (value.kind == RValue::Nothing)
    return;
  if (s.silenced) {
    SmallVector<Value> leaves;
    value.flatten(leaves);
    g.create<UseOp>(s.range, leaves);
    return;
  }
  if (isPicture(value))
    showPicture(g, value, s.range);
  else
    printValues(g, {value}, s.range, true);
  if (!g.fn().decl)
    defineVariable(g, "ans", value, s.range, true);
}

static void genAssert(IRGen &g, const ast::Assert &s) {
  Value c = genCondition(g, *s.condition);
  bool computed = s.text && s.text->kind != ast::NodeKind::String; // only when it is needed
  Block *failing = computed ? newBlock(g) : nullptr, *on = computed ? newBlock(g) : nullptr;
  if (computed) {
    cf::CondBranchOp::create(g.b, g.loc(s.range), g.create<TruthOp>(s.range, {c}), on, failing);
    moveTo(g, failing);
  }
  RValue text = s.text ? genExpr(g, *s.text) : RValue(g.string(g.sourceText(s.condition->range), s.range));
  if (!text.isStr())
    g.fail(DiagId::ArgumentKind, s.text->range, {"assert", "the text", "a string", text.type().str()});
  g.create<AssertOp>(s.range, {c, text.value});
  for (const SizeFact &fact : factsOf(g, *s.condition))
    g.fn().facts.assume(fact);
  if (computed) {
    cf::BranchOp::create(g.b, g.loc(s.range), on);
    moveTo(g, on);
  }
}

static void genPrint(IRGen &g, const ast::Print &s) {
  std::vector<const ast::Expr *> values;
  PrintWords words;
  for (const ast::Argument &argument : s.arguments) {
    const ast::Expr **word = argument.keyword.empty()    ? nullptr
                             : argument.keyword == "sep" ? &words.sep
                             : argument.keyword == "end" ? &words.end
                             : argument.keyword == "to"  ? &words.to
                                                         : nullptr;
    if (word)
      *word = argument.value.get();
    else if (argument.keyword.empty())
      values.push_back(argument.value.get());
    else
      unknownArgument(g, "print", argument, {"sep", "end", "to"});
  }
  genPrint(g, values, words, s.range);
}

static void genReached(IRGen &g, const ast::Stmt &s) {
  using ast::NodeKind;
  switch (s.kind) {
  case NodeKind::Block:
    return genBlock(g, ast::cast<ast::Block>(s));
  case NodeKind::Var:
    return genVar(g, ast::cast<ast::Var>(s));
  case NodeKind::Assign:
    return genAssign(g, ast::cast<ast::Assign>(s));
  case NodeKind::If:
    return genIf(g, ast::cast<ast::If>(s));
  case NodeKind::While:
    return genWhile(g, ast::cast<ast::While>(s));
  case NodeKind::For:
    return genFor(g, ast::cast<ast::For>(s));
  case NodeKind::Try:
    return genTry(g, ast::cast<ast::Try>(s));
  case NodeKind::Return:
    return genReturn(g, ast::cast<ast::Return>(s));
  case NodeKind::Break:
    return leaveLoop(g, s, true);
  case NodeKind::Continue:
    return leaveLoop(g, s, false);
  case NodeKind::ExprStmt:
    return genEcho(g, ast::cast<ast::ExprStmt>(s));
  case NodeKind::Print:
    return genPrint(g, ast::cast<ast::Print>(s));
  case NodeKind::Function: {
    auto &f = ast::cast<ast::Function>(s);
    return defineVariable(g, f.name, closureOf(g, f), f.nameRange, true);
  }
  case NodeKind::Write:
    return genWrite(g, *ast::cast<ast::Write>(s).value, s.range);
  case NodeKind::Assert:
    return genAssert(g, ast::cast<ast::Assert>(s));
  default:
    g.fail(DiagId::NestedFunction, s.range, {std::string(ast::nameOf(s.kind))});
  }
}

void genStatement(IRGen &g, const ast::Stmt &s) {
  if (g.host.compileOptions().stops && s.kind != ast::NodeKind::While) // each turn of which begins with one
    genStep(g, s);
  genGuarded(g, [&] { genReached(g, s); });
}

} // namespace toy

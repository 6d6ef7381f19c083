// SPDX-License-Identifier: Apache-2.0
/// \file
/// Expressions, names, members, conditions, and arguments that must be constants.
#include "irgen/IRGenImpl.h"

#include <cmath>

using namespace mlir;

namespace toy {

Val IRGen::expr(const ast::Expr &e) {
  using ast::NodeKind;
  switch (e.kind) {
  case NodeKind::Name:
    return name(ast::cast<ast::Name>(e));
  case NodeKind::Number:
    return number(ast::cast<ast::Number>(e));
  case NodeKind::Bool:
    return Val::leaf(boolean(ast::cast<ast::Bool>(e).value, e.range));
  case NodeKind::String:
    return Val::leaf(string(ast::cast<ast::String>(e).text, e.range));
  case NodeKind::Bracket:
    return bracket(ast::cast<ast::Bracket>(e));
  case NodeKind::Unary: {
    auto &u = ast::cast<ast::Unary>(e);
    if (u.op == ast::UnaryOp::Neg && isLiteral(e)) {
      auto &n = ast::cast<ast::Number>(*u.operand);
      Val val = Val::leaf(numberAs(e, n.form == ast::Number::Integer ? DType::I64
                                      : n.form == ast::Number::Float ? DType::F64
                                                                     : DType::C128));
      val.weak = true;
      val.literal = &e;
      return val;
    }
    return unary(u.op, expr(*u.operand), e.range);
  }
  case NodeKind::Binary: {
    auto &chain = ast::cast<ast::Binary>(e);
    if (chain.steps.front().op >= ast::BinaryOp::And)
      return logical(chain);
    Val left = expr(*chain.first);
    SourceRange leftRange = chain.first->range;
    for (const auto &step : chain.steps) {
      Val right = expr(*step.operand);
      left =
          binary(step.op, left, right, leftRange.to(step.operand->range), step.opRange, leftRange, step.operand->range);
      leftRange = leftRange.to(step.operand->range);
    }
    return left;
  }
  case NodeKind::Call:
    return call(ast::cast<ast::Call>(e));
  case NodeKind::Index:
    return index(ast::cast<ast::Index>(e));
  case NodeKind::Member:
    return member(ast::cast<ast::Member>(e));
  case NodeKind::Adjoint:
    return adjoint(expr(*ast::cast<ast::Adjoint>(e).operand), e.range);
  case NodeKind::Tuple: {
    Val tuple;
    tuple.kind = Val::Tuple;
    for (const ast::ExprPtr &element : ast::cast<ast::Tuple>(e).elements)
      tuple.elements.push_back(expr(*element));
    return tuple;
  }
  default:
    fail(DiagId::BraceValue, e.range);
  }
}

Variable *IRGen::lookup(StringRef name) {
  for (auto &scope : llvm::reverse(fn().scopes))
    if (auto it = scope.find(name.str()); it != scope.end())
      return &it->second;
  return nullptr;
}

void IRGen::unknownName(const std::string &name, SourceRange range, bool isFunction) {
  std::vector<std::string> candidates = host.names();
  for (auto &scope : fn().scopes)
    for (auto &[known, variable] : scope)
      candidates.push_back(known);
  for (const BuiltinInfo &info : allBuiltins())
    candidates.push_back(info.name);
  Diagnostic &d = report(isFunction ? DiagId::UnknownFunction : DiagId::UnknownName, range, {name});
  if (auto near = suggest(name, candidates))
    d.withHelp("did you mean `" + *near + "`?");
  throw IRAbort();
}

/// Locals first, then top-level variables (in functions: their latest value).
/// What a top-level variable holds, from its leaves.
Val IRGen::globalValue(const std::string &name, const TypeDesc &type, SourceRange range) {
  SmallVector<Type> leaves;
  type.flatten(leaves);
  SmallVector<Value> values;
  for (auto [i, leaf] : llvm::enumerate(leaves))
    values.push_back(
        createOp<GlobalLoadOp>(
            range, {}, {stringAttr("name", leaves.size() == 1 ? name : name + "." + std::to_string(i))}, {}, leaf)
            ->getResult(0));
  ValueRange rest(values);
  return unflatten(type, rest);
}

Val IRGen::readVariable(const std::string &name, SourceRange range, bool &found) {
  found = true;
  if (Variable *variable = lookup(name))
    return variable->value;
  if (auto known = fn().readGlobals.find(name); known != fn().readGlobals.end())
    return known->second;
  std::optional<TypeDesc> type = globalType(name);
  if (!type) {
    found = false;
    return {};
  }
  // At the top level the value is there: integers are constants, so that sizes made of them are known.
  auto known = fn().decl ? std::nullopt : host.globalInteger(name);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&fn().op.getBody().front()); // where it is seen from every branch
  if (known) {
    Value v = type->leaf == TensorType::scalar(context, DType::Bool) ? boolean(*known, range) : integer(*known, range);
    Val value = Val::leaf(v);
    fn().scopes.front()[name] = {value, true};
    return value;
  }
  Val value = globalValue(name, *type, range);
  if (fn().decl)
    fn().readGlobals[name] = value;
  else // nobody else changes it while the statement runs
    fn().scopes.front()[name] = {value, true};
  return value;
}

Val IRGen::name(const ast::Name &n) {
  bool found;
  Val value = readVariable(n.name, n.range, found);
  if (found)
    return value;
  if (auto dtype = dtypeNamed(n.name)) {
    Val val;
    val.kind = Val::DTypeRef;
    val.dtype = *dtype;
    return val;
  }
  for (auto [constant, x] : {std::pair<const char *, double>{"pi", M_PI}, {"inf", INFINITY}, {"nan", NAN}})
    if (n.name == constant) {
      Val val = Val::leaf(floating(x, DType::F64, n.range));
      val.weak = true;
      return val;
    }
  if (n.name == "args")
    fail(DiagId::FunctionAsValue, n.range, {"args"}, "use `len(args)` and `args[i]`");
  if (host.definitions().function(n.name) || findBuiltin(n.name))
    fail(DiagId::FunctionAsValue, n.range, {n.name}, "call it: `" + n.name + "(…)`");
  unknownName(n.name, n.range, false);
}

Val IRGen::member(const ast::Member &m) {
  Val base = expr(*m.base);
  if (base.kind == Val::Struct)
    for (auto [i, known] : llvm::enumerate(base.names))
      if (known == m.member)
        return base.elements[i];
  if (base.isTensor()) {
    if (m.member == "T")
      return transposeLast(base, m.range);
    if (m.member == "H")
      return adjoint(base, m.range);
    if (m.member == "real" || m.member == "imag") {
      if (base.tensor().isComplex())
        return Val::leaf(create(m.member, m.range, {base.value}));
      return m.member == "real" ? base : zerosLike(base, m.range);
    }
    if (m.member == "dtype") {
      Val val;
      val.kind = Val::DTypeRef;
      val.dtype = base.tensor().getDtype();
      return val;
    }
    if (m.member == "shape") {
      Val tuple;
      tuple.kind = Val::Tuple;
      for (Value size : sizesOf(base.value, m.range))
        tuple.elements.push_back(Val::leaf(size));
      return tuple;
    }
  }
  std::vector<std::string> candidates =
      base.kind == Val::Struct ? base.names : std::vector<std::string>{"T", "H", "real", "imag", "shape", "dtype"};
  Diagnostic &d = report(DiagId::UnknownMember, m.memberRange,
                         {base.kind == Val::DTypeRef ? "a dtype" : base.type().str(), m.member});
  if (auto near = suggest(m.member, candidates))
    d.withHelp("did you mean `." + *near + "`?");
  throw IRAbort();
}

/// `and`/`or`: elementwise on tensors, control flow on scalars.
Val IRGen::logical(const ast::Binary &e) {
  Val left = needTensor(expr(*e.first), "and", e.first->range);
  SourceRange leftRange = e.first->range;
  for (const auto &step : e.steps) {
    bool isAnd = step.op == ast::BinaryOp::And;
    StringRef op = isAnd ? "and" : "or";
    if (left.tensor().getDtype() != DType::Bool)
      fail(DiagId::NeedsBool, leftRange, {op.str(), left.type().str()});
    if (left.tensor().getRank() > 0) {
      Val right = needTensor(expr(*step.operand), op, step.operand->range);
      left = Val::leaf(create(op, step.opRange, {left.value, right.value}, {}, {leftRange, step.operand->range}));
    } else if (auto known = decidesConditions ? knownCondition(left.value, leftRange) : constantOf(left.value)) {
      if ((*known != 0) == isAnd)
        left = needTensor(expr(*step.operand), op, step.operand->range);
    } else {
      Block *more = newBlock(), *join = newBlock();
      Value truth = create<TruthOp>(leftRange, {left.value});
      join->addArgument(left.value.getType(), loc(step.opRange));
      cf::CondBranchOp::create(b, loc(step.opRange), truth, isAnd ? more : join,
                               isAnd ? ValueRange() : ValueRange(left.value), isAnd ? join : more,
                               isAnd ? ValueRange(left.value) : ValueRange());
      moveTo(more);
      ++fn().conditions;
      Val right = needTensor(expr(*step.operand), op, step.operand->range);
      --fn().conditions;
      if (right.tensor().getRank() > 0 || right.tensor().getDtype() != DType::Bool)
        fail(DiagId::NeedsBool, step.operand->range, {op.str(), right.type().str()});
      cf::BranchOp::create(b, loc(step.opRange), join, right.value);
      moveTo(join);
      left = Val::leaf(join->getArgument(0));
    }
    if (left.tensor().getDtype() != DType::Bool)
      fail(DiagId::NeedsBool, step.operand->range, {op.str(), left.type().str()});
    leftRange = leftRange.to(step.operand->range);
  }
  return left;
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
std::vector<SizeFact> IRGen::factsOf(const ast::Expr &e) {
  std::vector<SizeFact> out;
  auto *binary = ast::dynCast<ast::Binary>(&e);
  if (!binary)
    return out;
  if (binary->steps[0].op == ast::BinaryOp::And) {
    std::vector<const ast::Expr *> parts = {binary->first.get()};
    for (const auto &step : binary->steps)
      parts.push_back(step.operand.get());
    for (const ast::Expr *part : parts) {
      std::vector<SizeFact> more = factsOf(*part);
      if (more.empty())
        return {};
      llvm::append_range(out, more);
    }
    return out;
  }
  if (binary->steps.size() != 1 || !isSizeExpression(*binary->first) || !isSizeExpression(*binary->steps[0].operand))
    return out;
  auto sizeOfExpr = [&](const ast::Expr &side) -> std::optional<Dim> {
    Val v = expr(side);
    return v.isTensor() && v.tensor().getRank() == 0 ? sizeBehind(v.value) : std::nullopt;
  };
  auto fact = comparison(binary->steps[0].op, sizeOfExpr(*binary->first), sizeOfExpr(*binary->steps[0].operand));
  return fact ? std::vector{*fact} : out;
}

std::optional<SizeFact> IRGen::comparison(ast::BinaryOp op, std::optional<Dim> a, std::optional<Dim> b) {
  if (!a || !b)
    return std::nullopt;
  Dim one = Dim::number(context, 1);
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

/// A constant, or a comparison of sizes that this form decides.
std::optional<int64_t> IRGen::knownCondition(Value condition, SourceRange range) {
  if (auto known = constantOf(condition))
    return known;
  return decidedCondition(condition, range);
}

Value IRGen::condition(const ast::Expr &e) {
  Val v = expr(e);
  if (!v.isTensor() || v.tensor().getRank() != 0 || v.tensor().getDtype() != DType::Bool) {
    std::string help;
    if (v.isTensor() && v.tensor().getRank() > 0)
      help = "`any(" + sourceText(e.range) + ")` or `all(" + sourceText(e.range) + ")` is one bool";
    else if (v.isTensor())
      help = "write `" + sourceText(e.range) + " != 0`";
    fail(DiagId::NotScalarCondition, e.range, {v.type().str()}, help.size() < 120 ? help : "");
  }
  return v.value;
}

std::optional<int64_t> IRGen::constantOf(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        dense && dense.getNumElements() == 1 && dense.getElementType().isInteger())
      return (*dense.value_begin<APInt>()).getBitWidth() == 1 ? (*dense.value_begin<APInt>()).getZExtValue()
                                                              : (*dense.value_begin<APInt>()).getSExtValue();
  if (auto size = sizeBehind(value); size && size->isNumber())
    return size->value();
  return std::nullopt;
}

std::optional<StringRef> IRGen::stringOf(const Val &value) {
  auto constant = value.isStr() ? value.value.getDefiningOp<StrConstantOp>() : StrConstantOp();
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

std::optional<SmallVector<Attribute>> IRGen::constantLeaves(const Val &value, SourceRange range) {
  SmallVector<Value> leaves;
  value.flatten(leaves);
  SmallVector<Attribute> out;
  for (Value leaf : leaves) {
    if (auto text = stringOf(Val::leaf(leaf))) {
      out.push_back(b.getStringAttr(*text));
      continue;
    }
    auto type = dyn_cast<TensorType>(leaf.getType());
    auto known = type && type.isScalar() ? constantOf(leaf) : std::nullopt;
    if (!known && type && type.isScalar())
      known = decidedInteger(leaf, range);
    if (!known)
      return std::nullopt;
    out.push_back(b.getI64IntegerAttr(*known));
  }
  return out;
}

Val IRGen::constantOf(const TypeDesc &type, ArrayRef<Attribute> leaves, SourceRange range) {
  SmallVector<Type> types;
  type.flatten(types);
  SmallVector<Value> values;
  for (auto [leaf, t] : llvm::zip_equal(leaves, types)) {
    auto number = dyn_cast<IntegerAttr>(leaf);
    if (!number)
      values.push_back(string(mlir::cast<StringAttr>(leaf).getValue(), range));
    else if (DType dtype = mlir::cast<TensorType>(t).getDtype(); dtype == DType::Bool)
      values.push_back(boolean(number.getInt() != 0, range));
    else
      values.push_back(cast(integer(number.getInt(), range), dtype, range));
  }
  ValueRange rest(values);
  return unflatten(type, rest);
}

/// A parameter that must be constant makes its function start again with the caller's constant in its place.
void IRGen::needStatic(Value value) {
  if (fn().decl)
    for (auto [parameter, i] : fn().parameterValues)
      if (parameter == value)
        throw StaticParameterNeeded{fn().decl, i};
}

int64_t IRGen::staticInteger(const ast::Expr &e, StringRef what) {
  Val v = expr(e);
  if (!v.isTensor() || v.tensor().getRank() != 0 || kindOf(v.tensor().getDtype()) > DKind::Int)
    fail(DiagId::ArgumentKind, e.range,
         {what.str(), "the value", "an integer", v.kind == Val::DTypeRef ? "a dtype" : v.type().str()});
  if (auto n = constantOf(v.value))
    return *n;
  if (auto n = decidedInteger(v.value, e.range))
    return *n;
  needStatic(v.value);
  fail(DiagId::StaticNeeded, e.range, {what.str(), "`" + sourceText(e.range) + "`"});
}

bool IRGen::staticBool(const ast::Expr &e, StringRef what) { return staticInteger(e, what) != 0; }

std::string IRGen::staticString(const ast::Expr &e, StringRef what) {
  Val v = expr(e);
  if (auto text = stringOf(v))
    return text->str();
  if (v.isStr())
    needStatic(v.value);
  fail(DiagId::StaticNeeded, e.range, {what.str(), "the text"});
}

DType IRGen::staticDType(const ast::Expr &e) {
  Val v = expr(e);
  if (v.kind != Val::DTypeRef)
    fail(DiagId::ArgumentKind, e.range, {"dtype", "the value", "a dtype", v.type().str()});
  return v.dtype;
}

Value IRGen::indexValue(const Val &v, SourceRange range, StringRef what) {
  if (!v.isTensor() || v.tensor().getRank() != 0 || !isInteger(v.tensor().getDtype()))
    fail(DiagId::ArgumentKind, range,
         {what.str(), "a size or index", "an integer", v.kind == Val::DTypeRef ? "a dtype" : v.type().str()});
  return cast(v.value, DType::I64, range);
}

Value IRGen::indexValue(const ast::Expr &e, StringRef what) { return indexValue(expr(e), e.range, what); }

SmallVector<Value> IRGen::indexList(const ast::Expr &e, StringRef what) {
  SmallVector<Value> out;
  if (auto *bracket = ast::dynCast<ast::Bracket>(&e)) {
    if (bracket->compact && bracket->shape.size() == 1 && bracket->allIntegers) {
      for (ast::Bracket::Part part : bracket->re) {
        int64_t n;
        SourceRange range{e.range.buffer, part.begin, part.begin + part.length};
        if (StringRef(sourceText(range)).getAsInteger(10, n))
          fail(DiagId::LiteralRange, range, {sourceText(range), "i64"});
        out.push_back(integer(part.negative ? -n : n, range));
      }
      return out;
    }
    if (!bracket->compact) {
      for (const ast::ExprPtr &element : bracket->elements)
        out.push_back(indexValue(*element, what));
      return out;
    }
  }
  return indexList(expr(e), e.range, what);
}

SmallVector<Value> IRGen::indexList(Val v, SourceRange range, StringRef what) {
  SmallVector<Value> out;
  if (v.kind == Val::Tuple) {
    for (const Val &element : v.elements)
      out.push_back(indexValue(element, range, what));
    return out;
  }
  if (v.isTensor() && v.tensor().getRank() == 1 && isInteger(v.tensor().getDtype()) &&
      isFree(v.tensor().getDim(0))) { // as many sizes as this form has
    Dim length = v.tensor().getDim(0), number = Dim::number(context, hintOf(length));
    decideSize(SizeFact::equal(length, number), range);
    v = Val::leaf(withSize(v.value, 0, number, range));
  }
  if (v.isTensor() && v.tensor().getRank() == 1 && isInteger(v.tensor().getDtype()) &&
      v.tensor().getDim(0).isNumber()) {
    for (int64_t i = 0; i < v.tensor().getDim(0).value(); ++i)
      out.push_back(cast(select(v.value, 0, integer(i, range), range), DType::I64, range));
    return out;
  }
  return {indexValue(v, range, what)};
}

SmallVector<int64_t> IRGen::staticList(const ast::Expr &e, StringRef what) {
  return staticList(indexList(e, what), e.range, what);
}
SmallVector<int64_t> IRGen::staticList(const Val &v, SourceRange range, StringRef what) {
  return staticList(indexList(v, range, what), range, what);
}

SmallVector<int64_t> IRGen::staticList(ArrayRef<Value> values, SourceRange range, StringRef what) {
  SmallVector<int64_t> out;
  for (Value v : values) {
    auto n = constantOf(v);
    if (!n)
      n = decidedInteger(v, range);
    if (!n) {
      needStatic(v);
      fail(DiagId::StaticNeeded, range, {what.str(), "`" + sourceText(range) + "`"});
    }
    out.push_back(*n);
  }
  return out;
}

Value IRGen::sizeOf(Value x, int64_t axis, SourceRange range) {
  if (Dim dim = tensorTypeOf(x).getDim(axis); dim.isNumber())
    return integer(dim.value(), range);
  return create<DimOp>(range, {x}, {integerAttr("axis", axis)});
}

SmallVector<Value> IRGen::sizesOf(Value x, SourceRange range) {
  SmallVector<Value> out;
  for (int64_t axis = 0; axis < tensorTypeOf(x).getRank(); ++axis)
    out.push_back(sizeOf(x, axis, range));
  return out;
}

} // namespace toy

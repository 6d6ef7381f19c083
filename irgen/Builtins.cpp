// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of built-in functions, and how their handlers read arguments.
#include "irgen/Builtins.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

// Handlers, in Builtin*.cpp.
#define TOY_BUILTIN(NAME, PARAMETERS, GROUP, HANDLER, OP, CONVERSION, DOC)                                             \
  RValue HANDLER(IRGen &g, Bound &args, SourceRange r);
#include "irgen/Builtins.def"

static const BuiltinRow table[] = {
#define TOY_BUILTIN(NAME, PARAMETERS, GROUP, HANDLER, OP, CONVERSION, DOC)                                             \
  {#NAME, PARAMETERS, GROUP, DOC, HANDLER, OP, CONVERSION},
#include "irgen/Builtins.def"
};

ArrayRef<BuiltinRow> builtinRows() { return table; }

const BuiltinRow *findBuiltin(StringRef name) {
  static const llvm::StringMap<const BuiltinRow *> *byName = [] {
    auto *map = new llvm::StringMap<const BuiltinRow *>;
    for (const BuiltinRow &row : table)
      (*map)[row.name] = &row;
    return map;
  }();
  return byName->lookup(name);
}

const ast::Expr *Bound::operator[](StringRef name) const {
  for (auto &[parameter, value] : arguments)
    if (parameter == name)
      return value;
  return nullptr;
}

SourceRange Bound::rangeOf(StringRef name) const {
  const ast::Expr *e = (*this)[name];
  return e ? e->range : call->range;
}

/// Whether the first of two arguments holds all values of a variadic parameter, a bracket, a tuple or a list, so that
/// the second one is told by its place what it would be told by name: an integer or a dtype. Both are evaluated once.
static bool isListBefore(IRGen &g, const ast::Expr &first, const ast::Expr &second,
                         std::vector<const ast::Expr *> &evaluated) {
  auto isLiteralList = [](const ast::Expr &e) {
    return e.kind == ast::NodeKind::Bracket || e.kind == ast::NodeKind::Tuple;
  };
  auto ahead = [&](const ast::Expr &e) {
    RValue value = genExpr(g, e);
    if (e.kind != ast::NodeKind::Name) {
      g.given[&e] = value;
      evaluated.push_back(&e);
    }
    return value;
  };
  auto isVariableList = [&]() -> bool {
    auto *name = ast::dynCast<ast::Name>(&first);
    bool mayBe = name ? readVariable(g, name->name, name->range).has_value() : first.kind == ast::NodeKind::Call;
    if (!mayBe)
      return false;
    RValue value = ahead(first);
    return value.kind == RValue::Tuple || value.isList();
  };
  if (isLiteralList(second) || (!isLiteralList(first) && !isVariableList()))
    return false;
  RValue value = ahead(second);
  return value.kind == RValue::DTypeRef ||
         (value.isTensor() && value.rank() == 0 && isInteger(value.tensor().getDtype()));
}

/// Parameters of a row: names, `name=` for optional ones; true: there is a `*name` for any number.
static bool parametersOf(const BuiltinRow &row, std::vector<std::string> &parameters, SmallVectorImpl<bool> &optional) {
  bool variadic = false;
  SmallVector<StringRef> parts;
  StringRef(row.parameters).split(parts, ", ", -1, false);
  for (StringRef part : parts) {
    if (part.starts_with("*")) { // any number, of values or of keywords
      variadic = true;
      continue;
    }
    auto [name, fallback] = part.split('=');
    parameters.push_back(name.str());
    optional.push_back(part.contains('='));
  }
  return variadic;
}

void checkArguments(IRGen &g, const BuiltinRow &row, const ast::Call &c) {
  std::vector<std::string> parameters;
  SmallVector<bool> optional;
  if (!parametersOf(row, parameters, optional))
    bindArguments(g, c, parameters, optional, row.name);
}

RValue callBuiltin(IRGen &g, const BuiltinRow &row, const ast::Call &c) {
  std::vector<std::string> parameters;
  SmallVector<bool> optional;
  bool variadic = parametersOf(row, parameters, optional);
  Bound bound{&row, &c, {}, {}, {}};
  std::vector<const ast::Expr *> evaluated; // ahead
  llvm::scope_exit forget([&] {
    for (const ast::Expr *e : evaluated)
      g.given.erase(e);
  });
  if (variadic) { // positional arguments go to the variadic parameter, behind required ones
    size_t required = llvm::count(optional, false);
    BoundArguments &named = bound.arguments;
    for (const std::string &p : parameters)
      named.emplace_back(p, nullptr);
    size_t positional = 0;
    bool isList = false; // the first of any number is a list of all: others follow as named ones
    for (const ast::Argument &a : c.arguments) {
      if (a.keyword.empty()) {
        if (positional < required)
          named[positional].second = a.value.get();
        else if (size_t at = positional - required; isList && at > 0 && required + at - 1 < named.size()) {
          named[required + at - 1].second = a.value.get();
        } else {
          const ast::Argument *next = &a == &c.arguments.back() ? nullptr : &a + 1;
          isList |= at == 0 && next && next->keyword.empty() && required < named.size() &&
                    isListBefore(g, *a.value, *next->value, evaluated);
          bound.rest.push_back(a.value.get());
        }
        ++positional;
        continue;
      }
      std::string keyword = a.keyword == "dim" ? "axis" : a.keyword;
      auto it = llvm::find_if(named, [&](auto &n) { return n.first == keyword; });
      bool isFree = it == named.end() || it->second; // a member may be called as a parameter is
      if (isFree && StringRef(row.parameters).contains("**")) {
        bound.keywords.push_back(&a);
        continue;
      }
      if (it == named.end())
        unknownArgument(g, row.name, a, parameters);
      it->second = a.value.get();
    }
    for (size_t i = 0; i < required; ++i)
      if (!named[i].second)
        g.fail(DiagId::MissingArgument, c.range, {row.name, named[i].first});
  } else
    bound.arguments = bindArguments(g, c, parameters, optional, row.name);
  return row.handler(g, bound, c.range);
}

RValue valueArgument(IRGen &g, Bound &args, StringRef name) { return genExpr(g, *args[name]); }

RValue tensorArgument(IRGen &g, Bound &args, StringRef name) {
  RValue v = valueArgument(g, args, name);
  return needTensor(g, v, args.row->name, args.rangeOf(name));
}

int64_t normalizeAxis(IRGen &g, int64_t axis, Type type, SourceRange range) {
  int64_t rank = llvm::cast<TensorType>(type).getRank();
  if (axis < -rank || axis >= rank)
    g.fail(DiagId::AxisOutOfRange, range, {std::to_string(axis), typeText(type)});
  return axis < 0 ? axis + rank : axis;
}

int64_t axisArgument(IRGen &g, Bound &args, int64_t rank, int64_t defaultAxis, StringRef name) {
  int64_t axis = args.has(name) ? staticInteger(g, *args[name], args.row->name) : defaultAxis;
  if (axis < -rank || axis >= rank)
    g.fail(DiagId::AxisOutOfRange, args.rangeOf(name),
           {std::to_string(axis), "a tensor with " + std::to_string(rank) + (rank == 1 ? " axis" : " axes")});
  return axis < 0 ? axis + rank : axis;
}

int64_t axisOrFlat(IRGen &g, Bound &args, RValue &x, SourceRange range) {
  if (args.has("axis"))
    return axisArgument(g, args, x.rank(), 0);
  x = flattened(g, x, range);
  return 0;
}

Value positionsArgument(IRGen &g, Bound &args, StringRef name) {
  bool isBracket = args[name]->kind == ast::NodeKind::Bracket;
  return isBracket ? genPositions(g, *args[name]).value : tensorArgument(g, args, name).value;
}

std::string calledFunction(IRGen &g, const char *own) {
  auto first = llvm::find_if(g.stack, [&](const auto &state) { return state->decl && isLibrary(g, *state->decl); });
  return first == g.stack.end() ? own : (*first)->decl->name;
}

SmallVector<int64_t> axesArgument(IRGen &g, Bound &args, Type type) {
  if (!args.has("axis"))
    return llvm::to_vector(llvm::seq<int64_t>(0, llvm::cast<TensorType>(type).getRank()));
  const ast::Expr &e = *args["axis"];
  SmallVector<int64_t> given;
  if (e.kind == ast::NodeKind::Bracket)
    given = staticList(g, e, args.row->name);
  else {
    RValue axis = genExpr(g, e);
    if (axis.isStr() && !stringOf(axis))
      needStatic(g, axis.value);
    if (stringOf(axis) == StringRef("all"))
      return llvm::to_vector(llvm::seq<int64_t>(0, llvm::cast<TensorType>(type).getRank()));
    if (axis.isStr()) {
      std::string function = calledFunction(g, args.row->name);
      Diagnostic &d =
          g.report(DiagId::ArgumentKind, e.range, {function, "`axis`", "an axis or a list of axes", axis.str()});
      if (std::string help = otherMeaning(function, "axis"); !help.empty())
        d.withHelp(help);
      throw IRAbort();
    }
    given = staticList(g, axis, e.range, args.row->name);
  }
  SmallVector<int64_t> axes;
  for (int64_t axis : given)
    axes.push_back(normalizeAxis(g, axis, type, e.range));
  llvm::sort(axes);
  return axes;
}

bool flagArgument(IRGen &g, Bound &args, StringRef name, bool fallback) {
  return args.has(name) ? staticInteger(g, *args[name], name) != 0 : fallback;
}

DType dtypeArgument(IRGen &g, Bound &args, DType fallback) {
  if (!args.has("dtype"))
    return fallback;
  return staticDType(g, *args["dtype"]);
}

SmallVector<Value> sizeArguments(IRGen &g, Bound &args) {
  SmallVector<Value> sizes;
  if (args.rest.size() == 1)
    return indexList(g, *args.rest[0], args.row->name);
  for (const ast::Expr *e : args.rest)
    sizes.push_back(indexValue(g, *e, args.row->name));
  return sizes;
}

SmallVector<Value> checkedSizes(IRGen &g, SmallVector<Value> sizes, SourceRange range) {
  for (Value &size : sizes)
    if (auto n = constantOf(size); !n || *n < 0)
      size = g.create<CheckSizeOp>(range, {size});
  return sizes;
}

std::vector<RValue> tensorList(IRGen &g, Bound &args, bool listedInBrackets) {
  std::vector<RValue> values;
  std::vector<SourceRange> ranges;
  auto add = [&](RValue v, SourceRange range) {
    values.push_back(needTensor(g, v, args.row->name, range));
    ranges.push_back(range);
  };
  if (listedInBrackets && args.rest.size() == 1 && args.rest[0]->kind == ast::NodeKind::Bracket &&
      !ast::cast<ast::Bracket>(*args.rest[0]).compact)
    for (const ast::ExprPtr &e : ast::cast<ast::Bracket>(*args.rest[0]).elements)
      add(genExpr(g, *e), e->range);
  else
    for (const ast::Expr *e : args.rest) {
      RValue v = genExpr(g, *e);
      if (v.kind == RValue::Tuple)
        for (const RValue &element : v.elements)
          add(element, e->range);
      else
        add(v, e->range);
    }
  if (values.empty())
    g.fail(DiagId::NothingToConcat, args.call->range, {args.row->name});
  DType dtype = promoteAll(values);
  for (auto [v, range] : llvm::zip_equal(values, ranges))
    v = castVal(g, v, dtype, range);
  return values;
}

RValue convertFor(IRGen &g, char conversion, const RValue &x, SourceRange range) {
  DType d = x.tensor().getDtype();
  if ((conversion == 'f' || conversion == 'r') && kindOf(d) <= DKind::Int)
    return castVal(g, x, DType::F64, range);
  if ((conversion == 'n' && d == DType::Bool) || (conversion == 'i' && kindOf(d) <= DKind::Int))
    return castVal(g, x, DType::I64, range);
  return x;
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists and functions of text.
#include "irgen/Builtins.h"
#include "irgen/Lists.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy {

RValue listBuiltin(IRGen &g, Bound &args, SourceRange r) {
  std::vector<RValue> values;
  SmallVector<SourceRange> ranges;
  for (const ast::Expr *e : args.rest) {
    values.push_back(genExpr(g, *e));
    ranges.push_back(e->range);
  }
  return makeList(g, std::move(values), ranges, r);
}

/// A tensor with one more row, or a vector with one more element. A literal takes the tensor's dtype, as it does beside
/// an operator.
static RValue longerTensor(IRGen &g, Bound &args, const RValue &x, const RValue &v, SourceRange r) {
  SourceRange xRange = args.rangeOf("x"), vRange = args.rangeOf("v");
  std::vector<RValue> both = {x, needTensor(g, v, "append", vRange)};
  if (x.rank() != v.rank() + 1) {
    std::string joined = "`cat(" + g.sourceText(xRange) + ", " + g.sourceText(vRange) + ")`";
    if (x.rank() == 0)
      g.fail(DiagId::AppendMismatch, r, {x.type().str(), v.type().str()},
             "`[" + g.sourceText(xRange) + "]` is a vector, `[]` one without elements");
    g.fail(DiagId::AppendMismatch, r, {x.type().str(), v.type().str()},
           x.rank() != v.rank() ? "" : joined + (x.rank() == 1 ? " joins vectors" : " appends several rows"));
  }
  DType dtype = promoteAll(both);
  return g.create<AppendOp>(r, {castVal(g, both[0], dtype, xRange), castVal(g, both[1], dtype, vRange)}, {},
                            {xRange, vRange});
}

RValue appendBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = valueArgument(g, args, "x"), v = valueArgument(g, args, "v");
  if (x.isTensor())
    return longerTensor(g, args, x, v, r);
  if (!x.isList())
    g.fail(DiagId::ArgumentKind, args.rangeOf("x"), {"append", "`x`", "a list or a tensor", x.str()});
  return appended(g, x, std::move(v), r, args.rangeOf("v"));
}

RValue containsBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = valueArgument(g, args, "x"), v = valueArgument(g, args, "v");
  if (x.isList() && x.elements.empty())
    return g.boolean(false, r);
  if (x.isList())
    return callPrivate(g, "_contains", {x, v}, args.rangeOf("x"), r);
  if (x.isStr() && v.isStr()) {
    Value at = g.create<TextOp>(r, {x.value, v.value}, {g.stringAttr("function", "find")});
    return g.create<GeOp>(r, {at, g.integer(0, r)});
  }
  needTensor(g, x, "contains", args.rangeOf("x"));
  RValue equal = binaryOperation(g, ast::BinaryOp::Eq, x, needTensor(g, v, "contains", args.rangeOf("v")), r, r,
                                 args.rangeOf("x"), args.rangeOf("v"));
  if (equal.rank() == 0)
    return equal;
  return g.create<AnyOp>(
      r, {equal.value},
      {g.integersAttr("axes", llvm::to_vector(llvm::seq<int64_t>(0, equal.rank()))), g.boolAttr("keepdims", false)});
}

/// What a letter of ir/Text.def stands for.
static const char *kindNamed(char kind) {
  return kind == 's' ? "a string" : kind == 'l' ? "a list of strings" : "a u8 vector";
}

static Value textArgument(IRGen &g, Bound &args, StringRef name) {
  RValue v = valueArgument(g, args, name);
  if (!v.isStr())
    g.fail(DiagId::ArgumentKind, args.rangeOf(name), {args.row->name, "`" + name.str() + "`", "a string", v.str()});
  return v.value;
}

/// `join(xs, sep)`.
static std::string orderOf(const BuiltinRow &row) {
  std::string order = std::string(row.name) + "(" + row.parameters + ")";
  llvm::erase(order, '=');
  return order;
}

/// A call of the function of text that the row names, with arguments in the order of its parameters.
RValue textBuiltin(IRGen &g, Bound &args, SourceRange r) {
  StringRef name = args.row->op, kinds = llvm::StringSwitch<StringRef>(name)
#define TOY_TEXT(NAME, PARAMETERS, RESULT) .Case(#NAME, PARAMETERS)
#include "ir/Text.def"
                                             .Default("");
  SmallVector<Value> operands;
  auto fits = [](char kind, const RValue &v) {
    return kind == 's'   ? v.isStr()
           : kind == 'l' ? v.isList() && v.str() == "list[str]"
                         : v.isTensor() && v.rank() == 1 && v.tensor().getDtype() == DType::U8;
  };
  for (auto [kind, argument] : llvm::zip(kinds, args.arguments)) {
    RValue v = argument.second ? genExpr(g, *argument.second) : RValue(g.string(name == "split" ? " " : "", r));
    if (kind == 'l' && v.isList() && v.elements.empty())
      v = adapted(g, v, RValue(g.string("", r)).type().listOf(g.context), r);
    if (!fits(kind, v)) {
      auto isSwapped = [&, kind = kind](const auto &row) {
        auto [otherKind, other] = row;
        return otherKind != kind && other.second && fits(otherKind, v) && fits(kind, genExpr(g, *other.second));
      };
      bool isElsewhere = llvm::any_of(llvm::zip(kinds, args.arguments), isSwapped);
      g.fail(DiagId::ArgumentKind, args.rangeOf(argument.first),
             {args.row->name, "`" + argument.first + "`", kindNamed(kind), v.str()},
             isElsewhere ? "`" + orderOf(*args.row) + "` is the order" : "");
    }
    SmallVector<Value> leaves;
    v.flatten(leaves);
    operands.push_back(leaves[0]);
  }
  Value result = g.createOp<TextOp>(r, operands, {g.stringAttr("function", name)})->getResult(0);
  return isa<ListType>(result.getType()) ? RValue::list(result) : RValue(result);
}

RValue positionBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = valueArgument(g, args, "text");
  if (!x.isList())
    return textBuiltin(g, args, r);
  RValue part = valueArgument(g, args, "part");
  return x.elements.empty() ? RValue(g.integer(-1, r)) : callPrivate(g, "_find", {x, part}, args.rangeOf("text"), r);
}

/// Gives nothing.
RValue writeTextBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Value path = textArgument(g, args, "path"), text = textArgument(g, args, "text");
  RValue append = args.has("append") ? genExpr(g, *args["append"]) : RValue(g.boolean(false, r));
  if (!append.isTensor() || append.rank() != 0 || append.tensor().getDtype() != DType::Bool)
    g.fail(DiagId::ArgumentKind, args.rangeOf("append"), {"write_text", "`append`", "true or false", append.str()},
           append.isStr() ? "`append = true` puts the text behind what the file holds" : "");
  g.createOp<TextOp>(r, {path, text, append.value}, {g.stringAttr("function", "write_text")});
  return {};
}

RValue sortedList(IRGen &g, const RValue &list, Bound &args, SourceRange r) {
  if (list.elements.empty())
    return list;
  auto tensor = dyn_cast_if_present<TensorType>(list.type().elementOfList().leaf);
  bool isOrdered = list.elements[0].kind == RValue::Leaf && (!tensor || tensor.isScalar());
  if (!isOrdered || args.has("axis"))
    g.fail(DiagId::ArgumentKind, args.rangeOf(isOrdered ? "axis" : "x"),
           {"sort", "a list", "one of numbers or strings, and has no axis", list.str()});
  RValue out = list;
  out.elements[0].value = g.create<ListSortOp>(r, {list.elements[0].value},
                                               {g.boolAttr("descending", flagArgument(g, args, "descending", false))});
  return out;
}

RValue joinedList(IRGen &g, const RValue &list, Bound &args, bool stacks, SourceRange r) {
  auto element =
      list.elements.empty() ? TensorType() : dyn_cast_if_present<TensorType>(list.type().elementOfList().leaf);
  if (list.elements.empty())
    needListType(g, args.row->name, r);
  if (!element)
    g.fail(DiagId::NotANumber, r, {args.row->name, list.str()});
  if (!stacks && element.isScalar())
    g.fail(DiagId::AxisOutOfRange, r, {"0", list.str()}, "`stack` joins scalars");
  int64_t axis = axisArgument(g, args, element.getRank() + stacks, 0);
  Value x = g.createOp<ListJoinOp>(r, {list.elements[0].value},
                                   {g.integerAttr("axis", stacks ? 0 : axis), g.boolAttr("stacks", stacks)})
                ->getResult(0);
  if (!stacks || axis == 0)
    return x;
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(1, element.getRank() + 1));
  order.insert(order.begin() + axis, 0);
  return permute(g, x, order, r);
}

} // namespace toy

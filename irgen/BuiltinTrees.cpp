// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins for structs and tuples as trees of values.
#include "irgen/Builtins.h"
#include "irgen/Declarations.h"

using namespace mlir;

namespace toy {

static RValue structArgument(IRGen &g, Bound &args, StringRef name) {
  RValue x = valueArgument(g, args, name);
  if (x.kind != RValue::Struct)
    g.fail(DiagId::ArgumentKind, args.rangeOf(name), {args.row->name, "`" + name.str() + "`", "a struct", x.str()});
  return x;
}

/// Whether a member of one kind may take the place of another: tensors of any dtype and sizes are one.
static bool isOneKind(const RValue &a, const RValue &b) {
  return a.kind == b.kind && a.isTensor() == b.isTensor() && a.isStr() == b.isStr() && a.structName == b.structName &&
         a.elements.size() == b.elements.size();
}

RValue withBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = structArgument(g, args, "x");
  if (!args.rest.empty())
    g.fail(DiagId::TooManyArguments, args.rest[0]->range, {"with", "1", std::to_string(args.call->arguments.size())});
  for (const ast::Argument *argument : args.keywords) {
    auto member = llvm::find(x.names, argument->keyword);
    if (member == x.names.end())
      g.failNear(DiagId::UnknownMember, argument->keywordRange, {x.str(), argument->keyword}, argument->keyword,
                 x.names);
    g.host.usesMember(x.structName, argument->keyword, argument->keywordRange);
    RValue &place = x.elements[member - x.names.begin()];
    RValue value = genExpr(g, *argument->value);
    if (!isOneKind(place, value))
      g.fail(DiagId::ArgumentKind, argument->value->range,
             {"with", "`" + argument->keyword + "`", "of the member's kind, " + place.str(), value.str()});
    place = value;
  }
  if (const ast::Struct *decl = userStruct(g, x.structName); decl && decl->members.size() == x.names.size())
    checkMembers(g, *decl, x, r);
  for (RValue &element : x.elements)
    element.settle();
  return x;
}

static bool isFloatingLeaf(const RValue &v) { return v.isTensor() && kindOf(v.tensor().getDtype()) >= DKind::Float; }

/// What takes part in a walk over trees of one form.
struct TreeWalk {
  IRGen &g;
  Bound &args;
  SourceRange range;
  RValue function = valueArgument(g, args, "f");

  RValue call(ArrayRef<RValue> arguments) {
    if (!function.isCallable())
      g.fail(DiagId::ArgumentKind, args.rangeOf("f"), {args.row->name, "`f`", "a function", function.str()});
    RValue result =
        callWithValues(g, function, arguments, SmallVector<SourceRange>(arguments.size(), args.rangeOf("x")), range);
    if (result.kind == RValue::Nothing)
      g.fail(DiagId::NoValue, args.rangeOf("f"), {g.sourceText(args.rangeOf("f"))});
    return result;
  }

  /// `place` is the path to these parts of the trees: `.w`, `[1]`.
  RValue map(ArrayRef<RValue> parts, const std::string &place) {
    const RValue &first = parts[0];
    for (auto [i, part] : llvm::enumerate(parts))
      if (!isOneKind(first, part) || part.names != first.names)
        g.fail(DiagId::ArgumentKind, args.rest[i - 1]->range,
               {"tree_map", place.empty() ? "a tree" : "`" + place + "`",
                "of the form that the first has, " + first.str(), part.str()});
    if (isFloatingLeaf(first))
      return call(parts);
    RValue out = first;
    for (auto [i, element] : llvm::enumerate(out.elements)) {
      SmallVector<RValue> inner;
      for (const RValue &part : parts)
        inner.push_back(part.elements[i]);
      bool isMember = first.kind == RValue::Struct;
      if (!first.isCallable())
        element = map(inner, place + (isMember ? "." + first.names[i] : "[" + std::to_string(i) + "]"));
      element.settle();
    }
    return out;
  }

  RValue fold(RValue result, const RValue &tree) {
    if (isFloatingLeaf(tree))
      return call({result, tree});
    if (!tree.isCallable())
      for (const RValue &element : tree.elements)
        result = fold(std::move(result), element);
    return result;
  }
};

RValue treeMapBuiltin(IRGen &g, Bound &args, SourceRange r) {
  TreeWalk walk{g, args, r};
  SmallVector<RValue> trees = {valueArgument(g, args, "x")};
  for (const ast::Expr *e : args.rest)
    trees.push_back(genExpr(g, *e));
  return walk.map(trees, "");
}

RValue treeFoldBuiltin(IRGen &g, Bound &args, SourceRange r) {
  TreeWalk walk{g, args, r};
  RValue start = valueArgument(g, args, "start");
  return walk.fold(start, valueArgument(g, args, "x"));
}

} // namespace toy

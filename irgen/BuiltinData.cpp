// SPDX-License-Identifier: Apache-2.0
/// \file
/// Files, text, checks.
#include "irgen/Builtins.h"
#include "irgen/Expressions.h"
#include "irgen/Statements.h"

using namespace mlir;

namespace toy {

/// At the top level the file decides the type, so it is read now; elsewhere the type is declared (see `var`).
Val loadBuiltin(IRGen &g, Bound &args) {
  if (g.fn().decl || g.fn().scopes.size() > 1 || !g.fn().loops.empty())
    g.fail(DiagId::LoadNeedsType, args.call->range, {}, "write `var x: f64[_, _] = load(…);`");
  TypeDesc type;
  std::string name = g.host.loadNow(*args["path"], args["name"], type);
  if (name.empty())
    throw IRAbort();
  return globalValue(g, name, type, args.call->range);
}

static Value pathOf(IRGen &g, Bound &args) {
  Val path = valueArgument(g, args, "path");
  if (!path.isStr())
    g.fail(DiagId::ArgumentKind, args.rangeOf("path"), {args.row->name, "the path", "a string", path.type().str()});
  return path.value;
}

/// A tensor, or the members of a struct or tuple.
Val saveBuiltin(IRGen &g, Bound &args) {
  Val x = valueArgument(g, args, "x");
  SourceRange r = args.rangeOf("x");
  SmallVector<Value> operands = {pathOf(g, args)};
  std::string names;
  auto add = [&](const Val &v, const std::string &name) {
    operands.push_back(needTensor(g, v, "save", r).value);
    names += (operands.size() > 2 ? "\n" : "") + name;
  };
  if (x.kind == Val::Struct || x.kind == Val::Tuple)
    for (auto [i, element] : llvm::enumerate(x.elements))
      add(element, x.kind == Val::Struct ? x.names[i] : "arr_" + std::to_string(i));
  else
    add(x, args.has("name") ? staticString(g, *args["name"], "save") : "arr_0");
  g.create<SaveOp>(args.call->range, operands, {g.stringAttr("names", names)});
  return {};
}

Val showBuiltin(IRGen &g, Bound &args) {
  g.create<ShowOp>(args.call->range, {tensorArgument(g, args, "x").value});
  return {};
}

Val readBinaryBuiltin(IRGen &g, Bound &args) {
  SourceRange r = args.call->range;
  SmallVector<Value> operands = {pathOf(g, args),
                                 args.has("offset") ? indexValue(g, *args["offset"], "read_binary") : g.integer(0, r)};
  DType dtype = staticDType(g, *args["dtype"]);
  llvm::append_range(operands, checkedSizes(g, indexList(g, *args["shape"], "read_binary"), r));
  return g.create<ReadBinaryOp>(r, operands, {g.dtypeAttr(dtype)});
}

Val printBuiltin(IRGen &g, Bound &args) {
  genPrint(g, args.rest, args.call->range, false);
  return {};
}

Val writeBuiltin(IRGen &g, Bound &args) {
  Val v = valueArgument(g, args, "x");
  if (!v.isStr() && !(v.isTensor() && v.tensor().getDtype() == DType::U8))
    g.fail(DiagId::ArgumentKind, args.call->range, {"write", "the value", "a string or a u8 tensor", v.type().str()});
  g.create<WriteOp>(args.call->range, {v.value});
  return {};
}

Val strBuiltin(IRGen &g, Bound &args) {
  Val v = valueArgument(g, args, "x");
  if (v.kind == Val::DTypeRef)
    return g.string(std::string(nameOf(v.dtype)), args.call->range);
  if (v.isStr())
    return v;
  needTensor(g, v, "str", args.call->range);
  return g.create<ToStrOp>(args.call->range, {v.value});
}

Val checkBuiltin(IRGen &g, Bound &args) {
  Value c = genCondition(g, *args["condition"]);
  Value text = args.has("text") ? valueArgument(g, args, "text").value
                                : g.string(g.sourceText(args.rangeOf("condition")), args.call->range);
  g.create<AssertOp>(args.call->range, {c, text});
  return {};
}

Val itemBuiltin(IRGen &g, Bound &args) { return reshape(g, tensorArgument(g, args, "x").value, {}, args.call->range); }

Val clockBuiltin(IRGen &g, Bound &args) { return g.create<ClockOp>(args.call->range, {}); }

Val bytesBuiltin(IRGen &g, Bound &args) {
  Val text = valueArgument(g, args, "text");
  if (!text.isStr())
    g.fail(DiagId::ArgumentKind, args.rangeOf("text"), {"bytes", "the text", "a string", text.type().str()});
  return g.create<StrBytesOp>(args.call->range, {text.value});
}

} // namespace toy

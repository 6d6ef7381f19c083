// SPDX-License-Identifier: Apache-2.0
/// \file
/// Files, text, checks.
#include "irgen/IRGenImpl.h"

using namespace mlir;

namespace toy {

/// At the top level the file decides the type, so it is read now; elsewhere the type is declared (see `var`).
Val IRGen::loadBuiltin(Bound &args) {
  if (fn().decl || fn().scopes.size() > 1 || !fn().loops.empty())
    fail(DiagId::LoadNeedsType, args.call->range, {}, "write `var x: f64[_, _] = load(…);`");
  TypeDesc type;
  std::string name = host.loadNow(*args["path"], args["name"], type);
  if (name.empty())
    throw IRAbort();
  return globalValue(name, type, args.call->range);
}

static Value pathOf(IRGen &gen, Bound &args) {
  Val path = gen.valueOf(args, "path");
  if (!path.isStr())
    gen.fail(DiagId::ArgumentKind, gen.rangeOf(args, "path"),
             {args.row->name, "the path", "a string", path.type().str()});
  return path.value;
}

/// A tensor, or the members of a struct or tuple.
Val IRGen::saveBuiltin(Bound &args) {
  Val x = valueOf(args, "x");
  SourceRange r = rangeOf(args, "x");
  SmallVector<Value> operands = {pathOf(*this, args)};
  std::string names;
  auto add = [&](const Val &v, const std::string &name) {
    operands.push_back(needTensor(v, "save", r).value);
    names += (operands.size() > 2 ? "\n" : "") + name;
  };
  if (x.kind == Val::Struct || x.kind == Val::Tuple)
    for (auto [i, element] : llvm::enumerate(x.elements))
      add(element, x.kind == Val::Struct ? x.names[i] : "arr_" + std::to_string(i));
  else
    add(x, args.has("name") ? staticString(*args["name"], "save") : "arr_0");
  create<SaveOp>(args.call->range, operands, {stringAttr("names", names)});
  return {};
}

Val IRGen::showBuiltin(Bound &args) {
  create<ShowOp>(args.call->range, {tensorArgument(args, "x").value});
  return {};
}

Val IRGen::readBinaryBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  SmallVector<Value> operands = {pathOf(*this, args),
                                 args.has("offset") ? indexValue(*args["offset"], "read_binary") : integer(0, r)};
  DType dtype = staticDType(*args["dtype"]);
  llvm::append_range(operands, checkedSizes(indexList(*args["shape"], "read_binary"), r));
  return Val::leaf(create<ReadBinaryOp>(r, operands, {dtypeAttr(dtype)}));
}

Val IRGen::printBuiltin(Bound &args) {
  print(args.rest, args.call->range, false);
  return {};
}

Val IRGen::writeBuiltin(Bound &args) {
  Val v = valueOf(args, "x");
  if (!v.isStr() && !(v.isTensor() && v.tensor().getDtype() == DType::U8))
    fail(DiagId::ArgumentKind, args.call->range, {"write", "the value", "a string or a u8 tensor", v.type().str()});
  create<WriteOp>(args.call->range, {v.value});
  return {};
}

Val IRGen::strBuiltin(Bound &args) {
  Val v = valueOf(args, "x");
  if (v.kind == Val::DTypeRef)
    return Val::leaf(string(std::string(nameOf(v.dtype)), args.call->range));
  if (v.isStr())
    return v;
  needTensor(v, "str", args.call->range);
  return Val::leaf(create<ToStrOp>(args.call->range, {v.value}));
}

Val IRGen::checkBuiltin(Bound &args) {
  Value c = condition(*args["condition"]);
  Value text =
      args.has("text") ? valueOf(args, "text").value : string(sourceText(rangeOf(args, "condition")), args.call->range);
  create<AssertOp>(args.call->range, {c, text});
  return {};
}

Val IRGen::itemBuiltin(Bound &args) {
  return Val::leaf(reshape(tensorArgument(args, "x").value, {}, args.call->range));
}

Val IRGen::clockBuiltin(Bound &args) { return Val::leaf(create<ClockOp>(args.call->range, {})); }

} // namespace toy

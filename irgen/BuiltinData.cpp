// SPDX-License-Identifier: Apache-2.0
/// \file
/// Files, text, checks.
#include "irgen/Builtins.h"
#include "irgen/Pictures.h"
#include "irgen/Statements.h"

using namespace mlir;

namespace toy {

static char characterOf(IRGen &g, const ast::Expr &e, StringRef parameter) {
  std::string text = staticString(g, e, "load");
  if (text.size() != 1 || text == "\n" || text == "\"")
    g.fail(DiagId::ArgumentKind, e.range, {"load", "`" + parameter.str() + "`", "one character", "\"" + text + "\""});
  return text[0];
}

/// A number that is written, or a constant.
static double staticNumber(IRGen &g, const ast::Expr &e) {
  RValue v = genExpr(g, e);
  auto constant = v.isTensor() ? v.value.getDefiningOp<ConstantOp>() : ConstantOp();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (elements && elements.getNumElements() == 1 && isa<FloatType>(elements.getElementType())) {
    APFloat x = *elements.value_begin<APFloat>();
    bool lost;
    x.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return x.convertToDouble();
  }
  return static_cast<double>(staticInteger(g, e, "load"));
}

CsvOptions csvOptions(IRGen &g, llvm::function_ref<const ast::Expr *(StringRef)> argument) {
  CsvOptions csv;
  if (const ast::Expr *e = argument("sep"))
    csv.sep = characterOf(g, *e, "sep");
  if (const ast::Expr *e = argument("decimal")) {
    csv.decimal = characterOf(g, *e, "decimal");
    if (csv.decimal == csv.sep)
      g.fail(DiagId::ArgumentKind, e->range, {"load", "`decimal`", "another character than `sep`", "the same"});
  }
  if (const ast::Expr *e = argument("header"))
    csv.header = staticInteger(g, *e, "load") != 0;
  if (const ast::Expr *e = argument("skip"))
    csv.skip = staticInteger(g, *e, "load");
  if (const ast::Expr *e = argument("missing"))
    csv.missing = staticNumber(g, *e);
  return csv;
}

static Value textArgument(IRGen &g, Bound &args, StringRef name, const char *what) {
  RValue text = valueArgument(g, args, name);
  if (!text.isStr())
    g.fail(DiagId::ArgumentKind, args.rangeOf(name), {args.row->name, what, "a string", text.type().str()});
  return text.value;
}
static Value pathOf(IRGen &g, Bound &args) { return textArgument(g, args, "path", "the path"); }

/// The type of a file that nothing else is read of.
static RValue valueOfFile(IRGen &g, Bound &args, const CsvOptions &csv, SourceRange r) {
  RValue path = pathOf(g, args),
         member = args.has("name") ? textArgument(g, args, "name", "the name") : g.string("", r);
  auto file = stringOf(path), name = stringOf(member);
  ValueType type;
  if (!file || !name || !g.host.typeOfFile(file->str(), name->str(), csv, type))
    throw IRAbort();
  return globalValue(g, "$file", type, r);
}

/// At the top level the file decides the type, so it is read now, in a `try` as well; elsewhere the type is declared
/// (see `var`). Where the program may come to another end, it fails when it runs.
RValue loadBuiltin(IRGen &g, Bound &args, SourceRange r) {
  FunctionState &state = g.fn();
  bool isInTry = state.tries > 0 && state.conditions == state.tries;
  if (state.decl || (state.scopes.size() > 1 && !isInTry) || !state.loops.empty())
    g.fail(DiagId::LoadNeedsType, r, {},
           args.has("header")
               ? "load the table at the top level, where its columns are known, or declare a struct of columns"
               : "write `var x: f64[_, _] = load(…);`");
  CsvOptions csv = csvOptions(g, [&](StringRef name) { return args[name]; });
  if (g.goesOn)
    return valueOfFile(g, args, csv, r);
  ValueType type;
  auto failed = [&](DiagId id, std::vector<std::string> what) {
    if (state.conditions > 0)
      throw CertainFailure{id, std::move(what), args.rangeOf("path")};
    bool isHelped = id == DiagId::MalformedFile && what.size() > 3; // of a .csv file
    std::string help = isHelped ? what[3] : "";
    g.fail(id, args.rangeOf("path"), std::move(what), help);
  };
  std::string name = g.host.loadNow(*args["path"], args["name"], csv, type, failed);
  if (name.empty())
    throw IRAbort();
  RValue value = globalValue(g, name, type, r);
  SmallVector<Value> leaves;
  value.flatten(leaves);
  for (Value leaf : leaves)
    leaf.getDefiningOp<GlobalLoadOp>().setLoaded(true);
  return value;
}

static bool isListOfStrings(const RValue &v) {
  if (!v.isList() || v.elements.size() != 1 || v.elements[0].kind != RValue::Leaf)
    return false;
  auto list = dyn_cast<ListType>(v.elements[0].value.getType());
  return list && isa<StrType>(list.getElement());
}

/// A tensor, or the members of a struct or tuple, which may be lists of strings; those of members are `a.b`.
RValue saveBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = valueArgument(g, args, "x"), path = valueArgument(g, args, "path");
  if (!path.isStr())
    g.fail(DiagId::ArgumentKind, args.rangeOf("path"), {"save", "the path", "a string", path.type().str()},
           x.isStr() ? "`save(path, x)` is the order" : "");
  SmallVector<Value> operands = {path.value};
  if (isPicture(x)) {
    g.createOp<TextOp>(r, {operands[0], x.elements[0].value}, {g.stringAttr("function", "picture_saved")});
    return {};
  }
  std::string names;
  auto add = [&](auto &self, const RValue &v, const std::string &name) -> void {
    if (v.kind == RValue::Struct || v.kind == RValue::Tuple) {
      for (auto [i, element] : llvm::enumerate(v.elements))
        self(self, element, name + "." + (v.kind == RValue::Struct ? v.names[i] : std::to_string(i)));
      return;
    }
    if (v.isStr())
      g.fail(DiagId::ArgumentKind, args.rangeOf("x"), {"save", "`" + (&v == &x ? "x" : name) + "`", "a tensor", "str"},
             &v == &x ? "`write_text(path, text)` writes a text"
                      : "a text is kept as `bytes(text)`, of which `decode` makes it again");
    if (isListOfStrings(v))
      v.flatten(operands);
    else if (v.isTensor() || &v == &x)
      operands.push_back(needTensor(g, v, "save", args.rangeOf("x")).value);
    else
      g.fail(DiagId::ArgumentKind, args.rangeOf("x"), {"save", "`" + name + "`", "a tensor", v.type().str()});
    names += (operands.size() > 2 ? "\n" : "") + name;
  };
  if (x.kind == RValue::Struct || x.kind == RValue::Tuple)
    for (auto [i, element] : llvm::enumerate(x.elements))
      add(add, element, x.kind == RValue::Struct ? x.names[i] : "arr_" + std::to_string(i));
  else
    add(add, x, args.has("name") ? staticString(g, *args["name"], "save") : "arr_0");
  g.create<SaveOp>(r, operands, {g.stringAttr("names", names)});
  return {};
}

RValue readBinaryBuiltin(IRGen &g, Bound &args, SourceRange r) {
  SmallVector<Value> operands = {pathOf(g, args),
                                 args.has("offset") ? indexValue(g, *args["offset"], "read_binary") : g.integer(0, r)};
  DType dtype = staticDType(g, *args["dtype"]);
  SmallVector<Value> sizes = indexList(g, *args["shape"], "read_binary");
  auto open = llvm::find_if(sizes, [](Value size) { return constantOf(size) == -1; });
  if (open != sizes.end()) { // what the file has
    Value bytes = g.createOp<TextOp>(r, {operands[0]}, {g.stringAttr("function", "file_size")})->getResult(0);
    bytes = arith<SubOp>(g, bytes, operands[1], r);
    Value row = g.integer(sizeOf(dtype), r);
    for (Value &size : sizes)
      if (&size != &*open)
        row = arith<MulOp>(g, row, size, r);
    *open = arith<FloorDivOp>(g, bytes, row, r);
  }
  llvm::append_range(operands, checkedSizes(g, sizes, r));
  return g.create<ReadBinaryOp>(r, operands, {g.dtypeAttr(dtype)});
}

RValue printBuiltin(IRGen &g, Bound &args, SourceRange r) {
  genPrint(g, args.rest, {args["sep"], args["end"], args["to"]}, r);
  return {};
}

RValue writeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  genWrite(g, *args["x"], r);
  return {};
}

RValue strBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue v = valueArgument(g, args, "x");
  return textOf(g, v, args.has("precision") ? indexValue(g, *args["precision"], "str") : Value(), r);
}

RValue checkBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Value c = genCondition(g, *args["condition"]);
  Value text = args.has("text") ? textArgument(g, args, "text", "the text")
                                : g.string(g.sourceText(args.rangeOf("condition")), r);
  if (g.fn().decl && isLibrary(g, *g.fn().decl))
    needValue(g, c, text, r);
  else
    g.create<AssertOp>(r, {c, text});
  return {};
}

RValue itemBuiltin(IRGen &g, Bound &args, SourceRange r) {
  return reshape(g, tensorArgument(g, args, "x").value, {}, r);
}

RValue clockBuiltin(IRGen &g, Bound &args, SourceRange r) { return g.create<ClockOp>(r, {}); }

RValue bytesBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue text = valueArgument(g, args, "text");
  if (!text.isStr())
    g.fail(DiagId::ArgumentKind, args.rangeOf("text"), {"bytes", "the text", "a string", text.type().str()});
  return g.create<StrBytesOp>(r, {text.value});
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Files read where their types are declared: tensors, columns of a table, structs of such.
#include "irgen/Declarations.h"
#include "irgen/Expressions.h"
#include "irgen/Functions.h"
#include "irgen/Operations.h"
#include "irgen/Statements.h"

using namespace mlir;

namespace toy {
namespace {

/// The struct that a type names, or null.
const ast::Struct *structOf(IRGen &g, const ast::TypeExpr &type) { return g.host.definitions().structure(type.name); }

/// `load(…)` of what is declared: the declared type is the result type; the file is checked against it.
class DeclaredLoad {
public:
  DeclaredLoad(IRGen &g, const ast::Call &call)
      : g(g), call(call), bound(bindArguments(g, call, {"path", "name", "sep", "decimal", "header", "skip", "missing"},
                                              {false, true, true, true, true, true, true}, "load")),
        csv(csvOptions(g, [&](StringRef name) { return given(name); })), path(text("path")) {}

  /// `var x: T = load(…)`.
  RValue value(const ast::TypeExpr &type) {
    if (csv.header && !given("name"))
      g.fail(DiagId::ArgumentKind, call.range, {"load", "`name`", "that of a column where one is declared", "nothing"},
             "`load(path, \"name\", header = true)`, or declare a struct of columns");
    return loaded(type, given("name") ? text("name") : g.string("", call.range));
  }
  /// `S s = load(…)`: members by their names.
  RValue members(const ast::Struct &decl) {
    if (const ast::Expr *name = given("name"))
      g.fail(DiagId::ArgumentKind, name->range, {"load", "`name`", "left out where a struct is declared", "one"});
    return members(decl, "");
  }

private:
  const ast::Expr *given(StringRef name) const {
    return llvm::find_if(bound, [&](const auto &b) { return b.first == name; })->second;
  }
  Value text(StringRef name) {
    RValue v = genExpr(g, *given(name));
    if (!v.isStr())
      g.fail(DiagId::ArgumentKind, call.range, {"load", "the " + name.str(), "a string", v.type().str()});
    return v.value;
  }

  RValue members(const ast::Struct &decl, const std::string &prefix) {
    std::vector<RValue> values;
    for (const ast::Parameter &member : decl.members) {
      if (!member.type)
        g.fail(DiagId::LoadNeedsType, call.range, {},
               "`" + decl.name + "` needs types of its members: `var " + member.name + ": f64[_];`");
      const std::string name = prefix + member.name;
      const ast::Struct *inner = structOf(g, *member.type);
      values.push_back(inner ? members(*inner, name + ".") : loaded(*member.type, g.string(name, call.range)));
    }
    return makeStruct(g, decl, std::move(values), call.range);
  }

  RValue loaded(const ast::TypeExpr &declared, Value name) {
    ValueType type = typeOf(g, declared);
    if (csv.header && type.kind == ValueType::List && isa_and_present<StrType>(type.elementOfList().leaf))
      return textColumn(name);
    if (!isa_and_present<TensorType>(type.leaf))
      g.fail(DiagId::ArgumentKind, declared.range,
             {"load", "what is declared", csv.header ? "a vector of numbers or list[str]" : "a tensor", type.str()});
    // Sizes are read off the file, then compared with what is declared.
    type.mapSizes([&](unsigned, size_t, Dim dim) { return dim.isNumber() ? dim : g.freshSize(); });
    Operation *load = g.createOp<LoadOp>(call.range, {path, name}, {}, {}, type.leaf);
    if (!csv.isDefault())
      load->setAttr("csv", g.b.getDictionaryAttr({g.integerAttr("sep", csv.sep), g.integerAttr("decimal", csv.decimal),
                                                  g.boolAttr("header", csv.header), g.integerAttr("skip", csv.skip),
                                                  g.attr("missing", g.b.getF64FloatAttr(csv.missing))}));
    return load->getResult(0);
  }
  RValue textColumn(Value name) {
    auto character = [&](char c) { return g.string(std::string(1, c), call.range); };
    Operation *column = g.createOp<TextOp>(
        call.range, {path, name, character(csv.sep), character(csv.decimal), g.integer(csv.skip, call.range)},
        {g.stringAttr("function", "text_column")});
    return RValue::list(column->getResult(0));
  }

  IRGen &g;
  const ast::Call &call;
  BoundArguments bound;
  CsvOptions csv;
  Value path;
};

/// A struct made of what a file holds under the names of its members.
RValue membersOf(IRGen &g, const RValue &file, const ast::Struct &decl, SourceRange range) {
  std::vector<RValue> values;
  for (const ast::Parameter &member : decl.members) {
    auto it = llvm::find(file.names, member.name);
    if (it == file.names.end())
      g.failNear(DiagId::UnknownMember, range, {file.str(), member.name}, member.name, file.names);
    const RValue &value = file.elements[it - file.names.begin()];
    const ast::Struct *inner = value.kind == RValue::Struct && member.type ? structOf(g, *member.type) : nullptr;
    values.push_back(inner ? membersOf(g, value, *inner, range) : value);
  }
  return makeStruct(g, decl, std::move(values), range);
}

} // namespace

RValue loadedValue(IRGen &g, const ast::Call &call, const ast::TypeExpr &type) {
  return DeclaredLoad(g, call).value(type);
}
RValue loadedStruct(IRGen &g, const ast::Call &call, const ast::Struct &decl) {
  bool isTyped = llvm::all_of(decl.members, [](const ast::Parameter &member) { return member.type.has_value(); });
  bool fileDecides = !g.fn().decl && g.fn().scopes.size() == 1 && g.fn().loops.empty();
  return fileDecides && !isTyped ? membersOf(g, genExpr(g, call), decl, call.range)
                                 : DeclaredLoad(g, call).members(decl);
}

} // namespace toy

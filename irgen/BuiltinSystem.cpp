// SPDX-License-Identifier: Apache-2.0
/// \file
/// Errors that programs raise, and what they ask of their process: rows of ir/System.def.
#include "irgen/Builtins.h"
#include "irgen/Statements.h"

using namespace mlir;

namespace toy {

/// An operand of a kind that the row wants.
static Value systemOperand(IRGen &g, Bound &args, StringRef parameter, char kind) {
  if (kind == 'i')
    return indexValue(g, *args[parameter], args.row->name);
  RValue value = valueArgument(g, args, parameter);
  bool fits = kind == 's' ? value.isStr() : value.isTensor() && value.rank() == 0 && !value.tensor().isComplex();
  if (!fits)
    g.fail(DiagId::ArgumentKind, args.rangeOf(parameter),
           {args.row->name, "`" + parameter.str() + "`", kind == 's' ? "a string" : "a number", value.str()});
  return kind == 's' ? value.value : castTo(g, value.value, DType::F64, args.rangeOf(parameter));
}

RValue systemBuiltin(IRGen &g, Bound &args, SourceRange r) {
  SystemFunction function = systemFunction(args.row->op);
  StringRef name = args.row->name;
  SmallVector<Value> operands;
  for (auto [kind, argument] : llvm::zip_equal(function.operands, args.arguments)) {
    if (argument.second)
      operands.push_back(systemOperand(g, args, argument.first, kind));
    else if (kind == 'i')
      operands.push_back(g.integer(0, r));
    else
      operands.push_back(g.string(name == "date" ? "%Y-%m-%d %H:%M:%S" : "", r));
  }
  Operation *op = g.createOp<SystemOp>(r, operands, {g.stringAttr("function", args.row->op)});
  if (name == "fail" || name == "exit")
    neverReturns(g);
  return op->getNumResults() ? RValue(op->getResult(0)) : RValue();
}

RValue errorBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue error;
  error.kind = RValue::Struct;
  error.structName = "Error";
  for (StringRef member : {"code", "text", "place"}) {
    error.names.push_back(member.str());
    error.elements.push_back(args.has(member) ? systemOperand(g, args, member, 's') : g.string("", r));
  }
  return error;
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of built-in functions, and how their handlers read arguments.
#pragma once

#include "irgen/Expressions.h"
#include "irgen/Functions.h"
#include "irgen/Operations.h"

namespace toy {

struct BuiltinRow;

/// Arguments of a built-in, by parameter.
class Bound {
public:
  const BuiltinRow *row;
  const ast::Call *call;
  BoundArguments arguments;                    ///< in order of parameters
  std::vector<const ast::Expr *> rest;         ///< of `*name`
  std::vector<const ast::Argument *> keywords; ///< of `**name`
  const ast::Expr *operator[](llvm::StringRef name) const;
  bool has(llvm::StringRef name) const { return (*this)[name] != nullptr; }
  SourceRange rangeOf(llvm::StringRef name) const;
};

struct BuiltinRow {
  const char *name, *parameters, *group, *doc;
  RValue (*handler)(IRGen &g, Bound &args, SourceRange callRange);
  const char *op;  ///< the operation behind simple rows
  char conversion; ///< how operands are converted: see Builtins.def
};
/// Names of functions that only the library calls.
inline bool isPrivate(llvm::StringRef name) { return name.starts_with("_"); }
const BuiltinRow *findBuiltin(llvm::StringRef name);
llvm::ArrayRef<BuiltinRow> builtinRows();
RValue callBuiltin(IRGen &g, const BuiltinRow &row, const ast::Call &c);
/// Whether the arguments of a call can be bound: an error, or nothing.
void checkArguments(IRGen &g, const BuiltinRow &row, const ast::Call &c);

/// The function of the library that the user has called, or a row's own name.
std::string calledFunction(IRGen &g, const char *own);
RValue valueArgument(IRGen &g, Bound &args, llvm::StringRef name);
RValue tensorArgument(IRGen &g, Bound &args, llvm::StringRef name);
int64_t normalizeAxis(IRGen &g, int64_t axis, mlir::Type type, SourceRange range);
int64_t axisArgument(IRGen &g, Bound &args, int64_t rank, int64_t defaultAxis, llvm::StringRef name = "axis");
/// The axis, or the first one of `x`, which is flattened where none is given.
int64_t axisOrFlat(IRGen &g, Bound &args, RValue &x, SourceRange range);
/// Integer positions; a bracket of integers is one.
mlir::Value positionsArgument(IRGen &g, Bound &args, llvm::StringRef name);
/// The axes of a reduction: one, several, or all of them ("all", and where none is given). Ascending, counted from
/// the front.
llvm::SmallVector<int64_t> axesArgument(IRGen &g, Bound &args, mlir::Type type);
bool flagArgument(IRGen &g, Bound &args, llvm::StringRef name, bool fallback);
DType dtypeArgument(IRGen &g, Bound &args, DType fallback);
/// Sizes from `f(2, 3)`, `f([2, 3])` or `f(x.shape)`.
llvm::SmallVector<mlir::Value> sizeArguments(IRGen &g, Bound &args);
llvm::SmallVector<mlir::Value> checkedSizes(IRGen &g, llvm::SmallVector<mlir::Value> sizes, SourceRange range);
/// `cat(a, b)`, `cat((a, b))` and, where brackets list operands, `cat([a, b])`.
std::vector<RValue> tensorList(IRGen &g, Bound &args, bool listedInBrackets = true);
/// The conversion letters of Builtins.def: f floats (integers become f64), r the same for real only, n numbers (bool
/// becomes i64), i wide integers (bool and integers become i64), . none.
RValue convertFor(IRGen &g, char conversion, const RValue &x, SourceRange range);

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Expressions: names, members, literals, conditions; variables; constants, and arguments that have to be.
#pragma once

#include "irgen/Context.h"

namespace toy {

/// `pi`, `inf`, `nan`.
bool isConstant(llvm::StringRef name);
RValue genExpr(IRGen &g, const ast::Expr &e);
/// A rank-0 bool as i1.
mlir::Value genCondition(IRGen &g, const ast::Expr &e);

RValue genFormat(IRGen &g, const ast::Format &format);
/// What `print` shows of values, with texts between and behind them.
mlir::Value joinedText(IRGen &g, llvm::ArrayRef<RValue> values, const RValue &sep, const RValue &end,
                       SourceRange range);
/// The text of a value as `print` shows it, with a number of digits unless that is null.
RValue textOf(IRGen &g, const RValue &value, mlir::Value digits, SourceRange range);

/// A number, signed or not.
RValue genLiteral(IRGen &g, const ast::Expr &e);
/// `[a, b]`: numbers are f64 (c128 if one is complex, bool if all are; i64 if all are integers and the place keeps
/// them); a conversion directly above gives the dtype.
RValue genBracket(IRGen &g, const ast::Bracket &bracket, std::optional<DType> dtype = std::nullopt,
                  bool keepsIntegers = false);
/// What stands where positions are wanted: there a bracket of integers is a tensor of i64.
RValue genPositions(IRGen &g, const ast::Expr &e);
/// Whether an expression is a number, signed or not.
bool isLiteral(const ast::Expr &e);
/// A literal (a number, signed or not) as a constant of a dtype that its kind allows.
mlir::Value numberAs(IRGen &g, const ast::Expr &literal, DType dtype);

/// The local variable of a name in view, or null.
Variable *lookup(IRGen &g, llvm::StringRef name);
/// Locals first, then top-level variables (in functions: their latest value).
std::optional<RValue> readVariable(IRGen &g, const std::string &name, SourceRange range);
/// Gives a variable its value; `declare` makes it in the innermost scope. Top-level variables are stored at the end of
/// the statement, and before calls of functions that read them.
void defineVariable(IRGen &g, const std::string &name, RValue value, SourceRange range, bool declare);
/// The error for a name that means nothing here, with one that is spelt alike.
[[noreturn]] void unknownName(IRGen &g, const std::string &name, SourceRange range, bool isFunction);
/// What a top-level variable holds, from its leaves.
RValue globalValue(IRGen &g, const std::string &name, const ValueType &type, SourceRange range);
/// The type of a top-level variable here: as this statement has made it so far, else as the session has it. Sizes
/// that only the run knows are `?`.
std::optional<ValueType> globalType(IRGen &g, const std::string &name);
/// The session's variable has the value once control has come here.
void storeGlobal(IRGen &g, const std::string &name, const RValue &value, SourceRange range);
/// The types of the top-level variables that a call may read: the function, what it calls, and the functions that its
/// arguments and these variables hold.
std::map<std::string, ValueType> globalsOf(IRGen &g, const ast::Function &decl, llvm::ArrayRef<RValue> arguments);
/// Stores those of them that the statement has assigned.
void storeFor(IRGen &g, const std::map<std::string, ValueType> &globals, SourceRange range);
/// The part of an instance's key that they are.
std::string globalsKey(const std::map<std::string, ValueType> &globals);

/// An integer or bool of one element that is known while IR is generated.
std::optional<int64_t> constantOf(mlir::Value value);
/// The text of a string that is written in the program.
std::optional<llvm::StringRef> stringOf(const RValue &value);
/// A leaf that is known while the program is compiled, an integer or a text; else null.
mlir::Attribute constantLeaf(IRGen &g, mlir::Value leaf, SourceRange range);
/// Such a leaf of a type in the function that is generated.
mlir::Value constantValue(IRGen &g, mlir::Type type, mlir::Attribute leaf, SourceRange range);
/// A constant integer, bool, dtype or text argument.
void needStatic(IRGen &g, mlir::Value value);
/// Help where a constant is wanted and a value is the variable of a loop, or whatever paths that meet give; else empty.
std::string helpForVarying(mlir::Value value);
/// Arguments that have to be constants: `what` names them in the error that says so.
int64_t staticInteger(IRGen &g, const ast::Expr &e, llvm::StringRef what);
std::string staticString(IRGen &g, const ast::Expr &e, llvm::StringRef what);
DType staticDType(IRGen &g, const ast::Expr &e);
/// A size or index as an i64 scalar; an error if it is no integer scalar.
mlir::Value indexValue(IRGen &g, const ast::Expr &e, llvm::StringRef what);
mlir::Value indexValue(IRGen &g, const RValue &v, SourceRange range, llvm::StringRef what);
/// The integer that a part of a compact bracket writes.
int64_t integerAt(IRGen &g, const ast::Bracket &bracket, ast::Bracket::Part part);
/// The items of `[a, b]`, a tuple, or a single value, as i64 scalars.
llvm::SmallVector<mlir::Value> indexList(IRGen &g, const ast::Expr &e, llvm::StringRef what);
llvm::SmallVector<int64_t> staticList(IRGen &g, const ast::Expr &e, llvm::StringRef what);
llvm::SmallVector<int64_t> staticList(IRGen &g, llvm::ArrayRef<mlir::Value> values, SourceRange range,
                                      llvm::StringRef what);
llvm::SmallVector<int64_t> staticList(IRGen &g, const RValue &v, SourceRange range, llvm::StringRef what);

} // namespace toy

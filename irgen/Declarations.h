// SPDX-License-Identifier: Apache-2.0
/// \file
/// Declared types: what signatures say about sizes, and values under declared types.
#pragma once

#include "irgen/Context.h"

namespace toy {

/// The size that a declaration writes, over its names.
Dim sizeDim(IRGen &g, const ast::Expr &e);
/// Visits the sizes that a declared type writes, with their expressions.
void collectDeclared(IRGen &g, const ast::TypeExpr &type, llvm::function_ref<void(Dim, const ast::Expr &)> visit);
/// The names in sizes of parameters, and the parameters that sizes of the result name: other names of the result are
/// whatever comes.
std::set<std::string> sizeNamesOf(IRGen &g, const ast::Function &decl);
/// `where` clauses that say what a size is: `M == N//2`, as M - N//2, where both sides are made of names of sizes.
std::vector<Dim> sizeEquations(IRGen &g, const ast::Function &decl, const std::set<std::string> &names);
/// A signature whose sizes leave a name open, or contradict each other, is an error where it stands.
void checkSignature(IRGen &g, const ast::Function &decl);
/// What the attributes of a function say about an axis: @dynamic with its bounds, @static, or nothing.
struct SizeAttribute {
  enum Kind : uint8_t { None, Dynamic, Static } kind = None;
  int64_t lo = 0, hi = ShapeFacts::largest;
  SourceRange range;
};
SizeAttribute sizeAttribute(IRGen &g, const ast::Function &decl, const std::string &parameter, int64_t rank,
                            int64_t axis);
/// Parameters for which `@positions` is written: a bracket of integers given for them holds positions, as in indexing.
std::set<std::string> positionsOf(IRGen &g, const ast::Function &decl);
/// The sizes of @buckets, by name; checked.
mlir::DictionaryAttr bucketsOf(IRGen &g, const ast::Function &decl);

/// Sizes under the names of the declaration, `?` where it has `_`.
ValueType typeOf(IRGen &g, const ast::TypeExpr &type);
/// Whether a type says the dtype and rank of everything.
bool isWhole(IRGen &g, const ast::TypeExpr &type);
/// Arguments under the declared types of the parameters: widened, every declared size proven or checked, in the
/// callee's names. Gives what these names are for the caller.
llvm::StringMap<Dim> declareArguments(IRGen &g, const ast::Function &decl, std::vector<RValue> &values,
                                      llvm::ArrayRef<SourceRange> ranges);
/// The names of a signature become readable values at the function's entry.
void bindSizes(IRGen &g, const ast::Function &decl, llvm::ArrayRef<RValue> arguments);
/// What is returned, under the declared type of the result: its sizes are those of the signature, or whatever comes
/// under a name of its own.
RValue declaredResult(IRGen &g, RValue value, SourceRange range);
/// A local value under its declared type; names that are new are integers from there on.
RValue declaredLocal(IRGen &g, RValue value, const ast::TypeExpr &type, const std::string &name, SourceRange range);
/// The members of a struct under their declared types; names of sizes mean the same in all of them.
void checkMembers(IRGen &g, const ast::Struct &decl, RValue &value, SourceRange range);
/// `{a, b}`, nested braces for members that are structs.
RValue structValue(IRGen &g, const ast::Struct &decl, const ast::Expr &value);
/// A struct of the values of its members, which are brought to their declared types; an error if their number differs.
RValue makeStruct(IRGen &g, const ast::Struct &decl, std::vector<RValue> values, SourceRange range);

} // namespace toy

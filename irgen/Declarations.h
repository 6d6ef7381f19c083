// SPDX-License-Identifier: Apache-2.0
/// \file
/// Declared types: what signatures say about sizes, and values under declared types.
#pragma once

#include "irgen/Context.h"

namespace toy {

Dim sizeDim(IRGen &g, const ast::Expr &e);
void collectDeclared(IRGen &g, const ast::TypeExpr &type, llvm::function_ref<void(Dim, const ast::Expr &)> visit);
std::set<std::string> sizeNamesOf(IRGen &g, const ast::Function &decl);
std::vector<Dim> sizeEquations(IRGen &g, const ast::Function &decl, const std::set<std::string> &names);
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
llvm::StringMap<Dim> declareArguments(IRGen &g, const ast::Function &decl, std::vector<RValue> &values,
                                      llvm::ArrayRef<SourceRange> ranges);
void bindSizes(IRGen &g, const ast::Function &decl, llvm::ArrayRef<RValue> arguments);
RValue declaredResult(IRGen &g, RValue value, SourceRange range);
RValue declaredLocal(IRGen &g, RValue value, const ast::TypeExpr &type, const std::string &name, SourceRange range);
void checkMembers(IRGen &g, const ast::Struct &decl, RValue &value, SourceRange range);
RValue structValue(IRGen &g, const ast::Struct &decl, const ast::Expr &value);
RValue makeStruct(IRGen &g, const ast::Struct &decl, std::vector<RValue> values, SourceRange range);

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values that are known while the program is compiled, and arguments that have to be.
#pragma once

#include "irgen/Context.h"

namespace toy {

std::optional<int64_t> constantOf(mlir::Value value);
/// The text of a string that is written in the program.
std::optional<llvm::StringRef> stringOf(const Val &value);
/// The leaves of a value that is known while the program is compiled: integers and texts.
std::optional<llvm::SmallVector<mlir::Attribute>> constantLeaves(IRGen &g, const Val &value, SourceRange range);
/// Such a value of a type in the function that is generated.
Val constantValue(IRGen &g, const TypeDesc &type, llvm::ArrayRef<mlir::Attribute> leaves, SourceRange range);
/// A constant integer, bool, dtype or text argument.
void needStatic(IRGen &g, mlir::Value value);
int64_t staticInteger(IRGen &g, const ast::Expr &e, llvm::StringRef what);
bool staticBool(IRGen &g, const ast::Expr &e, llvm::StringRef what);
std::string staticString(IRGen &g, const ast::Expr &e, llvm::StringRef what);
DType staticDType(IRGen &g, const ast::Expr &e);
/// An i64 scalar.
mlir::Value indexValue(IRGen &g, const ast::Expr &e, llvm::StringRef what);
mlir::Value indexValue(IRGen &g, const Val &v, SourceRange range, llvm::StringRef what);
/// The items of `[a, b]`, a tuple, or a single value, as i64 scalars.
llvm::SmallVector<mlir::Value> indexList(IRGen &g, const ast::Expr &e, llvm::StringRef what);
llvm::SmallVector<int64_t> staticList(IRGen &g, const ast::Expr &e, llvm::StringRef what);
llvm::SmallVector<int64_t> staticList(IRGen &g, const Val &v, SourceRange range, llvm::StringRef what);

} // namespace toy

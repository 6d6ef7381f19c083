// SPDX-License-Identifier: Apache-2.0
/// \file
/// Expressions: names, members, conditions, literals.
#pragma once

#include "irgen/Context.h"

namespace toy {

// Expressions.cpp
Val genExpr(IRGen &g, const ast::Expr &e);
/// A rank-0 bool as i1.
mlir::Value genCondition(IRGen &g, const ast::Expr &e);

// Literals.cpp
Val genNumber(IRGen &g, const ast::Number &n);
Val genBracket(IRGen &g, const ast::Bracket &bracket, std::optional<DType> dtype = std::nullopt);
bool isLiteral(const ast::Expr &e);
mlir::Value numberAs(IRGen &g, const ast::Expr &literal, DType dtype);

// Variables.cpp
Variable *lookup(IRGen &g, llvm::StringRef name);
Val readVariable(IRGen &g, const std::string &name, SourceRange range, bool &found);
void defineVariable(IRGen &g, const std::string &name, Val value, SourceRange range, bool declare);
[[noreturn]] void unknownName(IRGen &g, const std::string &name, SourceRange range, bool isFunction);
Val globalValue(IRGen &g, const std::string &name, const TypeDesc &type, SourceRange range);
/// The type of a top-level variable here: as this statement has made it so far, else as the session has it. Sizes
/// that only the run knows are `?`.
std::optional<TypeDesc> globalType(IRGen &g, const std::string &name);
void storeGlobal(IRGen &g, const std::string &name, const Val &value, SourceRange range);
/// Stores what the statement has assigned and a callee, or what it calls, reads.
void storeFor(IRGen &g, const ast::Function &callee, SourceRange range);
/// The types of the top-level variables that a function and what it calls read: part of the keys of its instances.
std::string globalsKey(IRGen &g, const ast::Function &decl);

} // namespace toy

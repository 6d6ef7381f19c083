// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls and functions: arguments, specializations, instances, returns.
#pragma once

#include "irgen/Context.h"

namespace toy {

/// The expressions that a call gives to parameters, in their order; null: default.
using BoundArguments = std::vector<std::pair<std::string, const ast::Expr *>>;

inline bool isLibrary(IRGen &g, const ast::Function &decl) {
  return g.diagnostics.getSources().get(decl.range.buffer).getName() == "<library>";
}
/// The user's function or struct of a name, or null; the library sees none of them.
inline const ast::Function *userFunction(IRGen &g, const std::string &name) {
  return g.fn().decl && isLibrary(g, *g.fn().decl) ? nullptr : g.host.definitions().function(name);
}
inline const ast::Struct *userStruct(IRGen &g, const std::string &name) {
  return g.fn().decl && isLibrary(g, *g.fn().decl) ? nullptr : g.host.definitions().structure(name);
}

Val genCall(IRGen &g, const ast::Call &c);
BoundArguments bindArguments(IRGen &g, const ast::Call &c, llvm::ArrayRef<std::string> parameters,
                             llvm::ArrayRef<bool> optional, const std::string &function);
[[noreturn]] void unknownArgument(IRGen &g, const std::string &function, const ast::Argument &argument,
                                  llvm::ArrayRef<std::string> parameters);

std::string instanceKey(IRGen &g, const ast::Function &decl, llvm::ArrayRef<Val> values,
                        const std::set<unsigned> &statics, llvm::ArrayRef<SourceRange> ranges);
/// Names of sizes in a type.
void collectNames(mlir::Type type, std::set<std::string> &names);

std::shared_ptr<Specialization> specialize(IRGen &g, const ast::Function &decl, const ast::Call &call,
                                           std::vector<Val> &values, const std::set<unsigned> &statics,
                                           llvm::function_ref<std::string(llvm::ArrayRef<Val>)> keyOf,
                                           llvm::ArrayRef<SourceRange> ranges);

const Instance &instantiate(IRGen &g, const ast::Function &decl, llvm::ArrayRef<Val> arguments, const std::string &key,
                            SourceRange callRange, const std::set<unsigned> &statics,
                            std::shared_ptr<Specialization> form = nullptr);
void genReturn(IRGen &g, const ast::Return &s);

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls and functions: arguments, specializations, instances, returns.
#pragma once

#include "irgen/Context.h"

namespace toy {

/// The expressions that a call gives to parameters, in their order; null: default.
using BoundArguments = std::vector<std::pair<std::string, const ast::Expr *>>;

inline bool isLibrary(IRGen &g, const ast::Function &decl) { return g.diagnostics.getSources().isLibrary(decl.range); }
/// The user's function or struct of a name, or null; the library sees none of them.
inline const ast::Function *userFunction(IRGen &g, const std::string &name) {
  return g.fn().decl && isLibrary(g, *g.fn().decl) ? nullptr : g.host.definitions().function(name);
}
inline const ast::Struct *userStruct(IRGen &g, const std::string &name) {
  return g.fn().decl && isLibrary(g, *g.fn().decl) ? nullptr : g.host.definitions().structure(name);
}

/// A function that is called. The values of what it has captured stand behind its arguments.
struct Callee {
  const ast::Function &decl;
  std::vector<std::string> captured = {};

  Callee(const ast::Function &decl, std::vector<std::string> captured = {})
      : decl(decl), captured(std::move(captured)) {}
  const std::string &nameOf(size_t argument) const {
    size_t n = decl.parameters.size();
    return argument < n ? decl.parameters[argument].name : captured[argument - n];
  }
};

/// A call of a name, of a member, or of what any other expression gives.
RValue genCall(IRGen &g, const ast::Call &c);
/// The function of a name that is no variable: the user's, the constructor of a struct, or what is built in.
std::optional<RValue> namedFunction(IRGen &g, const std::string &name);
/// A lambda, or a definition inside a function or block, with copies of the local variables that it mentions.
RValue closureOf(IRGen &g, const ast::Function &decl);
/// What a call of a declaration, of a name that is no variable (false where it means nothing), and of a dtype gives.
/// `function` holds what the declaration has captured.
RValue callFunction(IRGen &g, const ast::Function &decl, const RValue &function, const ast::Call &c,
                    const std::string &name);
/// Whether the arguments of a call by name can be bound: an error, or nothing.
void checkCall(IRGen &g, const ast::Call &c);
/// Calls what a name means that is no variable; false where it means nothing.
bool callNamed(IRGen &g, const std::string &name, const ast::Call &c, RValue &result);
/// Whether a call means what the language has under a name: no function, struct or variable with a function of the
/// program takes its place.
bool isCallOf(IRGen &g, const ast::Call *call, llvm::StringRef name);
/// `D(x)`: literals and brackets directly below are read in D with one rounding; strings are parsed.
RValue genConversion(IRGen &g, DType dtype, const ast::Call &c);
/// Calls a value, which the text calls `name`.
RValue callValue(IRGen &g, const RValue &callee, const ast::Call &c, const std::string &name);
/// Calls a private function of the library; `source` is the place of all arguments.
RValue callPrivate(IRGen &g, llvm::StringRef name, llvm::ArrayRef<RValue> arguments, SourceRange source,
                   SourceRange range);
/// Calls a value with values; `sources` are the places of the arguments.
RValue callWithValues(IRGen &g, const RValue &callee, llvm::ArrayRef<RValue> arguments,
                      llvm::ArrayRef<SourceRange> sources, SourceRange range);
/// Positional and keyword arguments in the order of the parameters; `dim` is an alias of `axis`. `definition` is shown
/// where the call does not fit.
BoundArguments bindArguments(IRGen &g, const ast::Call &c, llvm::ArrayRef<std::string> parameters,
                             llvm::ArrayRef<bool> optional, const std::string &function, SourceRange definition = {});
/// What a function does elsewhere that is called without one of its parameters, or with something else for it; or "".
std::string otherMeaning(llvm::StringRef function, llvm::StringRef parameter);
/// The error for a keyword that names no parameter, with the name that others use for one of ours.
[[noreturn]] void unknownArgument(IRGen &g, const std::string &function, const ast::Argument &argument,
                                  llvm::ArrayRef<std::string> parameters);

/// The default of a parameter or member sees top-level names as they are now, and what its function has captured.
RValue defaultOf(IRGen &g, const ast::Parameter &parameter, const RValue &function);
/// Instances of a function differ by the types of their arguments and by constants; types of top-level variables come
/// on top (see globalsKey).
std::string instanceKey(IRGen &g, const Callee &callee, llvm::ArrayRef<RValue> values, const StaticLeaves &statics,
                        llvm::ArrayRef<SourceRange> ranges);
/// Names of sizes in a type.
void collectNames(mlir::Type type, std::set<std::string> &names);

/// Chooses or makes the specialization of a function for a call from the top level; `values` get its types. Null where
/// every size is declared, and for calls from other functions, which are generated for what they are given.
std::shared_ptr<Specialization> specialize(IRGen &g, const Callee &callee, const ast::Call &call,
                                           std::vector<RValue> &values, const StaticLeaves &statics,
                                           llvm::function_ref<std::string(llvm::ArrayRef<RValue>)> keyOf,
                                           llvm::ArrayRef<SourceRange> ranges);

/// The instance of a function under a key (see instanceKey): generated the first time, and declared in this module.
const Instance &instantiate(IRGen &g, const Callee &callee, llvm::ArrayRef<RValue> arguments, const std::string &key,
                            SourceRange callRange, const StaticLeaves &statics,
                            std::shared_ptr<Specialization> specialization = nullptr);
void genReturn(IRGen &g, const ast::Return &s);

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Decisions about sizes while a function is generated: what is known, what becomes a guard, what the run checks.
#pragma once

#include "irgen/Context.h"

namespace toy {

/// Whether a size is an expression of dynamic sizes, about which this specialization may decide.
bool isFree(IRGen &g, Dim dim);
int64_t hintOf(IRGen &g, Dim dim);
/// Whether a size is made of names that a signature declares, and of nothing that only data decides, so that what is
/// taken to be equal has to be proven. Quotients are left to the run: too little is proven about the parity of sizes
/// (`x[:D//2] * x[D//2:]`).
bool isDeclared(Dim dim, const std::set<std::string> &names);
/// Whether a fact holds, with a guard (or check) where that does not follow from earlier ones. A check that fails is
/// not noted.
bool decideSize(Specialization &specialization, SizeFact fact, SourceRange range, bool isCheck = false);
inline bool decideSize(IRGen &g, SizeFact fact, SourceRange range, bool isCheck = false) {
  return decideSize(*g.fn().sizes, fact, range, isCheck);
}
/// The integer of a free size, with a guard; or nothing.
std::optional<int64_t> decidedInteger(IRGen &g, mlir::Value value, SourceRange range);
std::optional<SizeFact> comparison(ast::BinaryOp op, std::optional<Dim> a, std::optional<Dim> b);
/// What a condition says about sizes.
std::vector<SizeFact> factsOf(IRGen &g, const ast::Expr &condition);
/// A constant, or a comparison of sizes that this specialization decides.
std::optional<int64_t> knownCondition(IRGen &g, mlir::Value condition, SourceRange range);
/// A fact about sizes that the program relies on: where it is proven nothing is done, where it can never hold `refuse`
/// reports that, and otherwise `check` makes the program ask; from there on it is known.
void requireFact(IRGen &g, SizeFact fact, SourceRange range, llvm::function_ref<void()> refuse,
                 llvm::function_ref<void()> check);
/// Of sizes that a rule takes to be equal a specialization decides which are. True where an operand's type now says
/// more.
bool decideSizes(IRGen &g, llvm::MutableArrayRef<mlir::Value> operands, llvm::ArrayRef<SizeAssumption> assumptions,
                 SourceRange range);
/// Sees to it that axes have the sizes that a rule wants: proven, decided by this specialization, or checked at run
/// time. True where an operand's type now says more.
bool haveWanted(IRGen &g, llvm::MutableArrayRef<mlir::Value> operands, llvm::ArrayRef<WantedSize> all,
                llvm::StringRef what, SourceRange range);

/// Inside of `try`, what another size of a value would allow fails when it runs. Goes on where the text alone decides
/// it.
void failLater(IRGen &g, mlir::Value value, const CertainFailure &failure);

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Statements; branches and loops as a control-flow graph.
#pragma once

#include "irgen/Context.h"

namespace toy {

void genStatement(IRGen &g, const ast::Stmt &s);
/// Before a statement: the program stops here if it goes on step by step.
void genStep(IRGen &g, const ast::Stmt &s);
/// One of a row of statements: if it is reached, and so that an error in it does not hide what follows where the
/// program is only looked at.
void genNext(IRGen &g, const ast::Stmt &s);
void genBlock(IRGen &g, const ast::Block &block);
void genWrite(IRGen &g, const ast::Expr &e, SourceRange range);
/// The leaves of a value that are printed; the text of a function holds none.
void printedLeaves(const RValue &v, llvm::SmallVectorImpl<mlir::Value> &leaves);
/// The structure of a value for `toy.print`: `_` a leaf, `(_, _)` a tuple, `Pair{a: _, b: _}` a struct, `$6:fn sin` a
/// text of 6 bytes.
std::string structureOf(const RValue &v);
/// How `print` separates and ends its values, and where they go; null: as usual.
struct PrintWords {
  const ast::Expr *sep = nullptr, *end = nullptr, *to = nullptr;
};
/// The arguments of `load` that are about .csv files; all are constants.
CsvOptions csvOptions(IRGen &g, llvm::function_ref<const ast::Expr *(llvm::StringRef)> argument);
/// `var x: T = load(…)` and `S s = load(…)`, whose members are arrays or columns by their names.
RValue loadedValue(IRGen &g, const ast::Call &call, const ast::TypeExpr &type);
RValue loadedStruct(IRGen &g, const ast::Call &call, const ast::Struct &decl);
void genPrint(IRGen &g, llvm::ArrayRef<const ast::Expr *> values, const PrintWords &words, SourceRange range);

/// A tuple of `count` elements, for names beside each other: a tuple, or a tensor, whose rows they are.
RValue takenApart(IRGen &g, const RValue &value, size_t count, SourceRange range, SourceRange names);

void genIf(IRGen &g, const ast::If &s);
void genWhile(IRGen &g, const ast::While &s);
void genFor(IRGen &g, const ast::For &s);
void genTry(IRGen &g, const ast::Try &s);
RValue genTryElse(IRGen &g, const ast::TryElse &e);
/// Generates code that may turn out to end before its end; what follows is then not reached.
void genGuarded(IRGen &g, llvm::function_ref<void()> generate);
/// The end of the current block is never reached.
[[noreturn]] void neverReturns(IRGen &g);
/// Ends the blocks whose end is never reached: the function returns what stands for values of its result's types.
void endDead(IRGen &g, mlir::TypeRange results, SourceRange range);
/// Whether errors that data decide are caught around the code that is generated.
inline bool isTried(IRGen &g) { return g.fn().isTried || g.fn().tries > 0; }
/// An operation that fails as an error at run time does.
void raise(IRGen &g, DiagId id, llvm::ArrayRef<std::string> args, SourceRange range);
/// The common form of loops. Function references: their functions live until the loop is generated.
struct Loop {
  const void *key; ///< one for all attempts to generate it
  SourceRange range;
  std::vector<std::string> names; ///< variables that the body may change
  bool counted;
  llvm::function_ref<mlir::Value(mlir::Value counter)> test; ///< the condition, in the header
  llvm::function_ref<void(mlir::Value counter)> body;        ///< in a scope of its own
  mlir::Value from = {};                                     ///< what is counted from; null: from 0
  int64_t step = 1;
};
void genLoop(IRGen &g, const Loop &loop);
/// `break` and `continue`.
void leaveLoop(IRGen &g, const ast::Stmt &s, bool isBreak);
/// Variables in view that assignments inside may change, in order of appearance; their values, taken and put back.
std::vector<std::string> assignedIn(IRGen &g, const ast::Node &node);
std::vector<RValue> snapshot(IRGen &g, llvm::ArrayRef<std::string> names);
void restore(IRGen &g, llvm::ArrayRef<std::string> names, llvm::ArrayRef<RValue> values);
/// A block where edges meet; its arguments are the values, which are returned.
std::vector<RValue> mergeEdges(IRGen &g, llvm::ArrayRef<Edge> edges, llvm::ArrayRef<std::string> names,
                               SourceRange range);
/// The leaves of values under types that name their sizes otherwise.
llvm::SmallVector<mlir::Value> relabelled(IRGen &g, llvm::ArrayRef<RValue> values, llvm::ArrayRef<ValueType> types,
                                          SourceRange range);
inline bool reachable(IRGen &g) { return g.current != nullptr; }
/// Code goes to the end of a block from here on; null: what follows is not reached.
void moveTo(IRGen &g, mlir::Block *block);
mlir::Block *newBlock(IRGen &g);

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Declared sizes: how the names in them follow from the sizes of values, and that every declared size is proven or
/// checked. Parameters, results, locals, struct members and loaded files all come here, so that nothing about a size is
/// believed anywhere.
#pragma once

#include "irgen/Context.h"

#include "llvm/ADT/StringSet.h"

#include <functional>

namespace toy {

/// A name of a size as it follows from one equation `expression == size`: (size - rest) // factor.
struct SizeSolution {
  std::string name;
  size_t equation;
  int64_t factor;
  Dim rest; ///< over names that are known or solved before
};

/// Solves equations for the names that are not `known`, which gets them: those that stand alone first, then those that
/// are linear in one unknown name. What is left is appended to `unsolved`.
std::vector<SizeSolution> solveSizes(llvm::ArrayRef<Dim> expressions, llvm::StringSet<> &known,
                                     std::vector<std::string> &unsolved);

/// The declared sizes of one place (a call, a return, a declaration).
class SizeBinder {
public:
  explicit SizeBinder(IRGen &g) : g(g) {}

  /// A name that has a meaning here already; `value` is an i64 scalar.
  void know(llvm::StringRef name, Dim dim, mlir::Value value);
  /// An axis of `x` is declared to have this size. `refuse(wanted)` reports the error of a size that can never fit;
  /// `what` names the sizes when they differ while the program runs.
  void declare(Dim size, mlir::Value x, int64_t axis, SourceRange range, std::string what,
               std::function<void(Dim wanted)> refuse);
  /// All declared sizes of a value. `name` and `written` are for errors.
  void declare(const ast::TypeExpr &type, const RValue &value, SourceRange range, const std::string &what,
               const std::function<void(const ast::TypeExpr &, const RValue &, int64_t axis, Dim wanted)> &refuse);
  /// From a `where` clause.
  void declareZero(Dim expression) { equations.push_back({expression, {}, 0, {}, {}, {}}); }

  /// Finds what names stand for; gives those that cannot be found.
  std::vector<std::string> solve();
  /// Every declared size is proven, refuted, or checked at run time; every solved name is 0 or more.
  void require();

  bool isKnown(llvm::StringRef name) const { return names.count(name); }
  /// Names that `solve` found.
  llvm::ArrayRef<SizeSolution> solved() const { return solutions; }
  /// A size in the names of this place.
  Dim here(Dim declared) const { return declared.substitute(dims); }
  const llvm::StringMap<Dim> &sizes() const { return dims; }
  /// An i64 scalar.
  mlir::Value valueOf(Dim declared, SourceRange range);

private:
  struct Equation {
    Dim size;
    mlir::Value x; ///< null: the expression is 0
    int64_t axis;
    SourceRange range;
    std::string what;
    std::function<void(Dim wanted)> refuse;
  };
  mlir::Value valueOf(llvm::StringRef name, SourceRange range);

  IRGen &g;
  std::vector<Equation> equations;
  std::vector<SizeSolution> solutions;
  llvm::StringSet<> names;
  llvm::StringMap<Dim> dims;
  llvm::StringMap<mlir::Value> values;
};

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes of tensors: a number or a symbolic expression over named sizes, kept in one canonical form so that equal expressions are equal values.
#pragma once

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <optional>
#include <string>

namespace toy {

/// A size. Uniqued in the MLIR context: comparing two sizes compares pointers. A number is an IntegerAttr, anything else a StringAttr whose text
/// is the canonical polynomial (`2*M*N+N+3`) over names and the atoms `(p//q)`, `(p%q)`, `min(p,q)`, `max(p,q)`.
/// Arithmetic is exact over the integers; coefficients that would overflow 64 bits give no value (asserted: sizes are below 2^63).
class Dim {
public:
  Dim() = default;
  explicit Dim(mlir::Attribute attr) : attr(attr) {}
  static Dim number(mlir::MLIRContext *context, int64_t value);
  /// A size named in a signature, or a fresh name of the compiler.
  static Dim symbol(mlir::MLIRContext *context, llvm::StringRef name);
  /// Parses an expression of names, numbers, `+ - * // %`, parentheses, `min` and `max`; null when malformed.
  static std::optional<Dim> parse(mlir::MLIRContext *context, llvm::StringRef text);

  explicit operator bool() const { return static_cast<bool>(attr); }
  mlir::Attribute getAttr() const { return attr; }
  bool isNumber() const;
  /// The number; only when isNumber().
  int64_t value() const;
  std::optional<int64_t> asNumber() const { return isNumber() ? std::optional(value()) : std::nullopt; }
  bool is(int64_t number) const { return isNumber() && value() == number; }
  /// The name when this is a single name, empty otherwise.
  llvm::StringRef symbolName() const;
  /// As the language writes it: `64`, `N`, `2*M`.
  std::string str() const;
  /// All names that occur, in order of first occurrence.
  void collectSymbols(llvm::function_ref<void(llvm::StringRef)> visit) const;
  /// Replaces names by sizes (names without an entry stay).
  Dim substitute(const llvm::StringMap<Dim> &values) const;

  /// Terms of the polynomial: coefficient and atoms; the constant comes last and has none.
  void forEachTerm(llvm::function_ref<void(int64_t coefficient, llvm::ArrayRef<std::string> atoms)> visit) const;
  /// An atom that is no name.
  struct Atom;
  static std::optional<Atom> atomParts(mlir::MLIRContext *context, llvm::StringRef atom);
  /// An atom as a size.
  static Dim opaque(mlir::MLIRContext *context, llvm::StringRef atom);
  /// A text of sizes with other names in it.
  static std::string renamed(llvm::StringRef text, const std::map<std::string, std::string> &names);

  Dim operator+(Dim other) const;
  Dim operator-(Dim other) const;
  Dim operator*(Dim other) const;
  /// Floor division and modulo; exact polynomial quotients by numbers are simplified (`(2*M)//2` is `M`).
  Dim floorDiv(Dim other) const;
  Dim mod(Dim other) const;
  Dim min(Dim other) const;
  Dim max(Dim other) const;

  bool operator==(Dim other) const { return attr == other.attr; }
  bool operator!=(Dim other) const { return attr != other.attr; }

private:
  mlir::Attribute attr;
};

struct Dim::Atom {
  enum Kind : uint8_t { Quotient, Remainder, Min, Max } kind;
  Dim left, right;
};

inline llvm::hash_code hash_value(Dim dim) { return mlir::hash_value(dim.getAttr()); }

} // namespace toy

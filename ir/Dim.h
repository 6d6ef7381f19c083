// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes of tensors: integer expressions over named sizes, kept in one canonical form so that equal expressions are
/// equal values.
#pragma once

#include "support/SizeLimit.h"

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>

namespace toy {

namespace detail {
struct DimStorage;
}
struct DimTerm;

/// What is known about an integer: bounds, and its remainder by `stride`.
struct SizeRange {
  static constexpr int64_t largest = INT64_MAX, smallest = INT64_MIN;

  int64_t lo = smallest, hi = largest; ///< `smallest` and `largest`: no bound
  int64_t stride = 1, offset = 0;      ///< values are offset modulo stride; stride 0: only the offset

  static SizeRange of(int64_t value) { return {value, value, 0, value}; }
  bool isNonNegative() const { return lo >= 0; }
};

/// A size: an immutable tree, uniqued in the MLIR context, so that comparing two sizes compares pointers. Every value
/// is one of
///
///   Constant     a number
///   Symbol       a name, whose value is 0 or more (any integer, if it begins with `$$`); any text may be a name
///   Sum          a constant and terms: a factor times a monomial
///   Product      a monomial of two or more atoms: atoms to powers
///   FloorDiv     p//q, an atom
///   Min, Max     of two or more members, atoms
///   Unknown      a size that only the run knows, printed as `?`; what is computed from it is unknown, and it equals
///   nothing
///
/// Terms, atoms and members are sorted by structure, so that texts and generated code are the same in every process.
/// Where a size is made: `p%q` becomes `p - q*(p//q)`; quotients by numbers keep only what the number does not divide;
/// members of Min and Max are flat, what all of them share stands outside (`max(N-1,0)` is `max(N,1)-1`), members that
/// the others always exceed go, and factors of Min and Max are positive (`-min(p,q)` is `max(-p,-q)`). So `a -
/// min(a,b)` is `max(0,a-b)`, and `max(p,q)+r` is `max(p+r,q+r)`.
///
/// Arithmetic is exact over the integers. A coefficient beyond 64 bits, or an expression beyond the limits below, is
/// Unknown.
class Dim {
public:
  enum class Kind : uint8_t { Unknown, Constant, FloorDiv, Symbol, Max, Min, Product, Sum };
  static constexpr unsigned mostTerms = 64, mostLevels = 16, mostNodes = 256, mostDegree = 64, mostMembers = 16;

  Dim() = default;
  explicit Dim(mlir::Attribute attr) : attr(attr) {}
  static Dim number(mlir::MLIRContext *context, int64_t value);
  static Dim unknown(mlir::MLIRContext *context);
  /// A size named in a signature, or a fresh name of the compiler; `?` is the unknown size, and names that begin with
  /// `$$` are any integers.
  static Dim symbol(mlir::MLIRContext *context, llvm::StringRef name);
  /// Parses an expression of names, numbers, `+ - * // %`, parentheses, `min` and `max`; none when malformed.
  static std::optional<Dim> parse(mlir::MLIRContext *context, llvm::StringRef text);

  static bool isDim(mlir::Attribute attr);
  explicit operator bool() const { return static_cast<bool>(attr); }
  mlir::Attribute getAttr() const { return attr; }
  mlir::MLIRContext *getContext() const { return attr.getContext(); }
  Kind kind() const;
  bool isUnknown() const { return kind() == Kind::Unknown; }
  bool isNumber() const { return kind() == Kind::Constant; }
  /// The number; only when isNumber().
  int64_t value() const;
  std::optional<int64_t> asNumber() const { return isNumber() ? std::optional(value()) : std::nullopt; }
  bool is(int64_t number) const { return isNumber() && value() == number; }
  /// The name when this is a single name, empty otherwise.
  llvm::StringRef symbolName() const;
  /// What follows for symbols from 0 on.
  SizeRange range() const;

  /// Constant, or the constant of a sum; 0 otherwise.
  int64_t constant() const;
  /// The terms of a sum; any other size but constants is one term of its own.
  void forEachTerm(llvm::function_ref<void(int64_t factor, Dim monomial)> visit) const;
  /// The atoms of a monomial, with their powers.
  void forEachAtom(llvm::function_ref<void(int64_t power, Dim atom)> visit) const;
  /// FloorDiv: dividend and divisor; Min and Max: the members.
  llvm::ArrayRef<Dim> operands() const;

  /// As the language writes it: `64`, `N`, `2*M`. `shown` gives other texts for names.
  std::string str(llvm::function_ref<std::string(llvm::StringRef)> shown = nullptr) const;
  /// The terms with positive factors and the others, without their signs.
  std::pair<std::string, std::string> sides(llvm::function_ref<std::string(llvm::StringRef)> shown = nullptr) const;
  /// All names that occur, each once.
  void collectSymbols(llvm::function_ref<void(llvm::StringRef)> visit) const;
  /// Replaces names by sizes (names without an entry stay).
  Dim substitute(const llvm::StringMap<Dim> &values) const;
  /// The value, where every name has one; none where it leaves 64 bits on the way or divides by 0.
  std::optional<int64_t> evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf) const;
  std::optional<int64_t> evaluate(const llvm::StringMap<Dim> &values) const;
  /// The same size in another context.
  Dim in(mlir::MLIRContext *context) const;

  Dim operator+(Dim other) const;
  Dim operator-(Dim other) const;
  Dim operator*(Dim other) const;
  /// Floor division and modulo, by the sign of the divisor as in the language.
  Dim floorDiv(Dim other) const;
  Dim mod(Dim other) const;
  Dim min(Dim other) const;
  Dim max(Dim other) const;

  /// The order of terms and members: structural, the same in every process.
  static int compare(Dim a, Dim b);

  bool operator==(Dim other) const { return attr == other.attr; }
  bool operator!=(Dim other) const { return attr != other.attr; }

private:
  const detail::DimStorage &storage() const;
  mlir::Attribute attr;
};

/// A factor and a monomial of a sum, or a power and an atom of a product.
struct DimTerm {
  int64_t factor;
  Dim dim;
  bool operator==(const DimTerm &other) const { return factor == other.factor && dim == other.dim; }
};

inline llvm::hash_code hash_value(Dim dim) { return mlir::hash_value(dim.getAttr()); }

/// Integer arithmetic that says when it leaves 64 bits or divides by 0.
namespace checked {
std::optional<int64_t> add(int64_t a, int64_t b);
std::optional<int64_t> subtract(int64_t a, int64_t b);
std::optional<int64_t> multiply(int64_t a, int64_t b);
std::optional<int64_t> floorDivide(int64_t a, int64_t b);
} // namespace checked

/// The bounds of a size, where `known` has what is known about names and atoms beyond what holds for all.
SizeRange rangeOf(Dim dim, llvm::function_ref<std::optional<SizeRange>(Dim atom)> known);
/// Values that lie in both ranges.
SizeRange intersection(SizeRange a, SizeRange b);

} // namespace toy

namespace llvm {
template <> struct DenseMapInfo<toy::Dim> {
  static toy::Dim getEmptyKey() { return toy::Dim(DenseMapInfo<mlir::Attribute>::getEmptyKey()); }
  static toy::Dim getTombstoneKey() { return toy::Dim(DenseMapInfo<mlir::Attribute>::getTombstoneKey()); }
  static unsigned getHashValue(toy::Dim dim) { return DenseMapInfo<mlir::Attribute>::getHashValue(dim.getAttr()); }
  static bool isEqual(toy::Dim a, toy::Dim b) { return a == b; }
};
} // namespace llvm

namespace toy {

/// The steps that compute a known size from its symbols, always the same ones in the same order: evaluation, guards,
/// and code for run-time sizes overflow alike. Every node is computed once.
template <typename Value> class DimComputation {
public:
  enum Operation : uint8_t { Add, Subtract, Multiply, FloorDivide, Minimum, Maximum };
  virtual ~DimComputation() = default;
  virtual Value constant(int64_t n) = 0;
  virtual Value symbol(llvm::StringRef name) = 0;
  virtual Value combine(Operation op, Value a, Value b) = 0;

  Value compute(Dim dim) {
    if (auto it = done.find(dim); it != done.end())
      return it->second;
    Value value = computeNode(dim);
    done.insert({dim, value});
    return value;
  }

private:
  Value computeNode(Dim dim) {
    switch (dim.kind()) {
    case Dim::Kind::Constant:
      return constant(dim.value());
    case Dim::Kind::Symbol:
      return symbol(dim.symbolName());
    case Dim::Kind::FloorDiv: {
      Value dividend = compute(dim.operands()[0]);
      return combine(FloorDivide, dividend, compute(dim.operands()[1]));
    }
    case Dim::Kind::Min:
    case Dim::Kind::Max: {
      Value value = compute(dim.operands()[0]);
      for (Dim member : dim.operands().drop_front())
        value = combine(dim.kind() == Dim::Kind::Min ? Minimum : Maximum, value, compute(member));
      return value;
    }
    default:
      return sum(dim);
    }
  }

  /// What is added, then what is subtracted.
  Value sum(Dim dim) {
    std::optional<Value> total;
    auto accumulate = [&](Operation op, Value value) { total = total ? combine(op, *total, value) : value; };
    auto term = [&](int64_t factor, Dim monomial) {
      std::optional<Value> product;
      if (factor != 1)
        product = constant(factor);
      monomial.forEachAtom([&](int64_t power, Dim atom) {
        for (; power > 0; --power)
          product = product ? combine(Multiply, *product, compute(atom)) : compute(atom);
      });
      return *product;
    };
    auto isSubtracted = [](int64_t factor) { return factor < 0 && factor != INT64_MIN; };
    dim.forEachTerm([&](int64_t factor, Dim monomial) {
      if (!isSubtracted(factor))
        accumulate(Add, term(factor, monomial));
    });
    if (int64_t n = dim.constant(); (n != 0 && !isSubtracted(n)) || !total)
      accumulate(Add, constant(isSubtracted(n) ? 0 : n));
    if (int64_t n = dim.constant(); isSubtracted(n))
      accumulate(Subtract, constant(-n));
    dim.forEachTerm([&](int64_t factor, Dim monomial) {
      if (isSubtracted(factor))
        accumulate(Subtract, term(-factor, monomial));
    });
    return *total;
  }

  llvm::DenseMap<Dim, Value> done;
};

} // namespace toy

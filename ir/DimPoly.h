// SPDX-License-Identifier: Apache-2.0
/// \file
/// The storage of sizes, and the sums that they are computed with. For the files of Dim only.
#pragma once

#include "ir/Dim.h"

#include "mlir/IR/AttributeSupport.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace toy {
namespace detail {

/// One node. Which fields mean something depends on the kind.
struct DimKey {
  Dim::Kind kind;
  int64_t constant = 0;               ///< Constant, Sum
  llvm::StringRef name = {};          ///< Symbol
  llvm::ArrayRef<DimTerm> terms = {}; ///< Sum: factors and monomials; Product: powers and atoms
  llvm::ArrayRef<Dim> operands = {};  ///< FloorDiv, Min, Max
  bool operator==(const DimKey &other) const {
    return kind == other.kind && constant == other.constant && name == other.name && terms == other.terms &&
           operands == other.operands;
  }
};

struct DimStorage : mlir::AttributeStorage {
  using KeyTy = DimKey;
  explicit DimStorage(DimKey key) : key(key) {}
  bool operator==(const KeyTy &other) const { return key == other; }
  static llvm::hash_code hashKey(const KeyTy &key);
  static DimStorage *construct(mlir::AttributeStorageAllocator &allocator, const KeyTy &key);

  DimKey key;
  unsigned levels = 0; ///< of atoms inside atoms
  unsigned nodes = 1;  ///< counted as often as they occur
  unsigned degree = 1; ///< of a monomial
  SizeRange range;     ///< for symbols from 0 on
};

} // namespace detail

/// The attribute behind a Dim.
class DimAttr : public mlir::Attribute::AttrBase<DimAttr, mlir::Attribute, detail::DimStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "toy.dim";
  static constexpr llvm::StringLiteral dialectName = "toy";
  static constexpr llvm::StringLiteral getMnemonic() { return {"dim"}; }
};

namespace detail {

inline const DimKey &keyOf(Dim dim) { return static_cast<const DimStorage *>(dim.getAttr().getImpl())->key; }
inline const DimStorage &storageOf(Dim dim) { return *static_cast<const DimStorage *>(dim.getAttr().getImpl()); }
inline bool isExtremum(Dim::Kind kind) { return kind == Dim::Kind::Min || kind == Dim::Kind::Max; }
inline Dim::Kind opposite(Dim::Kind kind) { return kind == Dim::Kind::Min ? Dim::Kind::Max : Dim::Kind::Min; }

/// A sum while it is computed: terms are sorted and no factor is 0.
struct Poly {
  mlir::MLIRContext *context;
  int64_t constant = 0;
  llvm::SmallVector<DimTerm, 4> terms;
  bool isValid = true; ///< false: a factor left 64 bits, a limit was passed, or an operand is unknown

  explicit Poly(mlir::MLIRContext *context, int64_t constant = 0) : context(context), constant(constant) {}
  explicit Poly(Dim dim);
  bool isConstant() const { return isValid && terms.empty(); }
  void addConstant(int64_t value);
  void add(Dim monomial, int64_t factor);
  void add(const Poly &other, int64_t factor = 1);
  int64_t factorOf(Dim monomial) const;
  /// Takes a term out; its factor.
  int64_t take(Dim monomial);
};

/// The node; unknown where it is beyond the limits.
Dim nodeOf(mlir::MLIRContext *context, const DimKey &key);

Poly operator*(const Poly &a, const Poly &b);
/// The least or greatest of sums.
Poly extremum(Dim::Kind kind, llvm::SmallVector<Poly> members);
/// p//q.
Poly quotient(Poly p, Poly q);
/// The size that a sum stands for, in canonical form.
Dim dimOf(Poly sum);
/// Bounds of a sum.
SizeRange rangeOf(const Poly &sum, llvm::function_ref<std::optional<SizeRange>(Dim)> known = nullptr);
SizeRange rangeOfNode(const DimKey &key);
/// The remainder `p%q` in a sum: the term `-c*q*(p//q)` and the terms of `c*p`. Takes it out; c, or 0, and the
/// quotient.
DimTerm takeRemainder(Poly &sum, Dim term);

} // namespace detail
} // namespace toy

MLIR_DECLARE_EXPLICIT_TYPE_ID(toy::DimAttr)

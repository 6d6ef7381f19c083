// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values of the language while IR is generated.
#pragma once

#include "ir/ToyDialect.h"
#include "irgen/IRGen.h"

#include <optional>

namespace toy {

/// A value while IR is generated.
struct RValue {
  using Kind = ValueType::Kind;
  using enum ValueType::Kind;
  Kind kind = Nothing;
  mlir::Value value;                  ///< Leaf: a tensor or string
  bool weak = false;                  ///< Leaf: made of literals only; takes the precision of what it meets
  const ast::Expr *literal = nullptr; ///< the literal itself, to be read again in another dtype
  std::string structName;
  const ast::Function *code = nullptr; ///< Function: a lambda, or a definition inside a block; see ValueType
  std::vector<std::string> names;
  std::vector<RValue> elements;
  DType dtype = DType::F64;

  RValue() = default;
  RValue(mlir::Value v) : kind(Leaf), value(v) {}
  explicit RValue(DType dtype) : kind(DTypeRef), dtype(dtype) {}
  static RValue tuple(std::vector<RValue> elements) {
    RValue val;
    val.kind = Tuple;
    val.elements = std::move(elements);
    return val;
  }
  static RValue tuple(mlir::ValueRange leaves) {
    std::vector<RValue> elements;
    for (mlir::Value v : leaves)
      elements.push_back(v);
    return tuple(std::move(elements));
  }
  /// A list whose elements are leaves.
  static RValue list(mlir::Value leaves) {
    RValue val;
    val.kind = List;
    val.elements.push_back(leaves);
    return val;
  }
  bool isTensor() const { return kind == Leaf && llvm::isa<TensorType>(value.getType()); }
  bool isList() const { return kind == List; }
  bool isCallable() const { return kind == Function || kind == DTypeRef; }
  bool isStr() const { return kind == Leaf && llvm::isa<StrType>(value.getType()); }
  TensorType tensor() const { return llvm::cast<TensorType>(value.getType()); }
  int64_t rank() const { return tensor().getRank(); }
  ValueType type() const;
  /// A literal no more.
  void settle() {
    weak = false;
    literal = nullptr;
  }
  /// The type, for errors.
  std::string str() const { return kind == DTypeRef ? "a dtype" : type().str(); }
  void flatten(llvm::SmallVectorImpl<mlir::Value> &leaves) const;
};

/// Rebuilds a value of a type from its leaves, consumed from the front.
RValue unflatten(const ValueType &type, mlir::ValueRange &leaves);

} // namespace toy

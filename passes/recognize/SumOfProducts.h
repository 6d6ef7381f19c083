// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sums of two products, and the pairs of such sums that are the parts of one complex product.
#pragma once

#include "ir/ToyDialect.h"

#include "mlir/IR/Builders.h"

namespace toy {

/// ± lhs · rhs, elementwise or a matrix product. Negations of the product and of its operands are in the sign, which is
/// exact.
struct ProductTerm {
  mlir::Operation *op;
  mlir::Value lhs, rhs;
  bool negative;
};

/// A value that is the sum of two products of the same sort, rounded once after the products.
struct SumOfProducts {
  mlir::Operation *root;
  ProductTerm terms[2];
  bool isMatrix;

  bool hasMixedSigns() const { return terms[0].negative != terms[1].negative; }
  /// The four operands, sorted: the same for both parts of a complex product.
  llvm::SmallVector<void *, 4> operandKey() const;
};

/// Decomposes `x*y ± z*w`, `x@y ± z@w` and the exact double `2*(x*y)`.
std::optional<SumOfProducts> sumOfProducts(mlir::Operation *op);

/// The parts of (a + ib) · (c + id) with signs: re = acSign·ac + bdSign·bd, im = adSign·ad + bcSign·bc.
struct ComplexProduct {
  const SumOfProducts *re, *im;
  mlir::Value a, b, c, d;
  bool acNegative, bdNegative, adNegative, bcNegative;

  /// The operands' signs that give these: a is plain, the others may be negated.
  bool negateB() const { return bcNegative != acNegative; }
  bool negateC() const { return acNegative; }
  bool negateD() const { return adNegative; }
  bool isConjugated() const { return negateB() || negateC() || negateD(); }
  /// `re = a*c - b*d, im = a*d + b*c`, as it was written up to the order of terms.
  std::string form() const;
};

/// Why two sums over the same operands are no complex product.
enum class Mismatch : uint8_t { None, Signs, Order, Pairing };

/// The product whose real part is `re` and whose imaginary part is `im`.
///
/// For elementwise products factors may stand in any order; for matrix products a and b are left factors and c and d
/// right ones. The signs must satisfy ac·bd = -(ad·bc): then x·y, x·conj y, conj x·y, conj x·conj y and their negations
/// give exactly these sums, each rounded in the same places, because negation is exact and the sum of two terms does
/// not depend on their order.
std::optional<ComplexProduct> matchProduct(const SumOfProducts &re, const SumOfProducts &im, Mismatch &why,
                                           const ProductTerm *&culprit);

/// The same elements under the names of sizes that they had first.
mlir::Value withoutRelabel(mlir::Value x);
/// Whether types can only differ in how equal sizes are written.
bool isSameUpToNames(TensorType x, TensorType y);

/// Creates an operation with the result types of its rule; null where the rule refuses.
mlir::Value createByRule(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name, mlir::ValueRange operands);

} // namespace toy

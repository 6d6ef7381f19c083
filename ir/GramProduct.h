// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products of a matrix and its own transpose or adjoint, of which the library computes one triangle. Generation notes
/// them, so that the evaluator and compiled code agree; who computes one looks again, since passes change operands.
#pragma once

#include "ir/ToyDialect.h"

namespace toy {

/// On a product: 1 where the right factor is the left one's transpose, 2 where it is its adjoint.
constexpr llvm::StringLiteral gramAttribute = "toy.gram";

/// What the attribute would be, or 0.
inline int64_t gramKind(mlir::Value lhs, mlir::Value rhs) {
  struct Side {
    mlir::Value base;
    bool isTransposed = false, isConjugate = false;
    explicit Side(mlir::Value v) : base(v) {
      for (;;) {
        if (auto conj = base.getDefiningOp<ConjOp>()) {
          isConjugate = !isConjugate;
          base = conj.getX();
        } else if (auto permute = base.getDefiningOp<PermuteOp>(); permute && swapsLast(permute.getPermutation())) {
          isTransposed = !isTransposed;
          base = permute.getX();
        } else
          return;
      }
    }
    static bool swapsLast(llvm::ArrayRef<int64_t> axes) {
      const auto rank = static_cast<int64_t>(axes.size());
      for (int64_t i = 0; i < rank; ++i)
        if (axes[i] != (i < rank - 2 ? i : 2 * rank - 3 - i))
          return false;
      return rank >= 2;
    }
  };
  const DType dtype = tensorTypeOf(lhs).getDtype();
  const Side x(lhs), y(rhs);
  if (x.base != y.base || x.isTransposed == y.isTransposed || (!isFloat(dtype) && !isComplex(dtype)) || isHalf(dtype))
    return 0;
  return x.isConjugate == y.isConjugate ? 1 : 2;
}

/// That of a product whose operands are what generation saw.
inline int64_t gramKind(MatMulOp op) {
  auto noted = op->getAttrOfType<mlir::IntegerAttr>(gramAttribute);
  return noted && noted.getInt() == gramKind(op.getLhs(), op.getRhs()) ? noted.getInt() : 0;
}

} // namespace toy

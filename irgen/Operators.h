// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operators: promotion, broadcasting, matrix products, adjoints.
#pragma once

#include "irgen/Context.h"

namespace toy {

mlir::Value castTo(IRGen &g, mlir::Value x, DType dtype, SourceRange range);
mlir::Value castVal(IRGen &g, const Val &x, DType dtype, SourceRange range);
DType promoteAll(llvm::ArrayRef<Val> values);
const Val &needTensor(IRGen &g, const Val &x, llvm::StringRef what, SourceRange range);
Val elementwise(IRGen &g, llvm::StringRef op, const Val &lhs, const Val &rhs, DType dtype, SourceRange range,
                SourceRange lhsRange, SourceRange rhsRange);
template <typename Op>
Val elementwise(IRGen &g, const Val &lhs, const Val &rhs, DType dtype, SourceRange range, SourceRange lhsRange,
                SourceRange rhsRange) {
  return elementwise(g, IRGen::mnemonicOf<Op>(), lhs, rhs, dtype, range, lhsRange, rhsRange);
}
Val binaryOperation(IRGen &g, ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range, SourceRange opRange,
                    SourceRange lhsRange, SourceRange rhsRange);
Val unaryOperation(IRGen &g, ast::UnaryOp op, const Val &x, SourceRange range);
Val matmul(IRGen &g, const Val &lhs, const Val &rhs, SourceRange range, SourceRange lhsRange, SourceRange rhsRange);
Val adjoint(IRGen &g, const Val &x, SourceRange range);
Val transposeLast(IRGen &g, const Val &x, SourceRange range);

} // namespace toy

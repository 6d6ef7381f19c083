// SPDX-License-Identifier: Apache-2.0
/// \file
/// Constants that are made outside of generation.
#pragma once

#include "ir/ToyDialect.h"

namespace toy {

/// A scalar i64.
inline mlir::Value integerConstant(mlir::OpBuilder &b, mlir::Location loc, int64_t n) {
  auto value = mlir::DenseElementsAttr::get(mlir::RankedTensorType::get({}, b.getI64Type()), n);
  return ConstantOp::create(b, loc, TensorType::scalar(b.getContext(), DType::I64),
                            llvm::cast<mlir::ElementsAttr>(value));
}

/// The value of a scalar i64 constant.
inline std::optional<int64_t> constantInteger(mlir::Value v) {
  auto constant = v.getDefiningOp<ConstantOp>();
  auto value = constant ? llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValue()) : mlir::DenseElementsAttr();
  if (!value || !value.getElementType().isInteger(64) || value.getType().getRank() != 0)
    return std::nullopt;
  return *value.value_begin<int64_t>();
}

/// A scalar zero (false, +0, +0+0i) of any dtype.
inline mlir::Value zeroConstant(mlir::OpBuilder &b, mlir::Location loc, DType dtype) {
  const char bytes[16] = {};
  auto type = mlir::RankedTensorType::get({}, elementTypeOf(b.getContext(), dtype));
  auto value = mlir::DenseElementsAttr::getFromRawBuffer(type, llvm::ArrayRef(bytes, sizeOf(dtype)));
  return ConstantOp::create(b, loc, TensorType::scalar(b.getContext(), dtype), llvm::cast<mlir::ElementsAttr>(value));
}

} // namespace toy

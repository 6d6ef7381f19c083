// SPDX-License-Identifier: Apache-2.0
/// \file
/// Small tensors of one turn of a loop: what nothing keeps is in the frame of the function, if it is small when it is
/// made, and costs no allocation.
#pragma once

#include "ir/ToyDialect.h"

#include "llvm/IR/IRBuilder.h"

namespace toy {

/// Memory for a tensor: its header, which is complete but for the sizes, and elements.
struct FrameTensor {
  llvm::Value *header = nullptr, *data = nullptr;
  int64_t most = 0; ///< elements
};

/// Whether nothing keeps a value: it is not handed on, and only read, or stored into, where that is code of this
/// function or a kernel.
bool isReadInPlace(mlir::Value v);

/// Memory for a tensor of a type, in the frame of a function whose first block is its entry.
FrameTensor makeFrameTensor(llvm::Function *function, TensorType type);

/// Whether sizes are those of at most so many elements; those of several axes at most `mostOfAxis`, so that no product
/// of them goes over.
llvm::Value *areFew(llvm::IRBuilder<> &b, llvm::ArrayRef<llvm::Value *> sizes, int64_t most, int64_t mostOfAxis);

/// A tensor of such sizes, in the frame if it has a place there and has few elements, else in the memory of `reusable`,
/// of the same type, if nobody else holds that: its object, and where its elements are.
std::pair<llvm::Value *, llvm::Value *> makeTensor(llvm::Module &module, llvm::IRBuilder<> &b, DType dtype,
                                                   llvm::ArrayRef<llvm::Value *> sizes,
                                                   const FrameTensor *frame = nullptr, llvm::Value *reusable = nullptr);

} // namespace toy

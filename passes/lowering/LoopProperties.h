// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the emitters tell LLVM of a loop (`llvm.loop`).
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Metadata.h"

namespace toy {

/// A loop over a row or a part of one, which ends after any number of elements, many times.
inline constexpr llvm::StringLiteral loopOfRow = "toy.loop.row";

/// A property that has a value, or is just there.
inline llvm::MDNode *loopProperty(llvm::LLVMContext &context, llvm::StringRef name, llvm::Constant *value = nullptr) {
  llvm::SmallVector<llvm::Metadata *, 2> parts = {llvm::MDString::get(context, name)};
  if (value)
    parts.push_back(llvm::ConstantAsMetadata::get(value));
  return llvm::MDNode::get(context, parts);
}

/// Gives the loop whose last branch this is its properties, if there are any.
inline void describeLoop(llvm::Instruction *latch, llvm::ArrayRef<llvm::Metadata *> properties) {
  if (properties.empty())
    return;
  llvm::SmallVector<llvm::Metadata *> all = {nullptr};
  all.append(properties.begin(), properties.end());
  llvm::MDNode *loop = llvm::MDNode::getDistinct(latch->getContext(), all);
  loop->replaceOperandWith(0, loop); // what makes it this loop's own
  latch->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Expressions of sizes as LLVM IR. Steps that could leave 64 bits are checked; most cannot, because sizes are below
/// 2^47.
#pragma once

#include "ir/Dim.h"
#include "support/SizeLimit.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

#include <cmath>

namespace toy {

/// A value, and a bound of its magnitude.
struct BoundedValue {
  llvm::Value *value = nullptr;
  double most = 0x1p63;
};

class SizeEmitter : public DimComputation<BoundedValue> {
public:
  SizeEmitter(llvm::IRBuilder<> &b, llvm::function_ref<llvm::Value *(llvm::StringRef)> symbolFor)
      : b(b), symbolFor(symbolFor), isExact(b.getTrue()) {}

  /// Whether no step so far left 64 bits or divided by 0 (i1); values mean nothing otherwise.
  llvm::Value *exact() const { return isExact; }

  BoundedValue constant(int64_t n) override { return {b.getInt64(n), std::abs(static_cast<double>(n))}; }
  BoundedValue symbol(llvm::StringRef name) override {
    return {symbolFor(name), name.starts_with("$$") ? 0x1p63 : static_cast<double>(largestSize)};
  }

  BoundedValue combine(Operation op, BoundedValue left, BoundedValue right) override {
    using llvm::Intrinsic::ID;
    llvm::Value *x = left.value, *y = right.value;
    switch (op) {
    case Add:
      return checked(llvm::Intrinsic::sadd_with_overflow, llvm::Instruction::Add, x, y, left.most + right.most);
    case Subtract:
      return checked(llvm::Intrinsic::ssub_with_overflow, llvm::Instruction::Sub, x, y, left.most + right.most);
    case Multiply:
      return checked(llvm::Intrinsic::smul_with_overflow, llvm::Instruction::Mul, x, y, left.most * right.most);
    case FloorDivide:
      return {floorDivide(x, y), left.most};
    case Minimum:
      return {b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y), std::max(left.most, right.most)};
    case Maximum:
      return {b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y), std::max(left.most, right.most)};
    }
    llvm_unreachable("all operations are listed");
  }

private:
  BoundedValue checked(llvm::Intrinsic::ID intrinsic, llvm::Instruction::BinaryOps plain, llvm::Value *x,
                       llvm::Value *y, double most) {
    if (most < 0x1p62)
      return {b.CreateBinOp(plain, x, y), most};
    llvm::Value *pair = b.CreateBinaryIntrinsic(intrinsic, x, y);
    isExact = b.CreateAnd(isExact, b.CreateNot(b.CreateExtractValue(pair, 1)));
    return {b.CreateExtractValue(pair, 0), 0x1p63};
  }

  llvm::Value *floorDivide(llvm::Value *x, llvm::Value *y) {
    llvm::Value *zero = b.getInt64(0), *divisor = y;
    if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(y); !number || number->isZero() || number->isMinusOne()) {
      llvm::Value *overflows = b.CreateAnd(b.CreateICmpEQ(x, b.getInt64(INT64_MIN)), b.CreateICmpEQ(y, b.getInt64(-1)));
      llvm::Value *isBad = b.CreateOr(b.CreateICmpEQ(y, zero), overflows);
      isExact = b.CreateAnd(isExact, b.CreateNot(isBad));
      divisor = b.CreateSelect(isBad, b.getInt64(1), y);
    }
    llvm::Value *quotient = b.CreateSDiv(x, divisor), *rest = b.CreateSub(x, b.CreateMul(quotient, divisor));
    llvm::Value *isBelow = b.CreateAnd(b.CreateICmpNE(rest, zero), b.CreateICmpSLT(b.CreateXor(x, divisor), zero));
    return b.CreateSub(quotient, b.CreateZExt(isBelow, b.getInt64Ty()));
  }

  llvm::IRBuilder<> &b;
  llvm::function_ref<llvm::Value *(llvm::StringRef)> symbolFor;
  llvm::Value *isExact;
};

} // namespace toy

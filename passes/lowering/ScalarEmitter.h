// SPDX-License-Identifier: Apache-2.0
/// \file
/// Toy's scalar semantics as LLVM IR: one element of every elementwise operation. The same code serves scalars and the
/// bodies of loops.
#pragma once

#include "ir/ToyDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <functional>

namespace toy {

/// One element: its real part, and its imaginary part when the dtype is complex. bool is i1.
struct Element {
  llvm::Value *re = nullptr;
  llvm::Value *im = nullptr;
};

llvm::Type *asWide(llvm::Value *x, llvm::Type *type);

/// Where two ways meet: the value of the one that was taken, of those at their ends; null for two that are.
llvm::Value *merged(llvm::IRBuilder<> &b, llvm::Value *x, llvm::BasicBlock *endOfX, llvm::Value *y,
                    llvm::BasicBlock *endOfY);
inline Element merged(llvm::IRBuilder<> &b, Element x, llvm::BasicBlock *endOfX, Element y, llvm::BasicBlock *endOfY) {
  return {merged(b, x.re, endOfX, y.re, endOfY), merged(b, x.im, endOfX, y.im, endOfY)};
}

class ScalarEmitter {
public:
  ScalarEmitter(llvm::Module &module, llvm::IRBuilder<> &builder)
      : module(module), b(builder), isForDevice(module.getTargetTriple().isNVPTX()) {}

  /// The LLVM type of an element's part in registers (bool is i1) and in memory (bool is i8).
  llvm::Type *partType(DType dtype) const;
  llvm::Type *memoryType(DType dtype) const;

  Element load(DType dtype, llvm::Value *data, llvm::Value *index);
  void store(DType dtype, llvm::Value *data, llvm::Value *index, Element value);
  /// Element `index` of a dense attribute.
  Element constant(mlir::DenseElementsAttr value, DType dtype, int64_t index = 0);
  Element zero(DType dtype) { return real(dtype, 0); }
  /// A small number in any dtype.
  Element real(DType dtype, double value);

  Element cast(Element x, DType from, DType to);
  /// One element of an elementwise operation; `args` are elements of the operands' dtypes.
  Element apply(mlir::Operation *op, llvm::ArrayRef<Element> args);
  Element add(Element x, Element y, DType dtype);
  Element mul(Element x, Element y, DType dtype);
  /// NaN-propagating minimum and maximum.
  llvm::Value *extremum(llvm::Value *x, llvm::Value *y, DType dtype, bool isMin);
  llvm::Value *i64(int64_t n) { return b.getInt64(n); }
  /// Called where code is emitted that runs only to fail.
  std::function<void()> beforeFailure;
  /// In loops: remembers that a divisor was 0, so that the loop need not be left there and is vectorized.
  std::function<void(llvm::Value *)> failLater;
  bool smallExponents = false; ///< those of integers that a loop reads are below 4

  /// Calls a runtime or libm function by name.
  llvm::CallInst *call(llvm::StringRef name, llvm::Type *result, llvm::ArrayRef<llvm::Value *> args, bool pure = false);

  llvm::Value *isMultiple(llvm::Value *x, uint64_t divisor);

  /// Code for a condition that hardly ever holds; what follows is reached from it, too, unless it fails.
  void rarely(llvm::Value *condition, llvm::function_ref<void()> body);
  /// A value of `usual` where the condition holds, which is likely, and of `rare` elsewhere.
  llvm::Value *eitherOf(llvm::Value *condition, llvm::function_ref<llvm::Value *()> usual,
                        llvm::function_ref<llvm::Value *()> rare);
  /// Ends the block behind a call that throws.
  void markFailure(llvm::CallInst *call);
  /// Calls a runtime function that throws, and ends the block.
  void fail(llvm::StringRef name, llvm::ArrayRef<llvm::Value *> args);

  llvm::Value *toF64(llvm::Value *x) { return x->getType()->isDoubleTy() ? x : b.CreateFPExt(x, b.getDoubleTy()); }

private:
  Element unary(llvm::StringRef name, Element x, DType dtype);
  Element binary(llvm::StringRef name, Element x, Element y, DType dx, DType dy);
  llvm::Value *realUnary(llvm::StringRef name, llvm::Value *x, DType dtype);
  llvm::Value *absSingle(Element x);
  Element byDeviceTable(int row, llvm::ArrayRef<llvm::Value *> parts, DType dtype);
  Element byTable(int row, llvm::ArrayRef<llvm::Value *> parts, DType dtype);
  Element complexUnary(llvm::StringRef name, Element x, DType dtype);
  llvm::Value *compare(llvm::StringRef name, Element x, Element y, DType dtype);
  Element divide(Element x, Element y, DType dx, DType dy);
  Element divideSingle(Element x, Element y);
  Element complexPower(Element z, uint64_t n, DType dtype);
  llvm::Value *integerPower(llvm::Value *x, llvm::Value *y, DType dtype);
  llvm::Value *realPower(llvm::Value *x, llvm::Value *y);
  llvm::Value *integerDivision(bool isModulo, llvm::Value *x, llvm::Value *y, DType dtype);
  llvm::Value *anyIntegerDivision(bool isModulo, llvm::Value *x, llvm::Value *y, DType dtype);
  /// Whether 2 to that power is a positive number of 64 bits.
  llvm::Value *hasPowerOfTwo(llvm::Value *exponent) { return b.CreateICmpULT(exponent, b.getInt64(63)); }
  llvm::DenseMap<llvm::Value *, llvm::Value *> exponents; ///< of powers of 2
  llvm::Value *floatModulo(llvm::Value *x, llvm::Value *y);
  llvm::Value *libm(llvm::StringRef name, DType dtype, llvm::ArrayRef<llvm::Value *> args);
  llvm::Value *fromHalf(llvm::Value *bits, DType dtype);
  llvm::Value *toHalf(llvm::Value *x, DType dtype);

  llvm::Module &module;
  llvm::IRBuilder<> &b;
  bool isForDevice; ///< the runtime's functions are linked in, see runtime/cuda/DeviceMath.cpp
};

/// Stores lanes of a row, of those that a mask leaves out nothing; without one, all.
void storeLanes(llvm::IRBuilder<> &b, const ScalarEmitter &scalars, DType dtype, Element lanes, llvm::Value *to,
                llvm::Value *mask);
/// An element of a row in lanes.
Element elementOf(llvm::IRBuilder<> &b, Element row, llvm::Value *i);

} // namespace toy

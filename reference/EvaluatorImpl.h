// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the parts of the evaluator share: scalars as Element, and a frame of values.
#pragma once

#include "ir/ToyDialect.h"
#include "reference/Evaluator.h"

#include "runtime/Error.h"
#include "runtime/List.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "runtime/Planar.h"
#include "runtime/ranks/Ranks.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace toy {

/// One element of any dtype: integers and bool in `i`, floats in `re`, complex in both parts. f32 and c64 parts are
/// kept rounded to float, and what a dtype has not is 0.
struct ScalarValue {
  int64_t i = 0;
  double re = 0, im = 0;
};

ScalarValue loadElement(DType dtype, const void *data, int64_t index);
void storeElement(DType dtype, void *data, int64_t index, ScalarValue value);
ScalarValue castElement(ScalarValue x, DType from, DType to);
ScalarValue addElements(ScalarValue x, ScalarValue y, DType dtype);
/// (a+bi)(c+di) = (ac-bd) + (ad+bc)i, every product and sum rounded.
ScalarValue mulElements(ScalarValue x, ScalarValue y, DType dtype);
/// Elements of a constant.
rt::TensorRef constantTensor(mlir::DenseElementsAttr value, DType dtype);
ScalarValue minElements(ScalarValue x, ScalarValue y, DType dtype);
ScalarValue maxElements(ScalarValue x, ScalarValue y, DType dtype);
/// The least and the largest integer of a dtype.
std::pair<int64_t, int64_t> integerRange(DType dtype);

/// What an elementwise operation does to one element of each operand, by the overload of its class in ScalarEval.cpp.
struct Elementwise {
  explicit Elementwise(mlir::Operation *op);
  ScalarValue operator()(const ScalarValue *x) const { return evaluation(*this, x); }

  using Evaluation = ScalarValue (*)(const Elementwise &, const ScalarValue *);
  Evaluation evaluation;
  DType operands[4] = {}, result;
  DType dtype;                  ///< of the complex operand if there is one, or of the first
  Evaluation ofPairs = nullptr; ///< the complex function that this is a part of
  bool isImaginary = false;     ///< which part

  bool isComplex() const { return toy::isComplex(dtype); }
  bool isIntegral() const { return kindOf(dtype) <= DKind::Int; }
  bool isSingle() const { return realOf(dtype) == DType::F32; }
  /// Whether this operand is real and the other one complex.
  bool isReal(int operand) const { return isComplex() && !toy::isComplex(operands[operand]); }
  ScalarValue rounded(double re, double im = 0) const;
  ScalarValue wrapped(uint64_t n) const;
};

/// The elements that one element of a reduction's result comes from.
struct Run {
  DType from, to; ///< before and after the reduction
  int64_t count;
  bool isAlongRows; ///< the last axis is reduced
  llvm::function_ref<ScalarValue(int64_t)> element;
};

/// A leaf from an object, whose reference it takes over.
rt::Value leafOf(mlir::Type type, void *object);

/// The values of one function activation (or of a fused group).
struct Frame {
  explicit Frame(Evaluator &evaluator) : evaluator(evaluator) {}

  Evaluator &evaluator;
  llvm::DenseMap<mlir::Value, rt::Value> values;
  bool single = false;        ///< one operation alone: updates own their operand
  bool runningPacked = false; ///< operands are already seen as complex

  const rt::Tensor &tensor(mlir::Value v) { return *std::get<rt::TensorRef>(values[v]); }
  rt::TensorRef tensorRef(mlir::Value v) { return std::get<rt::TensorRef>(values[v]); }
  const rt::List &list(mlir::Value v) { return *std::get<rt::ListRef>(values[v]); }
  /// Takes the value out of the frame if this is its last use in a block that nothing else reads.
  rt::Value take(mlir::Value v, mlir::Operation *user);
  rt::TensorRef consume(mlir::Value v, mlir::Operation *user) { return std::get<rt::TensorRef>(take(v, user)); }
  rt::ListRef consumeList(mlir::Value v, mlir::Operation *user) { return std::get<rt::ListRef>(take(v, user)); }
  const std::string &text(mlir::Value v) { return std::get<rt::StrRef>(values[v])->text; }
  int64_t integer(mlir::Value v) { return *static_cast<int64_t *>(rt::onHost(tensor(v))); }
  /// That of a value which may be gone.
  std::optional<int64_t> integerOf(mlir::Value v) {
    return values.contains(v) ? std::optional(integer(v)) : std::nullopt;
  }
  llvm::SmallVector<int64_t> integers(mlir::ValueRange range);
  llvm::SmallVector<const rt::Tensor *> tensors(mlir::ValueRange range);
  /// The same value under another name (copied first: the map may move when it grows).
  void alias(mlir::Value v, mlir::Value source) {
    rt::Value copy = values[source];
    values[v] = std::move(copy);
  }
  void set(mlir::Value v, rt::TensorRef t) { values[v] = std::move(t); }
  void setText(mlir::Value v, std::string text) { values[v] = rt::StrRef(rt::newStr(std::move(text))); }
  void setInteger(mlir::Value v, int64_t n) { set(v, rt::TensorRef(rt::newScalar(DType::I64, &n))); }
  void setBool(mlir::Value v, bool b) { set(v, rt::TensorRef(rt::newScalar(DType::Bool, &b))); }

  void run(mlir::Operation *op);
  void runPacked(mlir::Operation *op);
  /// What an operation does: one specialization each. Those of elements share theirs (Elementwise).
  template <typename Op> void evaluate(Op op);
  void setElement(mlir::Value x, mlir::Value value, mlir::ValueRange indices);
  void elementwise(mlir::Operation *op);
  void reduce(mlir::Operation *op, ScalarValue (*value)(const Run &));
  /// True if the device does it.
  bool storeOnDevice(SliceStoreOp op);
  void matmulByParts(MatMulOp op, rt::ComplexProduct strategy);
  Environment &environment() { return evaluator.environment; }
  const CompileOptions &options() { return evaluator.options; }
};

/// Calls `f(linear index of the result, coordinates)` for every element of a shape in row-major order.
template <typename F> void forEachIndex(std::span<const int64_t> sizes, F &&f) {
  int64_t count = 1;
  for (int64_t n : sizes)
    count *= n;
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    if (i % (1 << 14) == (1 << 14) - 1)
      rt::poll();
    f(i, index);
    for (size_t axis = sizes.size(); axis-- > 0;) {
      if (++index[axis] < sizes[axis])
        break;
      index[axis] = 0;
    }
  }
}

/// The error of `toy.system "fail"` or `"raise"` with these texts.
rt::Error failureOf(SystemOp op, std::vector<std::string> texts);

/// Where an operation stands in the program, for other ranks.
ranks::Place placeOf(mlir::Operation *op);

/// What the elements of a list are, by their type.
rt::ItemKind itemKindOf(mlir::Type element);

} // namespace toy

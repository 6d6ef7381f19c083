// SPDX-License-Identifier: Apache-2.0
/// \file
/// Matrix products: calls of the library, and in loops, where there are few numbers, code of the loop, in the order
/// that the library has for them (rule 13 of docs/reference). A call takes several times as long as what it computes.
#include "ir/GramProduct.h"
#include "passes/lowering/FunctionEmitter.h"
#include "passes/lowering/LoopProperties.h"

#include "runtime/Blas.h"
#include "runtime/Planar.h"
#include "support/Half.h"

using namespace llvm;

namespace toy {

/// Whether a factor is a vector or a matrix, which may be a part of a tensor.
static bool isPlainFactor(ArrayRef<int64_t> axes) { return axes.size() <= 2 && !is_contained(axes, -1); }

bool FunctionEmitter::isSmallProduct(GemmOp op) {
  const DType dtype = tensorTypeOf(op.getResult()).getDtype();
  return !tables.valuesMoveAway && loops && loops->of(op->getBlock()) && kindOf(dtype) >= DKind::Float &&
         !isHalf(dtype) && !op.getScale() && !tensorTypeOf(op.getResult()).isScalar() &&
         isPlainFactor(op.getLhsAxes()) && isPlainFactor(op.getRhsAxes());
}

/// A counted loop of the function that is emitted.
static void repeat(IRBuilder<> &b, Value *count, function_ref<void(Value *)> body) {
  Function *f = b.GetInsertBlock()->getParent();
  BasicBlock *before = b.GetInsertBlock(), *header = BasicBlock::Create(b.getContext(), "loop", f),
             *exit = BasicBlock::Create(b.getContext(), "done", f);
  b.CreateCondBr(b.CreateICmpSGT(count, b.getInt64(0)), header, exit);
  b.SetInsertPoint(header);
  PHINode *i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(b.getInt64(0), before);
  body(i);
  Value *next = b.CreateAdd(i, b.getInt64(1), "", true, true);
  i->addIncoming(next, b.GetInsertBlock());
  Instruction *back = b.CreateCondBr(b.CreateICmpSLT(next, count), header, exit);
  describeLoop(back, loopProperty(b.getContext(), "llvm.loop.unroll.disable")); // it is short
  b.SetInsertPoint(exit);
}

/// A factor: sizes, and from one element to the next, along the axes of the result's rows or columns and of the sum.
struct FunctionEmitter::Factor {
  mlir::Value value;
  Value *data, *start; ///< of the tensor, and the first element of the factor
  Value *inner = nullptr, *innerStep = nullptr;
  Value *outer = nullptr, *outerStep = nullptr; ///< not of a vector
  bool conjugated = false;
};

/// Axes of the tensor, which are those of a slice of it where there are bounds.
FunctionEmitter::Factor FunctionEmitter::factorOf(mlir::Value v, int64_t inner, int64_t outer, mlir::ValueRange bounds,
                                                  ArrayRef<int64_t> steps) {
  const int64_t rank = tensorTypeOf(v).getRank();
  Factor x{v, dataOf(v, false), b.getInt64(0)};
  Value *stride = b.getInt64(1);
  for (int64_t axis = rank; axis-- > 0; stride = axis > 0 ? b.CreateMul(stride, sizeOf(v, axis)) : nullptr) {
    Value *size = steps.empty() ? sizeOf(v, axis) : slots[bounds[rank + axis]].scalar.re, *step = stride;
    if (!steps.empty()) {
      x.start = b.CreateAdd(x.start, b.CreateMul(slots[bounds[axis]].scalar.re, stride));
      step = b.CreateMul(stride, b.getInt64(steps[axis]));
    }
    if (axis == inner)
      std::tie(x.inner, x.innerStep) = std::pair(size, step);
    else if (axis == outer)
      std::tie(x.outer, x.outerStep) = std::pair(size, step);
  }
  return x;
}

Element FunctionEmitter::factorElement(const Factor &x, Value *outer, Value *inner) {
  Value *at = b.CreateNSWAdd(x.start, b.CreateNSWMul(inner, x.innerStep)); // steps may be negative
  if (outer)
    at = b.CreateNSWAdd(b.CreateNSWMul(outer, x.outerStep), at);
  Element loaded;
  access(x.value, [&] { loaded = scalars.load(tensorTypeOf(x.value).getDtype(), x.data, at); });
  if (x.conjugated)
    loaded.im = b.CreateFNeg(loaded.im);
  return loaded;
}

namespace {
/// The elements of a small vector in a register as well, which is stored over them at the end: vectors that are read
/// from memory behind single stores wait for all of these.
class Gathered {
public:
  Gathered(IRBuilder<> &b, Type *part)
      : b(b), type(FixedVectorType::get(part, 512 / part->getScalarSizeInBits())), memory(b.CreateAlloca(type)) {
    b.CreateStore(Constant::getNullValue(type), memory);
  }
  void add(Value *at, Value *element) {
    const unsigned number = type->getNumElements();
    SmallVector<Constant *> numbers =
        map_to_vector(seq(number), [&](unsigned i) -> Constant * { return b.getInt64(i); });
    Value *isHere = b.CreateICmpEQ(ConstantVector::get(numbers), b.CreateVectorSplat(number, at));
    b.CreateStore(b.CreateSelect(isHere, b.CreateVectorSplat(number, element), b.CreateLoad(type, memory)), memory);
  }
  /// If all are there; the memory has room for what is behind them.
  void finish(Value *count, Value *out) {
    Function *f = b.GetInsertBlock()->getParent();
    BasicBlock *all = BasicBlock::Create(b.getContext(), "", f), *on = BasicBlock::Create(b.getContext(), "", f);
    b.CreateCondBr(b.CreateICmpULE(count, b.getInt64(type->getNumElements())), all, on);
    b.SetInsertPoint(all);
    b.CreateAlignedStore(b.CreateLoad(type, memory), out, Align(64));
    b.CreateBr(on);
    b.SetInsertPoint(on);
  }

private:
  IRBuilder<> &b;
  FixedVectorType *type;
  Value *memory;
};
} // namespace

/// Each element of the result from +0 on, in the order of the inner axis.
void FunctionEmitter::emitSums(GemmOp op, const Factor &left, const Factor &right, Value *out) {
  const DType dtype = tensorTypeOf(op.getResult()).getDtype();
  Type *type = scalars.memoryType(dtype);
  Value *sum = stackArray(type, isComplex(dtype) ? 2 : 1), *zero = b.getInt64(0);
  std::optional<Gathered> vector;
  if (frameOf(op.getResult()) && !isComplex(dtype) && !(left.outer && right.outer))
    vector.emplace(b, type);
  auto one = [&](Value *row, Value *column) {
    scalars.store(dtype, sum, zero, scalars.zero(dtype));
    repeat(b, left.inner, [&](Value *p) {
      const Element product = scalars.mul(factorElement(left, row, p), factorElement(right, column, p), dtype);
      scalars.store(dtype, sum, zero, scalars.add(scalars.load(dtype, sum, zero), product, dtype));
    });
    Value *at = !row ? column : !column ? row : nullptr;
    if (!at)
      at = b.CreateAdd(b.CreateMul(row, right.outer, "", true, true), column, "", true, true);
    const Element whole = scalars.load(dtype, sum, zero);
    access(op.getResult(), [&] { scalars.store(dtype, out, at, whole); });
    if (vector)
      vector->add(at, whole.re);
  };
  auto columns = [&](Value *row) {
    right.outer ? repeat(b, right.outer, [&](Value *column) { one(row, column); }) : one(row, nullptr);
  };
  left.outer ? repeat(b, left.outer, columns) : columns(nullptr);
  if (vector)
    vector->finish(left.outer ? left.outer : right.outer, out);
}

/// Sums in a loop where there are at most so many multiplications; else what `otherwise` gives.
Slot FunctionEmitter::emitSmallProduct(GemmOp op, function_ref<Value *()> otherwise) {
  Factor left = factorOf(op.getLhs(), op.getLhsAxes().back(), op.getLhsAxes().front(), op.getLhsBounds(),
                         op.getLhsSteps()),
         right = factorOf(op.getRhs(), op.getRhsAxes().front(), op.getRhsAxes().back(), op.getRhsBounds(),
                          op.getRhsSteps());
  left.conjugated = op.getLhsConjugated() && op.getType().isComplex();
  right.conjugated = op.getRhsConjugated() && op.getType().isComplex();
  SmallVector<Value *> all = {left.inner};
  for (Value *size : {left.outer, right.outer})
    if (size)
      all.push_back(size);
  const ArrayRef<Value *> sizes = ArrayRef(all).drop_front();
  Value *isSmall = areFew(b, all, rt::smallProduct, rt::smallProduct);
  isSmall = b.CreateAnd(isSmall, b.CreateICmpEQ(left.inner, right.inner)); // else it is an error
  BasicBlock *small = BasicBlock::Create(b.getContext(), "small", f),
             *large = BasicBlock::Create(b.getContext(), "large", f), *on = BasicBlock::Create(b.getContext(), "", f);
  b.CreateCondBr(isSmall, small, large);
  b.SetInsertPoint(small);
  auto [object, data] = makeTensor(module, b, tensorTypeOf(op.getResult()).getDtype(), sizes, frameOf(op.getResult()));
  emitSums(op, left, right, data);
  small = b.GetInsertBlock();
  b.CreateBr(on);
  b.SetInsertPoint(large);
  Value *other = otherwise(), *otherData = loadWord(other, offsetof(rt::Tensor, data), b.getPtrTy());
  large = b.GetInsertBlock();
  b.CreateBr(on);
  b.SetInsertPoint(on);
  Slot result{merged(b, object, small, other, large), {}};
  result.data = merged(b, data, small, otherData, large);
  return result;
}

/// A view as `toy_rt_gemm` reads it: rank, axes, whether bounds follow, then start, count and step of every axis of the
/// operand.
Value *FunctionEmitter::viewArray(ArrayRef<int64_t> axes, mlir::ValueRange bounds, ArrayRef<int64_t> steps) {
  SmallVector<Value *> items = {b.getInt64(axes.size())};
  for (int64_t axis : axes)
    items.push_back(b.getInt64(axis));
  items.push_back(b.getInt64(!steps.empty()));
  for (auto [i, step] : enumerate(steps))
    items.append({slots[bounds[i]].scalar.re, slots[bounds[steps.size() + i]].scalar.re, b.getInt64(step)});
  return sizesArray(items);
}

void FunctionEmitter::emit(GemmOp op) {
  auto repacks = op->getAttrOfType<mlir::IntegerAttr>("toy.repacks"),
       gram = op->getAttrOfType<mlir::IntegerAttr>(gramAttribute);
  int64_t isRounded = isHalf(tensorTypeOf(op.getResult()).getDtype());
  setSite(op);
  auto call = [&]() -> Value * {
    Value *flags = b.getInt64(op.getLhsConjugated() | op.getRhsConjugated() << 1 | isRounded << 2 |
                              (repacks ? repacks.getInt() : 0) << 3 | (gram ? gram.getInt() : 0) << 5);
    Value *lhs = viewArray(op.getLhsAxes(), op.getLhsBounds(), op.getLhsSteps()),
          *rhs = viewArray(op.getRhsAxes(), op.getRhsBounds(), op.getRhsSteps());
    Value *scale = op.getScale() ? scalars.toF64(slots[op.getScale()].scalar.re) : ConstantFP::get(b.getDoubleTy(), 1);
    return scalars.call("toy_rt_gemm", b.getPtrTy(),
                        {slots[op.getLhs()].object, lhs, slots[op.getRhs()].object, rhs, flags, scale});
  };
  if (isSmallProduct(op)) {
    Slot result = emitSmallProduct(op, call);
    slots[op.getResult()] = result;
    return;
  }
  Value *object = call();
  slots[op.getResult()] = tensorTypeOf(op.getResult()).isScalar() ? unbox(op.getType(), object) : Slot{object, {}};
}

void FunctionEmitter::emit(PlanarGemmOp op) {
  setSite(op);
  Value *x = viewArray(op.getLhsAxes(), {}, {}), *y = viewArray(op.getRhsAxes(), {}, {}),
        *results = stackArray(b.getPtrTy(), 2);
  int64_t flags =
      op.getLhsConjugated() | op.getRhsConjugated() << 1 |
      static_cast<int64_t>(*rt::complexProductNamed(std::string_view(op.getStrategy().data(), op.getStrategy().size())))
          << 2;
  scalars.call("toy_rt_planar_gemm", b.getVoidTy(),
               {slots[op.getA()].object, slots[op.getB()].object, x, slots[op.getC()].object, slots[op.getD()].object,
                y, b.getInt64(flags), results});
  for (auto [i, result] : enumerate(op.getResults())) {
    Value *object = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), results, i));
    slots[result] = isObject(result) ? Slot{object, {}} : unbox(result.getType(), object);
  }
}

} // namespace toy

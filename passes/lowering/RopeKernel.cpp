// SPDX-License-Identifier: Apache-2.0
/// \file
/// Groups that only turn pairs by angles which other axes share (rotary embeddings) are a kernel written by hand:
/// runtime/cuda/Rope.cu.
#include "passes/lowering/KernelEmitter.h"

#include "support/Half.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace toy {
namespace {

/// A real value: a part of a complex one (0 or 1), or itself.
struct Part {
  mlir::Value value;
  int part = -1;
  bool operator==(const Part &) const = default;
};

Part partOf(mlir::Value v) {
  auto real = v.getDefiningOp<RealOp>();
  auto imag = v.getDefiningOp<ImagOp>();
  if (!real && !imag)
    return {v};
  mlir::Value z = real ? real.getX() : imag.getX();
  if (auto made = z.getDefiningOp<ComplexOp>())
    return partOf(real ? made.getOperand(0) : made.getOperand(1));
  return {z, real ? 0 : 1};
}

struct Complex {
  Part re, im;
};

Complex partsOf(mlir::Value z) {
  if (auto made = z.getDefiningOp<ComplexOp>())
    return {partOf(made.getOperand(0)), partOf(made.getOperand(1))};
  return {{z, 0}, {z, 1}};
}

mlir::Value withoutCast(mlir::Value v) {
  auto cast = v.getDefiningOp<CastOp>();
  return cast ? cast.getX() : v;
}

/// The factors x and w with (re, im) = x * w, in both orders.
SmallVector<std::pair<Complex, Complex>> factorsOf(mlir::Value re, mlir::Value im) {
  SmallVector<std::pair<Complex, Complex>> out;
  auto real = re.getDefiningOp<RealOp>();
  auto imag = im.getDefiningOp<ImagOp>();
  if (real && imag && real.getX() == imag.getX()) {
    auto product = real.getX().getDefiningOp<MulOp>();
    if (product && isComplex(tensorTypeOf(product.getLhs()).getDtype()) &&
        isComplex(tensorTypeOf(product.getRhs()).getDtype())) {
      Complex x = partsOf(product.getLhs()), w = partsOf(product.getRhs());
      out = {{x, w}, {w, x}};
    }
    return out;
  }
  auto difference = re.getDefiningOp<SubOp>();
  auto sum = im.getDefiningOp<AddOp>();
  auto product = [](mlir::Value v) { return v.getDefiningOp<MulOp>(); };
  if (!difference || !sum)
    return out;
  MulOp aa = product(difference.getLhs()), bb = product(difference.getRhs()), first = product(sum.getLhs()),
        second = product(sum.getRhs());
  if (!aa || !bb || !first || !second)
    return out;
  auto isOf = [](MulOp m, Part p, Part q) {
    return (partOf(m.getLhs()) == p && partOf(m.getRhs()) == q) || (partOf(m.getLhs()) == q && partOf(m.getRhs()) == p);
  };
  for (bool swapped : {false, true})
    for (bool crossed : {false, true}) {
      Part a = partOf(swapped ? aa.getRhs() : aa.getLhs()), c = partOf(swapped ? aa.getLhs() : aa.getRhs());
      Part b = partOf(crossed ? bb.getRhs() : bb.getLhs()), d = partOf(crossed ? bb.getLhs() : bb.getRhs());
      if ((isOf(first, a, d) && isOf(second, b, c)) || (isOf(first, b, c) && isOf(second, a, d)))
        out.push_back({{a, b}, {c, d}});
    }
  return out;
}

/// Where pairs lie in an input: neighbours or halves of rows.
struct Source {
  mlir::Value input, pairs; ///< `pairs` has the shape of the pairs
  bool halves = false;
};

class RopeMatcher {
public:
  explicit RopeMatcher(FusedOp op) : op(op) {}

  bool match() {
    mlir::Value root = op.getBody().front().getTerminator()->getOperand(0), inside = withoutCast(root);
    DType dtype = tensorTypeOf(root).getDtype();
    bool halves = false;
    SmallVector<std::pair<Complex, Complex>> factors;
    if (auto pack = inside.getDefiningOp<PackOp>())
      factors = factorsOf(withoutCast(pack.getRe()), withoutCast(pack.getIm()));
    else if (auto concat = inside.getDefiningOp<ConcatOp>();
             concat && concat.getParts().size() == 2 &&
             concat.getAxis() + 1 == uint64_t(tensorTypeOf(root).getRank())) {
      halves = true;
      factors = factorsOf(withoutCast(concat.getParts()[0]), withoutCast(concat.getParts()[1]));
    } else if (auto product = root.getDefiningOp<MulOp>(); product &&
                                                           isComplex(tensorTypeOf(product.getLhs()).getDtype()) &&
                                                           isComplex(tensorTypeOf(product.getRhs()).getDtype())) {
      Complex x = partsOf(product.getLhs()), w = partsOf(product.getRhs());
      factors = {{x, w}, {w, x}};
      dtype = realOf(dtype);
    }
    element = dtype;
    computed = isHalf(element) ? DType::F32 : element;
    if (!isRoundedOnce(inside))
      return false;
    TensorType shape = tensorTypeOf(root);
    for (auto &[x, w] : factors)
      if (auto found = sourceOf(x); found && found->halves == halves && partTypeOf(found->input) == element &&
                                    isWhole(found->pairs, shape) && findAngles(w) && sharesAngles(found->pairs)) {
        source = *found;
        return true;
      }
    return false;
  }

  Source source;
  DType element, computed;               ///< stored; computed in
  mlir::Value cosines, sines;            ///< inputs
  bool packed = false;                   ///< parts of complex inputs
  int64_t outerAxes = 0, periodAxes = 0; ///< of the pairs; the rest without the last are inner ones

private:
  /// Between the elements and what they are computed in there is one cast at most.
  bool isRoundedOnce(mlir::Value v) { return partTypeOf(v) == element || partTypeOf(v) == computed; }
  /// Whether no axis of the pairs is repeated. Sizes that are not 1 were proven equal, or checked.
  static bool isWhole(mlir::Value pairs, TensorType result) {
    ArrayRef<mlir::Attribute> sizes = tensorTypeOf(pairs).getSizes();
    return llvm::all_of(llvm::zip(sizes, result.getSizes()),
                        [](auto both) { return !Dim(std::get<0>(both)).is(1) || Dim(std::get<1>(both)).is(1); });
  }
  static DType partTypeOf(mlir::Value v) { return realOf(tensorTypeOf(v).getDtype()); }
  static bool isInput(mlir::Value v) { return isa<mlir::BlockArgument>(v); }

  std::optional<Dim> sizeOf(mlir::Value v) {
    auto argument = dyn_cast<mlir::BlockArgument>(v);
    return sizeBehind(argument ? op.getInputs()[argument.getArgNumber()] : v);
  }

  std::optional<Source> sourceOf(const Complex &x) {
    if (x.re.part == 0 && x.im == Part{x.re.value, 1} && isInput(x.re.value))
      return Source{x.re.value, x.re.value};
    if (x.re.part >= 0 || x.im.part >= 0)
      return std::nullopt;
    mlir::Value re = withoutCast(x.re.value), im = withoutCast(x.im.value);
    auto first = re.getDefiningOp<PartOp>(), second = im.getDefiningOp<PartOp>();
    if (first && second && first.getX() == second.getX() && first.getIndex() == 0 && second.getIndex() == 1 &&
        isInput(first.getX()))
      return Source{first.getX(), re};
    auto low = re.getDefiningOp<SliceOp>(), high = im.getDefiningOp<SliceOp>();
    if (!low || !high || low.getX() != high.getX() || !isInput(withoutCast(low.getX())) ||
        tensorTypeOf(re) != tensorTypeOf(im) || !isRoundedOnce(re))
      return std::nullopt;
    TensorType whole = tensorTypeOf(low.getX()), half = tensorTypeOf(re);
    int64_t last = whole.getRank() - 1, step = low.getSteps()[last];
    Dim pairs = half.getDim(last), zero = Dim::number(op.getContext(), 0), one = Dim::number(op.getContext(), 1);
    for (SliceOp slice : {low, high})
      for (int64_t axis = 0; axis < last; ++axis)
        if (slice.getSteps()[axis] != 1 || sizeOf(slice.getStarts()[axis]) != zero ||
            half.getDim(axis) != whole.getDim(axis))
          return std::nullopt;
    if (whole.getDim(last) != pairs + pairs || high.getSteps()[last] != step || (step != 1 && step != 2) ||
        sizeOf(low.getStarts()[last]) != zero || sizeOf(high.getStarts()[last]) != (step == 1 ? pairs : one))
      return std::nullopt;
    return Source{withoutCast(low.getX()), re, step == 1};
  }

  bool findAngles(const Complex &w) {
    cosines = w.re.value;
    sines = w.im.value;
    packed = w.re.part == 0 && w.im.part == 1;
    bool isPlanar = w.re.part < 0 && w.im.part < 0;
    return (packed || isPlanar) && isInput(cosines) && isInput(sines) && tensorTypeOf(cosines) == tensorTypeOf(sines) &&
           partTypeOf(cosines) == computed;
  }

  /// Whether the angles have the last axis of the pairs and some neighbouring axes before it; at least one other axis
  /// shares them.
  bool sharesAngles(mlir::Value pairs) {
    SmallVector<Dim> dims(tensorTypeOf(pairs).getDims()), angles(tensorTypeOf(cosines).getDims());
    if (angles.empty() || angles.size() > dims.size() || angles.back().is(1))
      return false;
    int64_t last = dims.size() - 1, missing = dims.size() - angles.size(), begin = last, end = last;
    for (int64_t axis = missing; axis < last; ++axis)
      if (!angles[axis - missing].is(1)) {
        begin = std::min(begin, axis);
        end = axis + 1;
      }
    for (int64_t axis = begin; axis < end; ++axis)
      if (angles[axis - missing].is(1) && !dims[axis].is(1))
        return false;
    outerAxes = begin;
    periodAxes = end - begin;
    return begin > 0 || end < last;
  }

  FusedOp op;
};

} // namespace

Value *KernelEmitter::launchRope(Value *site, bool &matched) {
  RopeMatcher rope(op);
  matched = rope.match();
  if (!matched)
    return nullptr;
  int64_t bytes = toy::sizeOf(rope.element), width = 16 / bytes / (rope.source.halves ? 1 : 2),
          rows = rope.source.halves ? 2 : 4;
  int64_t last = tensorTypeOf(rope.source.pairs).getRank() - 1, period = rope.outerAxes + rope.periodAxes;
  auto sizes = [&](int64_t begin, int64_t end) {
    return product(callerSizesOf(rope.source.pairs, to_vector(seq(begin, end))));
  };
  Value *outer = sizes(0, rope.outerAxes), *shared = sizes(rope.outerAxes, period), *inner = sizes(period, last),
        *pairs = callerSize(rope.source.pairs, last);
  Value *same = caller.CreateMul(outer, inner), *count = caller.CreateMul(caller.CreateMul(same, shared), pairs);
  auto number = [&](int64_t n) { return caller.getInt64(n); };
  Value *chunks = caller.CreateMul(
      caller.CreateUDiv(pairs, number(width)),
      caller.CreateMul(shared, caller.CreateUDiv(caller.CreateAdd(same, number(rows - 1)), number(rows))));
  Value *threads =
      caller.CreateSelect(caller.CreateICmpEQ(caller.CreateURem(pairs, number(16 / bytes)), number(0)), chunks, count);
  return onlyIf(caller.CreateICmpSLT(count, number(int64_t(1) << 30)), [&] {
    auto object = [&](mlir::Value v) { return inputs[cast<mlir::BlockArgument>(v).getArgNumber()].object; };
    return launchKernel("rope." + std::string(nameOf(rope.element)), {{rootType.getDtype(), resultSizes()}},
                        {object(rope.source.input), object(rope.cosines), object(rope.sines)},
                        {outer, shared, inner, pairs, number(rope.packed ? 2 : 1), number(rope.packed ? 1 : 0),
                         number(rope.source.halves)},
                        threads, site, threadsOfBlock);
  });
}

} // namespace toy

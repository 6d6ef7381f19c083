// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tensor operations: elementwise with broadcasting, reductions in their defined order, rearrangements, products.
#include "reference/EvaluatorImpl.h"

#include "ir/GramProduct.h"

#include "runtime/ArrayOps.h"
#include "runtime/Blas.h"
#include "runtime/Device.h"
#include "runtime/Io.h"
#include "runtime/Memory.h"

#include <cmath>

using namespace mlir;

namespace toy {

/// Element strides of a dense tensor aligned to a rank, 0 along axes of size 1.
static SmallVector<int64_t> stridesFor(const rt::Tensor &t, size_t rank) {
  SmallVector<int64_t> strides(rank, 0);
  int64_t stride = 1;
  for (int64_t i = 1; i <= t.rank; ++i) {
    strides[rank - i] = t.sizes[t.rank - i] == 1 ? 0 : stride;
    stride *= t.sizes[t.rank - i];
  }
  return strides;
}

static int64_t dot(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  int64_t sum = 0;
  for (auto [x, y] : llvm::zip_equal(a, b))
    sum += x * y;
  return sum;
}

void Frame::elementwise(Operation *op) {
  Elementwise one(op);
  SmallVector<const rt::Tensor *> operands = tensors(op->getOperands());
  SmallVector<int64_t> sizes(tensorTypeOf(op->getResult(0)).getRank(), 1);
  SmallVector<SmallVector<int64_t>> strides;
  for (const rt::Tensor *t : operands) {
    strides.push_back(stridesFor(*t, sizes.size()));
    for (int64_t i = 1; i <= t->rank; ++i)
      if (t->sizes[t->rank - i] != 1)
        sizes[sizes.size() - i] = t->sizes[t->rank - i];
  }
  rt::TensorRef out(rt::newTensor(one.result, sizes));
  forEachIndex(sizes, [&](int64_t i, ArrayRef<int64_t> index) {
    ScalarValue x[4];
    for (auto [k, t] : llvm::enumerate(operands))
      x[k] = loadElement(t->dtype, t->data, dot(index, strides[k]));
    storeElement(one.result, out->data, i, one(x));
  });
  set(op->getResult(0), std::move(out));
}

static SmallVector<int64_t> denseStrides(const rt::Tensor &t) {
  SmallVector<int64_t> strides(t.rank, 1);
  for (int64_t i = t.rank - 1; i > 0; --i)
    strides[i - 1] = strides[i] * t.sizes[i];
  return strides;
}

void Frame::reduce(Operation *op, ScalarValue (*value)(const Run &)) {
  const rt::Tensor &x = tensor(op->getOperand(0));
  TensorType type = tensorTypeOf(op->getResult(0));
  Run run{x.dtype, (op->hasAttr("packed") ? unpackedType(type) : type).getDtype(), 1, x.rank == 0, {}};
  auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
  SmallVector<int64_t> outer, inner, outerStrides, innerStrides, sizes, strides = denseStrides(x);
  for (int64_t i = 0; i < x.rank; ++i) {
    bool isReduced = llvm::is_contained(axes, i);
    (isReduced ? inner : outer).push_back(x.sizes[i]);
    (isReduced ? innerStrides : outerStrides).push_back(strides[i]);
    if (!isReduced || op->getAttrOfType<BoolAttr>("keepdims").getValue())
      sizes.push_back(isReduced ? 1 : x.sizes[i]);
    run.count *= isReduced ? x.sizes[i] : 1;
    run.isAlongRows = isReduced;
  }
  rt::TensorRef out(rt::newTensor(run.to, sizes));
  if (run.count == 0 && out->count() && isa<MaxOp, MinOp, ArgMaxOp, ArgMinOp>(op) && !op->hasAttr("orLeast"))
    rt::fail(DiagId::EmptyReductionRun, {op->getName().stripDialect().str()});
  forEachIndex(outer, [&](int64_t i, ArrayRef<int64_t> index) {
    auto element = [&, base = dot(index, outerStrides)](int64_t j) {
      int64_t offset = base;
      for (size_t axis = inner.size(); axis-- > 0; j /= inner[axis])
        offset += j % inner[axis] * innerStrides[axis];
      return loadElement(x.dtype, x.data, offset);
    };
    run.element = element;
    storeElement(run.to, out->data, i, value(run));
  });
  set(op->getResult(0), std::move(out));
}

/// The fold of one output element: blocks of 8192 elements in row-major order, whose results are combined in order.
/// Inside a block, when the last axis is reduced, element j goes to lane j mod 32, and lanes are combined by halving;
/// otherwise runs of 64 elements are folded in order, and their results in order.
template <typename F> static ScalarValue fold(const Run &run, ScalarValue identity, F combine) {
  constexpr int64_t blockLength = 8192, runLength = 64;
  auto add = [&](ScalarValue &sum, int64_t j) {
    sum = combine(sum, castElement(run.element(j), run.from, run.to), run.to);
  };
  auto lanes = [&](int64_t begin, int64_t end) {
    ScalarValue lane[32];
    std::fill(lane, lane + 32, identity);
    for (int64_t j = begin; j < end; ++j)
      add(lane[j % 32], j);
    for (int half = 16; half > 0; half /= 2)
      for (int l = 0; l < half; ++l)
        lane[l] = combine(lane[l], lane[l + half], run.to);
    return lane[0];
  };
  auto inOrder = [&](int64_t begin, int64_t end) {
    ScalarValue sum = identity;
    for (int64_t j = begin; j < end; ++j)
      add(sum, j);
    return sum;
  };
  auto parts = [&](int64_t begin, int64_t end, int64_t length, auto part) {
    ScalarValue total = identity;
    for (int64_t at = begin; at < end; at += length) {
      ScalarValue value = part(at, std::min(at + length, end));
      total = at == begin ? value : combine(total, value, run.to);
    }
    return total;
  };
  return parts(0, run.count, blockLength, [&](int64_t begin, int64_t end) {
    if (begin)
      rt::poll();
    return run.isAlongRows ? lanes(begin, end) : parts(begin, end, runLength, inOrder);
  });
}

/// The position of the first element that is before all others, or of the first NaN.
template <typename F> static ScalarValue first(const Run &run, F isBefore) {
  int64_t best = 0;
  for (int64_t j = 1; j < run.count; ++j) {
    if (j % 8192 == 0)
      rt::poll();
    ScalarValue a = run.element(best), b = run.element(j);
    if (!std::isnan(a.re) && (std::isnan(b.re) || isBefore(b, a)))
      best = j;
  }
  return {best};
}

template <> void Frame::evaluate(SumOp op) {
  reduce(op, [](const Run &run) { return fold(run, {}, addElements); });
}
template <> void Frame::evaluate(ProdOp op) {
  reduce(op, [](const Run &run) { return fold(run, castElement({1}, DType::I64, run.to), mulElements); });
}
static ScalarValue either(ScalarValue x, ScalarValue y, DType) { return {x.i || y.i}; }
template <> void Frame::evaluate(AnyOp op) {
  reduce(op, [](const Run &run) { return fold(run, {false}, either); });
}
static ScalarValue both(ScalarValue x, ScalarValue y, DType) { return {x.i && y.i}; }
template <> void Frame::evaluate(AllOp op) {
  reduce(op, [](const Run &run) { return fold(run, {true}, both); });
}
template <> void Frame::evaluate(MaxOp op) {
  reduce(op, [](const Run &run) { return fold(run, ScalarValue{integerRange(run.to).first, -INFINITY}, maxElements); });
}
template <> void Frame::evaluate(MinOp op) {
  reduce(op, [](const Run &run) { return fold(run, ScalarValue{integerRange(run.to).second, INFINITY}, minElements); });
}
static bool isAbove(ScalarValue x, ScalarValue y) { return x.i > y.i || x.re > y.re; }
template <> void Frame::evaluate(ArgMaxOp op) {
  reduce(op, [](const Run &run) { return first(run, isAbove); });
}
static bool isBelow(ScalarValue x, ScalarValue y) { return x.i < y.i || x.re < y.re; }
template <> void Frame::evaluate(ArgMinOp op) {
  reduce(op, [](const Run &run) { return first(run, isBelow); });
}

/// The real or imaginary parts of a complex tensor, where they lie.
static rt::StridedView partView(const rt::Tensor &t, int64_t part) {
  rt::StridedView view = rt::denseView(t);
  view.dtype = realOf(t.dtype);
  view.offset = part;
  for (int64_t &stride : view.strides)
    stride *= 2;
  return view;
}

void Frame::matmulByParts(MatMulOp op, rt::ComplexProduct strategy) {
  const rt::Tensor &a = tensor(op.getLhs()), &b = tensor(op.getRhs());
  rt::ComplexProduct used;
  auto [re, im] = rt::planarMatmul({partView(a, 0), partView(a, 1), false}, {partView(b, 0), partView(b, 1), false},
                                   strategy, used);
  rt::TensorRef out(rt::newTensor(a.dtype, re->shape()));
  for (int64_t i = 0; i < out->count(); ++i)
    storeElement(a.dtype, out->data, i,
                 {0, loadElement(re->dtype, re->data, i).re, loadElement(im->dtype, im->data, i).re});
  set(op.getResult(), std::move(out));
}

template <> void Frame::evaluate(PlanarGemmOp op) {
  auto view = [&](Value v, ArrayRef<int64_t> axes) {
    rt::StridedView base = rt::denseView(tensor(v)), out{base.dtype, base.offset, {}, {}, base.data};
    for (int64_t axis : axes) {
      out.sizes.push_back(axis < 0 ? 1 : base.sizes[axis]);
      out.strides.push_back(axis < 0 ? 0 : base.strides[axis]);
    }
    return out;
  };
  rt::PlanarOperand x{view(op.getA(), op.getLhsAxes()), view(op.getB(), op.getLhsAxes()), op.getLhsConjugated()};
  rt::PlanarOperand y{view(op.getC(), op.getRhsAxes()), view(op.getD(), op.getRhsAxes()), op.getRhsConjugated()};
  rt::ComplexProduct used;
  auto [re, im] = rt::planarMatmul(
      x, y, *rt::complexProductNamed(std::string_view(op.getStrategy().data(), op.getStrategy().size())), used);
  set(op.getRe(), std::move(re));
  set(op.getIm(), std::move(im));
}

template <> void Frame::evaluate(MatMulOp op) {
  const rt::Tensor &a = tensor(op.getLhs()), &b = tensor(op.getRhs());
  StringRef chosen = op.getStrategy().value_or(options().complexMatmul);
  auto strategy = *rt::complexProductNamed(std::string_view(chosen.data(), chosen.size()));
  if (isComplex(a.dtype) && (strategy == rt::ComplexProduct::FourReal || strategy == rt::ComplexProduct::Gauss))
    return matmulByParts(op, strategy);
  if (!options().naiveMatmul)
    return set(op.getResult(), rt::matmul(rt::denseView(a), rt::denseView(b), 1, static_cast<rt::Gram>(gramKind(op))));
  bool leftVector = a.rank == 1, rightVector = b.rank == 1;
  int64_t m = leftVector ? 1 : a.sizes[a.rank - 2], k = a.sizes[a.rank - 1], n = rightVector ? 1 : b.sizes[b.rank - 1];
  if (k != b.sizes[rightVector ? 0 : b.rank - 2])
    rt::fail(DiagId::SizesDiffer,
             {"inner sizes", std::to_string(k), std::to_string(b.sizes[rightVector ? 0 : b.rank - 2])});
  SmallVector<int64_t> batch(std::max({a.rank - 2, b.rank - 2, 0}), 1), sizes;
  SmallVector<int64_t> aStrides(batch.size(), 0), bStrides(batch.size(), 0);
  auto addBatch = [&](const rt::Tensor &t, SmallVector<int64_t> &strides, int64_t stride) {
    for (int64_t i = 3; i <= t.rank; ++i) {
      int64_t size = t.sizes[t.rank - i];
      size_t at = batch.size() - (i - 2);
      if (size != 1)
        batch[at] = size, strides[at] = stride;
      stride *= size;
    }
  };
  addBatch(a, aStrides, m * k);
  addBatch(b, bStrides, k * n);
  sizes = batch;
  if (!leftVector)
    sizes.push_back(m);
  if (!rightVector)
    sizes.push_back(n);
  rt::TensorRef out(rt::newTensor(tensorTypeOf(op.getResult()).getDtype(), sizes));
  if (out->count() > 0)
    forEachIndex(batch, [&](int64_t i, ArrayRef<int64_t> index) {
      int64_t ao = dot(index, aStrides), bo = dot(index, bStrides);
      for (int64_t row = 0; row < m; ++row)
        for (int64_t column = 0; column < n; ++column) {
          rt::poll();
          ScalarValue sum;
          for (int64_t j = 0; j < k; ++j)
            sum = addElements(sum,
                              mulElements(loadElement(a.dtype, a.data, ao + row * k + j),
                                          loadElement(b.dtype, b.data, bo + j * n + column), a.dtype),
                              a.dtype);
          storeElement(out->dtype, out->data, (i * m + row) * n + column, sum);
        }
    });
  set(op.getResult(), std::move(out));
}

/// A tensor whose element at each index is an element of `x`.
static rt::TensorRef gatherElements(const rt::Tensor &x, ArrayRef<int64_t> sizes,
                                    llvm::function_ref<int64_t(ArrayRef<int64_t>)> offset) {
  rt::TensorRef out(rt::newTensor(x.dtype, sizes));
  int64_t width = sizeOf(x.dtype);
  forEachIndex(sizes, [&](int64_t i, ArrayRef<int64_t> index) {
    std::memcpy(out->as<char>() + i * width, x.as<char>() + offset(index) * width, width);
  });
  return out;
}

static void checkStoredSizes(const rt::Tensor &v, ArrayRef<int64_t> sizes) {
  for (int64_t i = 1; i <= v.rank; ++i)
    if (v.sizes[v.rank - i] != 1 && v.sizes[v.rank - i] != sizes[sizes.size() - i])
      rt::fail(DiagId::SizesDiffer, {"sizes of the value and the slice", std::to_string(v.sizes[v.rank - i]),
                                     std::to_string(sizes[sizes.size() - i])});
}

bool Frame::storeOnDevice(SliceStoreOp op) {
  const rt::Tensor &v = tensor(op.getValues());
  if ((!v.storage->device && !tensor(op.getX()).storage->device) || (op->hasAttr("packed") && !runningPacked))
    return false;
  SmallVector<int64_t> starts = integers(op.getStarts()), sizes = integers(op.getCounts());
  checkStoredSizes(v, sizes);
  rt::TensorRef x = consume(op.getX(), op);
  rt::TensorRef stored = rt::deviceStore(x, v, starts, sizes, op.getSteps(), rt::deviceSite());
  if (!stored) {
    set(op.getX(), std::move(x));
    return false;
  }
  set(op.getResult(), std::move(stored));
  return true;
}

template <> void Frame::evaluate(RelabelOp o) { alias(o.getResult(), o.getX()); }

template <> void Frame::evaluate(DimOp o) { setInteger(o.getResult(), tensor(o.getX()).sizes[o.getAxis()]); }

template <> void Frame::evaluate(PartOp o) {
  const rt::Tensor &x = tensor(o.getX());
  set(o.getResult(), gatherElements(x, ArrayRef(x.sizes, x.rank - 1), [&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> strides = denseStrides(x);
        return dot(index, ArrayRef(strides).drop_back()) + static_cast<int64_t>(o.getIndex());
      }));
}

template <> void Frame::evaluate(PackOp o) {
  const rt::Tensor &re = tensor(o.getRe()), &im = tensor(o.getIm());
  SmallVector<int64_t> sizes(re.sizes, re.sizes + re.rank);
  sizes.push_back(2);
  rt::TensorRef out(rt::newTensor(re.dtype, sizes));
  for (int64_t i = 0; i < re.count(); ++i) {
    storeElement(re.dtype, out->data, 2 * i, loadElement(re.dtype, re.data, i));
    storeElement(re.dtype, out->data, 2 * i + 1, loadElement(im.dtype, im.data, i));
  }
  set(o.getResult(), std::move(out));
}

template <> void Frame::evaluate(ReshapeOp o) {
  rt::TensorRef x = tensorRef(o.getX());
  set(o.getResult(), rt::TensorRef(rt::newView(x.get(), x->dtype, integers(o.getSizes()))));
}

template <> void Frame::evaluate(PermuteOp o) {
  const rt::Tensor &x = tensor(o.getX());
  SmallVector<int64_t> sizes, strides, dense = denseStrides(x);
  for (int64_t axis : o.getPermutation()) {
    sizes.push_back(x.sizes[axis]);
    strides.push_back(dense[axis]);
  }
  set(o.getResult(), gatherElements(x, sizes, [&](ArrayRef<int64_t> index) { return dot(index, strides); }));
}

template <> void Frame::evaluate(BroadcastOp o) {
  const rt::Tensor &x = tensor(o.getX());
  SmallVector<int64_t> sizes = integers(o.getSizes()), strides = stridesFor(x, sizes.size());
  for (int64_t i = 1; i <= x.rank; ++i)
    if (x.sizes[x.rank - i] != 1 && x.sizes[x.rank - i] != sizes[sizes.size() - i])
      rt::fail(DiagId::SizesDiffer,
               {"sizes of a broadcast", std::to_string(x.sizes[x.rank - i]), std::to_string(sizes[sizes.size() - i])});
  set(o.getResult(), gatherElements(x, sizes, [&](ArrayRef<int64_t> index) { return dot(index, strides); }));
}

template <> void Frame::evaluate(SliceOp o) {
  const rt::Tensor &x = tensor(o.getX());
  SmallVector<int64_t> starts = integers(o.getStarts()), sizes = integers(o.getCounts()), strides = denseStrides(x);
  int64_t base = dot(starts, strides);
  for (auto [stride, step] : llvm::zip_equal(strides, o.getSteps()))
    stride *= step;
  set(o.getResult(), gatherElements(x, sizes, [&](ArrayRef<int64_t> index) { return base + dot(index, strides); }));
}

template <> void Frame::evaluate(ReadPartOp o) {
  set(o.getResult(), rt::partOf(tensor(o.getX()), integers(o.getStarts()), integers(o.getCounts()), o.getSteps()));
}

template <> void Frame::evaluate(SliceStoreOp o) {
  rt::TensorRef x(rt::unique(consume(o.getX(), o).take()));
  const rt::Tensor &v = tensor(o.getValues());
  SmallVector<int64_t> starts = integers(o.getStarts()), sizes = integers(o.getCounts()), strides = denseStrides(*x),
                       from = stridesFor(v, sizes.size());
  checkStoredSizes(v, sizes);
  int64_t base = dot(starts, strides);
  for (auto [stride, step] : llvm::zip_equal(strides, o.getSteps()))
    stride *= step;
  forEachIndex(sizes, [&](int64_t, ArrayRef<int64_t> index) {
    storeElement(x->dtype, x->data, base + dot(index, strides), loadElement(v.dtype, v.data, dot(index, from)));
  });
  set(o.getResult(), std::move(x));
}

template <> void Frame::evaluate(AppendOp o) {
  const rt::Tensor &row = tensor(o.getRow());
  set(o.getResult(), rt::append(consume(o.getX(), o), rt::onHost(row)));
}

template <> void Frame::evaluate(ShortenOp o) {
  set(o.getResult(), rt::shorten(consume(o.getX(), o), integer(o.getCount())));
}

template <> void Frame::evaluate(ElementOp o) {
  const rt::Tensor &x = tensor(o.getX());
  int64_t at = dot(integers(o.getIndices()), denseStrides(x));
  set(o.getResult(), gatherElements(x, ArrayRef<int64_t>(), [&](ArrayRef<int64_t>) { return at; }));
}

template <> void Frame::evaluate(FromElementsOp o) {
  rt::TensorRef out(rt::newTensor(o.getType().getDtype(), o.getSizes()));
  for (auto [i, element] : llvm::enumerate(o.getElements()))
    storeElement(out->dtype, out->data, i, loadElement(out->dtype, tensor(element).data, 0));
  set(o.getResult(), std::move(out));
}

void Frame::setElement(Value x, Value value, ValueRange indices) {
  const rt::Tensor &t = tensor(x), &v = tensor(value);
  storeElement(t.dtype, t.data, dot(integers(indices), denseStrides(t)), loadElement(v.dtype, v.data, 0));
}

template <> void Frame::evaluate(ElementStoreOp o) {
  set(o.getResult(), rt::TensorRef(rt::unique(consume(o.getX(), o).take())));
  setElement(o.getResult(), o.getValue(), o.getIndices());
}

template <> void Frame::evaluate(ElementSetOp o) { setElement(o.getX(), o.getValue(), o.getIndices()); }

template <> void Frame::evaluate(UniqueOp o) {
  set(o.getResult(), rt::TensorRef(rt::unique(consume(o.getX(), o).take())));
}

template <> void Frame::evaluate(ConcatOp o) {
  int64_t axis = o.getAxis(), total = 0;
  for (Value part : o.getParts())
    total += tensor(part).sizes[axis];
  SmallVector<int64_t> sizes(tensor(o.getParts()[0]).shape().begin(), tensor(o.getParts()[0]).shape().end());
  sizes[axis] = total;
  rt::TensorRef out(rt::newTensor(tensorTypeOf(o.getResult()).getDtype(), sizes));
  SmallVector<int64_t> strides = denseStrides(*out);
  int64_t at = 0;
  for (Value part : o.getParts()) {
    const rt::Tensor &x = tensor(part);
    forEachIndex(x.shape(), [&](int64_t i, ArrayRef<int64_t> index) {
      storeElement(out->dtype, out->data, at * strides[axis] + dot(index, strides), loadElement(x.dtype, x.data, i));
    });
    at += x.sizes[axis];
  }
  set(o.getResult(), std::move(out));
}

template <> void Frame::evaluate(PadOp o) {
  const rt::Tensor &x = tensor(o.getX());
  SmallVector<int64_t> sizes, strides = denseStrides(x);
  for (int64_t i = 0; i < x.rank; ++i)
    sizes.push_back(x.sizes[i] + o.getLow()[i] + o.getHigh()[i]);
  rt::TensorRef out(rt::newTensor(x.dtype, sizes));
  forEachIndex(sizes, [&](int64_t i, ArrayRef<int64_t> index) {
    int64_t offset = 0;
    bool inside = true;
    for (int64_t axis = 0; axis < x.rank; ++axis) {
      int64_t k = index[axis] - o.getLow()[axis];
      inside &= k >= 0 && k < x.sizes[axis];
      offset += k * strides[axis];
    }
    storeElement(x.dtype, out->data, i,
                 inside ? loadElement(x.dtype, x.data, offset) : loadElement(x.dtype, tensor(o.getValue()).data, 0));
  });
  set(o.getResult(), std::move(out));
}

template <> void Frame::evaluate(DiagonalOp o) {
  const rt::Tensor &x = tensor(o.getX());
  int64_t k = o.getOffset(), down = std::max<int64_t>(-k, 0), right = std::max<int64_t>(k, 0);
  int64_t rows = x.sizes[x.rank - 2], columns = x.sizes[x.rank - 1];
  SmallVector<int64_t> sizes(x.sizes, x.sizes + x.rank - 1), strides = denseStrides(x);
  sizes.back() = std::max<int64_t>(std::min(rows - down, columns - right), 0);
  strides.pop_back();
  strides.back() = columns + 1;
  set(o.getResult(),
      gatherElements(x, sizes, [&](ArrayRef<int64_t> index) { return down * columns + right + dot(index, strides); }));
}

template <> void Frame::evaluate(ViewAsRealOp o) {
  rt::TensorRef x = tensorRef(o.getOperand());
  SmallVector<int64_t> sizes(x->sizes, x->sizes + x->rank);
  sizes.push_back(2);
  set(o.getResult(), rt::TensorRef(rt::newView(x.get(), realOf(x->dtype), sizes)));
}

template <> void Frame::evaluate(ViewAsComplexOp o) {
  rt::TensorRef x = tensorRef(o.getOperand());
  SmallVector<int64_t> sizes(x->sizes, x->sizes + x->rank - 1);
  set(o.getResult(), rt::TensorRef(rt::newView(x.get(), complexOf(x->dtype), sizes)));
}

template <> void Frame::evaluate(FullOp o) {
  const rt::Tensor &v = tensor(o.getValue());
  set(o.getResult(), gatherElements(v, integers(o.getSizes()), [](ArrayRef<int64_t>) { return 0; }));
}

template <> void Frame::evaluate(IotaOp o) {
  int64_t n = integer(o.getSize());
  rt::TensorRef out(rt::newTensor(DType::I64, std::span(&n, 1)));
  for (int64_t i = 0; i < n; ++i)
    out->as<int64_t>()[i] = i;
  set(o.getResult(), std::move(out));
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Strategies for planar complex products and the choice among them.
#include "runtime/Planar.h"

#include "runtime/Isa.h"
#include "runtime/Parallel.h"
#include "runtime/PlanarKernels.h"

#include <algorithm>
#include <complex>

namespace toy::rt {

TOY_KERNELS_FOR_ISA(PlanarKernels<float>, kernelsF32)
TOY_KERNELS_FOR_ISA(PlanarKernels<double>, kernelsF64)

/// Small matrices do not fill the widest registers.
#ifdef __x86_64__
#define TOY_PLANAR_KERNELS(NAME)                                                                                       \
  {ofMachine(baseline::NAME, avx2::NAME, avx2::NAME)().small, TOY_KERNELS_OF_MACHINE(NAME).fewRows}
#else
#define TOY_PLANAR_KERNELS(NAME) baseline::NAME()
#endif

template <> const PlanarKernels<float> &planarKernels<float>() {
  static const PlanarKernels<float> kernels = TOY_PLANAR_KERNELS(kernelsF32);
  return kernels;
}
template <> const PlanarKernels<double> &planarKernels<double>() {
  static const PlanarKernels<double> kernels = TOY_PLANAR_KERNELS(kernelsF64);
  return kernels;
}

namespace {

template <typename T> constexpr DType realDType = sizeof(T) == 4 ? DType::F32 : DType::F64;
template <typename T> constexpr DType complexDType = sizeof(T) == 4 ? DType::C64 : DType::C128;

bool sameLayout(const PlanarOperand &x) { return x.re.strides == x.im.strides; }

int64_t countOf(const std::vector<int64_t> &sizes) {
  int64_t n = 1;
  for (int64_t size : sizes)
    n *= size;
  return n;
}

/// The elements of two views side by side, dense.
template <typename T> TensorRef interleaved(const PlanarOperand &x) {
  TensorRef out(newTensor(complexDType<T>, x.re.sizes));
  auto *to = static_cast<std::complex<T> *>(out->data);
  const T *re = static_cast<const T *>(dataOf(x.re)), *im = static_cast<const T *>(dataOf(x.im));
  size_t rank = x.re.sizes.size();
  int64_t inner = x.re.sizes[rank - 1], rows = inner ? countOf(x.re.sizes) / inner : 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row, reAt = 0, imAt = 0;
    for (size_t axis = rank - 1; axis-- > 0;) {
      reAt += rest % x.re.sizes[axis] * x.re.strides[axis];
      imAt += rest % x.re.sizes[axis] * x.im.strides[axis];
      rest /= x.re.sizes[axis];
    }
    for (int64_t j = 0; j < inner; ++j)
      to[row * inner + j] = {re[reAt + j * x.re.strides[rank - 1]], im[imAt + j * x.im.strides[rank - 1]]};
  }
  return out;
}

/// `f(i)` for i in [0, n), on all cores.
template <typename F> void parallelLoop(int64_t n, F f) {
  auto body = [](void *opaque, int64_t begin, int64_t end) {
    F &function = *static_cast<F *>(opaque);
    for (int64_t i = begin; i < end; ++i)
      function(i);
  };
  parallelFor(n, 1 << 15, body, &f);
}

template <typename T> void native(const PlanarOperand &x, const PlanarOperand &y, Tensor &re, Tensor &im) {
  TensorRef left = interleaved<T>(x), right = interleaved<T>(y);
  StridedView a = denseView(*left), b = denseView(*right);
  a.conjugated = x.conjugated;
  b.conjugated = y.conjugated;
  TensorRef z = matmul(a, b);
  const auto *from = static_cast<const std::complex<T> *>(z->data);
  T *reOut = static_cast<T *>(re.data), *imOut = static_cast<T *>(im.data);
  parallelLoop(countOf({z->sizes, z->sizes + z->rank}), [=](int64_t i) {
    reOut[i] = from[i].real();
    imOut[i] = from[i].imag();
  });
}

/// re = ac ∓ bd, im = ±ad ± bc. The second product is accumulated onto the first where that saves a pass over a large
/// result; otherwise they are combined afterwards (BLAS has better kernels for small products that do not accumulate),
/// with the bits of four products written one by one.
template <typename T>
void fourReal(const ProductShape &s, const PlanarOperand &x, const PlanarOperand &y, Tensor &re, Tensor &im) {
  ProductShape swapped = productShape(x.im, y.im);
  auto product = [&](const StridedView &left, const StridedView &right, void *out, double alpha, double beta) {
    const ProductShape &l = &left == &x.im ? swapped : s, &r = &right == &y.im ? swapped : s;
    gemm(realDType<T>, s.m, s.n, s.k, {dataOf(left), l.aRow, l.aColumn, l.aBatch.data()},
         {dataOf(right), r.bRow, r.bColumn, r.bBatch.data()}, out, s.batch, alpha, beta);
  };
  int64_t count = countOf(s.result);
  bool addBd = x.conjugated != y.conjugated;
  if (std::min({s.m, s.n, s.k}) >= 64) {
    product(x.re, y.re, re.data, 1, 0);
    product(x.im, y.im, re.data, addBd ? 1 : -1, 1);
    product(x.re, y.im, im.data, y.conjugated ? -1 : 1, 0);
    product(x.im, y.re, im.data, x.conjugated ? -1 : 1, 1);
    return;
  }
  TensorRef bd(newTensor(realDType<T>, s.result)), bc(newTensor(realDType<T>, s.result));
  product(x.re, y.re, re.data, 1, 0);
  product(x.im, y.im, bd->data, 1, 0);
  product(x.re, y.im, im.data, 1, 0);
  product(x.im, y.re, bc->data, 1, 0);
  T *reOut = static_cast<T *>(re.data), *imOut = static_cast<T *>(im.data);
  const T *bdIn = static_cast<const T *>(bd->data), *bcIn = static_cast<const T *>(bc->data);
  bool subtractAd = y.conjugated, subtractBc = x.conjugated;
  parallelLoop(count, [=](int64_t i) {
    T ad = subtractAd ? -imOut[i] : imOut[i];
    reOut[i] = addBd ? reOut[i] + bdIn[i] : reOut[i] - bdIn[i];
    imOut[i] = subtractBc ? ad - bcIn[i] : ad + bcIn[i];
  });
}

/// re ± im of an operand, in the layout of its parts where they are dense.
template <typename T> StridedView sumOfParts(const PlanarOperand &x, TensorRef &storage) {
  T sign = x.conjugated ? -1 : 1;
  int64_t count = countOf(x.re.sizes), last = 0;
  for (size_t axis = 0; axis < x.re.sizes.size(); ++axis)
    last += (x.re.sizes[axis] - 1) * x.re.strides[axis];
  storage = TensorRef(newTensor(realDType<T>, x.re.sizes));
  T *out = static_cast<T *>(storage->data);
  const T *re = static_cast<const T *>(dataOf(x.re)), *im = static_cast<const T *>(dataOf(x.im));
  StridedView view = denseView(*storage);
  if (count > 0 && sameLayout(x) && last == count - 1) { // all of a block of memory, in some order
    parallelLoop(count, [=](int64_t i) { out[i] = re[i] + sign * im[i]; });
    view.strides = x.re.strides;
    return view;
  }
  TensorRef z = interleaved<T>(x);
  const auto *from = static_cast<const std::complex<T> *>(z->data);
  parallelLoop(count, [=](int64_t i) { out[i] = from[i].real() + sign * from[i].imag(); });
  return view;
}

/// p = ac, q = bd, re = p - q, im = (a + b)(c + d) - p - q (Gauss; Higham 1992). Conjugation is in the signs of b and
/// d.
template <typename T>
void gauss(const ProductShape &shape, const PlanarOperand &x, const PlanarOperand &y, Tensor &re, Tensor &im) {
  auto product = [](const StridedView &left, const StridedView &right, Tensor &out) {
    ProductShape s = productShape(left, right);
    gemm(realDType<T>, s.m, s.n, s.k, {dataOf(left), s.aRow, s.aColumn, s.aBatch.data()},
         {dataOf(right), s.bRow, s.bColumn, s.bBatch.data()}, out.data, s.batch);
  };
  TensorRef leftSum, rightSum, bd(newTensor(realDType<T>, shape.result));
  product(sumOfParts<T>(x, leftSum), sumOfParts<T>(y, rightSum), im);
  product(x.re, y.re, re);
  product(x.im, y.im, *bd);
  T sign = x.conjugated != y.conjugated ? -1 : 1, *reOut = static_cast<T *>(re.data),
    *imOut = static_cast<T *>(im.data);
  const T *bdIn = static_cast<const T *>(bd->data);
  parallelLoop(countOf(shape.result), [=](int64_t i) {
    T first = reOut[i], second = sign * bdIn[i];
    reOut[i] = first - second;
    imOut[i] = imOut[i] - first - second;
  });
}

template <typename T>
PlanarProduct<T> kernelArguments(const ProductShape &s, const PlanarOperand &x, const PlanarOperand &y, Tensor &re,
                                 Tensor &im) {
  auto at = [](const StridedView &v) { return static_cast<const T *>(dataOf(v)); };
  return {s.m,
          s.n,
          s.k,
          at(x.re),
          at(x.im),
          at(y.re),
          at(y.im),
          static_cast<T *>(re.data),
          static_cast<T *>(im.data),
          s.aRow,
          s.aColumn,
          s.bRow,
          s.bColumn,
          x.conjugated != y.conjugated,
          y.conjugated,
          x.conjugated};
}

/// Many products of small matrices, or one.
template <typename T>
bool trySmall(const ProductShape &s, const PlanarOperand &x, const PlanarOperand &y, Tensor &re, Tensor &im) {
  bool square = s.m == s.n && s.n == s.k;
  if (s.m * s.n * s.k > (square ? 4096 : 512) || s.batch.size() > 1 || !sameLayout(x) || !sameLayout(y))
    return false;
  struct Context {
    PlanarProduct<T> p;
    int64_t xStep, yStep;
  } context{kernelArguments<T>(s, x, y, re, im), s.batch.empty() ? 0 : s.aBatch[0], s.batch.empty() ? 0 : s.bBatch[0]};
  auto body = [](void *opaque, int64_t begin, int64_t end) {
    auto &c = *static_cast<Context *>(opaque);
    PlanarProduct<T> p = c.p;
    p.a += begin * c.xStep, p.b += begin * c.xStep, p.c += begin * c.yStep, p.d += begin * c.yStep;
    p.re += begin * p.m * p.n, p.im += begin * p.m * p.n;
    planarKernels<T>().small(p, end - begin, c.xStep, c.yStep);
  };
  // Tasks of some 25 microseconds: about 8 multiplications and additions, or 16 bytes, in a nanosecond.
  int64_t cost = std::max<int64_t>(
      {s.m * s.n * s.k / 8, (s.m * s.k + s.k * s.n + s.m * s.n) * 2 * static_cast<int64_t>(sizeof(T)) / 16, 1});
  parallelFor(countOf(s.batch), std::max<int64_t>(1, 25000 / cost), body, &context);
  return true;
}

template <typename T>
bool tryFewRows(const ProductShape &s, const PlanarOperand &x, const PlanarOperand &y, Tensor &re, Tensor &im) {
  if (s.m > 12 || countOf(s.batch) != 1 || s.bColumn != 1 || s.n < 16 || !sameLayout(x) || !sameLayout(y))
    return false;
  PlanarProduct<T> p = kernelArguments<T>(s, x, y, re, im);
  auto body = [](void *opaque, int64_t begin, int64_t end) {
    planarKernels<T>().fewRows(*static_cast<PlanarProduct<T> *>(opaque), begin, end);
  };
  parallelFor(s.n, std::max<int64_t>(256, (1 << 17) / std::max<int64_t>(s.k, 1)), body, &p);
  return true;
}

template <typename T>
std::pair<TensorRef, TensorRef> product(const PlanarOperand &x, const PlanarOperand &y, ComplexProduct strategy,
                                        ComplexProduct &used) {
  ProductShape s = productShape(x.re, y.re);
  TensorRef re(newTensor(realDType<T>, s.result)), im(newTensor(realDType<T>, s.result));
  const bool isAutomatic = strategy == ComplexProduct::Auto || strategy == ComplexProduct::AutoParts;
  used = isAutomatic ? strategyFor(strategy, s.m, s.n, s.k) : strategy;
  if (used == ComplexProduct::Native)
    native<T>(x, y, *re, *im);
  else if (used == ComplexProduct::Gauss)
    gauss<T>(s, x, y, *re, *im);
  else if (!trySmall<T>(s, x, y, *re, *im) && !tryFewRows<T>(s, x, y, *re, *im))
    fourReal<T>(s, x, y, *re, *im);
  return {std::move(re), std::move(im)};
}

} // namespace

ComplexProduct strategyFor(ComplexProduct automatic, int64_t m, int64_t n, int64_t k) {
  return automatic == ComplexProduct::Auto && m * n * k <= smallProduct ? ComplexProduct::Native
                                                                        : ComplexProduct::FourReal;
}

std::string_view nameOf(ComplexProduct strategy) {
  constexpr std::string_view names[] = {"auto", "native", "four-real", "gauss", "auto-parts"};
  return names[static_cast<size_t>(strategy)];
}

std::optional<ComplexProduct> complexProductNamed(std::string_view name) {
  for (auto strategy : {ComplexProduct::Auto, ComplexProduct::Native, ComplexProduct::FourReal, ComplexProduct::Gauss,
                        ComplexProduct::AutoParts})
    if (nameOf(strategy) == name)
      return strategy;
  return std::nullopt;
}

std::pair<TensorRef, TensorRef> planarMatmul(const PlanarOperand &x, const PlanarOperand &y, ComplexProduct strategy,
                                             ComplexProduct &used) {
  return x.re.dtype == DType::F32 ? product<float>(x, y, strategy, used) : product<double>(x, y, strategy, used);
}

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Chooses transposition flags and leading dimensions; packs what BLAS cannot take.
#include "runtime/Blas.h"
#include "runtime/ArrayLoops.h"
#include "runtime/Error.h"
#include "runtime/IntegerKernels.h"
#include "runtime/Isa.h"
#include "runtime/NarrowProducts.h"
#include "runtime/OpenBlas.h"
#include "runtime/PanelProducts.h"
#include "runtime/Parallel.h"
#include "runtime/SmallMatrices.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

namespace toy::rt {
namespace {

/// An operand as BLAS takes it.
template <typename T> struct BlasOperand {
  const T *data;
  CBLAS_TRANSPOSE flag;
  int64_t leading;
};

template <typename T> T conjugated(T x) { return x; }
template <typename T> std::complex<T> conjugated(std::complex<T> z) { return std::conj(z); }
template <typename T> constexpr bool isComplexType = false;
template <typename T> constexpr bool isComplexType<std::complex<T>> = true;

/// Rows contiguous, columns contiguous (transposed), or packed into `scratch`.
template <typename T>
BlasOperand<T> prepare(const T *data, int64_t rows, int64_t columns, const MatrixOperand &o, std::vector<T> &scratch) {
  bool conjugate = o.conjugate && isComplexType<T>;
  if ((o.columnStride == 1 || columns == 1) && !conjugate &&
      (o.rowStride >= std::max<int64_t>(columns, 1) || rows == 1))
    return {data, CblasNoTrans, rows == 1 ? std::max<int64_t>(columns, 1) : o.rowStride};
  if ((o.rowStride == 1 || rows == 1) && (o.columnStride >= std::max<int64_t>(rows, 1) || columns == 1))
    return {data, conjugate ? CblasConjTrans : CblasTrans, columns == 1 ? std::max<int64_t>(rows, 1) : o.columnStride};
  scratch.resize(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      T x = data[i * o.rowStride + j * o.columnStride];
      scratch[i * columns + j] = conjugate ? conjugated(x) : x;
    }
  return {scratch.data(), CblasNoTrans, std::max<int64_t>(columns, 1)};
}

void call(int64_t m, int64_t n, int64_t k, float alpha, BlasOperand<float> a, BlasOperand<float> b, float beta,
          float *c, int64_t leading) {
  openBlas().sgemm(CblasRowMajor, a.flag, b.flag, m, n, k, alpha, a.data, a.leading, b.data, b.leading, beta, c,
                   leading);
}
void call(int64_t m, int64_t n, int64_t k, double alpha, BlasOperand<double> a, BlasOperand<double> b, double beta,
          double *c, int64_t leading) {
  openBlas().dgemm(CblasRowMajor, a.flag, b.flag, m, n, k, alpha, a.data, a.leading, b.data, b.leading, beta, c,
                   leading);
}
void call(int64_t m, int64_t n, int64_t k, std::complex<float> alpha, BlasOperand<std::complex<float>> a,
          BlasOperand<std::complex<float>> b, std::complex<float> beta, std::complex<float> *c, int64_t leading) {
  openBlas().cgemm(CblasRowMajor, a.flag, b.flag, m, n, k, &alpha, a.data, a.leading, b.data, b.leading, &beta, c,
                   leading);
}
void call(int64_t m, int64_t n, int64_t k, std::complex<double> alpha, BlasOperand<std::complex<double>> a,
          BlasOperand<std::complex<double>> b, std::complex<double> beta, std::complex<double> *c, int64_t leading) {
  openBlas().zgemm(CblasRowMajor, a.flag, b.flag, m, n, k, &alpha, a.data, a.leading, b.data, b.leading, &beta, c,
                   leading);
}

/// One product in plain loops: small sizes, where a library call costs more than the work.
template <typename T>
void plain(int64_t m, int64_t n, int64_t k, const T *a, const MatrixOperand &ao, const T *b, const MatrixOperand &bo,
           T *c) {
  auto added = [](T t, T x, T y) {
    if constexpr (isComplexType<T>)
      return T(t.real() + (x.real() * y.real() - x.imag() * y.imag()),
               t.imag() + (x.real() * y.imag() + x.imag() * y.real()));
    else
      return T(t + x * y);
  };
  if (n == 1) { // by a vector: a sum in a register, in the same order
    for (int64_t i = 0; i < m; ++i) {
      if (k > 1 << 20)
        poll();
      T sum(0);
      for (int64_t p = 0; p < k; ++p) {
        const T x = a[i * ao.rowStride + p * ao.columnStride], y = b[p * bo.rowStride];
        sum = added(sum, ao.conjugate ? conjugated(x) : x, bo.conjugate ? conjugated(y) : y);
      }
      c[i] = sum;
    }
    return;
  }
  for (int64_t i = 0; i < m; ++i)
    std::fill_n(c + i * n, n, T(0));
  bool ca = ao.conjugate, cb = bo.conjugate;
  for (int64_t i = 0; i < m; ++i) {
    if (n * k > 1 << 20)
      poll();
    for (int64_t p = 0; p < k; ++p) {
      T x = a[i * ao.rowStride + p * ao.columnStride];
      if (ca)
        x = conjugated(x);
      const T *row = b + p * bo.rowStride;
      for (int64_t j = 0; j < n; ++j) {
        T y = row[j * bo.columnStride];
        c[i * n + j] = added(c[i * n + j], x, cb ? conjugated(y) : y);
      }
    }
  }
}

template <typename T> const IntegerKernels<T> &integerKernels();
template <> const IntegerKernels<uint8_t> &integerKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(integerKernelsU8);
  return chosen;
}
template <> const IntegerKernels<uint32_t> &integerKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(integerKernelsI32);
  return chosen;
}
template <> const IntegerKernels<uint64_t> &integerKernels() {
  static const auto chosen = TOY_KERNELS_OF_MACHINE(integerKernelsI64);
  return chosen;
}

/// Columns by registers. Rows of the second matrix are made to lie together.
template <typename T>
void integers(int64_t m, int64_t n, int64_t k, const T *a, const MatrixOperand &ao, const T *b, MatrixOperand bo,
              T *c) {
  const IntegerKernels<T> &kernels = integerKernels<T>();
  if (n == 1 || k == 0)
    return plain(m, n, k, a, ao, b, bo, c);
  std::vector<T> rows;
  if (bo.columnStride != 1) {
    rows.resize(k * n);
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        rows[p * n + j] = b[p * bo.rowStride + j * bo.columnStride];
    b = rows.data();
    bo.rowStride = n;
    bo.columnStride = 1;
  }
  const IntegerProduct<T> product{n, k, a, ao.rowStride, ao.columnStride, b, bo.rowStride, c};
  // Four rows go together; threads look for Ctrl-C between pieces.
  constexpr int64_t grain = 1 << 17, most = 1 << 24;
  const int64_t work = std::max<int64_t>(n * k, 1), fours = (m + 3) / 4, step = std::max<int64_t>(1, most / work / 4);
  parallelPieces(fours, std::max<int64_t>(1, grain / work / 4), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += step) {
      if (i > begin)
        poll();
      kernels.product(product, i * 4, std::min(m, std::min(end, i + step) * 4));
    }
  });
}

/// Products that sum in the order of rule 13, and not in BLAS's.
template <typename T> bool isSmallProduct(int64_t m, int64_t n, int64_t k, double alpha, double beta) {
  return !std::is_integral_v<T> && m * n * k <= smallProduct && alpha == 1 && beta == 0;
}

/// Products of two matrices whose sums stay in registers, where BLAS takes longer: of few columns, or of a short inner
/// axis. Those of integers, whose order changes nothing, may have a vector.
template <typename T> bool isProductInRegisters(int64_t m, int64_t n, int64_t k, double alpha, double beta) {
  constexpr int64_t widest = SmallProducts::widest, shallow = 8;
  constexpr bool isAny = std::is_integral_v<T>;
  return sizeof(T) > 1 && (isAny || (m > 1 && n > 1)) && k > 0 && alpha == 1 && beta == 0 &&
         (n <= widest ? k <= SmallProducts::deepest : k <= shallow && !isAny);
}

/// Rows [begin, end) of one such product, some columns at a time.
template <typename T> struct RegisterProduct {
  int64_t m, n, k;
  const T *a;
  MatrixOperand ao;
  const T *b;
  MatrixOperand bo;
  T *c;

  void rows(int64_t begin, int64_t end) const {
    constexpr int64_t widest = SmallProducts::widest;
    auto factor = [](const T *data, const MatrixOperand &o) {
      return SmallProducts::Factor{data, o.rowStride, o.columnStride, 0, o.conjugate && isComplexType<T>};
    };
    for (int64_t j = 0, width = 0; j < n; j += width) {
      width = std::min(widest, n - j);
      width -= n - j - width == 1; // a last column alone would be a product by a vector
      smallMatrices<T>().product({end - begin, width, k, 1, factor(a + begin * ao.rowStride, ao),
                                  factor(b + j * bo.columnStride, bo), c + begin * n + j, n});
    }
  }
  void run() const {
    constexpr int64_t grain = 1 << 15, fewRows = 64; // the result's rows of all columns are in a cache
    parallelFor(
        m, std::max<int64_t>(std::min(fewRows, m), grain / std::max<int64_t>(n * k, 1)),
        [](void *context, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; i += fewRows)
            static_cast<const RegisterProduct *>(context)->rows(i, std::min(end, i + fewRows));
        },
        const_cast<RegisterProduct *>(this));
  }
};

/// Multiplications of real numbers in one of two elements; what is too long between two looks for Ctrl-C.
template <typename T> constexpr int64_t weightOf = isComplexType<T> ? 4 : 1;
template <typename T> bool isLong(int64_t m, int64_t n, int64_t k) {
  return double(m) * n * k * weightOf<T> > double(int64_t(1) << 33);
}

void callTriangle(CBLAS_TRANSPOSE flag, int64_t n, int64_t k, float alpha, BlasOperand<float> a, bool, float *c) {
  openBlas().ssyrk(CblasRowMajor, CblasLower, flag, n, k, alpha, a.data, a.leading, 0, c, n);
}
void callTriangle(CBLAS_TRANSPOSE flag, int64_t n, int64_t k, double alpha, BlasOperand<double> a, bool, double *c) {
  openBlas().dsyrk(CblasRowMajor, CblasLower, flag, n, k, alpha, a.data, a.leading, 0, c, n);
}
void callTriangle(CBLAS_TRANSPOSE flag, int64_t n, int64_t k, std::complex<float> alpha,
                  BlasOperand<std::complex<float>> a, bool isAdjoint, std::complex<float> *c) {
  const std::complex<float> zero = 0;
  if (isAdjoint)
    openBlas().cherk(CblasRowMajor, CblasLower, flag, n, k, alpha.real(), a.data, a.leading, 0, c, n);
  else
    openBlas().csyrk(CblasRowMajor, CblasLower, flag, n, k, &alpha, a.data, a.leading, &zero, c, n);
}
void callTriangle(CBLAS_TRANSPOSE flag, int64_t n, int64_t k, std::complex<double> alpha,
                  BlasOperand<std::complex<double>> a, bool isAdjoint, std::complex<double> *c) {
  const std::complex<double> zero = 0;
  if (isAdjoint)
    openBlas().zherk(CblasRowMajor, CblasLower, flag, n, k, alpha.real(), a.data, a.leading, 0, c, n);
  else
    openBlas().zsyrk(CblasRowMajor, CblasLower, flag, n, k, &alpha, a.data, a.leading, &zero, c, n);
}

/// From so many rows on a triangle takes less than the whole.
template <typename T> bool isByTriangle(int64_t n, int64_t k, Gram gram) {
  return gram != Gram::None && n >= (isComplexType<T> ? 16 : 32) && !isLong<T>(n, n, k);
}

/// A sum or its conjugate with zeros that are positive, as all sums begin with +0: BLAS conjugates some.
template <typename T> T positiveZeros(T x, bool) { return x; }
template <typename T> std::complex<T> positiveZeros(std::complex<T> z, bool conjugate) {
  return {z.real() + T(0), conjugate ? T(0) - z.imag() : z.imag() + T(0)};
}

/// alpha A A^T or alpha A A^H. BLAS knows S S^T, S^T S, S S^H and S^H S of what is stored; where A is conj(S), or the
/// adjoint is of S^T, that is the conjugate of the result.
template <typename T> void byTriangle(int64_t n, int64_t k, T alpha, BlasOperand<T> a, bool isAdjoint, T *c) {
  isAdjoint &= isComplexType<T>;
  const bool isStored = a.flag == CblasNoTrans;
  const bool isConjugate = isAdjoint ? a.flag == CblasTrans : a.flag == CblasConjTrans;
  callTriangle(isStored ? CblasNoTrans : isAdjoint ? CblasConjTrans : CblasTrans, n, k, alpha, a, isAdjoint, c);
  constexpr int64_t tile = 32;
  for (int64_t first = 0; first < n; first += tile)
    for (int64_t left = 0; left <= first; left += tile)
      for (int64_t i = first; i < std::min(n, first + tile); ++i)
        for (int64_t j = left; j <= std::min(i, left + tile - 1); ++j) {
          const T x = positiveZeros(c[i * n + j], isConjugate);
          c[i * n + j] = x;
          c[j * n + i] = positiveZeros(x, isAdjoint);
        }
}

template <typename T>
void one(int64_t m, int64_t n, int64_t k, double alpha, const T *a, const MatrixOperand &ao, const T *b,
         const MatrixOperand &bo, double beta, T *c, Gram gram) {
  if (m == 0 || n == 0)
    return;
  if constexpr (std::is_integral_v<T>)
    return integers(m, n, k, a, ao, b, bo, c);
  else {
    if (k == 0 || isSmallProduct<T>(m, n, k, alpha, beta))
      return plain(m, n, k, a, ao, b, bo, c);
    if (isProductInRegisters<T>(m, n, k, alpha, beta))
      return RegisterProduct<T>{m, n, k, a, ao, b, bo, c}.run();
    if constexpr (!isComplexType<T>) {
      if (narrowProduct(m, n, k, T(alpha), a, ao, b, bo, T(beta), c))
        return;
    } else if (beta == 0 && complexProduct(m, n, k, a, ao, b, bo, c)) {
      for (int64_t i = 0; alpha != 1 && i < m * n; ++i)
        c[i] *= typename T::value_type(alpha);
      return;
    }
    const bool isTriangle = m == n && beta == 0 && isByTriangle<T>(m, k, gram);
    if (!isTriangle && panelProduct<T>(m, n, k, Part<T>(alpha), a, ao, b, bo, Part<T>(beta), c))
      return;
    std::vector<T> scratchA, scratchB;
    BlasOperand<T> x = prepare(a, m, k, ao, scratchA);
    if (isTriangle)
      return byTriangle(m, k, T(alpha), x, gram == Gram::Adjoint, c);
    BlasOperand<T> y = prepare(b, k, n, bo, scratchB);
    // Long products are cut into tiles, and Ctrl-C is looked for between them.
    int64_t tile = std::max(m, n);
    constexpr int64_t weight = weightOf<T>;
    if (isLong<T>(m, n, k))
      tile = std::max<int64_t>(256, static_cast<int64_t>(std::sqrt(double(int64_t(1) << 31) / (double(k) * weight))) /
                                        64 * 64);
    for (int64_t i = 0; i < m; i += tile)
      for (int64_t j = 0; j < n; j += tile) {
        if (tile < m || tile < n)
          poll();
        BlasOperand<T> rows = x, columns = y;
        rows.data += i * (x.flag == CblasNoTrans ? x.leading : 1);
        columns.data += j * (y.flag == CblasNoTrans ? 1 : y.leading);
        call(std::min(tile, m - i), std::min(tile, n - j), k, T(alpha), rows, columns, T(beta), c + i * n + j, n);
      }
  }
}

constexpr int64_t worthThreads = 1 << 16; ///< multiplications
constexpr int64_t smallBatch = 4096;      ///< small products between two looks for Ctrl-C

/// `count` small products along the last axis of a batch, if there is a kernel for their sizes.
template <typename T>
bool productsInRegisters(int64_t m, int64_t n, int64_t k, int64_t count, size_t axes, const T *a,
                         const MatrixOperand &ao, const T *b, const MatrixOperand &bo, T *c) {
  if constexpr (sizeof(T) == 1)
    return false;
  else {
    auto factor = [&](const T *data, const MatrixOperand &o) {
      return SmallProducts::Factor{data, o.rowStride, o.columnStride, count > 1 ? o.batchStrides[axes - 1] : 0,
                                   o.conjugate && isComplexType<T>};
    };
    return smallMatrices<T>().product({m, n, k, count, factor(a, ao), factor(b, bo), c});
  }
}

template <typename T>
void batched(int64_t m, int64_t n, int64_t k, MatrixOperand a, MatrixOperand b, void *c, std::span<const int64_t> batch,
             double alpha, double beta, Gram gram) {
  if (m == 0 || n == 0)
    return;
  int64_t count = 1;
  for (int64_t size : batch)
    count *= size;
  struct Context {
    int64_t m, n, k;
    MatrixOperand a, b;
    T *c;
    std::span<const int64_t> batch;
    double alpha, beta;
    Gram gram;
  } context{m, n, k, a, b, static_cast<T *>(c), batch, alpha, beta, gram};
  auto body = [](void *opaque, int64_t begin, int64_t end) {
    auto &x = *static_cast<Context *>(opaque);
    const auto *a = static_cast<const T *>(x.a.data), *b = static_cast<const T *>(x.b.data);
    const bool isAlone = end - begin == 1 && x.m * x.n * x.k >= worthThreads; // then its rows are shared
    const bool isSmall = !isAlone && (isSmallProduct<T>(x.m, x.n, x.k, x.alpha, x.beta) ||
                                      isProductInRegisters<T>(x.m, x.n, x.k, x.alpha, x.beta));
    Watch watch;
    for (int64_t i = begin, together = 1; i < end; i += together) {
      int64_t rest = i, ao = 0, bo = 0;
      for (size_t axis = x.batch.size(); axis-- > 0;) {
        int64_t index = rest % x.batch[axis];
        rest /= x.batch[axis];
        ao += index * x.a.batchStrides[axis];
        bo += index * x.b.batchStrides[axis];
      }
      together = isSmall && !x.batch.empty() ? std::min({end - i, x.batch.back() - i % x.batch.back(), smallBatch}) : 1;
      watch(together * (x.m * x.n * x.k + 16));
      if (!isSmall || !productsInRegisters<T>(x.m, x.n, x.k, together, x.batch.size(), a + ao, x.a, b + bo, x.b,
                                              x.c + i * x.m * x.n)) {
        together = 1;
        one<T>(x.m, x.n, x.k, x.alpha, a + ao, x.a, b + bo, x.b, x.beta, x.c + i * x.m * x.n, x.gram);
      }
    }
  };
  // Threads share the products where these are short, or enough for all of them: a product's parts would wait for one
  // another.
  const double work = double(m) * n * k;
  if (count > 1 && threads() > 1 && (work < 1 << 18 || count >= 2 * int64_t(threads()))) {
    OneBlasThread one;
    parallelFor(count, std::max<int64_t>(1, (1 << 16) / std::max(work, 1.0)), body, &context);
  } else
    body(&context, 0, count);
}

} // namespace

void gemm(DType dtype, int64_t m, int64_t n, int64_t k, MatrixOperand a, MatrixOperand b, void *c,
          std::span<const int64_t> batch, double alpha, double beta, Gram gram) {
  switch (dtype) {
  case DType::F32:
    return batched<float>(m, n, k, a, b, c, batch, alpha, beta, gram);
  case DType::F64:
    return batched<double>(m, n, k, a, b, c, batch, alpha, beta, gram);
  case DType::C64:
    return batched<std::complex<float>>(m, n, k, a, b, c, batch, alpha, beta, gram);
  case DType::C128:
    return batched<std::complex<double>>(m, n, k, a, b, c, batch, alpha, beta, gram);
  case DType::U8:
    return batched<uint8_t>(m, n, k, a, b, c, batch, alpha, beta, gram);
  case DType::I32:
    return batched<uint32_t>(m, n, k, a, b, c, batch, alpha, beta, gram);
  default:
    return batched<uint64_t>(m, n, k, a, b, c, batch, alpha, beta, gram);
  }
}

StridedView denseView(const Tensor &t) {
  StridedView out{t.dtype, 0, {t.sizes, t.sizes + t.rank}, std::vector<int64_t>(t.rank, 1), t.data};
  for (int64_t axis = t.rank - 1; axis-- > 0;)
    out.strides[axis] = out.strides[axis + 1] * t.sizes[axis + 1];
  return out;
}

const void *dataOf(const StridedView &v) { return static_cast<const char *>(v.data) + v.offset * sizeOf(v.dtype); }

ProductShape productShape(const StridedView &a, const StridedView &b) {
  size_t aRank = a.sizes.size(), bRank = b.sizes.size();
  ProductShape s{1,  1, a.sizes[aRank - 1], {}, {}, 1, a.strides[aRank - 1], b.strides[bRank > 1 ? bRank - 2 : 0], 1,
                 {}, {}};
  int64_t inner = b.sizes[bRank > 1 ? bRank - 2 : 0];
  if (s.k != inner)
    fail(DiagId::SizesDiffer, {"inner sizes", std::to_string(s.k), std::to_string(inner)});
  if (aRank > 1) {
    s.m = a.sizes[aRank - 2];
    s.aRow = a.strides[aRank - 2];
  }
  if (bRank > 1) {
    s.n = b.sizes[bRank - 1];
    s.bColumn = b.strides[bRank - 1];
  }
  size_t rank = std::max<size_t>({aRank, bRank, 2}) - 2;
  s.batch.assign(rank, 1);
  auto place = [&](const StridedView &v, std::vector<int64_t> &strides) {
    strides.assign(rank, 0);
    for (size_t i = 0; i + 2 < v.sizes.size(); ++i)
      if (size_t at = rank - (v.sizes.size() - 2) + i; v.sizes[i] != 1) {
        s.batch[at] = v.sizes[i];
        strides[at] = v.strides[i];
      }
  };
  place(a, s.aBatch);
  place(b, s.bBatch);
  s.result = s.batch;
  if (aRank > 1)
    s.result.push_back(s.m);
  if (bRank > 1)
    s.result.push_back(s.n);
  return s;
}

TensorRef matmul(const StridedView &a, const StridedView &b, double scale, Gram gram) {
  ProductShape s = productShape(a, b);
  TensorRef out(newTensor(a.dtype == DType::Bool ? DType::I64 : a.dtype, s.result));
  bool complex = isComplex(a.dtype);
  gemm(a.dtype, s.m, s.n, s.k, {dataOf(a), s.aRow, s.aColumn, s.aBatch.data(), complex && a.conjugated},
       {dataOf(b), s.bRow, s.bColumn, s.bBatch.data(), complex && b.conjugated}, out->data, s.batch, scale, 0, gram);
  return out;
}

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Batches of row-major matrices, for functions that call LAPACK, to which such a matrix is its transpose.
#pragma once

#include "runtime/Batches.h"
#include "runtime/Error.h"
#include "runtime/Lapack.h"
#include "runtime/Library.h"

#include <cmath>
#include <cstring>

namespace toy::rt {

/// Calls f with a value of the dtype's C++ type.
template <typename F> auto dispatch(DType dtype, F f) {
  switch (dtype) {
  case DType::F32:
    return f(float());
  case DType::F64:
    return f(double());
  case DType::C64:
    return f(std::complex<float>());
  default:
    return f(std::complex<double>());
  }
}

/// The matrices of a tensor's last two axes.
struct Matrices {
  std::vector<int64_t> batch;
  int64_t count = 1, m, n;
  explicit Matrices(const Tensor &t)
      : batch(t.sizes, t.sizes + t.rank - 2), m(t.sizes[t.rank - 2]), n(t.sizes[t.rank - 1]) {
    for (int64_t size : batch)
      count *= size;
  }
  TensorRef make(DType dtype, std::initializer_list<int64_t> matrix) const {
    std::vector<int64_t> sizes(batch);
    sizes.insert(sizes.end(), matrix);
    return TensorRef(newTensor(dtype, sizes));
  }
  /// Of a matrix in messages, which is a text only there.
  struct Label {
    bool isOfBatch = false;
    int64_t number = 0;
    operator std::string() const { return isOfBatch ? " " + std::to_string(number) + " of the batch" : ""; }
  };
  Label label(int64_t i) const { return {!batch.empty(), i}; }
};

inline TensorRef copyOf(const Tensor &t) {
  TensorRef out(newTensor(t.dtype, t.shape()));
  std::memcpy(out->data, t.data, t.count() * sizeOf(t.dtype));
  return out;
}

/// m x n row-major to column-major.
template <typename T> void transpose(const T *from, T *to, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      to[j * m + i] = from[i * n + j];
}

template <typename T> void needFinite(const T *x, int64_t count, const char *name, Matrices::Label label) {
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(std::real(x[i])) || !std::isfinite(std::imag(x[i])))
      fail(DiagId::NoConvergence, {name, ": the matrix" + std::string(label) + " holds nan or infinity"});
}
inline void needConvergence(int info, const char *name, Matrices::Label label) {
  if (info != 0)
    fail(DiagId::NoConvergence, {name, label.isOfBatch ? " for matrix" + std::string(label) : ""});
}

/// Of one matrix: the others are looked at between.
inline double factorization(LibraryArguments arguments) {
  const Tensor &a = *arguments[0];
  double m = a.rank > 1 ? static_cast<double>(a.sizes[a.rank - 2]) : 1,
         n = a.rank > 0 ? static_cast<double>(a.sizes[a.rank - 1]) : 1;
  return a.rank == 1 ? n * n * n * 10 : m * n * std::min(m, n); // the companion matrix of `roots`
}

/// Calls `f(begin, end)` for pieces of a batch, of whose matrices LAPACK does `weight` times what a factorization
/// takes. Threads share the matrices, each with one thread of LAPACK; large ones have all of its threads and come one
/// after the other.
template <typename F> void overMatrices(const Matrices &a, double weight, F f) {
  const double work = double(a.m) * double(a.n) * double(std::min(a.m, a.n));
  openBlas(); // not first by one of the threads
  if (work < longWork)
    return overBatch(a.count, matricesOfPiece(weight * work), f);
  for (int64_t i = 0; i < a.count; ++i, poll())
    f(i, i + 1);
}

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where values go into a sorted vector. A search waits for one element after the other: many of them go on together,
/// in lanes and without branches.
#include "runtime/Library.h"

#include "runtime/ArrayLoops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace toy::rt {
namespace {

constexpr int64_t lanes = 8, registers = 4, together = lanes * registers;
template <typename T> using Lanes = T __attribute__((ext_vector_type(lanes)));
using Positions = Lanes<int64_t>;

template <typename T> constexpr bool isComplexType = false;
template <typename R> constexpr bool isComplexType<std::complex<R>> = true;

/// 0 of numbers, 1 where the imaginary part alone is nan, 2 where the real part is: the order of what is not ordered.
template <typename T> int nanClass(T x) {
  if constexpr (isComplexType<T>)
    return 2 * std::isnan(x.real()) + std::isnan(x.imag());
  else
    return x != x;
}

/// The order of `sort`.
template <typename T> bool comesBefore(T a, T b) {
  const int left = nanClass(a), right = nanClass(b);
  if (left != right)
    return left < right;
  if constexpr (isComplexType<T>)
    return a.real() < b.real() || ((a.real() == b.real() || left == 2) && a.imag() < b.imag());
  else
    return a < b;
}

/// Numbers in lanes, none of them nan.
template <typename T> struct Numbers {
  Lanes<T> values;

  void set(int64_t lane, T x) { values[lane] = x; }
  Positions areBefore(const Numbers &other) const { return __builtin_convertvector(values < other.values, Positions); }
};
template <typename R> struct Numbers<std::complex<R>> {
  Lanes<R> real, imaginary;

  void set(int64_t lane, std::complex<R> x) { real[lane] = x.real(), imaginary[lane] = x.imag(); }
  Positions areBefore(const Numbers &other) const {
    return __builtin_convertvector((real < other.real) | ((real == other.real) & (imaginary < other.imaginary)),
                                   Positions);
  }
};

/// Where some of `together` numbers go in n elements without nan.
template <bool right, typename T>
void searchTogether(const T *sorted, int64_t n, const T *from, int64_t some, int64_t *to) {
  Numbers<T> wanted[registers];
  Positions places[registers] = {};
  T last[together];
  if (some < together)
    for (int64_t i = 0; i < together; ++i)
      last[i] = from[std::min(i, some - 1)];
  for (int64_t r = 0; r < registers; ++r)
    for (int64_t lane = 0; lane < lanes; ++lane)
      wanted[r].set(lane, (some < together ? last : from)[r * lanes + lane]);
  auto step = [&](const T *at, int64_t elements) {
    for (int64_t r = 0; r < registers; ++r) {
      Numbers<T> found;
      for (int64_t lane = 0; lane < lanes; ++lane)
        found.set(lane, at[places[r][lane]]);
      places[r] += (right ? ~wanted[r].areBefore(found) : found.areBefore(wanted[r])) & elements;
    }
  };
  for (; n > 1; n -= n / 2)
    step(sorted + n / 2 - 1, n / 2);
  if (n == 1)
    step(sorted, 1);
  std::memcpy(to, places, some * sizeof(int64_t));
}

/// How many elements of a sorted vector come before each value, or with `right` not behind it.
template <bool right, typename T> void searchAll(const Tensor &sorted, const Tensor &values, int64_t *to) {
  const T *first = sorted.as<T>(), *last = first + sorted.count(), *from = values.as<T>();
  const int64_t numbers = std::partition_point(first, last, [](T x) { return nanClass(x) == 0; }) - first;
  constexpr int64_t grain = 128 * together;
  parallelPieces(values.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += together) {
      if ((i - begin) % grain == 0)
        poll();
      const int64_t some = std::min(together, end - i);
      searchTogether<right>(first, numbers, from + i, some, to + i);
      bool anyNan = false;
      for (int64_t j = i; j < i + some; ++j)
        anyNan |= nanClass(from[j]) != 0;
      for (int64_t j = i; anyNan && j < i + some; ++j)
        if (nanClass(from[j]) != 0)
          to[j] = (right ? std::upper_bound(first, last, from[j], comesBefore<T>)
                         : std::lower_bound(first, last, from[j], comesBefore<T>)) -
                  first;
    }
  });
}

std::vector<TensorRef> search(LibraryArguments arguments, LibraryParameters parameters) {
  const Tensor &sorted = *arguments[0], &values = *arguments[1];
  TensorRef places(newTensor(DType::I64, values.shape()));
  dispatch(sorted.dtype, [&]<typename T>(T *) {
    (parameters[0] ? searchAll<true, T> : searchAll<false, T>)(sorted, values, places->as<int64_t>());
  });
  return {places};
}

constexpr LibraryRow rows[] = {{"search", search}};

} // namespace

std::span<const LibraryRow> searchFunctions() { return rows; }

} // namespace toy::rt

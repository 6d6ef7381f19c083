// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products by some rows and two registers of columns, whose sums stay in registers; positions.
#include "runtime/IntegerKernels.h"
#include "runtime/KernelVectors.h"

namespace toy::rt {
namespace {

template <typename T> constexpr int lanes = registerLanes<T>;
template <typename T> using Vector = Register<T>;

template <typename T> Vector<T> load(const T *from) {
  Vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

/// Rows of a part of the second matrix, two registers wide.
template <typename T> struct Panel {
  const T *rows;
  int64_t stride, first, depth; ///< from a row to the next one; the first row's number, and how many there are
};

template <typename T, int rows>
void block(const IntegerProduct<T> &x, const Panel<T> &panel, int64_t row, int64_t column) {
  Vector<T> sums[rows][2] = {};
  if (panel.first > 0)
    for (int r = 0; r < rows; ++r)
      __builtin_memcpy(sums[r], x.c + (row + r) * x.n + column, sizeof sums[r]);
  const T *a = x.a + row * x.aRow + panel.first * x.aColumn, *b = panel.rows;
  for (int64_t p = 0; p < panel.depth; ++p, a += x.aColumn, b += panel.stride) {
    Vector<T> first = load(b), second = load(b + lanes<T>);
    for (int r = 0; r < rows; ++r) {
      Vector<T> factor = Vector<T>(a[r * x.aRow]);
      sums[r][0] += factor * first;
      sums[r][1] += factor * second;
    }
  }
  for (int r = 0; r < rows; ++r)
    __builtin_memcpy(x.c + (row + r) * x.n + column, sums[r], sizeof sums[r]);
}

/// Panels are read once for all rows, and copied where the rows of the matrix would push one another out of the cache.
template <typename T> int64_t product(const IntegerProduct<T> &x, int64_t begin, int64_t end) {
  constexpr int64_t together = 2 * lanes<T>, most = 128, many = 16;
  constexpr int tall = registerBytes == 64 ? 8 : 4;
  const int64_t whole = x.n / together * together;
  T copy[most * together];
  for (int64_t column = 0; column < whole; column += together)
    for (int64_t first = 0; first == 0 || first < x.k; first += most) {
      Panel<T> panel{x.b + first * x.bRow + column, x.bRow, first, x.k - first < most ? x.k - first : most};
      if (end - begin >= many) {
        for (int64_t p = 0; p < panel.depth; ++p)
          __builtin_memcpy(copy + p * together, panel.rows + p * panel.stride, together * sizeof(T));
        panel.rows = copy;
        panel.stride = together;
      }
      int64_t row = begin;
      for (; row + tall <= end; row += tall)
        block<T, tall>(x, panel, row, column);
      for (; row + 4 <= end; row += 4)
        block<T, 4>(x, panel, row, column);
      for (; row < end; ++row)
        block<T, 1>(x, panel, row, column);
    }
  return whole;
}

/// What is outside is told by sign bits: no branches.
template <typename P>
bool addPositions(const P *__restrict from, int64_t step, int64_t n, int64_t size, int64_t scale,
                  int64_t *__restrict rows) {
  int64_t outside = 0;
  auto add = [&](int64_t i, int64_t at, bool isScaled) {
    at += (at >> 63) & size;
    outside |= at | ~(at - size);
    rows[i] = isScaled ? static_cast<int64_t>(static_cast<uint64_t>(rows[i]) * static_cast<uint64_t>(scale)) + at : at;
  };
  if (step == 0)
    for (int64_t i = 0; i < n; ++i)
      add(i, *from, scale != 0);
  else if (scale == 0)
    for (int64_t i = 0; i < n; ++i)
      add(i, from[i], false);
  else
    for (int64_t i = 0; i < n; ++i)
      add(i, from[i], true);
  return outside >= 0;
}

template <typename P> bool areInside(const P *positions, int64_t n, int64_t size) {
  uint64_t outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<uint64_t>(int64_t(positions[i]));
    outside |= at | (static_cast<uint64_t>(size) - 1 - at);
  }
  return static_cast<int64_t>(outside) >= 0;
}

template <typename T> constexpr IntegerKernels<T> kernels{2 * lanes<T>, product<T>};

} // namespace

namespace TOY_ISA {
PositionKernels positionKernels() {
  return {addPositions<uint8_t>, addPositions<int32_t>, addPositions<int64_t>,
          areInside<uint8_t>,    areInside<int32_t>,    areInside<int64_t>};
}
IntegerKernels<uint8_t> integerKernelsU8() { return kernels<uint8_t>; }
IntegerKernels<uint32_t> integerKernelsI32() { return kernels<uint32_t>; }
IntegerKernels<uint64_t> integerKernelsI64() { return kernels<uint64_t>; }
} // namespace TOY_ISA

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Products by some rows and two registers of columns, whose sums stay in registers; positions.
#include "runtime/IntegerKernels.h"
#include "runtime/LaneTransposes.h"

namespace toy::rt {
namespace {

template <typename T> constexpr int lanes = registerLanes<T>;
template <typename T> using Vector = Register<T>;

template <typename T> Vector<T> load(const T *from) {
  Vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

/// Rows of a part of the second matrix, at most two registers wide.
template <typename T> struct Panel {
  const T *rows;
  int64_t stride, first, depth; ///< from a row to the next one; the first row's number, and how many there are
  int64_t width;
};

template <typename T> using Mask = bool __attribute__((ext_vector_type(lanes<T>)));
template <typename T, int... lane> Mask<T> firstLanes(int64_t count, Numbers<int, lane...>) {
  const Vector<T> numbers = {lane...};
  return __builtin_convertvector(numbers < Vector<T>(static_cast<T>(count < lanes<T> ? count : lanes<T>)), Mask<T>);
}

/// As many numbers of an array as there are, others 0, and back.
template <typename T, int registers> void loadSome(Vector<T> (&to)[registers], const T *from, int64_t width) {
  for (int q = 0; q < registers; ++q)
    if (const int64_t left = width - q * lanes<T>; left >= lanes<T>)
      to[q] = load(from + q * lanes<T>);
    else if constexpr (sizeof(T) > 1)
      to[q] = __builtin_masked_load(firstLanes<T>(left < 0 ? 0 : left, Below<lanes<T>>()), from + q * lanes<T>,
                                    Vector<T>(T(0)));
    else
      for (int64_t i = 0; i < left; ++i)
        to[q][i] = from[q * lanes<T> + i];
}
template <typename T, int registers> void storeSome(T *to, const Vector<T> (&from)[registers], int64_t width) {
  for (int q = 0; q < registers; ++q)
    if (const int64_t left = width - q * lanes<T>; left >= lanes<T>)
      __builtin_memcpy(to + q * lanes<T>, &from[q], sizeof from[q]);
    else if constexpr (sizeof(T) > 1)
      __builtin_masked_store(firstLanes<T>(left < 0 ? 0 : left, Below<lanes<T>>()), from[q], to + q * lanes<T>);
    else
      for (int64_t i = 0; i < left; ++i)
        to[q * lanes<T> + i] = from[q][i];
}

template <typename T, int registers, int rows>
void block(const IntegerProduct<T> &x, const Panel<T> &panel, int64_t row, int64_t column) {
  Vector<T> sums[rows][registers] = {};
  if (panel.first > 0)
    for (int r = 0; r < rows; ++r)
      loadSome(sums[r], x.c + (row + r) * x.n + column, panel.width);
  const T *a = x.a + row * x.aRow + panel.first * x.aColumn, *b = panel.rows;
  for (int64_t p = 0; p < panel.depth; ++p, a += x.aColumn, b += panel.stride) {
    Vector<T> elements[registers];
    for (int q = 0; q < registers; ++q)
      elements[q] = load(b + q * lanes<T>);
    for (int r = 0; r < rows; ++r)
      for (int q = 0; q < registers; ++q)
        sums[r][q] += Vector<T>(a[r * x.aRow]) * elements[q];
  }
  for (int r = 0; r < rows; ++r)
    storeSome(x.c + (row + r) * x.n + column, sums[r], panel.width);
}

template <typename T, int registers>
void rowsOfPanel(const IntegerProduct<T> &x, const Panel<T> &panel, int64_t column, int64_t begin, int64_t end) {
  constexpr int tall = registerBytes == 64 ? 8 : 4;
  int64_t row = begin;
  for (; row + tall <= end; row += tall)
    block<T, registers, tall>(x, panel, row, column);
  for (; tall > 4 && row + 4 <= end; row += 4)
    block<T, registers, 4>(x, panel, row, column);
  for (; row < end; ++row)
    block<T, registers, 1>(x, panel, row, column);
}

/// Panels are read once for all rows, and copied where the rows of the matrix would push one another out of the cache,
/// or where its last columns do not fill the registers.
template <typename T> void product(const IntegerProduct<T> &x, int64_t begin, int64_t end) {
  constexpr int64_t together = 2 * lanes<T>, most = 128, many = 16;
  T copy[most * together];
  for (int64_t column = 0; column < x.n; column += together)
    for (int64_t first = 0; first == 0 || first < x.k; first += most) {
      const int64_t width = x.n - column < together ? x.n - column : together;
      Panel<T> panel{x.b + first * x.bRow + column, x.bRow, first, x.k - first < most ? x.k - first : most, width};
      if (end - begin >= many || width < together) {
        for (int64_t p = 0; p < panel.depth; ++p) {
          Vector<T> row[2] = {};
          loadSome(row, panel.rows + p * panel.stride, width);
          __builtin_memcpy(copy + p * together, row, sizeof row);
        }
        panel.rows = copy;
        panel.stride = together;
      }
      if (width <= lanes<T>)
        rowsOfPanel<T, 1>(x, panel, column, begin, end);
      else
        rowsOfPanel<T, 2>(x, panel, column, begin, end);
    }
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

template <typename T> constexpr IntegerKernels<T> kernels{product<T>};

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

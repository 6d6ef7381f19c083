// SPDX-License-Identifier: Apache-2.0
/// \file
/// Each register holds a lane's sums of some rows; products and sums are rounded each, in the order of rule 12.
#include "runtime/ColumnKernels.h"
#include "runtime/LaneSums.h"

#include <algorithm>

namespace toy::rt {
namespace {

/// Columns of numbers of so many parts, and what a vector's parts are multiplied by.
template <typename T, int parts> struct Columns {
  const T *a;
  int64_t stride, k;
  Vector<T> ofReal, ofImaginary;

  Vector<T> product(Vector<T> element, const T *x) const {
    if constexpr (parts == 1)
      return element * x[0];
    else
      return element * (x[0] * ofReal) + exchanged(element, Lanes<T>()) * (x[1] * ofImaginary);
  }
};
template <typename T> struct Vectors {
  const T *data;
  int64_t stride, count;
};

/// Elements of a column in R registers, of which the last one begins at `last`, perhaps inside of the one before. Where
/// rows are fewer than lanes, only `some` are read.
template <typename T, int R, bool isWhole> struct Rows {
  int64_t last, some;

  Vector<T> read(const T *column, int r) const {
    const T *from = column + (r == R - 1 ? last : r * lanes<T>);
    return isWhole ? load(from) : loadSome(from, some);
  }
};

// ---- matrices in the second cache: all lanes of some rows in registers

/// Lanes `lane`, `lane + step` and so on of at most `sumBlock` columns, in the order of halving: those that have no
/// column are +0, which changes no sum.
template <int lane, int step, int R, bool isWhole, typename T, int parts>
[[gnu::always_inline]] inline void sumOfLanes(const Columns<T, parts> &x, const Rows<T, R, isWhole> &rows, const T *a,
                                              const T *vector, int64_t count, Vector<T> (&sums)[R]) {
  if constexpr (step == sumLanes) {
    for (int r = 0; r < R; ++r)
      sums[r] = Vector<T>(T(0));
    const T *column = a + lane * x.stride;
    for (int64_t p = lane; p < count; p += sumLanes, column += sumLanes * x.stride)
      for (int r = 0; r < R; ++r)
        sums[r] += x.product(rows.read(column, r), vector + p * parts);
  } else {
    sumOfLanes<lane, 2 * step>(x, rows, a, vector, count, sums);
    if (lane + step < count) {
      Vector<T> others[R];
      sumOfLanes<lane + step, 2 * step>(x, rows, a, vector, count, others);
      for (int r = 0; r < R; ++r)
        sums[r] += others[r];
    }
  }
}
template <int R, bool isWhole, typename T, int parts>
void sumRows(const Columns<T, parts> &x, const Rows<T, R, isWhole> &rows, int64_t row, const T *vector, T *to) {
  Vector<T> sums[R];
  for (int64_t block = 0; block < x.k; block += sumBlock) {
    Vector<T> ofBlock[R];
    sumOfLanes<0, 1>(x, rows, x.a + block * x.stride + row, vector + block * parts, std::min(x.k - block, sumBlock),
                     ofBlock);
    for (int r = 0; r < R; ++r)
      sums[r] = block == 0 ? ofBlock[r] : sums[r] + ofBlock[r];
  }
  for (int r = 0; r < R; ++r)
    __builtin_memcpy(to + (r == R - 1 ? rows.last : r * lanes<T>), &sums[r], sizeof sums[r]);
}
/// The sums of `size` elements from `row` on; `to` has room for a register at least.
template <typename T, int parts>
void sumInRegisters(const Columns<T, parts> &x, int64_t row, int64_t size, const T *vector, T *to) {
  constexpr int64_t lane = lanes<T>;
  if (size < lane)
    return sumRows(x, Rows<T, 1, false>{0, size}, row, vector, to);
  int64_t at = 0;
  for (; size - at > 3 * lane; at += std::min(size - at, 4 * lane))
    sumRows(x, Rows<T, 4, true>{std::min(size - at, 4 * lane) - lane, 0}, row + at, vector, to + at);
  if (size - at > lane) {
    const int64_t both = std::min(size - at, 2 * lane);
    sumRows(x, Rows<T, 2, true>{both - lane, 0}, row + at, vector, to + at);
    at += both;
  }
  if (size > at)
    sumRows(x, Rows<T, 1, true>{0, 0}, row + size - lane, vector, to + size - lane);
}

// ---- larger ones: lanes in memory, columns as they lie

/// `turns` columns, 32 apart, by their elements of V vectors, added to sums of some rows: those of a vector are
/// `ofVector` registers apart. A number of turns that is known has no loop.
template <int known, int V, bool isFirst, int R, bool isWhole, typename T, int parts>
[[gnu::always_inline]] inline void addColumns(const Columns<T, parts> &x, const Rows<T, R, isWhole> &rows, const T *a,
                                              const Vectors<T> &vectors, const T *vector, int64_t turns, Vector<T> *to,
                                              int64_t ofVector) {
  Vector<T> sums[V][R];
  for (int v = 0; v < V; ++v)
    for (int r = 0; r < R; ++r)
      sums[v][r] = isFirst ? Vector<T>(T(0)) : to[v * ofVector + r];
  auto add = [&](int64_t turn) {
    Vector<T> elements[R];
    for (int r = 0; r < R; ++r)
      elements[r] = rows.read(a + turn * sumLanes * x.stride, r);
    for (int v = 0; v < V; ++v)
      for (int r = 0; r < R; ++r)
        sums[v][r] += x.product(elements[r], vector + v * vectors.stride + turn * sumLanes * parts);
  };
  if constexpr (known > 0) {
#pragma unroll
    for (int turn = 0; turn < known; ++turn)
      add(turn);
  } else
    for (int64_t turn = 0; turn < turns; ++turn)
      add(turn);
  for (int v = 0; v < V; ++v)
    for (int r = 0; r < R; ++r)
      to[v * ofVector + r] = sums[v][r];
}

/// Rows of a tile: `size` elements of a column in registers, of which the last one may begin inside of another.
template <typename T> struct Tile {
  int64_t size, registers;
  explicit Tile(int64_t size) : size(size), registers((size + lanes<T> - 1) / lanes<T>) {}
};

/// One lane of all registers of a tile, by V vectors.
template <int known, int V, bool isFirst, typename T, int parts>
void addLane(const Columns<T, parts> &x, const Tile<T> &tile, const T *a, const Vectors<T> &vectors, const T *vector,
             int64_t turns, Vector<T> *to) {
  constexpr int64_t lane = lanes<T>, together = V > 1 ? 2 : 4;
  const int64_t ofVector = tile.registers * sumLanes;
  if (tile.size < lane)
    return addColumns<0, V, isFirst>(x, Rows<T, 1, false>{0, tile.size}, a, vectors, vector, turns, to, ofVector);
  int64_t r = 0;
  for (; tile.registers - r >= together; r += together) {
    const int64_t last = std::min(tile.size - (r + together - 1) * lane, lane) + (together - 2) * lane;
    addColumns<known, V, isFirst>(x, Rows<T, together, true>{last, 0}, a + r * lane, vectors, vector, turns, to + r,
                                  ofVector);
  }
  for (; r < tile.registers; ++r) {
    const int64_t at = std::min(r * lane, tile.size - lane);
    addColumns<known, V, isFirst>(x, Rows<T, 1, true>{0, 0}, a + at, vectors, vector, turns, to + r, ofVector);
  }
}

/// Lanes i and i + 16 added, then i + 8, and so on, of those that are used.
template <typename T> Vector<T> halvedLanes(Vector<T> *at, int64_t registers, int64_t used) {
  if (used == sumLanes) {
    Vector<T> sums[sumLanes / 2];
    for (int i = 0; i < sumLanes / 2; ++i)
      sums[i] = at[i * registers] + at[(i + sumLanes / 2) * registers];
#pragma unroll
    for (int half = sumLanes / 4; half > 0; half /= 2)
#pragma unroll
      for (int i = 0; i < half; ++i)
        sums[i] += sums[i + half];
    return sums[0];
  }
  for (int64_t half = sumLanes / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half && i + half < used; ++i)
      at[i * registers] += at[(i + half) * registers];
  return at[0];
}

/// All lanes of a tile by V vectors, some columns of each from column p on.
template <int V, bool isFirst, typename T, int parts>
void addTurns(const Columns<T, parts> &x, const Tile<T> &tile, const Vectors<T> &vectors, const T *vector, int64_t row,
              int64_t p, int64_t end, Vector<T> *room) {
  constexpr int64_t most = ColumnTiles::turns;
  for (int64_t lane = 0; lane < sumLanes && p + lane < end; ++lane) {
    const int64_t turns = std::min(most, (end - p - lane + sumLanes - 1) / sumLanes);
    const T *a = x.a + (p + lane) * x.stride + row, *factors = vector + (p + lane) * parts;
    Vector<T> *to = room + lane * tile.registers;
    turns == most ? addLane<most, V, isFirst>(x, tile, a, vectors, factors, turns, to)
                  : addLane<0, V, isFirst>(x, tile, a, vectors, factors, turns, to);
  }
}
/// By all vectors, up to four at once.
template <bool isFirst, typename T, int parts>
void addTurns(const Columns<T, parts> &x, const Tile<T> &tile, const Vectors<T> &vectors, int64_t row, int64_t p,
              int64_t end, Vector<T> *room) {
  int64_t v = 0;
  auto add = [&]<int number>(Numbers<int, number>) {
    for (; vectors.count - v >= number; v += number)
      addTurns<number, isFirst>(x, tile, vectors, vectors.data + v * vectors.stride, row, p, end,
                                room + v * sumLanes * tile.registers);
  };
  if constexpr (parts == 1) {
    add(Numbers<int, 4>());
    add(Numbers<int, 2>());
  }
  add(Numbers<int, 1>());
}

/// The sums of a tile's rows by each vector, which lie together in the end.
template <typename T, int parts>
void sumTile(const Columns<T, parts> &x, const Tile<T> &tile, int64_t row, const Vectors<T> &vectors, Vector<T> *room,
             Vector<T> *sums) {
  const int64_t ofVector = tile.registers * sumLanes;
  for (int64_t block = 0; block < x.k; block += sumBlock) {
    const int64_t end = std::min(x.k, block + sumBlock), used = std::min<int64_t>(sumLanes, end - block);
    for (int64_t p = block; p < end; p += sumLanes * ColumnTiles::turns)
      p == block ? addTurns<true>(x, tile, vectors, row, p, end, room)
                 : addTurns<false>(x, tile, vectors, row, p, end, room);
    for (int64_t i = 0; i < vectors.count * tile.registers; ++i) {
      const Vector<T> sum =
          halvedLanes<T>(room + i / tile.registers * ofVector + i % tile.registers, tile.registers, used);
      sums[i] = block > 0 ? sums[i] + sum : sum;
    }
  }
  if (tile.size > lanes<T>)
    for (int64_t v = 0; v < vectors.count; ++v) {
      T *ofTile = reinterpret_cast<T *>(sums + v * tile.registers);
      __builtin_memmove(ofTile + tile.size - lanes<T>, ofTile + (tile.registers - 1) * lanes<T>, sizeof(Vector<T>));
    }
}

/// Tiles of rows [begin, end), whose sums are put into the result.
template <typename T, int parts, typename Put>
void inTiles(const Columns<T, parts> &x, int64_t begin, int64_t end, const Vectors<T> &vectors,
             const ColumnTiles &tiles, void *room, Put put) {
  const int64_t most = tiles.bytes / static_cast<int64_t>(sizeof(T));
  auto *sums = static_cast<Vector<T> *>(room), *inLanes = sums + vectors.count * most / lanes<T>;
  for (int64_t row = begin * parts, size = 0; row < end * parts; row += size) {
    size = std::min(most, end * parts - row);
    const Tile<T> tile(size);
    if (tiles.isInRegisters)
      sumInRegisters(x, row, size, vectors.data, reinterpret_cast<T *>(sums));
    else
      sumTile(x, tile, row, vectors, inLanes, sums);
    for (int64_t v = 0; v < vectors.count; ++v)
      put(row / parts, v, reinterpret_cast<const T *>(sums + v * tile.registers), size / parts);
  }
}

template <typename T>
void rows(const NarrowProduct<T> &x, int64_t begin, int64_t end, const ColumnTiles &tiles, void *room) {
  const bool isPlain = x.row == 1 && x.alpha == 1 && x.beta == 0;
  const Columns<T, 1> columns{x.a, x.stride, x.k, {}, {}};
  inTiles<T, 1>(columns, begin, end, {x.vectors, x.vectorStride, x.count}, tiles, room,
                [&](int64_t row, int64_t v, const T *sums, int64_t count) {
                  T *to = x.c + row * x.row + v * x.column;
                  if (isPlain)
                    __builtin_memcpy(to, sums, count * sizeof(T));
                  else
                    for (int64_t i = 0; i < count; ++i, to += x.row) {
                      const T scaled = x.alpha == 1 ? sums[i] : x.alpha * sums[i];
                      *to = x.beta == 0 ? scaled : scaled + x.beta * *to;
                    }
                });
}

/// (a + bi)(c + di) = (ac - bd) + (bc + ad)i: signs, also of conjugates, are those of c and d.
template <typename T>
void complexRows(const ComplexRows<T> &x, int64_t begin, int64_t end, const ColumnTiles &tiles, void *room) {
  const Vector<T> alternate = alternating<T>(Lanes<T>());
  const Vector<T> signs = x.conjugateVector ? -alternate : alternate;
  const Columns<T, 2> columns{x.a, 2 * x.stride, x.k, x.conjugateA ? -alternate : Vector<T>(T(1)),
                              x.conjugateA ? signs * alternate : signs};
  inTiles<T, 2>(columns, begin, end, {x.vectors, 0, 1}, tiles, room,
                [&](int64_t row, int64_t, const T *sums, int64_t count) {
                  if (x.step == 1)
                    __builtin_memcpy(x.c + 2 * row, sums, 2 * count * sizeof(T));
                  else
                    for (int64_t i = 0; i < 2 * count; ++i)
                      x.c[2 * (row + i / 2) * x.step + i % 2] = sums[i];
                });
}

template <typename T> constexpr ColumnKernels<T> kernels{rows<T>, complexRows<T>};

} // namespace

namespace TOY_ISA {
ColumnKernels<float> columnKernelsF32() { return kernels<float>; }
ColumnKernels<double> columnKernelsF64() { return kernels<double>; }
} // namespace TOY_ISA

} // namespace toy::rt

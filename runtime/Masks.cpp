// SPDX-License-Identifier: Apache-2.0
/// \file
/// What masks choose. Blocks of a mask are counted first, so that each knows where its elements go; then nothing
/// branches on single elements.
#include "runtime/ArrayOps.h"

#include "runtime/ArrayLoops.h"
#include "runtime/Error.h"
#include "runtime/MaskKernels.h"
#include "runtime/Memory.h"
#include "runtime/Scratch.h"
#include "runtime/ValueRuns.h"

#include <algorithm>
#include <cstring>

namespace toy::rt {
namespace {

constexpr int64_t blockSize = 1 << 14;

const MaskKernels &maskKernels() {
  static const MaskKernels chosen = TOY_KERNELS_OF_MACHINE(maskKernels);
  return chosen;
}

/// Calls `choose(begin, end, number of those chosen before, number of those in it)` for blocks that end with an element
/// that is chosen: such a block may write every element to where the next one chosen belongs.
template <typename Hit> class Blocks {
public:
  Blocks(int64_t n, Hit hit) : n(n), hit(hit), places((n + blockSize - 1) / blockSize + 1) {
    each([](Blocks &b, int64_t block, int64_t begin, int64_t end) {
      int count = 0; // narrow, for lanes
      for (int64_t i = begin; i < end; ++i)
        count += b.hit(i);
      b.places.data()[block] = count;
    });
    for (int64_t i = 0, blocks = (n + blockSize - 1) / blockSize; i < blocks; ++i)
      total += std::exchange(places.data()[i], total);
    places.data()[(n + blockSize - 1) / blockSize] = total;
  }
  int64_t count() const { return total; }

  template <typename F> void choose(F f) {
    chooser = &f;
    each([](Blocks &b, int64_t block, int64_t begin, int64_t end) {
      while (end > begin && !b.hit(end - 1))
        --end;
      const int64_t place = b.places.data()[block], next = b.places.data()[block + 1];
      (*static_cast<F *>(b.chooser))(begin, end, place, next - place);
    });
  }

private:
  using Body = void (*)(Blocks &, int64_t block, int64_t begin, int64_t end);
  void each(Body f) {
    body = f;
    parallelFor((n + blockSize - 1) / blockSize, 4,
                [](void *context, int64_t begin, int64_t end) {
                  auto &b = *static_cast<Blocks *>(context);
                  for (int64_t i = begin; i < end; ++i) {
                    poll();
                    b.body(b, i, i * blockSize, std::min(b.n, (i + 1) * blockSize));
                  }
                },
                this);
  }

  int64_t n, total = 0;
  Hit hit;
  Scratch<int64_t> places;
  Body body = nullptr;
  void *chooser = nullptr;
};

auto blocksOf(const Tensor &mask) {
  return Blocks(mask.count(), [m = mask.as<uint8_t>()](int64_t i) { return m[i] != 0; });
}

/// Coordinates of elements in row-major order, `rank` of them for each.
template <typename T> TensorRef positionsOf(const Tensor &x) {
  Blocks blocks(x.count(), [data = x.as<T>()](int64_t i) { return data[i] != T(0); });
  int64_t rank = x.rank, sizes[2] = {blocks.count(), rank};
  TensorRef out(newTensor(DType::I64, sizes));
  if (rank > 0)
    blocks.choose([&, data = x.as<T>()](int64_t begin, int64_t end, int64_t place, int64_t number) {
      Scratch<uint8_t> bytes(sizeof(T) > 1 ? end - begin : 0);
      for (int64_t i = begin; i < end && sizeof(T) > 1; ++i)
        bytes.data()[i - begin] = data[i] != T(0);
      const auto *mask = sizeof(T) > 1 ? bytes.data() : reinterpret_cast<const uint8_t *>(data) + begin;
      int64_t *to = out->as<int64_t>() + place * rank;
      if (rank == 1)
        return maskKernels().positions(mask, end - begin, begin, to, number);
      Scratch<int64_t> positions(number);
      maskKernels().positions(mask, end - begin, begin, positions.data(), number);
      std::vector<int64_t> at(rank); // of the row that ends before `next`
      const int64_t row = x.sizes[rank - 1];
      int64_t next = -1;
      for (int64_t k = 0; k < number; ++k, to += rank) {
        const int64_t position = positions.data()[k];
        if (position >= next) {
          next = position - position % row + row;
          for (int64_t axis = rank - 1, rest = position / row; axis-- > 0; rest /= x.sizes[axis])
            at[axis] = rest % x.sizes[axis];
        }
        for (int64_t axis = 0; axis + 1 < rank; ++axis)
          to[axis] = at[axis];
        to[rank - 1] = position - (next - row);
      }
    });
  return out;
}

} // namespace

TensorRef nonzero(const Tensor &x) {
  return dispatch(x.dtype, [&](auto *type) { return positionsOf<std::remove_pointer_t<decltype(type)>>(x); });
}

TensorRef maskSelect(const Tensor &x, const Tensor &mask) {
  auto blocks = blocksOf(mask);
  const auto *chosen = mask.as<uint8_t>();
  std::vector<int64_t> sizes = {blocks.count()};
  sizes.insert(sizes.end(), x.sizes + mask.rank, x.sizes + x.rank);
  TensorRef out(newTensor(x.dtype, sizes));
  int64_t row = mask.count() ? x.count() / mask.count() : 0;
  dispatchWidth(x.dtype, [&](auto *type) {
    using E = std::remove_pointer_t<decltype(type)>;
    blocks.choose([&](int64_t begin, int64_t end, int64_t place, int64_t number) {
      const E *from = x.as<E>();
      E *to = out->as<E>() + place * row;
      if (row == 1 && (sizeof(E) == 4 || sizeof(E) == 8))
        (sizeof(E) == 4 ? maskKernels().select4 : maskKernels().select8)(from + begin, chosen + begin, end - begin, to,
                                                                         number);
      else if (row == 1)
        for (int64_t i = begin; i < end; ++i) {
          *to = from[i];
          to += chosen[i] != 0;
        }
      else
        for (int64_t i = begin; i < end; ++i)
          if (chosen[i]) {
            std::memcpy(to, from + i * row, row * sizeof(E));
            to += row;
          }
    });
  });
  return out;
}

TensorRef maskStore(TensorRef x, const Tensor &mask, const Tensor &values) {
  auto blocks = blocksOf(mask);
  const auto *chosen = mask.as<uint8_t>();
  int64_t hits = blocks.count(), inner = x->rank - mask.rank, row = mask.count() ? x->count() / mask.count() : 0;
  std::vector<int64_t> sizes = {hits};
  sizes.insert(sizes.end(), x->sizes + mask.rank, x->sizes + x->rank);
  if (values.rank == inner + 1 && values.sizes[0] != 1 && values.sizes[0] != hits)
    fail(DiagId::StoreCount, {std::to_string(values.sizes[0]), std::to_string(hits)});
  ValueRuns runs(values, sizes, row);
  TensorRef out(unique(x.take()));
  dispatchWidth(out->dtype, [&](auto *type) {
    using E = std::remove_pointer_t<decltype(type)>;
    blocks.choose([&](int64_t begin, int64_t end, int64_t place, int64_t) {
      E *to = out->as<E>();
      for (int64_t i = begin; i < end; ++i)
        if (row == 1) {
          const E *from = reinterpret_cast<const E *>(runs.run(place));
          to[i] = chosen[i] ? *from : to[i];
          place += chosen[i] != 0;
        } else if (chosen[i])
          std::memcpy(to + i * row, runs.run(place++), row * sizeof(E));
    });
  });
  return out;
}

} // namespace toy::rt

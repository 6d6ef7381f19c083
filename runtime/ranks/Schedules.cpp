// SPDX-License-Identifier: Apache-2.0
/// \file
/// Steps between ranks.
#include "runtime/ranks/Schedules.h"

#include "runtime/ranks/Opening.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>

namespace toy::ranks {
namespace {

// What two elements give. The sums of integers wrap, products of complex numbers are the four-product form.
struct Add {
  template <typename T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};
struct Multiply {
  template <typename T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
  template <typename T> std::complex<T> operator()(std::complex<T> a, std::complex<T> b) const {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
};
/// nan if one is; -0 is less than 0.
struct Less {
  template <typename T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return std::min(a, b);
    else
      return std::isnan(a) || std::isnan(b) ? T(NAN) : a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct Greater {
  template <typename T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return std::max(a, b);
    else
      return std::isnan(a) || std::isnan(b) ? T(NAN) : a > b || (a == b && !std::signbit(a)) ? a : b;
  }
};
struct Or {
  uint8_t operator()(uint8_t a, uint8_t b) const { return a | b; }
};
struct And {
  uint8_t operator()(uint8_t a, uint8_t b) const { return a & b; }
};

template <typename T, typename F> Sum row() {
  return {[](void *target, const void *lower, const void *higher, int64_t count) {
            auto *to = static_cast<T *>(target);
            auto *a = static_cast<const T *>(lower), *b = static_cast<const T *>(higher);
            for (int64_t i = 0; i < count; ++i)
              to[i] = F()(a[i], b[i]);
          },
          sizeof(T)};
}
template <typename T> Sum ordered(Reduction reduction) {
  switch (reduction) {
  case Reduction::Prod:
    return row<T, Multiply>();
  case Reduction::Min:
    return row<T, Less>();
  case Reduction::Max:
    return row<T, Greater>();
  default:
    return row<T, Add>();
  }
}
template <typename T> Sum unordered(Reduction reduction) {
  return reduction == Reduction::Prod ? row<T, Multiply>() : row<T, Add>();
}

/// Memory that the next collective uses again.
char *scratch(int64_t bytes) {
  static std::vector<char> memory;
  if (static_cast<int64_t>(memory.size()) < bytes)
    memory.resize(bytes);
  return memory.data();
}

/// At each step both partners know the sum of twice as many ranks. What arrives is added while it is in a cache.
void byDoubling(const Sum &sum, const void *x, void *out, int64_t count) {
  constexpr int64_t atOnce = 512 << 10; // bytes
  const int64_t most = std::min(count, atOnce / sum.width);
  char *other = scratch(most * sum.width);
  const auto *from = static_cast<const char *>(x);
  auto *to = static_cast<char *>(out);
  for (int distance = 1; distance < ranks::count(); distance *= 2) {
    const int partner = rank() ^ distance;
    const bool isLower = partner > rank();
    for (int64_t at = 0; at < count; at += most) {
      const int64_t n = std::min(most, count - at), bytes = n * sum.width;
      const char *own = from + at * sum.width;
      mpi().exchangeBytes(own, bytes, partner, other, bytes, partner);
      sum.combine(to + at * sum.width, isLower ? own : other, isLower ? other : own, n);
    }
    from = to;
  }
}

/// At each step a rank goes on with half of the elements, which then have the sum of twice as many ranks; back again
/// it gets the halves that others kept.
void byHalving(const Sum &sum, const void *x, void *out, int64_t count) {
  struct Step {
    int partner;
    int64_t kept, keptCount, given, givenCount;
  };
  std::vector<Step> steps;
  char *other = scratch((count / 2 + 1) * sum.width);
  auto *to = static_cast<char *>(out);
  auto *from = static_cast<const char *>(x);
  int64_t begin = 0;
  for (int distance = 1; distance < ranks::count(); distance *= 2) {
    int partner = rank() ^ distance;
    bool isLower = partner > rank();
    int64_t first = count / 2, second = count - first;
    Step step{partner, isLower ? begin : begin + first, isLower ? first : second, isLower ? begin + first : begin,
              isLower ? second : first};
    const char *own = from + step.kept * sum.width;
    mpi().exchangeBytes(from + step.given * sum.width, step.givenCount * sum.width, partner, other,
                        step.keptCount * sum.width, partner);
    sum.combine(to + step.kept * sum.width, isLower ? own : other, isLower ? other : own, step.keptCount);
    steps.push_back(step);
    begin = step.kept;
    count = step.keptCount;
    from = to;
  }
  for (; !steps.empty(); steps.pop_back()) {
    const Step &s = steps.back();
    mpi().exchangeBytes(to + s.kept * sum.width, s.keptCount * sum.width, s.partner, to + s.given * sum.width,
                        s.givenCount * sum.width, s.partner);
  }
}

void byGather(const Sum &sum, const void *x, void *out, int64_t count) {
  int64_t bytes = count * sum.width;
  std::vector<int64_t> sizes(ranks::count(), bytes);
  char *all = scratch(bytes * ranks::count());
  gatherBytes(x, all, sizes);
  std::vector<char *> parts;
  for (int r = 0; r < ranks::count(); ++r)
    parts.push_back(all + r * bytes);
  sumParts(sum, parts, count);
  std::memcpy(out, all, bytes);
}

/// Each rank sums a part of the elements.
void byParts(const Sum &sum, const void *x, void *out, int64_t count) {
  const int64_t p = ranks::count();
  std::vector<int64_t> sizes;
  for (int64_t r = 0; r < p; ++r)
    sizes.push_back((shardBegin(count, p, r + 1) - shardBegin(count, p, r)) * sum.width);
  int64_t own = sizes[rank()];
  char *all = scratch(own * p);
  std::vector<int64_t> arriving(p, own);
  exchangeParts(x, sizes, all, arriving);
  std::vector<char *> parts;
  for (int64_t r = 0; r < p; ++r)
    parts.push_back(all + r * own);
  sumParts(sum, parts, own / sum.width);
  gatherBytes(all, out, sizes);
}

} // namespace

Sum sumOf(DType dtype, Reduction reduction) {
  switch (dtype) {
  case DType::Bool:
    return reduction == Reduction::All ? row<uint8_t, And>() : row<uint8_t, Or>();
  case DType::U8:
    return ordered<uint8_t>(reduction);
  case DType::I32:
    return ordered<int32_t>(reduction);
  case DType::I64:
    return ordered<int64_t>(reduction);
  case DType::F64:
    return ordered<double>(reduction);
  case DType::C64:
    return unordered<std::complex<float>>(reduction);
  case DType::C128:
    return unordered<std::complex<double>>(reduction);
  default:
    return ordered<float>(reduction);
  }
}

Schedule scheduleFor(int64_t bytes) {
  static const std::string_view forced = [] {
    const char *name = std::getenv("TOY_RANKS_SCHEDULE");
    return std::string_view(name ? name : "");
  }();
  const bool isPower = std::has_single_bit(static_cast<unsigned>(count()));
  if (isPower && (forced == "doubling" || forced == "halving"))
    return forced == "doubling" ? Schedule::Doubling : Schedule::Halving;
  if (forced == "gather" || forced == "parts")
    return forced == "gather" ? Schedule::Gather : Schedule::Parts;
  constexpr int64_t gathered = 2 << 10, halved = 256 << 10, halvedByMany = 64 << 10;
  if (isPower)
    return bytes >= (count() > 8 ? halvedByMany : halved) ? Schedule::Halving : Schedule::Doubling;
  return bytes <= gathered ? Schedule::Gather : Schedule::Parts;
}

void sumParts(const Sum &sum, std::span<char *const> parts, int64_t count) {
  for (size_t distance = 1; distance < parts.size(); distance *= 2)
    for (size_t i = 0; i + distance < parts.size(); i += 2 * distance)
      sum.combine(parts[i], parts[i], parts[i + distance], count);
}

void sumOverRanks(const Sum &sum, const void *x, void *out, int64_t count, Schedule schedule) {
  switch (schedule) {
  case Schedule::Doubling:
    return byDoubling(sum, x, out, count);
  case Schedule::Halving:
    return byHalving(sum, x, out, count);
  case Schedule::Gather:
    return byGather(sum, x, out, count);
  case Schedule::Parts:
    return byParts(sum, x, out, count);
  }
}

/// Around the ring: at each step what came last goes on.
void gatherBytes(const void *own, void *all, std::span<const int64_t> bytes) {
  const int p = count(), next = (rank() + 1) % p, before = (rank() + p - 1) % p;
  std::vector<int64_t> at(p, 0);
  for (int r = 1; r < p; ++r)
    at[r] = at[r - 1] + bytes[r - 1];
  auto *to = static_cast<char *>(all);
  if (bytes[rank()])
    std::memcpy(to + at[rank()], own, bytes[rank()]);
  for (int step = 0; step < p - 1; ++step) {
    int out = (rank() + p - step) % p, in = (before + p - step) % p;
    mpi().exchangeBytes(to + at[out], bytes[out], next, to + at[in], bytes[in], before);
  }
}

void exchangeParts(const void *out, std::span<const int64_t> outBytes, void *in, std::span<const int64_t> inBytes) {
  const int p = count();
  std::vector<int64_t> outAt(p, 0), inAt(p, 0);
  for (int r = 1; r < p; ++r) {
    outAt[r] = outAt[r - 1] + outBytes[r - 1];
    inAt[r] = inAt[r - 1] + inBytes[r - 1];
  }
  auto *from = static_cast<const char *>(out);
  auto *to = static_cast<char *>(in);
  for (int step = 0; step < p; ++step) {
    int target = (rank() + step) % p, source = (rank() + p - step) % p;
    if (step == 0 && inBytes[rank()])
      std::memcpy(to + inAt[rank()], from + outAt[rank()], inBytes[rank()]);
    if (step > 0)
      mpi().exchangeBytes(from + outAt[target], outBytes[target], target, to + inAt[source], inBytes[source], source);
  }
}

} // namespace toy::ranks

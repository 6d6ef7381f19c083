// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random numbers to compute with. Normally distributed ones cost more than most of what is tested with them.
#pragma once

#include <complex>
#include <cstdint>
#include <random>
#include <vector>

namespace toy::rt {

inline uint64_t drawnBits() {
  static std::mt19937_64 random(7);
  return random();
}
/// A number of either sign and below 4, of 53 random bits and one of eight exponents, so that the order of sums shows.
inline double drawnNumber() {
  const uint64_t bits = drawnBits();
  return static_cast<double>(static_cast<int64_t>(bits) >> 11) * 0x1p-50 / (1 << (bits & 7));
}
template <typename T> void draw(T &x) { x = static_cast<T>(drawnNumber()); }
template <typename T> void draw(std::complex<T> &x) {
  const T real = static_cast<T>(drawnNumber());
  x = {real, static_cast<T>(drawnNumber())};
}
template <typename T> std::vector<T> drawn(int64_t count) {
  std::vector<T> x(count);
  for (T &element : x)
    draw(element);
  return x;
}

} // namespace toy::rt

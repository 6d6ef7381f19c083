// SPDX-License-Identifier: Apache-2.0
/// \file
/// Between arrays of `size` numbers that lie one after the other, as many as a register has lanes, and `size` registers
/// with the same number of each array: by shuffles, of which each moves what it can of a register.
#pragma once
#include "runtime/KernelVectors.h"

namespace toy::rt {
namespace {

template <typename I, I... i> struct Numbers {};
template <int n> using Below = __make_integer_seq<Numbers, int, n>;

/// Where the registers of one form have lane `lane` of register `k` of the other.
struct Place {
  int k, lane;
};
/// The number `k` of array `lane`, among all.
template <int size, int lanes> struct FromArrays {
  static constexpr Place of(int k, int lane) { return {(lane * size + k) / lanes, (lane * size + k) % lanes}; }
};
/// What stands at `k * lanes + lane` of all arrays.
template <int size, int lanes> struct FromLanes {
  static constexpr Place of(int k, int lane) { return {(k * lanes + lane) % size, (k * lanes + lane) / size}; }
};

/// `into` with what register i of `from` has of register k.
template <typename Places, int k, int i, typename V, int... lane>
void take(V &into, const V *from, Numbers<int, lane...>) {
  constexpr int lanes = sizeof...(lane);
  if constexpr (i == 0) // what others have is put in later
    into = __builtin_shufflevector(from[0], from[0], Places::of(k, lane).lane...);
  else if constexpr (((Places::of(k, lane).k == i) || ...))
    into = __builtin_shufflevector(into, from[i],
                                   (Places::of(k, lane).k == i ? lanes + Places::of(k, lane).lane : lane)...);
}
template <typename Places, int k, typename V, typename Lanes, int... i>
V taken(const V *from, Lanes lanes, Numbers<int, i...>) {
  V into;
  (take<Places, k, i>(into, from, lanes), ...);
  return into;
}
template <typename Places, typename V, typename Lanes, typename Registers, int... k>
void takeAll(V *to, const V *from, Lanes lanes, Registers registers, Numbers<int, k...>) {
  ((to[k] = taken<Places, k>(from, lanes, registers)), ...);
}

/// Shuffles pay as long as there are fewer of them than of numbers.
constexpr bool isTransposedByShuffles(int size) { return size > 0 && size < 12; }

template <int size, typename T> void toLanes(Register<T> *to, const T *from) {
  constexpr int lanes = registerLanes<T>;
  Register<T> arrays[size];
  __builtin_memcpy(arrays, from, sizeof(arrays));
  takeAll<FromArrays<size, lanes>>(to, arrays, Below<lanes>(), Below<size>(), Below<size>());
}
template <int size, typename T> void toArrays(T *to, const Register<T> *from) {
  constexpr int lanes = registerLanes<T>;
  Register<T> arrays[size];
  takeAll<FromLanes<size, lanes>>(arrays, from, Below<lanes>(), Below<size>(), Below<size>());
  __builtin_memcpy(to, arrays, sizeof(arrays));
}

} // namespace
} // namespace toy::rt

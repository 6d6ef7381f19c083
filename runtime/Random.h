// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random numbers: Philox4x32-10 (Salmon et al. 2011). A key names a stream of 2^48 elements; the program's own state
/// makes one key after the other.
#pragma once

#include "runtime/RandomKernels.h"
#include "runtime/Value.h"

namespace toy::rt {

/// The state of the program's random numbers: what `seed` sets, and how many keys were taken since.
struct RandomState {
  uint64_t seed = 0, counter = 0;
  RandomKey next() { return {seed, counter++}; }
};

/// Rows of ir/Distributions.def.
enum class Distribution {
#define TOY_DISTRIBUTION(NAME, DTYPE, RESULT) NAME,
#include "ir/Distributions.def"
};
std::optional<Distribution> distributionNamed(std::string_view name);

/// A key as programs hold it, i64[2].
TensorRef keyTensor(RandomKey key);
RandomKey keyOf(const Tensor &key);

/// Elements of a distribution. Uniform numbers are in [0, 1) and have 24 or 53 bits; normal ones are Box and Muller's,
/// complex ones of unit variance in total. Parameters are scalars or have the sizes of the result; those that are none
/// (see Distributions.def for their dtypes) give anything, but end.
TensorRef sample(RandomKey key, Distribution distribution, DType dtype, std::span<const int64_t> sizes, const Tensor &a,
                 const Tensor &b);
/// The same with scalar parameters, each made when somebody asks for it (runtime/Io.h: `partOf`).
TensorRef sampleLate(RandomKey key, Distribution distribution, DType dtype, std::span<const int64_t> sizes,
                     const Tensor &a, const Tensor &b);
/// One element, with the bits of `sample`; of f32, f64 and i64. The parameters are read as the distribution says.
void draw(RandomKey key, Distribution distribution, DType dtype, const void *a, const void *b, void *to);
/// The first `count` of the integers below n in random order.
TensorRef permutation(RandomKey key, int64_t n, int64_t count);
/// For each integer a key, i64[…, 2], whose numbers have nothing to do with those of the others and of `key`.
TensorRef foldIn(RandomKey key, const Tensor &integers);

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// How programs are compiled: one value, which the command line and `:set` fill and every phase reads.
#pragma once

#include <cstdint>
#include <string>

namespace toy {

/// Which code is compiled, and which evaluated.
enum class JitMode : uint8_t { Auto, Always, Never };
/// Sizes that no signature declares: as they come when they change, always, never.
enum class DynamicMode : uint8_t { Auto, On, Off };

struct CompileOptions {
  static constexpr int byCost = -1; ///< code that costs more to optimize than to run is not optimized
  JitMode jit = JitMode::Auto;
  int optimization = byCost; ///< -O0 to -O3
  bool fuse = true;
  bool recognize = true;
  bool fastMath = false; ///< forms that round differently are recognized as well
  bool unpack = false;   ///< complex tensors are real ones with a last axis of 2 in all code
  std::string complexMatmul =
      "auto";               ///< strategy of complex products without one of their own: auto, native, four-real, gauss
  bool naiveMatmul = false; ///< the evaluator computes products in plain loops
  bool device = false;      ///< loops may also be kernels of a device, if there is one
  bool cache = true;        ///< machine code is kept on disk
  bool remarks = false;     ///< what was recognized or missed, and why another specialization was made, is said
  DynamicMode dynamic = DynamicMode::Auto;
  bool traceCalls = false;      ///< calls of the program's functions are printed, and what they give
  bool stops = false;           ///< `breakpoint()` stops what is evaluated
  bool profile = false;         ///< code says where it is, is optimized at once, and is not kept
  bool perfMap = false;         ///< the addresses of code are written for `perf`
  bool checkReplicated = false; ///< ranks compare what should be the same on all of them
  bool failOnRecompile = false; ///< another specialization of a function is an error
};

} // namespace toy

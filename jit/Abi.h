// SPDX-License-Identifier: Apache-2.0
/// \file
/// What compiled code calls.
#pragma once

#include "reference/Evaluator.h"

#include <span>
#include <utility>

namespace toy {

/// Names and addresses of the functions and variables that compiled code refers to.
std::span<const std::pair<const char *, void *>> abiSymbols();
/// Those of RuntimeCalls.def.
std::span<const std::pair<const char *, void *>> runtimeCalls();

/// The state of compiled code on this thread.
struct AbiState {
  Environment *environment = nullptr;
  std::vector<int64_t> passed; ///< sites of the calls that an error has passed through, the innermost first
  std::map<std::string, int64_t> kernels;
  int64_t products[numDTypes] = {}; ///< calls of gemm, by dtype
  int64_t repacks = 0;              ///< conversions between planar and interleaved matrices
};
AbiState &abiState();
/// The place that compiled code reached last.
int64_t &abiSite();
/// Loop nests run so far.
int64_t abiLoops();

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where linked code is: for `perf`, and for profiles.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace toy {

/// A function of an object that was linked, and the lines of its addresses: each holds up to the next.
struct CodeFunction {
  std::string name; ///< in the object
  uint64_t begin, end;
  struct Line {
    uint64_t address;
    uint32_t line; ///< 0: none
  };
  std::vector<Line> lines;
};

/// The functions of an object of which one has an address. `withLines`: if it has debug information.
std::vector<CodeFunction> functionsOf(llvm::MemoryBufferRef object, const std::string &known, uint64_t address,
                                      bool withLines);

/// Appends functions to `/tmp/perf-PID.map`, where `perf` looks for what no file has; a file that another user has put
/// there is left alone.
void writePerfMap(const std::vector<CodeFunction> &functions,
                  llvm::function_ref<std::string(const std::string &)> nameOf);

} // namespace toy

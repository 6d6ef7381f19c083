// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions behind toy.call_library: dense tensors in, dense tensors out. Shapes were checked by the type rules of
/// ir/LibraryRules.cpp.
#pragma once

#include "runtime/Value.h"

#include <string_view>

namespace toy::rt {

using LibraryArguments = std::span<const Tensor *const>;
using LibraryParameters = std::span<const int64_t>;
using LibraryFunction = std::vector<TensorRef> (*)(LibraryArguments, LibraryParameters);

/// Operations of a call below which threads of LAPACK wait for one another longer than they work.
constexpr double longWork = 1e9;

struct LibraryRow {
  std::string_view name;
  LibraryFunction function;
  /// About how many operations a call takes where a foreign function does them, which hears no Ctrl-C; null: it looks
  /// for that itself.
  double (*work)(LibraryArguments) = nullptr;
  /// Gives an empty first result and the others with the same bits, for callers that read only those.
  LibraryFunction withoutFirst = nullptr;
  /// Puts its only result, which has the first argument's dtype and sizes, in that one's place, with the same bits;
  /// false where it cannot.
  bool (*overFirst)(LibraryArguments, LibraryParameters) = nullptr;
};
std::span<const LibraryRow> linearAlgebraFunctions();
std::span<const LibraryRow> spectralFunctions();
std::span<const LibraryRow> fourierFunctions();
std::span<const LibraryRow> convolutionFunctions();
std::span<const LibraryRow> searchFunctions();

/// Calls a function that is known. Ctrl-C leaves a foreign function behind, which comes to its end on its own thread.
/// `consumed` is the first argument, or null: who gives it away asks for the result in its place.
std::vector<TensorRef> callLibrary(std::string_view name, LibraryArguments arguments, LibraryParameters parameters,
                                   bool wantsFirst = true, TensorRef consumed = {});

} // namespace toy::rt

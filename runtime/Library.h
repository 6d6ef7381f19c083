// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions behind toy.call_library: dense tensors in, dense tensors out. Shapes were checked by the type rules of ir/LibraryRules.cpp.
#pragma once

#include "runtime/Value.h"

#include <string_view>

namespace toy::rt {

using LibraryArguments = std::span<const Tensor *const>;
using LibraryParameters = std::span<const int64_t>;
using LibraryFunction = std::vector<TensorRef> (*)(LibraryArguments, LibraryParameters);

struct LibraryRow {
  std::string_view name;
  LibraryFunction function;
};
std::span<const LibraryRow> linearAlgebraFunctions();
std::span<const LibraryRow> fourierFunctions();
std::span<const LibraryRow> convolutionFunctions();

/// Null for an unknown name.
LibraryFunction findLibraryFunction(std::string_view name);

} // namespace toy::rt

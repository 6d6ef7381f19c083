// SPDX-License-Identifier: Apache-2.0
/// \file
/// All rows of the libraries.
#include "runtime/Library.h"

namespace toy::rt {

LibraryFunction findLibraryFunction(std::string_view name) {
  for (auto rows : {linearAlgebraFunctions(), fourierFunctions(), convolutionFunctions()})
    for (const LibraryRow &row : rows)
      if (row.name == name)
        return row.function;
  return nullptr;
}

} // namespace toy::rt

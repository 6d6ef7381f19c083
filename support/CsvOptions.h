// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the cells of a .csv file are separated and read.
#pragma once

#include <cmath>
#include <cstdint>

namespace toy {

struct CsvOptions {
  char sep = ',', decimal = '.';
  bool header = false;  ///< the first line has the names of the columns
  int64_t skip = 0;     ///< lines before anything is read
  double missing = NAN; ///< what an empty cell is
  bool isDefault() const { return sep == ',' && decimal == '.' && !header && skip == 0 && std::isnan(missing); }
};

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// The files of lib/toy, as they are.
#include "irgen/Prelude.h"

#include <string>

namespace toy {

static const char elements[] = {
#embed "elements.toy"
};
static const char reductions[] = {
#embed "reductions.toy"
};
static const char statistics[] = {
#embed "statistics.toy"
};
static const char arrays[] = {
#embed "arrays.toy"
};
static const char algebra[] = {
#embed "algebra.toy"
};
static const char lists[] = {
#embed "lists.toy"
};
static const char signals[] = {
#embed "signals.toy"
};
static const char networks[] = {
#embed "networks.toy"
};

static const char pictures[] = {
#embed "pictures.toy"
};

/// A file, and the group of its functions.
static const struct {
  std::string_view text;
  const char *group;
} files[] = {
    {{elements, sizeof elements}, "elementwise"},    {{reductions, sizeof reductions}, "reduce"},
    {{statistics, sizeof statistics}, "statistics"}, {{arrays, sizeof arrays}, "make"},
    {{algebra, sizeof algebra}, "linear algebra"},   {{lists, sizeof lists}, "lists and text"},
    {{signals, sizeof signals}, "signals"},          {{networks, sizeof networks}, "networks"},
    {{pictures, sizeof pictures}, "pictures"},
};

std::string_view libraryText() {
  static const std::string all = [] {
    std::string text;
    for (const auto &file : files)
      text += file.text;
    return text;
  }();
  return all;
}

const char *libraryGroup(size_t offset) {
  for (const auto &file : files) {
    if (offset < file.text.size())
      return file.group;
    offset -= file.text.size();
  }
  return "";
}

} // namespace toy

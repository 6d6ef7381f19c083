// SPDX-License-Identifier: Apache-2.0
/// \file
/// The table of built-in functions.
#include "irgen/IRGenImpl.h"

using namespace mlir;

namespace toy {

static const BuiltinRow table[] = {
#define TOY_BUILTIN(NAME, PARAMETERS, GROUP, HANDLER, OP, CONVERSION, DOC)                                             \
  {#NAME, PARAMETERS, GROUP, DOC, &IRGen::HANDLER, OP, CONVERSION},
#include "irgen/Builtins.def"
};

ArrayRef<BuiltinRow> builtinRows() { return table; }

const BuiltinRow *findBuiltin(StringRef name) {
  static const llvm::StringMap<const BuiltinRow *> *byName = [] {
    auto *map = new llvm::StringMap<const BuiltinRow *>;
    for (const BuiltinRow &row : table)
      (*map)[row.name] = &row;
    return map;
  }();
  return byName->lookup(name);
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// dlopen and dlsym with errors that name the library.
#include "runtime/SharedLibrary.h"

#include "runtime/Error.h"
#include "runtime/Guard.h"

#include <dlfcn.h>

namespace toy::rt {

SharedLibrary::SharedLibrary(std::string libraryName) : name(std::move(libraryName)) {
  // Libraries run code when they are opened. A fault there must not jump over the locks, and the statics being made, of
  // those who open them.
  if (std::optional<Error> fault = guarded([&] { handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); }))
    throw *fault;
  if (!handle)
    fail(DiagId::MissingLibrary, {name, dlerror()});
}

void *SharedLibrary::symbol(const std::string &symbolName) const {
  void *address = dlsym(handle, symbolName.c_str());
  if (!address)
    fail(DiagId::MissingLibrary, {name, "it has no function `" + symbolName + "`"});
  return address;
}

} // namespace toy::rt

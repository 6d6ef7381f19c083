// SPDX-License-Identifier: Apache-2.0
/// \file
/// dlopen and dlsym with errors that name the library.
#include "runtime/SharedLibrary.h"

#include "runtime/Error.h"

#include <dlfcn.h>

namespace toy::rt {

SharedLibrary::SharedLibrary(std::string libraryName) : name(std::move(libraryName)), handle(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
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

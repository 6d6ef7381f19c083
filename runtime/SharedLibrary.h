// SPDX-License-Identifier: Apache-2.0
/// \file
/// Libraries that are opened when they are first needed.
#pragma once

#include <string>
#include <type_traits>

namespace toy::rt {

class SharedLibrary {
public:
  /// Opened for good; throws rt::Error when it cannot be loaded.
  explicit SharedLibrary(std::string name);
  /// Throws rt::Error when the library has no such symbol.
  void *symbol(const std::string &symbolName) const;
  template <typename F> void load(F &function, const std::string &symbolName) const {
    function = reinterpret_cast<std::remove_reference_t<F>>(symbol(symbolName));
  }

private:
  std::string name;
  void *handle = nullptr;
};

} // namespace toy::rt

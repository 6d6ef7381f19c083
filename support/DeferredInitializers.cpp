// SPDX-License-Identifier: Apache-2.0
#include "support/DeferredInitializers.h"

#include <mutex>

using Initializer = void (*)(int, char **, char **);
extern "C" {
// Set by the linker script; without it there are none.
[[gnu::weak]] extern Initializer toy_llvm_initializers_begin[];
[[gnu::weak]] extern Initializer toy_llvm_initializers_end[];
}

void toy::runDeferredInitializers() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (Initializer *next = toy_llvm_initializers_begin; next != toy_llvm_initializers_end; ++next)
      (*next)(0, nullptr, nullptr);
  });
}

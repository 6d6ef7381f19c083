// SPDX-License-Identifier: Apache-2.0
#include "support/DeferredInitializers.h"

#include <mutex>

using Initializer = void (*)(int, char **, char **);
extern "C" {
// Set by the linker script; without it there are none.
[[gnu::weak]] extern Initializer toy_ir_initializers_begin[];
[[gnu::weak]] extern Initializer toy_ir_initializers_end[];
[[gnu::weak]] extern Initializer toy_code_initializers_begin[];
[[gnu::weak]] extern Initializer toy_code_initializers_end[];
}

static void run(const Initializer *begin, const Initializer *end) {
  for (const Initializer *next = begin; next != end; ++next)
    (*next)(0, nullptr, nullptr);
}

void toy::initializeIr() {
  static std::once_flag once;
  std::call_once(once, [] { run(toy_ir_initializers_begin, toy_ir_initializers_end); });
}

void toy::initializeCode() {
  initializeIr();
  static std::once_flag once;
  std::call_once(once, [] { run(toy_code_initializers_begin, toy_code_initializers_end); });
}

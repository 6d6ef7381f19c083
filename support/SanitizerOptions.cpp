// SPDX-License-Identifier: Apache-2.0
/// \file
/// How sanitized builds are strict, the same for every program and however it is started; ASAN_OPTIONS and its like
/// still overrule.
#include "support/Sanitizers.h"

#if TOY_ADDRESS_SANITIZER
// NOLINTBEGIN(readability-identifier-naming): the sanitizers give the names
// A finding has a status of its own: 1 is an error of the user's program.
extern "C" const char *__asan_default_options() {
  return "exitcode=99:detect_leaks=1:detect_container_overflow=1:allow_user_poisoning=1";
}
extern "C" const char *__ubsan_default_options() { return "halt_on_error=1:print_stacktrace=1"; }
// NOLINTEND(readability-identifier-naming)
#endif

// SPDX-License-Identifier: Apache-2.0
/// \file
/// sigsetjmp around inputs. What the abandoned frames owned is leaked, and a lock they held stays held: the session is told to be saved.
#include "repl/Guard.h"

#include "llvm/Support/ErrorHandling.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

namespace toy {
namespace {

struct Armed {
  sigjmp_buf jump;
  pthread_t thread;
  bool active = false;
  char reason[400];
};
Armed armed;

[[noreturn]] void leave(const char *reason) {
  if (armed.active && pthread_equal(pthread_self(), armed.thread)) {
    std::snprintf(armed.reason, sizeof armed.reason, "%s", reason);
    armed.active = false;
    siglongjmp(armed.jump, 1);
  }
  // Nothing can be resumed; the message is written without allocating.
  for (const char *part : {"error[X0002]: fault: ", reason, "\n"})
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0)
      break;
  _exit(70);
}

const char *nameOfSignal(int number) {
  switch (number) {
  case SIGSEGV: return "invalid memory access";
  case SIGBUS: return "bus error";
  case SIGFPE: return "arithmetic fault";
  case SIGILL: return "illegal instruction";
  default: return "abort";
  }
}

void onFault(int number) { leave(nameOfSignal(number)); }

} // namespace

#ifndef __has_feature
#define __has_feature(FEATURE) 0
#endif

void installFaultHandlers() {
#if !__has_feature(address_sanitizer) // which reports faults itself, and owns the stack for it
  static char stack[1 << 16];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = onFault;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(number, &action, nullptr);
#endif
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) { leave(reason); });
}

std::string guarded(const std::function<void()> &body) {
  if (armed.active) { // inside another guarded body, which will catch it
    body();
    return "";
  }
  if (sigsetjmp(armed.jump, 1))
    return armed.reason;
  armed.thread = pthread_self();
  armed.active = true;
  try {
    body();
  } catch (...) {
    armed.active = false;
    throw;
  }
  armed.active = false;
  return "";
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// The program `toy`. It runs on a thread with a large stack: deep recursion of user functions is limited by count, not
/// by a crash. The first thread waits for its end, or for a signal that ends it before; then what was printed so far
/// goes out.
#include "driver/Launch.h"
#include "driver/Run.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "runtime/Watch.h"
#include "support/Sanitizers.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#if TOY_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace {

struct Start {
  const toy::Options &options;
  int status = 70;
};

sem_t finished;
volatile sig_atomic_t endingSignal = 0;

/// The heap of the thread is there from the start, in large pages: what compiles the first functions asks for some
/// megabytes in small pieces, and the system would be asked for each page, and to let the heap grow by it. Blocks that
/// rt::Blocks takes in large pages anyway are no part of it.
void readyHeap() {
  constexpr size_t largePage = 2 << 20, ready = 8 * largePage;
  if (toy::hasAddressSanitizer)
    return;
  mallopt(M_TRIM_THRESHOLD, 2 * ready); // what is free at the end of the heap stays
  mallopt(M_MMAP_THRESHOLD, 2 * ready);
  if (void *memory = std::malloc(ready)) {
    const auto start = reinterpret_cast<uintptr_t>(memory), first = (start + largePage - 1) / largePage * largePage;
    madvise(reinterpret_cast<void *>(first), start + ready - first, MADV_HUGEPAGE);
    std::free(memory);
  }
  mallopt(M_MMAP_THRESHOLD, 2 * largePage);
}

void *runOnThread(void *argument) {
  readyHeap();
  auto &start = *static_cast<Start *>(argument);
  start.status = toy::ranks::leave(toy::runToy(start.options));
  sem_post(&finished);
  return nullptr;
}

void onEndingSignal(int number) {
  endingSignal = number;
  sem_post(&finished);
}

/// Handlers are reset in programs that are started from here, ignored signals are not: so what was ignored before stays
/// so, and SIGPIPE has a handler.
void handleSignals(bool staysAtInterrupts) {
  auto handle = [](int number, void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  };
  handle(SIGPIPE, [](int) {});
  handle(SIGINT, staysAtInterrupts ? [](int) { toy::rt::interrupt(); } : onEndingSignal);
  for (int number : {SIGTERM, SIGHUP})
    if (struct sigaction before{}; sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      handle(number, onEndingSignal);
}

/// The prompt may be reading a key: lines and echo are turned on again.
void endBySignal(bool atPrompt, const termios &terminal) {
  toy::rt::writeOutFromOtherThread();
  if (atPrompt) {
    std::signal(SIGTTOU, SIG_IGN);
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
  }
  _exit(128 + endingSignal);
}

/// In sanitized builds, what a run that ended well left behind: tensors that nobody holds any more, and what
/// LeakSanitizer finds. The list of live tensors hides them from it.
bool leaks() {
#if TOY_ADDRESS_SANITIZER
  if (int64_t objects = toy::rt::liveObjects())
    return std::fprintf(stderr, "leak: %lld tensors and strings were not freed\n", static_cast<long long>(objects));
  return __lsan_do_recoverable_leak_check();
#else
  return false;
#endif
}

} // namespace

int main(int argc, char **argv) {
  toy::Options options;
  if (!toy::parseOptions(argc, argv, options))
    return 2;
  if (options.ranks > 0 && !toy::ranks::isLaunched())
    return toy::launch(options, argv);
  bool atPrompt = options.mode == toy::Options::Prompt && isatty(STDIN_FILENO) && !toy::ranks::isLaunched(),
       staysAtInterrupts = atPrompt || options.mode == toy::Options::Notebook;
  termios terminal{};
  if (atPrompt)
    tcgetattr(STDIN_FILENO, &terminal);
  sem_init(&finished, 0, 0);
  handleSignals(staysAtInterrupts);
  std::atexit(toy::rt::writeOutNow); // a library may end the program
  Start start{options};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t(1) << 30);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, runOnThread, &start) != 0) {
    std::fputs("error[X0001]: internal error: no thread could be started\n", stderr);
    return 70;
  }
  while (sem_wait(&finished) != 0) {
  }
  if (endingSignal)
    endBySignal(atPrompt, terminal);
  pthread_join(thread, nullptr);
  if (start.status == 0 && leaks())
    start.status = 71;
  std::fflush(nullptr);
  _exit(start.status); // nothing is left to tear down that the system does not free at once
}

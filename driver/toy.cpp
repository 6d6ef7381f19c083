// SPDX-License-Identifier: Apache-2.0
/// \file
/// The program `toy`. It runs on a thread with a large stack: deep recursion of user functions is limited by count, not by a crash.
#include "driver/Compile.h"
#include "runtime/Parallel.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

namespace {

struct Start {
  const toy::Options &options;
  int status = 70;
};

void *runOnThread(void *argument) {
  auto &start = *static_cast<Start *>(argument);
  start.status = toy::runToy(start.options);
  return nullptr;
}

} // namespace

int main(int argc, char **argv) {
  toy::Options options;
  if (!toy::parseOptions(argc, argv, options))
    return 2;
  std::signal(SIGPIPE, SIG_IGN);
  if (options.mode != toy::Options::Prompt)
    std::signal(SIGINT, [](int) { _exit(130); });
  else
    std::signal(SIGINT, [](int) { toy::rt::interrupt(); });
  Start start{options};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t(1) << 30);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, runOnThread, &start) != 0) {
    std::fputs("error[X0001]: internal error: no thread could be started\n", stderr);
    return 70;
  }
  // Signals belong to the thread that runs the program.
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
  pthread_join(thread, nullptr);
  std::fflush(nullptr);
  _exit(start.status); // nothing is left to tear down that the system does not free at once
}

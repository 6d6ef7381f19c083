// SPDX-License-Identifier: Apache-2.0
/// \file
/// A detached thread, and what it shares with the one that waits.
#include "runtime/Apart.h"

#include "runtime/Guard.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <pthread.h>

namespace toy::rt {
namespace {

struct Job {
  OtherThread counted; // first and last: what else is here may hold values
  std::function<void()> work;
  std::atomic<bool> left = false;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::optional<Error> error;
};

void *runJob(void *argument) {
  std::unique_ptr<std::shared_ptr<Job>> owner(static_cast<std::shared_ptr<Job> *>(argument));
  const std::shared_ptr<Job> &job = *owner;
  setInterruptFlag(&job->left);
  setUnlisted(true);
  std::optional<Error> error = guarded(job->work);
  std::lock_guard lock(job->mutex);
  job->error = std::move(error);
  job->work = nullptr; // what it owns is not needed any more
  job->done = true;
  job->changed.notify_one();
  return nullptr;
}

bool start(const std::shared_ptr<Job> &job) {
  constexpr size_t stackBytes = size_t(256) << 20; // of which pages are taken as they are used
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  auto argument = std::make_unique<std::shared_ptr<Job>>(job);
  pthread_t thread;
  bool started = pthread_create(&thread, &attributes, runJob, argument.get()) == 0;
  if (started)
    static_cast<void>(argument.release());
  pthread_attr_destroy(&attributes);
  return started;
}

} // namespace

void runApart(std::function<void()> work) {
  poll();
  auto job = std::make_shared<Job>();
  job->work = std::move(work);
  if (!start(job)) // no thread is left: then without
    return job->work();
  std::unique_lock lock(job->mutex);
  while (!job->changed.wait_for(lock, std::chrono::milliseconds(10), [&] { return job->done; }))
    if (isInterrupted()) {
      job->left = true;
      poll();
    }
  if (job->error)
    throw *job->error;
}

} // namespace toy::rt

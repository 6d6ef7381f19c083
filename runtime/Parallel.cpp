// SPDX-License-Identifier: Apache-2.0
/// \file
/// oneTBB behind one function.
#include "runtime/Parallel.h"

#include "runtime/Error.h"
#include "runtime/OpenBlas.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <memory>

namespace toy::rt {

static std::unique_ptr<tbb::global_control> control;
static std::atomic<bool> interrupted{false};

void setThreads(int n) {
  control = n > 0 ? std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, n) : nullptr;
  setBlasThreads(threads());
}

int threads() {
  int available = tbb::info::default_concurrency();
  return std::min<int>(available, tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

void parallelFor(int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t), void *context) {
  if (n <= grain || threads() == 1)
    return body(context, 0, n);
  tbb::parallel_for(tbb::blocked_range<int64_t>(0, n, std::max<int64_t>(grain, n / (4 * threads()))),
                    [&](const tbb::blocked_range<int64_t> &r) { body(context, r.begin(), r.end()); });
}

std::atomic<bool> &interruptFlag() { return interrupted; }

void interrupt() { interrupted.store(true, std::memory_order_relaxed); }

void poll() {
  if (interrupted.load(std::memory_order_relaxed)) {
    interrupted = false;
    fail(DiagId::Interrupted);
  }
}

} // namespace toy::rt

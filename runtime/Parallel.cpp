// SPDX-License-Identifier: Apache-2.0
/// \file
/// oneTBB behind one function.
#include "runtime/Parallel.h"

#include "runtime/Apart.h"
#include "runtime/Copies.h"
#include "runtime/Error.h"
#include "runtime/OpenBlas.h"
#include "runtime/Pieces.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace toy::rt {

static std::unique_ptr<tbb::global_control> control;
/// What compiled loops look at: the first byte, or both.
struct alignas(2) Requests {
  std::atomic<bool> interrupted = false, turn = false;
};
static_assert(sizeof(Requests) == 2);
static Requests requests;
static std::atomic<bool> &interrupted = requests.interrupted;
static thread_local std::atomic<bool> *ownFlag = nullptr;

void setThreads(int n) {
  if (n <= 0 && !control)
    return; // TBB is not started for what holds without it
  control = n > 0 ? std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, n) : nullptr;
  setBlasThreads(threads());
}

int threads() {
  int available = tbb::info::default_concurrency();
  return std::min<int>(available, tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

int64_t pieceOf(int64_t n, int64_t grain, int64_t threads) {
  constexpr int64_t fewEach = 4, mostEach = 16, longEach = 64, manyEach = 1024;
  // To take a piece from another thread costs a microsecond: only of long work there are many.
  const int64_t wanted = std::max<int64_t>(2, n / grain), most = wanted > 64 * threads ? mostEach : fewEach;
  int64_t pieces = std::clamp<int64_t>(wanted, 1, most * threads);
  if (pieces > threads)
    pieces = pieces / threads * threads;
  const int64_t each = (n + pieces - 1) / pieces, unit = grain < longEach ? 1 : each >= manyEach ? 64 : 16;
  return (each + unit - 1) / unit * unit;
}

/// Calls piece(begin, end) for pieces of so many, on all threads.
template <typename F> static void share(int64_t n, int64_t each, const F &piece) {
  OtherThread others;
  tbb::parallel_for(
      tbb::blocked_range<int64_t>(0, (n + each - 1) / each, 1),
      [&](const tbb::blocked_range<int64_t> &r) {
        for (int64_t i = r.begin(); i < r.end(); ++i)
          piece(i * each, std::min((i + 1) * each, n));
      },
      tbb::simple_partitioner());
}

void copyBytes(void *to, const void *from, int64_t bytes) {
  constexpr int64_t unit = int64_t(1) << 17, few = 8;
  if (bytes < few * unit || threads() == 1) {
    if (bytes > 0)
      std::memcpy(to, from, bytes);
    return;
  }
  share(bytes, pieceOf(bytes, unit, threads()), [&](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char *>(to) + begin, static_cast<const char *>(from) + begin, end - begin);
  });
}

void parallelFor(int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t), void *context) {
  if (n <= grain)
    return body(context, 0, n);
  std::atomic<bool> &flag = ownFlag ? *ownFlag : interrupted;
  auto piece = [&](int64_t begin, int64_t end) { // what Ctrl-C makes useless is not begun
    if (!flag.load(std::memory_order_relaxed))
      body(context, begin, end);
  };
  if (threads() == 1) {
    const int64_t unit = grain >= 64 ? 64 : 1, step = std::max(grain, n / 64) / unit * unit;
    for (int64_t begin = 0; begin < n; begin += step)
      piece(begin, std::min(begin + step, n));
  } else
    share(n, pieceOf(n, grain, threads()), piece);
  poll();
}

int64_t streamSteps(int64_t bytes, int64_t stepBytes) {
  return bytes < streamBytes || stepBytes > streamPiece ? 0 : streamPiece / stepBytes;
}

#ifdef __x86_64__
namespace {
/// Whole cache lines, `to` on the start of one.
__attribute__((target("avx512f"))) void streamLines512(char *to, const char *from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64)
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to + i), _mm512_loadu_si512(from + i));
}
void streamLines128(char *to, const char *from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i *>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i)));
}
} // namespace

void streamCopy(void *to, const void *from, int64_t bytes) {
  static const auto streamLines = __builtin_cpu_supports("avx512f") ? streamLines512 : streamLines128;
  auto *out = static_cast<char *>(to);
  auto *in = static_cast<const char *>(from);
  int64_t head = std::min<int64_t>(-reinterpret_cast<uintptr_t>(to) & 63, bytes), body = (bytes - head) & ~int64_t(63);
  std::memcpy(out, in, head);
  streamLines(out + head, in + head, body);
  std::memcpy(out + head + body, in + head + body, bytes - head - body);
}
void finishStream() { _mm_sfence(); }
#else
void streamCopy(void *to, const void *from, int64_t bytes) { std::memcpy(to, from, bytes); }
void finishStream() {}
#endif

std::atomic<bool> &interruptFlag() { return interrupted; }
std::atomic<bool> &turnRequest() { return requests.turn; }
void setInterruptFlag(std::atomic<bool> *ofThisThread) { ownFlag = ofThisThread; }
bool isInterrupted() { return (ownFlag ? *ownFlag : interrupted).load(std::memory_order_relaxed); }

void interrupt() { interrupted.store(true, std::memory_order_relaxed); }

void poll() {
  if (isInterrupted()) {
    if (!ownFlag)
      interrupted = false;
    fail(DiagId::Interrupted);
  }
}

} // namespace toy::rt

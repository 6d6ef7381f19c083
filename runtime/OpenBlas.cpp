// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbols of the shared library, looked up once.
#include "runtime/OpenBlas.h"

#include "runtime/Parallel.h"
#include "runtime/SharedLibrary.h"

#include <atomic>
#include <csignal>

namespace toy::rt {

static bool loaded = false;
static std::atomic<int> limits = 0; ///< of threads to one
static volatile sig_atomic_t lacksThreads = 0;
static struct sigaction interruptBefore;

/// OpenBLAS starts its threads when it is opened. Where the system refuses one, it raises SIGINT, returns, and would
/// wait for that thread in its first product for ever: then it works with the calling thread alone. Interrupts by
/// others (SI_TKILL is what `raise` sends) are passed on.
static SharedLibrary open() {
  struct sigaction action{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int number, siginfo_t *info, void *) {
    if (info->si_code == SI_TKILL)
      lacksThreads = 1;
    else if (interruptBefore.sa_handler != SIG_DFL && interruptBefore.sa_handler != SIG_IGN)
      interruptBefore.sa_handler(number);
  };
  sigaction(SIGINT, &action, &interruptBefore);
  struct Restore {
    ~Restore() { sigaction(SIGINT, &interruptBefore, nullptr); }
  } restore;
  return SharedLibrary(TOY_OPENBLAS);
}

static const SharedLibrary &sharedLibrary() {
  static const SharedLibrary opened = open();
  return opened;
}

static OpenBlas load() {
  const SharedLibrary &blas = sharedLibrary();
  OpenBlas table;
  blas.load(table.sgemm, "cblas_sgemm");
  blas.load(table.dgemm, "cblas_dgemm");
  blas.load(table.cgemm, "cblas_cgemm");
  blas.load(table.zgemm, "cblas_zgemm");
  blas.load(table.ssyrk, "cblas_ssyrk");
  blas.load(table.dsyrk, "cblas_dsyrk");
  blas.load(table.csyrk, "cblas_csyrk");
  blas.load(table.zsyrk, "cblas_zsyrk");
  blas.load(table.cherk, "cblas_cherk");
  blas.load(table.zherk, "cblas_zherk");
  blas.load(table.setThreads, "openblas_set_num_threads");
  table.setThreads(lacksThreads || limits > 0 ? 1 : threads());
  loaded = true;
  return table;
}

const OpenBlas &openBlas() {
  static const OpenBlas table = load();
  return table;
}

void *openBlasSymbol(const std::string &name) {
  openBlas();
  return sharedLibrary().symbol(name);
}

void setBlasThreads(int n) {
  if (loaded && !lacksThreads)
    openBlas().setThreads(n);
}

OneBlasThread::OneBlasThread() {
  ++limits;
  setBlasThreads(1);
}
OneBlasThread::~OneBlasThread() {
  --limits;
  setBlasThreads(threads());
}

} // namespace toy::rt

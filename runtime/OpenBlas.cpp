// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbols of the shared library, looked up once.
#include "runtime/OpenBlas.h"

#include "runtime/Parallel.h"
#include "runtime/SharedLibrary.h"

namespace toy::rt {

static bool loaded = false;

static const SharedLibrary &sharedLibrary() {
  static const SharedLibrary opened(TOY_OPENBLAS);
  return opened;
}

static OpenBlas load() {
  const SharedLibrary &blas = sharedLibrary();
  OpenBlas table;
  blas.load(table.sgemm, "cblas_sgemm");
  blas.load(table.dgemm, "cblas_dgemm");
  blas.load(table.cgemm, "cblas_cgemm");
  blas.load(table.zgemm, "cblas_zgemm");
  blas.load(table.sgemv, "cblas_sgemv");
  blas.load(table.dgemv, "cblas_dgemv");
  blas.load(table.cgemv, "cblas_cgemv");
  blas.load(table.zgemv, "cblas_zgemv");
  blas.load(table.setThreads, "openblas_set_num_threads");
  table.setThreads(threads());
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
  if (loaded)
    openBlas().setThreads(n);
}

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbols of the shared library, looked up once.
#include "runtime/OpenBlas.h"

#include "runtime/Error.h"
#include "runtime/Parallel.h"

#include <dlfcn.h>

namespace toy::rt {

static bool loaded = false;
static void *handle = nullptr;

static OpenBlas load() {
  void *library = dlopen(TOY_OPENBLAS, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(DiagId::MissingLibrary, {TOY_OPENBLAS, dlerror()});
  auto symbol = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function)
      fail(DiagId::MissingLibrary, {TOY_OPENBLAS, std::string("it has no ") + name});
  };
  OpenBlas table;
  symbol(table.sgemm, "cblas_sgemm");
  symbol(table.dgemm, "cblas_dgemm");
  symbol(table.cgemm, "cblas_cgemm");
  symbol(table.zgemm, "cblas_zgemm");
  symbol(table.sgemv, "cblas_sgemv");
  symbol(table.dgemv, "cblas_dgemv");
  symbol(table.cgemv, "cblas_cgemv");
  symbol(table.zgemv, "cblas_zgemv");
  symbol(table.setThreads, "openblas_set_num_threads");
  table.setThreads(threads());
  handle = library;
  loaded = true;
  return table;
}

const OpenBlas &openBlas() {
  static const OpenBlas table = load();
  return table;
}

void *openBlasSymbol(const std::string &name) {
  openBlas();
  void *function = dlsym(handle, name.c_str());
  if (!function)
    fail(DiagId::MissingLibrary, {TOY_OPENBLAS, "it has no " + name});
  return function;
}

void setBlasThreads(int n) {
  if (loaded)
    openBlas().setThreads(n);
}

} // namespace toy::rt

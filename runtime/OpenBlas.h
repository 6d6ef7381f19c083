// SPDX-License-Identifier: Apache-2.0
/// \file
/// OpenBLAS, opened when the first product needs it: loading it and starting its threads costs more than the rest of
/// the program's start.
#pragma once

#include <cblas.h>
#include <string>

namespace toy::rt {

struct OpenBlas {
  decltype(&cblas_sgemm) sgemm;
  decltype(&cblas_dgemm) dgemm;
  decltype(&cblas_cgemm) cgemm;
  decltype(&cblas_zgemm) zgemm;
  decltype(&cblas_ssyrk) ssyrk;
  decltype(&cblas_dsyrk) dsyrk;
  decltype(&cblas_csyrk) csyrk;
  decltype(&cblas_zsyrk) zsyrk;
  decltype(&cblas_cherk) cherk;
  decltype(&cblas_zherk) zherk;
  decltype(&openblas_set_num_threads) setThreads;
};

/// The library's functions. Throws rt::Error when it cannot be loaded.
const OpenBlas &openBlas();
/// Any other function of it, for example of LAPACK.
void *openBlasSymbol(const std::string &name);
/// Threads of products from now on; does not load the library.
void setBlasThreads(int n);
/// Its functions use one thread while this lives, also where it is opened only then.
class OneBlasThread {
public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread &) = delete;
};

} // namespace toy::rt

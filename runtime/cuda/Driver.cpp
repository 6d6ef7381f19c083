// SPDX-License-Identifier: Apache-2.0
/// \file
/// Opening the libraries, one by one, on first use.
#include "runtime/cuda/Driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace toy::rt::cuda {
namespace {

struct Symbol {
  const char *name;
  void **slot;
};

bool resolve(void *library, std::initializer_list<Symbol> symbols, const std::string &what, std::string &problem) {
  for (const Symbol &symbol : symbols)
    if (!(*symbol.slot = dlsym(library, symbol.name))) {
      problem = what + " is too old: it has no " + symbol.name;
      return false;
    }
  return true;
}

std::string driverName() {
  const char *chosen = std::getenv("TOY_CUDA_DRIVER");
  return chosen ? chosen : "libcuda.so.1";
}

} // namespace

const DriverFunctions *openDriver(std::string &problem) {
  static DriverFunctions functions;
  static std::string failure;
  static const bool usable = [] {
    std::string name = driverName();
    void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      failure = "no CUDA driver: " + name + " cannot be opened";
      return false;
    }
    return resolve(library,
                   {
#define TOY_CU(SYMBOL, NAME, PARAMETERS) {#SYMBOL, reinterpret_cast<void **>(&functions.NAME)},
#include "runtime/cuda/DriverFunctions.def"
                   },
                   "the CUDA driver " + name, failure);
  }();
  problem = failure;
  return usable ? &functions : nullptr;
}

/// A library of CUDA's that has a function `probe`.
static bool openLibrary(const char *variable, std::vector<std::string> names, const char *probe, std::initializer_list<Symbol> symbols, std::string &problem) {
  if (const char *chosen = std::getenv(variable))
    names = {chosen};
  else if (std::getenv("TOY_CUDA_DRIVER"))
    names.insert(names.begin(), driverName());
  problem = names.back() + " cannot be opened";
  for (const std::string &name : names)
    if (void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); library && dlsym(library, probe)) {
      problem.clear();
      return resolve(library, symbols, name, problem);
    }
  return false;
}

const BlasFunctions *openBlas(std::string &problem) {
  static BlasFunctions functions;
  static std::string failure;
  static const bool usable = openLibrary("TOY_CUDA_BLAS", {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so"}, "cublasCreate_v2",
                                         {
#define TOY_CUBLAS(SYMBOL, NAME, PARAMETERS) {#SYMBOL, reinterpret_cast<void **>(&functions.NAME)},
#include "runtime/cuda/BlasFunctions.def"
                                         },
                                         failure);
  problem = failure;
  return usable ? &functions : nullptr;
}

const FftFunctions *openFft(std::string &problem) {
  static FftFunctions functions;
  static std::string failure;
  static const bool usable = openLibrary("TOY_CUDA_FFT", {"libcufft.so.12", "libcufft.so.11", "/usr/local/cuda/lib64/libcufft.so"}, "cufftCreate",
                                         {
#define TOY_CUFFT(SYMBOL, NAME, PARAMETERS) {#SYMBOL, reinterpret_cast<void **>(&functions.NAME)},
#include "runtime/cuda/FftFunctions.def"
                                         },
                                         failure);
  problem = failure;
  return usable ? &functions : nullptr;
}

} // namespace toy::rt::cuda

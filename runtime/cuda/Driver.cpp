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

/// The first of some libraries that can be opened and has the first symbol.
bool open(const std::vector<std::string> &names, std::initializer_list<Symbol> symbols, std::string &problem) {
  for (const std::string &name : names)
    if (void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); library && dlsym(library, symbols.begin()->name))
      return resolve(library, symbols, name, problem);
  problem.clear();
  for (const std::string &name : names)
    problem += (problem.empty() ? "" : &name == &names.back() ? " or " : ", ") + name;
  problem += " cannot be opened";
  return false;
}

/// A library beside the driver: the one that a variable names, the driver's own file where that was chosen, or one of
/// NVIDIA's.
std::vector<std::string> libraryNames(const char *variable, std::vector<std::string> names) {
  if (const char *chosen = std::getenv(variable))
    return {chosen};
  if (std::getenv("TOY_CUDA_DRIVER"))
    names.insert(names.begin(), driverName());
  return names;
}

/// Opened once; null, with the reason, if that failed.
template <typename Functions, typename Open> const Functions *openOnce(Open open, std::string &problem) {
  static Functions functions;
  static std::string failure;
  static const bool usable = open(functions, failure);
  problem = failure;
  return usable ? &functions : nullptr;
}

} // namespace

#define TOY_SLOT(SYMBOL, NAME, PARAMETERS) {#SYMBOL, reinterpret_cast<void **>(&f.NAME)},

const DriverFunctions *openDriver(std::string &problem) {
  auto driver = [](DriverFunctions &f, std::string &failure) {
    return open({driverName()},
                {
#define TOY_CU TOY_SLOT
#include "runtime/cuda/DriverFunctions.def"
                },
                failure);
  };
  return openOnce<DriverFunctions>(driver, problem);
}

const BlasFunctions *openBlas(std::string &problem) {
  auto blas = [](BlasFunctions &f, std::string &failure) {
    return open(
        libraryNames("TOY_CUDA_BLAS", {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so"}),
        {
#define TOY_CUBLAS TOY_SLOT
#include "runtime/cuda/BlasFunctions.def"
        },
        failure);
  };
  return openOnce<BlasFunctions>(blas, problem);
}

const FftFunctions *openFft(std::string &problem) {
  auto fft = [](FftFunctions &f, std::string &failure) {
    return open(libraryNames("TOY_CUDA_FFT", {"libcufft.so.12", "libcufft.so.11", "/usr/local/cuda/lib64/libcufft.so"}),
                {
#define TOY_CUFFT TOY_SLOT
#include "runtime/cuda/FftFunctions.def"
                },
                failure);
  };
  return openOnce<FftFunctions>(fft, problem);
}

} // namespace toy::rt::cuda

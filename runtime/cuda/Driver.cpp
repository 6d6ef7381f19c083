// SPDX-License-Identifier: Apache-2.0
/// \file
/// Opening the libraries, one by one, on first use.
#include "runtime/cuda/Driver.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
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

std::vector<std::string> matching(const std::string &pattern) {
  glob_t found{};
  std::vector<std::string> out;
  if (glob(pattern.c_str(), GLOB_BRACE, nullptr, &found) == 0)
    out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return out;
}

/// Where packages of the active Python, of those on the path, of the user and of the system keep a library.
std::vector<std::string> inPythonPackages(const std::string &file) {
  std::vector<std::string> prefixes, out;
  auto add = [&](const char *variable, const char *below) {
    if (const char *folder = std::getenv(variable))
      prefixes.push_back(std::string(folder) + below);
  };
  add("VIRTUAL_ENV", "");
  add("CONDA_PREFIX", "");
  if (const char *path = std::getenv("PATH")) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');)
      if (std::error_code unused; std::filesystem::exists(folder + "/python3", unused))
        prefixes.push_back(folder + "/..");
  }
  add("HOME", "/.local");
  prefixes.push_back("/usr/local");
  for (const std::string &prefix : prefixes)
    for (std::string &path : matching(prefix + "/lib/python3*/{site,dist}-packages/nvidia/*/lib/" + file))
      out.push_back(std::move(path));
  return out;
}

/// cuBLAS needs cuBLASLt, which lies beside it where the loader may not look.
void *openFile(const std::string &name) {
  constexpr std::string_view blas = "/libcublas.so";
  if (size_t at = name.rfind(blas); at != std::string::npos)
    dlopen((name.substr(0, at) + "/libcublasLt.so" + name.substr(at + blas.size())).c_str(), RTLD_NOW | RTLD_GLOBAL);
  return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// The first of some libraries that can be opened and has the first symbol.
bool open(const std::vector<std::string> &names, std::initializer_list<Symbol> symbols, std::string &problem) {
  for (const std::string &name : names)
    if (void *library = openFile(name); library && dlsym(library, symbols.begin()->name))
      return resolve(library, symbols, name, problem);
  problem.clear();
  for (const std::string &name : names)
    problem += (problem.empty() ? "" : &name == &names.back() ? " or " : ", ") + name;
  problem += " cannot be opened";
  return false;
}

/// A library beside the driver: the one that a variable names, the driver's own file where that was chosen, or one of
/// NVIDIA's: where the loader finds it, in a Python package, in a folder.
std::vector<std::string> libraryNames(const char *variable, const std::vector<std::string> &names, const char *file) {
  if (const char *chosen = std::getenv(variable))
    return {chosen};
  std::vector<std::string> out = names;
  if (std::getenv("TOY_CUDA_DRIVER"))
    out.insert(out.begin(), driverName());
  for (const std::string &name : names)
    for (std::string &path : inPythonPackages(name))
      out.push_back(std::move(path));
  out.emplace_back(file);
  return out;
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
        libraryNames("TOY_CUDA_BLAS", {"libcublas.so.13", "libcublas.so.12"}, "/usr/local/cuda/lib64/libcublas.so"),
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
    return open(libraryNames("TOY_CUDA_FFT", {"libcufft.so.12", "libcufft.so.11"}, "/usr/local/cuda/lib64/libcufft.so"),
                {
#define TOY_CUFFT TOY_SLOT
#include "runtime/cuda/FftFunctions.def"
                },
                failure);
  };
  return openOnce<FftFunctions>(fft, problem);
}

const NcclFunctions *openNccl(std::string &problem) {
  auto nccl = [](NcclFunctions &f, std::string &failure) {
    std::vector<std::string> names = {driverName()};
    if (std::getenv("TOY_CUDA_NCCL") || !std::getenv("TOY_CUDA_DRIVER"))
      names = libraryNames("TOY_CUDA_NCCL", {"libnccl.so.2"}, "/usr/local/cuda/lib64/libnccl.so.2");
    return open(names,
                {
#define TOY_NCCL(SYMBOL, RESULT, NAME, PARAMETERS) TOY_SLOT(SYMBOL, NAME, PARAMETERS)
#include "runtime/cuda/NcclFunctions.def"
                },
                failure);
  };
  return openOnce<NcclFunctions>(nccl, problem);
}

std::string fileOf(const void *function) {
  Dl_info info{};
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "";
}

} // namespace toy::rt::cuda

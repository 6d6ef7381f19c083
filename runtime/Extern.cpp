// SPDX-License-Identifier: Apache-2.0
/// \file
/// Opening libraries, calling, and watching over what is written.
#include "runtime/Extern.h"

#include "runtime/Error.h"
#include "runtime/SharedLibrary.h"
#include "runtime/toy_extern.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <unistd.h>

namespace toy::rt {
namespace {

static_assert(static_cast<int>(DType::Bool) == TOY_BOOL && static_cast<int>(DType::F32) == TOY_F32 && static_cast<int>(DType::C128) == TOY_C128);

bool checkBounds = false;
constexpr int64_t guard = 64;
constexpr unsigned char pattern = 0xA5;

toy_function functionNamed(const std::string &library, const std::string &symbol) {
  static std::mutex mutex;
  static std::map<std::string, SharedLibrary> libraries;
  std::lock_guard lock(mutex);
  auto known = libraries.find(library);
  if (known == libraries.end()) {
    std::string local = "./" + library;
    bool isLocal = library.find('/') == std::string::npos && access(local.c_str(), F_OK) == 0;
    known = libraries.emplace(library, SharedLibrary(isLocal ? local : library)).first;
  }
  return reinterpret_cast<toy_function>(known->second.symbol(symbol));
}

int64_t bytesOf(const Tensor &t) { return t.count() * sizeOf(t.dtype); }
toy_tensor describe(const Tensor &t, void *data) { return {static_cast<int32_t>(t.dtype), t.rank, t.sizes, data}; }

/// A copy of a tensor's memory between guards; the pattern everywhere for a result.
class Guarded {
public:
  Guarded(const Tensor &t, bool isArgument) : bytes(bytesOf(t)), memory(static_cast<unsigned char *>(std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 2 * guard))) {
    if (!memory)
      throw std::bad_alloc();
    std::memset(memory, pattern, (bytes + 63) / 64 * 64 + 2 * guard);
    if (isArgument)
      std::memcpy(data(), t.data, bytes);
  }
  Guarded(Guarded &&other) : bytes(other.bytes), memory(std::exchange(other.memory, nullptr)) {}
  ~Guarded() { std::free(memory); }
  unsigned char *data() { return memory + guard; }
  bool isIntact() const {
    auto clean = [](const unsigned char *p, int64_t n) { return std::all_of(p, p + n, [](unsigned char c) { return c == pattern; }); };
    return clean(memory, guard) && clean(memory + guard + bytes, (bytes + 63) / 64 * 64 - bytes + guard);
  }

private:
  int64_t bytes;
  unsigned char *memory;
};

} // namespace

void setCheckBounds(bool on) { checkBounds = on; }

void callExtern(const std::string &name, const std::string &library, const std::string &symbol, std::span<const Tensor *const> arguments, std::span<const TensorRef> results) {
  toy_function function = functionNamed(library, symbol);
  std::vector<Guarded> guards;
  std::vector<toy_tensor> in, out;
  for (const Tensor *t : arguments) {
    if (checkBounds)
      guards.emplace_back(*t, true);
    in.push_back(describe(*t, checkBounds ? guards.back().data() : t->data));
  }
  for (const TensorRef &t : results) {
    if (checkBounds)
      guards.emplace_back(*t, false);
    out.push_back(describe(*t, checkBounds ? guards.back().data() : t->data));
  }
  char message[512] = {};
  toy_call call{TOY_EXTERN_VERSION, static_cast<int32_t>(in.size()), static_cast<int32_t>(out.size()), in.data(), out.data(), message, sizeof message};
  int32_t status = function(&call);
  message[sizeof message - 1] = '\0';
  if (status != 0)
    fail(DiagId::ExternFailed, {name, message[0] ? message : "status " + std::to_string(status)});
  if (checkBounds) {
    for (size_t i = 0; i < guards.size(); ++i) {
      bool isArgument = i < in.size();
      std::string what = (isArgument ? "argument " : "result ") + std::to_string(isArgument ? i + 1 : i - in.size() + 1);
      if (!guards[i].isIntact())
        fail(DiagId::ExternBounds, {name, "outside of " + what});
      if (isArgument && std::memcmp(guards[i].data(), arguments[i]->data, bytesOf(*arguments[i])) != 0)
        fail(DiagId::ExternBounds, {name, "into " + what});
    }
    for (size_t i = 0; i < results.size(); ++i)
      std::memcpy(results[i]->data, guards[in.size() + i].data(), bytesOf(*results[i]));
  }
  for (const TensorRef &t : results)
    if (t->dtype == DType::Bool)
      for (int64_t i = 0; i < t->count(); ++i)
        t->as<uint8_t>()[i] = t->as<uint8_t>()[i] != 0;
}

} // namespace toy::rt

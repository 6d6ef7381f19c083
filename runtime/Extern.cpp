// SPDX-License-Identifier: Apache-2.0
/// \file
/// Opening libraries, calling, and watching over what is written.
#include "runtime/Extern.h"

#include "runtime/Error.h"
#include "runtime/Guard.h"
#include "runtime/Io.h"
#include "runtime/SharedLibrary.h"
#include "runtime/toy_extern.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace toy::rt {
namespace {

static_assert(static_cast<int>(DType::Bool) == TOY_BOOL && static_cast<int>(DType::F32) == TOY_F32 &&
              static_cast<int>(DType::C128) == TOY_C128);

bool checkBounds = false;
constexpr int64_t alignment = 64, fence = 16 << 20; ///< a fence takes addresses, no memory
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

/// A copy of a tensor's memory (the pattern everywhere for a result) that ends, up to the alignment, where pages begin
/// that nobody may touch; others lie before it. An argument's may only be read.
class Guarded {
public:
  Guarded(const Tensor &t, bool isArgument) : bytes(bytesOf(t)) {
    int64_t page = sysconf(_SC_PAGESIZE), padded = (bytes + alignment - 1) / alignment * alignment;
    middle = (padded + page - 1) / page * page;
    whole = middle + 2 * fence;
    void *mapped = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
      throw std::bad_alloc();
    memory = static_cast<unsigned char *>(mapped);
    begin = memory + fence + middle - padded;
    if (mprotect(memory + fence, middle, PROT_READ | PROT_WRITE) != 0) {
      munmap(memory, whole);
      throw std::bad_alloc();
    }
    std::memset(memory + fence, pattern, middle);
    if (isArgument) {
      std::memcpy(begin, t.data, bytes);
      mprotect(memory + fence, middle, PROT_READ);
    }
  }
  Guarded(Guarded &&other)
      : bytes(other.bytes), middle(other.middle), whole(other.whole), memory(std::exchange(other.memory, nullptr)),
        begin(other.begin) {}
  ~Guarded() {
    if (memory)
      munmap(memory, whole);
  }
  unsigned char *data() { return begin; }
  /// Whether the gaps that alignment leaves hold the pattern.
  bool isIntact() const {
    auto clean = [](const unsigned char *p, const unsigned char *end) {
      return std::all_of(p, end, [](unsigned char c) { return c == pattern; });
    };
    return clean(memory + fence, begin) && clean(begin + bytes, memory + fence + middle);
  }
  bool has(const void *address) const { return address >= memory && address < memory + whole; }
  bool hasElement(const void *address) const { return address >= begin && address < begin + bytes; }

private:
  int64_t bytes, middle, whole;
  unsigned char *memory, *begin;
};

/// What a fault at an address says about the memory of a call.
void checkFault(const std::string &name, const std::vector<Guarded> &guards, size_t argumentCount) {
  const void *address = faultAddress();
  for (size_t i = 0; i < guards.size(); ++i)
    if (guards[i].has(address)) {
      std::string what =
          i < argumentCount ? "argument " + std::to_string(i + 1) : "result " + std::to_string(i - argumentCount + 1);
      fail(DiagId::ExternBounds,
           {name, guards[i].hasElement(address) ? "into " + what : "outside of " + what + ", or read there"});
    }
}

/// Calls; a fault or an exception of the function is an error like any other.
int32_t callGuarded(const std::string &name, toy_function function, const toy_call &call,
                    const std::vector<Guarded> &guards) {
  int32_t status = 0;
  std::optional<Error> ended = guarded([&] { status = function(&call); });
  if (!ended)
    return status;
  if (ended->id == DiagId::Fault)
    checkFault(name, guards, call.argument_count);
  if (ended->id == DiagId::Internal)
    fail(DiagId::ExternFailed, {name, "exception: " + ended->args[0]});
  throw *ended;
}

} // namespace

void setCheckBounds(bool on) { checkBounds = on; }

void callExtern(const std::string &name, const std::string &library, const std::string &symbol,
                std::span<const Tensor *const> arguments, std::span<const TensorRef> results) {
  closeKeptFile(); // it may write
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
  toy_call call{TOY_EXTERN_VERSION,
                static_cast<int32_t>(in.size()),
                static_cast<int32_t>(out.size()),
                in.data(),
                out.data(),
                message,
                sizeof message};
  int32_t status = callGuarded(name, function, call, guards);
  message[sizeof message - 1] = '\0';
  if (status != 0)
    fail(DiagId::ExternFailed, {name, message[0] ? message : "status " + std::to_string(status)});
  if (checkBounds) {
    for (size_t i = 0; i < guards.size(); ++i) {
      bool isArgument = i < in.size();
      std::string what =
          (isArgument ? "argument " : "result ") + std::to_string(isArgument ? i + 1 : i - in.size() + 1);
      if (!guards[i].isIntact())
        fail(DiagId::ExternBounds, {name, "outside of " + what});
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

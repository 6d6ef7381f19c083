// SPDX-License-Identifier: Apache-2.0
#include "support/NewFile.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

namespace toy {

/// A name that nobody else chooses; short, because the name to come may be as long as names can be.
static std::string randomName() {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<uint64_t>(::getpid()) << 32 ^ reinterpret_cast<uintptr_t>(&number);
  return fmt::format(".toy-{:016x}", number);
}

static std::string pathOf(const Descriptor &file) { return fmt::format("/proc/self/fd/{}", file.get()); }

NewFile::NewFile(int folder, mode_t mode) : folder(folder) {
#ifdef O_TMPFILE
  file = Descriptor(::openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
  if (file && ::access(pathOf(file).c_str(), F_OK) == 0) // by which it gets its name
    return;
#endif
  std::string name = randomName();
  file = Descriptor(::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (file)
    temporary = name;
}

NewFile::~NewFile() {
  if (!temporary.empty())
    ::unlinkat(folder, temporary.c_str(), 0);
}

bool NewFile::giveName(const std::string &name) {
  if (temporary.empty())
    return ::linkat(AT_FDCWD, pathOf(file).c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  return ::linkat(folder, temporary.c_str(), folder, name.c_str(), 0) == 0; // the destructor takes the other name away
}

bool NewFile::keepAs(const std::string &name, bool replace) {
  if (giveName(name))
    return true;
  if (!replace)
    return false;
  if (temporary.empty()) {
    std::string other = randomName();
    if (!giveName(other))
      return false;
    temporary = other;
  }
  if (::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0)
    return false;
  temporary.clear();
  return true;
}

} // namespace toy

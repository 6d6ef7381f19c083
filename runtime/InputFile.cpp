// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reading of regular files.
#include "runtime/Error.h"
#include "runtime/Io.h"
#include "runtime/Memory.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "runtime/Progress.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace toy::rt {

std::string Bytes::text(int64_t offset, int64_t count) {
  requireMemory(count, "`" + path + "`");
  std::string out(count, '\0');
  read(out.data(), count, offset);
  return out;
}

InputFile::InputFile(std::string name) {
  path = std::move(name);
  auto refuse = [&] { fail(DiagId::CannotOpen, {path, std::strerror(errno)}); };
  auto isFile = [&](const struct stat &info) {
    if (!S_ISREG(info.st_mode))
      fail(DiagId::NotAFile, {path, S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe"});
    bytes = info.st_size;
  };
  if (path.find('\0') != std::string::npos)
    fail(DiagId::CannotOpen, {path, "the name holds a NUL byte"});
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) // opening a device can do things
    refuse();
  isFile(info);
  file = Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &info) != 0)
    refuse();
  isFile(info); // what was opened may be another one
  changed = info.st_mtim;
}

void InputFile::requireUnchanged() const {
  struct stat info;
  if (::fstat(file.get(), &info) != 0)
    fail(DiagId::CannotOpen, {path, std::strerror(errno)});
  if (info.st_size != bytes || info.st_mtim.tv_sec != changed.tv_sec || info.st_mtim.tv_nsec != changed.tv_nsec)
    fail(DiagId::CannotOpen, {path, "it has changed while it was read"});
}

void InputFile::read(void *target, int64_t count, int64_t offset) {
  constexpr int64_t piece = 16 << 20; // until Ctrl-C is looked for
  char *at = static_cast<char *>(target);
  while (count > 0) {
    poll();
    ssize_t n = ::pread(file.get(), at, std::min(count, piece), offset);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      fail(DiagId::CannotOpen, {path, n < 0 ? std::strerror(errno) : "it became shorter while it was read"});
    at += n, count -= n, offset += n;
    noteDone(Activity::Bytes, offset);
  }
}

/// What comes until the end, for files whose size nobody knows before.
static std::string untilEnd(int file, const std::string &name) {
  std::string out;
  char piece[1 << 16];
  while (true) {
    poll();
    pollfd ready{file, POLLIN, 0};
    if (::poll(&ready, 1, 50) == 0)
      continue;
    ssize_t n = ::read(file, piece, sizeof piece);
    if (n < 0 && errno != EINTR)
      fail(DiagId::CannotOpen, {name, std::strerror(errno)});
    if (n == 0)
      return out;
    requireMemory(n, name == "-" ? "standard input" : "`" + name + "`");
    out.append(piece, std::max<ssize_t>(n, 0));
  }
}

std::string readText(const std::string &path) {
  if (path == "-") {
    const Activity quiet(Activity::Quiet);
    flushOutput();
    return untilEnd(STDIN_FILENO, path);
  }
  InputFile file(path);
  // Files that the system makes while they are read (/proc) say that they are empty.
  return file.size() == 0 ? untilEnd(file.descriptor(), path) : file.text(0, file.size());
}

std::string readSource(const std::string &path) {
  InputFile file(path);
  if (file.size() >= (int64_t(1) << 31))
    fail(DiagId::SourceTooLarge, {std::to_string(file.size())});
  return file.text(0, file.size());
}

} // namespace toy::rt

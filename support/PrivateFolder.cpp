// SPDX-License-Identifier: Apache-2.0
#include "support/PrivateFolder.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>

namespace toy {

std::string pathIn(BaseFolder base) {
  const char *given = std::getenv(base.variable), *home = std::getenv("HOME");
  if (given && *given == '/')
    return std::string(given) + "/toy";
  if (home && *home == '/')
    return std::string(home) + "/" + base.inHome + "/toy";
  return "";
}

Descriptor openPrivateFolder(BaseFolder base) {
  std::string path = pathIn(base);
  if (path.empty())
    return {};
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor folder(::open(path.c_str(), flags));
  if (!folder && errno == ENOENT) {
    for (size_t slash = path.find('/', 1); slash != path.npos; slash = path.find('/', slash + 1))
      ::mkdir(path.substr(0, slash).c_str(), 0700);
    ::mkdir(path.c_str(), 0700);
    folder = Descriptor(::open(path.c_str(), flags));
  }
  struct stat info;
  if (!folder || ::fstat(folder.get(), &info) != 0 || info.st_uid != ::geteuid())
    return {};
  if ((info.st_mode & 077) && ::fchmod(folder.get(), 0700) != 0)
    return {};
  return folder;
}

Descriptor openOwnFile(int folder, const std::string &name, int flags, struct stat &info) {
  Descriptor file(::openat(folder, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (!file)
    return {};
  if (::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() && !(info.st_mode & 022))
    return file;
  errno = EPERM;
  return {};
}

bool isTrusted(const struct stat &info) {
  return (info.st_uid == ::geteuid() || info.st_uid == 0) && !(info.st_mode & 022);
}

bool readAll(int file, void *data, size_t bytes) {
  for (char *at = static_cast<char *>(data); bytes > 0;) {
    ssize_t n = ::read(file, at, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n, bytes -= n;
  }
  return true;
}

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    bytes.remove_prefix(n);
  }
  return true;
}

} // namespace toy

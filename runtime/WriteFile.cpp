// SPDX-License-Identifier: Apache-2.0
/// \file
/// Writing of files that a user names.
#include "runtime/Error.h"
#include "runtime/Io.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "support/NewFile.h"
#include "support/PrivateFolder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

namespace toy::rt {
namespace {

using Parts = std::span<const std::string_view>;

/// Where writing to a path ends.
struct Place {
  std::string folder, name;
  int descriptor = -1; ///< of this process, for /dev/stdout and its like
};

class Writer {
public:
  Writer(const std::string &path, Parts parts) : path(path), parts(parts) {}

  void write() {
    if (path.find('\0') != path.npos)
      refuse("the name holds a NUL byte");
    struct stat info;
    bool exists = ::stat(path.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
      refuse("it is a folder");
    Place place = follow();
    if (place.descriptor >= 0)
      return toDescriptor(place.descriptor);
    if (exists && !S_ISREG(info.st_mode))
      return toDevice(S_ISFIFO(info.st_mode));
    replace(place, exists ? &info : nullptr);
  }

private:
  [[noreturn]] void refuse(const char *why) const { fail(DiagId::CannotWrite, {path, why}); }
  [[noreturn]] void refuse() const { refuse(std::strerror(errno)); }

  /// Follows links as opening would; the last name may be missing.
  Place follow() const {
    std::string at = path, descriptors = fmt::format("/proc/{}/fd", ::getpid());
    for (int links = 0; links < 40; ++links) {
      size_t slash = at.rfind('/');
      Place place{slash == at.npos ? "." : at.substr(0, std::max<size_t>(slash, 1)), at.substr(slash + 1)};
      char real[PATH_MAX], link[PATH_MAX];
      if (!::realpath(place.folder.c_str(), real))
        refuse();
      place.folder = real;
      if (place.folder == descriptors &&
          std::from_chars(place.name.data(), place.name.data() + place.name.size(), place.descriptor).ec == std::errc())
        return place;
      ssize_t length = ::readlink((place.folder + "/" + place.name).c_str(), link, sizeof link);
      if (length < 0)
        return place;
      std::string target(link, length);
      at = target.starts_with("/") ? target : place.folder + "/" + target;
    }
    errno = ELOOP;
    refuse();
  }

  /// Writes all parts, in pieces between which Ctrl-C is heard.
  void put(int file, size_t piece, bool mayWait) const {
    for (std::string_view rest : parts)
      while (!rest.empty()) {
        poll();
        pollfd ready{file, POLLOUT, 0};
        if (mayWait && ::poll(&ready, 1, 50) == 0)
          continue;
        ssize_t n = ::write(file, rest.data(), std::min(rest.size(), piece));
        if (n < 0 && errno != EINTR && errno != EAGAIN)
          refuse();
        rest.remove_prefix(std::max<ssize_t>(n, 0));
      }
  }

  void toDescriptor(int number) const {
    flushOutput();
    Descriptor copy(::fcntl(number, F_DUPFD_CLOEXEC, 0));
    if (!copy)
      refuse();
    put(copy.get(), PIPE_BUF, true); // which fit whenever a pipe says that it has room
  }

  void toDevice(bool isPipe) const {
    flushOutput();
    Descriptor file;
    while (!file) { // a pipe that nobody reads yet
      file = Descriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
      if (!file && !(isPipe && errno == ENXIO) && errno != EINTR)
        refuse();
      poll();
      if (!file)
        ::usleep(5000);
    }
    put(file.get(), 1 << 16, true);
  }

  /// The attributes of the file that is replaced. Where the group cannot be kept, its rights would go to another one:
  /// it gets those of everybody.
  static bool keepAttributes(int file, const struct stat &old) {
    struct stat info;
    if (::fstat(file, &info) != 0)
      return false;
    mode_t mode = old.st_mode & 07777;
    bool sameOwner = info.st_uid == old.st_uid || ::fchown(file, old.st_uid, -1) == 0;
    bool sameGroup = info.st_gid == old.st_gid || ::fchown(file, -1, old.st_gid) == 0;
    if (!sameOwner || !sameGroup)
      mode &= 0777;
    if (!sameGroup)
      mode = (mode & 0707) | (mode & 07) << 3;
    return ::fchmod(file, mode) == 0;
  }

  /// Writes beside the place, then takes it.
  void replace(const Place &place, const struct stat *old) const {
    Descriptor folder(::open(place.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder || (old && ::faccessat(folder.get(), place.name.c_str(), W_OK, AT_EACCESS) != 0))
      refuse();
    if (place.name.empty())
      refuse("it is a folder's name");
    NewFile file(folder.get(), old ? 0600 : 0666);
    if (!file)
      refuse();
    put(file.get(), 1 << 24, false);
    if (old && !keepAttributes(file.get(), *old))
      refuse();
    // Before it replaces something it is on the disk: a machine that stops then has the old file or the new one.
    if (old && ::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS)
      refuse();
    if (!file.keepAs(place.name, /*replace=*/true))
      refuse();
  }

  const std::string &path;
  Parts parts;
};

} // namespace

void appendText(const std::string &path, std::string_view text) {
  closeKeptFile();
  Descriptor file(path.find('\0') == std::string::npos
                      ? ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666)
                      : (errno = EINVAL, -1));
  if (!file || !writeAll(file.get(), text))
    fail(DiagId::CannotWrite, {path, std::strerror(errno)});
}

void writeFile(const std::string &path, Parts parts) {
  closeKeptFile();
  Writer(path, parts).write();
}

} // namespace toy::rt

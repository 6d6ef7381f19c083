// SPDX-License-Identifier: Apache-2.0
/// \file
/// One buffer in front of file descriptor 1.
#include "runtime/Output.h"

#include "runtime/Error.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <unistd.h>

namespace toy::rt {

static std::string &buffer() {
  static std::string *instance = new std::string;
  return *instance;
}

void flushOutput() {
  std::string text;
  text.swap(buffer());
  for (size_t done = 0; done < text.size();) {
    ssize_t n = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      fail(DiagId::OutputFailed, {std::strerror(errno)});
    done += n;
  }
}

void output(std::string_view text) {
  buffer() += text;
  if (buffer().size() > (1 << 16))
    flushOutput();
}

} // namespace toy::rt

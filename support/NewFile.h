// SPDX-License-Identifier: Apache-2.0
/// \file
/// A file that appears under its name when it is whole.
#pragma once

#include "support/Descriptor.h"

#include <string>
#include <sys/types.h>

namespace toy {

/// A file in a folder that has no name while it is written (O_TMPFILE), or a random one where the system cannot: a
/// process that dies while it writes leaves nothing behind. Only between the two calls that put a whole file in the
/// place of another it has a random name, which a kill there leaves. `errno` tells why one is not made.
class NewFile {
public:
  NewFile(int folder, mode_t mode);
  ~NewFile();
  NewFile(const NewFile &) = delete;
  int get() const { return file.get(); }
  explicit operator bool() const { return static_cast<bool>(file); }
  /// Gives the file its name; another file of that name is an error (EEXIST) or makes place.
  bool keepAs(const std::string &name, bool replace);

private:
  bool giveName(const std::string &name);
  int folder;
  Descriptor file;
  std::string temporary; ///< its name so far
};

} // namespace toy

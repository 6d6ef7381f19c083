// SPDX-License-Identifier: Apache-2.0
/// \file
/// Folders and files of the user alone, where the XDG Base Directory Specification puts them.
#pragma once

#include "support/Descriptor.h"

#include <string>
#include <string_view>
#include <sys/stat.h>

namespace toy {

/// A base folder: the environment's variable and what stands for it below $HOME.
struct BaseFolder {
  const char *variable, *inHome;
};
constexpr BaseFolder cacheFolder{"XDG_CACHE_HOME", ".cache"}, stateFolder{"XDG_STATE_HOME", ".local/state"},
    configFolder{"XDG_CONFIG_HOME", ".config"};

/// The path of `toy` in a base folder. Paths that are not absolute are ignored, as the specification says; empty if
/// none is left.
std::string pathIn(BaseFolder base);
/// Opens the folder `toy` of a base folder, made where it is missing: a folder and no link, owned by the effective user
/// and open to nobody else (its mode becomes 0700). Otherwise none.
Descriptor openPrivateFolder(BaseFolder base);
/// Opens a file of such a folder: a regular one and no link, owned by the effective user, that nobody else can write.
/// Never waits; `errno` is ENOENT where there is nothing.
Descriptor openOwnFile(int folder, const std::string &name, int flags, struct stat &info);
/// Whether only the effective user, or the system's administrator, can change what was opened.
bool isTrusted(const struct stat &info);
/// Reads or writes all of it.
bool readAll(int file, void *data, size_t bytes);
bool writeAll(int file, std::string_view bytes);

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Machine code by what it was made from, in memory and on disk.
#pragma once

#include "support/Descriptor.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <sys/stat.h>

namespace toy {

/// Objects are found by a digest of their LLVM IR, the target, the level of optimization and this program. What is read
/// from disk is run, so it has to be what this user's processes wrote under that key: the folder is private, and a file
/// begins with a keyed digest (BLAKE3 as a MAC) of its key and its contents; the secret is 32 random bytes in the same
/// folder. Files appear under their name when they are whole. Whatever is doubtful (another owner, a link, a pipe,
/// damage, the file of another key) is a miss, and so are failures to read or write.
class CodeCache {
public:
  /// `useDisk`: files under $XDG_CACHE_HOME/toy (by default ~/.cache/toy).
  explicit CodeCache(bool useDisk);
  /// The key of a module before it is optimized; `settings` is what else decides its code.
  std::string keyOf(const llvm::Module &module, const std::string &settings);
  /// The key of what has no other name than its contents.
  static std::string keyOf(llvm::StringRef bytes);
  /// Which build of this program's code it is: part of every key.
  const std::string &build() const { return program; }
  /// The object, or null.
  std::unique_ptr<llvm::MemoryBuffer> find(const std::string &key);
  /// Keeps an object, in memory and on disk; older ones go where the folder becomes too large.
  void add(const std::string &key, llvm::MemoryBufferRef object);

private:
  using Digest = std::array<uint8_t, 32>;
  bool readSecret();
  Digest seal(const std::string &key, llvm::StringRef object) const;
  std::unique_ptr<llvm::MemoryBuffer> read(const std::string &key, const Descriptor &file,
                                           const struct stat &info) const;
  void trim();
  std::map<std::string, std::string> recent; ///< objects that were made or read
  size_t recentBytes = 0;
  Descriptor folder; ///< none: no disk
  Digest secret{};
  std::string program; ///< which build this is
};

} // namespace toy

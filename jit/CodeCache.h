// SPDX-License-Identifier: Apache-2.0
/// \file
/// Machine code by what it was made from, in memory and on disk.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>
#include <string>

namespace toy {

/// Objects are found by a digest of their LLVM IR, the target, the level of optimization and this program. Files are written under another name and
/// then renamed, and carry a digest of their own: processes side by side, other versions and damage are no danger. Failures to read or write are misses.
class CodeCache {
public:
  /// `useDisk`: files under $XDG_CACHE_HOME/toy (by default ~/.cache/toy).
  explicit CodeCache(bool useDisk);
  /// The key of a module before it is optimized; `settings` is what else decides its code.
  std::string keyOf(const llvm::Module &module, const std::string &settings);
  /// The object, or null.
  std::unique_ptr<llvm::MemoryBuffer> find(const std::string &key);
  void add(const std::string &key, llvm::MemoryBufferRef object);

private:
  std::string pathOf(const std::string &key) const { return folder + "/" + key; }
  void trim();
  std::map<std::string, std::string> recent; ///< objects that were made or read
  size_t recentBytes = 0;
  std::string folder;  ///< empty: no disk
  std::string program; ///< which build this is
};

} // namespace toy

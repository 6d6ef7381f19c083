// SPDX-License-Identifier: Apache-2.0
/// \file
/// A folder of files named by digests: `toy object 1`, the digest of the object, the object.
#include "jit/CodeCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
namespace fs = std::filesystem;

namespace toy {

constexpr char magic[] = "toy object 1\n";
constexpr size_t digestSize = 32, headerSize = sizeof magic - 1 + digestSize;
constexpr size_t recentLimit = size_t(64) << 20;
constexpr uintmax_t diskLimit = uintmax_t(256) << 20;

static std::string digest(StringRef bytes) {
  BLAKE3 hash;
  hash.update(bytes);
  auto result = hash.final<digestSize>();
  return std::string(reinterpret_cast<const char *>(result.data()), digestSize);
}

CodeCache::CodeCache(bool useDisk) {
  struct stat info {};
  if (::stat("/proc/self/exe", &info) == 0)
    program = std::to_string(info.st_size) + "." + std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + "." + std::to_string(info.st_ino);
  else
    useDisk = false;
  if (!useDisk)
    return;
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  if ((!cache || !*cache) && (!home || !*home))
    return;
  fs::path base = cache && *cache ? fs::path(cache) : fs::path(home) / ".cache";
  std::error_code failed;
  fs::create_directories(base / "toy", failed);
  if (!failed) {
    fs::permissions(base / "toy", fs::perms::owner_all, failed);
    folder = (base / "toy").string();
  }
}

std::string CodeCache::keyOf(const Module &module, const std::string &settings) {
  SmallVector<char, 0> bitcode;
  raw_svector_ostream out(bitcode);
  WriteBitcodeToFile(module, out);
  return toHex(digest(settings + "\n" + program + "\n" + digest({bitcode.data(), bitcode.size()})), /*LowerCase=*/true);
}

std::unique_ptr<MemoryBuffer> CodeCache::find(const std::string &key) {
  if (auto it = recent.find(key); it != recent.end())
    return MemoryBuffer::getMemBufferCopy(it->second, key);
  if (folder.empty())
    return nullptr;
  auto file = MemoryBuffer::getFile(pathOf(key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return nullptr;
  StringRef bytes = (*file)->getBuffer();
  if (bytes.size() < headerSize || !bytes.starts_with(magic) || bytes.substr(sizeof magic - 1, digestSize) != digest(bytes.substr(headerSize))) {
    ::unlink(pathOf(key).c_str()); // damaged: written anew
    return nullptr;
  }
  return MemoryBuffer::getMemBufferCopy(bytes.substr(headerSize), key);
}

void CodeCache::add(const std::string &key, MemoryBufferRef object) {
  StringRef bytes = object.getBuffer();
  if (recentBytes + bytes.size() > recentLimit) {
    recent.clear();
    recentBytes = 0;
  }
  recentBytes += bytes.size();
  recent[key] = bytes.str();
  if (folder.empty())
    return;
  std::string temporary = pathOf(key) + "." + std::to_string(::getpid());
  FILE *file = std::fopen(temporary.c_str(), "wbx");
  if (!file)
    return;
  std::string own = digest(bytes);
  bool ok = std::fwrite(magic, 1, sizeof magic - 1, file) == sizeof magic - 1 && std::fwrite(own.data(), 1, digestSize, file) == digestSize && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  ok = std::fclose(file) == 0 && ok;
  if (!ok || std::rename(temporary.c_str(), pathOf(key).c_str()) != 0)
    ::unlink(temporary.c_str());
  if (own[0] == 0) // once in a while
    trim();
}

/// The oldest files go until the folder is half full.
void CodeCache::trim() {
  std::error_code failed;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  uintmax_t total = 0;
  for (auto &entry : fs::directory_iterator(folder, failed))
    if (entry.is_regular_file(failed)) {
      files.emplace_back(entry.last_write_time(failed), entry.path());
      total += entry.file_size(failed);
    }
  if (total <= diskLimit)
    return;
  std::sort(files.begin(), files.end());
  for (auto &[time, path] : files) {
    if (total <= diskLimit / 2)
      break;
    total -= fs::file_size(path, failed);
    fs::remove(path, failed);
  }
}

} // namespace toy

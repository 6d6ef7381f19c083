// SPDX-License-Identifier: Apache-2.0
/// \file
/// A private folder of files named by digests: `toy object 2`, the keyed digest of name and object, the object; and
/// `key`, the secret.
#include "jit/CodeCache.h"

#include "jit/ReadyKernels.h"

#include "support/NewFile.h"
#include "support/PrivateFolder.h"

#include "llvm-c/blake3.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace llvm;

namespace toy {

constexpr char magic[] = "toy object 2\n", secretName[] = "key";
constexpr size_t digestSize = 32, headerSize = sizeof magic - 1 + digestSize;
constexpr size_t recentLimit = size_t(64) << 20;
constexpr off_t objectLimit = off_t(64) << 20, diskLimit = off_t(256) << 20;

static std::string digest(StringRef bytes) {
  BLAKE3 hash;
  hash.update(bytes);
  auto result = hash.final<digestSize>();
  return std::string(reinterpret_cast<const char *>(result.data()), digestSize);
}

CodeCache::CodeCache(bool useDisk) {
  struct stat info{};
  if (program = linkedBuildId(); program.empty()) {
    if (::stat("/proc/self/exe", &info) != 0)
      return; // one build could take another's code
    program = std::to_string(info.st_size) + "." + std::to_string(info.st_mtim.tv_sec) + "." +
              std::to_string(info.st_mtim.tv_nsec) + "." + std::to_string(info.st_ino);
  }
  if (!useDisk)
    return;
  folder = openPrivateFolder(cacheFolder);
  if (folder && !readSecret())
    folder = Descriptor();
}

/// The first process makes the secret; a file that is doubtful is replaced, which makes every object there is a miss.
bool CodeCache::readSecret() {
  for (int attempt = 0; attempt < 3; ++attempt) {
    struct stat info{};
    if (Descriptor file = openOwnFile(folder.get(), secretName, O_RDONLY, info))
      if (info.st_size == off_t(secret.size()) && !(info.st_mode & 077) &&
          readAll(file.get(), secret.data(), secret.size()))
        return true;
    ::unlinkat(folder.get(), secretName, 0);
    if (::getrandom(secret.data(), secret.size(), 0) != ssize_t(secret.size()))
      return false;
    NewFile made(folder.get(), 0600);
    if (!made || !writeAll(made.get(), toStringRef(ArrayRef(secret))))
      return false;
    made.keepAs(secretName, /*replace=*/false); // or another process was first: its secret is read
  }
  return false;
}

/// Keys have one length, so no key and object read as another pair.
CodeCache::Digest CodeCache::seal(const std::string &key, StringRef object) const {
  llvm_blake3_hasher hash;
  llvm_blake3_hasher_init_keyed(&hash, secret.data());
  llvm_blake3_hasher_update(&hash, key.data(), key.size());
  llvm_blake3_hasher_update(&hash, object.data(), object.size());
  Digest out;
  llvm_blake3_hasher_finalize(&hash, out.data(), out.size());
  return out;
}

std::string CodeCache::keyOf(const Module &module, const std::string &settings) {
  SmallVector<char, 0> bitcode;
  raw_svector_ostream out(bitcode);
  WriteBitcodeToFile(module, out);
  return toHex(digest(settings + "\n" + program + "\n" + digest({bitcode.data(), bitcode.size()})), /*LowerCase=*/true);
}

std::string CodeCache::keyOf(StringRef bytes) { return toHex(digest(bytes), /*LowerCase=*/true); }

/// The object of an open file; null where it is not what `add` wrote.
std::unique_ptr<MemoryBuffer> CodeCache::read(const std::string &key, const Descriptor &file,
                                              const struct stat &info) const {
  if (!file || info.st_size < off_t(headerSize) || info.st_size > objectLimit + off_t(headerSize))
    return nullptr;
  char header[headerSize];
  auto object = WritableMemoryBuffer::getNewUninitMemBuffer(info.st_size - headerSize, key);
  if (!readAll(file.get(), header, headerSize) ||
      !readAll(file.get(), object->getBufferStart(), object->getBufferSize()))
    return nullptr;
  Digest wanted = seal(key, {object->getBufferStart(), object->getBufferSize()});
  bool isOurs = std::equal(magic, magic + sizeof magic - 1, header) &&
                std::equal(wanted.begin(), wanted.end(), reinterpret_cast<uint8_t *>(header) + sizeof magic - 1);
  return isOurs ? std::move(object) : nullptr;
}

std::unique_ptr<MemoryBuffer> CodeCache::find(const std::string &key) {
  if (auto it = recent.find(key); it != recent.end())
    return MemoryBuffer::getMemBufferCopy(it->second, key);
  if (!folder)
    return nullptr;
  struct stat info{};
  Descriptor file = openOwnFile(folder.get(), key, O_RDONLY, info);
  if (!file && errno == ENOENT)
    return nullptr;
  std::unique_ptr<MemoryBuffer> object = read(key, file, info);
  if (!object)
    ::unlinkat(folder.get(), key.c_str(), 0); // it is in the way of a new one
  return object;
}

void CodeCache::add(const std::string &key, MemoryBufferRef object) {
  StringRef bytes = object.getBuffer();
  if (recentBytes + bytes.size() > recentLimit) {
    recent.clear();
    recentBytes = 0;
  }
  recentBytes += bytes.size();
  recent[key] = bytes.str();
  if (!folder || off_t(bytes.size()) > objectLimit)
    return;
  Digest own = seal(key, bytes);
  NewFile file(folder.get(), 0600);
  if (file && writeAll(file.get(), {magic, sizeof magic - 1}) && writeAll(file.get(), toStringRef(ArrayRef(own))) &&
      writeAll(file.get(), bytes))
    file.keepAs(key, /*replace=*/true);
  if (own[0] == 0) // once in a while
    trim();
}

/// The oldest files go until the folder is half full.
void CodeCache::trim() {
  std::vector<std::tuple<time_t, off_t, std::string>> files;
  off_t total = 0;
  DIR *entries = ::fdopendir(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!entries)
    return;
  while (dirent *entry = ::readdir(entries)) {
    struct stat info{};
    if (::fstatat(folder.get(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode) ||
        StringRef(entry->d_name) == secretName)
      continue;
    files.emplace_back(info.st_mtim.tv_sec, info.st_size, entry->d_name);
    total += info.st_size;
  }
  ::closedir(entries);
  if (total <= diskLimit)
    return;
  std::sort(files.begin(), files.end());
  for (auto &[time, size, name] : files) {
    if (total <= diskLimit / 2)
      break;
    total -= size;
    ::unlinkat(folder.get(), name.c_str(), 0);
  }
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
#include "jit/ReadyKernels.h"

#include "jit/SharedKernels.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <set>
#include <sys/stat.h>

using namespace llvm;

namespace toy {

/// `magic`, the build, the number of kernels, a row each in the order of the digests, then the objects.
static constexpr char magic[16] = "toy kernels 1\n";
static constexpr size_t buildLength = 64, alignment = 16;
struct Header {
  char magic[16];
  char build[buildLength];
  uint64_t count;
};
struct Row {
  char digest[digestLength];
  uint64_t offset, size; ///< of the object, in the file
};

std::string linkedBuildId() {
  std::string id;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *out) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto &part = info->dlpi_phdr[i];
          const char *at = reinterpret_cast<const char *>(info->dlpi_addr + part.p_vaddr), *end = at + part.p_memsz;
          while (part.p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
            const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
            const char *name = at + sizeof *note, *text = name + alignTo(note->n_namesz, 4);
            if (note->n_type == NT_GNU_BUILD_ID && StringRef(name, note->n_namesz) == StringRef("GNU", 4))
              *static_cast<std::string *>(out) = toHex(StringRef(text, note->n_descsz), /*LowerCase=*/true);
            at = text + alignTo(note->n_descsz, 4);
          }
        }
        return 1; // the program is the first
      },
      &id);
  return id;
}

/// Whether who could change the program could change a file, and nobody else.
static bool isAsSafeAsProgram(const std::string &path) {
  struct stat program{}, info{};
  return ::stat("/proc/self/exe", &program) == 0 && ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         info.st_uid == program.st_uid && !(info.st_mode & S_IWOTH);
}

static std::vector<std::string> placesOfFile() {
  if (const char *given = std::getenv("TOY_READY_KERNELS"))
    return {given};
  SmallString<128> program;
  if (sys::fs::real_path("/proc/self/exe", program))
    return {};
  std::string folder = sys::path::parent_path(program).str();
  return {folder + "/share/kernels", folder + "/../lib/toy/kernels"};
}

void ReadyKernels::open(const std::vector<std::string> &paths) {
  isOpen = true;
  for (const std::string &path : paths) {
    if (path.empty() || !isAsSafeAsProgram(path))
      continue;
    auto mapped = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!mapped || (*mapped)->getBufferSize() < sizeof(Header))
      continue;
    const auto *header = reinterpret_cast<const Header *>((*mapped)->getBufferStart());
    bool isWhole = header->count <= ((*mapped)->getBufferSize() - sizeof(Header)) / sizeof(Row);
    if (isWhole && std::memcmp(header->magic, magic, sizeof magic) == 0 &&
        StringRef(header->build, strnlen(header->build, buildLength)) == build && !build.empty()) {
      file = std::move(*mapped);
      return;
    }
  }
}

std::unique_ptr<MemoryBuffer> ReadyKernels::find(StringRef digest) {
  if (!isOpen)
    open(placesOfFile());
  if (!file || digest.size() != digestLength)
    return nullptr;
  const auto *header = reinterpret_cast<const Header *>(file->getBufferStart());
  const auto *first = reinterpret_cast<const Row *>(header + 1), *last = first + header->count;
  const auto *row = std::lower_bound(first, last, digest, [](const Row &row, StringRef digest) {
    return StringRef(row.digest, digestLength) < digest;
  });
  if (row == last || StringRef(row->digest, digestLength) != digest || row->offset > file->getBufferSize() ||
      row->size > file->getBufferSize() - row->offset)
    return nullptr;
  return MemoryBuffer::getMemBuffer(StringRef(file->getBufferStart() + row->offset, row->size), digest,
                                    /*RequiresNullTerminator=*/false);
}

bool ReadyKernels::write(const std::string &path, const std::string &build, std::vector<std::string> objects) {
  ReadyKernels before(build);
  before.open({path});
  if (before.file) {
    const auto *header = reinterpret_cast<const Header *>(before.file->getBufferStart());
    std::set<std::string> known;
    for (const Row &row : ArrayRef(reinterpret_cast<const Row *>(header + 1), header->count))
      if (auto object = before.find(StringRef(row.digest, digestLength)))
        known.insert(object->getBuffer().str());
    objects.insert(objects.end(), known.begin(), known.end());
    before.file.reset(); // it is written anew
  }
  std::vector<std::pair<std::string, size_t>> kernels; // and the object of each
  for (auto [i, object] : enumerate(objects))
    for (std::string &digest : ObjectKernels(MemoryBufferRef(object, "kernels")).defined)
      kernels.emplace_back(std::move(digest), i);
  llvm::sort(kernels);
  std::vector<uint64_t> offsets;
  uint64_t end = sizeof(Header) + kernels.size() * sizeof(Row);
  for (const std::string &object : objects) {
    offsets.push_back(alignTo(end, alignment));
    end = offsets.back() + object.size();
  }
  std::error_code error;
  raw_fd_ostream out(path, error);
  if (error || build.empty() || build.size() > buildLength)
    return false;
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  std::copy(build.begin(), build.end(), header.build);
  header.count = kernels.size();
  out.write(reinterpret_cast<const char *>(&header), sizeof header);
  for (const auto &[digest, object] : kernels) {
    Row row{{}, offsets[object], objects[object].size()};
    std::copy(digest.begin(), digest.end(), row.digest);
    out.write(reinterpret_cast<const char *>(&row), sizeof row);
  }
  for (auto [i, object] : enumerate(objects))
    out.write_zeros(offsets[i] - out.tell()) << object;
  out.flush();
  return !out.has_error();
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// NumPy's `.npz`: a zip archive (APPNOTE.TXT 6.3) of `.npy` files, stored or deflated, with 64-bit sizes where they
/// are needed.
#include "runtime/Io.h"

#include "runtime/Error.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"

#include <algorithm>
#include <cstring>
#include <zlib.h>

namespace toy::rt {
namespace {

[[noreturn]] void bad(const Bytes &file, const char *why) {
  fail(DiagId::MalformedFile, {file.getPath(), ".npz", why});
}

/// Little-endian numbers of a text.
class Reader {
public:
  Reader(const Bytes &file, std::string_view text) : file(file), text(text) {}
  uint64_t number(size_t at, int width) const {
    if (at + width > text.size())
      bad(file, "an entry is cut off");
    uint64_t n = 0;
    for (int i = width; i-- > 0;)
      n = n << 8 | static_cast<unsigned char>(text[at + i]);
    return n;
  }
  std::string_view slice(size_t at, size_t count) const {
    if (at > text.size() || count > text.size() - at)
      bad(file, "an entry is cut off");
    return text.substr(at, count);
  }

private:
  const Bytes &file;
  std::string_view text;
};

/// What an entry's record says of its contents.
struct Record {
  uint64_t begin, packed, plain, crc;
  bool isDeflated;
};

/// The contents of an entry, read in order and never held as a whole: what a header declares takes memory only as the
/// array that it becomes.
class Member : public Bytes {
public:
  Member(Bytes &file, const Record &record) : file(file), record(record), at(record.begin), left(record.packed) {
    path = file.getPath();
    bytes = static_cast<int64_t>(record.plain);
    // No deflated byte gives more than 1032 (RFC 1951: a match of 258 in two bits).
    bool isPossible = record.isDeflated ? record.plain / 1032 <= record.packed : record.plain == record.packed;
    if (!isPossible || record.plain > INT64_MAX)
      bad(file, "an entry's sizes contradict each other");
    if (record.isDeflated && inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      bad(file, "an entry cannot be inflated");
  }
  ~Member() override { inflateEnd(&stream); }
  Member(const Member &) = delete;

  void read(void *target, int64_t count, int64_t offset) override {
    if (offset != done || count > bytes - done)
      bad(file, "an entry is cut off");
    char *to = static_cast<char *>(target);
    for (int64_t rest = count; rest > 0;) {
      poll();
      int64_t piece = std::min<int64_t>(rest, 1 << 24);
      if (record.isDeflated)
        inflatePiece(to, piece);
      else
        take(to, piece);
      crc = crc32_z(crc, reinterpret_cast<const Bytef *>(to), piece);
      to += piece, rest -= piece;
    }
    done += count;
  }

  /// What lies behind the array is read as well: the checksum is one of everything.
  void finish() {
    char rest[1 << 12];
    while (done < bytes)
      read(rest, std::min<int64_t>(sizeof rest, bytes - done), done);
    Bytef more;
    stream.next_out = &more, stream.avail_out = 1;
    while (record.isDeflated && stream.avail_out > 0 && inflateStep() == Z_OK)
      continue;
    if (record.isDeflated && (state != Z_STREAM_END || stream.avail_out == 0))
      bad(file, "an entry cannot be inflated");
    if (crc != record.crc)
      bad(file, "a checksum is wrong");
  }

private:
  /// The next bytes of the file.
  void take(void *to, int64_t count) {
    file.read(to, count, static_cast<int64_t>(at));
    at += count, left -= count;
  }
  /// One step, with bytes to read if there are any.
  int inflateStep() {
    if (stream.avail_in == 0 && left > 0) {
      int64_t count = static_cast<int64_t>(std::min<uint64_t>(left, sizeof input));
      take(input, count);
      stream.next_in = input, stream.avail_in = static_cast<uInt>(count);
    }
    return state == Z_STREAM_END ? state : state = inflate(&stream, Z_NO_FLUSH);
  }
  void inflatePiece(char *to, int64_t count) {
    stream.next_out = reinterpret_cast<Bytef *>(to), stream.avail_out = static_cast<uInt>(count);
    while (stream.avail_out > 0)
      if (inflateStep() != Z_OK && (state != Z_STREAM_END || stream.avail_out > 0))
        bad(file, "an entry cannot be inflated");
  }

  Bytes &file;
  Record record;
  z_stream stream = {};
  int state = Z_OK;
  uint64_t at, left; ///< in the file
  int64_t done = 0;
  uLong crc = 0;
  Bytef input[1 << 15];
};

void put(std::string &out, uint64_t n, int width) {
  for (int i = 0; i < width; ++i)
    out += static_cast<char>(n >> (8 * i));
}

} // namespace

std::vector<NamedTensor> readNpz(Bytes &file, const std::string &wanted, std::vector<ArrayHeader> *only) {
  // The end record is within the last 64 KiB, after at most a comment.
  int64_t tailSize = std::min<int64_t>(file.size(), (1 << 16) + 22);
  std::string tail = file.text(file.size() - tailSize, tailSize);
  size_t end = tail.rfind("PK\5\6");
  if (end == std::string::npos)
    bad(file, "it is no zip archive");
  Reader last(file, std::string_view(tail).substr(end));
  uint64_t entries = last.number(10, 2), size = last.number(12, 4), offset = last.number(16, 4);
  if (offset == 0xffffffff || entries == 0xffff || size == 0xffffffff) {
    size_t locator = tail.rfind("PK\6\7", end);
    if (locator == std::string::npos)
      bad(file, "its 64-bit directory is missing");
    uint64_t at = Reader(file, std::string_view(tail).substr(locator)).number(8, 8);
    if (at > static_cast<uint64_t>(file.size()) || file.size() - at < 56)
      bad(file, "its directory is cut off");
    std::string record = file.text(at, 56);
    Reader wide(file, record);
    entries = wide.number(32, 8), size = wide.number(40, 8), offset = wide.number(48, 8);
  }
  if (offset > static_cast<uint64_t>(file.size()) || size > file.size() - offset)
    bad(file, "its directory is cut off");
  std::string directoryText = file.text(offset, size);
  Reader directory(file, directoryText);
  std::vector<NamedTensor> out;
  size_t at = 0;
  for (uint64_t i = 0; i < entries; ++i) {
    if (directory.slice(at, 4) != "PK\1\2")
      bad(file, "its directory is malformed");
    uint64_t flags = directory.number(at + 8, 2), method = directory.number(at + 10, 2),
             crc = directory.number(at + 16, 4), packed = directory.number(at + 20, 4),
             plain = directory.number(at + 24, 4);
    uint64_t nameSize = directory.number(at + 28, 2), extraSize = directory.number(at + 30, 2),
             commentSize = directory.number(at + 32, 2), local = directory.number(at + 42, 4);
    std::string name(directory.slice(at + 46, nameSize));
    std::string_view extra = directory.slice(at + 46 + nameSize, extraSize);
    for (size_t e = 0; e + 4 <= extra.size();) { // 64-bit sizes
      Reader field(file, extra);
      uint64_t id = field.number(e, 2), length = field.number(e + 2, 2);
      size_t v = e + 4;
      if (id == 1)
        for (uint64_t *value : {&plain, &packed, &local})
          if (*value == 0xffffffff) {
            *value = field.number(v, 8);
            v += 8;
          }
      e += 4 + length;
    }
    at += 46 + nameSize + extraSize + commentSize;
    if (flags & 1)
      bad(file, "it is encrypted");
    if (local > static_cast<uint64_t>(file.size()) || file.size() - local < 30)
      bad(file, "an entry is cut off");
    std::string headText = file.text(local, 30);
    Reader head(file, headText);
    uint64_t begin = local + 30 + head.number(26, 2) + head.number(28, 2);
    if (head.slice(0, 4) != "PK\3\4" || begin > static_cast<uint64_t>(file.size()) || packed > file.size() - begin)
      bad(file, "an entry is cut off");
    if (!name.ends_with(".npy"))
      continue;
    if (method != 0 && method != 8)
      bad(file, "an entry is compressed by a method other than deflate");
    name.resize(name.size() - 4);
    if (!wanted.empty() && name != wanted)
      continue;
    Member member(file, {begin, packed, plain, crc, method == 8});
    if (only) {
      readNpy(member, &only->emplace_back());
      only->back().name = std::move(name);
      continue;
    }
    TensorRef tensor = readNpy(member);
    member.finish();
    out.push_back({std::move(name), std::move(tensor)});
  }
  return out;
}

FileParts npzParts(const std::string &path, std::span<const NamedTensor> tensors) {
  FileParts parts;
  std::string directory;
  for (const auto &[given, tensor] : tensors) {
    std::string name = given + ".npy", header = npyHeader(path, *tensor);
    uint64_t bytes = tensor->count() * sizeOf(tensor->dtype), size = header.size() + bytes, local = parts.size();
    uLong crc = crc32_z(crc32_z(0, reinterpret_cast<const Bytef *>(header.data()), header.size()),
                        static_cast<const Bytef *>(tensor->data), bytes);
    auto common =
        [&](std::string &to) { // version, flags, method, time and date (1980-01-01), checksum, sizes by the extra field
          put(to, 45, 2), put(to, 0x800, 2), put(to, 0, 2), put(to, 0, 2), put(to, 0x21, 2), put(to, crc, 4),
              put(to, 0xffffffff, 4), put(to, 0xffffffff, 4);
        };
    std::string out = "PK\3\4";
    common(out);
    put(out, name.size(), 2), put(out, 20, 2);
    out += name;
    put(out, 1, 2), put(out, 16, 2), put(out, size, 8), put(out, size, 8);
    parts.add(std::move(out += header));
    parts.add(*tensor);
    directory += "PK\1\2";
    put(directory, 45, 2);
    common(directory);
    put(directory, name.size(), 2), put(directory, 28, 2), put(directory, 0, 2), put(directory, 0, 2),
        put(directory, 0, 2), put(directory, 0, 4), put(directory, 0xffffffff, 4);
    directory += name;
    put(directory, 1, 2), put(directory, 24, 2), put(directory, size, 8), put(directory, size, 8),
        put(directory, local, 8);
  }
  uint64_t offset = parts.size(), count = tensors.size();
  std::string out = directory + "PK\6\6";
  put(out, 44, 8), put(out, 45, 2), put(out, 45, 2), put(out, 0, 4), put(out, 0, 4), put(out, count, 8),
      put(out, count, 8), put(out, directory.size(), 8), put(out, offset, 8);
  uint64_t record = offset + directory.size();
  out += "PK\6\7";
  put(out, 0, 4), put(out, record, 8), put(out, 1, 4);
  out += "PK\5\6";
  put(out, 0, 2), put(out, 0, 2), put(out, std::min<uint64_t>(count, 0xffff), 2),
      put(out, std::min<uint64_t>(count, 0xffff), 2), put(out, std::min<uint64_t>(directory.size(), 0xffffffff), 4);
  put(out, 0xffffffff, 4), put(out, 0, 2);
  parts.add(std::move(out));
  return parts;
}

} // namespace toy::rt

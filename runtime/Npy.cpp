// SPDX-License-Identifier: Apache-2.0
/// \file
/// NumPy's `.npy` format, versions 1 to 3 (numpy.lib.format), and raw binary files.
#include "runtime/Io.h"

#include "runtime/Error.h"
#include "runtime/Memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

namespace toy::rt {

namespace {

/// The header's dictionary, read strictly.
struct NpyHeader {
  DType dtype = DType::F64;
  bool bigEndian = false, fortran = false;
  std::vector<int64_t> shape;
};

class HeaderParser {
public:
  HeaderParser(const std::string &path, std::string_view text) : path(path), text(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr" && !descr)
        descr = true, readDType(header);
      else if (key == "fortran_order" && !order)
        order = true, header.fortran = boolean();
      else if (key == "shape" && !shape)
        shape = true, header.shape = tuple();
      else
        bad("unexpected key in the header");
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !order || !shape)
      bad("the header lacks a key");
    return header;
  }
  [[noreturn]] void bad(const char *why) const { fail(DiagId::MalformedFile, {path, ".npy", why}); }

private:
  void skip() {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text[0])))
      text.remove_prefix(1);
  }
  bool accept(char c) {
    skip();
    if (text.empty() || text[0] != c)
      return false;
    text.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      bad("the header is not a dictionary of descr, fortran_order and shape");
  }
  std::string string() {
    skip();
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
      bad("the header is not a dictionary of descr, fortran_order and shape");
    size_t close = text.find(text[0], 1);
    if (close == std::string_view::npos)
      bad("the header is cut off");
    std::string out(text.substr(1, close - 1));
    text.remove_prefix(close + 1);
    return out;
  }
  bool boolean() {
    skip();
    for (auto [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
      if (text.starts_with(word)) {
        text.remove_prefix(word.size());
        return value;
      }
    bad("fortran_order is neither True nor False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> out;
    expect('(');
    while (!accept(')')) {
      skip();
      int64_t n = 0;
      size_t digits = 0;
      for (; digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])); ++digits)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, text[digits] - '0', &n))
          bad("a size is too large");
      if (digits == 0)
        bad("the shape is not a tuple of sizes");
      text.remove_prefix(digits);
      out.push_back(n);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    if (out.size() > 64)
      bad("too many axes");
    return out;
  }
  void readDType(NpyHeader &header) {
    skip();
    if (text.starts_with("["))
      fail(DiagId::UnsupportedDType, {path, "a record"});
    std::string descr = string();
    char order = descr.empty() ? '?' : descr[0];
    header.bigEndian = order == '>';
    static constexpr std::pair<std::string_view, DType> names[] = {
        {"b1", DType::Bool}, {"u1", DType::U8},  {"i4", DType::I32}, {"i8", DType::I64},  {"f2", DType::F16},
        {"f4", DType::F32},  {"f8", DType::F64}, {"c8", DType::C64}, {"c16", DType::C128}};
    if (order == '<' || order == '>' || order == '|' || order == '=')
      for (auto [name, dtype] : names)
        if (descr.substr(1) == name) {
          header.dtype = dtype;
          return;
        }
    fail(DiagId::UnsupportedDType, {path, descr});
  }

  const std::string &path;
  std::string_view text;
};

/// Column-major elements to row-major.
TensorRef fromFortran(const Tensor &columnMajor, std::span<const int64_t> shape) {
  TensorRef out(newTensor(columnMajor.dtype, shape));
  int64_t width = sizeOf(columnMajor.dtype), count = out->count();
  std::vector<int64_t> index(shape.size(), 0), stride(shape.size(), 1);
  for (size_t i = 1; i < shape.size(); ++i)
    stride[i] = stride[i - 1] * shape[i - 1];
  int64_t source = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out->as<char>() + i * width, columnMajor.as<char>() + source * width, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      source += stride[axis];
      if (++index[axis] < shape[axis])
        break;
      source -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return out;
}

} // namespace

TensorRef readNpy(Bytes &file, ArrayHeader *only) {
  const std::string &path = file.getPath();
  unsigned char start[12] = {};
  HeaderParser refuse(path, "");
  if (file.size() < 10)
    refuse.bad("it is shorter than a header");
  file.read(start, 10, 0);
  if (std::memcmp(start, "\x93NUMPY", 6) != 0)
    refuse.bad("it does not start with the magic of the format");
  if (start[6] < 1 || start[6] > 3)
    refuse.bad("its version is unknown");
  int64_t lengthBytes = start[6] == 1 ? 2 : 4;
  if (lengthBytes == 4) {
    if (file.size() < 12)
      refuse.bad("it is shorter than a header");
    file.read(start + 10, 2, 10); // each byte once, in order
  }
  int64_t length = start[8] | start[9] << 8;
  if (lengthBytes == 4)
    length |= int64_t(start[10]) << 16 | int64_t(start[11]) << 24;
  int64_t begin = 8 + lengthBytes;
  if (length > file.size() - begin)
    refuse.bad("the header is cut off");
  if (length > (1 << 20))
    refuse.bad("the header is larger than 1 MiB");
  std::string text(length, '\0');
  file.read(text.data(), length, begin);
  NpyHeader header = HeaderParser(path, text).parse();
  int64_t available = file.size() - begin - length, count = 1;
  bool tooLarge = false;
  for (int64_t n : header.shape)
    tooLarge |= __builtin_mul_overflow(count, n, &count);
  if (std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end())
    count = 0, tooLarge = false;
  if (tooLarge || count > available / sizeOf(header.dtype))
    refuse.bad("it is shorter than its shape says");
  if (only) {
    const bool isInRows = !header.fortran || header.shape.size() < 2;
    *only = {"", header.dtype, std::move(header.shape), isInRows ? begin + length : -1, header.bigEndian};
    return {};
  }
  TensorRef tensor(newTensor(header.dtype, header.shape));
  readElements(file, header.dtype, header.bigEndian, tensor->data, count * sizeOf(header.dtype), begin + length);
  return header.fortran && header.shape.size() > 1 ? fromFortran(*tensor, header.shape) : tensor;
}

std::string npyHeader(const std::string &path, const Tensor &t) {
  static constexpr const char *names[numDTypes] = {"|b1", "|u1", "<i4", "<i8", nullptr,
                                                   "<f2", "<f4", "<f8", "<c8", "<c16"};
  const char *descr = names[static_cast<int>(t.dtype)];
  if (!descr)
    fail(DiagId::FormatWithoutDType, {path, std::string(nameOf(t.dtype))});
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                   fmt::join(t.shape(), ", "), t.rank == 1 ? "," : "");
  size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.resize(total - 11, ' ');
  header += '\n';
  std::string start = "\x93NUMPY\x01";
  start += '\0';
  start += static_cast<char>(header.size() & 255);
  start += static_cast<char>(header.size() >> 8);
  return start + header;
}

namespace {

/// The file that was read last, with a piece of it.
struct KeptFile {
  std::optional<InputFile> file;
  std::string name;
  std::chrono::steady_clock::time_point opened;
  std::vector<char> piece;
  int64_t start = 0; ///< of the piece

  static KeptFile &instance() {
    static KeptFile kept;
    return kept;
  }

  InputFile &open(const std::string &path) {
    auto now = std::chrono::steady_clock::now();
    if (!file || name != path || now - opened > std::chrono::milliseconds(1)) {
      close();
      file.emplace(path);
      name = path;
      opened = now;
    }
    return *file;
  }
  void close() {
    file.reset();
    piece.clear();
  }
  void read(void *target, int64_t count, int64_t offset) {
    constexpr int64_t most = 1 << 16;
    if (count > most / 4)
      return file->read(target, count, offset);
    if (offset < start || offset + count > start + static_cast<int64_t>(piece.size())) {
      piece.resize(std::min(most, file->size() - offset));
      start = offset;
      try {
        file->read(piece.data(), static_cast<int64_t>(piece.size()), start);
      } catch (...) {
        piece.clear();
        throw;
      }
    }
    std::memcpy(target, piece.data() + (offset - start), count);
  }
};

} // namespace

void closeKeptFile() { KeptFile::instance().close(); }

TensorRef readBinary(const std::string &path, DType dtype, std::span<const int64_t> shape, int64_t offset) {
  KeptFile &kept = KeptFile::instance();
  InputFile &file = kept.open(path);
  int64_t count = checkedCount(shape, dtype), bytes = count * sizeOf(dtype), end;
  if (offset < 0 || __builtin_add_overflow(offset, bytes, &end) || end > file.size())
    fail(DiagId::FileTooShort,
         {path, std::to_string(file.size()), offset < 0 ? "an offset of 0 or more" : std::to_string(end)});
  TensorRef tensor(newTensor(dtype, shape));
  kept.read(tensor->data, bytes, offset);
  if (dtype == DType::Bool)
    for (int64_t i = 0; i < count; ++i)
      tensor->as<uint8_t>()[i] = tensor->as<uint8_t>()[i] != 0;
  return tensor;
}

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tensors in files.
#pragma once

#include "runtime/Progress.h"
#include "runtime/Value.h"
#include "support/CsvOptions.h"
#include "support/Descriptor.h"

#include <ctime>
#include <deque>
#include <span>

namespace toy::rt {

/// Arrays of a file, by suffix: `.npy` and `.png` and `.csv` hold one without a name, `.npz` and `.safetensors` any
/// number with names. Sizes are checked against the file before anything is allocated; every failure names file and
/// reason.
struct NamedTensor {
  std::string name;
  TensorRef tensor;
};
/// All arrays, or those of a name where one is given and the format has names: others are not read then.
std::vector<NamedTensor> loadAll(const std::string &path, const CsvOptions &csv = {}, const std::string &name = "");
/// The same arrays; the elements of those that stand in the file as they do in memory are read when somebody asks for
/// them. A file that has changed until then is an error.
std::vector<NamedTensor> openAll(const std::string &path, const CsvOptions &csv = {}, const std::string &name = "");
/// Elements from `starts` on, so many of each axis in `steps`; of those in a file no others are read, or held.
TensorRef partOf(const Tensor &x, std::span<const int64_t> starts, std::span<const int64_t> counts,
                 std::span<const int64_t> steps);
/// What a file holds. Where the format says so at its beginning, the elements are not read.
struct ArrayHeader {
  std::string name;
  DType dtype = DType::F64;
  std::vector<int64_t> shape;
  int64_t begin = -1;     ///< where its elements stand as they do in memory, row by row; -1: they do not
  bool isSwapped = false; ///< but for the order of their bytes
};
std::vector<ArrayHeader> headersOf(const std::string &path, const CsvOptions &csv = {});
/// The only array of a file, or the one with a name.
/// The array of that name, or the only one where there is no name; an error says which names the file has.
TensorRef oneOf(std::span<const NamedTensor> all, const std::string &path, const std::string &name,
                const CsvOptions &csv);
TensorRef load(const std::string &path, const std::string &name = "", const CsvOptions &csv = {});
/// Writes by `writeFile`.
void save(const std::string &path, std::span<const NamedTensor> tensors);
/// A column of a table: a vector of numbers, or a list of strings.
using NamedColumn = std::pair<std::string, Value>;
void saveTable(const std::string &path, std::span<const NamedColumn> columns);
/// `shape` elements in little-endian order from byte `offset`. The file stays open for a millisecond, so that a loop
/// over records opens it once; what this process writes is seen at once.
TensorRef readBinary(const std::string &path, DType dtype, std::span<const int64_t> shape, int64_t offset);

/// Bytes with a name for messages.
class Bytes {
public:
  virtual ~Bytes() = default;
  int64_t size() const { return bytes; }
  const std::string &getPath() const { return path; }
  /// Reads exactly `count` bytes from `offset`.
  virtual void read(void *target, int64_t count, int64_t offset) = 0;
  /// The same as text; the memory limit is asked first.
  std::string text(int64_t offset, int64_t count);

protected:
  std::string path;
  int64_t bytes = 0;
};

/// A regular file opened for reading; throws for folders, devices, pipes and missing files, and never waits for any.
class InputFile : public Bytes {
public:
  explicit InputFile(std::string path);
  InputFile(const InputFile &) = delete;
  void read(void *target, int64_t count, int64_t offset) override;
  int descriptor() const { return file.get(); }
  /// Fails where the file is not what it was when it was opened.
  void requireUnchanged() const;

private:
  Descriptor file;
  timespec changed;
};

/// One that is read as a whole, which a terminal shows where it takes long.
class LoadedFile : public InputFile {
public:
  explicit LoadedFile(const std::string &path)
      : InputFile(path), activity(Activity::Bytes, path.substr(path.rfind('/') + 1), size()) {}

private:
  Activity activity;
};

/// Files that stay open are closed, because one may have changed.
void closeKeptFile();

/// All of a file, or of standard input where the path is `-`; Ctrl-C ends waiting for it.
std::string readText(const std::string &path);
/// Puts a text behind what a file holds, which is made where there is none.
void appendText(const std::string &path, std::string_view text);

/// The text of a program. Throws where it is too large.
std::string readSource(const std::string &path);

class MemoryBytes : public Bytes {
public:
  MemoryBytes(std::string name, std::string contents) : contents(std::move(contents)) {
    path = std::move(name);
    bytes = static_cast<int64_t>(this->contents.size());
  }
  void read(void *target, int64_t count, int64_t offset) override {
    contents.copy(static_cast<char *>(target), count, offset);
  }

private:
  std::string contents;
};

/// What is to be written: texts, and elements where tensors hold them, which live as long.
class FileParts {
public:
  void add(std::string text) {
    bytes += text.size();
    parts.emplace_back(texts.emplace_back(std::move(text)));
  }
  void add(const Tensor &tensor) {
    parts.emplace_back(tensor.as<char>(), static_cast<size_t>(tensor.count() * sizeOf(tensor.dtype)));
    bytes += parts.back().size();
  }
  size_t size() const { return bytes; }
  std::span<const std::string_view> all() const { return parts; }

private:
  std::deque<std::string> texts;
  std::vector<std::string_view> parts;
  size_t bytes = 0;
};

/// Elements as they are in memory, from those of a file: bytes in another order are swapped, truths are 0 or 1.
void readElements(Bytes &file, DType dtype, bool isSwapped, void *to, int64_t bytes, int64_t offset);

// Formats. With `only`, the headers are read, and nothing is given back; with a name, that array alone.
TensorRef readNpy(Bytes &file, ArrayHeader *only = nullptr);
/// Header and data of an `.npy` file: the header alone; the data follow as they are.
std::string npyHeader(const std::string &path, const Tensor &tensor);
std::vector<NamedTensor> readNpz(Bytes &file, const std::string &wanted = "", std::vector<ArrayHeader> *only = nullptr);
FileParts npzParts(const std::string &path, std::span<const NamedTensor> tensors);
std::vector<NamedTensor> readSafetensors(Bytes &file, const std::string &wanted = "",
                                         std::vector<ArrayHeader> *only = nullptr);
FileParts safetensorsParts(const std::string &path, std::span<const NamedTensor> tensors);
/// A matrix of numbers, f64 or c128.
TensorRef readCsv(Bytes &file, const CsvOptions &options = {});
/// Columns by the names in the first line: vectors of numbers, or lists of strings where a cell is none.
std::vector<NamedColumn> readCsvTable(Bytes &file, const CsvOptions &options);
/// A column of a table by its name: numbers if all of its cells are, or texts.
Value loadColumn(const std::string &path, const std::string &name, const CsvOptions &options, bool asTexts = false);
std::string csvText(const std::string &path, const Tensor &tensor);
/// A line of names above the columns, which are of one length.
std::string csvTableText(const std::string &path, std::span<const NamedColumn> columns);
TensorRef readPng(Bytes &file);
/// Grey [H, W], or [H, W, 1, 3 or 4]; floats from 0 to 1; complex values by domain colouring.
std::string pngText(const std::string &path, const Tensor &tensor);
/// Rows of colours, 3 bytes a pixel, of an image or a complex matrix.
std::string imageColours(const std::string &what, const Tensor &tensor, int64_t &height, int64_t &width);

/// Every file that a user names is written by this. A regular file, or one that is not there, is written beside its
/// place and then put there: readers see the old or the new file, never a part, and a write that fails or is
/// interrupted changes nothing. The mode stays, and the owner where the system allows it; links are followed. Devices,
/// pipes and open descriptors (/dev/stdout) are written directly, behind what was printed.
void writeFile(const std::string &path, std::span<const std::string_view> parts);
inline void writeFile(const std::string &path, std::initializer_list<std::string_view> parts) {
  writeFile(path, std::span(parts.begin(), parts.size()));
}

} // namespace toy::rt

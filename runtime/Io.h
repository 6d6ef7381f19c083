// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tensors in files.
#pragma once

#include "runtime/Value.h"

namespace toy::rt {

/// A tensor from a file, by suffix (`.npy`). Sizes are checked against the file before anything is allocated; every failure names file and reason.
TensorRef load(const std::string &path);
/// Writes a tensor, by suffix (`.npy`), to a new file that then takes the name: readers see the old or the new file, never a part.
void save(const std::string &path, const Tensor &tensor);
/// `shape` elements in little-endian order from byte `offset`.
TensorRef readBinary(const std::string &path, DType dtype, std::span<const int64_t> shape, int64_t offset);

/// A regular file opened for reading; throws for folders, devices and missing files.
class InputFile {
public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  int64_t size() const { return bytes; }
  const std::string &getPath() const { return path; }
  /// Reads exactly `count` bytes from `offset`.
  void read(void *target, int64_t count, int64_t offset);

private:
  std::string path;
  int descriptor;
  int64_t bytes;
};

/// Writes `text` and then `data` to `path` atomically.
void writeAtomically(const std::string &path, std::string_view text, const void *data, int64_t bytes);

} // namespace toy::rt

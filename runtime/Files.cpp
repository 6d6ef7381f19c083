// SPDX-License-Identifier: Apache-2.0
/// \file
/// Formats by suffix.
#include "runtime/Io.h"

#include "runtime/Error.h"
#include "runtime/Memory.h"

#include <fmt/format.h>

namespace toy::rt {

std::vector<NamedTensor> loadAll(const std::string &path) {
  InputFile file(path); // a missing file is the most useful message
  if (path.ends_with(".npy"))
    return {{"", readNpy(file)}};
  if (path.ends_with(".npz"))
    return readNpz(file);
  if (path.ends_with(".safetensors"))
    return readSafetensors(file);
  if (path.ends_with(".csv"))
    return {{"", readCsv(file)}};
  if (path.ends_with(".png"))
    return {{"", readPng(file)}};
  fail(DiagId::UnknownFormat, {path});
}

TensorRef load(const std::string &path, const std::string &name) {
  std::vector<NamedTensor> all = loadAll(path);
  if (name.empty() && all.size() == 1)
    return all[0].tensor;
  std::string names;
  for (NamedTensor &entry : all) {
    if (!name.empty() && entry.name == name)
      return entry.tensor;
    names += (names.empty() ? "" : ", ") + entry.name;
    if (names.size() > 200) {
      names += ", …";
      break;
    }
  }
  fail(DiagId::NoSuchArray, {path, name.empty() ? "" : " `" + name + "`", names.empty() ? "none" : names});
}

void save(const std::string &path, std::span<const NamedTensor> tensors) {
  for (const NamedTensor &entry : tensors)
    onHost(*entry.tensor);
  bool named = path.ends_with(".npz") || path.ends_with(".safetensors");
  if (named)
    return writeFile(path, {path.ends_with(".npz") ? npzText(path, tensors) : safetensorsText(path, tensors)});
  bool known = path.ends_with(".npy") || path.ends_with(".csv") || path.ends_with(".png");
  if (!known)
    fail(DiagId::UnknownFormat, {path});
  if (tensors.size() != 1)
    fail(DiagId::CannotWrite, {path, "the format holds one array"});
  const Tensor &t = *tensors[0].tensor;
  if (path.ends_with(".npy"))
    return writeFile(path, {npyHeader(path, t), {t.as<char>(), static_cast<size_t>(t.count() * sizeOf(t.dtype))}});
  writeFile(path, {path.ends_with(".csv") ? csvText(path, t) : pngText(path, t)});
}

} // namespace toy::rt

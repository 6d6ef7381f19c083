// SPDX-License-Identifier: Apache-2.0
/// \file
/// Formats by suffix.
#include "runtime/Io.h"

#include "runtime/Error.h"
#include "runtime/Memory.h"

#include <fmt/format.h>

namespace toy::rt {

std::vector<NamedTensor> loadAll(const std::string &path, const CsvOptions &csv, const std::string &name) {
  LoadedFile file(path); // a missing file is the most useful message
  if (path.ends_with(".npy"))
    return {{"", readNpy(file)}};
  if (path.ends_with(".npz"))
    return readNpz(file, name);
  if (path.ends_with(".safetensors"))
    return readSafetensors(file, name);
  if (path.ends_with(".csv"))
    return {{"", readCsv(file, csv)}};
  if (path.ends_with(".png"))
    return {{"", readPng(file)}};
  fail(DiagId::UnknownFormat, {path});
}

std::vector<ArrayHeader> headersOf(const std::string &path, const CsvOptions &csv) {
  std::vector<ArrayHeader> out;
  if (path.ends_with(".npz") || path.ends_with(".safetensors") || path.ends_with(".npy")) {
    InputFile file(path);
    if (path.ends_with(".npz"))
      readNpz(file, "", &out);
    else if (path.ends_with(".npy"))
      readNpy(file, &out.emplace_back());
    else
      readSafetensors(file, "", &out);
    return out;
  }
  for (const NamedTensor &array : loadAll(path, csv))
    out.push_back({array.name, array.tensor->dtype, {array.tensor->shape().begin(), array.tensor->shape().end()}});
  return out;
}

TensorRef oneOf(std::span<const NamedTensor> all, const std::string &path, const std::string &name,
                const CsvOptions &csv) {
  for (const NamedTensor &entry : all)
    if (name.empty() ? all.size() == 1 : entry.name == name)
      return entry.tensor;
  std::string names;
  for (const ArrayHeader &entry : headersOf(path, csv)) {
    names += (names.empty() ? "" : ", ") + entry.name;
    if (names.size() > 200) {
      names += ", …";
      break;
    }
  }
  fail(DiagId::NoSuchArray, {path, name.empty() ? "" : " `" + name + "`", names.empty() ? "none" : names});
}

TensorRef load(const std::string &path, const std::string &name, const CsvOptions &csv) {
  return oneOf(loadAll(path, csv, name), path, name, csv);
}

static std::string printable(const std::string &name) {
  std::string out;
  for (char c : name.substr(0, 60))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? fmt::format("\\x{:02x}", c) : std::string(1, c);
  return out;
}

/// A name that the format keeps and that no reader of it takes for something else: a member of a zip file is a path to
/// many of them.
static void checkName(const std::string &path, const NamedTensor &entry) {
  const std::string &name = entry.name;
  auto refuse = [&](const char *why) {
    fail(DiagId::CannotWrite, {path, "`" + printable(name) + "` is no name for an array: " + why});
  };
  if (name.empty())
    refuse("it is empty");
  for (char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      refuse("it holds a control character");
  if (path.ends_with(".safetensors")) {
    if (name == "__metadata__")
      refuse("the format keeps it for itself");
    if (entry.tensor->dtype == DType::C128 && name.find(',') != name.npos)
      refuse("a comma separates the names of c128 arrays");
    return;
  }
  if (name.size() > 60000)
    refuse("it is too long");
  if (name.find('\\') != name.npos)
    refuse("a backslash separates folders on some systems");
  for (size_t at = 0; at <= name.size();) {
    size_t end = std::min(name.find('/', at), name.size());
    if (std::string_view part(name.data() + at, end - at); part.empty() || part == "." || part == "..")
      refuse("it leads out of the folder where somebody unpacks the file");
    at = end + 1;
  }
}

void save(const std::string &path, std::span<const NamedTensor> tensors) {
  for (const NamedTensor &entry : tensors)
    onHost(*entry.tensor);
  bool named = path.ends_with(".npz") || path.ends_with(".safetensors");
  for (const NamedTensor &entry : tensors)
    if (named)
      checkName(path, entry);
  if (named)
    return writeFile(path, (path.ends_with(".npz") ? npzParts(path, tensors) : safetensorsParts(path, tensors)).all());
  bool known = path.ends_with(".npy") || path.ends_with(".csv") || path.ends_with(".png");
  if (!known)
    fail(DiagId::UnknownFormat, {path});
  bool isTable = path.ends_with(".csv") && tensors[0].name != "arr_0"; // a struct
  if (isTable) {
    std::vector<NamedColumn> columns;
    for (const NamedTensor &entry : tensors)
      columns.emplace_back(entry.name, entry.tensor);
    return saveTable(path, columns);
  }
  if (tensors.size() != 1)
    fail(DiagId::CannotWrite, {path, "the format holds one array"});
  const Tensor &t = *tensors[0].tensor;
  if (path.ends_with(".npy"))
    return writeFile(path, {npyHeader(path, t), {t.as<char>(), static_cast<size_t>(t.count() * sizeOf(t.dtype))}});
  writeFile(path, {path.ends_with(".csv") ? csvText(path, t) : pngText(path, t)});
}

void saveTable(const std::string &path, std::span<const NamedColumn> columns) {
  if (!path.ends_with(".csv"))
    fail(DiagId::CannotWrite, {path, "text is held by the columns of a .csv file"});
  writeFile(path, {csvTableText(path, columns)});
}

} // namespace toy::rt

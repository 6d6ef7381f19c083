// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elements that stay in their file until somebody asks for them, and parts of arrays, of which nothing else is read or
/// made.
#include "runtime/Error.h"
#include "runtime/Io.h"
#include "runtime/Memory.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace toy::rt {

void readElements(Bytes &file, DType dtype, bool isSwapped, void *to, int64_t bytes, int64_t offset) {
  file.read(to, bytes, offset);
  auto *at = static_cast<unsigned char *>(to), *end = at + bytes;
  if (dtype == DType::Bool)
    std::transform(at, end, at, [](unsigned char truth) { return truth != 0; });
  for (const int64_t width = sizeOf(realOf(dtype)); isSwapped && at != end; at += width)
    std::reverse(at, at + width);
}

namespace {

/// Those of one array. Several share their file, which is closed with the last.
struct StoredElements : ElementSource {
  StoredElements(std::shared_ptr<InputFile> file, const ArrayHeader &header)
      : file(std::move(file)), dtype(header.dtype), isSwapped(header.isSwapped), begin(header.begin) {}

  void read(void *to, int64_t offset, int64_t bytes) override {
    const Activity activity(Activity::Bytes, file->getPath().substr(file->getPath().rfind('/') + 1), file->size());
    readElements(*file, dtype, isSwapped, to, bytes, begin + offset);
    file->requireUnchanged();
  }
  int64_t readTogether() const override { return 16 << 10; }

private:
  std::shared_ptr<InputFile> file;
  DType dtype;
  bool isSwapped;
  int64_t begin;
};

/// Runs of elements behind each other, in an array and in a part of it, in the order of the array: pieces of the array
/// that are not far from each other come with one reading of at most `mostAtOnce` bytes.
class PartReader {
public:
  PartReader(const Tensor &x, Tensor &out)
      : x(x), out(out), farApart(x.storage->source ? x.storage->source->readTogether() : 0) {}

  void add(int64_t from, int64_t to, int64_t bytes) {
    for (int64_t piece; bytes > 0; from += piece, to += piece, bytes -= piece) {
      piece = std::min(bytes, mostAtOnce);
      if (!runs.empty() &&
          (from - end > farApart || from + piece - runs.front().from > mostAtOnce || runs.size() == mostRuns))
        finish();
      runs.push_back({from, to, piece});
      end = from + piece;
    }
  }
  void finish() {
    if (runs.size() == 1)
      readBytes(x, runs[0].from, runs[0].bytes, out.as<char>() + runs[0].to);
    else if (!runs.empty()) {
      const int64_t begin = runs.front().from;
      buffer.resize(end - begin);
      readBytes(x, begin, end - begin, buffer.data());
      for (const Run &run : runs)
        std::memcpy(out.as<char>() + run.to, buffer.data() + (run.from - begin), run.bytes);
    }
    runs.clear();
  }

private:
  static constexpr int64_t mostAtOnce = 4 << 20; // bytes
  static constexpr size_t mostRuns = 1 << 16;
  struct Run {
    int64_t from, to, bytes;
  };
  const Tensor &x;
  Tensor &out;
  const int64_t farApart; ///< bytes; what is nearer is read with the rest
  std::vector<Run> runs;
  std::vector<char> buffer;
  int64_t end = 0; ///< of the last one, in the array
};

} // namespace

std::vector<NamedTensor> openAll(const std::string &path, const CsvOptions &csv, const std::string &name) {
  const bool hasPlaces = path.ends_with(".npy") || path.ends_with(".safetensors");
  if (!hasPlaces)
    return loadAll(path, csv, name);
  auto file = std::make_shared<InputFile>(path);
  std::vector<ArrayHeader> headers;
  if (path.ends_with(".npy"))
    readNpy(*file, &headers.emplace_back());
  else
    readSafetensors(*file, name, &headers);
  std::vector<NamedTensor> out;
  for (const ArrayHeader &header : headers) {
    if (header.begin < 0)
      return loadAll(path, csv, name);
    out.push_back({header.name, TensorRef(newLateTensor(header.dtype, header.shape,
                                                        std::make_unique<StoredElements>(file, header)))});
  }
  return out;
}

TensorRef partOf(const Tensor &x, std::span<const int64_t> starts, std::span<const int64_t> counts,
                 std::span<const int64_t> steps) {
  TensorRef out(newTensor(x.dtype, counts));
  if (out->count() == 0)
    return out;
  const int width = sizeOf(x.dtype);
  int axes = x.rank;
  // Bytes behind each other in both: all of the axes from `axes` on, and a part of the one before.
  int64_t run = width;
  while (axes > 0 && starts[axes - 1] == 0 && counts[axes - 1] == x.sizes[axes - 1] && steps[axes - 1] == 1)
    run *= counts[--axes];
  int64_t below = run; // bytes of an element of the axis
  if (axes > 0 && (steps[axes - 1] == 1 || counts[axes - 1] == 1))
    run *= counts[axes - 1];
  const bool isJoined = axes > 0 && run != below;
  PartReader reader(x, *out);
  // From the lowest place of each axis on, so that places in the file grow.
  auto visit = [&](auto &self, int axis, int64_t from, int64_t to, int64_t fromBytes, int64_t toBytes) -> void {
    if (axis == axes)
      return reader.add(from, to, run);
    const int64_t inner = fromBytes / x.sizes[axis], innerTo = toBytes / counts[axis];
    if (axis == axes - 1 && isJoined)
      return reader.add(from + starts[axis] * inner, to, run);
    for (int64_t i = 0; i < counts[axis]; ++i) {
      const int64_t k = steps[axis] > 0 ? i : counts[axis] - 1 - i;
      self(self, axis + 1, from + (starts[axis] + k * steps[axis]) * inner, to + k * innerTo, inner, innerTo);
    }
  };
  visit(visit, 0, 0, 0, x.count() * width, out->count() * width);
  reader.finish();
  return out;
}

} // namespace toy::rt

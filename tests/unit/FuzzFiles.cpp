// SPDX-License-Identifier: Apache-2.0
/// \file
/// Feeds damaged files to every reader for a number of seconds: `fuzz-files SECONDS [SEED]`. Whatever a file holds,
/// reading gives values or an error; built with sanitizers this also says that no byte outside the file or the values
/// is touched. Seeds are files that the writers make.
#include "runtime/Error.h"
#include "runtime/Io.h"
#include "runtime/Memory.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>

using namespace toy;
using namespace toy::rt;

namespace {

std::mt19937_64 engine;
size_t below(size_t n) { return n ? engine() % n : 0; }

TensorRef sample(DType dtype, std::vector<int64_t> sizes) {
  TensorRef t(newTensor(dtype, sizes));
  auto *bytes = t->as<unsigned char>();
  for (int64_t i = 0; i < t->count() * sizeOf(dtype); ++i)
    bytes[i] = dtype == DType::Bool ? i % 2 : i * 37 % 64;
  return t;
}

/// A few edits: bytes, numbers in text, removals, repetitions, cuts.
std::string damaged(std::string s) {
  static constexpr const char *numbers[] = {"-1",    "0",  "99999999999999999999", "9223372036854775807", "4294967296",
                                            "1e999", "nan"};
  for (size_t edits = 1 + below(4); edits--;) {
    size_t at = below(s.size()), length = 1 + below(16);
    switch (below(8)) {
    case 0:
      s[at] = static_cast<char>(engine());
      break;
    case 1:
      s[at] ^= static_cast<char>(1 << below(8));
      break;
    case 2:
      s.erase(at, length);
      break;
    case 3:
      s.insert(at, s.substr(below(s.size()), length));
      break;
    case 4:
      s.resize(at);
      break;
    case 5:
      s.replace(at, below(4), numbers[below(7)]);
      break;
    case 6:
      std::memset(s.data() + at, static_cast<int>(engine()), std::min(length, s.size() - at));
      break;
    default:
      s.insert(at, std::string(below(300), "([{,\" 0"[below(7)]));
      break;
    }
    if (s.empty())
      s = "x";
  }
  return s;
}

} // namespace

int main(int argc, char **argv) {
  double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  engine.seed(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  std::vector<NamedTensor> several = {{"a", sample(DType::C64, {2, 3})},
                                      {"layer.0.w", sample(DType::F16, {4})},
                                      {"b", sample(DType::C128, {2})},
                                      {"e", sample(DType::Bool, {0, 3})}};
  auto npy = [](const Tensor &t) { return npyHeader("x", t) + std::string(t.as<char>(), t.count() * sizeOf(t.dtype)); };
  auto whole = [](const FileParts &parts) {
    std::string text;
    for (std::string_view part : parts.all())
      text += part;
    return text;
  };
  using Reader = std::function<void(Bytes &)>;
  std::vector<std::pair<std::string, Reader>> seeds;
  Reader readers[] = {[](Bytes &f) { readNpy(f); },         [](Bytes &f) { readNpz(f); },
                      [](Bytes &f) { readSafetensors(f); }, [](Bytes &f) { readCsv(f); },
                      [](Bytes &f) { readPng(f); },         [](Bytes &f) { readCsvTable(f, {}); }};
  for (DType d : {DType::Bool, DType::I32, DType::F16, DType::F64, DType::C128})
    seeds.emplace_back(npy(*sample(d, {3, 2})), readers[0]);
  seeds.emplace_back(whole(npzParts("x", several)), readers[1]);
  several[1].tensor = sample(DType::BF16, {4});
  seeds.emplace_back(whole(safetensorsParts("x", several)), readers[2]);
  seeds.emplace_back(csvText("x", *sample(DType::F32, {2, 3})), readers[3]);
  seeds.emplace_back(csvText("x", *sample(DType::C128, {3})) + "# comment\n\n1+2j, (3-4i)\n", readers[3]);
  seeds.emplace_back("name,\"a \"\"b\"\"\",2nd,for\r\n\"x,\ny\",1.5,,\r\nz,-1e3,2i,\"\"\n", readers[5]);
  for (int64_t channels : {1, 3, 4})
    seeds.emplace_back(pngText("x.png", *sample(DType::U8, {3, 5, channels})), readers[4]);
  setMemoryLimit(int64_t(1) << 28);
  auto start = std::chrono::steady_clock::now();
  long runs = 0, errors = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds)
    for (int burst = 0; burst < 64; ++burst, ++runs) {
      auto &[text, reader] = seeds[below(seeds.size())];
      MemoryBytes file("fuzz", damaged(text));
      try {
        reader(file);
      } catch (Error &) {
        ++errors;
      }
    }
  std::printf("%ld files, %ld errors\n", runs, errors);
  return errors == 0 || errors == runs; // some are refused and some are read
}

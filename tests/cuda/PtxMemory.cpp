// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loads and stores of a warp. What threads that follow each other touch is one access, where it lies in one block.
#include "PtxWarp.h"

#include <algorithm>
#include <cstring>

namespace ptx {

/// Of all threads of a warp, one after the other; a run of a kernel finds what the last one left.
static char *localMemory() {
  static thread_local const std::unique_ptr<char[]> bytes(new char[warpThreads * localBytes]);
  return bytes.get();
}

void fillLocal(uint64_t base, uint64_t bytes, Mask on) {
  if (bytes)
    eachOf(on, [&](int t) { std::memset(localMemory() + t * localBytes + base, 0xff, bytes); }); // NaN
}

char *Warp::placeOf(Word address, const Instruction &i, int thread) {
  unsigned bytes = std::max(i.bits / 8, 1u) * i.width;
  if (address % bytes)
    throw Error("PTX: a misaligned access");
  if (i.space == Space::Local || (address >= localWindow && address < localWindow + localBytes)) {
    uint64_t at = address >= localWindow ? address - localWindow : address;
    if (at + bytes > localBytes)
      throw Error("PTX: local memory is left");
    return localMemory() + thread * localBytes + at;
  }
  if (shared.has(address)) {
    if (address - sharedWindow + bytes > shared.bytes.size())
      throw Error("PTX: shared memory is left");
    return shared.bytes.data() + (address - sharedWindow);
  }
  for (auto [begin, end] : module.constants)
    if (address >= begin && address + bytes <= end && i.code == Ld)
      return reinterpret_cast<char *>(address);
  return memory.access(address, bytes, i.code == St);
}

/// 32 banks of 4 bytes; words of 8 and 16 bytes are for half and a quarter of a warp at a time.
void Warp::countConflicts(const Row &addresses, unsigned bytes, Mask on) {
  constexpr unsigned banks = 32, bankBytes = 4;
  const int together = bytes <= bankBytes ? warpThreads : static_cast<int>(warpThreads * bankBytes / bytes);
  for (int first = 0; first < warpThreads; first += together) {
    std::array<std::vector<Word>, banks> words;
    for (int t = first; t < first + together; ++t)
      for (Word at = addresses[t] / bankBytes; on >> t & 1 && at <= (addresses[t] + bytes - 1) / bankBytes; ++at) {
        std::vector<Word> &known = words[at % banks];
        if (std::find(known.begin(), known.end(), at) == known.end())
          known.push_back(at);
      }
    size_t turns = 1;
    for (const std::vector<Word> &known : words)
      turns = std::max(turns, known.size());
    memory.conflict(turns - 1);
  }
}

/// Places of elements that all threads share, or that follow each other; false where they are anything else.
bool Warp::findTogether(const Row &addresses, const Instruction &i, Mask on, std::array<char *, warpThreads> &places) {
  if (i.space == Space::Local || i.space == Space::Shared)
    return false;
  unsigned bytes = std::max(i.bits / 8, 1u) * i.width, n = std::popcount(on);
  Word first = addresses[std::countr_zero(on)];
  bool same = i.code == Ld, next = true;
  Word k = 0;
  eachOf(on, [&](int t) {
    same = same && addresses[t] == first;
    next = next && addresses[t] == first + bytes * k++;
  });
  Word whole = same ? bytes : bytes * n;
  if ((!same && !next) || first % bytes || !memory.has(first, whole))
    return false;
  char *begin = memory.access(first, static_cast<unsigned>(whole), i.code == St);
  k = 0;
  eachOf(on, [&](int t) { places[t] = begin + (same ? 0 : bytes * k++); });
  return true;
}

template <typename T> static void load(Row &to, const std::array<char *, warpThreads> &places, size_t at, Mask on) {
  eachOf(on, [&](int t) {
    T value;
    std::memcpy(&value, places[t] + at, sizeof value);
    to[t] = static_cast<Word>(static_cast<int64_t>(value)); // a signed one is extended
  });
}

template <typename T>
static void store(const Row &from, const std::array<char *, warpThreads> &places, size_t at, Mask on) {
  eachOf(on, [&](int t) {
    T value = static_cast<T>(from[t]);
    std::memcpy(places[t] + at, &value, sizeof value);
  });
}

void Warp::transferAll(Frame &frame, const Instruction &i, const std::array<char *, warpThreads> &places, Mask on) {
  const Operand &data = i.operands[i.code == Ld ? 0 : 1];
  unsigned bytes = std::max(i.bits / 8, 1u);
  for (unsigned k = 0; k < i.width; ++k) {
    const Operand &part = data.kind == Operand::Vector ? data.parts[k] : data;
    if (part.kind == Operand::None)
      continue;
    Row &row = frame.registers[part.reg];
    auto both = [&]<typename T>(T) {
      if (i.code == St)
        store<T>(row, places, k * sizeof(T), on);
      else if (i.kind == 's')
        load<std::make_signed_t<T>>(row, places, k * sizeof(T), on);
      else
        load<T>(row, places, k * sizeof(T), on);
    };
    bytes == 1 ? both(uint8_t()) : bytes == 2 ? both(uint16_t()) : bytes == 4 ? both(uint32_t()) : both(uint64_t());
  }
}

void Warp::transfer(const Function &f, Frame &frame, const Instruction &i, Mask on) {
  const Operand &o = i.operands[i.code == Ld ? 1 : 0];
  unsigned bytes = std::max(i.bits / 8, 1u) * i.width;
  std::array<char *, warpThreads> places;
  auto slotsOf = [&](int t) { return reinterpret_cast<char *>(frame.slots.data() + t * f.slots); };
  if (o.param >= 0) {
    if (o.value + bytes > sizeof(Slot))
      throw Error("PTX: a parameter is read beyond its end");
    eachOf(on, [&](int t) { places[t] = slotsOf(t) + o.param * sizeof(Slot) + o.value; });
    return transferAll(frame, i, places, on);
  }
  Row addresses;
  eachOf(on, [&](int t) { addresses[t] = o.value + (o.reg >= 0 ? frame.registers[o.reg][t] : 0); });
  if (i.space == Space::Param)
    eachOf(on, [&](int t) {
      Word at = addresses[t] - paramWindow;
      if (i.code == St || addresses[t] < paramWindow || at + bytes > f.slots * sizeof(Slot))
        throw Error("PTX: no parameter");
      places[t] = slotsOf(t) + at;
    });
  else if (!findTogether(addresses, i, on, places)) {
    // A place that is looked up first may be an error's, and then nothing is stored.
    eachOf(on, [&](int t) { places[t] = placeOf(addresses[t], i, t); });
    if (shared.has(addresses[std::countr_zero(on)]))
      countConflicts(addresses, bytes, on);
  }
  transferAll(frame, i, places, on);
}

} // namespace ptx

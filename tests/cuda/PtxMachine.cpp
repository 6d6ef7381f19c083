// SPDX-License-Identifier: Apache-2.0
/// \file
/// Running PTX: values, and warps of threads.
#include "Ptx.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace ptx {
namespace {

struct Frame {
  const Function *function;
  size_t pc = 0;
  std::vector<uint64_t> registers;
  std::vector<Slot> slots;
  uint64_t localBase;
  int resultSlot = -1; ///< of the caller's
};

struct Thread {
  std::vector<Frame> frames;
  std::unique_ptr<char[]> local;
  uint64_t localTop = 0;
  bool done = false, carry = false;
  const Instruction *waiting = nullptr; ///< a shuffle
};

constexpr uint64_t localWindow = uint64_t(1) << 60, localBytes = 1 << 14;

uint64_t truncated(uint64_t v, unsigned bits) { return bits >= 64 ? v : v & ((uint64_t(1) << bits) - 1); }
int64_t extended(uint64_t v, unsigned bits) {
  return bits >= 64 ? static_cast<int64_t>(v) : static_cast<int64_t>(v << (64 - bits)) >> (64 - bits);
}
float f32(uint64_t v) { return std::bit_cast<float>(static_cast<uint32_t>(v)); }
double f64(uint64_t v) { return std::bit_cast<double>(v); }
uint64_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t bitsOf(double x) { return std::bit_cast<uint64_t>(x); }

template <typename T> T least(T a, T b, bool nan) {
  if (std::isnan(a) || std::isnan(b))
    return nan ? std::numeric_limits<T>::quiet_NaN() : std::isnan(a) ? b : a;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <typename T> T floating(const Instruction &i, T a, T b, T c) {
  switch (i.code) {
  case Add:
    return a + b;
  case Sub:
    return a - b;
  case Mul:
    return a * b;
  case Fma:
    return std::fma(a, b, c);
  case Div:
    return a / b;
  case Min:
    return least(a, b, i.has("NaN"));
  case Max:
    return -least(-a, -b, i.has("NaN"));
  case Neg:
    return -a;
  case Abs:
    return std::fabs(a);
  case Sqrt:
    return std::sqrt(a);
  case Rcp:
    return T(1) / a;
  case CopySign:
    return std::copysign(b, a); // copysign.f32 d, a, b: the sign of a, the magnitude of b
  default:
    throw Error("PTX: " + i.name + " of floats");
  }
}

uint64_t integral(const Instruction &i, uint64_t a, uint64_t b, uint64_t c) {
  unsigned bits = i.bits;
  bool isSigned = i.kind == 's';
  switch (i.code) {
  case Add:
    return a + b;
  case Sub:
    return a - b;
  case Mul:
    return a * b;
  case Mad:
    return a * b + c;
  case MulWide:
    return isSigned ? static_cast<uint64_t>(extended(a, bits) * extended(b, bits))
                    : truncated(a, bits) * truncated(b, bits);
  case MadWide:
    return (isSigned ? static_cast<uint64_t>(extended(a, bits) * extended(b, bits))
                     : truncated(a, bits) * truncated(b, bits)) +
           c;
  case MulHi:
    if (isSigned)
      return static_cast<uint64_t>(static_cast<__int128>(extended(a, bits)) * extended(b, bits) >> bits);
    return static_cast<uint64_t>(static_cast<unsigned __int128>(truncated(a, bits)) * truncated(b, bits) >> bits);
  case Div:
    if (truncated(b, bits) == 0)
      return ~uint64_t(0);
    return isSigned ? static_cast<uint64_t>(extended(a, bits) / extended(b, bits))
                    : truncated(a, bits) / truncated(b, bits);
  case Rem:
    if (truncated(b, bits) == 0)
      return a;
    return isSigned ? static_cast<uint64_t>(extended(a, bits) % extended(b, bits))
                    : truncated(a, bits) % truncated(b, bits);
  case Min:
    return isSigned ? (extended(a, bits) < extended(b, bits) ? a : b)
                    : (truncated(a, bits) < truncated(b, bits) ? a : b);
  case Max:
    return isSigned ? (extended(a, bits) > extended(b, bits) ? a : b)
                    : (truncated(a, bits) > truncated(b, bits) ? a : b);
  case Neg:
    return -a;
  case Abs:
    return static_cast<uint64_t>(std::abs(extended(a, bits)));
  case And:
    return a & b;
  case Or:
    return a | b;
  case Xor:
    return a ^ b;
  case Not:
    return ~a;
  case Shl:
    return (b & 0xffffffff) >= bits ? 0 : a << b;
  case Shr: {
    uint64_t by = b & 0xffffffff;
    if (isSigned)
      return static_cast<uint64_t>(extended(a, bits) >> std::min<uint64_t>(by, bits - 1));
    return by >= bits ? 0 : truncated(a, bits) >> by;
  }
  case Clz:
    return std::countl_zero(truncated(a, bits)) - (64 - bits);
  case Popc:
    return std::popcount(truncated(a, bits));
  case Brev: {
    uint64_t out = 0;
    for (unsigned k = 0; k < bits; ++k)
      out |= (a >> k & 1) << (bits - 1 - k);
    return out;
  }
  case Shf: { // shf.l/r.wrap.b32 d, low, high, by
    uint64_t wide = truncated(b, 32) << 32 | truncated(a, 32);
    unsigned by = i.has("clamp") ? std::min<uint64_t>(truncated(c, 32), 32) : c & 31;
    return i.has("l") ? (wide << by) >> 32 : wide >> by;
  }
  case Bfe: {
    unsigned start = b & 255, length = c & 255;
    if (length == 0)
      return 0;
    uint64_t field = start >= bits ? 0 : truncated(a, bits) >> start;
    return isSigned ? static_cast<uint64_t>(extended(field, std::min(length, bits)))
                    : truncated(field, std::min(length, 64u));
  }
  case Prmt: {
    uint64_t wide = truncated(b, 32) << 32 | truncated(a, 32), out = 0;
    for (int k = 0; k < 4; ++k) {
      unsigned select = c >> (4 * k) & 15;
      uint64_t byte = wide >> (8 * (select & 7)) & 255;
      if (select & 8)
        byte = byte & 128 ? 255 : 0;
      out |= byte << (8 * k);
    }
    return out;
  }
  default:
    throw Error("PTX: " + i.name + " of integers");
  }
}

double rounded(double x, const Instruction &i) {
  if (i.has("rni"))
    return std::nearbyint(x);
  if (i.has("rzi"))
    return std::trunc(x);
  if (i.has("rmi"))
    return std::floor(x);
  if (i.has("rpi"))
    return std::ceil(x);
  return x;
}

float halfToFloat(uint16_t h) { return static_cast<float>(std::bit_cast<_Float16>(h)); }

uint64_t convert(const Instruction &i, uint64_t v) {
  char to = i.kind, from = i.fromKind;
  if (from == 'f') {
    double x = i.fromBits == 64 ? f64(v) : i.fromBits == 32 ? f32(v) : halfToFloat(static_cast<uint16_t>(v));
    if (to == 'f') {
      x = rounded(x, i);
      if (i.bits == 64)
        return bitsOf(x);
      if (i.bits == 32)
        return bitsOf(static_cast<float>(x));
      return std::bit_cast<uint16_t>(static_cast<_Float16>(i.fromBits == 64 ? x : static_cast<float>(x)));
    }
    if (std::isnan(x))
      return to == 's' && i.bits == 64 ? uint64_t(1) << 63 : 0;
    x = rounded(x, i);
    if (to == 's') {
      double limit = std::ldexp(1.0, i.bits - 1);
      if (x >= limit)
        return truncated(i.bits == 64 ? INT64_MAX : (int64_t(1) << (i.bits - 1)) - 1, i.bits);
      if (x < -limit)
        return truncated(uint64_t(1) << (i.bits - 1), i.bits);
      return truncated(static_cast<uint64_t>(static_cast<int64_t>(x)), i.bits);
    }
    if (x <= 0)
      return 0;
    if (x >= std::ldexp(1.0, i.bits))
      return truncated(~uint64_t(0), i.bits);
    return static_cast<uint64_t>(x);
  }
  if (to == 'f') {
    if (from == 's') {
      int64_t x = extended(v, i.fromBits);
      return i.bits == 64   ? bitsOf(static_cast<double>(x))
             : i.bits == 32 ? bitsOf(static_cast<float>(x))
                            : std::bit_cast<uint16_t>(static_cast<_Float16>(x));
    }
    uint64_t x = truncated(v, i.fromBits);
    return i.bits == 64   ? bitsOf(static_cast<double>(x))
           : i.bits == 32 ? bitsOf(static_cast<float>(x))
                          : std::bit_cast<uint16_t>(static_cast<_Float16>(x));
  }
  // Registers are at least 32 bits wide: a narrow signed result is extended, as the hardware does.
  uint64_t wide = from == 's' ? static_cast<uint64_t>(extended(v, i.fromBits)) : truncated(v, i.fromBits);
  return to == 's' ? static_cast<uint64_t>(extended(wide, i.bits)) : truncated(wide, i.bits);
}

class Machine {
public:
  Machine(const Module &module, Memory &memory) : module(module), memory(memory) {}

  void warp(const Function &kernel, unsigned block, unsigned blockThreads, unsigned first, unsigned count,
            const std::vector<uint64_t> &parameters) {
    threads.resize(32);
    for (unsigned lane = 0; lane < count; ++lane) {
      Thread &t = threads[lane];
      if (!t.local)
        t.local = std::make_unique<char[]>(localBytes);
      t.frames.clear();
      t.localTop = 0;
      t.done = false;
      t.waiting = nullptr;
      enter(t, kernel);
      Frame &f = t.frames.back();
      for (size_t i = 0; i < kernel.paramSlots.size(); ++i)
        f.slots[kernel.paramSlots[i]][0] = parameters[i];
      f.registers[0] = first + lane;
      f.registers[1] = block;
      f.registers[2] = blockThreads;
      f.registers[3] = lane;
    }
    while (true) {
      unsigned done = 0, waiting = 0;
      for (unsigned lane = 0; lane < count; ++lane) {
        step(threads[lane]);
        done += threads[lane].done;
        waiting += threads[lane].waiting != nullptr;
      }
      if (done == count)
        return;
      if (waiting != count)
        throw Error("PTX: a shuffle that not all threads of a warp reach");
      shuffle(count);
    }
  }

private:
  void enter(Thread &t, const Function &f) {
    Frame frame;
    frame.function = &f;
    frame.registers.assign(f.registers, 0xdeadbeefdeadbeef);
    frame.slots.assign(f.slots, Slot{});
    frame.localBase = t.localTop;
    t.localTop += (f.localBytes + 15) / 16 * 16;
    if (t.localTop > localBytes)
      throw Error("PTX: too much local memory");
    std::memset(t.local.get() + frame.localBase, 0xff, t.localTop - frame.localBase); // NaN
    t.frames.push_back(std::move(frame));
  }

  uint64_t value(const Frame &f, const Operand &o) const {
    return o.kind == Operand::Register ? f.registers[o.reg] : o.kind == Operand::LocalBase ? f.localBase : o.value;
  }

  char *place(Thread &t, Frame &f, const Operand &o, unsigned bytes, const Instruction &i, bool isWrite) {
    if (o.param >= 0) {
      if (o.value + bytes > sizeof(Slot))
        throw Error("PTX: a parameter is read beyond its end");
      return reinterpret_cast<char *>(f.slots[o.param].data()) + o.value;
    }
    uint64_t address = o.value + (o.reg >= 0 ? f.registers[o.reg] : 0);
    if (i.space == Space::Param) {
      if (isWrite || address < paramWindow || address + bytes > paramWindow + f.slots.size() * sizeof(Slot))
        throw Error("PTX: no parameter");
      return reinterpret_cast<char *>(f.slots.data()) + (address - paramWindow);
    }
    if (address % bytes)
      throw Error("PTX: a misaligned access");
    if (i.space == Space::Local || (address >= localWindow && address < localWindow + localBytes)) {
      uint64_t at = address >= localWindow ? address - localWindow : address;
      if (at + bytes > localBytes)
        throw Error("PTX: local memory is left");
      return t.local.get() + at;
    }
    for (auto &[name, base] : module.globals)
      if (address >= base && address < base + (1 << 12)) // a constant of the module
        return reinterpret_cast<char *>(address);
    return memory.access(address, bytes, isWrite);
  }

  void transfer(Thread &t, Frame &f, const Instruction &i) {
    bool isLoad = i.code == Ld;
    const Operand &address = i.operands[isLoad ? 1 : 0], &data = i.operands[isLoad ? 0 : 1];
    unsigned bytes = std::max(i.bits / 8, 1u);
    // One access of all parts: aligned as a whole.
    char *at = place(t, f, address, bytes * i.width, i, !isLoad);
    for (unsigned k = 0; k < i.width; ++k) {
      const Operand &part = i.width == 1 ? (data.kind == Operand::Vector ? data.parts[0] : data) : data.parts[k];
      if (isLoad) {
        uint64_t word = 0;
        std::memcpy(&word, at + k * bytes, bytes);
        if (i.kind == 's')
          word = static_cast<uint64_t>(extended(word, i.bits));
        if (part.kind == Operand::Register)
          f.registers[part.reg] = word;
      } else {
        uint64_t word = value(f, part);
        std::memcpy(at + k * bytes, &word, bytes);
      }
    }
  }

  bool compare(const Instruction &i, uint64_t a, uint64_t b) const {
    auto holds = [&](auto x, auto y) {
      return (i.relations & (x < y ? Less : x == y ? Equal : x > y ? Greater : Unordered)) != 0;
    };
    if (i.kind == 's')
      return holds(extended(a, i.bits), extended(b, i.bits));
    if (i.kind != 'f' && i.kind != 'h')
      return holds(truncated(a, i.bits), truncated(b, i.bits));
    auto number = [&](uint64_t v) -> double {
      return i.bits == 64 ? f64(v) : i.bits == 32 && i.kind == 'f' ? f32(v) : halfToFloat(static_cast<uint16_t>(v));
    };
    return holds(number(a), number(b));
  }

  /// To the next shuffle, or to the end.
  void step(Thread &t) {
    while (!t.done && !t.waiting) {
      Frame &f = t.frames.back();
      const Instruction &i = f.function->code[f.pc++];
      if (i.guard >= 0 && (f.registers[i.guard] & 1) == (i.guardNegated ? 1u : 0u))
        continue;
      auto in = [&](size_t k) { return value(f, i.operands[k]); };
      auto out = [&](uint64_t v) { f.registers[i.operands[0].reg] = v; };
      switch (i.code) {
      case Bra:
        f.pc = i.target;
        break;
      case Exit:
        t.done = true;
        break;
      case Ret: {
        t.localTop = f.localBase;
        Slot result{};
        int slot = f.resultSlot;
        if (f.function->resultSlot >= 0)
          result = f.slots[f.function->resultSlot];
        t.frames.pop_back();
        t.done = t.frames.empty();
        if (!t.done && slot >= 0)
          t.frames.back().slots[slot] = result;
        break;
      }
      case Call: {
        auto callee = module.functions.find(i.callee);
        if (callee == module.functions.end())
          throw Error("PTX: unknown function " + i.callee);
        std::vector<Slot> arguments;
        for (const Operand &o : i.operands)
          arguments.push_back(f.slots[o.param]);
        std::array<uint64_t, 4> special = {f.registers[0], f.registers[1], f.registers[2], f.registers[3]};
        enter(t, *callee->second);
        Frame &inner = t.frames.back();
        inner.resultSlot = i.resultSlot;
        std::copy(special.begin(), special.end(), inner.registers.begin());
        for (size_t k = 0; k < arguments.size(); ++k)
          inner.slots[callee->second->paramSlots[k]] = arguments[k];
        break;
      }
      case Ld:
      case St:
        transfer(t, f, i);
        break;
      case Shfl:
        t.waiting = &i;
        break;
      case Cvta:
        out(i.has("local") ? (i.has("to") ? in(1) - localWindow : in(1) + localWindow) : in(1));
        break;
      case Mov: {
        if (i.operands[0].kind == Operand::Vector) { // unpack
          uint64_t v = in(1);
          unsigned part = i.bits / i.operands[0].parts.size();
          for (size_t k = 0; k < i.operands[0].parts.size(); ++k)
            if (i.operands[0].parts[k].kind == Operand::Register)
              f.registers[i.operands[0].parts[k].reg] = truncated(v >> (part * k), part);
        } else if (i.operands[1].kind == Operand::Vector) {
          uint64_t v = 0;
          unsigned part = i.bits / i.operands[1].parts.size();
          for (size_t k = 0; k < i.operands[1].parts.size(); ++k)
            v |= truncated(value(f, i.operands[1].parts[k]), part) << (part * k);
          out(v);
        } else
          out(in(1));
        break;
      }
      case Cvt:
        if (i.kind == 'h') { // two floats to a pair, the first one above
          auto half = [](uint64_t v) { return uint64_t(std::bit_cast<uint16_t>(static_cast<_Float16>(f32(v)))); };
          out(half(in(1)) << 16 | half(in(2)));
        } else
          out(convert(i, in(1)));
        break;
      case SelP:
        out(f.registers[i.operands[3].reg] & 1 ? in(1) : in(2));
        break;
      case SetP: {
        if (i.kind == 'h') {
          out(compare(i, in(1) & 0xffff, in(2) & 0xffff));
          f.registers[i.operands[0].parts.at(0).reg] = compare(i, in(1) >> 16 & 0xffff, in(2) >> 16 & 0xffff);
          break;
        }
        bool truth = compare(i, in(1), in(2));
        if (i.operands.size() > 3) {
          bool other = f.registers[i.operands[3].reg] & 1;
          truth = i.has("and") ? truth && other : i.has("or") ? truth || other : truth != other;
        }
        out(truth);
        break;
      }
      case Testp: {
        double x = i.bits == 64 ? f64(in(1)) : f32(in(1));
        out(i.has("infinite")     ? std::isinf(x)
            : i.has("notanumber") ? std::isnan(x)
            : i.has("finite")     ? std::isfinite(x)
            : i.has("number")     ? !std::isnan(x)
                                  : throw Error("PTX: testp"));
        break;
      }
      default: {
        size_t n = i.operands.size();
        uint64_t a = in(1), b = n > 2 ? in(2) : 0, c = n > 3 ? in(3) : 0;
        if (i.kind == 'f' && i.bits == 64)
          out(bitsOf(floating(i, f64(a), f64(b), f64(c))));
        else if (i.kind == 'f' && i.bits == 32)
          out(bitsOf(floating(i, f32(a), f32(b), f32(c))));
        else if (i.kind == 'f' || i.kind == 'h') { // halves: exact in double, rounded once
          auto half = [](uint64_t v) { return static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(v))); };
          auto compute = [&](int at) {
            return uint64_t(std::bit_cast<uint16_t>(
                       static_cast<_Float16>(floating(i, half(a >> at), half(b >> at), half(c >> at)))))
                   << at;
          };
          out(i.kind == 'f' ? compute(0) : compute(0) | compute(16));
        } else if (i.code == AddC || i.code == SubC || i.setsCarry) { // sums and differences of several words
          bool isAdd = i.code == Add || i.code == AddC;
          unsigned __int128 x = truncated(a, i.bits), y = truncated(b, i.bits),
                            in = i.code == AddC || i.code == SubC ? t.carry : 0, v = isAdd ? x + y + in : x - y - in;
          if (i.setsCarry)
            t.carry = v >> i.bits & 1;
          out(truncated(static_cast<uint64_t>(v), i.bits));
        } else if (i.kind == 'p')
          out(integral(i, a & 1, b & 1, c & 1) & 1);
        else {
          unsigned result = i.code == MulWide || i.code == MadWide ? 2 * i.bits
                            : i.code == Clz || i.code == Popc      ? 32
                                                                   : i.bits;
          uint64_t v = truncated(integral(i, a, b, c), result);
          out(v);
        }
      }
      }
    }
  }

  /// shfl.sync.{down,idx}.b32 d|p, a, distance or lane, clamp, mask
  void shuffle(unsigned count) {
    std::vector<uint64_t> values(count);
    const Instruction &i = *threads[0].waiting;
    for (unsigned lane = 0; lane < count; ++lane) {
      if (threads[lane].waiting != &i)
        throw Error("PTX: threads of a warp wait at different shuffles");
      values[lane] = value(threads[lane].frames.back(), i.operands[1]);
    }
    if ((!i.has("down") && !i.has("idx")) || count != 32)
      throw Error("PTX: only whole warps shuffle, down or from one lane");
    for (unsigned lane = 0; lane < count; ++lane) {
      Frame &f = threads[lane].frames.back();
      uint64_t from = (i.has("down") ? lane : 0) + value(f, i.operands[2]);
      f.registers[i.operands[0].reg] = values[from < 32 ? from : lane];
      threads[lane].waiting = nullptr;
    }
  }

  const Module &module;
  Memory &memory;
  std::vector<Thread> threads;
};

} // namespace

void run(const Module &module, const Function &kernel, unsigned blocks, unsigned threads,
         const std::vector<uint64_t> &parameters, Memory &memory) {
  Machine machine(module, memory);
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned first = 0; first < threads; first += 32)
      machine.warp(kernel, block, threads, first, std::min(32u, threads - first), parameters);
}

} // namespace ptx

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Running PTX: threads that go together, operations, calls, shuffles.
#include "PtxWarp.h"

#include <algorithm>

namespace ptx {

void fillLocal(uint64_t base, uint64_t bytes, Mask on); // PtxMemory.cpp

Frame::Frame(const Function &f, uint64_t localBase)
    : registers(f.registers), slots(size_t(warpThreads) * f.slots), localBase(localBase) {
  for (Row &row : registers)
    row.fill(0xdeadbeefdeadbeef);
  for (auto [reg, value] : f.constants)
    registers[reg].fill(value);
  if (f.localRegister >= 0)
    registers[f.localRegister].fill(localBase);
}

Frame &Warp::frameOf(const Function &f) {
  auto found = frames.find(&f);
  if (found == frames.end()) {
    found = frames.try_emplace(&f, f, localTop).first;
    localTop += (f.localBytes + 15) / 16 * 16;
    if (localTop > localBytes)
      throw Error("PTX: too much local memory");
  }
  return found->second;
}

void Warp::start(const Function &kernel, unsigned block, unsigned blockThreads, unsigned first, unsigned count,
                 const std::vector<uint64_t> &parameters) {
  Frame &frame = frameOf(kernel);
  for (unsigned t = 0; t < warpThreads; ++t)
    for (size_t i = 0; i < kernel.paramSlots.size(); ++i)
      frame.slots[t * kernel.slots + kernel.paramSlots[i]][0] = parameters[i];
  for (unsigned t = 0; t < warpThreads; ++t) {
    frame.registers[0][t] = first + t;
    frame.registers[1][t] = block;
    frame.registers[2][t] = blockThreads;
    frame.registers[3][t] = t;
  }
  begin(kernel, frame, count == warpThreads ? ~Mask(0) : (Mask(1) << count) - 1);
}

bool Warp::goOn(const Function &kernel) { return !run(kernel, frameOf(kernel)); }

void Warp::begin(const Function &f, Frame &frame, Mask threads) {
  if (frame.left)
    throw Error("PTX: " + f.name + " calls itself");
  fillLocal(frame.localBase, f.localBytes, threads);
  frame.at.fill(0);
  frame.threads = frame.left = threads;
  frame.waiting = 0;
}

/// All threads are at a shuffle, which is done, or at a barrier: then true.
bool Warp::meet(const Function &f, Frame &frame) {
  const int first = frame.at[std::countr_zero(frame.waiting)];
  bool all = frame.waiting == frame.threads;
  eachOf(frame.waiting, [&](int t) { all = all && frame.at[t] == first; });
  if (!all)
    throw Error("PTX: a shuffle or a barrier that not all threads of a warp reach");
  const Instruction &i = f.code[first - 1];
  if (i.code == Shfl)
    shuffle(frame, i, frame.waiting);
  frame.waiting = 0;
  return i.code == Bar;
}

/// Whether all threads have come to the end, else to a barrier.
bool Warp::run(const Function &f, Frame &frame) {
  std::array<int, warpThreads> &at = frame.at;
  while (frame.left) {
    Mask ready = frame.left & ~frame.waiting, on = 0;
    if (!ready) {
      if (meet(f, frame))
        return false;
      continue;
    }
    int pc = INT32_MAX, others = INT32_MAX; // of those that are behind, and of the next ones
    eachOf(ready, [&](int t) { pc = std::min(pc, at[t]); });
    eachOf(ready, [&](int t) {
      if (at[t] == pc)
        on |= Mask(1) << t;
      else
        others = std::min(others, at[t]);
    });
    auto leaveAt = [&](Mask these, int place) { eachOf(these, [&](int t) { at[t] = place; }); };
    for (bool together = true; together;) {
      if (pc >= others) {
        leaveAt(on, pc);
        break;
      }
      const Instruction &i = f.code[pc++];
      Mask now = on;
      if (i.guard >= 0) {
        const Row &guard = frame.registers[i.guard];
        now = 0;
        eachOf(on, [&](int t) { now |= Mask((guard[t] & 1) != i.guardNegated) << t; });
        if (!now)
          continue;
      }
      switch (i.code) {
      case Bra:
        if (now == on) {
          pc = i.target;
          break;
        }
        leaveAt(on, pc);
        leaveAt(now, i.target);
        together = false;
        break;
      case Ret:
      case Exit:
        frame.left &= ~now;
        leaveAt(on, pc);
        together = false;
        break;
      case Shfl:
      case Bar:
        frame.waiting |= now;
        leaveAt(on, pc);
        together = false;
        break;
      default:
        compute(f, frame, i, now);
      }
    }
  }
  return true;
}

void Warp::call(const Function &f, Frame &frame, const Instruction &i, Mask on) {
  auto found = module.functions.find(i.callee);
  if (found == module.functions.end())
    throw Error("PTX: unknown function " + i.callee);
  const Function &callee = *found->second;
  Frame &inner = frameOf(callee);
  for (int special = 0; special < 4; ++special)
    inner.registers[special] = frame.registers[special];
  eachOf(on, [&](int t) {
    for (size_t k = 0; k < i.operands.size(); ++k)
      inner.slots[t * callee.slots + callee.paramSlots[k]] = frame.slots[t * f.slots + i.operands[k].param];
  });
  begin(callee, inner, on);
  if (!run(callee, inner))
    throw Error("PTX: a barrier inside of a function");
  if (i.resultSlot >= 0 && callee.resultSlot >= 0)
    eachOf(on,
           [&](int t) { frame.slots[t * f.slots + i.resultSlot] = inner.slots[t * callee.slots + callee.resultSlot]; });
}

/// shfl.sync.{down,idx}.b32 d|p, a, distance or lane, clamp, mask
void Warp::shuffle(Frame &frame, const Instruction &i, Mask waiting) {
  if (!(i.flags & (ShuffleDown | ShuffleFrom)) || waiting != ~Mask(0))
    throw Error("PTX: only whole warps shuffle, down or from one lane");
  const Row values = frame.registers[i.operands[1].reg], by = frame.registers[i.operands[2].reg];
  for (int t = 0; t < warpThreads; ++t) {
    Word from = (i.flags & ShuffleDown ? t : 0) + by[t];
    frame.registers[i.operands[0].reg][t] = values[from < warpThreads ? from : t];
  }
}

/// Also halves of words put together and taken apart.
void Warp::move(Frame &frame, const Instruction &i, Mask on) {
  const Operand &to = i.operands[0], &from = i.operands[1];
  auto row = [&](const Operand &o) -> Row & { return frame.registers[o.reg]; };
  if (to.kind == Operand::Vector) {
    const Row v = row(from);
    unsigned part = i.bits / to.parts.size();
    for (size_t k = 0; k < to.parts.size(); ++k)
      if (to.parts[k].kind == Operand::Register)
        eachOf(on, [&](int t) { row(to.parts[k])[t] = truncated(v[t] >> (part * k), part); });
    return;
  }
  if (from.kind != Operand::Vector)
    return eachOf(on, [&](int t) { row(to)[t] = row(from)[t]; });
  Row v{};
  unsigned part = i.bits / from.parts.size();
  for (size_t k = 0; k < from.parts.size(); ++k)
    eachOf(on, [&](int t) { v[t] |= truncated(row(from.parts[k])[t], part) << (part * k); });
  eachOf(on, [&](int t) { row(to)[t] = v[t]; });
}

void Warp::compare(Frame &frame, const Instruction &i, Mask on) {
  auto row = [&](const Operand &o) -> Row & { return frame.registers[o.reg]; };
  const Row &a = row(i.operands[1]), &b = row(i.operands[2]);
  const Row *other = i.operands.size() > 3 ? &row(i.operands[3]) : nullptr;
  auto each = [&]<typename T>(T, Row &to, int shift) {
    eachOf(on, [&](int t) {
      bool truth = i.relations & relationOf(as<T>(a[t] >> shift), as<T>(b[t] >> shift));
      if (other)
        truth = i.flags & WithAnd  ? truth && ((*other)[t] & 1)
                : i.flags & WithOr ? truth || ((*other)[t] & 1)
                                   : truth != ((*other)[t] & 1);
      to[t] = truth;
    });
  };
  Row &to = row(i.operands[0]);
  if (i.kind == 'h') { // a pair of halves gives two
    Row first;
    each(Half(), first, 0);
    each(Half(), row(i.operands[0].parts.at(0)), 16);
    eachOf(on, [&](int t) { to[t] = first[t]; });
  } else if (i.kind == 'f')
    i.bits == 64 ? each(double(), to, 0) : i.bits == 32 ? each(float(), to, 0) : each(Half(), to, 0);
  else if (i.kind == 's')
    i.bits == 64 ? each(int64_t(), to, 0) : i.bits == 32 ? each(int32_t(), to, 0) : each(int16_t(), to, 0);
  else
    i.bits == 64 ? each(uint64_t(), to, 0) : i.bits == 32 ? each(uint32_t(), to, 0) : each(uint16_t(), to, 0);
}

/// Sums and differences of several words.
void Warp::addWords(Frame &frame, const Instruction &i, Mask on) {
  auto row = [&](size_t k) -> Row & { return frame.registers[i.operands[k].reg]; };
  bool isAdd = i.code == Add || i.code == AddC, takes = i.code == AddC || i.code == SubC;
  eachOf(on, [&](int t) {
    unsigned __int128 x = truncated(row(1)[t], i.bits), y = truncated(row(2)[t], i.bits), in = takes ? carry[t] : 0,
                      v = isAdd ? x + y + in : x - y - in;
    if (i.flags & Carry)
      carry[t] = v >> i.bits & 1;
    row(0)[t] = truncated(static_cast<Word>(v), i.bits);
  });
}

namespace {

/// Calls `each` with what an operation on floats computes; false where there is none.
template <typename T, typename Each> bool floats(const Instruction &i, Each each) {
  switch (i.code) {
  case Add:
    return each([](T a, T b, T) { return a + b; });
  case Sub:
    return each([](T a, T b, T) { return a - b; });
  case Mul:
    return each([](T a, T b, T) { return a * b; });
  case Fma:
    return each([](T a, T b, T c) { return std::fma(a, b, c); });
  case Div:
    return each([](T a, T b, T) { return a / b; });
  case Min:
    return each([&](T a, T b, T) { return least(a, b, i.flags & KeepsNaN); });
  case Max:
    return each([&](T a, T b, T) { return -least(-a, -b, i.flags & KeepsNaN); });
  case Neg:
    return each([](T a, T, T) { return -a; });
  case Abs:
    return each([](T a, T, T) { return std::fabs(a); });
  case Sqrt:
    return each([](T a, T, T) { return std::sqrt(a); });
  case Rcp:
    return each([](T a, T, T) { return T(1) / a; });
  case CopySign: // copysign.f32 d, a, b: the sign of a, the magnitude of b
    return each([](T a, T b, T) { return std::copysign(b, a); });
  default:
    return false;
  }
}

template <typename T>
using Twice = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                                 std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

/// The same for integers of a type: of words, whose result is cut to the type's size.
template <typename T, typename Each> bool integers(const Instruction &i, Each each) {
  constexpr unsigned bits = 8 * sizeof(T);
  auto of = [&](auto f) {
    return each([f](Word a, Word b, Word c) { return wordOf(static_cast<T>(f(as<T>(a), as<T>(b), c))); });
  };
  auto wide = [](Word a, Word b) {
    return static_cast<Word>(static_cast<Twice<T>>(as<T>(a))) * static_cast<Word>(static_cast<Twice<T>>(as<T>(b)));
  };
  switch (i.code) {
  case Add:
    return of([](T a, T b, Word) { return Word(a) + Word(b); });
  case Sub:
    return of([](T a, T b, Word) { return Word(a) - Word(b); });
  case Mul:
    return of([](T a, T b, Word) { return Word(a) * Word(b); });
  case Mad:
    return of([](T a, T b, Word c) { return Word(a) * Word(b) + c; });
  case MulWide:
    return each([wide](Word a, Word b, Word) { return wordOf(static_cast<Twice<T>>(wide(a, b))); });
  case MadWide:
    return each([wide](Word a, Word b, Word c) { return wordOf(static_cast<Twice<T>>(wide(a, b) + c)); });
  case MulHi:
    using Product = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return of([](T a, T b, Word) { return static_cast<Word>(static_cast<Product>(a) * b >> bits); });
  case Div:
    return of([](T a, T b, Word) { return quotient(a, b); });
  case Rem:
    return of([](T a, T b, Word) { return remainder(a, b); });
  case Min:
    return of([](T a, T b, Word) { return a < b ? a : b; });
  case Max:
    return of([](T a, T b, Word) { return a > b ? a : b; });
  case Neg:
    return of([](T a, T, Word) { return -Word(a); });
  case Abs:
    return of([](T a, T, Word) { return a < 0 ? -Word(a) : Word(a); });
  case And:
    return each([](Word a, Word b, Word) { return truncated(a & b, bits); });
  case Or:
    return each([](Word a, Word b, Word) { return truncated(a | b, bits); });
  case Xor:
    return each([](Word a, Word b, Word) { return truncated(a ^ b, bits); });
  case Not:
    return each([](Word a, Word, Word) { return truncated(~a, bits); });
  case Shl:
    return each([](Word a, Word b, Word) { return (b & 0xffffffff) >= bits ? 0 : truncated(a << b, bits); });
  case Shr:
    return each([](Word a, Word b, Word) {
      Word by = b & 0xffffffff;
      return by >= bits ? (std::is_signed_v<T> && as<T>(a) < 0 ? wordOf(T(-1)) : 0)
                        : wordOf(static_cast<T>(as<T>(a) >> by));
    });
  case Clz:
    return each([](Word a, Word, Word) { return Word(std::countl_zero(truncated(a, bits)) - (64 - bits)); });
  case Popc:
    return each([](Word a, Word, Word) { return Word(std::popcount(truncated(a, bits))); });
  case Brev:
    return each([](Word a, Word, Word) { return reversed(a, bits); });
  case Shf:
    return each([&](Word a, Word b, Word c) { return funnel(a, b, c, i.flags); });
  case Bfe:
    return each([](Word a, Word b, Word c) { return truncated(field(a, b, c, bits, std::is_signed_v<T>), bits); });
  case Prmt:
    return each([](Word a, Word b, Word c) { return permuted(a, b, c); });
  default:
    return false;
  }
}

bool isA(const Instruction &i, double x) {
  return i.flags & IsInfinite ? std::isinf(x)
         : i.flags & IsNaN    ? std::isnan(x)
         : i.flags & IsFinite ? std::isfinite(x)
                              : !std::isnan(x);
}

} // namespace

void Warp::compute(const Function &f, Frame &frame, const Instruction &i, Mask on) {
  static const Row nothing{};
  auto operand = [&](size_t k) -> const Row & {
    return k < i.operands.size() ? frame.registers[i.operands[k].reg] : nothing;
  };
  auto words = [&](auto &&compute) {
    const Row &a = operand(1), &b = operand(2), &c = operand(3);
    Row &out = frame.registers[i.operands[0].reg];
    eachOf(on, [&](int t) { out[t] = compute(a[t], b[t], c[t]); });
    return true;
  };
  auto numbers = [&]<typename T>(T) {
    return floats<T>(i, [&](auto compute) {
      return words(
          [&](Word a, Word b, Word c) { return wordOf(static_cast<T>(compute(as<T>(a), as<T>(b), as<T>(c)))); });
    });
  };
  auto halves = [&] { // exact in double, rounded once
    return floats<double>(i, [&](auto compute) {
      auto one = [&](Word a, Word b, Word c) {
        return wordOf(static_cast<Half>(compute(as<Half>(a), as<Half>(b), as<Half>(c))));
      };
      return i.kind == 'f'
                 ? words(one)
                 : words([&](Word a, Word b, Word c) { return one(a, b, c) | one(a >> 16, b >> 16, c >> 16) << 16; });
    });
  };
  bool done = true, isSigned = i.kind == 's';
  switch (i.code) {
  case Call:
    return call(f, frame, i, on);
  case Ld:
  case St:
    return transfer(f, frame, i, on);
  case Mov:
    return move(frame, i, on);
  case SetP:
    return compare(frame, i, on);
  case AddC:
  case SubC:
    return addWords(frame, i, on);
  case Cvta:
    done = words([&](Word a, Word, Word) {
      return i.space != Space::Local ? a : i.flags & To ? a - localWindow : a + localWindow;
    });
    break;
  case Cvt:
    if (i.kind == 'h') // two floats to a pair, the first one above
      done = words([](Word a, Word b, Word) {
        return wordOf(static_cast<Half>(as<float>(a))) << 16 | wordOf(static_cast<Half>(as<float>(b)));
      });
    else if (i.kind == 't') // one, or two as above
      done = words([&](Word a, Word b, Word) {
        return i.bits == 16 ? nearestBrain(a) : nearestBrain(a) << 16 | nearestBrain(b);
      });
    else
      done = words([&](Word a, Word, Word) { return convert(i, a); });
    break;
  case SelP:
    done = words([](Word a, Word b, Word c) { return c & 1 ? a : b; });
    break;
  case Testp:
    done = (i.flags & (IsInfinite | IsNaN | IsFinite | IsNumber)) &&
           words([&](Word a, Word, Word) { return Word(isA(i, i.bits == 64 ? as<double>(a) : as<float>(a))); });
    break;
  default:
    if (i.flags & Carry)
      return addWords(frame, i, on);
    if (i.kind == 'p')
      done = integers<uint64_t>(i, [&](auto compute) {
        return words([&](Word a, Word b, Word c) { return compute(a & 1, b & 1, c & 1) & 1; });
      });
    else if (i.kind == 'f' || i.kind == 'h')
      done = i.kind == 'f' && i.bits == 64   ? numbers(double())
             : i.kind == 'f' && i.bits == 32 ? numbers(float())
                                             : halves();
    else if (i.kind == 't') { // bf16, alone or in pairs: signs alone are computed with
      Word signs = i.bits == 16 ? 0x8000 : 0x80008000;
      done = (i.code == Neg || i.code == Abs) &&
             words([&](Word a, Word, Word) { return i.code == Neg ? a ^ signs : a & ~signs; });
    } else if (i.bits == 64)
      done = isSigned ? integers<int64_t>(i, words) : integers<uint64_t>(i, words);
    else if (i.bits == 32)
      done = isSigned ? integers<int32_t>(i, words) : integers<uint32_t>(i, words);
    else
      done = i.bits == 16 && (isSigned ? integers<int16_t>(i, words) : integers<uint16_t>(i, words));
  }
  if (!done)
    throw Error("PTX: " + i.name + " of these types");
}

/// Warps go on one after the other from barrier to barrier; without barriers they need nothing of each other.
void run(const Module &module, const Function &kernel, unsigned blocks, unsigned threads,
         const std::vector<uint64_t> &parameters, Memory &memory) {
  Shared shared{std::vector<char>(module.sharedBytes)};
  unsigned number = (threads + warpThreads - 1) / warpThreads;
  std::vector<std::unique_ptr<Warp>> warps;
  for (unsigned i = 0; i < (kernel.hasBarriers ? number : 1); ++i)
    warps.push_back(std::make_unique<Warp>(module, memory, shared));
  for (unsigned block = 0; block < blocks; ++block) {
    std::fill(shared.bytes.begin(), shared.bytes.end(), static_cast<char>(0xff));
    auto start = [&](unsigned i) -> Warp & {
      Warp &warp = *warps[i % warps.size()];
      unsigned first = i * warpThreads;
      warp.start(kernel, block, threads, first, std::min<unsigned>(warpThreads, threads - first), parameters);
      return warp;
    };
    if (!kernel.hasBarriers) {
      for (unsigned i = 0; i < number; ++i)
        start(i).goOn(kernel);
      continue;
    }
    for (unsigned i = 0; i < number; ++i)
      start(i);
    if (block % 2 == 0) // what depends on the order of warps lacks a barrier
      std::reverse(warps.begin(), warps.end());
    for (unsigned atBarrier = number; atBarrier > 0;) {
      atBarrier = 0;
      for (std::unique_ptr<Warp> &warp : warps)
        atBarrier += warp->goOn(kernel);
      if (atBarrier > 0 && atBarrier < number)
        throw Error("PTX: a barrier that not all warps of a block reach");
    }
  }
}

} // namespace ptx

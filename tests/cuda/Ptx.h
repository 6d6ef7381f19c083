// SPDX-License-Identifier: Apache-2.0
/// \file
/// An interpreter of PTX, as far as LLVM writes it for kernels of toy: scalar code, local memory, calls, warp shuffles.
/// The threads of a warp that are at the same instruction compute it together. Every access of global memory goes
/// through the caller's hook.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptx {

struct Error : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Global memory: gives the place where the bytes really are, or throws.
struct Memory {
  virtual ~Memory() = default;
  virtual char *access(uint64_t address, unsigned bytes, bool isWrite) = 0;
  /// Whether all of these bytes may be accessed at once.
  virtual bool has(uint64_t address, uint64_t bytes) = 0;
  /// So many turns more than one, because threads of a warp touch different words of one bank of shared memory.
  virtual void conflict(uint64_t turns) = 0;
};

using Slot = std::array<uint64_t, 4>; ///< of parameters and results: structures too
/// Where the parameters of a kernel lie one after the other, for loads through an address.
constexpr uint64_t paramWindow = uint64_t(1) << 61;
/// Where the shared memory of a block is, for all of its threads, and how much there may be.
constexpr uint64_t sharedWindow = uint64_t(1) << 59, mostShared = 48 << 10;

/// Operations, as the interpreter numbers them.
enum Code : int {
  Add,
  AddC,
  Sub,
  SubC,
  Mul,
  MulWide,
  MulHi,
  Mad,
  MadWide,
  Fma,
  Div,
  Rem,
  Min,
  Max,
  Neg,
  Abs,
  And,
  Or,
  Xor,
  Not,
  Shl,
  Shr,
  Sqrt,
  Rcp,
  CopySign,
  Mov,
  Cvta,
  Cvt,
  SetP,
  SelP,
  Ld,
  St,
  Bra,
  Ret,
  Call,
  Shfl,
  Bar,
  Shf,
  Clz,
  Popc,
  Brev,
  Bfe,
  Testp,
  Prmt,
  Exit
};

enum class Space : uint8_t { Register, Param, Global, Local, Const, Shared };

struct Operand {
  enum Kind : uint8_t { None, Register, Vector, Address } kind = None;
  int reg = -1;       ///< also the base of an address, and of a constant, which has a register of its own
  uint64_t value = 0; ///< offset of an address
  int param = -1;     ///< an address inside of a parameter (or call slot)
  std::vector<Operand> parts;
};

/// What the parts of an opcode's name say that matters to what it computes.
enum Flag : unsigned {
  ToNearest = 1,
  ToZero = 2,
  Down = 4,
  Up = 8,
  KeepsNaN = 16,
  Clamp = 32,
  Left = 64,
  To = 128,
  ShuffleDown = 256,
  ShuffleFrom = 512,
  WithAnd = 1024,
  WithOr = 2048,
  IsInfinite = 4096,
  IsNaN = 8192,
  IsFinite = 16384,
  IsNumber = 32768,
  Carry = 65536,
  Wide = 1 << 17,
  High = 1 << 18
};

enum Relation : unsigned char { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

struct Instruction {
  std::string name; ///< first part of the opcode
  char kind = 'b';  ///< of the last type: b, u, s, f, p
  unsigned bits = 0;
  char fromKind = 0; ///< of the one before, in cvt
  unsigned fromBits = 0;
  std::vector<Operand> operands;
  int guard = -1;
  bool guardNegated = false;
  int target = -1; ///< of branches
  std::string callee;
  int resultSlot = -1; ///< of calls
  int code = 0;        ///< the interpreter's number of the operation
  Space space = Space::Register;
  unsigned width = 1;
  unsigned flags = 0;
  unsigned char relations = 0; ///< with which a comparison is true
};

struct Function {
  std::string name;
  bool isEntry = false;
  std::vector<int> paramSlots; ///< slots of the parameters, in order
  int resultSlot = -1;
  int slots = 0, registers = 0;
  unsigned localBytes = 0;
  bool hasBarriers = false;
  std::vector<std::pair<int, uint64_t>> constants; ///< registers that have a value
  int localRegister = -1;                          ///< that has the place of local memory
  std::vector<Instruction> code;
};

struct Module {
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::map<std::string, uint64_t> globals;              ///< addresses of constants
  std::vector<std::pair<uint64_t, uint64_t>> constants; ///< where they begin and end
  std::vector<std::unique_ptr<char[]>> storage;
  uint64_t sharedBytes = 0;
};

/// Throws Error for what it does not understand.
std::unique_ptr<Module> parse(const std::string &text);
/// Runs all threads of a grid of `blocks` blocks of `threads` threads.
void run(const Module &module, const Function &kernel, unsigned blocks, unsigned threads,
         const std::vector<uint64_t> &parameters, Memory &memory);

} // namespace ptx

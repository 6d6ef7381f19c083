// SPDX-License-Identifier: Apache-2.0
/// \file
/// An interpreter of PTX, as far as LLVM writes it for kernels of toy: scalar code, local memory, calls, warp shuffles.
/// The threads of a warp run one after the other up to the next shuffle. Every access of global memory goes through the
/// caller's hook.
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
};

using Slot = std::array<uint64_t, 4>; ///< of parameters and results: structures too
/// Where the parameters of a kernel lie one after the other, for loads through an address.
constexpr uint64_t paramWindow = uint64_t(1) << 61;

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
  Shf,
  Clz,
  Popc,
  Brev,
  Bfe,
  Testp,
  Prmt,
  Exit
};

enum class Space : uint8_t { Register, Param, Global, Local, Const };

struct Operand {
  enum Kind : uint8_t { None, Register, Immediate, Vector, Address, LocalBase } kind = None;
  int reg = -1;       ///< also the base of an address
  uint64_t value = 0; ///< immediate; offset of an address
  int param = -1;     ///< an address inside of a parameter (or call slot)
  std::vector<Operand> parts;
};

enum Relation : unsigned char { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

struct Instruction {
  std::string name;                ///< first part of the opcode
  std::vector<std::string> suffix; ///< the others
  char kind = 'b';                 ///< of the last type: b, u, s, f, p
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
  bool setsCarry = false;
  unsigned char relations = 0; ///< with which a comparison is true
  bool has(const char *text) const {
    for (const std::string &s : suffix)
      if (s == text)
        return true;
    return false;
  }
};

struct Function {
  std::string name;
  bool isEntry = false;
  std::vector<int> paramSlots; ///< slots of the parameters, in order
  int resultSlot = -1;
  int slots = 0, registers = 0;
  unsigned localBytes = 0;
  std::vector<Instruction> code;
};

struct Module {
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::map<std::string, uint64_t> globals; ///< addresses of constants
  std::vector<std::unique_ptr<char[]>> storage;
};

/// Throws Error for what it does not understand.
std::unique_ptr<Module> parse(const std::string &text);
/// Runs all threads of a grid of `blocks` blocks of `threads` threads.
void run(const Module &module, const Function &kernel, unsigned blocks, unsigned threads,
         const std::vector<uint64_t> &parameters, Memory &memory);

} // namespace ptx

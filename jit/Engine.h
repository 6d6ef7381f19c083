// SPDX-License-Identifier: Apache-2.0
/// \file
/// LLVM IR to machine code in this process: optimizes it, links it, calls it.
#pragma once

#include "ir/ShapeFacts.h"
#include "jit/Promotion.h"
#include "reference/Evaluator.h"
#include "support/CompileOptions.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace llvm {
class TargetMachine;
}

namespace toy {
namespace rt {
struct DeviceKernel;
}

/// Counters of compiled code, for --stats.
struct EngineStats {
  int64_t loops = 0;                      ///< fused loop nests run
  int64_t repacks = 0;                    ///< conversions between planar and interleaved matrices
  int64_t promoted = 0;                   ///< quick kernels that were optimized
  std::map<std::string, int64_t> kernels; ///< library kernels called
};

/// How a value enters and leaves compiled code. Pairs: a complex tensor, which unpacked code sees as a real one with a
/// last axis of 2.
enum class Passing : uint8_t { Tensor, Pairs, Text, List };
struct Signature {
  llvm::SmallVector<Passing> arguments, results;
};

/// LLVM IR on its way to an object. It is shared, and owns all that it needs: Ctrl-C may leave a thread behind that
/// works on it.
struct MachineCode {
  explicit MachineCode(std::shared_ptr<llvm::LLVMContext> context = std::make_shared<llvm::LLVMContext>())
      : context(std::move(context)) {}
  std::shared_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  bool quick = false; ///< costs more to optimize than to run
  bool loops = false; ///< has loops of the program's own over elements or scalars, or recursion
  bool brief = false; ///< takes a few hundredths of a second: not worth a thread of its own
  std::unique_ptr<llvm::MemoryBuffer> object;
};

/// An object, and what it is linked with.
struct Linkable {
  struct Function {
    std::string symbol; ///< in the session
    std::string name;   ///< in the object: `NAME` and, where it can be called from here, `NAME.entry`
    bool isDefined;     ///< otherwise it is one that was linked before
    std::string shown;  ///< the user's name
    Signature signature;
  };
  std::vector<Function> functions;
  std::vector<mlir::Location> sites;         ///< what its errors give as numbers
  std::vector<mlir::Operation *> operations; ///< what it asks the evaluator for, by number
  std::vector<mlir::Operation *> constants;  ///< the tensors that it holds, by number
  mlir::OwningOpRef<mlir::ModuleOp> ir;      ///< which holds them
  rt::DeviceKernel **kernels = nullptr;      ///< what it launches, by number
  std::unique_ptr<llvm::MemoryBuffer> object;
};

class Engine {
public:
  explicit Engine(const CompileOptions &options);
  ~Engine();
  /// Makes the target and the JIT with the symbols of the runtime, the first time. What went wrong is in `error`.
  bool start(std::string &error);
  /// Drops all code; counters stay. What is damaged is left where it is.
  void renew(bool damaged = false);

  /// The machine that a module is made for, before it has functions, and the features that these may use.
  void setTarget(llvm::Module &module);
  void setFeatures(llvm::Module &module);
  /// What decides code beside the IR, for the key of a cache. `quick` and `loops` as in MachineCode.
  std::string targetKey(bool quick = false, bool loops = false) const;
  /// Ctrl-C leaves LLVM behind: rt::Error.
  void optimize(std::shared_ptr<MachineCode> code, int64_t before = 0);
  void assemble(std::shared_ptr<MachineCode> code, std::string &error);
  /// Assembly, or the bytes of an object, to look at.
  std::string written(MachineCode &code, bool asObject, std::string &error);

  /// Adds kernels, for what is linked from now on. Those that they call are there. `isKept`: an earlier
  /// program had them.
  void linkKernels(std::unique_ptr<llvm::MemoryBuffer> object, bool isKept, std::string &error);
  bool hasKernel(llvm::StringRef digest) const;
  /// Kernels that were optimized while code ran, for the cache.
  std::vector<Promoter::Kernel> takePromoted();
  void link(Linkable linkable, std::string &error);
  /// Code that is linked and called from now on is watched; null: no more.
  void setProfiler(class Profiler *profiler);
  /// What a kernel is called in `perf`.
  void nameKernel(llvm::StringRef digest, std::string name);
  bool has(llvm::StringRef symbol) const;
  /// Calls a linked function. Throws rt::Error.
  std::vector<rt::Value> call(llvm::StringRef symbol, std::vector<rt::Value> arguments, Environment &environment);
  /// Where the last error happened and the calls around it, innermost first; told once, so that it is not taken for the
  /// place of another error.
  std::vector<mlir::Location> takeFailureChain();
  /// The place that compiled code calls by a number, if it is one.
  std::optional<mlir::Location> placeOf(int64_t site) const;
  EngineStats &stats();

  /// Whether sizes (by slot) are the fixed ones and the facts hold, names being slots; null where that cannot be
  /// compiled. Lives as long as the code.
  using SizeGuards = bool (*)(const int64_t *sizes);
  SizeGuards compileGuards(llvm::ArrayRef<std::optional<int64_t>> fixed, llvm::ArrayRef<SizeFact> facts,
                           const llvm::StringMap<unsigned> &places);

private:
  struct Impl;
  const CompileOptions &options;
  std::unique_ptr<Impl> impl;
};

} // namespace toy

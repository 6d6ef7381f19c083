// SPDX-License-Identifier: Apache-2.0
/// \file
/// The compiler: from the toy dialect to machine code that can be called, phase by phase.
#pragma once

#include "jit/CodeCache.h"
#include "jit/Engine.h"
#include "jit/Profiler.h"
#include "jit/ReadyKernels.h"
#include "passes/RecognitionLog.h"
#include "support/CompileOptions.h"
#include "support/PhaseTimes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace toy {
class SourceManager;
struct DeviceCode;

/// The phases in their order. `Generate` is what comes in.
enum class Phase : uint8_t { Generate, Recognize, Algebra, Unpack, Select, Lower, Optimize, Assemble, Link };

/// The phase behind a stage that is a module of the dialect; nothing for other stages.
std::optional<Phase> dialectPhase(llvm::StringRef stage);

/// The body of a function that a module only declares, or null.
using BodyLookup = std::function<mlir::func::FuncOp(llvm::StringRef symbol)>;

/// Functions that the calls of a module only find declared get their bodies, private, and so do those that these call:
/// to be compiled with the module if they have no code yet, otherwise to be inlined (`toy.imported`).
void importBodies(mlir::ModuleOp module, const BodyLookup &bodyOf, const Engine &engine);

/// What is compiled together: the functions of a module, which stays as it is, and those that they call and that have
/// no code yet.
struct Unit {
  mlir::ModuleOp module;
  llvm::StringRef evaluated = ""; ///< a function that gets no code: the evaluator runs it
  BodyLookup bodyOf = [](llvm::StringRef) { return mlir::func::FuncOp(); };
};

/// A user function that was given code: its name, why this specialization of it was made, and whether some sizes are
/// dynamic.
struct CompiledFunction {
  std::string name, reason;
  bool dynamic;
};

/// What the phases have made of a unit.
struct CompiledUnit {
  mlir::OwningOpRef<mlir::ModuleOp> ir; ///< in the toy dialect: recognized, unpacked, selected
  std::shared_ptr<MachineCode> code = std::make_shared<MachineCode>();
  std::vector<std::shared_ptr<MachineCode>> kernels; ///< that were not known, in the order in which they are linked
  llvm::StringMap<Signature> signatures;             ///< of its functions, before complex tensors are unpacked
  Linkable linkable;
  std::vector<CompiledFunction> functions;
  bool fromCache = false;
  std::string error; ///< of the phase that failed; empty: none has
};

/// Compiles units and keeps what they share: the pipelines, the cache of code, the engine that holds it, and what
/// recognition found.
class Compiler {
public:
  explicit Compiler(const CompileOptions &options);
  ~Compiler();

  /// Runs the phases up to `last`. Functions that were inlined everywhere get no code. False after an error; throws
  /// rt::Error when Ctrl-C was pressed.
  bool compile(const Unit &unit, CompiledUnit &out, Phase last = Phase::Link);
  /// Only recognition, into the log, for a function that will be evaluated.
  void recognize(const Unit &unit, llvm::StringRef symbol);
  /// Whether a statement is worth compiling: loops and large tensors are, small straight-line code is evaluated.
  bool isWorthCompiling(const Unit &unit, llvm::StringRef symbol) const;
  /// Compiles two small functions, so that the first one of the user's finds the tables of MLIR and LLVM read and
  /// built. On any thread.
  void warmUp(mlir::MLIRContext *context);
  /// Drops all code, and what recognition found. What is damaged is left where it is.
  void renew(bool damaged);

  // To look at, for --emit and the prompt.
  /// The text of a stage of `compile/Phases.def`. Those of the dialect show the lines they come from in between. With
  /// a name, only the functions that were generated from the program's function of that name; throws rt::Error where
  /// there are none.
  std::string emit(mlir::ModuleOp module, llvm::StringRef stage, std::string &error, const SourceManager &sources,
                   llvm::StringRef function = "");
  /// A copy of a module after a phase that ends in the dialect; null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> after(mlir::ModuleOp module, Phase phase, std::string &error);
  /// The loops and library kernels of a module, a line each.
  std::string kernelsOf(mlir::ModuleOp module, std::string &error);

  /// Code from here on tells where it is, and is watched; null: no more.
  void setProfiler(Profiler *watching);

  Engine engine;
  RecognitionLog log; ///< what recognition found and refused so far, also in functions that are evaluated
  PhaseTimes times;
  /// Kernels of the code that was compiled: those that had to be, and those that were there from before, of which some
  /// came with the program.
  struct {
    int64_t made = 0, kept = 0, ready = 0;
  } kernels;

private:
  struct State;
  bool usesDevice() const;
  void copyModule(const Unit &unit, CompiledUnit &c);
  void runPasses(CompiledUnit &c, Phase phase);
  void lower(CompiledUnit &c);
  /// `device`: where kernels go; null: the host does everything.
  void emitFunctions(CompiledUnit &c, DeviceCode *device);
  rt::DeviceKernel **tableOf(DeviceCode &code);
  std::string ptx(CompiledUnit &c, std::string &error);
  std::string machineStage(CompiledUnit &c, llvm::StringRef stage, std::string &error, llvm::StringRef function);
  bool isQuick(const CompiledUnit &c) const;
  /// The key of the code; its object is in `c` if it was made before.
  std::string findInCache(CompiledUnit &c);
  /// Whether kernels are linked or can be, from the cache.
  bool haveKernels(llvm::ArrayRef<std::string> digests);
  void splitKernels(CompiledUnit &c);
  void optimize(CompiledUnit &c);
  void assemble(CompiledUnit &c);
  void keep(const std::string &key, const CompiledUnit &c);
  void keepPromoted();
  void noteLoops(const CompiledUnit &c);
  void link(CompiledUnit &c);

  const CompileOptions &options;
  Profiler *profiler = nullptr;
  bool warming = false; ///< nothing is measured, taken from the cache or kept there
  std::unique_ptr<CodeCache> cache;
  std::unique_ptr<ReadyKernels> ready;
  const char *const makesReady; ///< a file that gets the kernels of this process, $TOY_MAKE_KERNELS, or null
  std::vector<std::string> readyObjects;
  std::unique_ptr<State> state; ///< what goes with the code
};

} // namespace toy

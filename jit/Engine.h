// SPDX-License-Identifier: Apache-2.0
/// \file
/// Compiles modules of the toy dialect to machine code and calls it.
#pragma once

#include "ir/ShapeFacts.h"
#include "passes/RecognitionLog.h"
#include "reference/Evaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <set>

namespace toy {
class SourceManager;

struct EngineOptions {
  int optimization = -1; ///< -O0 to -O3; -1: as much as the work of each module is worth
  bool fuse = true;
  bool recognize = true;
  std::string complexMatmul = "auto";
  bool fastMath = false;
  bool cache = true;   ///< keep code on disk
  bool device = false; ///< loops may also be kernels of a device, if there is one
  bool unpack = false; ///< complex tensors are real ones with a last axis of 2 in all code
};

/// Counters of compiled code, for --stats.
struct EngineStats {
  int64_t loops = 0;                       ///< fused loop nests run
  int64_t repacks = 0;                     ///< conversions between planar and interleaved matrices
  std::map<std::string, int64_t> kernels; ///< library kernels called
};

/// A user function that was given code: its name, why this form of it was made, and whether some sizes are as they come.
struct CompiledFunction {
  std::string name, reason;
  bool dynamic;
};

class Engine {
public:
  /// Gives the body of a function that a module only declares, or null.
  using BodyLookup = llvm::function_ref<mlir::func::FuncOp(llvm::StringRef symbol)>;
  explicit Engine(EngineOptions options);
  /// Drops all code, and what recognition found; counters stay. What is damaged is left where it is.
  void renew(bool damaged = false);
  ~Engine();
  /// Starts the JIT and compiles small functions, so that the first one of the user's finds everything ready.
  void prepare(mlir::MLIRContext *context);

  /// Whether sizes (by slot) are the fixed ones and the facts hold, names being slots; null where that cannot be compiled. Lives as long as the code.
  using SizeGuards = bool (*)(const int64_t *sizes);
  SizeGuards compileGuards(llvm::ArrayRef<std::optional<int64_t>> fixed, llvm::ArrayRef<SizeFact> facts, const llvm::StringMap<unsigned> &places);
  /// Compiles a module's functions but `except`, and those without code yet that it needs; functions that were inlined everywhere are left out.
  /// The module is not changed. `compiled` gets the user functions that now have code, `fromCache`
  /// whether it was made before.
  bool compile(mlir::ModuleOp module, llvm::StringRef except, BodyLookup bodyOf, std::vector<CompiledFunction> &compiled, bool &fromCache, std::string &error);
  bool has(llvm::StringRef symbol) const;
  /// Calls a compiled function. Throws rt::Error.
  std::vector<rt::Value> call(llvm::StringRef symbol, mlir::func::FuncOp function, std::vector<rt::Value> arguments, Environment &environment);
  /// Where the last error happened and the calls around it, innermost first; told once, so that it is not taken for the place of another error.
  std::vector<mlir::Location> takeFailureChain();
  /// The place that compiled code calls by a number, if it is one.
  std::optional<mlir::Location> placeOf(int64_t site) const;
  EngineStats &stats();
  /// What recognition found and refused so far, also in functions that are evaluated.
  RecognitionLog &recognition();
  /// Only recognition, for a function that will be evaluated.
  void recognize(mlir::ModuleOp module, llvm::StringRef symbol, BodyLookup bodyOf);

  /// Texts of the later stages, for --emit: `llvm`, `asm`.
  /// With sources, stages of the dialect show the lines they come from in between.
  std::string emit(mlir::ModuleOp module, llvm::StringRef stage, std::string &error, const SourceManager *sources = nullptr);
  /// The loops and library kernels of a module, a line each.
  std::string kernelsOf(mlir::ModuleOp module, std::string &error);
  /// A copy after recognition, or after kernel selection.
  mlir::OwningOpRef<mlir::ModuleOp> staged(mlir::ModuleOp module, bool recognized, std::string &error);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace toy

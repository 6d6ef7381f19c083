// SPDX-License-Identifier: Apache-2.0
/// \file
/// The reference evaluator of the toy dialect: one operation after the other, written to be read. Compiled code must
/// give the same bits (matrix products: within the bound of rule 13, docs/reference). It also runs top-level statements
/// that are too small to be worth compiling.
#pragma once

#include "runtime/Error.h"
#include "runtime/Random.h"
#include "runtime/Value.h"
#include "support/CompileOptions.h"
#include "support/CsvOptions.h"

#include "mlir/Analysis/Liveness.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace toy {

/// The world that a program acts on.
class Environment {
public:
  virtual ~Environment() = default;
  /// The leaf of a top-level variable: `x`, or `p.0` of a tuple or struct.
  virtual rt::Value getGlobal(const std::string &name) = 0;
  virtual void setGlobal(const std::string &name, rt::Value value) = 0;
  /// The variable is about to be set: it gives up its value.
  virtual void releaseGlobal(const std::string &name) = 0;
  virtual const std::vector<std::string> &arguments() = 0;
  virtual rt::RandomState &random() = 0;
  /// Whether a function exists as compiled code, which is then called instead of being evaluated.
  virtual bool isCompiled(const std::string &symbol) = 0;
  /// A compiled function, or one without a body in the module.
  virtual std::vector<rt::Value> callExternal(const std::string &symbol, std::vector<rt::Value> arguments) = 0;

  /// A block begins that may fail, and has ended; a failed one leaves variables as they were.
  virtual void beginAttempt() = 0;
  virtual void endAttempt(bool failed) = 0;
  /// An error that a program catches, with the places that it came through, innermost first: numbers of compiled code,
  /// then those of the evaluator.
  virtual void noteCaught(const rt::Error &error, llvm::ArrayRef<int64_t> sites,
                          llvm::ArrayRef<mlir::Location> chain) = 0;
  /// What is held of objects that are newer than a block that failed, once for each reference.
  virtual std::vector<const void *> heldObjects() = 0;
  /// The program has come to `breakpoint()`: its number, its place, and the leaves of the local variables.
  virtual void stopAt(int64_t number, mlir::Location place, llvm::ArrayRef<rt::Value> leaves) {}
  /// How far to the right a line about a call stands (CompileOptions::traceCalls), with the place of the function's
  /// name; nothing where it is not shown. The statement itself is the first call.
  virtual std::optional<int> traceDepth(mlir::Location function, bool isCall) { return callDepth - 2; }
  /// A function has come to a block, and how far its loops are is asked (runtime/Progress.h): integers by their values.
  virtual void tellTurns(mlir::Block *block, llvm::function_ref<std::optional<int64_t>(mlir::Value)> integerOf) {}
  /// The code, the text and the place of the last one.
  virtual std::string caught(int64_t part) = 0;

  int callDepth = 0;                   ///< evaluated calls that are active, in all modules
  std::vector<mlir::Location> callers; ///< where they stand, the outermost first
};

/// The lines that `toy.print` shows for flattened values (see the operation's `structure`).
std::string renderPrint(llvm::StringRef structure, bool echo, llvm::ArrayRef<rt::Value> leaves);
/// Loads a tensor for `toy.load` and checks it against the declared type; names of sizes take what comes.
rt::TensorRef loadAs(const std::string &path, const std::string &name, mlir::Type declared, const CsvOptions &csv = {});

/// The same memory as complex numbers and as pairs of reals.
rt::Value complexView(const rt::Value &pairs);
rt::Value pairsView(const rt::Value &complex);

/// Runs a body that may fail. False where it did by an error that programs may catch: families R and I, but for Ctrl-C.
/// Then variables, random numbers and reference counts are what they were; `tell` notes the error.
/// A body that returns false has failed, and noted its error, without one that is thrown.
bool attempt(Environment &environment, llvm::function_ref<bool()> body,
             llvm::function_ref<void(const rt::Error &)> tell);
/// What stands for a value that is not there (see toy.absent).
rt::Value absentValue(mlir::Type type);

class Evaluator {
public:
  Evaluator(mlir::ModuleOp module, Environment &environment, const CompileOptions &options)
      : module(module), environment(environment), options(options) {}

  /// Runs a function. Throws rt::Error; `callChain` then holds the locations of the failing operation and of the calls
  /// around it, innermost first.
  std::vector<rt::Value> call(mlir::func::FuncOp function, std::vector<rt::Value> arguments);
  std::vector<mlir::Location> callChain;

private:
  friend struct Frame;
  std::vector<rt::Value> callFrom(struct Frame &frame, mlir::func::CallOp call);
  const mlir::Liveness &livenessOf(mlir::Operation *function);
  std::map<mlir::Operation *, std::unique_ptr<mlir::Liveness>> liveness; ///< of functions, where it was asked for
  mlir::ModuleOp module;
  Environment &environment;
  const CompileOptions &options;
};

} // namespace toy

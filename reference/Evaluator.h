// SPDX-License-Identifier: Apache-2.0
/// \file
/// The reference evaluator of the toy dialect: one operation after the other, written to be read. Compiled code must
/// give the same bits (matrix products: within the bound of rule 13, docs/reference). It also runs top-level statements
/// that are too small to be worth compiling.
#pragma once

#include "runtime/ArrayOps.h"
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

  int callDepth = 0; ///< evaluated calls that are active, in all modules
};

/// The lines that `toy.print` shows for flattened values (see the operation's `structure`).
std::string renderPrint(llvm::StringRef structure, bool echo, llvm::ArrayRef<rt::Value> leaves);
/// Loads a tensor for `toy.load` and checks it against the declared type; names of sizes take what comes.
rt::TensorRef loadAs(const std::string &path, const std::string &name, mlir::Type declared, const CsvOptions &csv = {});

/// The same memory as complex numbers and as pairs of reals.
rt::Value complexView(const rt::Value &pairs);
rt::Value pairsView(const rt::Value &complex);

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
  const mlir::Liveness &livenessOf(mlir::Operation *function);
  std::map<mlir::Operation *, std::unique_ptr<mlir::Liveness>> liveness; ///< of functions, where it was asked for
  mlir::ModuleOp module;
  Environment &environment;
  const CompileOptions &options;
};

} // namespace toy

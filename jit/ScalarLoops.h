// SPDX-License-Identifier: Apache-2.0
/// \file
/// Which of the program's counted loops LLVM left without vectors, and why: for remarks. The answer goes into the
/// object, so that code from the cache has it, too.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <string>

namespace toy {

/// By the number that the lowering gave a loop (`markLoop`): why it has no vectors. A number of a check without a
/// reason: no loop makes it in each turn, though the program says so.
using ScalarLoops = std::map<uint64_t, std::string>;

/// Takes down what the vectorizer says of marked loops while it lives.
class VectorizerLog {
public:
  explicit VectorizerLog(llvm::LLVMContext &context);
  ~VectorizerLog();
  /// Writes the marked loops of an optimized module that have no vectors, and what checks are made before their loops,
  /// into the module.
  void embed(llvm::Module &module) const;

private:
  llvm::LLVMContext &context;
  std::unique_ptr<llvm::DiagnosticHandler> before;
  std::shared_ptr<ScalarLoops> reasons = std::make_shared<ScalarLoops>();
};

/// What `embed` wrote into the module that became an object.
ScalarLoops scalarLoopsOf(llvm::MemoryBufferRef object);

} // namespace toy

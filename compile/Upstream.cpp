// SPDX-License-Identifier: Apache-2.0
/// \file
/// Unpacked, without what is not asked for, in upstream dialects.
#include "compile/Upstream.h"

#include "compile/ShowImpl.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <set>

using namespace mlir;

namespace toy {

/// Without functions that those of a name do not call.
static void keepReachable(ModuleOp module, llvm::function_ref<bool(func::FuncOp)> isChosen) {
  std::set<Operation *> kept;
  SmallVector<func::FuncOp> open;
  for (auto function : module.getOps<func::FuncOp>())
    if (isChosen(function))
      open.push_back(function);
  while (!open.empty()) {
    func::FuncOp function = open.pop_back_val();
    if (!kept.insert(function).second)
      continue;
    function.walk([&](func::CallOp call) { open.push_back(module.lookupSymbol<func::FuncOp>(call.getCallee())); });
  }
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (!kept.contains(function))
      function.erase();
}

std::string emitUpstream(Compiler &compiler, ModuleOp module, StringRef function, const SourceManager &sources,
                         std::string &error, std::vector<std::pair<Location, std::string>> &missing) {
  OwningOpRef<ModuleOp> ir = compiler.after(module, Phase::Unpack, error);
  if (!ir)
    return "";
  keepReachable(*ir, chosen(*ir, function));
  PassManager passes(ir->getContext());
  passes.addPass(createConvertToyToLinalg());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  ScopedDiagnosticHandler collect(ir->getContext(), [&](mlir::Diagnostic &diagnostic) {
    missing.emplace_back(diagnostic.getLocation(), diagnostic.str());
    return success();
  });
  return succeeded(passes.run(*ir)) ? printed(*ir, sources) : "";
}

} // namespace toy

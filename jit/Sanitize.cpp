// SPDX-License-Identifier: Apache-2.0
/// \file
/// In builds with AddressSanitizer compiled code is watched as well: each load and store asks whether its address is
/// inside a live allocation. Tensors are allocations of their own there (runtime/Memory.cpp), so a kernel that reads a
/// neighbour's elements or freed ones ends with a report.
#include "jit/Target.h"
#include "support/Sanitizers.h"

#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"

using namespace llvm;

namespace toy {

void sanitize(Module &module, TargetMachine &machine) {
  if (!hasAddressSanitizer)
    return;
  for (Function &f : module)
    if (!f.isDeclaration())
      f.addFnAttr(Attribute::SanitizeAddress);
  for (GlobalVariable &global : module.globals()) { // no constructor registers what would lie around them
    GlobalValue::SanitizerMetadata without =
        global.hasSanitizerMetadata() ? global.getSanitizerMetadata() : GlobalValue::SanitizerMetadata();
    without.NoAddress = true;
    global.setSanitizerMetadata(without);
  }
  AddressSanitizerOptions options;
  options.UseAfterReturn = AsanDetectStackUseAfterReturnMode::Never;
  options.InsertVersionCheck = false;
  PassBuilder builder(&machine);
  PassAnalyses analyses(builder);
  ModulePassManager passes;
  passes.addPass(AddressSanitizerPass(options, /*UseGlobalGC=*/false, /*UseOdrIndicator=*/false, AsanDtorKind::None,
                                      AsanCtorKind::None));
  passes.run(module, analyses.modules);
}

} // namespace toy

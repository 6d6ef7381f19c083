// SPDX-License-Identifier: Apache-2.0
/// \file
/// The NVPTX side of code generation. Nothing of it is touched before the first kernel is made.
#include "jit/DeviceCompiler.h"

#include "jit/Target.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace toy {
namespace {

constexpr const char *triple = "nvptx64-nvidia-cuda";

const Target *target() {
  static const Target *found = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string error;
    return TargetRegistry::lookupTarget(Triple(triple), error);
  }();
  return found;
}

std::unique_ptr<TargetMachine> machineFor(int architecture) {
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  int known = 75; // the newest that LLVM knows and the device has: PTX runs on later ones
  for (int candidate : {80, 86, 89, 90, 100, 120})
    if (candidate <= architecture)
      known = candidate;
  return std::unique_ptr<TargetMachine>(target()->createTargetMachine(Triple(triple), "sm_" + std::to_string(known), "",
                                                                      options, std::nullopt, std::nullopt,
                                                                      CodeGenOptLevel::Default));
}

/// Instructions of a kernel and of all that it calls, and whether it divides floats.
std::pair<size_t, bool> sizeOfCode(Function &kernel) {
  size_t size = 0;
  bool divides = false;
  SetVector<Function *> reached;
  reached.insert(&kernel);
  for (size_t i = 0; i < reached.size(); ++i) {
    size += reached[i]->getInstructionCount();
    for (Instruction &instruction : instructions(*reached[i])) {
      divides |= instruction.getOpcode() == Instruction::FDiv;
      if (auto *call = dyn_cast<CallBase>(&instruction); call && call->getCalledFunction())
        reached.insert(call->getCalledFunction());
    }
  }
  return {size, divides};
}

/// Says of long kernels that three blocks a multiprocessor are enough, which leaves them 80 registers, and of those
/// that divide floats, which is a call for ptxas, that four are, which leaves 64: it would rather store some than have
/// less than it likes. Powers and e^z - 1 of complex numbers need more than 64.
void leaveRegisters(Module &module) {
  constexpr size_t isLong = 2500;
  for (Function &f : module)
    if (f.getCallingConv() == CallingConv::PTX_Kernel && !f.hasFnAttribute("nvvm.minctasm"))
      if (auto [size, divides] = sizeOfCode(f); size > isLong || divides)
        f.addFnAttr("nvvm.minctasm", size > isLong ? "3" : "4");
}

} // namespace

std::unique_ptr<Module> newDeviceModule(LLVMContext &context) {
  auto module = std::make_unique<Module>("toy-device", context);
  module->setTargetTriple(Triple(triple));
  module->setDataLayout(machineFor(75)->createDataLayout());
  return module;
}

std::string compileToPtx(Module &module, int architecture, std::string &error) {
  raw_string_ostream problems(error);
  if (verifyModule(module, &problems))
    return "";
  std::unique_ptr<TargetMachine> machine = machineFor(architecture);
  auto math = getLazyBitcodeModule(MemoryBufferRef(deviceMathCode(), "device-math"), module.getContext());
  if (!math) {
    error = toString(math.takeError());
    return "";
  }
  if (Linker::linkModules(module, std::move(*math), Linker::LinkOnlyNeeded)) {
    error = "the elementary functions do not link";
    return "";
  }
  internalizeModule(module, [](const GlobalValue &value) {
    auto *function = dyn_cast<Function>(&value);
    return function && function->getCallingConv() == CallingConv::PTX_Kernel;
  });
  for (Function &f : module) {
    f.removeFnAttr("target-cpu");
    f.removeFnAttr("target-features");
    if (f.getName().starts_with("toy_device_"))
      f.addFnAttr(Attribute::AlwaysInline);
  }
  PassBuilder builder(machine.get());
  PassAnalyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2).run(module, analyses.modules);
  leaveRegisters(module);
  SmallString<0> buffer;
  raw_svector_ostream out(buffer);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, CodeGenFileType::AssemblyFile)) {
    error = "the target writes no assembly";
    return "";
  }
  passes.run(module);
  return buffer.str().str();
}

} // namespace toy

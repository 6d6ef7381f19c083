// SPDX-License-Identifier: Apache-2.0
/// \file
/// Texts of the stages of the compiler, for --emit and the prompt.
#include "jit/DeviceCompiler.h"
#include "jit/EngineImpl.h"

#include "ir/ToyDialect.h"
#include "support/Source.h"

#include "mlir/IR/AsmState.h"

#include "llvm/IR/LegacyPassManager.h"

using namespace llvm;

namespace toy {

static mlir::FileLineColRange placeOf(mlir::Location location) {
  if (auto call = dyn_cast<mlir::CallSiteLoc>(location))
    return placeOf(call.getCallee());
  if (auto fused = dyn_cast<mlir::FusedLoc>(location))
    return fused.getLocations().empty() ? mlir::FileLineColRange() : placeOf(fused.getLocations().front());
  return dyn_cast<mlir::FileLineColRange>(location);
}

/// The text of a module. With sources, a comment shows the source line wherever operations of another one begin; operations print in the order
/// of a walk, one a line from the first that has a place.
static std::string printed(mlir::ModuleOp module, const SourceManager *sources) {
  std::string text;
  raw_string_ostream out(text);
  if (!sources) {
    module.print(out);
    return text;
  }
  mlir::AsmState::LocationMap lines;
  mlir::AsmState withLines(module, mlir::OpPrintingFlags(), &lines);
  module.print(out, withLines);
  std::map<unsigned, mlir::Operation *> byLine;
  module.walk([&](mlir::Operation *op) {
    if (auto it = lines.find(op); it != lines.end())
      byLine[it->second.first] = op;
  });
  std::string result;
  std::pair<StringRef, unsigned> last;
  unsigned number = 0;
  for (StringRef rest = text; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    if (auto it = byLine.find(++number); it != byLine.end() && !isa<mlir::ModuleOp>(it->second))
      if (mlir::FileLineColRange place = placeOf(it->second->getLoc()))
        if (std::pair<StringRef, unsigned> here{place.getFilename(), place.getStartLine()}; here != last) {
          last = here;
          if (BufferId id = sources->find(std::string_view(here.first.data(), here.first.size())); id != noBuffer)
            result += (line.take_while([](char c) { return c == ' '; }) + "// " + Twine(here.second) + " | " + StringRef(std::string(sources->get(id).lineText(here.second))).trim() + "\n").str();
        }
    result += line.str() + "\n";
  }
  return result;
}

mlir::OwningOpRef<mlir::ModuleOp> Engine::staged(mlir::ModuleOp module, bool recognized, std::string &error) {
  return impl->lowered(module, "", [](StringRef) { return mlir::func::FuncOp(); }, error, recognized ? Stage::Recognized : Stage::Selected);
}

std::string Engine::kernelsOf(mlir::ModuleOp module, std::string &error) {
  auto copy = staged(module, false, error);
  std::string out;
  if (!copy)
    return out;
  copy->walk([&](mlir::Operation *op) {
    auto result = op->getNumResults() ? op->getResult(0).getType() : mlir::Type();
    std::string type = result && isa<TensorType>(result) ? cast<TensorType>(result).str() : "";
    if (auto group = dyn_cast<FusedOp>(op)) {
      std::string names;
      for (mlir::Operation &inner : group->getRegion(0).front().without_terminator())
        names += (names.empty() ? "" : ", ") + inner.getName().stripDialect().str();
      out += "  one loop for " + type + ": " + names + "\n";
    } else if (op->getName().getStringRef() == "toy.gemm" || op->getName().getStringRef() == "toy.planar_gemm" || isa<MatMulOp>(op))
      out += "  " + op->getName().stripDialect().str() + " for " + type + "\n";
    else if (auto call = dyn_cast<LibraryOp>(op))
      out += "  library function " + call.getFunction().str() + "\n";
  });
  return out;
}

std::string Engine::emit(mlir::ModuleOp module, StringRef stage, std::string &error, const SourceManager *sources) {
  std::string text;
  raw_string_ostream out(text);
  if (stage == "toy")
    return printed(module, sources);
  auto copy = impl->lowered(module, "", [](StringRef) { return mlir::func::FuncOp(); }, error, stage == "recognized" ? Stage::Recognized : stage == "unpacked" ? Stage::Unpacked : Stage::Selected);
  if (!copy || !impl->start(error))
    return "";
  if (stage == "linalg" || stage == "recognized" || stage == "unpacked")
    return printed(*copy, sources);
  LLVMContext context;
  std::vector<mlir::Location> places;
  std::vector<mlir::Operation *> operations;
  if (stage == "ptx") { // of the device at hand, or of the oldest that is common
    int architecture = rt::deviceIsWanted() ? rt::deviceArchitecture() : 80;
    std::unique_ptr<Module> kernels = newDeviceModule(context);
    DeviceCode device{*kernels, {}};
    impl->emitModule(*copy, context, places, operations, &device);
    text = compileToPtx(*kernels, architecture, error);
    for (const std::string &name : device.kernels)
      if (!text.empty() && rt::handWrittenKernel(name))
        text += "// launched as well: " + name + ", written by hand\n";
    return text;
  }
  std::unique_ptr<Module> code = impl->emitModule(*copy, context, places, operations);
  impl->optimize(*code);
  impl->eraseUnusedVariants(*code);
  if (stage == "llvm") {
    code->print(out, nullptr);
    return text;
  }
  SmallString<0> buffer;
  raw_svector_ostream assembly(buffer);
  legacy::PassManager passes;
  if (impl->machine->addPassesToEmitFile(passes, assembly, nullptr, stage == "obj" ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile)) {
    error = "the target writes no assembly";
    return "";
  }
  passes.run(*code);
  return buffer.str().str();
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Texts of the phases, for --emit and the prompt.
#include "compile/CompileImpl.h"

#include "ir/ToyDialect.h"
#include "jit/DeviceCompiler.h"
#include "support/Source.h"

#include "mlir/IR/AsmState.h"

using namespace llvm;

namespace toy {

static mlir::FileLineColRange placeOf(mlir::Location location) {
  if (auto call = dyn_cast<mlir::CallSiteLoc>(location))
    return placeOf(call.getCallee());
  if (auto fused = dyn_cast<mlir::FusedLoc>(location))
    return fused.getLocations().empty() ? mlir::FileLineColRange() : placeOf(fused.getLocations().front());
  return dyn_cast<mlir::FileLineColRange>(location);
}

/// The text of a module. With sources, a comment shows the source line wherever operations of another one begin;
/// operations print in the order of a walk, one a line from the first that has a place.
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
            if (StringRef shown = StringRef(sources->get(id).lineText(here.second)).trim(); !shown.empty())
              result +=
                  (line.take_while([](char c) { return c == ' '; }) + "// " + Twine(here.second) + " | " + shown + "\n")
                      .str();
        }
    result += line.str() + "\n";
  }
  return result;
}

std::string Compiler::kernelsOf(mlir::ModuleOp module, std::string &error) {
  CompiledUnit unit;
  std::string out;
  if (!compile({module}, unit, Phase::Select)) {
    error = unit.error;
    return out;
  }
  unit.ir->walk([&](mlir::Operation *op) {
    auto result = op->getNumResults() ? op->getResult(0).getType() : mlir::Type();
    std::string type = result && isa<TensorType>(result) ? cast<TensorType>(result).str() : "";
    if (auto group = dyn_cast<FusedOp>(op)) {
      std::string names;
      for (mlir::Operation &inner : group->getRegion(0).front().without_terminator())
        names += (names.empty() ? "" : ", ") + inner.getName().stripDialect().str();
      out += "  one loop for " + type + ": " + names + "\n";
    } else if (op->getName().getStringRef() == "toy.gemm" || op->getName().getStringRef() == "toy.planar_gemm" ||
               isa<MatMulOp>(op))
      out += "  " + op->getName().stripDialect().str() + " for " + type + "\n";
    else if (auto call = dyn_cast<LibraryOp>(op))
      out += "  library function " + call.getFunction().str() + "\n";
  });
  return out;
}

std::string Compiler::emit(mlir::ModuleOp module, StringRef name, std::string &error, const SourceManager *sources) {
  if (name == "toy")
    return printed(module, sources);
  Phase last = StringSwitch<Phase>(name)
                   .Case("recognized", Phase::Recognize)
                   .Case("unpacked", Phase::Unpack)
                   .Cases({"linalg", "ptx"}, Phase::Select)
                   .Default(Phase::Optimize);
  CompiledUnit unit;
  if (!compile({module}, unit, last)) {
    error = unit.error;
    return "";
  }
  if (name == "ptx")
    return ptx(unit, error);
  if (last != Phase::Optimize)
    return printed(*unit.ir, sources);
  if (name != "llvm")
    return engine.written(*unit.code->module, name == "obj", error);
  std::string text;
  raw_string_ostream(text) << *unit.code->module;
  return text;
}

/// For the device at hand, or the oldest one that is common.
std::string Compiler::ptx(CompiledUnit &unit, std::string &error) {
  if (!engine.start(error))
    return "";
  int architecture = rt::deviceIsWanted() ? rt::deviceArchitecture() : 80;
  std::unique_ptr<Module> kernels = newDeviceModule(*unit.code->context);
  DeviceCode device{*kernels, {}};
  emitFunctions(unit, &device);
  std::string text = compileToPtx(*kernels, architecture, error);
  for (const std::string &kernel : device.kernels)
    if (!text.empty() && rt::handWrittenKernel(kernel))
      text += "// launched as well: " + kernel + ", written by hand\n";
  return text;
}

} // namespace toy

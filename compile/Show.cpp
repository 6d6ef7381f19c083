// SPDX-License-Identifier: Apache-2.0
/// \file
/// Texts of the phases, for --emit and the prompt.
#include "compile/CompileImpl.h"

#include "compile/ShowImpl.h"
#include "ir/ToyDialect.h"
#include "jit/DeviceCompiler.h"
#include "runtime/Error.h"
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

/// The text of a module. A comment shows the source line wherever operations of another one begin; operations print
/// in the order of a walk, one a line from the first that has a place.
std::string printed(mlir::ModuleOp module, const SourceManager &sources) {
  std::string text;
  raw_string_ostream out(text);
  mlir::AsmState::LocationMap lines;
  mlir::AsmState withLines(module, mlir::OpPrintingFlags().assumeVerified(), &lines); // a function alone calls others
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
          if (BufferId id = sources.find(std::string_view(here.first.data(), here.first.size())); id != noBuffer)
            if (StringRef shown = StringRef(sources.get(id).lineText(here.second)).trim(); !shown.empty())
              result +=
                  (line.take_while([](char c) { return c == ' '; }) + "// " + Twine(here.second) + " | " + shown + "\n")
                      .str();
        }
    result += line.str() + "\n";
  }
  return result;
}

std::string Compiler::kernelsOf(mlir::ModuleOp module, std::string &error) {
  std::string out;
  mlir::OwningOpRef<mlir::ModuleOp> ir = after(module, Phase::Select, error);
  if (!ir)
    return out;
  ir->walk([&](mlir::Operation *op) {
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

std::optional<Phase> dialectPhase(StringRef stage) {
  return StringSwitch<std::optional<Phase>>(stage)
#define TOY_DIALECT_PHASE(NAME, PHASE, HELP) .Case(#NAME, Phase::PHASE)
#include "compile/Phases.def"
      .Default(std::nullopt);
}

mlir::OwningOpRef<mlir::ModuleOp> Compiler::after(mlir::ModuleOp module, Phase phase, std::string &error) {
  if (phase == Phase::Generate)
    return module.clone();
  CompiledUnit unit;
  if (compile({module}, unit, phase))
    return std::move(unit.ir);
  error = unit.error;
  return {};
}

static StringRef userName(mlir::func::FuncOp function) {
  auto name = function->getAttrOfType<mlir::StringAttr>("toy.name");
  return name ? name.getValue() : "";
}

std::function<bool(mlir::func::FuncOp)> chosen(mlir::ModuleOp module, StringRef name) {
  std::set<std::string> there;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (StringRef known = userName(function); !known.empty() && !function.isExternal())
      there.insert(known.str());
  if (!name.empty() && !there.contains(name.str()))
    rt::fail(DiagId::CommandArgument,
             {"--function", there.empty() ? "a function, and this stage has none"
                                          : "a function that this stage has: " + join(there, ", ")});
  return [name](mlir::func::FuncOp function) { return name.empty() || userName(function) == name; };
}

std::string Compiler::emit(mlir::ModuleOp module, StringRef stage, std::string &error, const SourceManager &sources,
                           StringRef function) {
  if (auto phase = dialectPhase(stage)) {
    mlir::OwningOpRef<mlir::ModuleOp> ir = after(module, *phase, error);
    if (!ir)
      return "";
    auto isChosen = chosen(*ir, function);
    for (auto other : make_early_inc_range(ir->getOps<mlir::func::FuncOp>()))
      if (!isChosen(other))
        other.erase();
    return printed(*ir, sources);
  }
  Phase last = stage == "ptx" ? Phase::Select : stage == "unoptimized" ? Phase::Lower : Phase::Optimize;
  CompiledUnit unit;
  if (compile({module}, unit, last))
    return machineStage(unit, stage, error, function);
  error = unit.error;
  return "";
}

/// Without the bodies of other functions than those of a name; what only they mention goes as well.
static void keepOnly(Module &module, CompiledUnit &unit, StringRef name) {
  auto isChosen = chosen(*unit.ir, name);
  std::set<std::string> kept;
  for (const auto &function : unit.linkable.functions)
    if (isChosen(unit.ir->lookupSymbol<mlir::func::FuncOp>(function.symbol)))
      kept.insert(function.name);
  for (Function &f : module)
    if (!kept.contains(f.getName().split('.').first.str()) && !f.isDeclaration())
      f.deleteBody();
  for (Function &f : make_early_inc_range(module))
    if (f.isDeclaration() && f.use_empty())
      f.eraseFromParent();
}

std::string Compiler::machineStage(CompiledUnit &unit, StringRef stage, std::string &error, StringRef function) {
  if (stage == "ptx") {
    auto isChosen = chosen(*unit.ir, function);
    for (auto other : unit.ir->getOps<mlir::func::FuncOp>())
      if (!isChosen(other)) {
        other.eraseBody();
        other.setPrivate();
      }
    return ptx(unit, error);
  }
  Module &module = *unit.code->module;
  if (!function.empty())
    keepOnly(module, unit, function);
  if (stage != "llvm" && stage != "unoptimized")
    return engine.written(*unit.code, stage == "obj", error);
  std::string text;
  raw_string_ostream out(text);
  if (function.empty())
    out << module;
  else
    for (Function &f : module)
      if (!f.isDeclaration())
        out << f;
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

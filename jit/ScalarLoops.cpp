// SPDX-License-Identifier: Apache-2.0
/// \file
/// Remarks of LLVM's loop vectorizer, in the words of the language.
#include "jit/ScalarLoops.h"

#include "passes/lowering/Attributes.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <set>

using namespace llvm;

namespace toy {

static constexpr const char *section = ".toy.scalar-loops";

/// By the vectorizer's name for it; what has none is told as LLVM says it.
static std::string reasonFor(StringRef name, StringRef message) {
  if (name.contains("EarlyExit") || name == "CFGNotUnderstood" || name == "PotentiallyFaultingLoadsNotSupported")
    return "a turn may leave it: a check, `break` or `return`";
  StringRef known =
      StringSwitch<StringRef>(name)
          .Case("CantReorderFPOps", "a sum of floats keeps the order in which it is written")
          .Cases({"CantReorderMemOps", "UnsafeDep", "CantIsolateUnsafeDeps"},
                 "an element that a turn reads may be one that another turn stores")
          .Case("NonReductionValueUsedOutsideLoop", "a turn needs a value of the one before")
          .Case("VectorizationNotBeneficial", "vectors would not be faster here")
          .Cases({"CantVectorizeLibcall", "CantVectorizeIntrinsic"},
                 "it calls a function that has no version for vectors")
          .Cases({"CantIdentifyArrayBounds", "CantCheckMemDepsAtRunTime"}, "where its elements lie follows from data")
          .Default("");
  if (!known.empty())
    return known.str();
  message.consume_front("loop not vectorized: ");
  return message.str();
}

/// The number of a loop, from a branch back to its header.
static std::optional<uint64_t> numberOf(const Instruction *branch, bool *hasVectors = nullptr) {
  const MDNode *loop = branch->getMetadata(LLVMContext::MD_loop);
  std::optional<uint64_t> number;
  for (const MDOperand &operand : loop ? loop->operands() : ArrayRef<MDOperand>())
    if (auto *property = dyn_cast<MDNode>(operand); property && property->getNumOperands() > 0)
      if (auto *name = dyn_cast_or_null<MDString>(property->getOperand(0))) {
        if (name->getString() == loopNumber)
          number = mdconst::extract<ConstantInt>(property->getOperand(1))->getZExtValue();
        else if (hasVectors && name->getString() == "llvm.loop.isvectorized")
          *hasVectors = true;
      }
  return number;
}

namespace {
struct Handler : DiagnosticHandler {
  std::shared_ptr<ScalarLoops> reasons;

  bool isAnalysisRemarkEnabled(StringRef pass) const override { return pass == "loop-vectorize"; }
  bool isAnyRemarkEnabled() const override { return true; }
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    auto *remark = dyn_cast<DiagnosticInfoIROptimization>(&info);
    if (!remark || remark->getPassName() != StringRef("loop-vectorize"))
      return false;
    if (isa<OptimizationRemarkMissed>(remark)) // has no reason, or is of a plain copy beside the loop (HoistChecks.h)
      return true;
    if (auto *header = dyn_cast_or_null<BasicBlock>(remark->getCodeRegion()))
      for (const BasicBlock *latch : predecessors(header))
        if (auto number = numberOf(latch->getTerminator()))
          reasons->try_emplace(*number, reasonFor(remark->getRemarkName(), remark->getMsg()));
    return true;
  }
};
} // namespace

VectorizerLog::VectorizerLog(LLVMContext &context) : context(context), before(context.getDiagnosticHandler()) {
  auto handler = std::make_unique<Handler>();
  handler->reasons = reasons;
  context.setDiagnosticHandler(std::move(handler));
}

VectorizerLog::~VectorizerLog() { context.setDiagnosticHandler(std::move(before)); }

static uint64_t numberIn(const MDNode &node) {
  return mdconst::extract<ConstantInt>(node.getOperand(0))->getZExtValue();
}

void VectorizerLog::embed(Module &module) const {
  std::map<uint64_t, bool> loops; // whether some copy of a loop has vectors
  std::set<uint64_t> hoisted;
  if (NamedMDNode *checks = module.getNamedMetadata(hoistedChecks)) {
    for (MDNode *number : checks->operands())
      hoisted.insert(numberIn(*number));
    checks->eraseFromParent();
  }
  for (const Function &f : module)
    for (const BasicBlock &block : f) {
      if (const MDNode *check = block.getTerminator()->getMetadata(checkNumber)) // of another copy of a loop
        hoisted.erase(numberIn(*check));
      bool hasVectors = false;
      if (auto number = numberOf(block.getTerminator(), &hasVectors))
        loops[*number] |= hasVectors;
    }
  std::string text;
  for (auto [number, hasVectors] : loops)
    if (auto reason = reasons->find(number); !hasVectors && reason != reasons->end())
      text += std::to_string(number) + " " + reason->second + "\n";
  for (uint64_t number : hoisted)
    text += std::to_string(number) + "\n";
  if (!text.empty())
    embedBufferInModule(module, MemoryBufferRef(text, section), section);
}

ScalarLoops scalarLoopsOf(MemoryBufferRef object) {
  ScalarLoops out;
  auto file = object::ObjectFile::createObjectFile(object);
  if (!file) {
    consumeError(file.takeError());
    return out;
  }
  for (const object::SectionRef &part : (*file)->sections()) {
    Expected<StringRef> name = part.getName(), text = name ? part.getContents() : StringRef();
    if (!name || !text) {
      consumeError(name.takeError());
      consumeError(text.takeError());
    } else if (*name == section)
      for (StringRef line; !text->empty();) {
        std::tie(line, *text) = text->split('\n');
        if (uint64_t number; !line.consumeInteger(10, number))
          out.emplace(number, line.trim().str());
      }
  }
  return out;
}

} // namespace toy

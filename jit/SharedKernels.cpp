// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions are copied into modules that hold nothing else: once for the digest of the bitcode, and once to be
/// compiled.
#include "jit/SharedKernels.h"

#include "jit/Promotion.h"
#include "passes/lowering/Attributes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace toy {

constexpr char symbolPrefix[] = "toy.kernel.", tierPrefix[] = "toy.tier.";
constexpr size_t batchSize = 16; // kernels that are loaded together, whichever of them is asked for

std::string kernelSymbol(StringRef digest) { return (symbolPrefix + digest).str(); }
std::string tierSymbol(StringRef digest) { return (tierPrefix + digest).str(); }

/// Calls `visit` for each function and global variable that code names, and for the vector versions of its calls.
static void forEachGlobal(Function &function, function_ref<void(GlobalValue &)> visit) {
  SmallPtrSet<Constant *, 16> seen;
  auto walk = [&](auto &self, Value *value) -> void {
    auto *constant = dyn_cast<Constant>(value);
    if (!constant || !seen.insert(constant).second)
      return;
    if (auto *global = dyn_cast<GlobalValue>(constant))
      return visit(*global);
    for (Value *operand : constant->operands())
      self(self, operand);
  };
  for (Value *operand : function.operands())
    walk(walk, operand);
  for (Instruction &i : instructions(function)) {
    for (Value *operand : i.operands())
      walk(walk, operand);
    if (auto *call = dyn_cast<CallInst>(&i))
      for (const VFInfo &variant : VFDatabase::getMappings(*call))
        walk(walk, function.getParent()->getFunction(variant.VectorName));
  }
}

/// A copy of a kernel in another module, with what it needs; what is there under the same name is the same.
static Function *copyInto(Module &to, Function &from, ValueToValueMapTy &copies) {
  auto *copy = Function::Create(from.getFunctionType(), from.getLinkage(), from.getName(), to);
  copy->copyAttributesFrom(&from);
  copies[&from] = copy;
  forEachGlobal(from, [&](GlobalValue &global) {
    if (copies.count(&global))
      return;
    if (GlobalValue *known = to.getNamedValue(global.getName()))
      copies[&global] = known;
    else if (auto *function = dyn_cast<Function>(&global))
      copyInto(to, *function, copies);
    else {
      auto &variable = cast<GlobalVariable>(global);
      auto *made =
          new GlobalVariable(to, variable.getValueType(), variable.isConstant(), variable.getLinkage(),
                             variable.hasInitializer() ? variable.getInitializer() : nullptr, variable.getName());
      made->copyAttributesFrom(&variable);
      copies[&global] = made;
    }
  });
  if (from.isDeclaration())
    return copy;
  for (auto [argument, own] : zip_equal(from.args(), copy->args()))
    copies[&argument] = &own;
  SmallVector<ReturnInst *> returns;
  CloneFunctionInto(copy, &from, copies, CloneFunctionChangeType::DifferentModule, returns);
  if (NamedMDNode *units = to.getNamedMetadata("llvm.dbg.cu")) // an empty list, which readers of bitcode take for old
    to.eraseNamedMetadata(units);
  return copy;
}

static std::unique_ptr<Module> emptyModuleLike(const Module &module) {
  auto made = std::make_unique<Module>("kernels", module.getContext());
  made->setDataLayout(module.getDataLayout());
  made->setTargetTriple(module.getTargetTriple());
  return made;
}

/// The bitcode of a kernel with all that decides its machine code but for the settings.
static SmallString<0> bitcodeOf(Function &kernel) {
  std::unique_ptr<Module> alone = emptyModuleLike(*kernel.getParent());
  ValueToValueMapTy copies;
  copyInto(*alone, kernel, copies)->setName(sharedKernelName);
  SmallString<0> bitcode;
  BitcodeWriter writer(bitcode);
  writer.writeModule(*alone);
  writer.writeStrtab(); // the names of what is called
  return bitcode;
}

static std::string digestOf(StringRef bitcode, StringRef settings) {
  BLAKE3 hash;
  hash.update(settings);
  hash.update(StringRef("\0", 1));
  hash.update(bitcode);
  return toHex(hash.final<digestLength / 2>(), /*LowerCase=*/true);
}

/// Modules of a few kernels, with what these need, in the order in which they can be linked: each kernel comes with
/// those that it calls, or after them.
class Batches {
public:
  std::vector<KernelBatch> all;

  Function &add(Function &kernel, bool quick) {
    Open &batch = open[quick];
    size_t called = 0; // the last batch of those
    forEachGlobal(kernel, [&](GlobalValue &global) {
      if (auto it = places.find(&global); it != places.end())
        called = std::max(called, it->second);
    });
    if (batch.count++ % batchSize == 0 || batch.place < called) {
      batch.place = all.size();
      batch.count = 1;
      batch.copies = std::make_unique<ValueToValueMapTy>();
      all.push_back({emptyModuleLike(*kernel.getParent()), quick});
    }
    places[&kernel] = batch.place;
    return *copyInto(*all[batch.place].module, kernel, *batch.copies);
  }
  /// Whether a kernel calls one that is quick.
  bool callsQuick(Function &kernel) {
    bool found = false;
    forEachGlobal(kernel, [&](GlobalValue &global) {
      if (auto it = places.find(&global); it != places.end() && &global != &kernel)
        found |= all[it->second].quick;
    });
    return found;
  }

private:
  struct Open {
    size_t place = 0, count = 0;
    std::unique_ptr<ValueToValueMapTy> copies;
  } open[2];
  DenseMap<GlobalValue *, size_t> places; ///< of kernels among the batches
};

std::vector<KernelBatch> takeKernels(Module &module, StringRef settings, bool tiered,
                                     function_ref<bool(StringRef, StringRef)> isKnown) {
  Batches batches;
  SetVector<Function *> kernels; // after those that they call
  auto add = [&](auto &self, Function &function) -> void {
    if (function.isDeclaration() || !function.hasFnAttribute(sharedKernel) || kernels.contains(&function))
      return;
    forEachGlobal(function, [&](GlobalValue &global) {
      if (auto *called = dyn_cast<Function>(&global); called && called != &function)
        self(self, *called);
    });
    kernels.insert(&function);
  };
  for (Function &function : module)
    add(add, function);
  for (Function *kernel : kernels) {
    SmallString<0> bitcode = bitcodeOf(*kernel);
    std::string digest = digestOf(bitcode, settings), symbol = kernelSymbol(digest), name = kernel->getName().str();
    if (Function *same = module.getFunction(symbol)) {
      kernel->replaceAllUsesWith(same);
      kernel->eraseFromParent();
      continue;
    }
    kernel->setName(symbol);
    kernel->setLinkage(GlobalValue::ExternalLinkage);
    if (!isKnown(digest, name)) {
      const bool counts = tiered && canCount(*kernel);
      Function &copy = batches.add(*kernel, counts || batches.callsQuick(*kernel));
      if (counts)
        countRuns(copy, digest, bitcode);
    }
    kernel->deleteBody();
  }
  for (Function &helper : make_early_inc_range(module))
    if (helper.hasLocalLinkage() && helper.use_empty() && !helper.hasFnAttribute(vectorVariant))
      helper.eraseFromParent();
  return std::move(batches.all);
}

ObjectKernels::ObjectKernels(MemoryBufferRef object) {
  auto file = object::ObjectFile::createObjectFile(object);
  if (!file) {
    consumeError(file.takeError());
    return;
  }
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<StringRef> name = symbol.getName();
    Expected<uint32_t> flags = symbol.getFlags();
    if (!name || !flags) {
      consumeError(name.takeError());
      consumeError(flags.takeError());
    } else if (name->consume_front(tierPrefix))
      quick.push_back(name->str());
    else if (name->consume_front(symbolPrefix))
      (*flags & object::BasicSymbolRef::SF_Undefined ? called : defined).push_back(name->str());
  }
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions are copied into modules that hold nothing else: once for the digest of the bitcode, and once to be
/// compiled.
#include "jit/SharedKernels.h"

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

constexpr char symbolPrefix[] = "toy.kernel.";
constexpr size_t batchSize = 16; // kernels that are loaded together, whichever of them is asked for

std::string kernelSymbol(StringRef digest) { return (symbolPrefix + digest).str(); }

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
  return copy;
}

static std::unique_ptr<Module> emptyModuleLike(const Module &module) {
  auto made = std::make_unique<Module>("kernels", module.getContext());
  made->setDataLayout(module.getDataLayout());
  made->setTargetTriple(module.getTargetTriple());
  return made;
}

static std::string digestOf(Function &kernel, StringRef settings) {
  std::unique_ptr<Module> alone = emptyModuleLike(*kernel.getParent());
  ValueToValueMapTy copies;
  copyInto(*alone, kernel, copies)->setName("kernel");
  SmallVector<char, 0> bitcode;
  BitcodeWriter writer(bitcode);
  writer.writeModule(*alone);
  writer.writeStrtab(); // the names of what is called
  BLAKE3 hash;
  hash.update(settings);
  hash.update(StringRef("\0", 1));
  hash.update(StringRef(bitcode.data(), bitcode.size()));
  return toHex(hash.final<32>(), /*LowerCase=*/true);
}

std::vector<std::unique_ptr<Module>> takeKernels(Module &module, StringRef settings,
                                                 function_ref<bool(StringRef)> isKnown) {
  std::vector<std::unique_ptr<Module>> batches;
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
  std::unique_ptr<ValueToValueMapTy> copies;
  size_t count = 0;
  for (Function *kernel : kernels) {
    std::string digest = digestOf(*kernel, settings), symbol = kernelSymbol(digest);
    if (Function *same = module.getFunction(symbol)) {
      kernel->replaceAllUsesWith(same);
      kernel->eraseFromParent();
      continue;
    }
    kernel->setName(symbol);
    kernel->setLinkage(GlobalValue::ExternalLinkage);
    if (!isKnown(digest)) {
      if (count++ % batchSize == 0) {
        batches.push_back(emptyModuleLike(module));
        copies = std::make_unique<ValueToValueMapTy>();
      }
      copyInto(*batches.back(), *kernel, *copies);
    }
    kernel->deleteBody();
  }
  for (Function &helper : make_early_inc_range(module))
    if (helper.hasLocalLinkage() && helper.use_empty() && !helper.hasFnAttribute(vectorVariant))
      helper.eraseFromParent();
  return batches;
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
    } else if (name->consume_front(symbolPrefix))
      (*flags & object::BasicSymbolRef::SF_Undefined ? called : defined).push_back(name->str());
  }
}

} // namespace toy

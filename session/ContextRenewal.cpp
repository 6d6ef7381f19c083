// SPDX-License-Identifier: Apache-2.0
/// \file
/// A session of any length takes memory for what it holds, not for what it has seen: types, constants and places live
/// as long as their context, machine code as long as its engine, so both are renewed from time to time. Functions
/// compile again when they are called next.
#include "ir/ToyDialect.h"
#include "session/SessionImpl.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace toy {

std::unique_ptr<MLIRContext> Session::newContext() {
  auto fresh = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  fresh->loadDialect<ToyDialect, func::FuncDialect, cf::ControlFlowDialect>();
  return fresh;
}

static Type elementInContext(Type element, MLIRContext *context) {
  if (auto list = dyn_cast<ListType>(element))
    return ListType::get(context, elementInContext(list.getElement(), context));
  if (auto tensor = dyn_cast<TensorType>(element))
    return TensorType::get(context, tensor.getDtype(), SmallVector<Dim>(tensor.getRank(), Dim::unknown(context)));
  return StrType::get(context);
}

/// The same type in another context; sizes of values are numbers, those of a list's elements free.
static ValueType inContext(const ValueType &type, MLIRContext *context) {
  ValueType out = type;
  if (auto tensor = dyn_cast_if_present<TensorType>(type.leaf)) {
    SmallVector<Dim> dims;
    for (Dim dim : tensor.getDims())
      dims.push_back(dim.in(context));
    out.leaf = TensorType::get(context, tensor.getDtype(), dims);
  } else if (type.leaf)
    out.leaf = elementInContext(type.leaf, context);
  for (ValueType &element : out.elements)
    element = inContext(element, context);
  return out;
}

void Session::recycle() {
  earlierRemarks = recognition();
  std::unique_ptr<MLIRContext> fresh = newContext();
  auto move = [&](std::map<std::string, ValueType> &types) {
    for (auto &[name, type] : types)
      type = inContext(type, fresh.get());
  };
  move(globalTypes);
  for (Change &change : past)
    move(change.types);
  shownType = {};
  instanceTable.clear();
  for (auto &[key, set] : instanceTable.specializations) // what varies is remembered
    set.entries.clear();
  symbolModules.clear();
  compiler.renew(damaged);
  if (damaged) // its locks may be held, its tables half written
    static_cast<void>(context.release());
  context = std::move(fresh);
  // Texts and trees that nothing names any more.
  std::set<BufferId> live;
  auto keep = [&](auto &declarations) {
    for (auto &[name, declaration] : declarations)
      live.insert(declaration->range.buffer);
  };
  auto keepCode = [&](auto &self, const ValueType &type) -> void { // lambdas that variables hold
    if (type.code)
      live.insert(type.code->range.buffer);
    for (const ValueType &element : type.elements)
      self(self, element);
  };
  keep(defined.functions);
  keep(defined.structures);
  for (auto &[name, type] : globalTypes)
    keepCode(keepCode, type);
  graph.forgetAll();
  importedModules.clear();
  for (Change &change : past) {
    keep(change.definitions.functions);
    keep(change.definitions.structures);
    for (auto &[name, type] : change.types)
      keepCode(keepCode, type);
  }
  for (const RecognitionRemark &r : earlierRemarks)
    live.insert(r.range.buffer);
  auto forget = [&](std::map<std::string, SourceRange> &places) {
    std::erase_if(places, [&](const auto &entry) { return !live.count(entry.second.buffer); });
  };
  forget(globalPlaces);
  for (Change &change : past)
    forget(change.places);
  std::erase_if(modules, [&](const std::unique_ptr<ast::Module> &module) {
    return module->items.empty() || !live.count(module->items.front()->range.buffer);
  });
  sources.keepOnly(live);
}

} // namespace toy

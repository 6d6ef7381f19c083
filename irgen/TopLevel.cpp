// SPDX-License-Identifier: Apache-2.0
/// \file
/// Top-level statements as a function of their own.
#include "irgen/IRGenImpl.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

void IRGen::storeGlobal(const std::string &name, const Val &value, SourceRange range) {
  SmallVector<Value> leaves;
  value.flatten(leaves);
  for (auto [i, leaf] : llvm::enumerate(leaves))
    create<GlobalStoreOp>(range, {leaf},
                          {stringAttr("name", leaves.size() == 1 ? name : name + "." + std::to_string(i))});
}

void IRGen::storeFor(const ast::Function &callee, SourceRange range) {
  FunctionState &state = fn();
  if (state.decl || isLibrary(callee))
    return;
  for (const std::string &name : host.callGraph().reads(callee)) {
    auto it = state.scopes.front().find(name);
    bool isChanged = state.assignedGlobals.count(name) || llvm::any_of(state.loops, [&](const LoopState &loop) {
                       return llvm::is_contained(loop.names, name);
                     });
    if (it != state.scopes.front().end() && it->second.isGlobal && isChanged)
      storeGlobal(name, it->second.value, range);
  }
}

/// A type as other functions see it: names of sizes mean something in their own function only.
static TypeDesc withoutNames(TypeDesc type) {
  for (TypeDesc &element : type.elements)
    element = withoutNames(element);
  if (auto tensor = dyn_cast_if_present<TensorType>(type.leaf)) {
    SmallVector<Dim> dims;
    for (Dim dim : tensor.getDims())
      dims.push_back(dim.isNumber() ? dim : Dim::unknown(type.leaf.getContext()));
    type.leaf = tensor.withDims(dims);
  }
  return type;
}

std::optional<TypeDesc> IRGen::globalType(const std::string &name) {
  if (fn().decl && isLibrary(*fn().decl)) // the library sees no user's names
    return std::nullopt;
  FunctionState &top = *stack.front();
  if (!top.decl)
    if (auto it = top.scopes.front().find(name); it != top.scopes.front().end() && it->second.isGlobal)
      return withoutNames(it->second.value.type());
  const TypeDesc *type = host.global(name);
  return type ? std::optional(*type) : std::nullopt;
}

std::string IRGen::globalsKey(const ast::Function &decl) {
  std::string key;
  if (!isLibrary(decl))
    for (const std::string &name : host.callGraph().reads(decl))
      if (auto type = globalType(name))
        key += "|" + name + ": " + type->str();
  return key;
}

void IRGen::generateTop(ArrayRef<const ast::Stmt *> statements, TopLevel &out) {
  stack.push_back(std::make_unique<FunctionState>());
  FunctionState &state = fn();
  state.scopes.resize(1);
  out.symbol = host.instances().newSymbol("__top");
  b.setInsertionPointToEnd(module.getBody());
  state.op = func::FuncOp::create(b, loc(statements.empty() ? SourceRange() : statements[0]->range), out.symbol,
                                  b.getFunctionType({}, {}));
  moveTo(state.op.addEntryBlock());
  for (const ast::Stmt *s : statements)
    if (s->kind == ast::NodeKind::Function || s->kind == ast::NodeKind::Struct)
      host.define(*s);
    else if (reachable())
      statement(*s);
  if (!reachable()) { // it ends in a loop that nothing leaves
    stack.pop_back();
    return;
  }
  for (const std::string &name : state.assignedGlobals) {
    Val &value = state.scopes.front()[name].value;
    out.stored[name] = value.type();
    storeGlobal(name, value, statements.back()->range);
  }
  func::ReturnOp::create(b, b.getUnknownLoc());
  stack.pop_back();
}

bool generate(ModuleOp module, ArrayRef<const ast::Stmt *> statements, IRGenHost &host, DiagnosticEngine &diagnostics,
              TopLevel &out) {
  IRGen gen(module, host, diagnostics);
  try {
    gen.generateTop(statements, out);
    return true;
  } catch (IRAbort) {
    for (const auto &undo : llvm::reverse(gen.undoForms))
      undo();
    return false;
  }
}

DefinitionCheck IRGen::checkDefinition(const ast::Function &decl) {
  try {
    checkSignature(decl);
  } catch (IRAbort) {
    return DefinitionCheck::Wrong;
  }
  bool isWhole = decl.body && llvm::all_of(decl.parameters, [](const ast::Parameter &p) {
                   return p.type && p.type->form != ast::TypeExpr::Tuple && dtypeNamed(p.type->name) &&
                          !llvm::is_contained(p.type->sizes, nullptr);
                 });
  if (!isWhole || decl.parameters.empty())
    return DefinitionCheck::Open;
  size_t reported = diagnostics.diagnostics().size();
  stack.push_back(std::make_unique<FunctionState>()); // a caller to be
  fn().scopes.resize(1);
  b.setInsertionPointToEnd(module.getBody());
  fn().op =
      func::FuncOp::create(b, b.getUnknownLoc(), host.instances().newSymbol("__definition"), b.getFunctionType({}, {}));
  llvm::scope_exit done([&, caller = fn().op]() mutable { caller.erase(); });
  try {
    moveTo(fn().op.addEntryBlock());
    std::vector<Val> arguments;
    for (const ast::Parameter &parameter : decl.parameters)
      arguments.push_back(Val::leaf(current->addArgument(typeOf(*parameter.type).leaf, b.getUnknownLoc())));
    const Instance &instance =
        instantiate(decl, arguments, instanceKey(decl, arguments, {}, {}) + globalsKey(decl), {}, {});
    module.lookupSymbol<func::FuncOp>(instance.symbol).setPublic(); // its callers are in other modules
    return DefinitionCheck::Generated;
  } catch (IRAbort) {
    // Other errors may be about what is not there yet: the call tells them.
    if (diagnostics.diagnostics().size() > reported && diagnostics.diagnostics()[reported].id == DiagId::NotProvable)
      return DefinitionCheck::Wrong;
    diagnostics.truncate(reported);
    return DefinitionCheck::Open;
  } catch (StaticParameterNeeded &) {
    return DefinitionCheck::Open;
  }
}

DefinitionCheck checkDefinition(ModuleOp module, const ast::Function &decl, IRGenHost &host,
                                DiagnosticEngine &diagnostics) {
  return IRGen(module, host, diagnostics).checkDefinition(decl);
}

} // namespace toy

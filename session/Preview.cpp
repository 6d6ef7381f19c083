// SPDX-License-Identifier: Apache-2.0
/// \file
/// The value of an expression that is being typed, where it takes no time and nothing can happen: numbers, variables,
/// operators and functions of elements, with few elements everywhere, which the reference evaluator computes.
#include "session/SessionImpl.h"

#include "ast/Parts.h"
#include "ir/ToyDialect.h"
#include "runtime/Device.h"
#include "runtime/Format.h"
#include "support/Unicode.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {
namespace {

constexpr size_t longestText = 200, widestValue = 60;
constexpr int64_t mostElements = 1000;
const std::string shownName = "$preview";

/// Whether generating code for a tree is quick and does nothing by itself, as `load` would.
class CheapTree {
public:
  explicit CheapTree(Session &session) : session(session) {
    static const std::set<std::string> all = [] {
      std::set<std::string> names;
      for (const BuiltinInfo &info : allBuiltins())
        if (info.group == "complex" || info.group == "elementwise" || info.group == "reduce")
          names.insert(info.name);
      return names;
    }();
    functions = &all;
  }
  bool operator()(const ast::Expr &e) {
    walk(&e);
    return isCheap;
  }

private:
  void walk(const ast::Stmt *s) { isCheap &= s == nullptr; }
  void walk(const ast::Expr *e) {
    if (!e || !isCheap)
      return;
    switch (e->kind) {
    case ast::NodeKind::Call: {
      auto &call = ast::cast<ast::Call>(*e);
      isCheap = !call.function && !call.isMember && !session.definitions().function(call.callee) &&
                !session.global(call.callee) && (functions->contains(call.callee) || dtypeNamed(call.callee));
      break;
    }
    case ast::NodeKind::Name:
    case ast::NodeKind::Number:
    case ast::NodeKind::Bool:
    case ast::NodeKind::Bracket:
    case ast::NodeKind::Unary:
    case ast::NodeKind::Binary:
    case ast::NodeKind::Index:
    case ast::NodeKind::Member:
    case ast::NodeKind::Adjoint:
      break;
    default:
      isCheap = false;
      return;
    }
    ast::forEachPart(*e, [this](const auto &part) { walk(part.get()); });
  }

  Session &session;
  const std::set<std::string> *functions;
  bool isCheap = true;
};

bool isSmall(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  int64_t count = 1;
  for (int64_t axis = 0; tensor && axis < tensor.getRank(); ++axis) {
    Dim size = tensor.getDim(axis);
    if (!size.isNumber() || size.value() > mostElements)
      return false;
    count *= std::max<int64_t>(size.value(), 1);
  }
  return tensor && count <= mostElements;
}

/// One block of operations without effects on few elements.
bool isCheap(func::FuncOp function) {
  return function.getBody().hasOneBlock() && llvm::all_of(function.getBody().front(), [](Operation &op) {
           bool isOfVariable = isa<GlobalLoadOp, GlobalStoreOp, func::ReturnOp>(op);
           return (isOfVariable || isPure(&op)) && op.getNumRegions() == 0 &&
                  llvm::all_of(op.getResultTypes(), isSmall);
         });
}

/// Whether a variable is where the evaluator reads it: one that a device holds may still be computed.
bool isOnHost(const rt::Value &value) {
  auto *tensor = std::get_if<rt::TensorRef>(&value);
  return tensor && *tensor && (*tensor)->data;
}

bool isLiteral(const ast::Expr &e) { return e.kind == ast::NodeKind::Number || e.kind == ast::NodeKind::Bool; }

} // namespace

std::string Session::preview(const std::string &text) {
  if (text.size() > longestText || stopState || rt::deviceOptions().choice == rt::DeviceChoice::Cuda)
    return "";
  size_t reported = diagnostics.diagnostics().size(), parsed = modules.size();
  ++executed; // what it leaves in the context goes some time
  llvm::scope_exit forget([&] {
    diagnostics.truncate(reported);
    modules.resize(std::min(parsed, modules.size()));
    globals.erase(shownName);
  });
  const ast::Module *module = parseStatement(text);
  if (!module || module->items.size() != 1 || module->items[0]->kind != ast::NodeKind::ExprStmt)
    return "";
  ast::StmtPtr &item = modules.back()->items.front();
  ast::ExprPtr &value = static_cast<ast::ExprStmt &>(*item).value;
  if (isLiteral(*value) || !CheapTree(*this)(*value))
    return "";
  auto statement = std::make_unique<ast::Var>(item->range);
  statement->names = {shownName};
  statement->nameRanges = {item->range};
  statement->value = std::move(value);
  item = std::move(statement);
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(ir()));
  TopLevel top;
  if (!generateOnly(*scratch, {module->items.front().get()}, top) || !top.stored.count(shownName) ||
      top.stored.at(shownName).kind != ValueType::Leaf)
    return "";
  auto function = scratch->lookupSymbol<func::FuncOp>(top.symbol);
  if (!function || !isCheap(function) || !llvm::all_of(function.getOps<GlobalLoadOp>(), [&](GlobalLoadOp load) {
        return isOnHost(getGlobal(load.getName().str()));
      }))
    return "";
  Evaluator(*scratch, *this, options.compile).call(function, {});
  auto found = globals.find(shownName);
  std::string shown = found == globals.end() ? "" : rt::format(found->second);
  bool isShort = shown.find('\n') == shown.npos && columnsOf(shown) <= widestValue;
  return isShort ? shown : top.stored.at(shownName).str();
}

} // namespace toy

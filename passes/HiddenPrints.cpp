// SPDX-License-Identifier: Apache-2.0
/// \file
/// Constants are propagated through a function for one rank: a branch whose condition is known then goes one way.
#include "passes/HiddenPrints.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace toy {
namespace {

std::optional<int64_t> integerOf(Attribute value) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(value);
  if (!elements || elements.getNumElements() != 1 || !elements.getElementType().isIntOrIndex())
    return std::nullopt;
  APInt n = *elements.value_begin<APInt>();
  return n.getBitWidth() == 1 ? static_cast<int64_t>(n.getBoolValue()) : n.getSExtValue();
}

class Propagation {
public:
  Propagation(func::FuncOp function, const PrintingRank &printer)
      : printer(printer), context(function.getContext()), isTop(!function.isPrivate()) {
    Block *entry = &function.getBody().front();
    for (Value argument : entry->getArguments())
      known[argument] = {};
    reached.insert(entry);
    // Blocks are looked at again until nothing changes: what is known of a value only ever becomes less.
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < reached.size(); ++i)
        changed |= visit(reached[i]);
    }
  }

  bool isReached(Block *block) const { return reached.contains(block); }

private:
  bool set(Value v, Attribute value) {
    auto [it, isNew] = known.try_emplace(v, value);
    if (isNew || it->second == value)
      return isNew;
    bool was = static_cast<bool>(it->second);
    it->second = {};
    return was;
  }

  Attribute constant(int64_t n, Type type) const {
    return DenseElementsAttr::get(RankedTensorType::get({}, type), type.isInteger(1) ? APInt(1, n) : APInt(64, n));
  }
  Attribute integer(int64_t n) const { return constant(n, IntegerType::get(context, 64)); }
  Attribute truth(bool b) const { return constant(b, IntegerType::get(context, 1)); }

  /// Functions run when variables have changed, and may change them.
  bool isLoadedAtStart(Operation *op) const {
    if (!isTop || !op->getBlock()->isEntryBlock())
      return false;
    while ((op = op->getPrevNode()))
      if (isa<func::CallOp>(op))
        return false;
    return true;
  }

  Attribute valueOf(Operation *op) const {
    if (isa<RankOp>(op))
      return integer(printer.rank);
    if (isa<RankCountOp>(op))
      return integer(printer.count);
    if (auto load = dyn_cast<GlobalLoadOp>(op)) {
      if (!isLoadedAtStart(op))
        return {};
      auto tensor = dyn_cast<TensorType>(load.getResult().getType());
      std::optional<int64_t> n = printer.globalInteger(load.getName());
      return n && tensor && tensor.isScalar() && tensor.getDtype() == DType::I64 ? integer(*n) : Attribute();
    }
    SmallVector<Attribute> operands;
    for (Value v : op->getOperands())
      operands.push_back(known.lookup(v));
    auto is = [&](size_t i, bool wanted) {
      std::optional<int64_t> n = integerOf(operands[i]);
      return n && (*n != 0) == wanted;
    };
    if (isa<NotOp, TruthOp>(op))
      return integerOf(operands[0]) ? truth(is(0, isa<TruthOp>(op))) : Attribute();
    if (isa<AndOp, OrOp>(op)) {
      const bool decides = isa<OrOp>(op);
      if (is(0, decides) || is(1, decides))
        return truth(decides);
      return is(0, !decides) && is(1, !decides) ? truth(!decides) : Attribute();
    }
    SmallVector<OpFoldResult> folded;
    return op->getNumResults() == 1 && succeeded(op->fold(operands, folded)) && !folded.empty()
               ? dyn_cast<Attribute>(folded[0])
               : Attribute();
  }

  /// Where a branch goes one way, its condition has one value.
  bool pass(ValueRange operands, Block *to, Value condition = {}, bool way = false) {
    bool changed = reached.insert(to);
    for (auto [argument, operand] : llvm::zip_equal(to->getArguments(), operands))
      changed |= set(argument, operand == condition ? truth(way) : known.lookup(operand));
    return changed;
  }

  bool visit(Block *block) {
    bool changed = false;
    for (Operation &op : *block) {
      if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
        std::optional<int64_t> way = integerOf(known.lookup(branch.getCondition()));
        auto test = branch.getCondition().getDefiningOp<TruthOp>();
        Value tested =
            test && tensorTypeOf(test->getOperand(0)).getDtype() == DType::Bool ? test->getOperand(0) : Value();
        if (!way || *way)
          changed |= pass(branch.getTrueDestOperands(), branch.getTrueDest(), tested, true);
        if (!way || !*way)
          changed |= pass(branch.getFalseDestOperands(), branch.getFalseDest(), tested, false);
      } else if (auto branch = dyn_cast<cf::BranchOp>(op))
        changed |= pass(branch.getDestOperands(), branch.getDest());
      else if (op.hasTrait<mlir::OpTrait::IsTerminator>())
        for (Block *to : op.getSuccessors())
          changed |= reached.insert(to);
      else
        for (Value result : op.getResults())
          changed |= set(result, op.getNumResults() == 1 ? valueOf(&op) : Attribute());
    }
    return changed;
  }

  const PrintingRank &printer;
  MLIRContext *context;
  bool isTop;                       ///< code of the top level
  DenseMap<Value, Attribute> known; ///< null: anything
  llvm::SetVector<Block *> reached;
};

/// Functions that print, themselves or by what they call.
class Printers {
public:
  Printers(ModuleOp module, const PrintingRank &printer) : module(module), printer(printer) {}

  bool shows(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    if (!call)
      return isa<PrintOp, WriteOp>(op);
    auto [it, isNew] = known.try_emplace(call.getCallee(), false); // of a recursive one the rest decides
    if (!isNew)
      return it->second;
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      callee = printer.bodyOf(call.getCallee());
    bool found =
        callee && callee
                      .walk([&](Operation *inner) {
                        return inner != callee && shows(inner) ? WalkResult::interrupt() : WalkResult::advance();
                      })
                      .wasInterrupted();
    return known[call.getCallee()] = found;
  }

private:
  ModuleOp module;
  const PrintingRank &printer;
  llvm::StringMap<bool> known;
};

} // namespace

std::vector<Operation *> findHiddenPrints(ModuleOp module, const PrintingRank &printer) {
  std::vector<Operation *> found;
  Printers printers(module, printer);
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    Propagation propagation(function, printer);
    for (Block &block : function.getBody())
      for (Operation &op : block)
        if (!propagation.isReached(&block) && printers.shows(&op))
          found.push_back(&op);
  }
  return found;
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Tiny tensors in loops as scalars. Values that feed each other are taken apart together or not at all: where the
/// tensor is needed as such it has to be made, which must not cost more than what is saved.
#include "ir/Constants.h"
#include "passes/ControlFlow.h"
#include "passes/Passes.h"
#include "passes/Rewriting.h"
#include "passes/RowLanes.h"
#include "passes/ScalarParts.h"
#include "passes/UnrollLoops.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_SCALARIZE
#include "passes/Passes.h.inc"

namespace {

/// What things cost in a turn, in nanoseconds, roughly: a kernel, view or tensor that is made, and one comparison with
/// a choice where an index is known at run time only. Loops in loops run ten times.
constexpr double tensorCost = 30, choiceCost = 2, turns = 10;
/// What an element of a function of complex numbers costs more alone than as one of several in lanes.
constexpr double functionCost = 10;
constexpr int64_t fewElements = 8;

class Scalarizer {
public:
  Scalarizer(func::FuncOp function, bool products)
      : function(function), loops(function), parts(function.getContext(), products) {}

  void run() {
    if (loops.all().empty())
      return;
    collect();
    weigh();
    takeApart();
    for (BlockArgument argument : arguments)
      for (const BlockEdge &edge : edgesInto(argument.getOwner()))
        edge.operands().append(parts.read(edge.operandOf(argument)));
    makeTensors();
    erase();
  }

private:
  // --- what feeds what

  void collect() {
    for (Block &block : function.getBody()) {
      if (!block.isEntryBlock() && llvm::all_of(edgesInto(&block), isBranch))
        for (BlockArgument argument : block.getArguments())
          if (llvm::none_of(edgesInto(&block),
                            [&](const BlockEdge &edge) { return mayBeAbsent(edge.operandOf(argument)); }))
            note(argument);
      for (Operation &op : block)
        if (parts.canCompute(&op)) {
          work.insert(&op);
          note(op.getResult(0));
        }
    }
    for (Operation *op : work)
      for (Value operand : op->getOperands())
        unite(operand, valueOf(op));
    for (Value v : candidates)
      if (auto argument = dyn_cast<BlockArgument>(v))
        for (const BlockEdge &edge : edgesInto(argument.getOwner()))
          unite(edge.operandOf(argument), v);
  }
  static bool isBranch(const BlockEdge &edge) { return isa<cf::BranchOp, cf::CondBranchOp>(edge.terminator); }
  void note(Value v) {
    if (!isTiny(v) || !candidates.insert(v))
      return;
    groups.insert(v.getAsOpaquePointer());
  }
  void unite(Value a, Value b) {
    if (candidates.contains(a) && candidates.contains(b))
      groups.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  void *groupOf(Value v) const {
    return candidates.contains(v) ? groups.getLeaderValue(v.getAsOpaquePointer()) : nullptr;
  }
  /// One of an operation's values that are candidates, or null.
  Value valueOf(Operation *op) const {
    if (candidates.contains(op->getResult(0)))
      return op->getResult(0);
    auto operand = llvm::find_if(op->getOperands(), [&](Value v) { return candidates.contains(v); });
    return operand == op->operand_end() ? Value() : *operand;
  }

  // --- what it saves

  /// How often a block runs, 0 outside of loops.
  double weightOf(Block *block) const {
    CFGLoop *loop = loops.of(block);
    return loop ? std::pow(turns, loop->getLoopDepth() - 1) : 0;
  }

  /// Whether an operand would be computed together with an operation, without a tensor, if that stays one on tensors.
  bool isFusedInto(Operation *op, Value operand) const {
    Operation *def = operand.getDefiningOp();
    return isTiny(operand) && !candidates.contains(operand) && def && def->getBlock() == op->getBlock() &&
           (def->hasTrait<toy::OpTrait::Elementwise>() || def->hasTrait<toy::OpTrait::IndexMap>());
  }
  int64_t fusedOperands(Operation *op) const {
    return llvm::count_if(op->getOperands(), [&](Value v) { return isFusedInto(op, v); });
  }

  /// What the lanes of a kernel save of the functions of an operation's elements.
  static double costOfFunctions(Operation *op) {
    auto isComplexNumber = [](Value v) { return tensorTypeOf(v).isComplex(); };
    const int64_t count = tensorTypeOf(op->getResult(0)).getStaticCount().value_or(0);
    const bool isFunction = op->hasTrait<toy::OpTrait::Elementwise>() && !isForLanes(op) && !isa<DivOp>(op) &&
                            llvm::any_of(op->getOperands(), isComplexNumber);
    return isFunction && count >= fewElements ? functionCost * static_cast<double>(count) : 0;
  }

  void weigh() {
    for (Operation *op : work)
      if (void *group = groupOf(valueOf(op)))
        saved[group] +=
            weightOf(op->getBlock()) * ((parts.isCheap(op) ? 0 : tensorCost) - choiceCost * parts.choices(op) -
                                        costOfFunctions(op) - tensorCost * fusedOperands(op));
    for (Value v : candidates)
      for (Block *block : blocksOfTensors(v))
        saved[groupOf(v)] -= tensorCost * weightOf(block);
  }
  bool isChosen(Value v) const { return saved.lookup(groupOf(v)) > 0; }
  bool isChosen(Operation *op) const {
    Value v = valueOf(op);
    // Else elements of a value that stays a tensor.
    return v ? isChosen(v) : weightOf(op->getBlock()) > 0 && fusedOperands(op) == 0;
  }

  /// Whether a use will be one of scalars, if its value is taken apart.
  bool isOfScalars(OpOperand &use) const {
    auto branch = dyn_cast<BranchOpInterface>(use.getOwner());
    auto argument = branch ? branch.getSuccessorBlockArgument(use.getOperandNumber()) : std::nullopt;
    return work.contains(use.getOwner()) || (argument && candidates.contains(*argument));
  }
  /// Where a use that needs the tensor finds it: beside itself, but not in a loop that the value was made outside of.
  Block *blockFor(OpOperand &use) const {
    Block *made = use.get().getParentBlock(), *used = use.getOwner()->getBlock();
    return weightOf(used) > weightOf(made) ? made : used;
  }
  llvm::SetVector<Block *> blocksOfTensors(Value v) const {
    llvm::SetVector<Block *> blocks;
    for (OpOperand &use : v.getUses())
      if (!isOfScalars(use))
        blocks.insert(blockFor(use));
    return blocks;
  }

  // --- the change

  void takeApart() {
    for (Value v : candidates)
      if (auto argument = dyn_cast<BlockArgument>(v); argument && isChosen(v)) {
        Type type = TensorType::scalar(v.getContext(), tensorTypeOf(v).getDtype());
        for (int64_t i = 0, n = *tensorTypeOf(v).getStaticCount(); i < n; ++i)
          parts.of(v).push_back(argument.getOwner()->addArgument(type, v.getLoc()));
        arguments.push_back(argument);
      }
    llvm::ReversePostOrderTraversal<Region *> order(&function.getBody());
    for (Block *block : order)
      for (Operation &op : llvm::make_early_inc_range(*block))
        if (work.contains(&op) && isChosen(&op)) {
          parts.compute(&op);
          done.push_back(&op);
        }
  }

  void makeTensors() {
    for (Value v : candidates)
      if (isChosen(v))
        for (Block *block : blocksOfTensors(v))
          makeTensor(v, block);
  }
  void makeTensor(Value v, Block *block) {
    SmallVector<OpOperand *> uses;
    Operation *first = nullptr;
    bool elsewhere = false;
    for (OpOperand &use : v.getUses())
      if (!isOfScalars(use) && blockFor(use) == block) {
        uses.push_back(&use);
        Operation *user = use.getOwner();
        elsewhere |= user->getBlock() != block;
        first = !first || (user->getBlock() == block && user->isBeforeInBlock(first)) ? user : first;
      }
    OpBuilder b(function.getContext());
    if (elsewhere)
      b.setInsertionPointAfterValue(v);
    else
      b.setInsertionPoint(first);
    Value tensor = FromElementsOp::create(b, v.getLoc(), v.getType(), parts.of(v), staticSizes(v));
    for (OpOperand *use : uses)
      use->set(tensor);
  }

  /// What was computed on scalars goes, and so do arguments that branches handed on as tensors.
  void erase() {
    llvm::MapVector<Block *, llvm::BitVector> gone;
    for (BlockArgument argument : arguments) {
      llvm::BitVector &bits = gone[argument.getOwner()];
      bits.resize(argument.getOwner()->getNumArguments());
      bits.set(argument.getArgNumber());
    }
    for (auto &[block, bits] : gone)
      for (const BlockEdge &edge : edgesInto(block))
        for (int i = bits.find_last(); i >= 0; i = bits.find_prev(i))
          edge.operands().erase(i);
    for (Operation *op : llvm::reverse(done))
      op->erase();
    for (auto &[block, bits] : gone)
      block->eraseArguments(bits);
  }

  func::FuncOp function;
  FunctionLoops loops;
  ScalarParts parts;
  llvm::SetVector<Operation *> work; ///< what can be computed on scalars
  SmallVector<Operation *> done;     ///< what was
  llvm::SetVector<Value> candidates;
  llvm::EquivalenceClasses<void *> groups; ///< of candidates
  llvm::DenseMap<void *, double> saved;    ///< nanoseconds a turn, by group
  SmallVector<BlockArgument> arguments;
};

struct ScalarizePass : impl::ScalarizeBase<ScalarizePass> {
  using ScalarizeBase::ScalarizeBase;
  void runOnOperation() override {
    if (unrollTinyLoops(getOperation())) { // indices that are numbers now
      OpPassManager passes(func::FuncOp::getOperationName());
      passes.addPass(createCanonicalizer());
      if (failed(runPipeline(passes, getOperation())))
        return signalPassFailure();
    }
    Scalarizer(getOperation(), products).run();
  }
};

} // namespace
} // namespace toy

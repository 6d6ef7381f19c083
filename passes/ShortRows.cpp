// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows of unknown length in loops: `d = x[j] - x[i]; a += d * f` makes a tensor for each of them, by an allocation and
/// a kernel, which for three elements take ten times what computing them does. A loop with such rows becomes
/// three: for rows that fit into the lanes of a vector register, for those that fit into a few, where they stay, and
/// the loop as it was.
#include "ir/Constants.h"
#include "passes/Passes.h"
#include "passes/RowLanes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_HOLDSHORTROWS
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t widths[] = {8, 16, 32}; ///< in elements, of what rows are held in: one register, and some
constexpr int64_t fewElements[] = {2, 3}; ///< of rows that are computed one by one, if no turn hands them on
constexpr int64_t mostOfEach = 150;       ///< operations of a loop that has one for all of these widths,
constexpr int64_t mostOfAllEach = 600;    ///< and of all such loops of a function
constexpr int64_t mostBytes = 256;        ///< of a row
constexpr int64_t mostOperations = 600;   ///< of a loop that becomes three
constexpr int64_t mostOfFunction =
    2000; ///< of all such loops of a function: code of long ones takes longer than it grows

/// A loop, and what of it is rows of one size.
class RowLoop {
public:
  RowLoop(CFGLoop &loop) : loop(loop) {}

  /// What is looked for: rows of a size that is a number, or of one that is asked for, that need not be tensors, or
  /// only numbers that such rows are folded to.
  enum Kind : uint8_t { OfNumbers, OfSizes, Folds };
  bool find(Kind kind) {
    auto entries = entriesOf(loop);
    if (entries.size() != 1 || !hasOneExit() || !isSmall())
      return false;
    entry = entries.front();
    findSources();
    for (Names &candidate : kind == OfNumbers ? knownLengths(loop, mostBytes, widths[2])
                                              : unknownLengths(loop, [&](Dim dim) { return sourceOf.contains(dim); })) {
      names = std::move(candidate);
      collect();
      if (pays(kind))
        return true;
    }
    return false;
  }

  /// Makes a loop for rows of each width, or of the least and the most, beside the one for all.
  void emit(bool ofEach) {
    begin();
    const int64_t most = std::min(widths[2], mostBytes / bytesOfElement());
    if (ofEach && areOfOneTurn())
      makeLoopsForFew();
    for (int64_t number : widths)
      if (number == widths[0] || (number < most && ofEach))
        makeLoopFor(number, /*isExact=*/false);
    makeLoopFor(most, /*isExact=*/false);
  }

  /// Makes loops for rows of two and of three elements. The one for all has folds of others as code, too.
  void emitForFew() {
    begin();
    makeLoopsForFew();
  }

  /// Rows of a known length are held in the loop itself.
  void emitInPlace() {
    nameResults([&](Value v) { return rows.contains(v); });
    lanes = llvm::PowerOf2Ceil(names.front().value());
    OpBuilder b(entry.terminator);
    length = integerConstant(b, entry.terminator->getLoc(), names.front().value());
    for (Block *block : loop.getBlocks()) {
      mapping.map(block, block);
      for (Value argument : block->getArguments())
        mapping.map(argument, argument);
      for (Operation &op : *block) {
        mapping.map(&op, &op);
        mapping.map(op.getResults(), op.getResults());
      }
    }
    for (auto [number, argument] : llvm::enumerate(loop.getHeader()->getArguments()))
      if (rows.contains(argument))
        entry.operands().slice(number, 1).assign(
            moved(b, argument.getLoc(), entry.operands()[number].get(), /*leaves=*/false));
    hold();
  }

  int64_t size() const { return operations; }

  /// Whether no turn hands rows on: lanes would be put together of few elements, and taken apart.
  bool areOfOneTurn() {
    return llvm::none_of(rows, [](Value row) { return isa<BlockArgument>(row); }) &&
           llvm::all_of(loop.getBlocks(), [&](Block *block) {
             return llvm::all_of(block->getOps<FusedOp>(),
                                 [&](FusedOp group) { return !isComputedInLanes(group) || isByElement(group); });
           });
  }

private:
  // --- what there is

  int64_t bytesOfElement() {
    int64_t bytes = 1;
    for (Value row : rows)
      bytes = std::max(bytes, toy::sizeOf(tensorTypeOf(row).getDtype()));
    return bytes;
  }

  /// Whether there is a row that is no tensor any more, or a fold of a known length, which is no call any more.
  bool pays(Kind kind) {
    auto isFold = [&](FusedOp group) { return isRowGroup(group, names) && isScalar(group.getResult(0)); };
    return llvm::any_of(rows, [&](Value row) { return row.getDefiningOp() && !isNeededInMemory(row); }) ||
           (kind != OfSizes && llvm::any_of(loop.getBlocks(), [&](Block *block) {
              return llvm::any_of(block->getOps<FusedOp>(), isFold);
            }));
  }

  bool hasOneExit() {
    for (Block *block : loop.getBlocks())
      for (Block *next : block->getSuccessors())
        if (!loop.contains(next)) {
          if (exit && next != exit)
            return false;
          exit = next;
        }
    return exit && llvm::all_of(exit->getPredecessors(), [&](Block *from) { return loop.contains(from); });
  }
  bool isSmall() {
    operations = 0;
    for (Block *block : loop.getBlocks()) {
      if (!isa<cf::BranchOp, cf::CondBranchOp>(block->getTerminator()))
        return false;
      block->walk([&](Operation *) { ++operations; });
      for (Operation &op : *block) // a condition would have to be handed on
        if (isa<TruthOp>(op) &&
            llvm::any_of(op.getUsers(), [&](Operation *user) { return !loop.contains(user->getBlock()); }))
          return false;
    }
    return operations <= mostOperations;
  }

  using Source = std::pair<Value, int64_t>; ///< a tensor and an axis

  /// For each size the first tensor from before the loop that has an axis of it.
  void findSources() {
    auto visit = [&](Value v) {
      auto type = dyn_cast<TensorType>(v.getType());
      if (type && hasLocalSizes(v))
        for (auto [axis, dim] : llvm::enumerate(type.getDims()))
          if (!dim.isNumber() && !dim.isUnknown())
            sourceOf.try_emplace(dim, v, axis);
    };
    llvm::for_each(OperandRange(entry.operands()), visit);
    for (Block *block : loop.getBlocks())
      for (Operation &op : *block)
        for (Value v : op.getOperands())
          if (!loop.contains(v.getParentBlock()))
            visit(v);
  }

  /// Rows of the size that are in lanes: what is computed there, and what blocks are handed of it alone.
  void collect() {
    rows.clear();
    for (Block *block : loop.getBlocks()) {
      for (Value argument : block->getArguments())
        if (isRowOf(argument, names))
          rows.insert(argument);
      for (FusedOp group : block->getOps<FusedOp>())
        if (isRowGroup(group, names) && !isScalar(group.getResult(0)))
          rows.insert(group.getResult(0));
    }
    while (true) {
      SmallVector<Value> wrong = llvm::to_vector(llvm::make_filter_range(rows, [&](Value v) { return !staysRow(v); }));
      if (wrong.empty())
        return;
      for (Value v : wrong)
        rows.remove(v);
    }
  }

  bool staysRow(Value v) {
    if (llvm::any_of(v.getUsers(), [](Operation *user) { return isa<ElementSetOp>(user); }))
      return false; // its elements change
    auto argument = dyn_cast<BlockArgument>(v);
    if (!argument)
      return !isNeededInMemory(v) || llvm::any_of(v.getUses(), [&](OpOperand &use) { return isInLanes(use); }) ||
             llvm::any_of(v.getDefiningOp()->getOperands(), [&](Value operand) { return rows.contains(operand); });
    return !isNeededInMemory(v) && llvm::all_of(edgesInto(argument.getOwner()), [&](const BlockEdge &edge) {
      Value operand = edge.operandOf(argument);
      return operand && (!loop.contains(edge.from()) || rows.contains(operand));
    });
  }
  bool isNeededInMemory(Value v) {
    return llvm::any_of(v.getUses(), [&](OpOperand &use) { return !isInLanes(use); });
  }
  bool isInLanes(OpOperand &use) {
    Operation *user = use.getOwner();
    if (!loop.contains(user->getBlock()) || isa<DimOp>(user))
      return true;
    if (isa<ElementOp>(user))
      return use.getOperandNumber() == 0;
    if (auto group = dyn_cast<FusedOp>(user))
      return isComputedInLanes(group) && readsInPlace(group, use.get());
    if (!user->hasTrait<mlir::OpTrait::IsTerminator>())
      return false;
    auto branch = cast<BranchOpInterface>(user);
    auto argument = branch.getSuccessorBlockArgument(use.getOperandNumber());
    return argument && (argument->getOwner() == exit || rows.contains(*argument));
  }
  bool isComputedInLanes(FusedOp group) {
    return isRowGroup(group, names) && (isScalar(group.getResult(0)) || rows.contains(group.getResult(0)));
  }

  // --- the change

  void begin() {
    nameResults([](Value) { return true; });
    sourceOf.clear();
    findSources(); // some may have come out of loops that are three by now
    for (Dim name : names)
      sources.push_back(sourceOf.lookup(name));
  }

  void makeLoopsForFew() {
    for (int64_t number : fewElements)
      makeLoopFor(number, /*isExact=*/true);
  }

  /// What is used behind the loop comes by arguments of the block there.
  void nameResults(llvm::function_ref<bool(Value)> isNamed) {
    SmallVector<Value> leaving;
    auto visit = [&](Value v) {
      if (isNamed(v) && llvm::any_of(v.getUsers(), [&](Operation *user) { return !loop.contains(user->getBlock()); }))
        leaving.push_back(v);
    };
    for (Block *block : loop.getBlocks()) {
      llvm::for_each(block->getArguments(), visit);
      for (Operation &op : *block)
        llvm::for_each(op.getResults(), visit);
    }
    SmallVector<BlockEdge, 2> edges = edgesInto(exit);
    for (Value v : leaving) {
      BlockArgument argument = exit->addArgument(v.getType(), v.getLoc());
      v.replaceUsesWithIf(argument, [&](OpOperand &use) { return !loop.contains(use.getOwner()->getBlock()); });
      for (const BlockEdge &edge : edges)
        edge.operands().append(v);
    }
  }

  /// On the way into the loop, rows of so many elements, or of at most so many, get a loop of their own.
  void makeLoopFor(int64_t number, bool isExact) {
    lanes = llvm::PowerOf2Ceil(number);
    elements = isExact ? number : 0;
    mapping = IRMapping();
    Block *header = loop.getHeader(), *guard = new Block, *before = new Block;
    header->getParent()->getBlocks().insert(header->getIterator(), guard);
    header->getParent()->getBlocks().insert(header->getIterator(), before);
    OpBuilder b = OpBuilder::atBlockEnd(guard);
    Location loc = entry.terminator->getLoc();
    SmallVector<Value> operands{OperandRange(entry.operands())};
    entry.operands().clear();
    entry.terminator->setSuccessor(guard, entry.successor);
    Value most = integerConstant(b, loc, number);
    if (!count)
      count = sizeOf(sources.front(), b, loc);
    Type truth = TensorType::scalar(b.getContext(), DType::Bool);
    length = isExact ? most : count;
    Value isShort = isExact ? EqOp::create(b, loc, truth, ValueRange{count, most}).getResult()
                            : LeOp::create(b, loc, truth, ValueRange{count, most}).getResult();
    auto require = [&](Value size) {
      Value isSame = EqOp::create(b, loc, truth, ValueRange{count, size});
      isShort = AndOp::create(b, loc, truth, ValueRange{isShort, isSame});
    };
    for (auto source : llvm::drop_begin(sources))
      require(sizeOf(source, b, loc));
    for (auto [operand, argument] : llvm::zip(operands, header->getArguments()))
      if (rows.contains(argument) && !hasLocalSizes(operand)) // another size may have the name
        require(DimOp::create(b, loc, most.getType(), operand, 0));
    auto branch = cf::CondBranchOp::create(b, loc, TruthOp::create(b, loc, b.getI1Type(), isShort), before,
                                           ValueRange(), header, operands);
    entry = {branch, 1};
    copy();
    b.setInsertionPointToEnd(before);
    for (auto [operand, argument] : llvm::zip(operands, header->getArguments()))
      if (rows.contains(argument))
        operand = moved(b, loc, operand, /*leaves=*/false);
    cf::BranchOp::create(b, loc, mapping.lookup(header), operands);
  }

  static Value sizeOf(Source source, OpBuilder &b, Location loc) {
    return DimOp::create(b, loc, TensorType::scalar(b.getContext(), DType::I64), source.first, source.second);
  }

  /// Numbers that rows of the loop are made with, or that are asked of a tensor: the size of the rows.
  bool isSize(Value v) {
    if (auto question = v.getDefiningOp<DimOp>())
      return hasLocalSizes(question.getX()) && names.contains(tensorTypeOf(question.getX()).getDim(question.getAxis()));
    return llvm::any_of(v.getUses(), [&](OpOperand &use) {
      auto group = dyn_cast<FusedOp>(use.getOwner());
      if (!group || !loop.contains(group->getBlock()))
        return false;
      Value inside = group.getBody().getArgument(use.getOperandNumber());
      return llvm::any_of(inside.getUsers(), [&](Operation *user) {
        auto row = dyn_cast<ReshapeOp>(user);
        return row && isRowOf(row.getResult(), names) && row.getSizes()[0] == inside;
      });
    });
  }

  /// What the loop counts up to is what was compared before it: other loops in it are short.
  void copy() {
    Region *region = exit->getParent();
    SmallVector<Block *> blocks;
    for (Block *block : loop.getBlocks()) {
      Block *own = new Block;
      region->getBlocks().insert(exit->getIterator(), own);
      mapping.map(block, own);
      for (BlockArgument argument : block->getArguments())
        mapping.map(argument, own->addArgument(argument.getType(), argument.getLoc()));
      blocks.push_back(own);
    }
    OpBuilder b(region->getContext());
    SmallVector<Operation *> copies;
    for (Block *block : loop.getBlocks()) {
      b.setInsertionPointToEnd(mapping.lookup(block));
      for (Operation &op : *block) {
        for (Value operand : op.getOperands())
          if (!loop.contains(operand.getParentBlock()) && isSize(operand))
            mapping.map(operand, length);
        copies.push_back(b.clone(op, mapping));
      }
    }
    for (Operation *op : copies) // of values that were copied later
      for (OpOperand &operand : op->getOpOperands())
        operand.set(mapping.lookupOrDefault(operand.get()));
    hold();
  }

  /// In the copy, or in the loop itself, rows are in lanes.
  void hold() {
    SmallVector<std::pair<FusedOp, SmallVector<OpOperand *>>> held; // and the uses of what is needed in memory, too
    for (Block *block : loop.getBlocks())
      for (FusedOp group : block->getOps<FusedOp>())
        if (isComputedInLanes(group)) {
          held.push_back({group, {}});
          for (OpOperand &use : group.getResult(0).getUses())
            if (!isScalar(group.getResult(0)) && !isInLanes(use))
              held.back().second.push_back(&use);
        }
    for (auto &[group, uses] : held) {
      Value copied = mapping.lookup(group.getResult(0));
      hold(copied.getDefiningOp<FusedOp>());
      if (!uses.empty())
        store(copied, uses);
    }
    for (Value row : rows)
      for (Operation *user : llvm::make_early_inc_range(mapping.lookup(row).getUsers()))
        if (auto question = dyn_cast<DimOp>(user)) {
          question.replaceAllUsesWith(length);
          question.erase();
        }
    for (Block *block : llvm::to_vector(loop.getBlocks()))
      leave(mapping.lookup(block));
  }

  void store(Value row, ArrayRef<OpOperand *> uses) {
    OpBuilder b(row.getContext());
    b.setInsertionPointAfterValue(row);
    Value stored = moved(b, row.getLoc(), row, /*leaves=*/true);
    for (OpOperand *use : uses)
      mapping.lookup(use->getOwner())->setOperand(use->getOperandNumber(), stored);
  }

  /// A group that is computed in lanes: where its operands lie is read outside of the loop.
  void hold(FusedOp group) {
    OpBuilder b(group);
    group->setAttr(rowLanes, b.getI64IntegerAttr(lanes));
    group->setAttr("toy.inLoop", b.getUnitAttr());
    if (elements)
      group->setAttr(rowElements, b.getI64IntegerAttr(elements));
    group.getInputsMutable().append(length);
    group.getBody().front().addArgument(length.getType(), group.getLoc());
  }

  /// A row that goes from memory into lanes, or back.
  Value moved(OpBuilder &b, Location loc, Value row, bool leaves) {
    auto group = FusedOp::create(b, loc, TypeRange(row.getType()), ValueRange(row));
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&group.getBody());
    YieldOp::create(b, loc, ValueRange(body->addArgument(row.getType(), loc)));
    hold(group);
    if (leaves)
      group->setAttr(leavesLanes, b.getUnitAttr());
    return group.getResult(0);
  }

  /// On the ways out, rows are put into memory.
  void leave(Block *block) {
    Operation *terminator = block->getTerminator();
    for (unsigned i = 0; i < terminator->getNumSuccessors(); ++i) {
      if (terminator->getSuccessor(i) != exit)
        continue;
      BlockEdge edge{terminator, i};
      SmallVector<Value> operands{OperandRange(edge.operands())};
      Block *way = new Block;
      exit->getParent()->getBlocks().insert(exit->getIterator(), way);
      OpBuilder b = OpBuilder::atBlockEnd(way);
      for (Value &operand : operands)
        if (llvm::any_of(rows, [&](Value row) { return mapping.lookup(row) == operand; }))
          operand = moved(b, terminator->getLoc(), operand, /*leaves=*/true);
      cf::BranchOp::create(b, terminator->getLoc(), exit, operands);
      edge.operands().clear();
      terminator->setSuccessor(way, i);
    }
  }

  CFGLoop &loop;
  int64_t operations = 0;
  Block *exit = nullptr;
  BlockEdge entry{};
  llvm::DenseMap<Dim, Source> sourceOf;
  Names names;                    ///< of the size of the rows
  SmallVector<Source, 1> sources; ///< the tensors and axes that it is asked of
  llvm::SetVector<Value> rows;
  Value count, length;  ///< of elements: what is asked for before the loop, what the copy that is made takes for it
  int64_t lanes = 0;    ///< of the copy
  int64_t elements = 0; ///< if it is for rows of so many
  IRMapping mapping;    ///< to the copy
};

struct HoldShortRowsPass : impl::HoldShortRowsBase<HoldShortRowsPass> {
  void runOnOperation() override {
    if (getOperation().getOps<FusedOp>().empty())
      return;
    while (holdKnown(FunctionLoops(getOperation())))
      ;
    // Outer loops first; what was in one that became three is left alone.
    FunctionLoops loops(getOperation());
    SmallVector<CFGLoop *> done;
    SmallVector<std::unique_ptr<RowLoop>> found;
    int64_t copied = 0;
    for (CFGLoop *loop : loops.all()) {
      if (llvm::any_of(done, [&](CFGLoop *outer) { return outer->contains(loop); }))
        continue;
      auto candidate = std::make_unique<RowLoop>(*loop);
      if (!candidate->find(RowLoop::OfSizes) || copied + candidate->size() > mostOfFunction)
        continue;
      copied += candidate->size();
      done.push_back(loop);
      found.push_back(std::move(candidate));
    }
    copied = 0;
    for (auto &loop : found) {
      const bool ofEach = loop->size() <= mostOfEach && copied + loop->size() <= mostOfAllEach;
      copied += ofEach ? loop->size() : 0;
      loop->emit(ofEach);
    }
    emitFolds(loops, done, copied);
  }

  /// Innermost loops that rows are only folded in.
  static void emitFolds(const FunctionLoops &loops, ArrayRef<CFGLoop *> done, int64_t copied) {
    for (CFGLoop *loop : loops.all())
      if (loop->getSubLoops().empty() && llvm::none_of(done, [&](CFGLoop *outer) { return outer->contains(loop); }))
        if (RowLoop candidate(*loop); candidate.find(RowLoop::Folds) && candidate.areOfOneTurn() &&
                                      candidate.size() <= mostOfEach && copied + candidate.size() <= mostOfAllEach) {
          copied += candidate.size();
          candidate.emitForFew();
        }
  }

  /// Rows of one known length, in the outermost loop that has them.
  static bool holdKnown(const FunctionLoops &loops) {
    for (CFGLoop *loop : loops.all())
      if (RowLoop candidate(*loop); candidate.find(RowLoop::OfNumbers)) {
        candidate.emitInPlace();
        return true;
      }
    return false;
  }
};

} // namespace
} // namespace toy

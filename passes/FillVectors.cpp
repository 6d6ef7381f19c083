// SPDX-License-Identifier: Apache-2.0
/// \file
/// `row = list(); for j in range(n) { row = append(row, v); }`: how long the vector gets is known before the loop,
/// where nothing in it can fail, as a place outside would, before it has become so long. So it is made with that
/// length, and its elements are stored, several at once where LLVM makes vectors of the loop. A loop that can fail is
/// made two: the first one has so few turns that the memory is there, and appends nothing either.
#include "passes/FillVectors.h"
#include "passes/CountedLoops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace toy {

namespace {

/// A vector that a loop begins with, of no or a few elements, and what makes it longer.
struct Growth {
  BlockArgument vector;
  AppendOp append;
  SmallVector<Value> begin; ///< the elements
};

class Filler {
public:
  explicit Filler(func::FuncOp function) : function(function), loops(function), b(function.getContext()) {}

  void run() {
    SmallVector<Block *> failing; // headers
    for (CFGLoop *loop : loops.all())
      if (auto counted = countedFromNumber(*loop)) {
        if (cannotFail(*loop))
          fillAll(*loop, *counted);
        else if (isShort(*loop, *counted))
          failing.push_back(loop->getHeader());
      }
    constexpr size_t mostLoops = 32; // of a function that are made two
    if (failing.size() > mostLoops)
      failing.clear();
    llvm::DenseSet<Block *> firsts;
    for (Block *header : failing)
      firsts.insert(split(header));
    if (!failing.empty())
      loops = FunctionLoops(function);
    for (CFGLoop *loop : loops.all())
      if (firsts.contains(loop->getHeader()))
        fillAll(*loop, *countedFromNumber(*loop));
  }

private:
  /// A loop that counts up from a number, so that its turns do not wrap, and is left where it has come to its end.
  static std::optional<CountedLoop> countedFromNumber(CFGLoop &loop) {
    auto counted = countedLoop(loop);
    if (!counted || counted->isDown || !counted->start || constantInteger(counted->start).value_or(-1) < 0)
      return std::nullopt;
    bool staysInside = llvm::all_of(loop.getBlocks(), [&](Block *block) {
      auto isInside = [&](Block *to) { return loop.contains(to); };
      return block == loop.getHeader() || llvm::all_of(block->getSuccessors(), isInside);
    });
    return staysInside ? counted : std::nullopt;
  }

  void fillAll(CFGLoop &loop, CountedLoop counted) {
    for (BlockArgument argument : llvm::to_vector(loop.getHeader()->getArguments()))
      if (auto growth = growthOf(loop, counted, argument))
        fill(loop, counted, *growth);
  }

  /// Whether an innermost loop is small, and appends nothing but what can be stored.
  static bool isShort(CFGLoop &loop, CountedLoop &counted) {
    constexpr size_t most = 100; // operations that are there twice
    size_t operations = 0;
    llvm::SmallPtrSet<Operation *, 2> appends;
    for (BlockArgument argument : loop.getHeader()->getArguments())
      if (auto growth = growthOf(loop, counted, argument))
        appends.insert(growth->append);
    for (Block *block : loop.getBlocks())
      for (Operation &op : *block) {
        if (++operations > most || op.getNumRegions() > 0 ||
            (isa<AppendOp, ShortenOp, ListAppendOp, ListSliceOp>(op) && !appends.contains(&op)))
          return false;
      }
    return !appends.empty() && loop.getSubLoops().empty();
  }

  /// The loop as it is follows a copy that ends after so many turns at most. Gives the header of the copy.
  Block *split(Block *header) {
    constexpr int64_t mostTurns = 65536;
    CFGLoop &loop = *loops.of(header);
    CountedLoop counted = *countedLoop(loop);
    BlockEdge entry = entriesOf(loop).front();
    sayLengths(loop, counted);
    const Location loc = header->front().getLoc();
    const Names names = namesOfLoop(loop, counted);
    b.setInsertionPoint(entry.terminator);
    const int64_t start = *constantInteger(counted.start);
    Value last = integerConstant(b, loc, start > INT64_MAX - mostTurns ? INT64_MAX : start + mostTurns),
          end = MinimumOp::create(b, loc, counted.bound.getType(), counted.bound, last);
    IRMapping mapping;
    for (Block *block : loop.getBlocks()) {
      Block *copy = b.createBlock(header);
      mapping.map(block, copy);
      for (BlockArgument argument : block->getArguments())
        mapping.map(argument, copy->addArgument(names.of(argument.getType()), argument.getLoc()));
    }
    Block *first = mapping.lookup(header);
    llvm::ReversePostOrderTraversal<Region *> order(header->getParent());
    for (Block *block : order)
      if (loop.contains(block)) {
        b.setInsertionPointToEnd(mapping.lookup(block));
        for (Operation &op : *block)
          for (Value result : b.clone(op, mapping)->getResults())
            result.setType(names.of(result.getType()));
      }
    auto leave = cast<cf::CondBranchOp>(first->getTerminator());
    leave.getCondition().getDefiningOp()->getOperand(0).getDefiningOp()->setOperand(1, end);
    leave.getFalseDestOperandsMutable().clear();
    rest(leave, header, loc);
    entry.terminator->setSuccessor(first, entry.successor);
    return first;
  }

  /// How long a vector is behind the loop is known, though it gets so long by one number a turn.
  void sayLengths(CFGLoop &loop, CountedLoop &counted) {
    auto leave = cast<cf::CondBranchOp>(loop.getHeader()->getTerminator());
    const BlockEdge exit = splitEdge({leave, 1}, leave.getLoc());
    for (BlockArgument argument : loop.getHeader()->getArguments())
      if (auto growth = growthOf(loop, counted, argument)) {
        auto type = cast<TensorType>(argument.getType());
        const Location loc = growth->append.getLoc();
        b.setInsertionPoint(exit.terminator);
        Value count = lengthBehind(loc, counted, static_cast<int64_t>(growth->begin.size()));
        TensorType made = type.withDims({Dim::symbol(b.getContext(), "filled$" + std::to_string(names++))});
        auto whole = ShortenOp::create(b, loc, made, argument, count);
        Value named = RelabelOp::create(b, loc, type, whole);
        argument.replaceUsesWithIf(named, [&](OpOperand &use) {
          return use.getOwner() != whole && !loop.contains(use.getOwner()->getBlock());
        });
      }
  }

  /// What the first loop ends with is what the other one begins with.
  void rest(cf::CondBranchOp leave, Block *header, Location loc) {
    Block *first = leave->getBlock(), *between = b.createBlock(header);
    SmallVector<Value> handed;
    for (auto [argument, to] : llvm::zip_equal(first->getArguments(), header->getArguments()))
      handed.push_back(argument.getType() == to.getType()
                           ? Value(argument)
                           : RelabelOp::create(b, loc, to.getType(), argument).getResult());
    cf::BranchOp::create(b, loc, header, handed);
    leave->setSuccessor(between, 1);
  }

  /// Other names for the sizes of what a loop makes, or hands on while it gets longer.
  struct Names {
    llvm::StringMap<Dim> sizes;
    Type of(Type type) const {
      auto tensor = dyn_cast<TensorType>(type);
      if (!tensor || tensor.isScalar())
        return type;
      SmallVector<Dim> dims;
      for (Dim dim : tensor.getDims())
        dims.push_back(dim.substitute(sizes));
      return tensor.withDims(dims);
    }
  };
  Names namesOfLoop(CFGLoop &loop, CountedLoop &counted) {
    Names found;
    llvm::StringSet<> outside;
    auto collect = [&](Type type, auto visit) {
      if (auto tensor = dyn_cast<TensorType>(type))
        for (Dim dim : tensor.getDims())
          dim.collectSymbols([&](StringRef name) { visit(name); });
    };
    auto note = [&](StringRef name) { outside.insert(name); };
    for (Block &block : function.getBody()) {
      for (Value argument : block.getArguments())
        if (!loop.contains(&block))
          collect(argument.getType(), note);
      for (Operation &op : block)
        for (Value result : op.getResults())
          if (!loop.contains(&block) && !isa<RelabelOp>(op))
            collect(result.getType(), note);
    }
    auto rename = [&](StringRef name) {
      if (!outside.contains(name) && !found.sizes.contains(name))
        found.sizes[name] = Dim::symbol(b.getContext(), "first$" + std::to_string(this->names++));
    };
    for (BlockArgument argument : loop.getHeader()->getArguments())
      if (growthOf(loop, counted, argument))
        collect(argument.getType(), [&](StringRef name) { outside.erase(name); });
    for (Block *block : loop.getBlocks()) {
      for (Value argument : block->getArguments())
        collect(argument.getType(), rename);
      for (Operation &op : *block)
        for (Value result : op.getResults())
          collect(result.getType(), rename);
    }
    return found;
  }

  /// Whether no error ends a loop.
  static bool cannotFail(CFGLoop &loop) {
    auto hasNoError = [&](Operation &op) {
      if (isa<ConstantOp, TruthOp, DimOp, AppendOp, RelabelOp, cf::BranchOp, cf::CondBranchOp>(op))
        return true;
      if (isa<ModOp, FloorDivOp>(op) && constantInteger(op.getOperand(1)).value_or(0) == 0)
        return false;
      return op.hasTrait<toy::OpTrait::Elementwise>() && tensorTypeOf(op.getResult(0)).isScalar() &&
             isMemoryEffectFree(&op);
    };
    return llvm::all_of(loop.getBlocks(), [&](Block *block) { return llvm::all_of(*block, hasNoError); });
  }

  static Value beforeNames(Value v) {
    while (auto relabel = v.getDefiningOp<RelabelOp>())
      v = relabel.getX();
    return v;
  }

  /// Whether a value goes from the header to a block behind the loop, as another loop's header is.
  static bool isHandedOut(CFGLoop &loop, OpOperand &use) {
    auto leave = dyn_cast<cf::CondBranchOp>(use.getOwner());
    return leave && leave->getBlock() == loop.getHeader() && !loop.contains(leave.getFalseDest()) &&
           use.getOperandNumber() > leave.getTrueDestOperands().size();
  }

  static std::optional<Growth> growthOf(CFGLoop &loop, CountedLoop &counted, BlockArgument argument) {
    auto type = dyn_cast<TensorType>(argument.getType());
    if (!type || type.getRank() != 1)
      return std::nullopt;
    constexpr size_t most = 8; // elements
    const BlockEdge entry = entriesOf(loop).front();
    Value begin = beforeNames(entry.operandOf(argument));
    auto empty = begin.getDefiningOp<FullOp>();
    auto made = begin.getDefiningOp<FromElementsOp>();
    const bool isEmpty = empty && tensorTypeOf(begin).getStaticCount() == 0,
               isMade = made && tensorTypeOf(begin).getRank() == 1 && made.getElements().size() <= most;
    if ((!isEmpty && !isMade) || !isa<cf::BranchOp>(entry.terminator))
      return std::nullopt;
    auto append = beforeNames(counted.back.getDestOperands()[argument.getArgNumber()]).getDefiningOp<AppendOp>();
    if (!append || append.getX() != argument || !loop.contains(append->getBlock()) ||
        !tensorTypeOf(append.getRow()).isScalar() || tensorTypeOf(append.getRow()).getDtype() != type.getDtype())
      return std::nullopt;
    auto isAsked = [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return !loop.contains(user->getBlock()) || user == append || isa<DimOp, ElementOp>(user) ||
             isHandedOut(loop, use);
    };
    auto isLast = [&](Operation *user) {
      auto relabel = dyn_cast<RelabelOp>(user);
      return user == counted.back || isa<DimOp, ElementOp>(user) ||
             (relabel && llvm::all_of(relabel->getUsers(), [&](Operation *next) { return next == counted.back; }));
    };
    return llvm::all_of(argument.getUses(), isAsked) && llvm::all_of(append->getUsers(), isLast)
               ? std::optional(
                     Growth{argument, append, isMade ? SmallVector<Value>(made.getElements()) : SmallVector<Value>()})
               : std::nullopt;
  }

  void fill(CFGLoop &loop, CountedLoop &counted, Growth growth) {
    const unsigned number = growth.vector.getArgNumber();
    auto type = cast<TensorType>(growth.vector.getType());
    const Location loc = growth.append.getLoc();
    const BlockEdge entry = entriesOf(loop).front();
    const int64_t before = static_cast<int64_t>(growth.begin.size());
    b.setInsertionPoint(entry.terminator);
    Value count = lengthBehind(loc, counted, before);
    TensorType made = type.withDims({Dim::symbol(b.getContext(), "filled$" + std::to_string(names++))});
    Value full = FullOp::create(b, loc, made, zeroConstant(b, loc, type.getDtype()), ValueRange(count), true);
    for (auto [i, element] : llvm::enumerate(growth.begin))
      full = ElementStoreOp::create(b, loc, made, full, element,
                                    ValueRange(integerConstant(b, loc, static_cast<int64_t>(i))));
    entry.operands()[number].set(RelabelOp::create(b, loc, type, full));
    askCounter(growth.vector, counted, before, &loop);
    askCounter(growth.append.getResult(), counted, before + 1, nullptr);
    b.setInsertionPoint(growth.append);
    Value at = behind(loc, difference(loc, counted.counter, counted.start), before);
    Value stored = ElementStoreOp::create(b, loc, type, growth.vector, growth.append.getRow(), ValueRange(at));
    counted.back.getDestOperandsMutable()[number].set(stored);
    for (Operation *user : llvm::make_early_inc_range(growth.append->getUsers()))
      if (isa<ElementOp>(user))
        user->setOperand(0, stored);
      else
        user->erase(); // other names
    growth.append.erase();
  }

  /// In the loop, a vector is as long as there were turns.
  void askCounter(Value vector, CountedLoop &counted, int64_t more, CFGLoop *inside) {
    for (Operation *user : llvm::make_early_inc_range(vector.getUsers())) {
      auto dim = dyn_cast<DimOp>(user);
      if (!dim || (inside && !inside->contains(dim->getBlock())))
        continue;
      b.setInsertionPoint(dim);
      Value length = behind(dim.getLoc(), difference(dim.getLoc(), counted.counter, counted.start), more);
      dim.replaceAllUsesWith(length);
      dim.erase();
    }
  }

  /// The length of a vector behind a loop, before which it has so many elements.
  Value lengthBehind(Location loc, CountedLoop &counted, int64_t before) {
    // Of a bound far below the start, the difference would wrap.
    Value end = MaximumOp::create(b, loc, counted.bound.getType(), counted.bound, counted.start);
    return behind(loc, difference(loc, end, counted.start), before);
  }
  Value behind(Location loc, Value count, int64_t more) {
    return more ? AddOp::create(b, loc, count.getType(), count, integerConstant(b, loc, more)).getResult() : count;
  }
  Value difference(Location loc, Value end, Value start) {
    return constantInteger(start) == 0 ? end : Value(SubOp::create(b, loc, end.getType(), end, start));
  }

  func::FuncOp function;
  FunctionLoops loops;
  OpBuilder b;
  int names = 0;
};

} // namespace

void fillVectors(func::FuncOp function) {
  if (!function.isExternal() && !function.getBody().hasOneBlock())
    Filler(function).run();
}

} // namespace toy

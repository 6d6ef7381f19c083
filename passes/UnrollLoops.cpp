// SPDX-License-Identifier: Apache-2.0
/// \file
/// `for i in range(3) { for j in range(3) { c[i, j] = … } }` in a loop: written out, all indices are numbers, and the
/// elements of `c` scalars. And `for i in range(4) { y = y * x + c[i]; }` of large tensors: written out, one pass over
/// memory in place of four.
#include "passes/UnrollLoops.h"
#include "passes/CountedLoops.h"
#include "passes/ScalarParts.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace toy {

namespace {

constexpr int64_t mostTurns = 16, mostOperations = 800, mostFused = 160;

/// A loop of a known number of turns, left by its header alone.
struct ShortLoop {
  CountedLoop counted;
  int64_t first, turns;
};

struct WrittenOut {
  CFGLoop *loop;
  ShortLoop found;
  SmallVector<Block *> blocks; ///< the header first, each behind those that dominate it
};

/// Which loops can be written out, and which of them should be.
class ShortLoops {
public:
  explicit ShortLoops(func::FuncOp function) : function(function), loops(function), all(loops.all()) {
    if (all.empty())
      return;
    collectNames();
    for (CFGLoop *loop : llvm::reverse(all)) // inner ones first
      if (std::optional<ShortLoop> found = shortLoop(*loop))
        known.try_emplace(loop, *found);
    groupTensors();
    judge();
  }

  /// Those that are written out next, which hold no others.
  SmallVector<WrittenOut> next() {
    SmallVector<WrittenOut> found;
    if (chosen.empty())
      return found;
    llvm::DenseMap<CFGLoop *, SmallVector<Block *>> blocks;
    for (Block *block : llvm::ReversePostOrderTraversal<Region *>(&function.getBody()))
      if (CFGLoop *loop = loops.of(block))
        blocks[loop].push_back(block);
    for (CFGLoop *loop : llvm::reverse(all))
      if (chosen.contains(loop) && loop->getSubLoops().empty())
        found.push_back({loop, known.lookup(loop), blocks[loop]});
    return found;
  }

private:
  // --- loops

  std::optional<ShortLoop> shortLoop(CFGLoop &loop) {
    std::optional<CountedLoop> counted = countedLoop(loop);
    std::optional<int64_t> start = counted && counted->start ? constantInteger(counted->start) : std::nullopt,
                           end = counted ? constantInteger(counted->bound) : std::nullopt;
    if (!start || !end || std::abs(*start) > INT32_MAX || std::abs(*end) > INT32_MAX || !isClosed(loop))
      return std::nullopt;
    int64_t turns = counted->isDown ? *start - *end : *end - *start;
    if (turns < 1 || turns > mostTurns || turns * operationsOf(loop) > mostOperations)
      return std::nullopt;
    return ShortLoop{*counted, *start, turns};
  }

  /// Whether nothing but its header leaves a loop, all loops in it are short, and its values can exist several times.
  bool isClosed(CFGLoop &loop) const {
    for (CFGLoop *inner : loop.getSubLoops())
      if (!known.contains(inner))
        return false;
    for (Block *block : loop.getBlocks()) {
      for (Block *successor : block->getSuccessors())
        if (block != loop.getHeader() && !loop.contains(successor))
          return false;
      if (!isa<cf::BranchOp, cf::CondBranchOp>(block->getTerminator()) ||
          !llvm::all_of(block->getArgumentTypes(), [&](Type type) { return hasFixedSizes(type); }))
        return false;
      for (Operation &op : *block)
        if (isa<func::CallOp>(op) || !llvm::all_of(op.getResultTypes(), [&](Type type) { return hasFixedSizes(type); }))
          return false;
    }
    return true;
  }
  int64_t operationsOf(CFGLoop &loop) const {
    int64_t count = 0;
    for (Block *block : loop.getBlocks()) {
      int64_t times = 1;
      for (CFGLoop *inner = loops.of(block); inner != &loop; inner = inner->getParentLoop())
        times *= known.lookup(inner).turns;
      count += times * static_cast<int64_t>(block->getOperations().size());
    }
    return count;
  }

  // --- names of sizes

  /// Names that are one size wherever they stand: those of arguments. What a turn names is another size in the next.
  void collectNames() {
    for (Type type : function.getArgumentTypes())
      if (auto tensor = dyn_cast<TensorType>(type))
        for (Dim dim : tensor.getDims())
          dim.collectSymbols([&](StringRef name) { names.insert(name); });
  }
  bool hasFixedSizes(Type type) const {
    auto tensor = dyn_cast<TensorType>(type);
    if (!tensor)
      return type.isInteger(1);
    bool fixed = true;
    for (Dim dim : tensor.getDims())
      dim.collectSymbols([&](StringRef name) { fixed &= names.contains(name); });
    return fixed;
  }

  // --- tensors

  void groupTensors() {
    function.walk([&](Operation *op) {
      if (auto store = dyn_cast<SliceStoreOp>(op))
        unite(store.getX(), store.getResult());
      forEachHandedOn(op, [&](Value a, Value b) { unite(a, b); });
    });
  }
  void unite(Value a, Value b) {
    if (isTiny(a) && isTiny(b))
      groups.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  void *groupOf(Value v) { return groups.getOrInsertLeaderValue(v.getAsOpaquePointer()); }

  /// Chooses loops that store into a tiny tensor at their counters, if all its indices in loops are numbers then.
  void judge() {
    llvm::DenseSet<void *> open; // groups with an index that only the run knows
    SmallVector<std::pair<void *, Operation *>> stores;
    function.walk([&](Operation *op) {
      auto slice = dyn_cast<SliceOp>(op);
      auto store = dyn_cast<SliceStoreOp>(op);
      Value x = slice ? slice.getX() : store ? store.getX() : Value();
      if (!x || !isTiny(x) || !loops.of(op->getBlock()))
        return;
      if (llvm::any_of(slice ? slice.getStarts() : store.getStarts(), [&](Value v) { return !becomesNumber(v); }))
        open.insert(groupOf(x));
      else if (store)
        stores.push_back({groupOf(x), op});
    });
    for (auto [group, op] : stores)
      if (!open.contains(group) && !runsOnce)
        choose(cast<SliceStoreOp>(op));
    for (auto &[loop, found] : known)
      if (becomesOneGroup(*loop))
        chosen.insert(loop);
  }
  /// Whether a loop makes each turn's tensor of the last one's, element by element, and nothing else but single
  /// numbers.
  bool becomesOneGroup(CFGLoop &loop) const {
    const ShortLoop &found = known.at(&loop);
    if (!loop.getSubLoops().empty() || found.turns * operationsOf(loop) > mostFused)
      return false;
    auto isOne = [](Type type) {
      auto tensor = dyn_cast<TensorType>(type);
      return !tensor || tensor.getStaticCount() == 1;
    };
    for (Block *block : loop.getBlocks())
      for (Operation &op : block->without_terminator())
        if (!op.hasTrait<OpTrait::Elementwise>() && !llvm::all_of(op.getResultTypes(), isOne))
          return false;
    cf::BranchOp back = found.counted.back;
    return llvm::any_of(llvm::zip_equal(loop.getHeader()->getArguments(), back.getDestOperands()), [&](auto pair) {
      auto [last, next] = pair;
      return isWorthAGroup(last.getType()) && isMadeOf(next, last);
    });
  }
  /// Code of the top level runs once: it is longer for large tensors alone.
  bool isWorthAGroup(Type type) const {
    constexpr int64_t large = 1 << 14, tiny = 16;
    auto tensor = dyn_cast<TensorType>(type);
    return tensor && tensor.getStaticCount().value_or(large) > (runsOnce ? large - 1 : tiny);
  }
  static bool isMadeOf(Value v, Value of, int depth = 0) {
    Operation *def = v.getDefiningOp();
    return v == of || (def && depth < 8 && def->hasTrait<OpTrait::Elementwise>() &&
                       llvm::any_of(def->getOperands(), [&](Value x) { return isMadeOf(x, of, depth + 1); }));
  }
  void choose(SliceStoreOp store) {
    SmallVector<CFGLoop *> around;
    CFGLoop *loop = loops.of(store->getBlock());
    for (; loop && known.contains(loop); loop = loop->getParentLoop())
      around.push_back(loop);
    if (!loop) // runs once
      return;
    while (!around.empty() && !llvm::any_of(store.getStarts(), [&](Value v) { return dependsOn(v, *around.back()); }))
      around.pop_back();
    for (CFGLoop *chosenLoop : around)
      choose(*chosenLoop);
  }
  void choose(CFGLoop &loop) {
    chosen.insert(&loop);
    for (CFGLoop *inner : loop.getSubLoops())
      choose(*inner);
  }

  /// Whether an index is a number when the short loops around it are written out.
  bool becomesNumber(Value v, int depth = 0) const {
    if (constantInteger(v))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(v))
      return llvm::any_of(known, [&](const auto &entry) { return entry.second.counted.counter == argument; });
    Operation *def = v.getDefiningOp();
    return depth < 8 && isa<AddOp, SubOp, MulOp, ModOp, FloorDivOp, CheckIndexOp>(def) &&
           llvm::all_of(def->getOperands(), [&](Value operand) { return becomesNumber(operand, depth + 1); });
  }
  bool dependsOn(Value v, CFGLoop &loop) const {
    Operation *def = v.getDefiningOp();
    return v == known.lookup(&loop).counted.counter ||
           (def && isa<AddOp, SubOp, MulOp, ModOp, FloorDivOp, CheckIndexOp>(def) &&
            llvm::any_of(def->getOperands(), [&](Value operand) { return dependsOn(operand, loop); }));
  }

  func::FuncOp function;
  const bool runsOnce = isOfTopLevel(function);
  FunctionLoops loops;
  SmallVector<CFGLoop *, 4> all; ///< outer ones first
  llvm::StringSet<> names;
  llvm::DenseMap<CFGLoop *, ShortLoop> known;
  llvm::DenseSet<CFGLoop *> chosen;
  llvm::EquivalenceClasses<void *> groups;
};

/// Writes one loop out.
class Unroller {
public:
  explicit Unroller(const WrittenOut &of)
      : loop(*of.loop), found(of.found), header(loop.getHeader()), blocks(of.blocks),
        b(header->getParentOp()->getContext()) {}

  void run() {
    BlockEdge entry = entriesOf(loop).front();
    SmallVector<Value> values(entry.operands().getAsOperandRange());
    Block *place = b.createBlock(header);
    entry.operands().clear();
    entry.terminator->setSuccessor(place, entry.successor);
    for (int64_t turn = 0; turn < found.turns; ++turn)
      place = writeTurn(place, turn, values);
    writeEnd(place, values);
    for (Block *block : blocks)
      block->dropAllReferences();
    for (Block *block : blocks) {
      block->dropAllUses();
      block->erase();
    }
  }

private:
  Value numberOf(int64_t turn) {
    return integerConstant(b, found.counted.counter.getLoc(), found.first + (found.counted.isDown ? -turn : turn));
  }
  /// The header's arguments are what its turn was handed.
  void mapHeader(Block *place, int64_t turn, ArrayRef<Value> values, IRMapping &mapping) {
    b.setInsertionPointToEnd(place);
    mapping.map(header, place);
    for (auto [argument, value] : llvm::zip_equal(header->getArguments(), values))
      mapping.map(argument, argument == found.counted.counter ? numberOf(turn) : value);
  }
  void copyBlock(Block &block, IRMapping &mapping) {
    b.setInsertionPointToEnd(mapping.lookup(&block));
    for (Operation &op : block.without_terminator())
      b.clone(op, mapping);
  }

  /// Gives the block in which the next turn begins, and what it is handed.
  Block *writeTurn(Block *place, int64_t turn, SmallVector<Value> &values) {
    IRMapping mapping;
    mapHeader(place, turn, values, mapping);
    for (Block *block : ArrayRef(blocks).drop_front()) {
      Block *copy = b.createBlock(header);
      mapping.map(block, copy);
      for (BlockArgument argument : block->getArguments())
        mapping.map(argument, copy->addArgument(argument.getType(), argument.getLoc()));
    }
    Block *next = b.createBlock(header);
    for (Block *block : blocks) {
      copyBlock(*block, mapping);
      Operation *end = block->getTerminator();
      if (block == header) {
        auto leave = cast<cf::CondBranchOp>(end);
        branch(leave.getTrueDest(), leave.getTrueDestOperands(), leave.getLoc(), mapping);
      } else if (end == found.counted.back)
        cf::BranchOp::create(b, end->getLoc(), next);
      else
        b.clone(*end, mapping);
    }
    for (auto [value, handed] : llvm::zip_equal(values, found.counted.back.getDestOperands()))
      value = mapping.lookupOrDefault(handed);
    return next;
  }
  void branch(Block *to, ValueRange operands, Location loc, IRMapping &mapping) {
    auto mapped = llvm::map_to_vector(operands, [&](Value v) { return mapping.lookupOrDefault(v); });
    cf::BranchOp::create(b, loc, mapping.lookupOrDefault(to), mapped);
  }

  /// The header's last visit, after which its values are used.
  void writeEnd(Block *place, ArrayRef<Value> values) {
    IRMapping mapping;
    mapHeader(place, found.turns, values, mapping);
    copyBlock(*header, mapping);
    auto leave = cast<cf::CondBranchOp>(header->getTerminator());
    branch(leave.getFalseDest(), leave.getFalseDestOperands(), leave.getLoc(), mapping);
    auto isOutside = [&](OpOperand &use) { return !loop.contains(use.getOwner()->getBlock()); };
    for (BlockArgument argument : header->getArguments())
      argument.replaceUsesWithIf(mapping.lookup(argument), isOutside);
    for (Operation &op : *header)
      for (Value result : op.getResults())
        result.replaceUsesWithIf(mapping.lookup(result), isOutside);
  }

  CFGLoop &loop;
  ShortLoop found;
  Block *header;
  ArrayRef<Block *> blocks;
  OpBuilder b;
};

} // namespace

bool unrollTinyLoops(func::FuncOp function) {
  if (function.isExternal())
    return false;
  for (bool changed = false;; changed = true) {
    ShortLoops loops(function);
    const SmallVector<WrittenOut> next = loops.next();
    if (next.empty())
      return changed;
    for (const WrittenOut &of : next) // what is known of a loop holds when others beside it are written out
      Unroller(of).run();
  }
}

} // namespace toy

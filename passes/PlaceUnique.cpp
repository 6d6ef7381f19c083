// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stores of elements in place. A value is *owned* if nobody else can hold it: what groups and products make,
/// `toy.unique` and `toy.element_store` give, and what blocks are handed where every hand lets go. A store to an owned
/// value that dies there is in place; before any other one a `toy.unique` is put, as far outside of loops as the value
/// gets no second name.
#include "passes/BlockVariable.h"
#include "passes/Passes.h"
#include "passes/RowChanges.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_PLACEUNIQUE
#include "passes/Passes.h.inc"

namespace {

bool isObject(Value v) {
  auto tensor = dyn_cast<TensorType>(v.getType());
  return isa<ListType>(v.getType()) || (tensor && !tensor.isScalar());
}

/// Who holds what, before anything is changed and after every `toy.unique` that was put in.
class Ownership {
public:
  explicit Ownership(func::FuncOp function) : function(function), liveness(function) {
    function.walk([&](Block *block) {
      for (Value v : block->getArguments())
        note(v);
      for (Operation &op : *block)
        for (Value v : op.getResults())
          note(v);
    });
    loseOthers();
  }

  bool isOwned(Value v) const { return owned.contains(v); }
  bool diesAt(Value v, Operation *op) const { return toy::diesAt(liveness, v, op); }
  /// Whether an operation may keep its operand, so that there are two names for it afterwards: what gives scalars or
  /// nothing does not, and groups and products give new tensors.
  bool isKept(Value v, Operation *op) const {
    if (isa<FusedOp, GemmOp, PlanarGemmOp, ListLenOp, ListOwnOp>(op) ||
        (isa<ListElementOp>(op) && isa<ListType>(v.getType())) || op->hasTrait<mlir::OpTrait::IsTerminator>())
      return false;
    bool givesTensors = llvm::any_of(op->getResultTypes(), [](Type type) {
      auto tensor = dyn_cast<TensorType>(type);
      return !tensor || !tensor.isScalar();
    });
    return (givesTensors || isa<GlobalStoreOp, func::CallOp>(op)) && !diesAt(v, op);
  }
  bool isKept(Value v) const {
    return llvm::any_of(v.getUsers(), [&](Operation *user) { return isKept(v, user) || getsName(v, user); });
  }

private:
  /// Whether a branch hands on a value that stays in use, or hands it on twice.
  bool getsName(Value v, Operation *op) const {
    auto branch = dyn_cast<BranchOpInterface>(op);
    for (unsigned i = 0; branch && i < op->getNumSuccessors(); ++i) {
      auto times = llvm::count(branch.getSuccessorOperands(i).getForwardedOperands(), v);
      if (times > 1 || (times == 1 && liveness.getLiveness(op->getSuccessor(i))->isLiveIn(v)))
        return true;
    }
    return false;
  }

  void note(Value v) {
    if (!isObject(v))
      return;
    Operation *def = v.getDefiningOp();
    bool isMade = def ? isa<FusedOp, GemmOp, FromElementsOp, AppendOp, ShortenOp, UniqueOp, ElementStoreOp, RelabelOp,
                            ListOp, ListAppendOp, ListSetOp, ListUniqueOp>(def)
                      : !cast<BlockArgument>(v).getOwner()->isEntryBlock();
    if (isMade && v.getParentRegion() == &function.getBody() && !isKept(v))
      owned.insert(v);
  }

  /// The greatest fixed point: what is handed something that is not owned is not owned.
  void loseOthers() {
    llvm::DenseMap<Value, SmallVector<Value, 1>> takers;
    for (Value v : owned) {
      if (auto relabel = v.getDefiningOp<RelabelOp>())
        takers[relabel.getX()].push_back(v);
      else if (auto argument = dyn_cast<BlockArgument>(v))
        for (const BlockEdge &edge : edgesInto(argument.getOwner()))
          takers[edge.operandOf(argument)].push_back(v);
    }
    SmallVector<Value> lost;
    for (auto &[v, _] : takers)
      if (!owned.contains(v))
        lost.push_back(v);
    while (!lost.empty())
      for (Value taker : takers.lookup(lost.pop_back_val()))
        if (owned.erase(taker))
          lost.push_back(taker);
  }

  func::FuncOp function;
  Liveness liveness;
  llvm::DenseSet<Value> owned;
};

class Placer {
public:
  Placer(func::FuncOp function, bool isOnDevice) : function(function), loops(function), isOnDevice(isOnDevice) {
    if (!isOnDevice)
      rows.find(function);
  }

  void run() {
    SmallVector<Operation *> stores;
    function.walk([&](ElementStoreOp op) {
      if (!rows.isInside(op))
        stores.push_back(op);
    });
    llvm::append_range(stores, rows.outermost());
    if (!stores.empty())
      place(stores);
    if (!isOnDevice)
      hoistElements(function);
    markOwned();
  }

private:
  void place(ArrayRef<Operation *> stores) {
    groupValues();
    for (bool changed = true; changed;) {
      changed = false;
      Ownership ownership(function);
      llvm::DenseSet<void *> placed; // groups that another look is needed for
      for (Operation *store : stores) {
        Value x = store->getOperand(0);
        if ((ownership.isOwned(x) && ownership.diesAt(x, store)) || placed.contains(groupOf(x)))
          continue;
        changed = true;
        if (CFGLoop *loop = loopFor(store, ownership)) {
          placed.insert(groupOf(x));
          enter(*loop, x, store->getLoc());
        } else
          placeBefore(store);
      }
    }
    OpBuilder b(function.getContext());
    for (Operation *op : stores) {
      if (auto set = dyn_cast<ListSetOp>(op)) {
        rows.storeInPlace(set);
        continue;
      }
      auto store = cast<ElementStoreOp>(op);
      b.setInsertionPoint(store);
      ElementSetOp::create(b, store.getLoc(), store.getX(), store.getValue(), store.getIndices());
      store.replaceAllUsesWith(store.getX());
      store.erase();
    }
    fillAgain();
    dropArguments();
  }

  /// Vectors that nobody else can hold where they grow, or get shorter, are not asked whether somebody does.
  void markOwned() {
    SmallVector<Operation *> changes;
    function.walk([&](Operation *op) {
      if (isa<AppendOp, ShortenOp>(op))
        changes.push_back(op);
    });
    if (changes.empty())
      return;
    makeEmptyAgain();
    const Ownership ownership(function);
    for (Operation *op : changes)
      if (Value x = op->getOperand(0); ownership.isOwned(x) && ownership.diesAt(x, op))
        op->setAttr(ownedOperand, UnitAttr::get(function.getContext()));
  }

  /// Values that stores, branches and new names hand on to each other.
  void groupValues() {
    function.walk([&](Operation *op) {
      if (auto store = dyn_cast<ElementStoreOp>(op))
        unite(store.getX(), store.getResult());
      else if (isa<ListSetOp>(op))
        unite(op->getOperand(0), op->getResult(0));
      forEachHandedOn(op, [&](Value a, Value b) { unite(a, b); });
    });
  }
  void unite(Value a, Value b) {
    if (isObject(a))
      groups.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  void *groupOf(Value v) { return groups.getOrInsertLeaderValue(v.getAsOpaquePointer()); }

  /// The outermost loop before which `toy.unique` can stand: the value gets no second name in it.
  CFGLoop *loopFor(Operation *store, const Ownership &ownership) {
    Value x = store->getOperand(0);
    CFGLoop *chosen = nullptr;
    for (CFGLoop *loop = loops.of(store->getBlock()); loop; loop = loop->getParentLoop()) {
      bool carries = llvm::any_of(loop->getHeader()->getArguments(),
                                  [&](Value v) { return isObject(v) && groupOf(v) == groupOf(x); });
      if (!carries || !hasOneName(*loop, x, ownership))
        break;
      if (!tried.contains({groupOf(x), loop->getHeader()}))
        chosen = loop;
    }
    return chosen;
  }

  static Value makeUnique(OpBuilder &b, Location loc, Value x) {
    if (isa<ListType>(x.getType()))
      return ListUniqueOp::create(b, loc, x.getType(), x);
    return UniqueOp::create(b, loc, x.getType(), x);
  }

  void placeBefore(Operation *store) {
    auto set = dyn_cast<ListSetOp>(store);
    Operation *begin = set ? rows.beginOf(set) : store;
    OpBuilder b(begin);
    Value x = store->getOperand(0), unique = makeUnique(b, store->getLoc(), x);
    unite(x, unique);
    x.replaceUsesWithIf(unique, [&](OpOperand &use) { // of a list, what asks for its length meanwhile, too
      Operation *user = use.getOwner();
      return user == store || (set && user->getBlock() == begin->getBlock() && begin->isBeforeInBlock(user));
    });
  }

  /// Whether no value of the group gets a second name in a loop.
  bool hasOneName(CFGLoop &loop, Value x, const Ownership &ownership) {
    for (Block *block : loop.getBlocks()) {
      auto isHandedOn = [&](Value v) { return isObject(v) && groupOf(v) == groupOf(x) && ownership.isKept(v); };
      if (llvm::any_of(block->getArguments(), isHandedOn))
        return false;
      for (Operation &op : *block)
        if (llvm::any_of(op.getResults(), isHandedOn))
          return false;
    }
    return true;
  }

  /// What enters a loop of the group of `x` is unique.
  void enter(CFGLoop &loop, Value x, Location loc) {
    tried.insert({groupOf(x), loop.getHeader()});
    bool splits = false;
    for (BlockEdge edge : entriesOf(loop)) {
      if (!isa<cf::BranchOp>(edge.terminator)) {
        edge = splitEdge(edge, loc);
        splits = true;
      }
      OpBuilder b(edge.terminator);
      for (BlockArgument argument : loop.getHeader()->getArguments())
        if (isObject(argument) && groupOf(argument) == groupOf(x)) {
          Value unique = makeUnique(b, loc, edge.operandOf(argument));
          unite(argument, unique);
          edge.operands()[argument.getArgNumber()].set(unique);
        }
    }
    if (splits)
      loops = FunctionLoops(function);
  }
  /// Equal fills, such as `zeros(n)`, have become one value: where each of its uses stores, each gets a fill of its own
  /// instead of a copy.
  void fillAgain() {
    SmallVector<FusedOp> fills;
    function.walk([&](FusedOp op) {
      if (isFill(op) && !op->hasOneUse() && llvm::all_of(op->getUsers(), llvm::IsaPred<UniqueOp>))
        fills.push_back(op);
    });
    for (FusedOp fill : fills) {
      for (Operation *unique : llvm::make_early_inc_range(fill->getUsers())) {
        OpBuilder b(unique);
        unique->replaceAllUsesWith(b.clone(*fill));
        unique->erase();
      }
      fill.erase();
    }
  }

  static bool isFill(FusedOp op) {
    Block &body = op.getBody().front();
    return llvm::hasSingleElement(body.without_terminator()) && isa<FullOp>(body.front()) && op->getNumResults() == 1;
  }
  /// Empty vectors, such as `list()`, have become one value as well: what gets longer begins as one of its own, so that
  /// nothing asks in each turn who else holds it.
  void makeEmptyAgain() {
    SmallVector<FusedOp> empty;
    function.walk([&](FusedOp op) {
      if (isFill(op) && !op->hasOneUse() && tensorTypeOf(op->getResult(0)).getStaticCount() == 0)
        empty.push_back(op);
    });
    if (empty.empty())
      return;
    llvm::EquivalenceClasses<void *> same;
    llvm::DenseSet<void *> growing;
    auto leaderOf = [&](Value v) { return same.getOrInsertLeaderValue(v.getAsOpaquePointer()); };
    auto handOn = [&](Value a, Value b) {
      if (!llvm::is_contained(empty, a.getDefiningOp()))
        same.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
    };
    SmallVector<Value> longer;
    function.walk([&](Operation *op) {
      forEachHandedOn(op, handOn);
      if (isa<AppendOp>(op))
        longer.push_back(op->getResult(0));
      if (isa<AppendOp, ShortenOp>(op))
        handOn(op->getOperand(0), op->getResult(0));
    });
    for (Value v : longer)
      growing.insert(leaderOf(v));
    for (FusedOp fill : empty)
      for (OpOperand &use : llvm::make_early_inc_range(fill->getUses())) {
        auto branch = dyn_cast<BranchOpInterface>(use.getOwner());
        Value to;
        if (branch)
          to = branch.getSuccessorBlockArgument(use.getOperandNumber()).value_or(BlockArgument());
        else if (isa<RelabelOp, AppendOp>(use.getOwner()) && use.getOperandNumber() == 0)
          to = use.getOwner()->getResult(0);
        if (to && growing.contains(leaderOf(to)))
          use.set(OpBuilder(use.getOwner()).clone(*fill)->getResult(0));
      }
  }

  /// Arguments that are the same value on all edges, or themselves, become that value.
  void dropArguments() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Block &block : function.getBody()) {
        if (block.isEntryBlock() || block.hasNoPredecessors())
          continue;
        for (unsigned i = block.getNumArguments(); i-- > 0;)
          changed |= isObject(block.getArgument(i)) && dropIfSame(block.getArgument(i));
      }
    }
  }
  func::FuncOp function;
  FunctionLoops loops;
  RowChanges rows; ///< none on a device
  const bool isOnDevice;
  llvm::EquivalenceClasses<void *> groups;
  llvm::DenseSet<std::pair<void *, Block *>> tried; ///< group of values, header of a loop
};

/// What reads elements and sizes of a value that has got other names reads them by these: otherwise both would be held.
void useLastNames(func::FuncOp function) {
  const DominanceInfo dominance(function);
  function.walk([&](RelabelOp relabel) {
    if (isObject(relabel.getX()))
      relabel.getX().replaceUsesWithIf(relabel.getResult(), [&](OpOperand &use) {
        return isa<DimOp, ElementOp>(use.getOwner()) &&
               dominance.properlyDominates(relabel.getOperation(), use.getOwner());
      });
  });
}

/// What is stored where it was read does not change: a struct in a list is a list for each member, of which a turn
/// changes some.
void dropStoresOfTheSame(func::FuncOp function) {
  function.walk([](Operation *op) {
    Value same;
    if (auto store = dyn_cast<ElementStoreOp>(op)) {
      auto element = store.getValue().getDefiningOp<ElementOp>();
      if (element && element.getX() == store.getX() &&
          llvm::all_of_zip(element.getIndices(), store.getIndices(), [](Value v, Value w) { return areSame(v, w); }))
        same = store.getX();
    } else if (auto set = dyn_cast<ListSetOp>(op)) {
      auto element = set.getValue().getDefiningOp<ListElementOp>();
      if (element && element.getList() == set.getList() && areSame(element.getIndex(), set.getIndex()))
        same = set.getList();
    }
    if (!same)
      return;
    op->getResult(0).replaceAllUsesWith(same);
    op->erase();
  });
}

struct PlaceUniquePass : impl::PlaceUniqueBase<PlaceUniquePass> {
  using PlaceUniqueBase::PlaceUniqueBase;
  void runOnOperation() override {
    dropStoresOfTheSame(getOperation());
    useLastNames(getOperation());
    Placer(getOperation(), device).run();
  }
};

} // namespace
} // namespace toy

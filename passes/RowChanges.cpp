// SPDX-License-Identifier: Apache-2.0
#include "passes/RowChanges.h"

#include "ir/Constants.h"

#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace toy {

/// Whether an operation gives what it gave before, though elements have changed since then.
static bool readsNoElements(Operation *op) {
  auto isNumber = [](Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    return tensor && tensor.isScalar();
  };
  return isa<DimOp, ListLenOp>(op) || llvm::all_of(op->getOperandTypes(), isNumber);
}

bool areSame(Value a, Value b, bool elementsChange, int depth) {
  constexpr int deepest = 3;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return a == b || (x && y && depth < deepest && x->getNumResults() == 1 &&
                    (isMemoryEffectFree(x) || isa<CheckIndexOp>(x)) && (!elementsChange || readsNoElements(x)) &&
                    OperationEquivalence::isEquivalentTo(
                        x, y, [&](Value v, Value w) { return success(areSame(v, w, elementsChange, depth + 1)); },
                        /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations));
}

/// Whether a value is used in its block only, but for reads before an operation by nothing but that.
static bool isReadBefore(Value v, Operation *op) {
  return llvm::all_of(v.getUsers(), [&](Operation *user) {
    return user == op || (user->getBlock() == op->getBlock() && user->isBeforeInBlock(op));
  });
}

void RowChanges::find(func::FuncOp function) {
  function.walk([&](ListSetOp set) { match(set); });
}

void RowChanges::match(ListSetOp set) {
  RowChange change;
  Operation *next = set; // that uses what the one before gives
  Value v = set.getValue();
  auto isStep = [&](Operation *op) {
    return op && op->getBlock() == set->getBlock() && !op->hasAttr("packed") &&
           (isa<ElementStoreOp>(op) || changes.contains(op));
  };
  for (; isStep(v.getDefiningOp()) && isReadBefore(v, next); v = next->getOperand(0)) {
    next = v.getDefiningOp();
    if (!llvm::all_of(v.getUsers(), [&](Operation *user) { // by what follows, else reads
          return user == set || isa<ElementOp, DimOp, ListLenOp>(user) || llvm::is_contained(change.stores, user);
        }))
      return;
    change.stores.insert(change.stores.begin(), next);
  }
  change.taken = v.getDefiningOp<ListElementOp>();
  Value list = set.getList();
  if (change.stores.empty() || !change.taken || set->hasAttr("packed") || change.taken->hasAttr("packed") ||
      change.taken->getBlock() != set->getBlock() || change.taken.getList() != list ||
      !areSame(change.taken.getIndex(), set.getIndex()))
    return;
  changes[set] = change;
  Operation *begin = beginOf(set);
  auto isBeforeBegin = [&](Operation *user) {
    return user == change.stores.front() || (user->getBlock() == begin->getBlock() && user->isBeforeInBlock(begin));
  };
  auto isNoMore = [&](Operation *user) { // asked for anything but its length
    return user == set || user->getBlock() != set->getBlock() ||
           (user->isBeforeInBlock(set) && (user->isBeforeInBlock(begin) || isa<ListLenOp>(user)));
  };
  if (!llvm::all_of(v.getUsers(), isBeforeBegin) || !llvm::all_of(list.getUsers(), isNoMore)) {
    changes.pop_back();
    return;
  }
  inside.insert(change.stores.begin(), change.stores.end());
}

Operation *RowChanges::beginOf(ListSetOp set) const {
  Operation *first = changes.find(set)->second.stores.front();
  auto inner = dyn_cast<ListSetOp>(first);
  return inner ? beginOf(inner) : first;
}

SmallVector<ListSetOp> RowChanges::outermost() const {
  SmallVector<ListSetOp> found;
  for (auto &[set, _] : changes)
    if (!isInside(set))
      found.push_back(cast<ListSetOp>(set));
  return found;
}

void RowChanges::storeInPlace(ListSetOp set) const {
  OpBuilder b(beginOf(set));
  SmallVector<Value> path;
  own(set, set.getList(), path, b);
  storeInPlace(changes.find(set)->second, set, b);
}

/// Says which elements change. A path is indices in a list and in what lies there.
void RowChanges::own(ListSetOp set, Value list, SmallVectorImpl<Value> &path, OpBuilder &b) const {
  const RowChange &change = changes.find(set)->second;
  path.push_back(ListElementOp(change.taken).getIndex());
  if (!llvm::all_of(change.stores, llvm::IsaPred<ListSetOp>))
    ListOwnOp::create(b, set.getLoc(), list, path, /*inside=*/true);
  for (Operation *store : change.stores)
    if (auto inner = dyn_cast<ListSetOp>(store))
      own(inner, list, path, b);
  path.pop_back();
}

void RowChanges::storeInPlace(RowChange change, ListSetOp set, OpBuilder &b) const {
  Value list = set.getList();
  Value row =
      ListElementOp::create(b, set.getLoc(), change.taken.getType(), list, change.taken.getIndex(), /*changed=*/true);
  for (Operation *store : change.stores) {
    store->getOpOperand(0).set(row);
    if (auto inner = dyn_cast<ListSetOp>(store)) {
      storeInPlace(changes.find(inner)->second, inner, b);
      continue;
    }
    auto of = cast<ElementStoreOp>(store);
    OpBuilder at(store);
    auto inPlace = ElementSetOp::create(at, of.getLoc(), row, of.getValue(), of.getIndices());
    if (&*b.getInsertionPoint() == store)
      b.setInsertionPoint(inPlace);
    of.replaceAllUsesWith(row);
    of.erase();
  }
  set.replaceAllUsesWith(list);
  set.erase();
  if (change.taken->use_empty())
    change.taken.erase();
}

// --- out of loops

namespace {

class Hoister {
public:
  explicit Hoister(func::FuncOp function) : function(function), loops(function) {}

  void run() {
    SmallVector<ListOwnOp> open;
    function.walk([&](ListOwnOp op) { open.push_back(op); });
    for (ListOwnOp op : open)
      hoist(op);
    SmallVector<ListElementOp> elements; // outer ones before what lies in them
    for (Block *block : llvm::ReversePostOrderTraversal<Region *>(&function.getBody()))
      llvm::append_range(elements, block->getOps<ListElementOp>());
    for (ListElementOp op : elements)
      hoist(op);
  }

private:
  void hoist(ListOwnOp op) {
    CFGLoop *outermost = nullptr;
    SmallVector<Value> path(op.getIndices());
    for (CFGLoop *loop = loops.of(op->getBlock()); loop; loop = loop->getParentLoop()) {
      SmallVector<Value> before = llvm::map_to_vector(path, [&](Value index) { return indexBefore(*loop, index); });
      if (llvm::is_contained(before, Value()) || isIn(*loop, op.getList()) || givesNames(*loop, op.getList().getType()))
        break;
      path = before;
      outermost = loop;
    }
    if (!outermost)
      return;
    bool splits = false;
    for (BlockEdge edge : entriesOf(*outermost)) {
      if (!isa<cf::BranchOp>(edge.terminator)) {
        edge = splitEdge(edge, op.getLoc());
        splits = true;
      }
      OpBuilder b(edge.terminator);
      SmallVector<Value> at = llvm::map_to_vector(path, [&](Value index) { return computed(*outermost, index, b); });
      auto isKnown = [&](Operation &other) {
        auto own = dyn_cast<ListOwnOp>(other);
        return own && !own.getInside() && own.getList() == op.getList() && own.getIndices().size() == at.size() &&
               llvm::all_of_zip(own.getIndices(), at, isSameNumber);
      };
      if (llvm::none_of(*edge.terminator->getBlock(), isKnown))
        ListOwnOp::create(b, op.getLoc(), op.getList(), at, /*inside=*/false);
    }
    op.erase();
    if (splits)
      loops = FunctionLoops(function);
  }

  /// An element that is the same object in all turns is read before the loop, where its index may still be outside:
  /// then an empty one stands for it, of which the checks that are left in the loop let nothing be read.
  void hoist(ListElementOp op) {
    CFGLoop *outermost = nullptr;
    Value index = op.getIndex();
    if ((!isa<ListType>(op.getType()) && !isTensor(op.getType())) || op->hasAttr("packed"))
      return;
    for (CFGLoop *loop = loops.of(op->getBlock()); loop; loop = loop->getParentLoop()) {
      Value before = indexBefore(*loop, index);
      if (!before || isIn(*loop, op.getList()) || !staysInPlace(*loop, op))
        break;
      index = before;
      outermost = loop;
    }
    SmallVector<BlockEdge, 2> entries = outermost ? entriesOf(*outermost) : SmallVector<BlockEdge, 2>();
    if (entries.size() != 1)
      return;
    BlockEdge edge = entries[0];
    const bool splits = !isa<cf::BranchOp>(edge.terminator);
    if (splits)
      edge = splitEdge(edge, op.getLoc());
    OpBuilder b(edge.terminator);
    Value at = computed(*outermost, index, b);
    auto hasNames = [&](ListElementOp other) { // of sizes: groups have those of their operands
      return other.getType() == op.getType() || llvm::none_of(op->getUsers(), llvm::IsaPred<FusedOp>);
    };
    ListElementOp found;
    for (auto other : edge.terminator->getBlock()->getOps<ListElementOp>())
      if (other->hasAttr(guardedElement) && other.getList() == op.getList() && hasNames(other) &&
          isSameNumber(other.getIndex(), at))
        found = other;
    if (!found) {
      found = ListElementOp::create(b, op.getLoc(), op.getType(), op.getList(), at, /*changed=*/false);
      found->setAttr(guardedElement, b.getUnitAttr());
    }
    found.setChanged(found.getChanged() || op.getChanged());
    op.replaceAllUsesWith(found.getResult());
    op.erase();
    if (splits)
      loops = FunctionLoops(function);
  }

  /// Where a number was read twice, what was read may have changed in between.
  static bool isSameNumber(Value a, Value b) { return areSame(a, b, /*elementsChange=*/true); }

  static bool isTensor(Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    return tensor && !tensor.isScalar();
  }

  /// Whether an element is one object in all turns of a loop: none is made one that nobody else holds, so that if any
  /// changes there, none gets a second name, and what is read of it is what is there then.
  static bool staysInPlace(CFGLoop &loop, ListElementOp element) {
    auto isRead = [&](Operation *user) {
      return isIn(loop, user) && isa<ElementOp, DimOp, FusedOp, ListLenOp, ListElementOp, ElementSetOp>(user);
    };
    return llvm::all_of(element->getUsers(), isRead) && llvm::none_of(loop.getBlocks(), [](Block *block) {
             return llvm::any_of(*block, [](Operation &op) { return isa<ListOwnOp>(op); });
           });
  }

  static bool isIn(CFGLoop &loop, Operation *op) { return loop.contains(op->getBlock()); }
  static bool isIn(CFGLoop &loop, Value v) { return loop.contains(v.getParentBlock()); }

  /// An index as it is known before a loop, not checked, or null.
  static Value indexBefore(CFGLoop &loop, Value index) {
    while (isIn(loop, index) && index.getDefiningOp<CheckIndexOp>())
      index = index.getDefiningOp<CheckIndexOp>().getIndex();
    return isComputable(loop, index) ? index : Value();
  }
  static bool isComputable(CFGLoop &loop, Value v, int depth = 0) {
    constexpr int deepest = 3;
    Operation *def = v.getDefiningOp();
    return !isIn(loop, v) ||
           (def && depth < deepest && isa<AddOp, SubOp, MulOp>(def) &&
            llvm::all_of(def->getOperands(), [&](Value operand) { return isComputable(loop, operand, depth + 1); }));
  }
  static Value computed(CFGLoop &loop, Value v, OpBuilder &b) {
    if (!isIn(loop, v))
      return v;
    IRMapping before;
    for (Value operand : v.getDefiningOp()->getOperands())
      before.map(operand, computed(loop, operand, b));
    return b.clone(*v.getDefiningOp(), before)->getResult(0);
  }

  /// Whether an element of a list of a type may get a second name in a loop that lasts to where one is changed.
  static bool givesNames(CFGLoop &loop, Type list) {
    if (auto inner = dyn_cast<ListType>(cast<ListType>(list).getElement()); inner && givesNames(loop, inner))
      return true;
    return llvm::any_of(loop.getBlocks(), [&](Block *block) {
      return llvm::any_of(*block, [&](Operation &op) {
        const bool has =
            llvm::is_contained(op.getOperandTypes(), list) || llvm::is_contained(op.getResultTypes(), list);
        if (!has || isa<ListLenOp, ListOwnOp>(op) || op.hasTrait<mlir::OpTrait::IsTerminator>())
          return false;
        auto element = dyn_cast<ListElementOp>(op);
        return !element || (!element.getChanged() && !isReadAtOnce(element) && !isOnlyReadIn(loop, element));
      });
    });
  }
  /// Whether an element is only read in a loop that changes none.
  static bool isOnlyReadIn(CFGLoop &loop, ListElementOp element) {
    auto isRead = [&](Operation *user) {
      auto inner = dyn_cast<ListElementOp>(user);
      return isIn(loop, user) && isa<ElementOp, DimOp, FusedOp, ListLenOp, ListElementOp>(user) &&
             (!inner || isOnlyReadIn(loop, inner));
    };
    return llvm::all_of(element->getUsers(), isRead) && llvm::none_of(loop.getBlocks(), [](Block *block) {
             return llvm::any_of(*block, [](Operation &op) { return isChange(op); });
           });
  }
  static bool isChange(Operation &op) {
    auto set = dyn_cast<ElementSetOp>(op);
    auto row = set ? set.getX().getDefiningOp<ListElementOp>() : ListElementOp();
    return row && row.getChanged();
  }
  /// Whether an element is read in its block only, before any is changed there.
  static bool isReadAtOnce(ListElementOp element) {
    for (Operation *user : element->getUsers()) {
      if (user->getBlock() != element->getBlock() || !isa<ElementOp, DimOp, FusedOp, ListLenOp, ListElementOp>(user))
        return false;
      if (auto inner = dyn_cast<ListElementOp>(user); inner && !inner.getChanged() && !isReadAtOnce(inner))
        return false;
      if (llvm::any_of(llvm::make_range(std::next(element->getIterator()), user->getIterator()), isChange))
        return false;
    }
    return true;
  }

  func::FuncOp function;
  FunctionLoops loops;
};

} // namespace

void hoistElements(func::FuncOp function) {
  if (!function.getOps<ListElementOp>().empty())
    Hoister(function).run();
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
#include "passes/EqualRows.h"

#include "passes/ListGroups.h"
#include "passes/RowChanges.h"

#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace toy {

/// Rows of more numbers are filled by loops.
constexpr int64_t mostNumbers = 16;

/// The number of elements that something makes a vector with.
static Value countOf(Operation *maker) {
  return isa<FullOp>(maker) ? cast<FullOp>(maker).getSizes()[0] : cast<ShortenOp>(maker).getCount();
}

Value EqualRows::count() const { return countOf(maker); }

EqualRowsOf::EqualRowsOf(func::FuncOp function) : liveness(function), loops(function) {
  for (Block *block : llvm::ReversePostOrderTraversal<Region *>(&function.getBody())) {
    llvm::for_each(block->getArguments(), [&](Value v) { note(v); });
    for (Operation &op : *block)
      llvm::for_each(op.getResults(), [&](Value v) { note(v); });
  }
  for (Value list : lists)
    visit(list);
}

SmallVector<EqualRows> EqualRowsOf::groups() {
  llvm::DenseSet<void *> stay, noMatrix;
  for (Value v : lists) {
    if (left.contains(v.getAsOpaquePointer()))
      stay.insert(leader(v));
    if (noMatrices.contains(v.getAsOpaquePointer()))
      noMatrix.insert(leader(v));
  }
  llvm::MapVector<void *, EqualRows> byLeader;
  for (const RowLength &row : lengths) {
    auto [known, isNew] = byLeader.try_emplace(leader(row.list), EqualRows{{}, row.number, row.maker});
    const EqualRows &group = known->second;
    const bool isSame =
        row.maker && group.maker ? areSame(countOf(row.maker), group.count()) : row.number == group.length;
    if (!isSame || (row.maker && (!group.maker || noMatrix.contains(known->first))))
      stay.insert(known->first);
  }
  for (Value v : lists)
    if (auto group = byLeader.find(leader(v)); group != byLeader.end())
      group->second.lists.push_back(v);
  SmallVector<EqualRows> found;
  for (auto &[leader, group] : byLeader)
    if (!stay.contains(leader))
      found.push_back(std::move(group));
  return found;
}

void EqualRowsOf::note(Value v) {
  auto list = dyn_cast<ListType>(v.getType());
  auto row = list ? dyn_cast<TensorType>(list.getElement()) : TensorType();
  if (!row || row.getRank() != 1)
    return;
  lists.push_back(v);
  reached.insert(v);
  united.insert(v.getAsOpaquePointer());
}

void EqualRowsOf::visit(Value list) {
  Operation *def = list.getDefiningOp();
  if (def ? !isa<ListOp>(def) && !isChange(def) : !isHandedOn(cast<BlockArgument>(list)))
    leave(list);
  if (def && def->hasAttr("packed"))
    leave(list);
  if (isChange(def)) {
    unite(def->getOperand(0), list);
    // Of a list that is still needed, rows are shared, those of a matrix are copied.
    if (isa<ListSliceOp>(def) || !diesAt(liveness, def->getOperand(0), def))
      noMatrix(list);
  }
  if (auto made = dyn_cast_if_present<ListOp>(def))
    for (Value row : made.getValues())
      putIn(list, row, made);
  if (isa_and_present<ListAppendOp, ListSetOp>(def))
    putIn(list, def->getOperands().back(), def);
  for (OpOperand &use : list.getUses()) {
    Operation *user = use.getOwner();
    const bool isAsked = (isa<ListLenOp, ListElementOp>(user) || isChange(user)) && use.getOperandNumber() == 0;
    if ((!isAsked && !isa<BranchOpInterface>(user)) || user->hasAttr("packed"))
      leave(list);
    forEachHandedOn(user, [&](Value from, Value to) {
      if (from == list)
        unite(from, to);
    });
    if (auto element = dyn_cast<ListElementOp>(user); element && isAsked)
      visitRow(element);
  }
}

/// Whether a block of the function is handed lists only that are made on some way.
bool EqualRowsOf::isHandedOn(BlockArgument argument) const {
  return !argument.getOwner()->isEntryBlock() && llvm::all_of(edgesInto(argument.getOwner()), [&](BlockEdge edge) {
    return reached.contains(edge.operandOf(argument));
  });
}

/// Whether a row is of the kind that the list is of, and no pairs of real numbers.
static bool isRow(Value list, Value row) {
  auto kind = cast<TensorType>(cast<ListType>(list.getType()).getElement()), type = cast<TensorType>(row.getType());
  return type.getRank() == 1 && type.getDtype() == kind.getDtype();
}

/// What a row that is put into a list says of its length.
void EqualRowsOf::putIn(Value list, Value row, Operation *at) {
  auto set = dyn_cast<ListSetOp>(at);
  if (set)
    if (auto stores = storesOf(set)) {
      changes[set] = *stores;
      return;
    }
  if (auto of = row.getDefiningOp<ListElementOp>()) {
    noMatrix(list);
    return unite(list, of.getList());
  }
  if (!isRow(list, row))
    return leave(list);
  if (Dim size = cast<TensorType>(row.getType()).getDim(0);
      size.isNumber() && size.value() >= 1 && size.value() <= mostNumbers) {
    lengths.push_back({list, size.value(), nullptr});
    return;
  }
  llvm::DenseSet<Value> seen;
  std::optional<Operation *> maker = set ? std::nullopt : makerOf(row, loops.of(at->getBlock()), seen);
  if (!maker || !*maker)
    return leave(list);
  lengths.push_back({list, 0, *maker});
}

/// What made a vector in a loop, one of several that are given the same count, or nothing. Null where only itself says
/// it: a loop that stores into the vector hands it on.
std::optional<Operation *> EqualRowsOf::makerOf(Value row, CFGLoop *loop, llvm::DenseSet<Value> &seen) const {
  while (isa_and_present<RelabelOp, ElementStoreOp>(row.getDefiningOp()))
    row = row.getDefiningOp<RelabelOp>() ? row.getDefiningOp<RelabelOp>().getX()
                                         : row.getDefiningOp<ElementStoreOp>().getX();
  if (Operation *def = row.getDefiningOp()) {
    // A row from outside of the loop may be put into the list in each turn: a list has it once then.
    if (!isa<FullOp, ShortenOp>(def) || (loop && !loop->contains(def->getBlock())))
      return std::nullopt;
    return def;
  }
  if (!seen.insert(row).second)
    return nullptr;
  auto argument = cast<BlockArgument>(row);
  Operation *maker = nullptr;
  for (const BlockEdge &edge : edgesInto(argument.getOwner())) {
    std::optional<Operation *> handed = makerOf(edge.operandOf(argument), loop, seen);
    if (!handed || (*handed && maker && !areSame(countOf(*handed), countOf(maker))))
      return std::nullopt;
    maker = maker ? maker : *handed;
  }
  return argument.getOwner()->isEntryBlock() ? std::nullopt : std::optional(maker);
}

/// Whether a use of a row comes before an operation that changes it, and asks for numbers.
static bool isReadBefore(Operation *user, Operation *op) {
  return isa<ElementOp, DimOp>(user) && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op);
}

/// Stores into a row of a list, which takes its place again, and of which nothing else is asked in between.
std::optional<RowStores> EqualRowsOf::storesOf(ListSetOp set) {
  RowStores stores;
  Operation *next = set;
  Value v = set.getValue();
  for (; auto store = v.getDefiningOp<ElementStoreOp>(); v = store.getX()) {
    auto isStep = [&](Operation *user) { return user == next || isReadBefore(user, next); };
    if (store->getBlock() != set->getBlock() || !llvm::all_of(store->getUsers(), isStep))
      return std::nullopt;
    stores.insert(stores.begin(), store);
    next = store;
  }
  auto row = v.getDefiningOp<ListElementOp>();
  auto isBefore = [&](Operation *user) {
    return user == next || (user->getBlock() == set->getBlock() && user->isBeforeInBlock(next));
  };
  if (stores.empty() || !row || row.getList() != set.getList() || row->getBlock() != set->getBlock() ||
      !areSame(row.getIndex(), set.getIndex()) || !llvm::all_of(row->getUsers(), isBefore))
    return std::nullopt;
  return stores;
}

/// Of a row numbers are read while its list is still there; or it changes, or is put into a list.
void EqualRowsOf::visitRow(ListElementOp row) {
  if (!isRow(row.getList(), row.getResult()))
    return leave(row.getList());
  for (OpOperand &use : row->getUses()) {
    Operation *user = use.getOwner();
    const bool isPut = isa<ListOp, ListAppendOp, ListSetOp>(user);
    if (isa<DimOp>(user) || isPut || (isa<ElementOp>(user) && isThere(row, user)))
      continue;
    if (!isa<ElementStoreOp>(user) || !isChanged(cast<ElementStoreOp>(user)))
      leave(row.getList());
  }
}
bool EqualRowsOf::isChanged(ElementStoreOp store) {
  for (Operation *user : store->getUsers()) {
    if (auto set = dyn_cast<ListSetOp>(user))
      return set.getValue() == store.getResult() && storesOf(set).has_value();
    if (auto next = dyn_cast<ElementStoreOp>(user))
      return next.getX() == store.getResult() && isChanged(next);
  }
  return false;
}
/// Whether the list of a row is still needed behind an operation that reads a number of it, or nothing changes it by
/// then.
bool EqualRowsOf::isThere(ListElementOp row, Operation *op) const {
  Value list = row.getList();
  if (!diesAt(liveness, list, op))
    return true;
  const bool isNear = row->getBlock() == op->getBlock();
  return llvm::none_of(list.getUsers(), [&](Operation *user) {
    if (isNear)
      return isChange(user) && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op);
    return isChange(user) || isa<BranchOpInterface>(user);
  });
}

} // namespace toy

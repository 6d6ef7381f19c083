// SPDX-License-Identifier: Apache-2.0
/// \file
/// `edges = append(edges, i64([u, v]))`, `trie[at][c] = …` of rows of eight: a list whose elements are vectors of one
/// known length is a list of their numbers, one behind the other, so that a row is no object of its own. That list
/// becomes a vector as others do.
#include "passes/FlattenLists.h"

#include "ir/Constants.h"
#include "passes/ListGroups.h"
#include "passes/ListsAsTensors.h"
#include "passes/RowChanges.h"

#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace toy {

namespace {

/// Rows of more numbers are filled by loops.
constexpr int64_t mostNumbers = 16;

/// What a row that is read, changed and put back gets, in order.
using Change = SmallVector<ElementStoreOp, 2>;

class Flattener {
public:
  explicit Flattener(func::FuncOp function) : liveness(function), b(function.getContext()) {
    for (Block *block : llvm::ReversePostOrderTraversal<Region *>(&function.getBody())) {
      llvm::for_each(block->getArguments(), [&](Value v) { note(v); });
      for (Operation &op : *block)
        llvm::for_each(op.getResults(), [&](Value v) { note(v); });
    }
    for (Value list : lists)
      visit(list);
    for (auto [v, n] : lengths)
      if (int64_t &known = lengthOf.try_emplace(leader(v), n).first->second; known != n)
        left.insert(leader(v));
  }

  /// Gives the lists of numbers.
  llvm::DenseSet<Value> run() {
    llvm::DenseSet<void *> stay;
    for (Value v : lists)
      if (left.contains(v.getAsOpaquePointer()))
        stay.insert(leader(v));
    SmallVector<std::pair<Operation *, int64_t>> rows, others;
    llvm::DenseSet<Value> flat;
    for (Value v : lists) {
      auto known = lengthOf.find(leader(v));
      if (stay.contains(leader(v)) || known == lengthOf.end())
        continue;
      for (Operation *user : v.getUsers())
        if (isa<ListElementOp, ListLenOp>(user))
          (isa<ListElementOp>(user) ? rows : others).push_back({user, known->second});
      if (Operation *def = v.getDefiningOp())
        others.push_back({def, known->second});
      else
        flat.insert(v);
      auto row = cast<TensorType>(cast<ListType>(v.getType()).getElement());
      v.setType(ListType::get(b.getContext(), row.withDims({})));
    }
    for (auto [op, length] : rows)
      readRow(cast<ListElementOp>(op), length);
    for (auto [op, length] : others)
      replace(op, length);
    for (auto [op, _] : rows)
      op->erase();
    flat.insert(made.begin(), made.end());
    return flat;
  }

private:
  void note(Value v) {
    auto list = dyn_cast<ListType>(v.getType());
    auto row = list ? dyn_cast<TensorType>(list.getElement()) : TensorType();
    if (!row || row.getRank() != 1)
      return;
    lists.push_back(v);
    reached.insert(v);
    groups.insert(v.getAsOpaquePointer());
  }
  void *leader(Value v) { return groups.getOrInsertLeaderValue(v.getAsOpaquePointer()); }
  void unite(Value a, Value b) { groups.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer()); }
  void leave(Value list) { left.insert(list.getAsOpaquePointer()); }

  void visit(Value list) {
    Operation *def = list.getDefiningOp();
    if (def ? !isa<ListOp>(def) && !isChange(def) : !isHandedOn(cast<BlockArgument>(list)))
      leave(list);
    if (def && def->hasAttr("packed"))
      leave(list);
    if (isChange(def))
      unite(def->getOperand(0), list);
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
  bool isHandedOn(BlockArgument argument) const {
    return !argument.getOwner()->isEntryBlock() && llvm::all_of(edgesInto(argument.getOwner()), [&](BlockEdge edge) {
      return reached.contains(edge.operandOf(argument));
    });
  }

  /// What a row that is put into a list says of its length.
  void putIn(Value list, Value row, Operation *at) {
    if (auto set = dyn_cast<ListSetOp>(at))
      if (auto change = changeOf(set)) {
        changes[set] = *change;
        return;
      }
    auto of = row.getDefiningOp<ListElementOp>();
    if (of)
      return unite(list, of.getList());
    auto type = cast<TensorType>(row.getType());
    if (!isRow(list, row) || !type.getDim(0).isNumber() || type.getDim(0).value() < 1 ||
        type.getDim(0).value() > mostNumbers)
      return leave(list);
    lengths.push_back({list, type.getDim(0).value()});
  }

  /// Stores into a row of a list, which takes its place again, and of which nothing else is asked in between.
  std::optional<Change> changeOf(ListSetOp set) {
    Change change;
    Operation *next = set;
    Value v = set.getValue();
    for (; auto store = v.getDefiningOp<ElementStoreOp>(); v = store.getX()) {
      auto isStep = [&](Operation *user) { return user == next || isReadBefore(user, next); };
      if (store->getBlock() != set->getBlock() || !llvm::all_of(store->getUsers(), isStep))
        return std::nullopt;
      change.insert(change.begin(), store);
      next = store;
    }
    auto row = v.getDefiningOp<ListElementOp>();
    auto isBefore = [&](Operation *user) {
      return user == next || (user->getBlock() == set->getBlock() && user->isBeforeInBlock(next));
    };
    if (change.empty() || !row || row.getList() != set.getList() || row->getBlock() != set->getBlock() ||
        !areSame(row.getIndex(), set.getIndex()) || !llvm::all_of(row->getUsers(), isBefore))
      return std::nullopt;
    return change;
  }
  static bool isReadBefore(Operation *user, Operation *op) {
    return isa<ElementOp, DimOp>(user) && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op);
  }

  /// Whether a row is of the kind that the list is of, and no pairs of real numbers.
  static bool isRow(Value list, Value row) {
    auto kind = cast<TensorType>(cast<ListType>(list.getType()).getElement()), type = cast<TensorType>(row.getType());
    return type.getRank() == 1 && type.getDtype() == kind.getDtype();
  }

  /// Of a row numbers are read while its list is still there; or it changes, or is put into a list.
  void visitRow(ListElementOp row) {
    if (!isRow(row.getList(), row.getResult()))
      return leave(row.getList());
    for (OpOperand &use : row->getUses()) {
      Operation *user = use.getOwner();
      const bool isPut = isa<ListOp, ListAppendOp, ListSetOp>(user);
      if (isa<DimOp>(user) || isPut || (isa<ElementOp>(user) && isThere(row.getList(), user)))
        continue;
      if (!isa<ElementStoreOp>(user) || !isChanged(cast<ElementStoreOp>(user)))
        leave(row.getList());
    }
  }
  bool isChanged(ElementStoreOp store) {
    for (Operation *user : store->getUsers()) {
      if (auto set = dyn_cast<ListSetOp>(user))
        return set.getValue() == store.getResult() && changeOf(set).has_value();
      if (auto next = dyn_cast<ElementStoreOp>(user))
        return next.getX() == store.getResult() && isChanged(next);
    }
    return false;
  }
  /// Whether a list is still needed behind an operation, or nothing changes it.
  bool isThere(Value list, Operation *op) {
    auto changes = [](Operation *user) { return isChange(user) || isa<BranchOpInterface>(user); };
    return !diesAt(liveness, list, op) || llvm::none_of(list.getUsers(), changes);
  }

  // --- the lists of numbers

  Value exactly(Operation *op) {
    op->setAttr("toy.exact", b.getUnitAttr());
    return op->getResult(0);
  }
  /// Where the numbers of a row begin.
  Value beginOf(Value index, int64_t length, Location loc) {
    return exactly(MulOp::create(b, loc, index.getType(), index, integerConstant(b, loc, length)));
  }
  Value placeOf(Value begin, Value number, Location loc) {
    return exactly(AddOp::create(b, loc, begin.getType(), begin, number));
  }
  Value readNumber(Value list, Value place, Type type, Location loc) {
    return ListElementOp::create(b, loc, type, list, place);
  }

  /// Reads of a row are reads of numbers, which are all read where it is put into a list.
  void readRow(ListElementOp row, int64_t length) {
    const Location loc = row.getLoc();
    TensorType number = tensorTypeOf(row.getResult()).withDims({});
    b.setInsertionPoint(row);
    Value begin = beginOf(row.getIndex(), length, loc);
    begins[row] = begin;
    auto isWhole = [&](Operation *user) {
      auto set = dyn_cast<ListSetOp>(user);
      return isa<ListOp, ListAppendOp>(user) || (set && !changes.contains(set));
    };
    if (llvm::any_of(row->getUsers(), isWhole))
      for (int64_t i = 0; i < length; ++i)
        numbers[row.getResult()].push_back(
            readNumber(row.getList(), placeOf(begin, integerConstant(b, loc, i), loc), number, loc));
    readNumbers(row.getResult(), row.getList(), begin, length);
  }
  void readNumbers(Value row, Value list, Value begin, int64_t length) {
    for (Operation *user : llvm::make_early_inc_range(row.getUsers())) {
      b.setInsertionPoint(user);
      Value answer;
      if (isa<DimOp>(user))
        answer = integerConstant(b, user->getLoc(), length);
      else if (auto element = dyn_cast<ElementOp>(user))
        answer = readNumber(list, placeOf(begin, element.getIndices()[0], user->getLoc()), element.getType(),
                            user->getLoc());
      else
        continue;
      user->getResult(0).replaceAllUsesWith(answer);
      user->erase();
    }
  }

  /// The numbers of a row that is put into a list.
  SmallVector<Value> numbersOf(Value row, int64_t length, Operation *at) {
    if (auto known = numbers.find(row); known != numbers.end())
      return known->second;
    if (auto made = row.getDefiningOp<FromElementsOp>())
      return SmallVector<Value>(made.getElements());
    if (auto full = row.getDefiningOp<FullOp>())
      return SmallVector<Value>(length, full.getValue());
    SmallVector<Value> read;
    for (int64_t i = 0; i < length; ++i)
      read.push_back(ElementOp::create(b, at->getLoc(), tensorTypeOf(row).withDims({}), row,
                                       ValueRange(integerConstant(b, at->getLoc(), i))));
    return read;
  }

  void replace(Operation *op, int64_t length) {
    b.setInsertionPoint(op);
    const Location loc = op->getLoc();
    Type type = op->getResult(0).getType();
    Value result = op->getNumOperands() ? op->getOperand(0) : Value();
    if (isa<ListLenOp>(op)) {
      Value count = ListLenOp::create(b, loc, type, result);
      result = FloorDivOp::create(b, loc, type, count, integerConstant(b, loc, length));
    } else if (auto made = dyn_cast<ListOp>(op)) {
      SmallVector<Value> all;
      for (Value row : made.getValues())
        llvm::append_range(all, numbersOf(row, length, op));
      result = keep(ListOp::create(b, loc, type, all));
    } else if (auto append = dyn_cast<ListAppendOp>(op)) {
      for (Value number : numbersOf(append.getValue(), length, op))
        result = keep(ListAppendOp::create(b, loc, type, result, number));
    } else if (auto slice = dyn_cast<ListSliceOp>(op)) {
      Value count = beginOf(slice.getCount(), length, loc);
      result = keep(ListSliceOp::create(b, loc, type, result, slice.getStart(), count, slice.getStep()));
    } else if (auto change = changes.find(op); change != changes.end()) {
      result = changed(result, change->second, length);
    } else {
      auto set = cast<ListSetOp>(op);
      Value begin = beginOf(set.getIndex(), length, loc);
      for (auto [i, number] : llvm::enumerate(numbersOf(set.getValue(), length, op))) {
        Value place = placeOf(begin, integerConstant(b, loc, static_cast<int64_t>(i)), loc);
        result = keep(ListSetOp::create(b, loc, type, result, place, number));
      }
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    if (auto change = changes.find(op); change != changes.end())
      for (ElementStoreOp store : llvm::reverse(change->second))
        store.erase();
  }
  Value keep(Operation *op) {
    made.push_back(op->getResult(0));
    return made.back();
  }

  Value changed(Value list, ArrayRef<ElementStoreOp> stores, int64_t length) {
    ElementStoreOp first = stores.front();
    Value begin = begins.lookup(first.getX().getDefiningOp());
    for (ElementStoreOp store : stores) {
      b.setInsertionPoint(store);
      Value place = placeOf(begin, store.getIndices()[0], store.getLoc());
      list = keep(ListSetOp::create(b, store.getLoc(), list.getType(), list, place, store.getValue()));
      readNumbers(store.getResult(), list, begin, length);
    }
    return list;
  }

  Liveness liveness;
  OpBuilder b;
  SmallVector<Value> lists; ///< as they are made
  llvm::DenseSet<Value> reached;
  llvm::EquivalenceClasses<void *> groups;
  llvm::DenseSet<void *> left;                       ///< a member of each group that stays as it is
  SmallVector<std::pair<Value, int64_t>> lengths;    ///< of rows, by lists that they are put into
  llvm::DenseMap<void *, int64_t> lengthOf;          ///< by leaders
  llvm::DenseMap<Operation *, Change> changes;       ///< by what puts the row back
  llvm::DenseMap<Operation *, Value> begins;         ///< of rows
  llvm::DenseMap<Value, SmallVector<Value>> numbers; ///< of rows that are put into lists
  SmallVector<Value> made;                           ///< lists of numbers
};

} // namespace

void flattenLists(func::FuncOp function) {
  if (!function.walk([](ListElementOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return;
  if (llvm::DenseSet<Value> flat = Flattener(function).run(); !flat.empty())
    makeVectors(function, flat, "rows$");
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// `edges = append(edges, i64([u, v]))`, `trie[at][c] = …` of rows of eight: a list whose elements are vectors of one
/// known length is a list of their numbers, one behind the other, so that a row is no object of its own. That list
/// becomes a vector as others do. Rows of another length that is always the same are those of a matrix.
#include "passes/FlattenLists.h"

#include "ir/Constants.h"
#include "passes/EqualRows.h"
#include "passes/ListsAsMatrices.h"
#include "passes/ListsAsTensors.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace toy {

namespace {

class Flattener {
public:
  Flattener(func::FuncOp function, const EqualRowsOf &rows) : rows(rows), b(function.getContext()) {}

  /// Makes lists of numbers of lists of rows.
  void flatten(const EqualRows &group) {
    length = group.length;
    llvm::SetVector<Operation *> read, others;
    for (Value v : group.lists) {
      for (Operation *user : v.getUsers())
        if (isa<ListElementOp, ListLenOp>(user))
          (isa<ListElementOp>(user) ? read : others).insert(user);
      if (Operation *def = v.getDefiningOp())
        others.insert(def);
      else
        made.push_back(v);
      auto row = cast<TensorType>(cast<ListType>(v.getType()).getElement());
      v.setType(ListType::get(b.getContext(), row.withDims({})));
    }
    for (Operation *op : read)
      readRow(cast<ListElementOp>(op));
    for (Operation *op : others)
      replace(op);
    for (Operation *op : read)
      op->erase();
  }

  llvm::DenseSet<Value> listsOfNumbers() const { return llvm::DenseSet<Value>(made.begin(), made.end()); }

private:
  Value exactly(Operation *op) {
    op->setAttr("toy.exact", b.getUnitAttr());
    return op->getResult(0);
  }
  /// Where the numbers of a row begin.
  Value beginOf(Value index, Location loc) {
    return exactly(MulOp::create(b, loc, index.getType(), index, integerConstant(b, loc, length)));
  }
  Value placeOf(Value begin, Value number, Location loc) {
    return exactly(AddOp::create(b, loc, begin.getType(), begin, number));
  }
  Value readNumber(Value list, Value place, Type type, Location loc) {
    return ListElementOp::create(b, loc, type, list, place);
  }

  /// Reads of a row are reads of numbers, which are all read where it is put into a list.
  void readRow(ListElementOp row) {
    const Location loc = row.getLoc();
    TensorType number = tensorTypeOf(row.getResult()).withDims({});
    b.setInsertionPoint(row);
    Value begin = beginOf(row.getIndex(), loc);
    begins[row] = begin;
    auto isWhole = [&](Operation *user) {
      auto set = dyn_cast<ListSetOp>(user);
      return isa<ListOp, ListAppendOp>(user) || (set && !rows.changeOf(set));
    };
    if (llvm::any_of(row->getUsers(), isWhole))
      for (int64_t i = 0; i < length; ++i)
        numbers[row.getResult()].push_back(
            readNumber(row.getList(), placeOf(begin, integerConstant(b, loc, i), loc), number, loc));
    readNumbers(row.getResult(), row.getList(), begin);
  }
  void readNumbers(Value row, Value list, Value begin) {
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
  SmallVector<Value> numbersOf(Value row, Operation *at) {
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

  void replace(Operation *op) {
    b.setInsertionPoint(op);
    const Location loc = op->getLoc();
    Type type = op->getResult(0).getType();
    Value result = op->getNumOperands() ? op->getOperand(0) : Value();
    const RowStores *stores = rows.changeOf(op);
    if (isa<ListLenOp>(op)) {
      Value count = ListLenOp::create(b, loc, type, result);
      result = FloorDivOp::create(b, loc, type, count, integerConstant(b, loc, length));
    } else if (auto made = dyn_cast<ListOp>(op)) {
      SmallVector<Value> all;
      for (Value row : made.getValues())
        llvm::append_range(all, numbersOf(row, op));
      result = keep(ListOp::create(b, loc, type, all));
    } else if (auto append = dyn_cast<ListAppendOp>(op)) {
      for (Value number : numbersOf(append.getValue(), op))
        result = keep(ListAppendOp::create(b, loc, type, result, number));
    } else if (auto slice = dyn_cast<ListSliceOp>(op)) {
      Value count = beginOf(slice.getCount(), loc);
      result = keep(ListSliceOp::create(b, loc, type, result, slice.getStart(), count, slice.getStep()));
    } else if (stores) {
      result = changed(result, *stores);
    } else {
      auto set = cast<ListSetOp>(op);
      Value begin = beginOf(set.getIndex(), loc);
      for (auto [i, number] : llvm::enumerate(numbersOf(set.getValue(), op))) {
        Value place = placeOf(begin, integerConstant(b, loc, static_cast<int64_t>(i)), loc);
        result = keep(ListSetOp::create(b, loc, type, result, place, number));
      }
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    if (stores)
      for (ElementStoreOp store : llvm::reverse(*stores))
        store.erase();
  }
  Value keep(Operation *op) {
    made.push_back(op->getResult(0));
    return made.back();
  }

  Value changed(Value list, ArrayRef<ElementStoreOp> stores) {
    ElementStoreOp first = stores.front();
    Value begin = begins.lookup(first.getX().getDefiningOp());
    for (ElementStoreOp store : stores) {
      b.setInsertionPoint(store);
      Value place = placeOf(begin, store.getIndices()[0], store.getLoc());
      list = keep(ListSetOp::create(b, store.getLoc(), list.getType(), list, place, store.getValue()));
      readNumbers(store.getResult(), list, begin);
    }
    return list;
  }

  const EqualRowsOf &rows;
  OpBuilder b;
  int64_t length = 0;                                ///< of the rows of a group
  llvm::DenseMap<Operation *, Value> begins;         ///< of rows
  llvm::DenseMap<Value, SmallVector<Value>> numbers; ///< of rows that are put into lists
  SmallVector<Value> made;                           ///< lists of numbers
};

} // namespace

void flattenLists(func::FuncOp function) {
  if (!function.walk([](ListElementOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return;
  EqualRowsOf rows(function);
  Flattener flattener(function, rows);
  SmallVector<EqualRows> matrices;
  for (EqualRows &group : rows.groups())
    if (group.length)
      flattener.flatten(group);
    else
      matrices.push_back(std::move(group));
  if (llvm::DenseSet<Value> flat = flattener.listsOfNumbers(); !flat.empty())
    makeVectors(function, flat, "rows$");
  makeMatrices(function, rows, matrices);
}

} // namespace toy

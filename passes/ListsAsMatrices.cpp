// SPDX-License-Identifier: Apache-2.0
/// \file
/// `m = list(); for i in range(n) { … m = append(m, row); }`, of rows that are all made with `n` elements: a matrix to
/// which rows are appended. `m[i][j]` is one load, of a row that is no object of its own, and its length one number.
#include "passes/ListsAsMatrices.h"

#include "ir/Constants.h"
#include "passes/ListSizes.h"

using namespace mlir;

namespace toy {

namespace {

class MatrixMaker {
public:
  MatrixMaker(func::FuncOp function, const EqualRowsOf &rows, const EqualRows &group, Twine name)
      : rows(rows), group(group), b(function.getContext()), dominance(function),
        width(Dim::symbol(b.getContext(), name.str())), names((name + "$rows").str()),
        sizes(b.getContext(), group.lists, names),
        dtype(cast<TensorType>(cast<ListType>(group.lists[0].getType()).getElement())) {}

  /// Whether the number of columns is known before all lists of the group.
  bool canBeMade() {
    for (Value v : group.lists)
      if (auto made = v.getDefiningOp<ListOp>())
        first = !first || dominance.dominates(made.getOperation(), first) ? made.getOperation() : first;
    return first &&
           llvm::all_of(group.lists,
                        [&](Value v) {
                          auto made = v.getDefiningOp<ListOp>();
                          return !made || dominance.dominates(first, made.getOperation());
                        }) &&
           isKnown(group.count());
  }

  void make() {
    makeEmpty();
    sizes.relabelEdges([&](Value v) { return typeOf(v); });
    for (Value v : group.lists)
      if (isa<BlockArgument>(v))
        v.setType(typeOf(v));
    SmallVector<Operation *> done;
    for (Value v : group.lists) {
      for (Operation *user : llvm::make_early_inc_range(v.getUsers()))
        answer(user, v);
      if (Operation *def = v.getDefiningOp())
        done.push_back(def);
    }
    for (Operation *op : done) {
      Value matrix = madeBy(op);
      op->replaceAllUsesWith(ValueRange(matrix));
      op->erase();
    }
    for (Operation *op : llvm::reverse(stored))
      op->erase();
    for (Operation *op : read)
      op->erase();
  }

private:
  /// Operations that compute counts, and cannot fail.
  static bool isOfCounts(Operation *op) {
    return isa_and_present<ConstantOp, AddOp, SubOp, MulOp, MaximumOp, MinimumOp, DimOp>(op) &&
           isa<TensorType>(op->getResult(0).getType()) && tensorTypeOf(op->getResult(0)).isScalar() &&
           !op->hasAttr("packed");
  }
  bool isKnown(Value v, int depth = 0) {
    constexpr int deepest = 8;
    if (dominance.dominates(v, first))
      return true;
    Operation *def = v.getDefiningOp();
    return isOfCounts(def) && depth < deepest &&
           llvm::all_of(def->getOperands(), [&](Value operand) { return isKnown(operand, depth + 1); });
  }
  Value known(Value v) {
    if (dominance.dominates(v, first))
      return v;
    IRMapping mapping;
    for (Value operand : v.getDefiningOp()->getOperands())
      mapping.map(operand, known(operand));
    return b.clone(*v.getDefiningOp(), mapping)->getResult(0);
  }

  /// The matrix of no rows that all lists of the group begin as. Where a row of so many elements cannot be made, there
  /// will be none: then this one has another number of columns, and the error comes from there.
  void makeEmpty() {
    constexpr int64_t mostColumns = (int64_t{1} << 47) - 1;
    b.setInsertionPoint(first);
    const Location loc = first->getLoc();
    columns = known(group.count());
    Type type = columns.getType();
    Value none = integerConstant(b, loc, 0);
    Value least = MaximumOp::create(b, loc, type, columns, none);
    Value most = MinimumOp::create(b, loc, type, least, integerConstant(b, loc, mostColumns));
    empty = FullOp::create(b, loc, typeOfRows(Dim::number(b.getContext(), 0)), zeroConstant(b, loc, dtype.getDtype()),
                           ValueRange{none, most});
  }

  TensorType typeOfRows(Dim count) const { return dtype.withDims({count, width}); }
  TensorType typeOf(Value v) const { return typeOfRows(sizes.of(v)); }

  /// What a list is asked: its length, and numbers of its rows.
  void answer(Operation *op, Value list) {
    if (isa<ListLenOp>(op)) {
      op->getResult(0).replaceAllUsesWith(sizes.lengthOf(list, op));
      op->erase();
    } else if (auto row = dyn_cast<ListElementOp>(op)) {
      read.push_back(row);
      readNumbers(row, list, row.getIndex());
    }
  }
  void readNumbers(Value row, Value matrix, Value index) {
    for (Operation *user : llvm::make_early_inc_range(row.getUsers())) {
      b.setInsertionPoint(user);
      Value answer;
      if (isa<DimOp>(user))
        answer = columns;
      else if (auto element = dyn_cast<ElementOp>(user))
        answer =
            ElementOp::create(b, user->getLoc(), element.getType(), matrix, ValueRange{index, element.getIndices()[0]});
      else
        continue;
      user->getResult(0).replaceAllUsesWith(answer);
      user->erase();
    }
  }

  Value madeBy(Operation *op) {
    if (const RowStores *stores = rows.changeOf(op))
      return changed(cast<ListSetOp>(op), *stores);
    b.setInsertionPoint(op);
    if (auto append = dyn_cast<ListAppendOp>(op))
      return withRow(append->getOperand(0), append.getValue(), typeOf(append), op->getLoc());
    Value matrix = empty;
    for (auto [i, row] : llvm::enumerate(cast<ListOp>(op).getValues()))
      matrix = withRow(matrix, row, typeOfRows(Dim::number(b.getContext(), static_cast<int64_t>(i) + 1)), op->getLoc());
    return matrix;
  }
  Value withRow(Value matrix, Value row, TensorType type, Location loc) {
    Value named = RelabelOp::create(b, loc, dtype.withDims({width}), row);
    return AppendOp::create(b, loc, type, matrix, named);
  }
  Value changed(ListSetOp set, const RowStores &stores) {
    ElementStoreOp begin = stores.front();
    Value matrix = set->getOperand(0), index = begin.getX().getDefiningOp<ListElementOp>().getIndex();
    for (ElementStoreOp store : stores) {
      b.setInsertionPoint(store);
      matrix = ElementStoreOp::create(b, store.getLoc(), typeOf(set), matrix, store.getValue(),
                                      ValueRange{index, store.getIndices()[0]});
      readNumbers(store.getResult(), matrix, index);
      stored.push_back(store);
    }
    return matrix;
  }

  const EqualRowsOf &rows;
  const EqualRows &group;
  OpBuilder b;
  DominanceInfo dominance;
  Dim width;
  std::string names;
  ListSizes sizes;
  TensorType dtype;
  Operation *first = nullptr; ///< that makes a list, before all others
  Value columns, empty;
  SmallVector<Operation *> read, stored; ///< rows that are read; stores into such
};

} // namespace

void makeMatrices(func::FuncOp function, const EqualRowsOf &rows, ArrayRef<EqualRows> groups) {
  for (auto [i, group] : llvm::enumerate(groups)) {
    MatrixMaker maker(function, rows, group, "columns$" + Twine(i));
    if (maker.canBeMade())
      maker.make();
  }
}

} // namespace toy

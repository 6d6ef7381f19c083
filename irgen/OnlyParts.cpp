// SPDX-License-Identifier: Apache-2.0
/// \file
/// Slices go before what is computed element by element, to where elements come from: files and random numbers, of
/// which `toy.read_part` takes its own, or counted and filled tensors, whose slices cost nothing. Of what is sorted,
/// only what a slice looks at is put in order.
#include "irgen/OnlyParts.h"

#include "ir/Constants.h"
#include "ir/ToyDialect.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#include <queue>

using namespace mlir;

namespace toy {
namespace {

bool isLoad(Operation *op) {
  auto global = dyn_cast<GlobalLoadOp>(op);
  return isa<LoadOp>(op) || (global && global.getLoaded());
}

class OnlyPart {
public:
  explicit OnlyPart(SliceOp slice) : slice(slice), b(slice) {}

  /// Whether nothing but the slice looks at elements of what it is a part of. Later values are looked at first: one
  /// that others look at as well ends it before what that one is made of, so that no two slices walk over the same
  /// values.
  bool isAll() {
    if (isa_and_present<IotaOp, FullOp>(slice.getX().getDefiningOp()))
      return false;
    auto isEarlier = [](Value a, Value b) { return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp()); };
    std::priority_queue<Value, std::vector<Value>, decltype(isEarlier)> open(isEarlier);
    SmallVector<Value> found = {slice.getX()};
    while (true) {
      for (Value v : found) {
        if (!isMadeHere(v))
          return false;
        open.push(v);
      }
      found.clear();
      if (open.empty())
        return true;
      Value v = open.top();
      open.pop();
      if (whole.insert(v) && (!isForSlice(v) || !isMadeByElements(v, found)))
        return false;
    }
  }

  void make() {
    Value part = partOf(slice.getX());
    for (Operation *user : llvm::make_early_inc_range(slice->getUsers()))
      if (auto dim = dyn_cast<DimOp>(user); dim && !part.getDefiningOp<ReadPartOp>())
        replace(dim, slice.getCounts()[dim.getAxis()]);
    slice.replaceAllUsesWith(part);
    slice.erase();
    for (Value v : whole) {
      if (isComputed(v))
        for (Operation *user : llvm::make_early_inc_range(v.getUsers()))
          cast<DimOp>(user).getXMutable().assign(sourceOf(v));
      if (v.use_empty())
        v.getDefiningOp()->erase();
    }
  }

private:
  static void replace(DimOp dim, Value size) {
    dim.replaceAllUsesWith(size);
    dim.erase();
  }
  static bool isComputed(Value v) { return v.getDefiningOp()->hasTrait<OpTrait::Elementwise>(); }
  static bool isScalar(Value v) { return tensorTypeOf(v).getRank() == 0; }

  /// All of it is in the block of the slice: made as often as that.
  bool isMadeHere(Value v) const {
    Operation *op = v.getDefiningOp();
    return op && op->getBlock() == slice->getBlock() && isa<TensorType>(v.getType());
  }
  /// Whether only the slice, and what it is made of, looks at the elements of a value.
  bool isForSlice(Value v) const {
    return llvm::all_of(v.getUsers(), [&](Operation *user) {
      return isa<DimOp>(user) || user == slice || (user->getNumResults() == 1 && whole.contains(user->getResult(0)));
    });
  }
  /// Collects the tensors of which its elements are made.
  static bool isMadeByElements(Value v, SmallVectorImpl<Value> &from) {
    Operation *op = v.getDefiningOp();
    if (auto sample = dyn_cast<SampleOp>(op)) // parameters of elements are there as a whole
      return isScalar(sample.getA()) && isScalar(sample.getB());
    if (auto relabel = dyn_cast<RelabelOp>(op)) {
      from.push_back(relabel.getX());
      return relabel.getX().getDefiningOp() && !isComputed(relabel.getX());
    }
    if (!isComputed(v) || !isMemoryEffectFree(op))
      return isLoad(op) || isa<IotaOp, FullOp>(op);
    return llvm::all_of(op->getOperands(), [&](Value x) {
      if (isScalar(x))
        return true;
      from.push_back(x);
      return tensorTypeOf(x).getSizes() == tensorTypeOf(v).getSizes() && hasKnownSizes(x);
    });
  }
  /// Two sizes that are not known may be different ones, of which one is stretched.
  static bool hasKnownSizes(Value v) { return !tensorTypeOf(v).hasUnknownSize(); }

  /// Of a computed value: one with the same sizes that is not.
  static Value sourceOf(Value v) {
    while (isComputed(v))
      v = *llvm::find_if_not(v.getDefiningOp()->getOperands(), isScalar);
    return v;
  }

  Value partOf(Value v) {
    if (Value known = parts.lookup(v))
      return known;
    return parts[v] = isComputed(v) ? computedPart(v) : takenPart(v);
  }
  TensorType typeOfPart(Value v) { return slice.getType().withDType(tensorTypeOf(v).getDtype()); }

  Value computedPart(Value v) {
    IRMapping mapping;
    for (Value x : v.getDefiningOp()->getOperands())
      if (!isScalar(x))
        mapping.map(x, partOf(x));
    Value part = b.clone(*v.getDefiningOp(), mapping)->getResult(0);
    part.setType(typeOfPart(v));
    return part;
  }

  Value takenPart(Value v) {
    Operation *source = v.getDefiningOp();
    while (auto relabel = dyn_cast<RelabelOp>(source))
      source = relabel.getX().getDefiningOp();
    if (isa<IotaOp, FullOp>(source))
      return takenBy<SliceOp>(v);
    source->setAttr(isLoad(source) ? "in_file" : "in_parts", b.getUnitAttr());
    return takenBy<ReadPartOp>(v);
  }
  template <typename Taking> Value takenBy(Value v) {
    auto part = Taking::create(b, slice.getLoc(), typeOfPart(v), v, slice.getBounds(), slice.getSteps());
    part->setDiscardableAttrs(slice->getDiscardableAttrDictionary());
    return part.getResult();
  }

  SliceOp slice;
  OpBuilder b;
  SetVector<Value> whole; ///< later ones first
  DenseMap<Value, Value> parts;
};

/// Of an order that nothing else looks at, the part with the elements of the slice along the axis.
template <typename Sort> void sortOnlyPart(SliceOp slice) {
  auto sort = slice.getX().getDefiningOp<Sort>();
  if (!sort || sort->getBlock() != slice->getBlock() || !sort.getPart().empty())
    return;
  const auto axis = static_cast<unsigned>(sort.getAxis());
  Value begin = slice.getStarts()[axis], count = slice.getCounts()[axis];
  auto isOther = [&](Operation *user) { return user != slice && !isa<DimOp>(user); };
  Dim size = tensorTypeOf(sort).getDims()[axis];
  if (slice.getSteps()[axis] != 1 || llvm::any_of(sort->getUsers(), isOther) || (sizeBehind(count) == size))
    return;
  for (Operation *user : llvm::make_early_inc_range(sort->getUsers()))
    if (auto dim = dyn_cast<DimOp>(user))
      dim.getXMutable().assign(sort.getX());
  OpBuilder b(slice);
  SmallVector<Dim> dims = tensorTypeOf(sort).getDims();
  dims[axis] = slice.getType().getDims()[axis];
  auto type = TensorType::get(b.getContext(), tensorTypeOf(sort).getDtype(), dims);
  auto part =
      Sort::create(b, sort.getLoc(), type, sort.getX(), ValueRange{begin, count}, sort.getAxis(), sort.getDescending());
  slice.getXMutable().assign(part);
  slice.getBoundsMutable()[axis].assign(integerConstant(b, slice.getLoc(), 0));
  sort->erase();
}

} // namespace

void makeOnlyParts(func::FuncOp function) {
  SmallVector<SliceOp> slices;
  function.walk([&](SliceOp slice) { slices.push_back(slice); });
  for (SliceOp slice : slices) {
    sortOnlyPart<SortOp>(slice);
    sortOnlyPart<ArgSortOp>(slice);
    if (OnlyPart part(slice); part.isAll())
      part.make();
  }
}

} // namespace toy

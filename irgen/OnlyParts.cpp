// SPDX-License-Identifier: Apache-2.0
/// \file
/// Slices go before what is computed element by element, to where elements come from: files and random numbers, of
/// which `toy.read_part` takes its own, or counted and filled tensors, whose slices cost nothing.
#include "irgen/OnlyParts.h"

#include "ir/ToyDialect.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

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

  /// Whether nothing but the slice looks at elements of what it is a part of.
  bool isAll() {
    Value x = slice.getX();
    return !isa_and_present<IotaOp, FullOp>(x.getDefiningOp()) && isMadeByElements(x) &&
           llvm::all_of(whole, [&](Value v) {
             return llvm::all_of(v.getUsers(), [&](Operation *user) {
               return isa<DimOp>(user) || user == slice ||
                      (user->getNumResults() == 1 && whole.contains(user->getResult(0)));
             });
           });
  }

  void make() {
    Value part = partOf(slice.getX());
    for (Operation *user : llvm::make_early_inc_range(slice->getUsers()))
      if (auto dim = dyn_cast<DimOp>(user); dim && !part.getDefiningOp<ReadPartOp>())
        replace(dim, slice.getCounts()[dim.getAxis()]);
    slice.replaceAllUsesWith(part);
    slice.erase();
    for (Value v : llvm::reverse(whole)) {
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

  /// Collects what it is made of, operands first. All of it is in the block of the slice: made as often as that.
  bool isMadeByElements(Value v) {
    Operation *op = v.getDefiningOp();
    if (whole.contains(v))
      return true;
    if (!op || op->getBlock() != slice->getBlock() || !isa<TensorType>(v.getType()))
      return false;
    bool isMade = isLoad(op) || isa<IotaOp, FullOp>(op);
    if (auto sample = dyn_cast<SampleOp>(op)) // parameters of elements are there as a whole
      isMade = isScalar(sample.getA()) && isScalar(sample.getB());
    if (auto relabel = dyn_cast<RelabelOp>(op))
      isMade = isMadeByElements(relabel.getX()) && !isComputed(relabel.getX());
    else if (isComputed(v) && isMemoryEffectFree(op))
      isMade = llvm::all_of(op->getOperands(), [&](Value x) {
        return isScalar(x) ||
               (tensorTypeOf(x).getSizes() == tensorTypeOf(v).getSizes() && hasKnownSizes(x) && isMadeByElements(x));
      });
    return isMade && whole.insert(v);
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
  SetVector<Value> whole;
  DenseMap<Value, Value> parts;
};

} // namespace

void makeOnlyParts(func::FuncOp function) {
  SmallVector<SliceOp> slices;
  function.walk([&](SliceOp slice) { slices.push_back(slice); });
  for (SliceOp slice : slices)
    if (OnlyPart part(slice); part.isAll())
      part.make();
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
#include "passes/ScalarParts.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace toy {

constexpr int64_t mostElements = 16;
constexpr int64_t mostProducts = 64; ///< of a matrix product that the runtime computes in plain order

bool mayBeAbsent(Value v) {
  auto call = v.getDefiningOp<func::CallOp>();
  return call && call->hasAttr(triedCall);
}

bool isTiny(Value v) {
  auto type = dyn_cast<TensorType>(v.getType());
  std::optional<int64_t> count = type && !type.isScalar() ? type.getStaticCount() : std::nullopt;
  return count && *count >= 1 && *count <= mostElements && !isHalf(type.getDtype()) && !mayBeAbsent(v);
}

SmallVector<int64_t> staticSizes(Value v) {
  return llvm::map_to_vector(tensorTypeOf(v).getDims(), [](Dim dim) { return dim.value(); });
}

static bool isScalar(Value v) {
  auto type = dyn_cast<TensorType>(v.getType());
  return type && type.isScalar() && !isHalf(type.getDtype());
}
static bool isSmall(Value v) { return isScalar(v) || isTiny(v); }

static int64_t countOf(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t n : sizes)
    count *= n;
  return count;
}

/// Visits all indices of a shape in row-major order.
static void forEachIndex(ArrayRef<int64_t> sizes, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> index(sizes.size(), 0);
  for (int64_t i = 0, n = countOf(sizes); i < n; ++i) {
    visit(index);
    for (size_t axis = sizes.size(); axis-- > 0 && ++index[axis] == sizes[axis];)
      index[axis] = 0;
  }
}

/// The place of an element in row-major order; axes of size 1 repeat, and leading ones may be missing.
static int64_t placeOf(ArrayRef<int64_t> index, ArrayRef<int64_t> sizes) {
  int64_t at = 0;
  for (auto [i, n] : llvm::zip_equal(index.take_back(sizes.size()), sizes))
    at = at * n + (n == 1 ? 0 : i);
  return at;
}

/// The numbers of elements along each axis that a store replaces.
static std::optional<SmallVector<int64_t>> storedSizes(SliceStoreOp op) {
  SmallVector<int64_t> sizes;
  for (Value count : op.getCounts()) {
    std::optional<int64_t> n = constantInteger(count);
    if (!n || *n < 1 || *n > mostElements)
      return std::nullopt;
    sizes.push_back(*n);
  }
  return countOf(sizes) <= mostElements ? std::optional(sizes) : std::nullopt;
}

static bool isPlainProduct(MatMulOp op) {
  if (!isTiny(op.getLhs()) || !isTiny(op.getRhs()) || !isSmall(op.getResult()))
    return false;
  SmallVector<int64_t> x = staticSizes(op.getLhs()), y = staticSizes(op.getRhs());
  DType dtype = tensorTypeOf(op.getLhs()).getDtype();
  return x.size() <= 2 && y.size() <= 2 && tensorTypeOf(op.getRhs()).getDtype() == dtype &&
         op.getType().getDtype() == dtype && x.back() == y.front() &&
         countOf(x) * countOf(y) / x.back() <= mostProducts;
}

/// Whether a complex tensor that is put together is a factor of a recognized product, whose kernel and order of sums
/// are chosen by its parts.
static bool isRecognizedFactor(Operation *op) {
  return isa<ComplexOp, ConjOp>(op) && llvm::any_of(op->getUsers(), [](Operation *user) {
           return (isa<MatMulOp>(user) && user->hasAttr("toy.recognized")) || isRecognizedFactor(user);
         });
}

/// Whether this is a part of a recognized product: who reads it as a whole says that the product is one by parts.
static bool isRecognizedPart(Operation *op) {
  auto product = isa<RealOp, ImagOp>(op) ? op->getOperand(0).getDefiningOp<MatMulOp>() : MatMulOp();
  return product && product->hasAttr("toy.recognized");
}

bool ScalarParts::canCompute(Operation *op) const {
  if (op->getNumResults() != 1 || op->hasAttr("packed") || isRecognizedFactor(op) || isRecognizedPart(op))
    return false;
  Value result = op->getResult(0);
  if (auto store = dyn_cast<SliceStoreOp>(op))
    return storedSizes(store) && isSmall(store.getValues()) && !isHalf(tensorTypeOf(result).getDtype());
  if (!isSmall(result))
    return false;
  if (isa<SliceOp>(op))
    return isTiny(result);
  if (auto product = dyn_cast<MatMulOp>(op))
    return isPlainProduct(product) && (!product.getType().isComplex() || (products && !product.getStrategy())) &&
           !product->hasAttr("toy.recognized");
  if (isa<ProdOp>(op) && tensorTypeOf(result).isComplex()) // 1 times an element is not always the element
    return false;
  if (isa<MaxOp, MinOp>(op) && tensorTypeOf(result).getDtype() == DType::Bool)
    return false;
  bool isKnown = op->hasTrait<toy::OpTrait::Elementwise>() ||
                 isa<FullOp, IotaOp, ReshapeOp, PermuteOp, BroadcastOp, ConcatOp, RelabelOp, PartOp, PackOp,
                     ViewAsRealOp, ViewAsComplexOp, SumOp, ProdOp, MaxOp, MinOp, AnyOp, AllOp>(op);
  return isKnown && llvm::all_of(op->getOperands(), isSmall) &&
         (isTiny(result) || llvm::any_of(op->getOperands(), isTiny));
}

bool ScalarParts::isCheap(Operation *op) const {
  auto isOne = [](Value v) { return countOf(staticSizes(v)) == 1; };
  if (auto store = dyn_cast<SliceStoreOp>(op))
    return countOf(*storedSizes(store)) == 1;
  if (auto reshape = dyn_cast<ReshapeOp>(op)) // of a number: a tensor for it, and a view of that
    return isOne(reshape.getResult()) && !tensorTypeOf(reshape.getX()).isScalar();
  return isa<RelabelOp>(op) || (isa<SliceOp>(op) && isOne(op->getResult(0)));
}

int64_t ScalarParts::choices(Operation *op) const {
  auto unknown = [](ValueRange starts, ArrayRef<int64_t> sizes) {
    int64_t count = 1;
    for (auto [start, size] : llvm::zip_equal(starts, sizes))
      count *= constantInteger(start) ? 1 : size;
    return count - 1;
  };
  if (auto slice = dyn_cast<SliceOp>(op); slice && isTiny(slice.getX()))
    return unknown(slice.getStarts(), staticSizes(slice.getX())) * countOf(staticSizes(slice.getResult()));
  if (auto store = dyn_cast<SliceStoreOp>(op); store && isTiny(store.getX()))
    return unknown(store.getStarts(), staticSizes(store.getX())) * countOf(*storedSizes(store));
  return 0;
}

void ScalarParts::compute(Operation *op) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  Value result = op->getResult(0);
  Parts computed = llvm::TypeSwitch<Operation *, Parts>(op)
                       .Case([&](SliceOp slice) { return sliced(slice); })
                       .Case([&](SliceStoreOp store) { return stored(store); })
                       .Case([&](MatMulOp product) { return multiplied(product); })
                       .Case<SumOp, ProdOp, MaxOp, MinOp, AnyOp, AllOp>(
                           [&](auto reduction) { return reduced(reduction, reduction.getAxes()); })
                       .Default([&](Operation *) {
                         return op->hasTrait<toy::OpTrait::Elementwise>() ? elementwise(op) : mapped(op);
                       });
  if (isTiny(result))
    known[result] = computed;
  else
    result.replaceAllUsesWith(computed.front());
}

ScalarParts::Parts ScalarParts::read(Value v) {
  if (tensorTypeOf(v).isScalar())
    return {v};
  Parts &parts = known[v];
  if (!parts.empty())
    return parts;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(v);
  auto scalar = TensorType::scalar(b.getContext(), tensorTypeOf(v).getDtype());
  if (auto constant = v.getDefiningOp<ConstantOp>()) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    auto type = RankedTensorType::get({}, elements.getElementType());
    auto add = [&](auto element) {
      auto one = cast<ElementsAttr>(DenseElementsAttr::get(type, element));
      parts.push_back(ConstantOp::create(b, v.getLoc(), scalar, one));
    };
    if (scalar.isComplex())
      llvm::for_each(elements.getValues<std::complex<APFloat>>(), add);
    else
      llvm::for_each(elements.getValues<Attribute>(), add);
    return parts;
  }
  forEachIndex(staticSizes(v), [&](ArrayRef<int64_t> index) {
    auto indices = llvm::map_to_vector(index, [&](int64_t i) { return integerConstant(b, v.getLoc(), i); });
    parts.push_back(ElementOp::create(b, v.getLoc(), scalar, v, indices));
  });
  return parts;
}

ScalarParts::Parts ScalarParts::elementwise(Operation *op) {
  SmallVector<Parts> operands = llvm::map_to_vector(op->getOperands(), [&](Value v) { return read(v); });
  Type scalar = TensorType::scalar(b.getContext(), tensorTypeOf(op->getResult(0)).getDtype());
  Parts out;
  forEachIndex(staticSizes(op->getResult(0)), [&](ArrayRef<int64_t> index) {
    Operation *one = b.clone(*op);
    for (auto [operand, parts] : llvm::zip_equal(one->getOpOperands(), operands))
      operand.set(parts[placeOf(index, staticSizes(operand.get()))]);
    one->getResult(0).setType(scalar);
    out.push_back(one->getResult(0));
  });
  return out;
}

/// Operations whose elements are those of their operands at other places.
ScalarParts::Parts ScalarParts::mapped(Operation *op) {
  Value first = op->getOperand(0);
  if (isa<ReshapeOp, RelabelOp>(op))
    return read(first);
  SmallVector<int64_t> sizes = staticSizes(op->getResult(0)), from = staticSizes(first);
  DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
  Parts out;
  forEachIndex(sizes, [&](ArrayRef<int64_t> index) {
    Value element = llvm::TypeSwitch<Operation *, Value>(op)
                        .Case([&](FullOp) { return first; })
                        .Case([&](IotaOp) { return integerConstant(b, loc, index[0]); })
                        .Case([&](BroadcastOp) { return read(first)[placeOf(index, from)]; })
                        .Case([&](PermuteOp permute) {
                          SmallVector<int64_t> source(index.size());
                          for (auto [axis, at] : llvm::zip_equal(permute.getPermutation(), index))
                            source[axis] = at;
                          return read(first)[placeOf(source, from)];
                        })
                        .Case([&](PartOp part) { return read(first)[2 * placeOf(index, sizes) + part.getIndex()]; })
                        .Case([&](PackOp pack) {
                          return read(index.back() == 0 ? pack.getRe() : pack.getIm())[placeOf(index, sizes) / 2];
                        })
                        .Case([&](ViewAsRealOp) {
                          Value z = read(first)[placeOf(index, sizes) / 2];
                          return index.back() == 0 ? make<RealOp>(dtype, z) : make<ImagOp>(dtype, z);
                        })
                        .Case([&](ViewAsComplexOp) {
                          Parts pairs = read(first);
                          int64_t at = 2 * placeOf(index, sizes);
                          return make<ComplexOp>(dtype, {pairs[at], pairs[at + 1]});
                        })
                        .Default([&](Operation *) {
                          auto concat = cast<ConcatOp>(op);
                          SmallVector<int64_t> source(index);
                          int64_t &at = source[concat.getAxis()];
                          auto part = concat.getParts().begin();
                          while (at >= staticSizes(*part)[concat.getAxis()])
                            at -= staticSizes(*part++)[concat.getAxis()];
                          return read(*part)[placeOf(source, staticSizes(*part))];
                        });
    out.push_back(element);
  });
  return out;
}

// --- slices

ScalarParts::Indices ScalarParts::indicesOf(ValueRange starts, ArrayRef<int64_t> steps, ArrayRef<int64_t> element) {
  Indices out;
  for (auto [start, step, i] : llvm::zip_equal(starts, steps, element)) {
    std::optional<int64_t> number = constantInteger(start);
    out.push_back({number ? Value() : start, number.value_or(0) + i * step});
  }
  return out;
}

Value ScalarParts::integer(Index index) {
  Value offset = integerConstant(b, loc, index.offset);
  return !index.from ? offset : index.offset == 0 ? index.from : make<AddOp>(DType::I64, {index.from, offset});
}

/// Whether an index is a position; null where that is certain.
Value ScalarParts::isAt(ArrayRef<int64_t> position, ArrayRef<Index> at) {
  Value is;
  for (auto [number, index] : llvm::zip_equal(position, at))
    if (index.from) {
      Value here = make<EqOp>(DType::Bool, {index.from, integerConstant(b, loc, number - index.offset)});
      is = is ? make<AndOp>(DType::Bool, {is, here}) : here;
    }
  return is;
}

Value ScalarParts::choose(ArrayRef<Value> from, ArrayRef<int64_t> sizes, ArrayRef<Index> at) {
  if (sizes.empty())
    return from.front();
  size_t stride = from.size() / sizes.front();
  auto behind = [&](int64_t i) { return choose(from.slice(i * stride, stride), sizes.drop_front(), at.drop_front()); };
  if (!at.front().from)
    return behind(at.front().offset);
  Value chosen = behind(0);
  for (int64_t i = 1; i < sizes.front(); ++i) {
    Value here = isAt({i}, {at.front()}), other = behind(i);
    chosen = make<WhereOp>(tensorTypeOf(chosen).getDtype(), {here, other, chosen});
  }
  return chosen;
}

ScalarParts::Parts ScalarParts::sliced(SliceOp op) {
  Value x = op.getX();
  bool isFixed = llvm::all_of(op.getStarts(), [](Value start) { return constantInteger(start).has_value(); });
  bool hasParts = isTiny(x) && (isFixed || !known.lookup(x).empty());
  Parts from = hasParts ? read(x) : Parts(), out;
  Type scalar = TensorType::scalar(b.getContext(), tensorTypeOf(x).getDtype());
  forEachIndex(staticSizes(op.getResult()), [&](ArrayRef<int64_t> index) {
    Indices at = indicesOf(op.getStarts(), op.getSteps(), index);
    out.push_back(
        hasParts ? choose(from, staticSizes(x), at)
                 : ElementOp::create(b, loc, scalar, x, llvm::map_to_vector(at, [&](Index i) { return integer(i); })));
  });
  return out;
}

ScalarParts::Parts ScalarParts::stored(SliceStoreOp op) {
  SmallVector<int64_t> sizes = *storedSizes(op), from = staticSizes(op.getValues());
  Parts values = read(op.getValues()), into = isTiny(op.getX()) ? read(op.getX()) : Parts{op.getX()};
  forEachIndex(sizes, [&](ArrayRef<int64_t> index) {
    Indices at = indicesOf(op.getStarts(), op.getSteps(), index);
    Value value = values[placeOf(index, from)];
    if (!isTiny(op.getX())) {
      auto indices = llvm::map_to_vector(at, [&](Index i) { return integer(i); });
      into.front() = ElementStoreOp::create(b, loc, op.getType(), into.front(), value, indices);
      return;
    }
    SmallVector<int64_t> all = staticSizes(op.getX());
    forEachIndex(all, [&](ArrayRef<int64_t> position) {
      for (auto [number, i] : llvm::zip_equal(position, at))
        if (!i.from && i.offset != number)
          return;
      Value &old = into[placeOf(position, all)], here = isAt(position, at);
      old = here ? make<WhereOp>(tensorTypeOf(value).getDtype(), {here, value, old}) : value;
    });
  });
  return into;
}

// --- sums, in the order of the reference evaluator

/// Along the last axis in lanes, which are added to zero and combined by halving; lanes without an element are +0 and
/// change nothing. Otherwise in order.
Value ScalarParts::fold(Operation *op, Parts values, bool inLanes) {
  DType dtype = tensorTypeOf(op->getResult(0)).getDtype();
  auto combine = [&](Value x, Value y) {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](SumOp) { return make<AddOp>(dtype, {x, y}); })
        .Case([&](ProdOp) { return make<MulOp>(dtype, {x, y}); })
        .Case([&](MaxOp) { return make<MaximumOp>(dtype, {x, y}); })
        .Case([&](MinOp) { return make<MinimumOp>(dtype, {x, y}); })
        .Case([&](AnyOp) { return make<OrOp>(dtype, {x, y}); })
        .Default([&](Operation *) { return make<AndOp>(dtype, {x, y}); });
  };
  for (Value &v : values) {
    if (tensorTypeOf(v).getDtype() != dtype)
      v = CastOp::create(b, loc, TensorType::scalar(b.getContext(), dtype), v, b.getStringAttr(nameOf(dtype)));
    if (isa<SumOp>(op) && (inLanes || &v == values.begin()))
      v = combine(zeroConstant(b, loc, dtype), v);
  }
  if (!inLanes) {
    for (Value v : ArrayRef(values).drop_front())
      values.front() = combine(values.front(), v);
    return values.front();
  }
  for (size_t half = mostElements / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half && lane + half < values.size(); ++lane)
      values[lane] = combine(values[lane], values[lane + half]);
    values.truncate(std::min(values.size(), half));
  }
  return values.front();
}

ScalarParts::Parts ScalarParts::reduced(Operation *op, ArrayRef<int64_t> axes) {
  Parts from = read(op->getOperand(0)), out;
  SmallVector<int64_t> sizes = staticSizes(op->getOperand(0)), outer = sizes, inner(sizes.size(), 1);
  for (int64_t axis : axes) {
    inner[axis] = sizes[axis];
    outer[axis] = 1;
  }
  forEachIndex(outer, [&](ArrayRef<int64_t> row) {
    Parts values;
    forEachIndex(inner, [&](ArrayRef<int64_t> element) {
      auto index = llvm::map_to_vector(llvm::zip_equal(row, element),
                                       [](auto both) { return std::get<0>(both) + std::get<1>(both); });
      values.push_back(from[placeOf(index, sizes)]);
    });
    out.push_back(fold(op, values, llvm::is_contained(axes, static_cast<int64_t>(sizes.size()) - 1)));
  });
  return out;
}

/// Each element from +0 on, in the order of the inner axis: what the runtime does with small products.
ScalarParts::Parts ScalarParts::multiplied(MatMulOp op) {
  Parts x = read(op.getLhs()), y = read(op.getRhs()), out;
  DType dtype = op.getType().getDtype();
  size_t k = staticSizes(op.getLhs()).back(), m = x.size() / k, n = y.size() / k;
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      Value sum = zeroConstant(b, loc, dtype);
      for (size_t p = 0; p < k; ++p)
        sum = make<AddOp>(dtype, {sum, make<MulOp>(dtype, {x[i * k + p], y[p * n + j]})});
      out.push_back(sum);
    }
  return out;
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions whose rows do not know of each other run with a few sizes only: arguments are padded with zeros, results
/// are cut.
#include "ir/Constants.h"
#include "passes/Passes.h"
#include "passes/RecognitionLog.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_PADTOBUCKETS
#include "passes/Passes.h.inc"

namespace {

/// One size of one function. A value is *padded* if an axis has exactly this size; no other value depends on how many
/// rows there are, because scalars made from the size keep what it really is. Padding is harmless if element i along
/// padded axes depends on elements i along padded axes only.
class BucketPadder {
public:
  BucketPadder(func::FuncOp function, StringRef name, ArrayRef<int64_t> buckets)
      : function(function), buckets(buckets), size(Dim::symbol(function.getContext(), name)), b(function.getContext()) {
  }

  /// The operation that forbids it, and why; null and no reason if sizes are padded now.
  std::pair<Operation *, std::string> run() {
    bool isBoundToSizes = false;
    for (Operation &op : function.getBody().getOps()) {
      if (std::string reason = refusal(&op); !reason.empty())
        return {&op, reason};
      isBoundToSizes |= isa<MatMulOp, LibraryOp>(op) && isTouched(&op);
    }
    for (BlockArgument argument : function.getArguments())
      if (isPadded(argument.getType()))
        padded.push_back(argument);
    if (padded.empty())
      return {function, "no argument has this size"};
    if (!isBoundToSizes)
      return {function, "nothing in it is bound to a size: kernels take any"};
    rewrite();
    return {nullptr, ""};
  }

private:
  bool isPadded(Dim dim) const { return dim == size; }
  bool isPadded(Type type) const {
    auto tensor = dyn_cast<TensorType>(type);
    return tensor && llvm::any_of(tensor.getDims(), [&](Dim d) { return isPadded(d); });
  }
  bool isPadded(Value value, int64_t axis) const { return isPadded(tensorTypeOf(value).getDim(axis)); }
  bool isTouched(Operation *op) const {
    auto test = [&](Type type) { return isPadded(type); };
    return llvm::any_of(op->getOperandTypes(), test) || llvm::any_of(op->getResultTypes(), test);
  }

  /// Whether an operand's axes, counted from the last but `drop` on both sides, are padded where those of the result
  /// are, or stretch.
  bool isAligned(Value operand, Value result, int64_t drop = 0) const {
    TensorType from = tensorTypeOf(operand), to = tensorTypeOf(result);
    for (int64_t i = 1 + drop; i <= from.getRank(); ++i) {
      Dim dim = from.getDim(from.getRank() - i);
      bool wanted = i <= to.getRank() && isPadded(to.getDim(to.getRank() - i));
      if (isPadded(dim) != wanted && !(wanted && dim.is(1)))
        return false;
    }
    return true;
  }
  bool isSameAxes(Value operand, Value result, int64_t except = -1) const {
    for (int64_t axis = 0; axis < tensorTypeOf(operand).getRank(); ++axis)
      if (axis == except ? isPadded(operand, axis) || isPadded(result, axis)
                         : isPadded(operand, axis) != isPadded(result, axis))
        return false;
    return true;
  }
  /// One padded axis on either side, with as many elements before it.
  bool keepsRows(ReshapeOp op) const {
    auto rowsOf = [&](Value v) -> std::optional<Dim> {
      std::optional<Dim> rows;
      Dim count = Dim::number(op.getContext(), 1);
      for (Dim dim : tensorTypeOf(v).getDims()) {
        if (isPadded(dim) && rows)
          return std::nullopt;
        if (isPadded(dim))
          rows = count;
        count = count * dim;
      }
      return rows;
    };
    auto from = rowsOf(op.getX()), to = rowsOf(op.getResult());
    return from && to && *from == *to && !from->isUnknown();
  }
  bool isReduced(Operation *op, Value x) const {
    return llvm::any_of(op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef(),
                        [&](int64_t axis) { return isPadded(x, axis); });
  }
  bool contractsPadded(MatMulOp op) const {
    int64_t lhs = tensorTypeOf(op.getLhs()).getRank(), rhs = tensorTypeOf(op.getRhs()).getRank();
    return isPadded(op.getLhs(), lhs - 1) || isPadded(op.getRhs(), std::max<int64_t>(rhs - 2, 0));
  }

  /// Why padding is not known to be harmless for an operation; empty if it is.
  std::string refusal(Operation *op) const {
    if (!isTouched(op) || isa<func::ReturnOp, cf::BranchOp, cf::CondBranchOp, DimOp, UseOp, FullOp, IotaOp, PermuteOp,
                              ViewAsRealOp, ViewAsComplexOp, PartOp, PackOp>(op))
      return "";
    auto unless = [](bool harmless, StringRef reason) { return harmless ? std::string() : reason.str(); };
    StringRef mixes = "it mixes what stands along this size";
    if (op->hasTrait<OpTrait::Elementwise>() || isa<BroadcastOp>(op)) {
      if (!isMemoryEffectFree(op))
        return "it may fail for elements that are padding";
      bool isBroadcast = isa<BroadcastOp>(op);
      return unless(llvm::all_of(isBroadcast ? op->getOperands().take_front() : op->getOperands(),
                                 [&](Value v) { return isAligned(v, op->getResult(0)); }),
                    mixes);
    }
    if (auto relabel = dyn_cast<RelabelOp>(op))
      return unless(isSameAxes(relabel.getX(), relabel), "the size is also known by another name");
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return unless(keepsRows(reshape), mixes);
    if (auto slice = dyn_cast<SliceOp>(op)) {
      for (auto [axis, step] : llvm::enumerate(slice.getSteps()))
        if (isPadded(slice.getX(), axis) && step != 1)
          return mixes.str();
      return unless(isSameAxes(slice.getX(), slice),
                    mixes); // as many elements as there are, one after the other, begin with the first
    }
    if (auto concat = dyn_cast<ConcatOp>(op))
      return unless(llvm::all_of(concat.getParts(), [&](Value v) { return isSameAxes(v, concat, concat.getAxis()); }),
                    mixes);
    if (auto pad = dyn_cast<PadOp>(op)) {
      for (int64_t axis = 0; axis < tensorTypeOf(pad.getX()).getRank(); ++axis)
        if (isPadded(pad.getX(), axis) && (pad.getLow()[axis] || pad.getHigh()[axis]))
          return mixes.str();
      return unless(isSameAxes(pad.getX(), pad), mixes);
    }
    if (op->hasTrait<OpTrait::Reduction>())
      return unless(!isReduced(op, op->getOperand(0)), mixes);
    if (isa<CumSumOp, CumProdOp, SortOp, ArgSortOp>(op))
      return unless(!isPadded(op->getOperand(0), op->getAttrOfType<IntegerAttr>("axis").getInt()), mixes);
    if (auto product = dyn_cast<MatMulOp>(op)) {
      bool aligned = tensorTypeOf(product.getLhs()).getRank() < 2 || tensorTypeOf(product.getRhs()).getRank() < 2 ||
                     (isAligned(product.getLhs(), product, 2) && isAligned(product.getRhs(), product, 2));
      return unless(!contractsPadded(product) && aligned, "it sums over this size");
    }
    if (auto call = dyn_cast<LibraryOp>(op);
        call && llvm::is_contained({"fft", "ifft", "rfft", "irfft"}, call.getFunction())) {
      int64_t axis = call.getParameters()[0];
      return unless(!isPadded(call.getOperand(0), axis) && isSameAxes(call.getOperand(0), call.getResult(0), axis),
                    mixes);
    }
    return "it is not known to compute rows on their own";
  }

  Value integer(int64_t n) { return integerConstant(b, loc, n); }
  TensorType integerType() { return TensorType::scalar(b.getContext(), DType::I64); }
  template <typename Op> Value arith(Value x, Value y) { return Op::create(b, loc, integerType(), x, y); }
  Value choose(Value less, Value than, Value yes, Value no) {
    Value condition = LeOp::create(b, loc, TensorType::scalar(b.getContext(), DType::Bool), less, than);
    return WhereOp::create(b, loc, integerType(), condition, yes, no);
  }
  SmallVector<Value> sizesOf(Value x) {
    SmallVector<Value> out;
    for (int64_t axis = 0; axis < tensorTypeOf(x).getRank(); ++axis)
      out.push_back(DimOp::create(b, loc, integerType(), x, axis));
    return out;
  }

  /// The smallest bucket that holds n, unless more than half of it (of small ones: 256 rows) would be padding; then,
  /// and above all buckets, n.
  Value bucketOf(Value n) {
    Value chosen = n, most = arith<MaximumOp>(arith<AddOp>(n, n), arith<AddOp>(n, integer(256)));
    for (int64_t bucket : llvm::reverse(buckets))
      chosen = choose(n, integer(bucket), integer(bucket), chosen);
    chosen = choose(chosen, most, chosen, n);
    return choose(n, integer(0), n, chosen);
  }

  void rewrite() {
    Block &entry = function.getBody().front();
    SmallVector<Operation *> operations =
        llvm::map_to_vector(function.getBody().getOps(), [](Operation &op) { return &op; });
    b.setInsertionPointToStart(&entry);
    loc = function.getLoc();
    SmallVector<Dim> dims = tensorTypeOf(padded[0]).getDims();
    int64_t axisOfSize = llvm::find(dims, size) - dims.begin();
    Value real = DimOp::create(b, loc, integerType(), padded[0], axisOfSize);
    Value rest = arith<SubOp>(bucketOf(real), real);
    Dim restSize = fresh("rest"), bucket = fresh("bucket");
    auto enlarged = [&](Type type) {
      auto tensor = dyn_cast<TensorType>(type);
      return isPadded(type) ? Type(tensor.withDims(llvm::map_to_vector(
                                  tensor.getDims(), [&](Dim d) { return isPadded(d) ? bucket : d; })))
                            : type;
    };
    SmallVector<std::pair<Value, Value>> entries;
    for (Value argument : padded) {
      Value x = argument;
      for (int64_t axis = 0; axis < tensorTypeOf(argument).getRank(); ++axis) {
        if (!isPadded(argument, axis))
          continue;
        SmallVector<Value> sizes = sizesOf(x);
        SmallVector<Dim> dims = tensorTypeOf(x).getDims();
        sizes[axis] = rest;
        dims[axis] = restSize;
        Value zeros = FullOp::create(b, loc, tensorTypeOf(x).withDims(dims),
                                     zeroConstant(b, loc, tensorTypeOf(x).getDtype()), sizes);
        dims[axis] = size + restSize;
        x = ConcatOp::create(b, loc, tensorTypeOf(x).withDims(dims), ValueRange{x, zeros}, axis);
        dims[axis] = bucket;
        x = RelabelOp::create(b, loc, tensorTypeOf(x).withDims(dims), x);
      }
      entries.emplace_back(argument, x);
    }
    Value count = DimOp::create(b, loc, integerType(), entries[0].second, axisOfSize);
    SmallPtrSet<Operation *, 32> given(operations.begin(), operations.end());
    for (auto [argument, x] : entries)
      argument.replaceUsesWithIf(x, [&](OpOperand &use) { return given.contains(use.getOwner()); });
    for (Block &block : llvm::drop_begin(function.getBody()))
      for (BlockArgument argument : block.getArguments())
        argument.setType(enlarged(argument.getType()));
    for (Operation *op : operations) {
      if (auto dim = dyn_cast<DimOp>(op); dim && tensorTypeOf(dim.getX()).getDim(dim.getAxis()) == bucket)
        dim.replaceAllUsesWith(real); // the true one
      if (isa<ReshapeOp, BroadcastOp, FullOp, IotaOp, SliceOp>(op)) {
        TensorType type = tensorTypeOf(op->getResult(0));
        for (auto [axis, dim] : llvm::enumerate(type.getDims()))
          if (isPadded(dim))
            op->setOperand(op->getNumOperands() - type.getRank() + axis, count);
      }
      if (auto done = dyn_cast<func::ReturnOp>(op)) {
        for (OpOperand &result : done->getOpOperands())
          cut(result, bucket, real);
        continue;
      }
      for (Value result : op->getResults())
        result.setType(enlarged(result.getType()));
    }
  }

  /// The first rows of a result.
  void cut(OpOperand &result, Dim bucket, Value real) {
    auto type = dyn_cast<TensorType>(result.get().getType());
    if (!type || !llvm::is_contained(type.getDims(), bucket))
      return;
    b.setInsertionPoint(result.getOwner());
    loc = result.getOwner()->getLoc();
    SmallVector<Value> bounds(type.getRank(), integer(0)), counts = sizesOf(result.get());
    SmallVector<Dim> dims = type.getDims();
    for (auto [dim, count] : llvm::zip_equal(dims, counts))
      if (dim == bucket) {
        dim = size;
        count = real;
      }
    bounds.append(counts);
    result.set(
        SliceOp::create(b, loc, type.withDims(dims), result.get(), bounds, SmallVector<int64_t>(type.getRank(), 1)));
  }

  Dim fresh(StringRef what) {
    llvm::StringSet<> names;
    auto collect = [&](Type type) {
      if (auto tensor = dyn_cast<TensorType>(type))
        for (Dim dim : tensor.getDims())
          dim.collectSymbols([&](StringRef name) { names.insert(name); });
    };
    function.walk([&](Operation *op) { llvm::for_each(op->getResultTypes(), collect); });
    llvm::for_each(function.getArgumentTypes(), collect);
    std::string name = (size.symbolName() + "_" + what).str();
    while (names.contains(name))
      name += "_";
    return Dim::symbol(function.getContext(), name);
  }

  func::FuncOp function;
  ArrayRef<int64_t> buckets;
  Dim size;
  OpBuilder b;
  Location loc = b.getUnknownLoc();
  SmallVector<Value> padded; ///< arguments
};

struct PadToBucketsPass : impl::PadToBucketsBase<PadToBucketsPass> {
  PadToBucketsPass() = default;
  explicit PadToBucketsPass(RecognitionLog *log) : log(log) {}

  void runOnOperation() override {
    auto sizes = getOperation()->getAttrOfType<DictionaryAttr>("toy.buckets");
    if (!sizes)
      return;
    for (NamedAttribute row : sizes) {
      auto [op, reason] = BucketPadder(getOperation(), row.getName(), cast<DenseI64ArrayAttr>(row.getValue())).run();
      if (!op)
        continue;
      if (log)
        log->notPadded.push_back({op->getLoc(), row.getName().str(), reason});
      else
        op->emitRemark() << "`" << row.getName().getValue() << "` is not padded to buckets: " << reason;
    }
  }

  RecognitionLog *log = nullptr;
};

} // namespace

std::unique_ptr<Pass> createPadToBuckets(RecognitionLog *log) { return std::make_unique<PadToBucketsPass>(log); }

} // namespace toy

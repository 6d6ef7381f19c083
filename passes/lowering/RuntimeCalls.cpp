// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations of the runtime that compiled code calls by name, with objects and numbers in registers.
#include "passes/lowering/FunctionEmitter.h"

#include "ir/Consumption.h"

#include "runtime/FormatField.h"
#include "runtime/Random.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;

namespace toy {

/// What a call gets behind its objects: numbers from attributes, then the operands behind the first `objects`.
struct RuntimeCall {
  unsigned objects;
  SmallVector<int64_t, 4> attributes;
};

static int64_t numberOf(StringRef dtype) {
  return static_cast<int64_t>(*dtypeNamed(std::string_view(dtype.data(), dtype.size())));
}

static int64_t distributionNumber(StringRef distribution) {
  return static_cast<int64_t>(*rt::distributionNamed(std::string_view(distribution)));
}

/// The number of a function of text; none of those about files and screens, which ranks share.
static std::optional<int64_t> textRow(TextOp op) {
  static constexpr std::pair<StringRef, bool> rows[] = {
#define TOY_TEXT(NAME, PARAMETERS, RESULT) {#NAME, true},
#define TOY_TEXT_OF_WORLD(NAME, PARAMETERS, RESULT) {#NAME, false},
#include "ir/Text.def"
  };
  for (auto [i, row] : enumerate(rows))
    if (op.getFunction() == row.first && row.second)
      return static_cast<int64_t>(i);
  return std::nullopt;
}

static RuntimeCall runtimeCallOf(mlir::Operation *op) {
  using Call = RuntimeCall;
  unsigned all = op->getNumOperands();
  return TypeSwitch<mlir::Operation *, Call>(op)
      .Case<SortOp, ArgSortOp>(
          [](auto o) { return Call{1, {static_cast<int64_t>(o.getAxis()), o.getDescending(), !o.getPart().empty()}}; })
      .Case<CumSumOp, CumProdOp, TakeAlongOp, PutAlongOp>(
          [&](auto o) { return Call{all, {static_cast<int64_t>(o.getAxis())}}; })
      .Case([&](TakeOp o) { return Call{all, {o.getAxes()[0], static_cast<int64_t>(o.getIndices().size())}}; })
      .Case([&](TakeStoreOp o) { return Call{all, {o.getAxes()[0], static_cast<int64_t>(o.getIndices().size())}}; })
      .Case([](SliceStoreOp o) {
        Call call{2, {static_cast<int64_t>(o.getSteps().size())}};
        append_range(call.attributes, o.getSteps());
        return call;
      })
      .Case([&](SampleOp o) {
        return Call{3,
                    {distributionNumber(o.getDistribution()), numberOf(o.getDtype()),
                     static_cast<int64_t>(o.getSizes().size())}};
      })
      .Case([](PermutationOp) { return Call{1, {}}; })
      .Case([&](TextOp o) { return Call{all, {*textRow(o)}}; })
      .Case<StrSliceOp, ListSliceOp, ShortenOp>([](auto) { return Call{1, {}}; })
      .Case([](StrConstantOp o) { return Call{0, {static_cast<int64_t>(o.getValue().size())}}; })
      .Case([](ReadBinaryOp o) { return Call{1, {numberOf(o.getDtype()), static_cast<int64_t>(o.getSizes().size())}}; })
      .Default([&](mlir::Operation *) { return Call{all, {}}; });
}

static StringRef runtimeNameOf(mlir::Operation *op) {
  static const DenseMap<mlir::TypeID, StringRef> names = {
#define TOY_RUNTIME_CALL(OPERATION, NAME) {mlir::TypeID::get<OPERATION>(), "toy_rt_" #NAME},
#include "jit/RuntimeCalls.def"
  };
  return names.lookup(op->getName().getTypeID());
}

/// `toy_rt_draw(distribution, dtype, a, b)`: the bits of a number, in as many low bits as it has.
bool FunctionEmitter::emitDraw(DrawOp op) {
  DType dtype = *dtypeNamed(std::string_view(op.getDtype()));
  if (isComplex(dtype))
    return false;
  setSite(op);
  auto bits = [&](mlir::Value v) { return b.CreateBitCast(slots[v].scalar.re, b.getInt64Ty()); };
  Value *given = scalars.call("toy_rt_draw", b.getInt64Ty(),
                              {b.getInt64(distributionNumber(op.getDistribution())),
                               b.getInt64(static_cast<int64_t>(dtype)), bits(op.getA()), bits(op.getB())});
  if (dtype == DType::F32)
    given = b.CreateTrunc(given, b.getInt32Ty());
  slots[op.getResult()].scalar = {b.CreateBitCast(given, scalars.partType(dtype))};
  return true;
}

/// `toy_rt_NAME(objects, numbers)`: gives an object, or a number where the result is one.
bool FunctionEmitter::emitRuntimeCall(mlir::Operation *op) {
  if (auto draw = dyn_cast<DrawOp>(op))
    return emitDraw(draw);
  StringRef name = runtimeNameOf(op);
  bool isNumber = isa<StrEqOp, StrLenOp>(op);
  if (name.empty() || tables.valuesMoveAway || (isa<ToStrOp>(op) && isa<StrType>(op->getOperand(0).getType())))
    return false;
  if (auto sample = dyn_cast<SampleOp>(op); sample && sample.getInParts())
    return false;
  if (auto text = dyn_cast<TextOp>(op)) {
    if (!textRow(text))
      return false;
    isNumber = !isObject(text.getResult());
    name = isNumber ? "toy_rt_text_number" : name;
  }
  setSite(op);
  RuntimeCall call = runtimeCallOf(op);
  SmallVector<Value *> numbers = map_to_vector(call.attributes, [&](int64_t n) -> Value * { return b.getInt64(n); });
  for (mlir::Value v : op->getOperands().drop_front(call.objects))
    numbers.push_back(slots[v].scalar.re);
  auto [objects, boxed] = passObjects(op->getOperands().take_front(call.objects), op, takesFirst(op));
  if (auto constant = dyn_cast<StrConstantOp>(op)) // its bytes are the object
    b.CreateStore(b.CreateGlobalString(constant.getValue(), "", 0, &module, /*AddNull=*/false), objects);
  mlir::Value result = op->getResult(0);
  Value *given =
      scalars.call(name, isNumber ? b.getInt64Ty() : static_cast<Type *>(b.getPtrTy()), {objects, sizesArray(numbers)});
  for (Value *object : boxed)
    scalars.call("toy_rt_release", b.getVoidTy(), {object})->setDoesNotThrow();
  if (isNumber)
    slots[result].scalar = {tensorTypeOf(result).getDtype() == DType::Bool ? b.CreateTrunc(given, b.getInt1Ty())
                                                                           : given};
  else
    slots[result] = isObject(result) ? Slot{given, {}} : unbox(result.getType(), given);
  return true;
}

/// What a format string is to the runtime; nothing where a field is a tuple or a struct.
static std::optional<std::string> planOf(FormatOp op) {
  if (op.getStructure().find_first_not_of("_;") != StringRef::npos)
    return std::nullopt;
  rt::FormatPlan plan;
  unsigned operand = 0;
  for (auto [i, piece] : enumerate(op.getPieces().getAsValueRange<mlir::StringAttr>())) {
    plan.piece(std::string_view(piece));
    if (i == op.getSpecs().size())
      return plan.finish();
    mlir::Type type = op.getValues()[operand].getType();
    auto tensor = dyn_cast<TensorType>(type);
    StringRef spec = cast<mlir::StringAttr>(op.getSpecs()[i]).getValue();
    auto kind = !tensor ? rt::FormatPlan::Text : tensor.isScalar() ? rt::FormatPlan::Scalar : rt::FormatPlan::Tensor;
    if (isa<ListType>(type) || !plan.field(kind, tensor ? tensor.getDtype() : DType::F64, std::string_view(spec)))
      return std::nullopt;
    operand += 1 + spec.count("{}");
  }
  llvm_unreachable("a text stands behind the last field");
}

/// What `print` shows of a scalar.
static std::optional<std::string> planOf(ToStrOp op) {
  auto tensor = dyn_cast<TensorType>(op.getValue().getType());
  if (!tensor || !tensor.isScalar())
    return std::nullopt;
  rt::FormatPlan plan;
  plan.piece("");
  plan.field(rt::FormatPlan::Scalar, tensor.getDtype(), "");
  plan.piece("");
  return plan.finish();
}

void FunctionEmitter::emit(FormatOp op) {
  if (auto plan = planOf(op); plan && !tables.valuesMoveAway)
    emitFormat(op, *plan);
  else
    emitEval(op);
}

void FunctionEmitter::emit(ToStrOp op) {
  if (auto plan = planOf(op); plan && !tables.valuesMoveAway)
    emitFormat(op, *plan);
  else if (!emitRuntimeCall(op))
    emitEval(op);
}

/// `toy_rt_format(plan, words)`: an element's bytes, an object or a number in every second word.
void FunctionEmitter::emitFormat(mlir::Operation *op, StringRef plan) {
  setSite(op);
  Value *words = stackArray(b.getInt64Ty(), 2 * static_cast<int64_t>(op->getNumOperands()));
  for (auto [i, v] : enumerate(op->getOperands())) {
    Value *at = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), words, 2 * i);
    if (isObject(v))
      b.CreateStore(slots[v].object, at);
    else
      scalars.store(tensorTypeOf(v).getDtype(), at, b.getInt64(0), slots[v].scalar);
  }
  slots[op->getResult(0)].object = scalars.call("toy_rt_format", b.getPtrTy(),
                                                {b.CreateGlobalString(plan, "", 0, &module, /*AddNull=*/false), words});
}

} // namespace toy

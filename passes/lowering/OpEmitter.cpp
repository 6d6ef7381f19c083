// SPDX-License-Identifier: Apache-2.0
/// \file
/// Single operations: scalars inline, groups as kernels, products as BLAS calls, views as headers; everything else is
/// executed by the runtime through one generic call.
#include "ir/Constants.h"
#include "ir/Consumption.h"
#include "passes/RowLanes.h"
#include "passes/lowering/FunctionEmitter.h"
#include "passes/lowering/LentArguments.h"
#include "passes/lowering/SizeEmitter.h"

#include "runtime/Value.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace toy {

Value *FunctionEmitter::stackArray(Type *type, int64_t count) {
  return b.CreateAlloca(type, b.getInt32(std::max<int64_t>(count, 1)));
}

/// Leaves the operation's place for errors. Only operations that can fail pay for it.
void FunctionEmitter::setSite(mlir::Operation *op, bool isRare) {
  Value *number = siteNumber(op->getLoc(), isRare), *site = module.getOrInsertGlobal("toy_rt_site", b.getInt64Ty());
  b.CreateStore(number, site);
}

/// A word of the module's data, which never changes. What hardly ever needs it does not read it before loops, where it
/// would take a register.
Value *FunctionEmitter::tableWord(StringRef table, int64_t index, Type *type, bool isRare) {
  Value *words = module.getOrInsertGlobal(table, b.getInt64Ty());
  LoadInst *word = b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), words, index), isRare);
  if (!isRare)
    word->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(b.getContext(), {}));
  return word;
}

Value *FunctionEmitter::siteNumber(mlir::Location place, bool isRare) {
  tables.sites.push_back(place);
  return b.CreateAdd(tableWord("toy.data", 0, b.getInt64Ty(), isRare), b.getInt64(tables.sites.size() - 1));
}

Value *FunctionEmitter::sizeOf(mlir::Value tensor, int64_t axis) {
  Dim dim = tensorTypeOf(tensor).getDim(axis);
  if (dim.isNumber())
    return b.getInt64(dim.value());
  bool hasName =
      !dim.isUnknown() && current && tensor.getParentRegion() == &function.getBody() && hasLocalSizes(tensor);
  if (Value *known = ownSizes.lookup({tensor, axis}))
    return known;
  if (hasName)
    for (auto [block, known] : sizes[dim])
      if (dominance.dominates(block, current))
        return known;
  Value *at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), slots[tensor].object, offsetof(rt::Tensor, sizes) + 8 * axis);
  LoadInst *size = readHeader(b.getInt64Ty(), at);
  size->setMetadata(LLVMContext::MD_range,
                    MDBuilder(b.getContext()).createRange(APInt(64, 0), APInt(64, largestSize + 1)));
  if (hasName)
    sizes[dim].push_back({current, size});
  return size;
}

Value *FunctionEmitter::sizesArray(ArrayRef<Value *> sizes) {
  Value *array = stackArray(b.getInt64Ty(), sizes.size());
  for (auto [i, size] : enumerate(sizes))
    b.CreateStore(size, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), array, i));
  return array;
}

/// A value as an object: scalars get a new one.
Value *FunctionEmitter::box(mlir::Value v) {
  if (slots[v].object)
    return slots[v].object;
  auto type = dyn_cast<TensorType>(v.getType());
  DType dtype = type ? type.getDtype() : DType::Bool; // i1 of toy.truth
  Value *memory = stackArray(b.getDoubleTy(), 2);
  scalars.store(dtype, memory, b.getInt64(0), slots[v].scalar);
  return scalars.call("toy_rt_box", b.getPtrTy(), {b.getInt64(static_cast<int>(dtype)), memory});
}

/// The scalar in an object, which is given up.
Slot FunctionEmitter::unbox(mlir::Type type, Value *object) {
  auto tensor = cast<TensorType>(type);
  if (tables.valuesMoveAway)
    scalars.call("toy_rt_on_host", b.getVoidTy(), {object});
  Value *data =
      b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), object, offsetof(rt::Tensor, data)));
  Slot slot{nullptr, scalars.load(tensor.getDtype(), data, b.getInt64(0))};
  scalars.call("toy_rt_release", b.getVoidTy(), {object})->setDoesNotThrow();
  return slot;
}

/// An input whose memory the result may take: read where it is written only, and for the last time.
Value *FunctionEmitter::reusableInput(FusedOp op) {
  if (isa<FusedOp>(op->getParentOp())) // its values live on
    return nullptr;
  SmallVector<unsigned> aligned = KernelEmitter::alignedInputs(op);
  for (unsigned i : aligned) {
    mlir::Value input = op.getInputs()[i];
    auto readsAligned = [&](auto indexed) {
      return indexed.value() != input || llvm::is_contained(aligned, indexed.index());
    };
    if (isObject(input) && !isBorrowed(input) && diesAt(input, op) && all_of(enumerate(op.getInputs()), readsAligned))
      return slots[input].object;
  }
  return nullptr;
}

void FunctionEmitter::bringToHost(mlir::Value v) {
  if (tables.valuesMoveAway && isa<TensorType>(v.getType()) && isObject(v))
    scalars.call("toy_rt_on_host", b.getVoidTy(), {slots[v].object});
}

SmallVector<Slot, 1> FunctionEmitter::emitLoops(FusedOp op, ArrayRef<Slot> inputs, Value *reusable,
                                                const std::string &name) {
  mlir::Block &body = op.getBody().front();
  if (!isa<FusedOp>(body.front())) {
    KernelEmitter kernel(module, op, b, inputs, reusable, name, ownPlaces());
    kernel.isInRows = !tables.device && isa<FusedOp>(op->getParentOp());
    constexpr int mostFolds = 32;
    kernel.foldsHere = !op->hasAttr("toy.inLoop") || folds++ < mostFolds;
    kernel.frame = isa<FusedOp>(op->getParentOp()) ? nullptr : frameOf(op.getResult(0));
    return {kernel.emit()};
  }
  for (auto [argument, slot] : zip_equal(body.getArguments(), inputs))
    slots[argument] = slot;
  const bool areRows = !tables.device; // whose loops go over memory together, at the end
  SmallVector<mlir::Value> over;
  if (areRows)
    scalars.call("toy_rt_drop_row_loops", b.getVoidTy(), {})->setDoesNotThrow();
  for (FusedOp inner : body.getOps<FusedOp>()) {
    emit(inner);
    SmallPtrSet<void *, 8> done;
    for (mlir::Value v : inner.getInputs())
      if (v.getDefiningOp() && done.insert(v.getAsOpaquePointer()).second &&
          llvm::none_of(v.getUsers(), [&](mlir::Operation *user) { return inner->isBeforeInBlock(user); })) {
        if (areRows)
          over.push_back(v);
        else
          release(v);
      }
  }
  if (areRows)
    scalars.call("toy_rt_run_row_loops", b.getVoidTy(), {});
  for (mlir::Value v : over)
    release(v);
  return map_to_vector<1>(body.getTerminator()->getOperands(), [&](mlir::Value v) { return slots[v]; });
}

/// On the device if the runtime says so, else here.
void FunctionEmitter::emit(FusedOp op) {
  SmallVector<Slot> inputs;
  for (mlir::Value v : op.getInputs())
    inputs.push_back(slots[v]);
  const bool leaves = op->hasAttr(leavesLanes);
  auto lanes = op->getAttrOfType<mlir::IntegerAttr>(rowLanes);
  if (!lanes || leaves) // others fail nowhere
    setSite(op);
  if (lanes) {
    for (mlir::Value v : op.getInputs())
      bringToHost(v);
    KernelEmitter row(module, op, b, inputs, nullptr, "", ownPlaces());
    row.frame = leaves ? frameOf(op.getResult(0)) : nullptr;
    auto elements = op->getAttrOfType<mlir::IntegerAttr>(rowElements);
    slots[op.getResult(0)] = row.emitInLanes(lanes.getInt(), elements ? elements.getInt() : 0, leaves);
    return;
  }
  std::string name = (function.getSymName() + ".k" + std::to_string(kernels++)).str();
  auto outer = dyn_cast<FusedOp>(op->getParentOp());
  if (!tables.device || !KernelEmitter::isForDevice(op) || (outer && KernelEmitter::isAlwaysByRows(outer))) {
    for (mlir::Value v : op.getInputs())
      bringToHost(v);
    for (auto [result, computed] : zip_equal(op.getResults(), emitLoops(op, inputs, reusableInput(op), name)))
      slots[result] = computed;
    return;
  }
  size_t count = op.getNumResults();
  IRBuilder<> entry(&f->getEntryBlock(), f->getEntryBlock().begin());
  Value *others = entry.CreateAlloca(b.getPtrTy(), b.getInt32(count));
  Value *object = KernelEmitter(tables.device->module, op, b, inputs, nullptr, name)
                      .emitLaunch(*tables.device, siteNumber(op.getLoc()), others);
  BasicBlock *here = BasicBlock::Create(b.getContext(), "", f), *there = BasicBlock::Create(b.getContext(), "", f),
             *join = BasicBlock::Create(b.getContext(), "", f);
  b.CreateCondBr(b.CreateIsNull(object), here, there);
  b.SetInsertPoint(there);
  SmallVector<Slot> launched;
  for (auto [i, result] : enumerate(op.getResults())) {
    Value *own =
        i == 0 ? object : b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), others, i - 1));
    launched.push_back(isObject(result) ? Slot{own, {}} : unbox(result.getType(), own));
  }
  BasicBlock *thereEnd = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(here);
  for (mlir::Value v : op.getInputs())
    bringToHost(v);
  SmallVector<Slot, 1> computed = emitLoops(op, inputs, reusableInput(op), name);
  BasicBlock *hereEnd = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(join);
  for (auto [result, x, y] : zip_equal(op.getResults(), launched, computed))
    slots[result] = {merged(b, x.object, thereEnd, y.object, hereEnd),
                     merged(b, x.scalar, thereEnd, y.scalar, hereEnd)};
}

void FunctionEmitter::emitOp(mlir::Operation *op) {
  if (op->hasAttr("packed") && !isa<ConstantOp>(op))
    return emitEval(op);
  TypeSwitch<mlir::Operation *>(op)
      .Case<ConstantOp, FusedOp, DimOp, RelabelOp, TruthOp, CheckIndexOp, CheckSizeOp, CheckEqualOp, AssertOp,
            SizeValueOp, ElementOp, ElementSetOp, FromElementsOp, UniqueOp, AppendOp, ShortenOp, ListLenOp,
            ListElementOp, ListAppendOp, ListSetOp, ListUniqueOp, ListOwnOp, GemmOp, PlanarGemmOp, SystemOp, AbsentOp,
            FormatOp, ToStrOp, mlir::func::CallOp>([&](auto known) { emit(known); })
      .Case<ReshapeOp, ViewAsRealOp, ViewAsComplexOp>([&](auto view) { emitView(view); })
      .Default([&](mlir::Operation *) {
        if (op->hasTrait<OpTrait::Elementwise>() && tensorTypeOf(op->getResult(0)).isScalar())
          emitScalar(op);
        else if (!emitRuntimeCall(op))
          emitEval(op);
      });
}

/// `x % 3 == 0`, or `!= 0`, where nothing else asks for the remainder; null for another operation. By a divisor that is
/// not known, a remainder is 0 where the processor's is, which may lack the divisor's sign.
Value *FunctionEmitter::emitMultiple(mlir::Operation *op) {
  auto remainder = isa<EqOp, NeOp>(op) ? op->getOperand(0).getDefiningOp<ModOp>() : ModOp();
  if (!remainder || constantInteger(op->getOperand(1)) != 0 ||
      tensorTypeOf(remainder.getLhs()).getDtype() != DType::I64)
    return nullptr;
  const std::optional<int64_t> divisor = constantInteger(remainder.getRhs());
  if (!divisor) {
    auto *made = dyn_cast<SelectInst>(slots[remainder].scalar.re); // as ScalarEmitter::anyIntegerDivision gives it
    auto *rest = made ? dyn_cast<BinaryOperator>(made->getFalseValue()) : nullptr;
    return rest && rest->getOpcode() == Instruction::SRem
               ? b.CreateICmp(isa<EqOp>(op) ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE, rest, b.getInt64(0))
               : nullptr;
  }
  if (*divisor <= 0 || !remainder->hasOneUse())
    return nullptr;
  Value *is = scalars.isMultiple(slots[remainder.getLhs()].scalar.re, *divisor);
  return isa<NeOp>(op) ? b.CreateNot(is) : is;
}

void FunctionEmitter::emitScalar(mlir::Operation *op) {
  if (Value *is = emitMultiple(op)) {
    slots[op->getResult(0)].scalar = {is};
    return;
  }
  if (isa<PowOp>(op))
    setSite(op);
  scalars.beforeFailure = [this, op] { setSite(op); };
  auto args = map_to_vector(op->getOperands(), [&](mlir::Value operand) { return slots[operand].scalar; });
  Element value = scalars.apply(op, args);
  slots[op->getResult(0)].scalar = value;
  if (auto *sum = dyn_cast<OverflowingBinaryOperator>(value.re); sum && op->hasAttr("toy.exact"))
    cast<Instruction>(sum)->setHasNoSignedWrap();
}

void FunctionEmitter::emit(DimOp op) { slots[op.getResult()].scalar = {sizeOf(op.getX(), op.getAxis())}; }

void FunctionEmitter::emit(TruthOp op) {
  Slot same = slots[op.getX()]; // the map may move when it grows
  slots[op.getResult()] = same;
}

void FunctionEmitter::emit(CheckSizeOp op) {
  Value *size = slots[op.getSize()].scalar.re;
  int64_t least = op.getReduced() ? 1 : 0;
  failUnless(b.CreateICmpULE(b.CreateSub(size, b.getInt64(least)), b.getInt64(largestSize - least)), op);
  slots[op.getResult()].scalar = {size};
}

void FunctionEmitter::emit(CheckEqualOp op) {
  failUnless(b.CreateICmpEQ(slots[op.getLhs()].scalar.re, slots[op.getRhs()].scalar.re), op);
}

void FunctionEmitter::emit(ConstantOp op) {
  auto value = cast<mlir::DenseElementsAttr>(op.getValue());
  TensorType type = tensorTypeOf(op.getResult());
  if (type.isScalar()) {
    slots[op.getResult()].scalar = scalars.constant(value, type.getDtype());
    return;
  }
  const bool runsOnce =
      !function->hasAttr("toy.name") && !function->hasAttr(triedCall) && function.getBody().hasOneBlock();
  if (runsOnce || tables.valuesMoveAway)
    return emitEval(op);
  if (emitTable(op))
    return;
  tables.constants.push_back(op);
  slots[op.getResult()].object = tableWord("toy.constants", tables.constants.size() - 1, b.getPtrTy());
  if (isOnlyRead(op.getResult(), op->getParentOfType<mlir::ModuleOp>()))
    borrowed.insert(op.getResult().getAsOpaquePointer());
  else
    retain(op.getResult());
}

void FunctionEmitter::emit(mlir::func::CallOp op) {
  if (op->hasAttr(triedCall))
    return emitTry(op);
  auto callee = op->getParentOfType<mlir::ModuleOp>().lookupSymbol<mlir::func::FuncOp>(op.getCallee());
  SmallVector<Value *> arguments;
  auto isLentTo = [&](mlir::OpOperand &operand) {
    return !callee.isExternal() && isLent(callee.getArgument(operand.getOperandNumber()));
  };
  SmallPtrSet<void *, 8> given; // or lent: then this function's reference lasts until the call returns
  for (mlir::OpOperand &operand : op->getOpOperands())
    if (isLentTo(operand) || isBorrowed(operand.get()))
      given.insert(operand.get().getAsOpaquePointer());
  for (mlir::OpOperand &operand : op->getOpOperands()) {
    mlir::Value v = operand.get();
    append(arguments, v);
    if (!isObject(v) || isLentTo(operand))
      continue;
    // The callee owns its arguments: the reference itself when this is the last use.
    if (diesAt(v, op) && given.insert(v.getAsOpaquePointer()).second)
      moved.insert(v.getAsOpaquePointer());
    else
      retain(v);
  }
  arguments.push_back(enterCall(op));
  BasicBlock *on = BasicBlock::Create(b.getContext(), "", f);
  InvokeInst *call = b.CreateInvoke(declare(module, callee), on, unwindBlock(op), arguments);
  b.SetInsertPoint(on);
  if (tables.places)
    tables.places->tellReturn(b, *f, isLibrary);
  unsigned part = 0;
  bool single = !call->getType()->isStructTy();
  placeResults(op, [&] { return single ? static_cast<Value *>(call) : b.CreateExtractValue(call, part++); });
}

void FunctionEmitter::placeResults(mlir::Operation *op, function_ref<Value *()> next) {
  for (mlir::Value result : op->getResults()) {
    Slot &slot = slots[result] = Slot();
    if (isObject(result))
      slot.object = next();
    else {
      slot.scalar.re = next();
      if (tensorTypeOf(result).isComplex())
        slot.scalar.im = next();
    }
  }
}

/// The number of calls around a callee, which is its last argument; checked.
Value *FunctionEmitter::enterCall(mlir::func::CallOp op) {
  Value *depth = f->getArg(f->arg_size() - 1);
  scalars.rarely(b.CreateICmpUGE(depth, b.getInt64(mostCalls)), [&] {
    setSite(op);
    scalars.fail("toy_rt_too_deep", {});
  });
  return b.CreateNUWAdd(depth, b.getInt64(1));
}

/// Where an error that passes through a call notes its place: calls that return leave no trace.
BasicBlock *FunctionEmitter::unwindBlock(mlir::func::CallOp op) {
  if (!f->hasPersonalityFn())
    f->setPersonalityFn(cast<Constant>(
        module.getOrInsertFunction("__gxx_personality_v0", FunctionType::get(b.getInt32Ty(), true)).getCallee()));
  IRBuilderBase::InsertPointGuard guard(b);
  BasicBlock *pad = BasicBlock::Create(b.getContext(), "", f);
  b.SetInsertPoint(pad);
  LandingPadInst *caught = b.CreateLandingPad(StructType::get(b.getPtrTy(), b.getInt32Ty()), 0);
  caught->setCleanup(true);
  CallInst *note = scalars.call("toy_rt_passed", b.getVoidTy(), {siteNumber(op.getLoc())});
  note->setDoesNotThrow();
  note->addFnAttr(Attribute::Cold);
  b.CreateResume(caught);
  return pad;
}

/// The same elements under another header; scalars become or come from tensors of one element.
void FunctionEmitter::emitView(mlir::Operation *op) {
  setSite(op);
  mlir::Value x = op->getOperand(0), result = op->getResult(0);
  TensorType from = tensorTypeOf(x), to = tensorTypeOf(result);
  SmallVector<Value *> sizes;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    for (mlir::Value size : reshape.getSizes())
      sizes.push_back(slots[size].scalar.re);
  else {
    for (int64_t axis = 0; axis < std::min(from.getRank(), to.getRank()); ++axis)
      sizes.push_back(sizeOf(x, axis));
    if (isa<ViewAsRealOp>(op))
      sizes.push_back(b.getInt64(2));
  }
  if (from.isScalar() && to.isScalar()) {
    Slot same = slots[x]; // the map may move when it grows
    slots[result] = same;
    return;
  }
  Value *source = box(x);
  Value *object =
      scalars.call("toy_rt_view", b.getPtrTy(),
                   {source, b.getInt64(static_cast<int>(to.getDtype())), b.getInt64(to.getRank()), sizesArray(sizes)});
  if (from.isScalar())
    scalars.call("toy_rt_release", b.getVoidTy(), {source})->setDoesNotThrow();
  slots[result] = to.isScalar() ? unbox(to, object) : Slot{object, {}};
}

/// The runtime executes an operation, which fails, if a condition does not hold; the text of the error is made only
/// then.
void FunctionEmitter::failUnless(Value *condition, mlir::Operation *op) {
  if (condition == b.getTrue())
    return;
  scalars.rarely(b.CreateNot(condition), [&] {
    setSite(op);
    tables.operations.push_back(op);
    SmallVector<Value *> arguments = {tableWord("toy.data", tables.operations.size(), b.getPtrTy())};
    for (mlir::Value v : op->getOperands())
      arguments.push_back(isObject(v) ? slots[v].object : b.CreateZExt(slots[v].scalar.re, b.getInt64Ty()));
    auto *type = FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, /*isVarArg=*/true);
    scalars.markFailure(b.CreateCall(module.getOrInsertFunction("toy_rt_refuse", type), arguments));
  });
}

void FunctionEmitter::emit(AssertOp op) { failUnless(slots[op.getCondition()].scalar.re, op); }

void FunctionEmitter::emit(SizeValueOp op) {
  auto operand = [&](StringRef name) { return slots[op.getOperand(*SizeValueOp::operandOf(name))].scalar.re; };
  SizeEmitter emitter(b, operand);
  Value *value = emitter.compute(op.getExpr()).value;
  if (!op->hasAttr("toy.exact"))
    failUnless(emitter.exact(), op);
  slots[op.getResult()].scalar = {value};
}

/// Operands as an array of objects, and those that were made for it, to be released. An operation that takes its first
/// one's reference gets it, or another one where the value lives on.
std::pair<Value *, SmallVector<Value *>> FunctionEmitter::passObjects(mlir::ValueRange operands, mlir::Operation *op,
                                                                      bool takesFirst) {
  Value *array = stackArray(b.getPtrTy(), operands.size());
  SmallVector<Value *> boxed;
  for (auto [i, v] : enumerate(operands)) {
    Value *object = box(v);
    if (!slots[v].object)
      boxed.push_back(object);
    if (takesFirst && i == 0 && isObject(v)) {
      if (count(op->getOperands(), v) == 1 && diesAt(v, op))
        moved.insert(v.getAsOpaquePointer());
      else
        retain(v);
    }
    b.CreateStore(object, b.CreateConstInBoundsGEP1_64(b.getPtrTy(), array, i));
  }
  return {array, boxed};
}

/// `toy_rt_eval(operation, operands, results)`: the runtime executes the operation on objects. Updates take their first
/// operand's reference.
void FunctionEmitter::emitEval(mlir::Operation *op) {
  bool isSum = isa<AllReduceOp>(op) && !op->hasAttr("packed"); // which loops wait for: without the evaluator's frame
  callWithObjects(isSum ? "toy_rt_all_reduce" : "toy_rt_eval", op, op->getOperands(), takesFirst(op));
}

/// `function(operation, operands, results, more…)`.
void FunctionEmitter::callWithObjects(StringRef function, mlir::Operation *op, mlir::ValueRange given, bool takesFirst,
                                      ArrayRef<Value *> more) {
  setSite(op);
  Value *results = stackArray(b.getPtrTy(), op->getNumResults());
  auto [operands, boxed] = passObjects(given, op, takesFirst);
  tables.operations.push_back(op);
  Value *address = tableWord("toy.data", tables.operations.size(), b.getPtrTy());
  address->setName("eval." + op->getName().stripDialect());
  SmallVector<Value *> arguments = {address, operands, results};
  arguments.append(more.begin(), more.end());
  scalars.call(function, b.getVoidTy(), arguments);
  for (Value *object : boxed)
    scalars.call("toy_rt_release", b.getVoidTy(), {object})->setDoesNotThrow();
  for (auto [i, result] : enumerate(op->getResults())) {
    Value *object = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), results, i));
    slots[result] = isObject(result) ? Slot{object, {}} : unbox(result.getType(), object);
  }
}

} // namespace toy

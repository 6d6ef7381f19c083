// SPDX-License-Identifier: Apache-2.0
/// \file
/// Loads, stores, casts, arithmetic and comparisons of single elements. No fused contraction: the module sets no
/// fast-math flags.
#include "passes/lowering/ScalarEmitter.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace toy {

Value *merged(IRBuilder<> &b, Value *x, BasicBlock *endOfX, Value *y, BasicBlock *endOfY) {
  if (!x)
    return nullptr;
  PHINode *phi = b.CreatePHI(x->getType(), 2);
  phi->addIncoming(x, endOfX);
  phi->addIncoming(y, endOfY);
  return phi;
}

Type *ScalarEmitter::partType(DType dtype) const {
  switch (dtype) {
  case DType::Bool:
    return b.getInt1Ty();
  case DType::U8:
    return b.getInt8Ty();
  case DType::I32:
    return b.getInt32Ty();
  case DType::I64:
    return b.getInt64Ty();
  case DType::BF16:
  case DType::F16:
    return b.getInt16Ty(); // bits: never computed with
  case DType::F32:
  case DType::C64:
    return b.getFloatTy();
  case DType::F64:
  case DType::C128:
    return b.getDoubleTy();
  }
  llvm_unreachable("all dtypes are listed");
}

Type *ScalarEmitter::memoryType(DType dtype) const { return dtype == DType::Bool ? b.getInt8Ty() : partType(dtype); }

/// Elements lie behind the first one. Where LLVM takes such a sum apart it keeps that only if it is told that nothing
/// wraps, and without it reads every k-th element one by one.
static Value *addressOf(IRBuilder<> &b, Type *type, Value *data, Value *index) {
  return b.CreateGEP(type, data, index, "", GEPNoWrapFlags::inBounds() | GEPNoWrapFlags::noUnsignedWrap());
}
static std::pair<Value *, Value *> addressesOfParts(IRBuilder<> &b, Type *type, Value *data, Value *index) {
  Value *re = addressOf(b, type, data, b.CreateShl(index, 1, "", true, true));
  return {re, addressOf(b, type, re, b.getInt64(1))};
}

Element ScalarEmitter::load(DType dtype, Value *data, Value *index) {
  Type *type = memoryType(dtype);
  if (isComplex(dtype)) {
    const auto [re, im] = addressesOfParts(b, type, data, index);
    return {b.CreateLoad(type, re), b.CreateLoad(type, im)};
  }
  LoadInst *x = b.CreateLoad(type, addressOf(b, type, data, index));
  if (dtype != DType::Bool)
    return {x};
  // Bytes of bool are 0 or 1: where they are counted or folded, they are themselves.
  x->setMetadata(LLVMContext::MD_range, MDBuilder(b.getContext()).createRange(APInt(8, 0), APInt(8, 2)));
  return {b.CreateICmpNE(x, b.getInt8(0))};
}

void ScalarEmitter::store(DType dtype, Value *data, Value *index, Element value) {
  Type *type = memoryType(dtype);
  if (isComplex(dtype)) {
    const auto [re, im] = addressesOfParts(b, type, data, index);
    b.CreateStore(value.re, re);
    b.CreateStore(value.im, im);
    return;
  }
  Value *x = dtype == DType::Bool ? b.CreateZExt(value.re, b.getInt8Ty()) : value.re;
  b.CreateStore(x, addressOf(b, type, data, index));
}

Element ScalarEmitter::constant(mlir::DenseElementsAttr value, DType dtype, int64_t index) {
  if (value.isSplat())
    index = 0;
  Type *type = partType(dtype);
  if (isComplex(dtype)) {
    auto z = *(value.value_begin<std::complex<APFloat>>() + index);
    return {ConstantFP::get(type, z.real()), ConstantFP::get(type, z.imag())};
  }
  if (isHalf(dtype))
    return {ConstantInt::get(type, (*(value.value_begin<APFloat>() + index)).bitcastToAPInt())};
  if (isFloat(dtype))
    return {ConstantFP::get(type, *(value.value_begin<APFloat>() + index))};
  return {ConstantInt::get(type, *(value.value_begin<APInt>() + index))};
}

Element ScalarEmitter::real(DType dtype, double value) {
  Type *type = partType(dtype);
  if (isComplex(dtype))
    return {ConstantFP::get(type, value), ConstantFP::get(type, 0.0)};
  if (isHalf(dtype))
    return {ConstantInt::get(type, toy::toHalf(dtype, value))};
  if (isFloat(dtype))
    return {ConstantFP::get(type, value)};
  return {ConstantInt::get(type, static_cast<int64_t>(value), true)};
}

CallInst *ScalarEmitter::call(StringRef name, Type *result, ArrayRef<Value *> args, bool pure) {
  SmallVector<Type *> types;
  for (Value *arg : args)
    types.push_back(arg->getType());
  FunctionCallee callee = module.getOrInsertFunction(name, FunctionType::get(result, types, false));
  if (auto *function = dyn_cast<Function>(callee.getCallee()); function && pure) {
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setMemoryEffects(MemoryEffects::none());
  }
  return b.CreateCall(callee, args);
}

void ScalarEmitter::rarely(Value *condition, function_ref<void()> body) {
  Function *function = b.GetInsertBlock()->getParent();
  BasicBlock *rare = BasicBlock::Create(b.getContext(), "", function),
             *on = BasicBlock::Create(b.getContext(), "", function);
  b.CreateCondBr(condition, rare, on, MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  b.SetInsertPoint(rare);
  body();
  if (!b.GetInsertBlock()->getTerminator())
    b.CreateBr(on);
  b.SetInsertPoint(on);
}

void ScalarEmitter::fail(StringRef name, ArrayRef<Value *> args) { markFailure(call(name, b.getVoidTy(), args)); }

void ScalarEmitter::markFailure(CallInst *fail) {
  fail->setDoesNotReturn();
  fail->addFnAttr(Attribute::Cold);
  fail->addFnAttr(Attribute::NoMerge);
  b.CreateUnreachable();
}

Value *ScalarEmitter::libm(StringRef name, DType dtype, ArrayRef<Value *> args) {
  std::string symbol = name.str() + (dtype == DType::F32 ? "f" : "");
  return call(symbol, partType(dtype), args, /*pure=*/true);
}

/// f32 to and from the bits of halves by the processor (f16 on F16C, bf16 on a device) or by integers; other dtypes on
/// their way to a half are rounded once.
Value *ScalarEmitter::fromHalf(Value *bits, DType dtype) {
  if (dtype == DType::BF16)
    return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, b.getInt32Ty()), 16), b.getFloatTy());
  return b.CreateFPExt(b.CreateBitCast(bits, b.getHalfTy()), b.getFloatTy());
}
/// The bits of x where it is a bf16, widened, perhaps with another sign or chosen from such, or null. They may be of a
/// signalling NaN.
static Value *widenedBits(IRBuilder<> &b, Value *x) {
  using namespace PatternMatch;
  Value *of = nullptr, *other = nullptr, *condition = nullptr;
  if (match(x, m_BitCast(m_Shl(m_ZExt(m_Value(of)), m_SpecificInt(16)))) && of->getType()->isIntegerTy(16))
    return of;
  if (match(x, m_FNeg(m_Value(of))) && (of = widenedBits(b, of)))
    return b.CreateXor(of, b.getInt16(0x8000));
  if (match(x, m_FAbs(m_Value(of))) && (of = widenedBits(b, of)))
    return b.CreateAnd(of, b.getInt16(0x7fff));
  if (match(x, m_Select(m_Value(condition), m_Value(of), m_Value(other))) && (of = widenedBits(b, of)) &&
      (other = widenedBits(b, other)))
    return b.CreateSelect(condition, of, other);
  return nullptr;
}
/// An f64 as an f32 that is rounded to the same half: the 14th digit behind the point says whether there is something
/// beyond it. Halves have ten digits at most, and what f32 holds with less than 14 is below half of the least bf16.
static Value *toOdd(IRBuilder<> &b, Value *x) {
  constexpr uint64_t rest = (uint64_t(1) << (52 - 14)) - 1;
  Value *bits = b.CreateBitCast(x, b.getInt64Ty()), *carried = b.CreateAdd(b.CreateAnd(bits, rest), b.getInt64(rest));
  Value *marked = b.CreateAnd(b.CreateOr(bits, carried), ~rest);
  return b.CreateFPTrunc(b.CreateBitCast(marked, x->getType()), b.getFloatTy());
}
/// An integer as one that a float of so many digits holds and that is rounded to the same bf16: where it has more, the
/// last ones, which are too many for a float, only say whether there is something beyond the others.
static Value *withinDigits(IRBuilder<> &b, Value *x, unsigned digits) {
  auto number = [&](uint64_t value) { return ConstantInt::get(x->getType(), value); };
  const uint64_t most = uint64_t(1) << digits,
                 last = (uint64_t(1) << (x->getType()->getScalarSizeInBits() - digits)) - 1;
  Value *isWide = b.CreateICmpUGT(b.CreateAdd(x, number(most)), number(2 * most));
  Value *hasRest = b.CreateICmpNE(b.CreateAnd(x, number(last)), number(0));
  Value *marked = b.CreateOr(b.CreateAnd(x, b.CreateNot(number(last))), number((last + 1) / 2));
  return b.CreateSelect(b.CreateAnd(isWide, hasRest), marked, x);
}
Value *ScalarEmitter::toHalf(Value *x, DType dtype) {
  if (x->getType()->isDoubleTy())
    x = toOdd(b, x);
  if (dtype == DType::F16)
    return b.CreateBitCast(b.CreateFPTrunc(x, b.getHalfTy()), b.getInt16Ty());
  if (Value *exact = widenedBits(b, x)) {
    Value *isNan = b.CreateICmpUGT(b.CreateAnd(exact, b.getInt16(0x7fff)), b.getInt16(0x7f80));
    return b.CreateSelect(isNan, b.CreateOr(exact, b.getInt16(0x40)), exact);
  }
  if (b.GetInsertBlock()->getModule()->getTargetTriple().isNVPTX()) // most devices have an instruction
    return b.CreateBitCast(b.CreateFPTrunc(x, b.getBFloatTy()), b.getInt16Ty());
  Value *bits = b.CreateBitCast(x, b.getInt32Ty()), *upper = b.CreateLShr(bits, 16);
  Value *nearest =
      b.CreateLShr(b.CreateAdd(bits, b.CreateAdd(b.getInt32(0x7fff), b.CreateAnd(upper, 1))), 16); // ties to even
  return b.CreateTrunc(b.CreateSelect(b.CreateFCmpUNO(x, x), b.CreateOr(upper, 0x40), nearest), b.getInt16Ty());
}

/// A type, as a vector of as many as a value has.
Type *asWide(Value *x, Type *type) {
  auto *vector = dyn_cast<VectorType>(x->getType());
  return vector ? VectorType::get(type, vector->getElementCount()) : type;
}

Element ScalarEmitter::cast(Element x, DType from, DType to) {
  if (from == to)
    return x;
  if (isHalf(from))
    return cast({fromHalf(x.re, from)}, DType::F32, to);
  if (isHalf(to)) {
    if (from == DType::I32 && to == DType::BF16)
      return {toHalf(cast({withinDigits(b, x.re, 24)}, from, DType::F32).re, to)};
    if (from == DType::I64 && to == DType::BF16)
      x = {withinDigits(b, x.re, 53)};
    // Integers that f32 does not hold are beyond the largest f16.
    const bool isExact =
        from == DType::F32 || from == DType::U8 || from == DType::Bool || (to == DType::F16 && !isFloat(from));
    return {toHalf(cast(x, from, isExact ? DType::F32 : DType::F64).re, to)};
  }
  if (isComplex(to)) {
    DType part = realOf(to);
    if (isComplex(from))
      return {cast({x.re}, realOf(from), part).re, cast({x.im}, realOf(from), part).re};
    Value *re = cast(x, from, part).re;
    return {re, ConstantFP::get(re->getType(), 0.0)};
  }
  Type *type = asWide(x.re, partType(to));
  if (to == DType::Bool)
    return {isFloat(from) ? b.CreateFCmpUNE(x.re, ConstantFP::get(x.re->getType(), 0.0))
                          : b.CreateICmpNE(x.re, ConstantInt::get(x.re->getType(), 0))};
  bool fromUnsigned = from == DType::Bool || from == DType::U8;
  if (isFloat(to)) {
    if (isFloat(from))
      return {b.CreateFPCast(x.re, type)};
    return {fromUnsigned ? b.CreateUIToFP(x.re, type) : b.CreateSIToFP(x.re, type)};
  }
  if (isFloat(from)) {
    auto intrinsic = to == DType::U8 ? Intrinsic::fptoui_sat : Intrinsic::fptosi_sat;
    return {b.CreateIntrinsic(intrinsic, {type, x.re->getType()}, {x.re})};
  }
  return {b.CreateIntCast(x.re, type, !fromUnsigned)};
}

Element ScalarEmitter::add(Element x, Element y, DType dtype) {
  if (isComplex(dtype))
    return {b.CreateFAdd(x.re, y.re), b.CreateFAdd(x.im, y.im)};
  return {isFloat(dtype) ? b.CreateFAdd(x.re, y.re) : b.CreateAdd(x.re, y.re)};
}

/// (a+bi)(c+di) = (ac-bd) + (ad+bc)i, each product rounded: no contraction.
Element ScalarEmitter::mul(Element x, Element y, DType dtype) {
  if (!isComplex(dtype))
    return {isFloat(dtype) ? b.CreateFMul(x.re, y.re) : b.CreateMul(x.re, y.re)};
  if (!x.im)
    return {b.CreateFMul(x.re, y.re), b.CreateFMul(x.re, y.im)};
  if (!y.im)
    return {b.CreateFMul(x.re, y.re), b.CreateFMul(x.im, y.re)};
  return {b.CreateFSub(b.CreateFMul(x.re, y.re), b.CreateFMul(x.im, y.im)),
          b.CreateFAdd(b.CreateFMul(x.re, y.im), b.CreateFMul(x.im, y.re))};
}

Value *ScalarEmitter::extremum(Value *x, Value *y, DType dtype, bool isMin) {
  Intrinsic::ID id;
  if (isFloat(dtype))
    id = isMin ? Intrinsic::minimum : Intrinsic::maximum;
  else if (dtype == DType::U8 || dtype == DType::Bool)
    id = isMin ? Intrinsic::umin : Intrinsic::umax;
  else
    id = isMin ? Intrinsic::smin : Intrinsic::smax;
  return b.CreateBinaryIntrinsic(id, x, y);
}

Value *ScalarEmitter::compare(StringRef name, Element x, Element y, DType dtype) {
  if (isComplex(dtype)) {
    // A real operand's imaginary part is 0.
    auto im = [&](Element z) { return z.im ? z.im : ConstantFP::get(z.re->getType(), 0.0); };
    Value *equal = b.CreateAnd(b.CreateFCmpOEQ(x.re, y.re), b.CreateFCmpOEQ(im(x), im(y)));
    return name == "eq" ? equal : b.CreateNot(equal);
  }
  if (isFloat(dtype)) {
    auto predicate = StringSwitch<CmpInst::Predicate>(name)
                         .Case("eq", CmpInst::FCMP_OEQ)
                         .Case("ne", CmpInst::FCMP_UNE)
                         .Case("lt", CmpInst::FCMP_OLT)
                         .Case("le", CmpInst::FCMP_OLE)
                         .Case("gt", CmpInst::FCMP_OGT)
                         .Default(CmpInst::FCMP_OGE);
    return b.CreateFCmp(predicate, x.re, y.re);
  }
  bool isUnsigned = dtype == DType::U8 || dtype == DType::Bool;
  auto predicate = StringSwitch<CmpInst::Predicate>(name)
                       .Case("eq", CmpInst::ICMP_EQ)
                       .Case("ne", CmpInst::ICMP_NE)
                       .Case("lt", isUnsigned ? CmpInst::ICMP_ULT : CmpInst::ICMP_SLT)
                       .Case("le", isUnsigned ? CmpInst::ICMP_ULE : CmpInst::ICMP_SLE)
                       .Case("gt", isUnsigned ? CmpInst::ICMP_UGT : CmpInst::ICMP_SGT)
                       .Default(isUnsigned ? CmpInst::ICMP_UGE : CmpInst::ICMP_SGE);
  return b.CreateICmp(predicate, x.re, y.re);
}

Element ScalarEmitter::apply(mlir::Operation *op, ArrayRef<Element> args) {
  if (op->hasAttr("toy.around") || op->hasAttr("toy.around_twice")) { // below two or three times the divisor, or …
    Value *x = args[0].re, *n = args[1].re;
    auto less = [&](Value *v) { return b.CreateSelect(b.CreateICmpUGE(v, n), b.CreateSub(v, n), v); };
    if (op->hasAttr("toy.unsigned"))
      return {less(op->hasAttr("toy.around") ? x : less(x))};
    return {b.CreateSelect(b.CreateICmpSLT(x, b.getInt64(0)), b.CreateAdd(x, n), x)}; // … at least its negative
  }
  if (op->hasAttr("toy.unsigned"))
    return {isa<ModOp>(op) ? b.CreateURem(args[0].re, args[1].re) : b.CreateUDiv(args[0].re, args[1].re)};
  auto dtypeOf = [&](unsigned i) { return tensorTypeOf(op->getOperand(i)).getDtype(); };
  if (isa<WhereOp>(op)) {
    DType result = tensorTypeOf(op->getResult(0)).getDtype();
    Element x = cast(args[1], dtypeOf(1), result), y = cast(args[2], dtypeOf(2), result);
    return {b.CreateSelect(args[0].re, x.re, y.re), x.im ? b.CreateSelect(args[0].re, x.im, y.im) : nullptr};
  }
  if (auto castOp = dyn_cast<CastOp>(op))
    return cast(args[0], dtypeOf(0), tensorTypeOf(castOp.getResult()).getDtype());
  if (auto part = dyn_cast<FunctionPartOp>(op)) {
    DType complex = complexOf(tensorTypeOf(part.getResult()).getDtype());
    Element x{args[0].re, args[1].re};
    Element value = args.size() == 2
                        ? unary(part.getFunction(), x, complex)
                        : binary(part.getFunction(), x, args.size() == 3 ? args[2] : Element{args[2].re, args[3].re},
                                 complex, args.size() == 3 ? dtypeOf(2) : complex);
    return {part.getPart() == 0 ? value.re : value.im};
  }
  if (args.size() == 1)
    return unary(op->getName().stripDialect(), args[0], dtypeOf(0));
  return binary(op->getName().stripDialect(), args[0], args[1], dtypeOf(0), dtypeOf(1));
}

Value *ScalarEmitter::eitherOf(Value *condition, function_ref<Value *()> usual, function_ref<Value *()> rare) {
  Function *function = b.GetInsertBlock()->getParent();
  BasicBlock *first = BasicBlock::Create(b.getContext(), "", function),
             *second = BasicBlock::Create(b.getContext(), "", function),
             *on = BasicBlock::Create(b.getContext(), "", function);
  b.CreateCondBr(condition, first, second, MDBuilder(b.getContext()).createLikelyBranchWeights());
  auto emit = [&](BasicBlock *block, function_ref<Value *()> value) {
    b.SetInsertPoint(block);
    Value *result = value();
    BasicBlock *end = b.GetInsertBlock();
    b.CreateBr(on);
    return std::pair(result, end);
  };
  auto [x, xEnd] = emit(first, usual);
  auto [y, yEnd] = emit(second, rare);
  b.SetInsertPoint(on);
  PHINode *result = b.CreatePHI(x->getType(), 2);
  result->addIncoming(x, xEnd);
  result->addIncoming(y, yEnd);
  return result;
}

} // namespace toy

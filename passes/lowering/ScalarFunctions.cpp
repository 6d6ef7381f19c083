// SPDX-License-Identifier: Apache-2.0
/// \file
/// Unary and binary operations of single elements. Functions that LLVM has no exact instruction for are calls: real
/// ones to libm, complex ones and checked integer ones to the runtime, so that compiled code and the reference
/// evaluator share their bits.
#include "passes/lowering/Attributes.h"
#include "passes/lowering/ScalarEmitter.h"
#include "passes/lowering/SingleComplex.h"
#include "runtime/ElementFunctions.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Intrinsics.h"

#include <cmath>

using namespace llvm;

namespace toy {

/// How many elements a call of the row's function of registers takes, or 0 where it has none.
static int directWidth(int row) {
  return rt::laneFunction(row) ? rt::laneWidth() * (rt::elementFunctions()[row].isSingle() ? 2 : 1) : 0;
}
/// Whether vectors of `width` elements are registers of that function.
static bool isDirect(int row, int width) { return width == directWidth(row); }
/// Whether they are those of its parts, of c64.
static bool isOfParts(int row, int width) {
  return rt::elementFunctions()[row].dtype == DType::C64 && rt::pairFunction(row) && width == 2 * rt::laneWidth();
}

/// Whether its arguments and results are floats.
static bool takesFloats(int row) {
  const rt::ElementFunction &function = rt::elementFunctions()[row];
  return function.isSingle() || (function.dtype == DType::C64 && rt::pairFunction(row));
}

/// Some registers one after the other, or a part of one, whose other lanes repeat it. One element is a number.
static Value *byRegisters(IRBuilder<> &b, Module &module, int row, int width, ArrayRef<Value *> arguments) {
  const int direct = directWidth(row);
  auto *type = FixedVectorType::get(arguments[0]->getType()->getScalarType(), direct);
  FunctionCallee kernel =
      module.getOrInsertFunction(laneFunctionPrefix + std::to_string(row),
                                 FunctionType::get(type, SmallVector<Type *>(arguments.size(), type), false));
  SmallVector<Value *> results;
  for (int begin = 0; begin < width; begin += direct) {
    SmallVector<int> lanes;
    for (int lane = 0; lane < direct; ++lane)
      lanes.push_back(begin + lane % width);
    SmallVector<Value *> parts;
    for (Value *argument : arguments)
      parts.push_back(width == 1 ? b.CreateVectorSplat(direct, argument) : b.CreateShuffleVector(argument, lanes));
    CallInst *call = b.CreateCall(kernel, parts);
    call->setDoesNotThrow();
    call->setMemoryEffects(MemoryEffects::none());
    results.push_back(call);
  }
  if (width == 1)
    return b.CreateExtractElement(results[0], b.getInt64(0));
  Value *all = concatenateVectors(b, results);
  return width < direct ? b.CreateShuffleVector(all, llvm::to_vector(seq<int>(0, width))) : all;
}

/// `width` elements through the runtime's kernels, as a function of vectors. Those of registers are called so, others
/// go through memory, where they are doubles.
static Function *elementWrapper(Module &module, int row, int width, const Twine &name) {
  const rt::ElementFunction &function = rt::elementFunctions()[row];
  LLVMContext &context = module.getContext();
  auto vector = [&](Type *part) { return width == 1 ? part : FixedVectorType::get(part, width); };
  Type *i64 = Type::getInt64Ty(context), *lanes = vector(Type::getDoubleTy(context)),
       *given = takesFloats(row) ? vector(Type::getFloatTy(context)) : lanes;
  Type *result = function.outputs == 1 ? given : StructType::get(given, given);
  auto *type = FunctionType::get(result, SmallVector<Type *>(function.inputs, given), false);
  auto *wrapper = Function::Create(
      type, isDirect(row, width) || isOfParts(row, width) ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage,
      name, module);
  wrapper->setDoesNotThrow();
  wrapper->setWillReturn();
  wrapper->setMemoryEffects(MemoryEffects::none());
  if (isDirect(row, width) || isOfParts(row, width))
    return wrapper;
  wrapper->addFnAttr(Attribute::NoInline);
  IRBuilder<> b(BasicBlock::Create(context, "", wrapper));
  if (directWidth(row)) {
    b.CreateRet(byRegisters(b, module, row, width, to_vector_of<Value *>(llvm::make_pointer_range(wrapper->args()))));
    return wrapper;
  }
  Value *values = b.CreateAlloca(lanes, b.getInt64(function.most()));
  auto at = [&](unsigned i) { return b.CreateConstInBoundsGEP1_64(lanes, values, i); };
  for (int i = 0; i < function.inputs; ++i)
    b.CreateAlignedStore(b.CreateFPCast(wrapper->getArg(i), lanes), at(i), Align(8));
  Type *none = b.getVoidTy(), *pointer = b.getPtrTy();
  CallInst *call = b.CreateCall(module.getOrInsertFunction("toy_rt_elements", none, i64, i64, pointer),
                                {b.getInt64(row), b.getInt64(width), values});
  call->setDoesNotThrow();
  auto output = [&](unsigned i) { return b.CreateFPCast(b.CreateAlignedLoad(lanes, at(i), Align(8)), given); };
  b.CreateRet(function.outputs == 1
                  ? output(0)
                  : b.CreateInsertValue(b.CreateInsertValue(PoisonValue::get(result), output(0), 0), output(1), 1));
  return wrapper;
}

/// The function of a device: arguments in, results out, in memory that becomes registers.
Element ScalarEmitter::byDeviceTable(int row, ArrayRef<Value *> parts, DType dtype) {
  const rt::ElementFunction &function = rt::elementFunctions()[row];
  Function *kernel = b.GetInsertBlock()->getParent();
  IRBuilder<> entry(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  Value *values = entry.CreateAlloca(b.getDoubleTy(), b.getInt32(function.most()));
  auto at = [&](unsigned i) { return b.CreateConstInBoundsGEP1_64(b.getDoubleTy(), values, i); };
  for (auto [i, part] : enumerate(parts))
    b.CreateStore(toF64(part), at(i));
  call(("toy_device_" + StringRef(function.name.data(), function.name.size()) + "_" +
        StringRef(nameOf(function.dtype).data()))
           .str(),
       b.getVoidTy(), {values});
  auto result = [&](unsigned i) -> Value * {
    Value *x = b.CreateLoad(b.getDoubleTy(), at(i));
    return realOf(dtype) == DType::F32 ? b.CreateFPTrunc(x, b.getFloatTy()) : x;
  };
  return {result(0), function.outputs > 1 ? result(1) : nullptr};
}

/// A function of the runtime's table. The call names vectors' versions, so that loops over it vectorize.
Element ScalarEmitter::byTable(int row, ArrayRef<Value *> parts, DType dtype) {
  if (isForDevice)
    return byDeviceTable(row, parts, dtype);
  const rt::ElementFunction &function = rt::elementFunctions()[row];
  std::string name = ("toy." + StringRef(function.name.data(), function.name.size()) + "." +
                      StringRef(nameOf(function.dtype).data()))
                         .str(),
              variants;
  Function *scalar = module.getFunction(name);
  for (int width : {2, 4, 8, 16}) {
    if (width == 16 && !takesFloats(row))
      break;
    std::string variant = name + "." + std::to_string(width);
    if (isDirect(row, width) || isOfParts(row, width))
      variant = (isOfParts(row, width) ? lanePairPrefix : laneFunctionPrefix) + std::to_string(row);
    if (!scalar)
      elementWrapper(module, row, width, variant)->addFnAttr(vectorVariant);
    variants += (width == 2 ? "" : ",") + ("_ZGV_LLVM_N" + std::to_string(width) + std::string(function.inputs, 'v') +
                                           "_" + name + "(" + variant + ")");
  }
  if (!scalar)
    (scalar = elementWrapper(module, row, 1, name))->addFnAttr(vectorVariant);
  SmallVector<Value *> arguments;
  for (Value *part : parts)
    arguments.push_back(takesFloats(row) ? part : toF64(part));
  CallInst *call = b.CreateCall(scalar, arguments);
  call->addFnAttr(Attribute::get(module.getContext(), "vector-function-abi-variant", variants));
  if (rt::laneFunction(row) && rt::pairFunction(row))
    call->addFnAttr(Attribute::get(module.getContext(), lanePairPrefix));
  auto part = [&](Value *x) { return realOf(dtype) == DType::F32 ? b.CreateFPCast(x, b.getFloatTy()) : x; };
  if (function.outputs == 1)
    return {part(call)};
  return {part(b.CreateExtractValue(call, 0)), part(b.CreateExtractValue(call, 1))};
}

/// c64 functions are computed in double and rounded once.
Element ScalarEmitter::complexUnary(StringRef name, Element x, DType dtype) {
  return byTable(rt::findElementFunction(name.str(), dtype), {x.re, x.im}, dtype);
}

Value *ScalarEmitter::realUnary(StringRef name, Value *x, DType dtype) {
  auto id = StringSwitch<Intrinsic::ID>(name)
                .Case("sqrt", Intrinsic::sqrt)
                .Case("floor", Intrinsic::floor)
                .Case("ceil", Intrinsic::ceil)
                .Case("trunc", Intrinsic::trunc)
                .Case("round", Intrinsic::roundeven)
                .Default(Intrinsic::not_intrinsic);
  if (id != Intrinsic::not_intrinsic)
    return b.CreateUnaryIntrinsic(id, x);
  Value *one = ConstantFP::get(x->getType(), 1.0);
  if (name == "reciprocal")
    return b.CreateFDiv(one, x);
  if (name == "rsqrt" && dtype != DType::F64) // of f64 a root and a quotient take longer than a polynomial
    return b.CreateFDiv(one, b.CreateUnaryIntrinsic(Intrinsic::sqrt, x));
  if (int row = rt::findElementFunction(name.str(), dtype); row >= 0)
    return byTable(row, {x}, dtype).re;
  return libm(name, dtype, {x});
}

Element ScalarEmitter::unary(StringRef name, Element x, DType dtype) {
  bool complex = isComplex(dtype), floating = complex || isFloat(dtype);
  if (name == "neg") {
    if (!floating)
      return {b.CreateNeg(x.re)};
    return {b.CreateFNeg(x.re), complex ? b.CreateFNeg(x.im) : nullptr};
  }
  if (name == "not")
    return {b.CreateNot(x.re)};
  if (name == "conj")
    return {x.re, b.CreateFNeg(x.im)};
  if (name == "real")
    return {x.re};
  if (name == "imag")
    return {x.im};
  if (name == "angle")
    return byTable(rt::findElementFunction("atan2", realOf(dtype)), {x.im, x.re}, realOf(dtype));
  if (name == "abs2")
    return complex ? add(mul({x.re}, {x.re}, realOf(dtype)), mul({x.im}, {x.im}, realOf(dtype)), realOf(dtype))
                   : mul(x, x, dtype);
  if (name == "abs") {
    if (dtype == DType::C64)
      return {absSingle(x)};
    if (complex)
      return complexUnary("abs", x, dtype);
    if (floating)
      return {b.CreateUnaryIntrinsic(Intrinsic::fabs, x.re)};
    return {dtype == DType::U8 ? x.re : b.CreateIntrinsic(Intrinsic::abs, {x.re->getType()}, {x.re, b.getFalse()})};
  }
  if (name == "sign") {
    if (complex)
      return dtype == DType::C64 && isForDevice ? signSingle(b, x) : complexUnary("sign", x, dtype);
    Value *zero = Constant::getNullValue(x.re->getType());
    if (dtype == DType::U8)
      return {b.CreateZExt(b.CreateICmpNE(x.re, zero), x.re->getType())};
    if (!floating)
      return {b.CreateSub(b.CreateZExt(b.CreateICmpSGT(x.re, zero), x.re->getType()),
                          b.CreateZExt(b.CreateICmpSLT(x.re, zero), x.re->getType()))};
    Value *unit = b.CreateBinaryIntrinsic(Intrinsic::copysign, ConstantFP::get(x.re->getType(), 1.0), x.re);
    Value *keep = b.CreateFCmpUEQ(x.re, zero); // zero or NaN
    return {b.CreateSelect(keep, x.re, unit)};
  }
  if (name == "isnan" || name == "isinf" || name == "isfinite") {
    auto test = [&](Value *part) -> Value * {
      if (name == "isnan")
        return b.CreateFCmpUNO(part, part);
      Value *magnitude = b.CreateUnaryIntrinsic(Intrinsic::fabs, part);
      Value *infinity = ConstantFP::getInfinity(part->getType());
      return name == "isinf" ? b.CreateFCmpOEQ(magnitude, infinity) : b.CreateFCmpOLT(magnitude, infinity);
    };
    if (!complex)
      return {test(x.re)};
    Value *re = test(x.re), *im = test(x.im);
    return {name == "isfinite" ? b.CreateAnd(re, im) : b.CreateOr(re, im)};
  }
  if (!complex)
    return {realUnary(name, x.re, dtype)};
  if (name == "reciprocal" && dtype == DType::C64)
    return divideSingle({ConstantFP::get(b.getFloatTy(), 1), ConstantFP::get(b.getFloatTy(), 0)}, x);
  if (name == "round")
    return {realUnary(name, x.re, dtype), realUnary(name, x.im, dtype)};
  return complexUnary(name, x, dtype);
}

/// real/complex mixtures: complex by real is two quotients; anything by complex is the runtime's division.
/// The kernel of the table inline: squares of f32 are exact and in range in double. Infinite parts win over NaN.
Value *ScalarEmitter::absSingle(Element x) {
  Value *re = toF64(x.re), *im = toF64(x.im), *infinity = ConstantFP::getInfinity(b.getDoubleTy());
  auto isInfinite = [&](Value *v) { return b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(Intrinsic::fabs, v), infinity); };
  Value *r = b.CreateUnaryIntrinsic(Intrinsic::sqrt, b.CreateFAdd(b.CreateFMul(re, re), b.CreateFMul(im, im)));
  return b.CreateFPTrunc(b.CreateSelect(b.CreateOr(isInfinite(re), isInfinite(im)), infinity, r), b.getFloatTy());
}

/// z^n, 0 < n <= 64, by the operations of the runtime's kernel, in double.
Element ScalarEmitter::complexPower(Element z, uint64_t n, DType dtype) {
  Element square = {toF64(z.re), toF64(z.im)}, result;
  for (; n; n >>= 1) {
    if (n & 1)
      result = result.re ? mul(result, square, DType::C128) : square;
    if (n > 1)
      square = mul(square, square, DType::C128);
  }
  return cast(result, DType::C128, dtype);
}

/// Checked in the runtime: negative exponents. Constants are products, and so are exponents up to 3 (of which
/// KernelEmitter::loopBySmallExponents tells loops). Powers of 2 are shifts.
Value *ScalarEmitter::integerPower(Value *x, Value *y, DType dtype) {
  if (auto *n = dyn_cast<ConstantInt>(y); n && dtype != DType::Bool && !n->isZero() && n->getValue().ule(64)) {
    Value *result = nullptr, *square = x;
    for (uint64_t m = n->getZExtValue(); m; m >>= 1) {
      if (m & 1)
        result = result ? b.CreateMul(result, square) : square;
      square = m > 1 ? b.CreateMul(square, square) : square;
    }
    return result;
  }
  Type *wide = b.getInt64Ty();
  bool isSigned = dtype == DType::I32 || dtype == DType::I64;
  std::string symbol = ("toy_rt_int_pow_" + StringRef(nameOf(dtype).data(), nameOf(dtype).size())).str();
  auto bySquaring = [&] {
    Value *result = call(symbol, wide, {b.CreateIntCast(x, wide, isSigned), b.CreateIntCast(y, wide, isSigned)});
    return dtype == DType::Bool ? b.CreateICmpNE(result, b.getInt64(0))
                                : b.CreateIntCast(result, x->getType(), isSigned);
  };
  if (dtype == DType::Bool || isForDevice)
    return bySquaring();
  auto number = [&](uint64_t n) { return ConstantInt::get(x->getType(), n); };
  if (auto *base = dyn_cast<ConstantInt>(x); base && base->equalsInt(2) && dtype == DType::I64 && !failLater) {
    Value *power = eitherOf(hasPowerOfTwo(y), [&] { return b.CreateShl(number(1), y, "", true, true); }, bySquaring);
    exponents[power] = y;
    return power;
  }
  auto hasBit = [&](uint64_t n) { return b.CreateICmpNE(b.CreateAnd(y, number(n)), number(0)); };
  auto products = [&] {
    Value *odd = b.CreateSelect(hasBit(1), x, number(1));
    return b.CreateSelect(hasBit(2), b.CreateMul(odd, b.CreateMul(x, x)), odd);
  };
  return smallExponents ? products() : eitherOf(b.CreateICmpULT(y, number(4)), products, bySquaring);
}

/// Powers by constants as the runtime's kernel computes them (smallPower in runtime/ElementKernels.cpp), or null: those
/// of f32 in double, those of f64 from the fifth on with what rounding the products loses.
Value *ScalarEmitter::realPower(Value *x, Value *y) {
  auto *constant = dyn_cast<ConstantFP>(y);
  double n = constant ? constant->getValueAPF().convertToDouble() : NAN;
  auto number = [&](double v) { return ConstantFP::get(x->getType(), v); };
  if (n == -1)
    return b.CreateFDiv(number(1), x);
  if (n == 0.5)
    return b.CreateSelect(b.CreateFCmpOEQ(x, number(-INFINITY)), number(INFINITY),
                          b.CreateUnaryIntrinsic(Intrinsic::sqrt, b.CreateFAdd(x, number(0))));
  if (n == 0 || n == 1 || n == 2)
    return n == 0 ? number(1) : n == 1 ? x : b.CreateFMul(x, x);
  if (!(n > 0 && n <= 64 && n == std::trunc(n)))
    return nullptr;
  bool plain = x->getType()->isFloatTy() || n <= 4;
  using Twice = std::pair<Value *, Value *>;
  Type *f64 = b.getDoubleTy();
  auto times = [&](Twice u, Twice v) -> Twice {
    Value *p = b.CreateFMul(u.first, v.first);
    if (plain)
      return {p, nullptr};
    Value *lost = b.CreateIntrinsic(Intrinsic::fma, {f64}, {u.first, v.first, b.CreateFNeg(p)});
    Value *e = b.CreateFAdd(lost, b.CreateFAdd(b.CreateFMul(u.first, v.second), b.CreateFMul(u.second, v.first)));
    Value *s = b.CreateFAdd(p, e), *size = b.CreateUnaryIntrinsic(Intrinsic::fabs, s);
    Value *ok = b.CreateAnd(b.CreateFCmpOLT(size, ConstantFP::getInfinity(f64)), b.CreateFCmpUNE(s, number(0)));
    return {b.CreateSelect(ok, s, p), b.CreateSelect(ok, b.CreateFSub(e, b.CreateFSub(s, p)), number(0))};
  };
  Twice square = {toF64(x), plain ? nullptr : number(0)}, result = {};
  for (auto m = static_cast<int>(n); m; m >>= 1) {
    if (m & 1)
      result = result.first ? times(result, square) : square;
    if (m > 1)
      square = times(square, square);
  }
  return b.CreateFPCast(result.first, x->getType());
}

/// x86 has `x < y ? x : y`, which gives y where one is NaN or both are zeros: both orders differ only there, and the
/// bits of both together are right for a minimum. Those of a maximum are right for zeros; NaN is chosen.
static Value *extremumByOrders(IRBuilder<> &b, Value *x, Value *y, bool isMin) {
  auto first = [&](Value *u, Value *v) {
    Value *isFirst = isMin ? b.CreateFCmpOLT(u, v) : b.CreateFCmpOGT(u, v);
    return b.CreateBitCast(b.CreateSelect(isFirst, u, v), asWide(u, b.getIntNTy(u->getType()->getScalarSizeInBits())));
  };
  Value *u = first(x, y), *v = first(y, x);
  if (isMin)
    return b.CreateBitCast(b.CreateOr(u, v), x->getType());
  return b.CreateSelect(b.CreateFCmpUNO(x, y), ConstantFP::getNaN(x->getType()),
                        b.CreateBitCast(b.CreateAnd(u, v), x->getType()));
}

static bool isNumber(Value *x, double number) {
  auto *constant = dyn_cast<ConstantFP>(x);
  return constant && constant->getValueAPF().convertToDouble() == number;
}

Element ScalarEmitter::binary(StringRef name, Element x, Element y, DType dx, DType dy) {
  DType dtype = isComplex(dx) ? dx : isComplex(dy) ? dy : dx;
  bool complex = isComplex(dtype), floating = complex || isFloat(dtype);
  if (name == "add" || name == "sub") {
    bool isAdd = name == "add";
    if (!floating)
      return {isAdd ? b.CreateAdd(x.re, y.re) : b.CreateSub(x.re, y.re)};
    Value *re = isAdd ? b.CreateFAdd(x.re, y.re) : b.CreateFSub(x.re, y.re);
    if (!complex)
      return {re};
    Value *im = !x.im   ? (isAdd ? y.im : b.CreateFNeg(y.im))
                : !y.im ? x.im
                : isAdd ? b.CreateFAdd(x.im, y.im)
                        : b.CreateFSub(x.im, y.im);
    return {re, im};
  }
  if (name == "mul")
    return mul(x, y, dtype);
  if (name == "div")
    return divide(x, y, dx, dy);
  if (name == "complex")
    return {x.re, y.re};
  if (name == "polar") {
    Element unit = byTable(rt::findElementFunction("cis", dx), {y.re}, dx);
    return {b.CreateFMul(x.re, unit.re), b.CreateFMul(x.re, unit.im)};
  }
  if (name == "minimum" || name == "maximum") {
    // What goes around a loop stays one operation, which LLVM knows as a reduction.
    bool isStep = isa<PHINode>(x.re) || isa<PHINode>(y.re);
    return {floating && !isStep && module.getTargetTriple().isX86() ? extremumByOrders(b, x.re, y.re, name == "minimum")
                                                                    : extremum(x.re, y.re, dtype, name == "minimum")};
  }
  if (name == "and")
    return {b.CreateAnd(x.re, y.re)};
  if (name == "or")
    return {b.CreateOr(x.re, y.re)};
  if (auto *zero = dyn_cast<ConstantFP>(x.re); name == "atan2" && zero && zero->isZero() && !zero->isNegative()) {
    // The angle of a real value is 0 or pi, by its sign.
    Value *sign = b.CreateBinaryIntrinsic(Intrinsic::copysign, ConstantFP::get(y.re->getType(), 1), y.re);
    Value *angle = b.CreateSelect(b.CreateFCmpOLT(sign, zero), ConstantFP::get(y.re->getType(), M_PI), zero);
    return {b.CreateSelect(b.CreateFCmpUNO(y.re, y.re), y.re, angle)};
  }
  if (name == "copysign") {
    Value *sign = b.CreateSelect(b.CreateFCmpUNO(y.re, y.re), ConstantFP::get(y.re->getType(), 1), y.re);
    return {b.CreateBinaryIntrinsic(Intrinsic::copysign, x.re, sign)};
  }
  if (name == "atan2" || name == "hypot")
    return byTable(rt::findElementFunction(name.str(), dtype), {x.re, y.re}, dtype);
  if (name == "floordiv" || name == "mod") {
    if (!floating)
      return {integerDivision(name == "mod", x.re, y.re, dtype)};
    if (failLater) // a loop: in lanes
      return byTable(rt::findElementFunction(name.str(), dtype), {x.re, y.re}, dtype);
    if (name == "mod" && !isForDevice)
      return {floatModulo(x.re, y.re)};
    return {call(("toy_rt_float_" + name + (dtype == DType::F32 ? "_f32" : "_f64")).str(), x.re->getType(),
                 {x.re, y.re}, true)};
  }
  if (name == "pow") {
    if (complex && isInteger(dy)) {
      if (auto *constant = dyn_cast<ConstantInt>(y.re);
          constant && dy != DType::Bool && !constant->isZero() && constant->getValue().ule(64))
        return complexPower(x, constant->getZExtValue(), dtype);
      Value *n = b.CreateIntCast(y.re, b.getInt64Ty(), dy != DType::U8);
      return byTable(rt::findElementFunction("powi", dtype), {x.re, x.im, b.CreateSIToFP(n, b.getDoubleTy())}, dtype);
    }
    if (!floating)
      return {integerPower(x.re, y.re, dtype)};
    if (Value *power = complex ? nullptr : realPower(x.re, y.re))
      return {power};
    int row = rt::findElementFunction("pow", dtype);
    if (!complex)
      return byTable(row, {x.re, y.re}, dtype);
    Element z = cast(x, dx, dtype), w = cast(y, dy, dtype);
    if (isNumber(w.re, 0.5) && isNumber(w.im, 0)) { // a root, but that of a zero is +0
      Element root = complexUnary("sqrt", z, dtype);
      Value *zero = ConstantFP::get(z.re->getType(), 0.0);
      Value *isZero = b.CreateAnd(b.CreateFCmpOEQ(z.re, zero), b.CreateFCmpOEQ(z.im, zero));
      return {b.CreateSelect(isZero, zero, root.re), b.CreateSelect(isZero, zero, root.im)};
    }
    return byTable(row, {z.re, z.im, w.re, w.im}, dtype);
  }
  return {compare(name, x, y, dtype)};
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins that make tensors.
#include "irgen/IRGenImpl.h"

#include <cmath>

using namespace mlir;

namespace toy {

DType IRGen::dtypeArgument(Bound &args, DType fallback) {
  if (!args.has("dtype"))
    return fallback;
  return staticDType(*args["dtype"]);
}

static Value fullOf(IRGen &gen, Value value, ValueRange sizes, SourceRange r) {
  if (sizes.empty())
    return value;
  SmallVector<Value> operands = {value};
  llvm::append_range(operands, sizes);
  return gen.create<FullOp>(r, operands);
}

Val IRGen::fillBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  // A dtype may also come last by position: zeros(3, f32).
  DType dtype = dtypeArgument(args, DType::F64);
  if (!args.rest.empty())
    if (auto *n = ast::dynCast<ast::Name>(args.rest.back());
        n && dtypeNamed(n->name) && args.rest.size() > 1 && !args.has("dtype")) {
      dtype = staticDType(*n);
      args.rest.pop_back();
    }
  Value value = cast(integer(args.row->op[0] - '0', r), dtype, r);
  return Val::leaf(fullOf(*this, value, checkedSizes(sizeArguments(args), r), r));
}

Val IRGen::fullBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  Val value = tensorArgument(args, "value");
  if (value.tensor().getRank() != 0)
    fail(DiagId::ArgumentKind, rangeOf(args, "value"), {"full", "the value", "a scalar", value.type().str()});
  DType dtype = dtypeArgument(args, value.tensor().getDtype());
  if (kindOf(value.tensor().getDtype()) > kindOf(dtype) && isComplex(value.tensor().getDtype()))
    fail(DiagId::ComplexToReal, rangeOf(args, "value"), {value.type().str(), std::string(nameOf(dtype))});
  return Val::leaf(fullOf(*this, castVal(value, dtype, rangeOf(args, "value")),
                          checkedSizes(indexList(*args["sizes"], "full"), r), r));
}

Val IRGen::likeBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  Val x = tensorArgument(args, "x");
  DType dtype = dtypeArgument(args, x.tensor().getDtype());
  Value value;
  if (args.has("value")) {
    Val v = tensorArgument(args, "value");
    if (v.tensor().getRank() != 0 || (kindOf(v.tensor().getDtype()) > kindOf(dtype)))
      fail(DiagId::CannotStore, rangeOf(args, "value"), {v.type().str(), std::string(nameOf(dtype))});
    value = castVal(v, dtype, r);
  } else
    value = cast(integer(args.row->op[0] - '0', r), dtype, r);
  return Val::leaf(fullOf(*this, value, sizesOf(x.value, r), r));
}

/// Rows and columns compared.
Val IRGen::eyeBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  Value n = checkedSizes({indexValue(*args["n"], "eye")}, r)[0],
        m = args.has("m") ? checkedSizes({indexValue(*args["m"], "eye")}, r)[0] : n;
  Value k = args.has("k") ? indexValue(*args["k"], "eye") : integer(0, r);
  Value rows = reshape(create<IotaOp>(r, {n}), {n, integer(1, r)}, r), columns = create<IotaOp>(r, {m});
  return Val::leaf(cast(create<EqOp>(r, {create<AddOp>(r, {rows, k}), columns}), dtypeArgument(args, DType::F64), r));
}

/// start + i*step, i below ceil((stop - start) / step).
Val IRGen::arangeBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  Val start = args.has("stop") ? tensorArgument(args, "start") : Val::leaf(integer(0, r));
  Val stop = args.has("stop") ? tensorArgument(args, "stop") : tensorArgument(args, "start");
  Val step = args.has("step") ? tensorArgument(args, "step") : Val::leaf(integer(1, r));
  for (const Val *v : {&start, &stop, &step})
    if (v->tensor().getRank() != 0 || isComplex(v->tensor().getDtype()))
      fail(DiagId::ArgumentKind, r, {"arange", "a bound", "a real scalar", v->type().str()});
  DType natural = promoteAll({start, stop, step});
  if (natural == DType::Bool)
    natural = DType::I64;
  DType dtype = dtypeArgument(args, isInteger(natural) ? DType::I64 : natural),
        work = isInteger(natural) ? DType::I64 : DType::F64;
  Value a = castVal(start, work, r), b = castVal(stop, work, r), s = castVal(step, work, r), count;
  if (work == DType::I64) {
    if (constantOf(s) == 0)
      fail(DiagId::ZeroStep, r);
    count = arith<SubOp>(integer(0, r), arith<FloorDivOp>(arith<SubOp>(a, b, r), s, r), r);
  } else
    count = create<CastOp>(r, {create<CeilOp>(r, {create<DivOp>(r, {create<SubOp>(r, {b, a}), s})})},
                           {dtypeAttr(DType::I64)});
  Value index = create<IotaOp>(r, {arith<MaximumOp>(count, integer(0, r), r)});
  Value values = create<AddOp>(r, {a, create<MulOp>(r, {cast(index, work, r), s})});
  return Val::leaf(cast(values, dtype, r));
}

/// start + i*(stop-start)/(n-1), the last value exactly stop.
Val IRGen::linspaceBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  Val start = tensorArgument(args, "start"), stop = tensorArgument(args, "stop");
  Value n = args.has("n") ? checkedSizes({indexValue(*args["n"], "linspace")}, r)[0] : integer(50, r);
  DType dtype = promoteAll({start, stop});
  dtype = dtypeArgument(args, kindOf(dtype) <= DKind::Int ? DType::F64 : dtype);
  if (kindOf(dtype) < DKind::Float)
    fail(DiagId::NeedsFloating, r, {"linspace", std::string(nameOf(dtype))});
  DType work = isHalf(dtype) ? DType::F32 : dtype, part = realOf(work);
  Value a = castVal(start, work, r), b = castVal(stop, work, r), index = create<IotaOp>(r, {n});
  Value last = arith<MaximumOp>(arith<SubOp>(n, integer(1, r), r), integer(1, r), r);
  Value step = create<DivOp>(r, {create<SubOp>(r, {b, a}), cast(last, part, r)});
  Value values = create<AddOp>(r, {create<MulOp>(r, {cast(index, part, r), step}), a});
  Value isLast = create<AndOp>(r, {create<EqOp>(r, {index, last}), create<GtOp>(r, {index, integer(0, r)})});
  return Val::leaf(cast(create<WhereOp>(r, {isLast, b, values}), dtype, r));
}

Val IRGen::randomBuiltin(Bound &args) {
  SourceRange r = args.call->range;
  DType dtype = dtypeArgument(args, DType::F64);
  Value x =
      create<RandomOp>(r, checkedSizes(sizeArguments(args), r),
                       {dtypeAttr(isHalf(dtype) ? DType::F32 : dtype), boolAttr("normal", args.row->op[0] == 'n')});
  return Val::leaf(cast(x, dtype, r));
}

Val IRGen::seedBuiltin(Bound &args) {
  create<SeedOp>(args.call->range, {indexValue(*args["n"], "seed")});
  return {};
}

} // namespace toy

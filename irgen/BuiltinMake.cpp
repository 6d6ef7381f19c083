// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins that make tensors.
#include "irgen/Builtins.h"

using namespace mlir;

namespace toy {

static Value fullOf(IRGen &g, Value value, ValueRange sizes, SourceRange r) {
  if (sizes.empty())
    return value;
  return g.create<FullOp>(r, join(value, sizes));
}

RValue fillBuiltin(IRGen &g, Bound &args, SourceRange r) {
  // A dtype may also come last by position: zeros(3, f32).
  DType dtype = dtypeArgument(g, args, DType::F64);
  if (!args.rest.empty())
    if (auto *n = ast::dynCast<ast::Name>(args.rest.back());
        n && dtypeNamed(n->name) && args.rest.size() > 1 && !args.has("dtype")) {
      dtype = staticDType(g, *n);
      args.rest.pop_back();
    }
  Value value = castTo(g, g.integer(args.row->op[0] - '0', r), dtype, r);
  return fullOf(g, value, checkedSizes(g, sizeArguments(g, args), r), r);
}

RValue fullBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue value = tensorArgument(g, args, "value");
  if (value.rank() != 0)
    g.fail(DiagId::ArgumentKind, args.rangeOf("value"), {"full", "the value", "a scalar", value.type().str()});
  DType dtype = dtypeArgument(g, args, value.tensor().getDtype());
  if (kindOf(value.tensor().getDtype()) > kindOf(dtype) && isComplex(value.tensor().getDtype()))
    g.fail(DiagId::ComplexToReal, args.rangeOf("value"), {value.type().str(), std::string(nameOf(dtype))});
  return fullOf(g, castVal(g, value, dtype, args.rangeOf("value")),
                checkedSizes(g, indexList(g, *args["sizes"], "full"), r), r);
}

RValue likeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  DType dtype = dtypeArgument(g, args, x.tensor().getDtype());
  Value value;
  if (args.has("value")) {
    RValue v = tensorArgument(g, args, "value");
    if (v.rank() != 0 || (kindOf(v.tensor().getDtype()) > kindOf(dtype)))
      g.fail(DiagId::CannotStore, args.rangeOf("value"), {v.type().str(), std::string(nameOf(dtype))});
    value = castVal(g, v, dtype, r);
  } else
    value = castTo(g, g.integer(args.row->op[0] - '0', r), dtype, r);
  return fullOf(g, value, sizesOf(g, x.value, r), r);
}

/// Rows and columns compared.
RValue eyeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Value n = checkedSizes(g, {indexValue(g, *args["n"], "eye")}, r)[0],
        m = args.has("m") ? checkedSizes(g, {indexValue(g, *args["m"], "eye")}, r)[0] : n;
  Value k = args.has("k") ? indexValue(g, *args["k"], "eye") : g.integer(0, r);
  Value rows = reshape(g, g.create<IotaOp>(r, {n}), {n, g.integer(1, r)}, r), columns = g.create<IotaOp>(r, {m});
  return castTo(g, g.create<EqOp>(r, {g.create<AddOp>(r, {rows, k}), columns}), dtypeArgument(g, args, DType::F64), r);
}

/// start + i*step, i below ceil((stop - start) / step).
RValue arangeBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue start = args.has("stop") ? tensorArgument(g, args, "start") : RValue(g.integer(0, r));
  RValue stop = args.has("stop") ? tensorArgument(g, args, "stop") : tensorArgument(g, args, "start");
  RValue step = args.has("step") ? tensorArgument(g, args, "step") : RValue(g.integer(1, r));
  for (const RValue *v : {&start, &stop, &step})
    if (v->rank() != 0 || isComplex(v->tensor().getDtype()))
      g.fail(DiagId::ArgumentKind, r, {"arange", "a bound", "a real scalar", v->type().str()});
  DType natural = promoteAll({start, stop, step});
  if (natural == DType::Bool)
    natural = DType::I64;
  DType dtype = dtypeArgument(g, args, isInteger(natural) ? DType::I64 : natural),
        work = isInteger(natural) ? DType::I64 : DType::F64;
  Value a = castVal(g, start, work, r), b = castVal(g, stop, work, r), s = castVal(g, step, work, r), count;
  if (work == DType::I64) {
    if (constantOf(s) == 0)
      g.fail(DiagId::ZeroStep, r);
    count = arith<SubOp>(g, g.integer(0, r), arith<FloorDivOp>(g, arith<SubOp>(g, a, b, r), s, r), r);
  } else
    count = g.create<CastOp>(r, {g.create<CeilOp>(r, {g.create<DivOp>(r, {g.create<SubOp>(r, {b, a}), s})})},
                             {g.dtypeAttr(DType::I64)});
  Value index = g.create<IotaOp>(r, {arith<MaximumOp>(g, count, g.integer(0, r), r)});
  Value values = g.create<AddOp>(r, {a, g.create<MulOp>(r, {castTo(g, index, work, r), s})});
  return castTo(g, values, dtype, r);
}

/// start + i*(stop-start)/(n-1), the last value exactly stop.
RValue linspaceBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue start = tensorArgument(g, args, "start"), stop = tensorArgument(g, args, "stop");
  Value n = args.has("n") ? checkedSizes(g, {indexValue(g, *args["n"], "linspace")}, r)[0] : g.integer(50, r);
  DType dtype = promoteAll({start, stop});
  dtype = dtypeArgument(g, args, kindOf(dtype) <= DKind::Int ? DType::F64 : dtype);
  if (kindOf(dtype) < DKind::Float)
    g.fail(DiagId::NeedsFloating, r, {"linspace", std::string(nameOf(dtype))});
  DType work = isHalf(dtype) ? DType::F32 : dtype, part = realOf(work);
  Value a = castVal(g, start, work, r), b = castVal(g, stop, work, r), index = g.create<IotaOp>(r, {n});
  Value last = arith<MaximumOp>(g, arith<SubOp>(g, n, g.integer(1, r), r), g.integer(1, r), r);
  Value step = g.create<DivOp>(r, {g.create<SubOp>(r, {b, a}), castTo(g, last, part, r)});
  Value values = g.create<AddOp>(r, {g.create<MulOp>(r, {castTo(g, index, part, r), step}), a});
  Value isLast = g.create<AndOp>(r, {g.create<EqOp>(r, {index, last}), g.create<GtOp>(r, {index, g.integer(0, r)})});
  return castTo(g, g.create<WhereOp>(r, {isLast, b, values}), dtype, r);
}

} // namespace toy

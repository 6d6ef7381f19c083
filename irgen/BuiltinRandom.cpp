// SPDX-License-Identifier: Apache-2.0
/// \file
/// Built-ins of random numbers. With a key they are values like others; without one they take the next key of the
/// program.
#include "irgen/Builtins.h"

using namespace mlir;

namespace toy {

namespace {

/// A call of a built-in that takes `key=`, and parameters before its sizes.
struct Sampler {
  IRGen &g;
  Bound &args;
  SourceRange range;
  std::optional<SmallVector<Value>> sizes; ///< that the call names

  Sampler(IRGen &g, Bound &args, SourceRange range) : g(g), args(args), range(range) {}

  void readSizes() {
    if (!args.rest.empty())
      sizes = checkedSizes(g, sizeArguments(g, args), range);
  }

  /// A real parameter in the dtype that samples want.
  Value parameter(StringRef name, DType dtype) {
    bool isCount = isInteger(dtype);
    RValue x = isCount ? RValue(positionsArgument(g, args, name)) : tensorArgument(g, args, name);
    if (x.tensor().isComplex() || (isCount && !isInteger(x.tensor().getDtype())))
      g.fail(DiagId::ArgumentKind, args.rangeOf(name),
             {args.row->name, "`" + name.str() + "`", isCount ? "integers" : "real numbers", x.type().str()});
    return castVal(g, x, dtype, args.rangeOf(name));
  }

  Value zero(Value like) { return castTo(g, g.integer(0, range), tensorTypeOf(like).getDtype(), range); }

  /// An error unless a condition holds for all elements.
  void need(StringRef name, Value holds, StringRef what) {
    if (int64_t rank = tensorTypeOf(holds).getRank())
      holds = g.create<AllOp>(
          range, {holds},
          {g.integersAttr("axes", llvm::to_vector(llvm::seq<int64_t>(0, rank))), g.boolAttr("keepdims", false)});
    std::string text = "`" + name.str() + "`";
    auto known = constantOf(holds);
    if (known && *known == 0)
      g.fail(DiagId::ArgumentKind, args.rangeOf(name),
             {args.row->name, text, what.str(), g.sourceText(args.rangeOf(name))});
    if (!known)
      needValue(g, holds, g.string(std::string(args.row->name) + ": " + text + " must be " + what.str(), range),
                args.rangeOf(name));
  }
  void needFrom(StringRef name, Value x) { need(name, g.create<GeOp>(range, {x, zero(x)}), "0 or more"); }

  /// What `key=` gives, or the next key; a stream has keys of its own.
  Value key() {
    Value own = baseKey();
    return args.has("stream") ? g.create<FoldInOp>(range, {own, indexValue(g, *args["stream"], args.row->name)}) : own;
  }
  Value baseKey() {
    if (!args.has("key"))
      return g.create<NextKeyOp>(range, {});
    RValue key = tensorArgument(g, args, "key");
    Dim size = key.rank() == 1 ? key.tensor().getDim(0) : g.number(0);
    if (key.tensor().getDtype() != DType::I64 || (size.isNumber() && !size.is(2)))
      g.fail(DiagId::ArgumentKind, args.rangeOf("key"), {args.row->name, "`key`", "an i64[2]", key.type().str()},
             "`key(7)` gives one");
    return reshape(g, key.value, {g.integer(2, range)}, args.rangeOf("key"));
  }

  /// Where the call names none, there are as many numbers as two parameters have elements between them.
  void sizesFrom(Value a, Value b) {
    if (sizes)
      return;
    auto isOne = [](Value v) { return tensorTypeOf(v).getRank() == 0; };
    sizes = sizesOf(g, isOne(b) ? a : isOne(a) ? b : g.create<AddOp>(range, {a, b}), range);
  }

  Value sample(StringRef distribution, DType dtype, Value a = {}, Value b = {}) {
    SmallVector<NamedAttribute> attributes = {g.stringAttr("distribution", distribution), g.dtypeAttr(dtype)};
    for (Value *x : {&a, &b})
      if (!*x)
        *x = distribution == "integers" ? g.integer(0, range) : g.floating(0, DType::F64, range);
    sizesFrom(a, b);
    if (sizes->empty() && !args.has("key") && !args.has("stream") && !isComplex(dtype) &&
        tensorTypeOf(a).getRank() == 0 && tensorTypeOf(b).getRank() == 0)
      return g.create<DrawOp>(range, {a, b}, attributes);
    Value from = key();
    for (Value *x : {&a, &b})
      if (tensorTypeOf(*x).getRank() != 0)
        *x = broadcastTo(g, *x, *sizes, range);
    SmallVector<Value> operands = {from, a, b};
    llvm::append_range(operands, *sizes);
    return g.create<SampleOp>(range, operands, attributes);
  }

  /// The dtype that is computed with: halves are f32.
  DType working(DType dtype) {
    if (!distributionRow(args.row->op)->gives(dtype))
      g.fail(DiagId::RandomDType, range, {args.row->name, std::string(nameOf(dtype))});
    return isHalf(dtype) ? DType::F32 : dtype;
  }

  /// A parameter beside elements of the sizes that the call names.
  Value beside(const RValue &x, DType dtype, StringRef name) {
    Value value = castVal(g, x, dtype, args.rangeOf(name));
    return sizes && x.rank() != 0 ? broadcastTo(g, value, *sizes, range) : value;
  }
};

} // namespace

RValue randomBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Sampler s(g, args, r);
  s.sizes = checkedSizes(g, sizeArguments(g, args), r);
  DType dtype = dtypeArgument(g, args, DType::F64);
  return castTo(g, s.sample(args.row->op, s.working(dtype)), dtype, r);
}

/// `uniform(low, high)`, `normal(mean, std)` and `exponential(scale)`: standard numbers, scaled and moved.
RValue scaledBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Sampler s(g, args, r);
  StringRef distribution = args.row->op;
  bool isUniform = distribution == "uniform", isMoved = distribution != "exponential";
  const std::string &name = args.arguments[0].first, &scaleName = args.arguments[isMoved].first;
  RValue first = tensorArgument(g, args, name), second = isMoved ? tensorArgument(g, args, scaleName) : first;
  s.readSizes();
  DType natural = promoteAll({first, second});
  DType dtype = dtypeArgument(g, args, kindOf(natural) < DKind::Float ? DType::F64 : natural), work = s.working(dtype);
  Value a = s.beside(first, work, name), b = isMoved ? s.beside(second, realOf(work), scaleName) : a;
  if (!isUniform)
    s.needFrom(scaleName, b);
  s.sizesFrom(a, b);
  Value x = s.sample(distribution, work), scale = isUniform ? g.create<SubOp>(r, {b, a}) : b;
  x = g.create<MulOp>(r, {x, scale});
  return castTo(g, isMoved ? g.create<AddOp>(r, {a, x}) : x, dtype, r);
}

RValue gammaBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Sampler s(g, args, r);
  Value shape = s.parameter("shape", DType::F64), scale;
  s.needFrom("shape", shape);
  s.readSizes();
  if (args.has("scale")) {
    s.needFrom("scale", scale = s.beside(s.parameter("scale", DType::F64), DType::F64, "scale"));
    s.sizesFrom(shape, scale);
  }
  Value x = s.sample("gamma", DType::F64, shape);
  return scale ? g.create<MulOp>(r, {x, scale}) : x;
}

RValue poissonBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Sampler s(g, args, r);
  Value lam = s.parameter("lam", DType::F64), most = g.floating(9.2e18, DType::F64, r);
  s.need("lam", g.create<AndOp>(r, {g.create<GeOp>(r, {lam, s.zero(lam)}), g.create<LeOp>(r, {lam, most})}),
         "from 0 to 9.2e18");
  s.readSizes();
  return s.sample("poisson", DType::I64, lam);
}

RValue binomialBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Sampler s(g, args, r);
  Value n = castTo(g, s.parameter("n", DType::I64), DType::F64, r), p = s.parameter("p", DType::F64);
  Value most = g.floating(0x1p53, DType::F64, r), one = g.floating(1, DType::F64, r);
  s.need("n", g.create<AndOp>(r, {g.create<GeOp>(r, {n, s.zero(n)}), g.create<LeOp>(r, {n, most})}),
         "from 0 to 2 ** 53");
  s.need("p", g.create<AndOp>(r, {g.create<GeOp>(r, {p, s.zero(p)}), g.create<LeOp>(r, {p, one})}), "from 0 to 1");
  s.readSizes();
  return s.sample("binomial", DType::I64, n, p);
}

RValue randintBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Sampler s(g, args, r);
  Value low = s.parameter("low", DType::I64), high = s.parameter("high", DType::I64);
  s.need("high", g.create<GtOp>(r, {high, low}), "above `low`");
  s.readSizes();
  return s.sample("integers", DType::I64, low, high);
}

/// A number n means the integers below n, a tensor its rows.
static Value rowsToChoose(IRGen &g, Sampler &s, Bound &args, RValue &x, SourceRange r) {
  x = tensorArgument(g, args, "x");
  if (x.rank() != 0)
    return sizeOf(g, x.value, 0, r);
  if (!isInteger(x.tensor().getDtype()))
    g.fail(DiagId::ArgumentKind, args.rangeOf("x"), {args.row->name, "`x`", "integers", x.type().str()});
  Value n = castVal(g, x, DType::I64, args.rangeOf("x"));
  s.needFrom("x", n);
  return n;
}
static RValue chosen(IRGen &g, const RValue &x, Value index, SourceRange r) {
  return x.rank() == 0 ? RValue(index) : RValue(g.create<TakeOp>(r, {x.value, index}, {g.integersAttr("axes", {0})}));
}

RValue permutationBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Sampler s(g, args, r);
  RValue x;
  Value n = rowsToChoose(g, s, args, x, r);
  return chosen(g, x, g.create<PermutationOp>(r, {s.key(), n, n}), r);
}

RValue choiceBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Sampler s(g, args, r);
  RValue x, p;
  Value n = rowsToChoose(g, s, args, x, r), zero = g.integer(0, r);
  bool replaces = flagArgument(g, args, "replace", true);
  auto ask = [&](StringRef function, ArrayRef<RValue> arguments, StringRef place) {
    return callPrivate(g, function, arguments, args.rangeOf(place), r);
  };
  if (args.has("p")) {
    p = tensorArgument(g, args, "p");
    if (p.rank() != 1 || p.tensor().isComplex())
      g.fail(DiagId::ArgumentKind, args.rangeOf("p"), {"choice", "`p`", "a vector of probabilities", p.type().str()});
    p = castVal(g, p, DType::F64, args.rangeOf("p"));
    s.need("p", g.create<EqOp>(r, {sizeOf(g, p.value, 0, r), n}), "as long as there are values");
    s.need("p", ask("_are_probabilities", {p}, "p").value, "0 or more, with the sum 1");
  }
  s.sizes = checkedSizes(g, sizeArguments(g, args), r);
  SmallVector<Value> sizes = *s.sizes;
  Value count = g.integer(1, r), index;
  for (Value size : sizes)
    count = arith<MulOp>(g, count, size, r);
  if (replaces) {
    s.need("x", g.create<OrOp>(r, {g.create<GtOp>(r, {n, zero}), g.create<EqOp>(r, {count, zero})}), "not empty");
    index = p.value ? ask("_chosen", {p, s.sample("uniform", DType::F64)}, "p").value
                    : s.sample("integers", DType::I64, zero, arith<MaximumOp>(g, n, g.integer(1, r), r));
    return chosen(g, x, index, r);
  }
  Value possible = p.value ? ask("_possible", {p}, "p").value : n;
  s.need("x", g.create<LeOp>(r, {count, possible}), "no shorter than what is chosen, or `replace` true");
  if (p.value) {
    s.sizes = {n};
    index = ask("_chosen_once", {p, s.sample("exponential", DType::F64), count}, "p").value;
  } else
    index = g.create<PermutationOp>(r, {s.key(), n, checkedSizes(g, {count}, r)[0]});
  return chosen(g, x, reshape(g, index, sizes, r), r);
}

/// No key of the program has the second word -1.
RValue keyBuiltin(IRGen &g, Bound &args, SourceRange r) {
  if (!args.has("n"))
    return g.create<NextKeyOp>(r, {});
  return g.create<FromElementsOp>(r, {indexValue(g, *args["n"], "key"), g.integer(-1, r)},
                                  {g.integersAttr("sizes", {2})});
}

RValue foldInBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Sampler s(g, args, r);
  Value from = s.key();
  return g.create<FoldInOp>(r, {from, s.parameter("i", DType::I64)});
}

RValue keysBuiltin(IRGen &g, Bound &args, SourceRange r) {
  Value from = Sampler(g, args, r).key(), n = checkedSizes(g, {indexValue(g, *args["n"], "keys")}, r)[0];
  return g.create<FoldInOp>(r, {from, g.create<IotaOp>(r, {n})});
}

RValue seedBuiltin(IRGen &g, Bound &args, SourceRange r) {
  g.create<SeedOp>(r, {indexValue(g, *args["n"], "seed")});
  return {};
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Plots, histograms and images. Complex data go to the runtime as two real tensors, so that nothing there depends on
/// how complex values are held.
#include "irgen/Builtins.h"
#include "irgen/Decisions.h"
#include "irgen/Pictures.h"

using namespace mlir;

namespace toy {

bool isPicture(const ValueType &type) {
  return type.kind == ValueType::Struct && type.structName == "picture" &&
         type.names == std::vector<std::string>{"drawing"};
}

bool isPicture(const RValue &value) {
  return value.kind == RValue::Struct && value.structName == "picture" &&
         value.names == std::vector<std::string>{"drawing"};
}

void showPicture(IRGen &g, const RValue &picture, SourceRange range) {
  Value shown = g.create<TextOp>(range, {picture.elements[0].value}, {g.stringAttr("function", "picture_shown")});
  g.createOp<WriteOp>(range, {shown});
}

namespace {

RValue pictureOf(Value drawing) {
  RValue picture;
  picture.kind = RValue::Struct;
  picture.structName = "picture";
  picture.names = {"drawing"};
  picture.elements.push_back(drawing);
  return picture;
}

/// The operands of `picture_made` in their order.
class PictureBuilder {
public:
  PictureBuilder(IRGen &g, Bound &args, StringRef what, SourceRange range) : g(g), args(args), range(range) {
    operands.push_back(g.string(what, range));
    for (StringRef word : {"title", "xlabel", "ylabel"})
      operands.push_back(text(word));
    operands.push_back(labels());
    for (StringRef word : {"width", "height"})
      operands.push_back(given(word) ? indexValue(g, *args[word], args.row->name) : g.integer(0, range));
    for (StringRef word : {"xlog", "ylog"})
      operands.push_back(g.integer(given(word) && staticInteger(g, *args[word], args.row->name) != 0, range));
    operands.push_back(text("map"));
    for (StringRef word : {"low", "high"})
      operands.push_back(given(word) ? number(word) : g.floating(std::nan(""), DType::F64, range));
    operands.push_back(given("left_out") ? indexValue(g, *args["left_out"], args.row->name) : g.integer(0, range));
  }

  /// A tensor as f64; of complex values the parts.
  void add(const RValue &x, SourceRange place, bool asPair) {
    bool complex = x.tensor().isComplex();
    if (complex && !asPair)
      refuse(x, place, "real");
    Value re = complex ? g.create<RealOp>(place, {x.value}) : x.value;
    Value im = complex ? g.create<ImagOp>(place, {x.value}) : x.value;
    re = castTo(g, re, DType::F64, place);
    operands.push_back(re);
    if (asPair)
      operands.push_back(complex ? castTo(g, im, DType::F64, place) : re);
  }
  void addAsItIs(Value x) { operands.push_back(x); }

  RValue data(const ast::Expr &e, int64_t least, int64_t most, const char *want) {
    RValue x = needTensor(g, genExpr(g, e), args.row->name, e.range);
    if (x.rank() < least || x.rank() > most)
      refuse(x, e.range, want);
    return x;
  }
  [[noreturn]] void refuse(const RValue &x, SourceRange place, const char *want) {
    g.fail(DiagId::ArgumentKind, place, {args.row->name, "`" + g.sourceText(place) + "`", want, x.str()});
  }

  /// A series has a value for each of x: refused where it is known, checked where the run decides.
  void needAsMany(const RValue &x, const RValue &y, SourceRange place) {
    const Dim a = x.tensor().getDim(0), b = y.tensor().getDim(0);
    const std::string what = args.row->name + std::string(": sizes of x and of a series");
    if (a.isNumber() && b.isNumber() && !(a == b)) {
      for (Value v : {x.value, y.value})
        failLater(g, v, {DiagId::SizesDiffer, {what, a.str(), b.str()}, place});
      g.fail(DiagId::ArgumentKind, place,
             {args.row->name, "`" + g.sourceText(place) + "`", "as long as x, " + a.str(), y.str()},
             "a series has one value for each of x; series of other lengths are pictures of their own");
    }
    if (!(a == b))
      g.createOp<CheckEqualOp>(place, {sizeOf(g, x.value, 0, place), sizeOf(g, y.value, 0, place)},
                               {g.stringAttr("what", what)});
  }

  RValue build() { return pictureOf(g.create<TextOp>(range, operands, {g.stringAttr("function", "picture_made")})); }

private:
  /// Not every function has every word.
  bool given(StringRef word) const {
    return llvm::any_of(args.arguments, [&](const auto &a) { return a.first == word && a.second; });
  }
  Value text(StringRef word) {
    if (!given(word))
      return g.string("", range);
    RValue v = valueArgument(g, args, word);
    if (!v.isStr())
      g.fail(DiagId::ArgumentKind, args.rangeOf(word), {args.row->name, "`" + word.str() + "`", "a string", v.str()});
    return v.value;
  }
  /// A list of strings, or a string: the only label, or where it is empty none.
  Value labels() {
    if (!given("labels"))
      return g.string("", range);
    RValue v = valueArgument(g, args, "labels");
    if (v.isStr())
      return v.value;
    if (v.isList() && v.elements.empty())
      return g.string("", range);
    if (!v.isList() || v.str() != "list[str]")
      g.fail(DiagId::ArgumentKind, args.rangeOf("labels"), {args.row->name, "`labels`", "a list of strings", v.str()});
    return v.elements[0].value;
  }
  Value number(StringRef word) {
    RValue v = tensorArgument(g, args, word);
    if (v.rank() != 0 || v.tensor().isComplex())
      g.fail(DiagId::ArgumentKind, args.rangeOf(word), {args.row->name, "`" + word.str() + "`", "a number", v.str()});
    return castTo(g, v.value, DType::F64, args.rangeOf(word));
  }

  IRGen &g;
  Bound &args;
  SourceRange range;
  SmallVector<Value> operands;
};

} // namespace

/// `plot` and `scatter_plot`: y alone, or x and any number of series, vectors or the columns of matrices.
RValue plotBuiltin(IRGen &g, Bound &args, SourceRange r) {
  PictureBuilder picture(g, args, args.row->op, r);
  const ast::Expr &first = *args["x"];
  if (args.rest.empty()) {
    RValue y = picture.data(first, 1, 2, "a vector, or a matrix of columns");
    RValue count = RValue(castTo(g, g.create<IotaOp>(r, {sizeOf(g, y.value, 0, r)}), DType::F64, r));
    picture.add(count, first.range, false);
    picture.add(y, first.range, true);
    return picture.build();
  }
  const RValue x = picture.data(first, 1, 1, "a real vector");
  picture.add(x, first.range, false);
  for (const ast::Expr *e : args.rest) {
    const RValue y = picture.data(*e, 1, 2, "a vector, or a matrix of columns");
    picture.needAsMany(x, y, e->range);
    picture.add(y, e->range, true);
  }
  return picture.build();
}

/// Edges and counts; `hist` of the library counts.
RValue barsBuiltin(IRGen &g, Bound &args, SourceRange r) {
  PictureBuilder picture(g, args, "bars", r);
  for (StringRef word : {"edges", "counts"})
    picture.add(tensorArgument(g, args, word), args.rangeOf(word), false);
  return picture.build();
}

/// A real matrix by a colour map, a complex one by domain colouring, [H, W, 1, 3 or 4] as colours.
static RValue imageOf(IRGen &g, Bound &args, SourceRange r) {
  RValue x = tensorArgument(g, args, "x");
  bool complex = x.tensor().isComplex();
  PictureBuilder picture(g, args, x.rank() == 3 ? "colours" : complex ? "complex" : "image", r);
  if (x.rank() < 2 || x.rank() > (complex ? 2 : 3))
    picture.refuse(x, args.rangeOf("x"), "a matrix, or real of the form [H, W, 1, 3 or 4]");
  if (x.rank() == 3)
    picture.addAsItIs(x.value);
  else
    picture.add(x, args.rangeOf("x"), complex);
  return picture.build();
}

RValue imageBuiltin(IRGen &g, Bound &args, SourceRange r) { return imageOf(g, args, r); }

RValue showBuiltin(IRGen &g, Bound &args, SourceRange r) {
  showPicture(g, imageOf(g, args, r), r);
  return {};
}

RValue pictureBuiltin(IRGen &g, Bound &args, SourceRange r) {
  RValue drawing = valueArgument(g, args, "drawing");
  if (!drawing.isStr())
    g.fail(DiagId::ArgumentKind, args.rangeOf("drawing"), {"picture", "`drawing`", "a string", drawing.str()});
  return pictureOf(g.create<TextOp>(r, {drawing.value}, {g.stringAttr("function", "picture_read")}));
}

} // namespace toy

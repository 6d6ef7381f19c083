// SPDX-License-Identifier: Apache-2.0
/// \file
/// Constants: numbers read from their text in their final dtype with one rounding, brackets, strings.
#include "irgen/Expressions.h"

#include "irgen/Functions.h"
#include "irgen/Operations.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Error.h"

#include <cmath>

using namespace mlir;

namespace toy {

bool isLiteral(const ast::Expr &e) {
  if (auto *unary = ast::dynCast<ast::Unary>(&e))
    return unary->op != ast::UnaryOp::Not && unary->operand->kind == ast::NodeKind::Number;
  return e.kind == ast::NodeKind::Number;
}

/// A decimal text in a floating semantics; infinite when it overflows.
static APFloat readFloat(const std::string &text, bool negative, const llvm::fltSemantics &semantics) {
  APFloat value(semantics);
  std::string copy = text;
  bool minus = negative;
  if (!copy.empty() && copy[0] == '-') {
    minus = !minus;
    copy.erase(0, 1);
  }
  if (!copy.empty() && copy.back() == '.')
    copy += '0';
  if (copy.empty())
    copy = "0";
  if (auto result = value.convertFromString(copy, APFloat::rmNearestTiesToEven); !result)
    llvm::consumeError(result.takeError());
  if (minus)
    value.changeSign();
  return value;
}

static const llvm::fltSemantics &semanticsOf(IRGen &g, DType d) {
  return mlir::cast<FloatType>(elementTypeOf(g.context, realOf(d))).getFloatSemantics();
}

/// A decimal integer text in range of an integer dtype.
static std::optional<int64_t> readInteger(std::string text, bool negative, DType dtype) {
  if (!text.empty() && text[0] == '-') {
    negative = !negative;
    text.erase(0, 1);
  }
  uint64_t magnitude;
  if (StringRef(text).getAsInteger(10, magnitude))
    return std::nullopt;
  uint64_t limit = dtype == DType::U8     ? 255
                   : dtype == DType::I32  ? (1ull << 31) - 1
                   : dtype == DType::Bool ? 1
                                          : INT64_MAX;
  if (magnitude > limit + (negative && dtype >= DType::I32 ? 1 : 0) || (negative && dtype <= DType::U8 && magnitude))
    return std::nullopt;
  return static_cast<int64_t>(negative ? -magnitude : magnitude);
}

Value numberAs(IRGen &g, const ast::Expr &literal, DType dtype) {
  bool negative = false;
  const ast::Expr *e = &literal;
  if (auto *unary = ast::dynCast<ast::Unary>(e)) {
    negative = unary->op == ast::UnaryOp::Neg;
    e = unary->operand.get();
  }
  auto &n = ast::cast<ast::Number>(*e);
  Type element = elementTypeOf(g.context, dtype);
  auto rangeError = [&]() {
    g.fail(DiagId::LiteralRange, literal.range, {g.sourceText(literal.range), std::string(nameOf(dtype))});
  };
  if (kindOf(dtype) <= DKind::Int) {
    if (n.form != ast::Number::Integer)
      rangeError();
    auto value = readInteger(n.re, negative, dtype);
    if (!value)
      rangeError();
    return g.create<ConstantOp>(literal.range, {},
                                {g.attr("value", DenseElementsAttr::get(RankedTensorType::get({}, element),
                                                                        g.b.getIntegerAttr(element, *value)))});
  }
  APFloat re = readFloat(n.re, negative, semanticsOf(g, dtype)),
          im = readFloat(n.im, negative && !n.im.empty(), semanticsOf(g, dtype));
  if (n.re.empty() && !negative)
    re = APFloat(semanticsOf(g, dtype), "0");
  if (re.isInfinity() || im.isInfinity())
    rangeError();
  DenseElementsAttr value;
  auto type = RankedTensorType::get({}, element);
  if (isComplex(dtype))
    value = DenseElementsAttr::get(type, std::complex<APFloat>(re, im));
  else
    value = DenseElementsAttr::get(type, re);
  return g.create<ConstantOp>(literal.range, {}, {g.attr("value", value)});
}

/// Alone, an integer is i64, a float f64, an imaginary or complex number c128.
RValue genLiteral(IRGen &g, const ast::Expr &e) {
  auto *unary = ast::dynCast<ast::Unary>(&e);
  auto form = ast::cast<ast::Number>(unary ? *unary->operand : e).form;
  RValue val = numberAs(g, e,
                        form == ast::Number::Integer ? DType::I64
                        : form == ast::Number::Float ? DType::F64
                                                     : DType::C128);
  val.weak = true;
  val.literal = &e;
  return val;
}

/// A bracket of numbers as one constant: its texts are read straight into the buffer.
static Value compactBracket(IRGen &g, const ast::Bracket &bracket, DType dtype) {
  std::string_view text = g.diagnostics.getSources().get(bracket.range.buffer).getText();
  auto partText = [&](ast::Bracket::Part part) { return std::string(text.substr(part.begin, part.length)); };
  auto partRange = [&](ast::Bracket::Part part) {
    return SourceRange{bracket.range.buffer, part.begin, part.begin + part.length};
  };
  Type element = elementTypeOf(g.context, dtype);
  auto type = RankedTensorType::get(bracket.shape, element);
  size_t n = bracket.re.size();
  auto outOfRange = [&](ast::Bracket::Part part) {
    g.fail(DiagId::LiteralRange, partRange(part), {partText(part), std::string(nameOf(dtype))});
  };
  std::vector<char> raw(n * ::toy::sizeOf(dtype) + 1);
  auto store = [&](size_t i, ast::Bracket::Part part) {
    std::string s = part.length ? partText(part) : "0";
    double sign = part.negative ? -1 : 1;
    bool special = s == "inf" || s == "nan";
    if (isHalf(dtype)) {
      APFloat x = readFloat(s, part.negative, semanticsOf(g, dtype));
      if (x.isInfinity() && !special)
        outOfRange(part);
      uint16_t bits = x.bitcastToAPInt().getZExtValue();
      std::memcpy(raw.data() + i * 2, &bits, 2);
    } else if (realOf(dtype) == DType::F32) {
      float x = std::strtof(s.c_str(), nullptr) * static_cast<float>(sign);
      if (std::isinf(x) && !special)
        outOfRange(part);
      std::memcpy(raw.data() + i * 4, &x, 4);
    } else {
      double x = std::strtod(s.c_str(), nullptr) * sign;
      if (std::isinf(x) && !special)
        outOfRange(part);
      std::memcpy(raw.data() + i * 8, &x, 8);
    }
  };
  if (kindOf(dtype) <= DKind::Int) {
    for (size_t i = 0; i < n; ++i) {
      auto value = readInteger(partText(bracket.re[i]), bracket.re[i].negative, dtype);
      if (!value)
        outOfRange(bracket.re[i]);
      std::memcpy(raw.data() + i * ::toy::sizeOf(dtype), &*value, ::toy::sizeOf(dtype));
    }
    if (dtype == DType::Bool) {
      SmallVector<bool> bits(raw.begin(), raw.begin() + n);
      return g.create<ConstantOp>(bracket.range, {}, {g.attr("value", DenseElementsAttr::get(type, bits))});
    }
  } else {
    bool complex = isComplex(dtype);
    for (size_t i = 0; i < n; ++i) {
      store(complex ? 2 * i : i, bracket.re[i]);
      if (complex)
        store(2 * i + 1, bracket.im.empty() ? ast::Bracket::Part{} : bracket.im[i]);
    }
  }
  auto value = DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(raw).take_front(n * ::toy::sizeOf(dtype)));
  return g.create<ConstantOp>(bracket.range, {}, {g.attr("value", value)});
}

namespace {

/// The tree that the parser makes of a bracket whose elements are not plain numbers.
class BracketReader {
public:
  BracketReader(const ast::Bracket &compact, std::string_view text) : compact(compact), text(text) {}

  std::unique_ptr<ast::Bracket> level(size_t depth) {
    auto out = std::make_unique<ast::Bracket>(compact.range);
    for (int64_t i = 0; i < compact.shape[depth]; ++i)
      out->elements.push_back(depth + 1 < compact.shape.size() ? level(depth + 1) : element(next++));
    return out;
  }

private:
  using Part = ast::Bracket::Part;

  ast::ExprPtr element(size_t i) {
    Part re = compact.re[i], im = i < compact.im.size() ? compact.im[i] : Part();
    if (re.isCall) {
      auto call = std::make_unique<ast::Call>(rangeOf(re));
      call->callee = "complex";
      call->calleeRange = call->range;
      call->arguments.push_back({"", {}, real(re)});
      call->arguments.push_back({"", {}, real(im)});
      return call;
    }
    if (!im.length)
      return real(re);
    auto imaginary = std::make_unique<ast::Number>(rangeOf(im));
    imaginary->form = ast::Number::Imaginary;
    imaginary->im = textOf(im);
    if (!re.length)
      return signedBy(im.negative, std::move(imaginary));
    auto sum = std::make_unique<ast::Binary>(rangeOf(re).to(rangeOf(im)));
    sum->first = real(re);
    sum->steps.push_back({im.negative ? ast::BinaryOp::Sub : ast::BinaryOp::Add, rangeOf(im), std::move(imaginary)});
    return sum;
  }

  ast::ExprPtr real(Part part) {
    std::string spelling = textOf(part);
    if (spelling == "nan" || spelling == "inf") {
      auto name = std::make_unique<ast::Name>(rangeOf(part));
      name->name = spelling;
      return signedBy(part.negative, std::move(name));
    }
    auto number = std::make_unique<ast::Number>(rangeOf(part));
    number->form = spelling.find_first_of(".eE") == spelling.npos ? ast::Number::Integer : ast::Number::Float;
    number->re = spelling;
    return signedBy(part.negative, std::move(number));
  }

  static ast::ExprPtr signedBy(bool negative, ast::ExprPtr operand) {
    if (!negative)
      return operand;
    auto node = std::make_unique<ast::Unary>(operand->range);
    node->operand = std::move(operand);
    return node;
  }

  std::string textOf(Part part) const { return std::string(text.substr(part.begin, part.length)); }
  SourceRange rangeOf(Part part) const { return {compact.range.buffer, part.begin, part.begin + part.length}; }

  const ast::Bracket &compact;
  std::string_view text;
  size_t next = 0;
};

} // namespace

/// The expressions of a compact bracket, where the program has given `nan`, `inf` or `complex` another meaning; else
/// null.
static const ast::Bracket *expanded(IRGen &g, const ast::Bracket &e) {
  auto isVariable = [&](const char *name) { return lookup(g, name) || globalType(g, name); };
  if (!e.compact || !e.named ||
      !(isVariable("nan") || isVariable("inf") || userFunction(g, "complex") || userStruct(g, "complex")))
    return nullptr;
  g.expandedBrackets.push_back(BracketReader(e, g.diagnostics.getSources().get(e.range.buffer).getText()).level(0));
  return g.expandedBrackets.back().get();
}

/// An element that is no number: those of tuples are anything.
[[noreturn]] static void refuseElement(IRGen &g, const ast::Bracket &bracket, const ast::Expr &element,
                                       const RValue &value) {
  std::string text = g.sourceText(bracket.range);
  bool isShort = text.size() > 2 && text.size() < 80 && text.find('\n') == std::string::npos;
  std::string inside = isShort ? text.substr(1, text.size() - 2) : "";
  std::string help = !isShort             ? ""
                     : value.isCallable() ? "a tensor holds numbers; `(" + inside + ")` is a tuple"
                     : value.isStr()      ? "a tensor holds numbers; `list(" + inside + ")` holds texts"
                                          : "";
  g.fail(DiagId::LiteralElement, element.range, {value.type().str()}, help);
}

static DType dtypeOfElements(ArrayRef<RValue> values, bool keepsIntegers) {
  DKind highest = DKind::Bool;
  for (const RValue &value : values)
    highest = std::max(highest, kindOf(value.tensor().getDtype()));
  if (highest == DKind::Complex)
    return DType::C128;
  if (highest == DKind::Bool && !values.empty())
    return DType::Bool;
  return highest <= DKind::Int && keepsIntegers ? DType::I64 : DType::F64;
}

RValue genBracket(IRGen &g, const ast::Bracket &e, std::optional<DType> dtype, bool keepsIntegers) {
  if (const ast::Bracket *tree = expanded(g, e))
    return genBracket(g, *tree, dtype, keepsIntegers);
  if (e.compact && e.allBools) {
    std::string_view text = g.diagnostics.getSources().get(e.range.buffer).getText();
    SmallVector<bool> bits;
    for (ast::Bracket::Part part : e.re)
      bits.push_back(text[part.begin] == 't');
    auto value = DenseElementsAttr::get(RankedTensorType::get(e.shape, g.b.getI1Type()), bits);
    return castTo(g, g.create<ConstantOp>(e.range, {}, {g.attr("value", value)}), dtype.value_or(DType::Bool), e.range);
  }
  if (e.compact) {
    if (dtype && !isComplex(*dtype) && e.anyComplex)
      g.fail(DiagId::ComplexToReal, e.range, {"complex numbers", std::string(nameOf(*dtype))});
    DType number = keepsIntegers && e.allIntegers ? DType::I64 : DType::F64;
    DType target = dtype.value_or(e.anyComplex ? DType::C128 : number);
    if (kindOf(target) <= DKind::Int && !e.allIntegers) // as a conversion of the f64 tensor
      return castTo(g, compactBracket(g, e, DType::F64), target, e.range);
    return compactBracket(g, e, target);
  }
  std::vector<RValue> values;
  for (const ast::ExprPtr &element : e.elements) {
    if (auto *inner = ast::dynCast<ast::Bracket>(element.get()))
      values.push_back(genBracket(g, *inner, dtype, keepsIntegers));
    else if (dtype && isLiteral(*element))
      values.push_back(numberAs(g, *element, *dtype));
    else
      values.push_back(genExpr(g, *element));
    if (!values.back().isTensor())
      refuseElement(g, e, *element, values.back());
  }
  DType target = dtype.value_or(dtypeOfElements(values, keepsIntegers));
  SmallVector<Value> rows;
  for (auto [i, value] : llvm::enumerate(values)) {
    SourceRange range = e.elements[i]->range;
    if (value.rank() != values[0].rank())
      g.fail(DiagId::MixedNestingLiteral, range);
    if (value.rank() > 0 && e.elements[i]->kind != ast::NodeKind::Bracket)
      g.fail(DiagId::LiteralElement, range, {value.type().str()}, "use `stack` to join tensors");
    if (value.tensor().getSizes() != values[0].tensor().getSizes())
      g.fail(DiagId::RaggedLiteral, range, {value.tensor().getDim(0).str(), values[0].tensor().getDim(0).str()});
    Value x = castVal(g, value, target, range);
    SmallVector<Value> sizes = {g.integer(1, range)};
    llvm::append_range(sizes, sizesOf(g, x, range));
    rows.push_back(reshape(g, x, sizes, range));
  }
  return rows.size() == 1 ? rows[0] : g.create<ConcatOp>(e.range, rows, {g.integerAttr("axis", 0)});
}

RValue genPositions(IRGen &g, const ast::Expr &e) {
  auto *bracket = ast::dynCast<ast::Bracket>(&e);
  return bracket && !g.given.contains(&e) ? genBracket(g, *bracket, std::nullopt, true) : genExpr(g, e);
}

} // namespace toy

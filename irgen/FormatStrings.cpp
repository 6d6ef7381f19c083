// SPDX-License-Identifier: Apache-2.0
/// \file
/// Format strings: fields become operands of one operation, their specifications are checked here.
#include "irgen/Expressions.h"
#include "irgen/Pictures.h"
#include "irgen/Statements.h"
#include "support/FormatSpec.h"

using namespace mlir;

namespace toy {
namespace {

std::optional<FormatKind> kindOfValue(const RValue &v) {
  if (v.isStr())
    return FormatKind::Text;
  if (!v.isTensor())
    return std::nullopt;
  DType dtype = v.tensor().getDtype();
  return dtype == DType::Bool          ? FormatKind::Text
         : isComplex(dtype)            ? FormatKind::Complex
         : kindOf(dtype) <= DKind::Int ? FormatKind::Integer
                                       : FormatKind::Float;
}

class FormatBuilder {
public:
  explicit FormatBuilder(IRGen &g) : g(g) {}

  void add(const ast::Format::Part &part) {
    pieces.back() += part.text;
    if (part.value)
      field(part);
  }

  void value(const RValue &v, std::string spec, ValueRange numbers) {
    structure += (specs.empty() ? "" : ";") + structureOf(v);
    printedLeaves(v, operands);
    llvm::append_range(operands, numbers);
    specs.push_back(std::move(spec));
    pieces.emplace_back();
  }

  void text(const RValue &v) {
    if (auto known = stringOf(v))
      pieces.back() += *known;
    else
      value(v, "", {});
  }

  RValue build(SourceRange range) {
    if (specs.empty())
      return g.string(pieces[0], range);
    auto texts = [&](const std::vector<std::string> &all) {
      SmallVector<StringRef> refs(all.begin(), all.end());
      return g.b.getStrArrayAttr(refs);
    };
    return g.create<FormatOp>(
        range, operands,
        {g.attr("pieces", texts(pieces)), g.attr("specs", texts(specs)), g.stringAttr("structure", structure)});
  }

private:
  void field(const ast::Format::Part &part) {
    RValue v = genExpr(g, *part.value);
    if (v.kind == RValue::Nothing)
      g.fail(DiagId::NoValue, part.value->range, {g.sourceText(part.value->range)});
    if (isPicture(v))
      v = textOf(g, v, Value(), part.value->range);
    std::string spec, written;
    SmallVector<Value> numbers;
    for (const ast::Format::Part &piece : part.spec) {
      spec += piece.value ? "{}" : piece.text;
      written += piece.value ? "{" + g.sourceText(piece.value->range) + "}" : piece.text;
      if (piece.value)
        numbers.push_back(indexValue(g, *piece.value, "format"));
    }
    if (spec.empty())
      return value(v, part.isShown && v.isStr() ? "\"" : "", {});
    check(part, v, spec, written);
    value(v, std::move(spec), numbers);
  }

  void check(const ast::Format::Part &part, const RValue &v, const std::string &text, const std::string &written) {
    FormatSpec spec;
    if (std::string problem; !parseFormatSpec(text, spec, problem))
      g.fail(DiagId::FormatSpec, part.specRange, {written, problem});
    std::string source = g.sourceText(part.value->range);
    auto kind = kindOfValue(v);
    std::string misfit = kind ? misfitOf(spec, *kind) : "a format is for numbers and text";
    if (!misfit.empty())
      g.fail(DiagId::FormatMisfit, part.specRange, {misfit, source, v.str()},
             kind ? help(spec, v, written, source) : "");
  }

  /// The field as it could be written, where a type of another kind of numbers was asked for.
  std::string help(const FormatSpec &spec, const RValue &v, const std::string &written, const std::string &source) {
    auto field = [&](const std::string &value, const std::string &format) {
      std::string out = "{" + value + (format.empty() ? "" : ":" + format) + "}";
      return out.size() < 80 ? "write `" + out + "`" : "";
    };
    if (!spec.type || v.isStr())
      return "";
    std::string rest = written.substr(0, written.size() - 1);
    bool isBool = v.tensor().getDtype() == DType::Bool, isFloat = !isBool && kindOf(v.tensor().getDtype()) > DKind::Int;
    if (spec.type == 'd' && isFloat && spec.precision == FormatSpec::none)
      return field(source, rest + ".0f");
    bool integral = StringRef("boxXdc").contains(spec.type);
    if (integral && (isBool || !v.tensor().isComplex()) && spec.precision == FormatSpec::none)
      return field("i64(" + source + ")", written);
    if (spec.type == 's' && !isBool)
      return field(source, rest);
    return "";
  }

  IRGen &g;
  std::vector<std::string> pieces = {""}, specs;
  std::string structure;
  SmallVector<Value> operands;
};

} // namespace

RValue genFormat(IRGen &g, const ast::Format &format) {
  FormatBuilder builder(g);
  for (const ast::Format::Part &part : format.parts)
    builder.add(part);
  return builder.build(format.range);
}

Value joinedText(IRGen &g, ArrayRef<RValue> values, const RValue &sep, const RValue &end, SourceRange range) {
  FormatBuilder builder(g);
  for (auto [i, v] : llvm::enumerate(values)) {
    if (v.kind == RValue::Nothing)
      g.fail(DiagId::NoValue, range, {"argument " + std::to_string(i + 1)});
    if (i)
      builder.text(sep);
    builder.text(isPicture(v) ? textOf(g, v, Value(), range) : v);
  }
  builder.text(end);
  return builder.build(range).value;
}

RValue textOf(IRGen &g, const RValue &v, Value digits, SourceRange range) {
  if (v.kind == RValue::Nothing)
    g.fail(DiagId::NoValue, range, {g.sourceText(range)});
  if (v.kind == RValue::DTypeRef)
    return g.string(std::string(nameOf(v.dtype)), range);
  if (v.isStr())
    return v;
  if (isPicture(v))
    return g.create<TextOp>(range, {v.elements[0].value}, {g.stringAttr("function", "picture_text")});
  if (v.isTensor() && !digits)
    return g.create<ToStrOp>(range, {v.value});
  FormatBuilder builder(g);
  builder.value(v, digits ? "print {}" : "", digits ? ValueRange(digits) : ValueRange());
  return builder.build(range);
}

} // namespace toy

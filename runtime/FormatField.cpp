// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers as Python formats them: a floating value is its exact decimal expansion, rounded once, ties to even.
#include "runtime/FormatField.h"

#include "runtime/Error.h"
#include "runtime/Format.h"
#include "runtime/Memory.h"
#include "support/Half.h"
#include "support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace toy::rt {
namespace {

/// A number in pieces, so that signs, zeros and separators find their places.
struct Digits {
  std::string whole;  ///< before the point
  std::string behind; ///< the point, decimals, exponent, `%`
  bool isZero = false, isFinite = true;
};

std::string exactly(double x, std::chars_format style, int precision) {
  std::string out(style == std::chars_format::fixed ? precision + 320 : precision + 16, '\0');
  out.resize(std::to_chars(out.data(), out.data() + out.size(), x, style, precision).ptr - out.data());
  return out;
}

/// `123.4500` to `123.45` and `123.` to `123`.
void stripZeros(std::string &decimals) {
  if (!decimals.starts_with('.'))
    return;
  decimals.resize(decimals.find_last_not_of('0') + 1);
  if (decimals == ".")
    decimals.clear();
}

/// Splits a number at its point or exponent.
Digits split(std::string text) {
  size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  return {text.substr(0, end), text.substr(end)};
}

Digits withExponent(double x, int precision, bool keepPoint, bool strip) {
  std::string text = exactly(x, std::chars_format::scientific, precision);
  size_t e = text.find('e');
  Digits out = split(text.substr(0, e));
  if (strip)
    stripZeros(out.behind);
  if (keepPoint && out.behind.empty())
    out.behind = ".";
  out.behind += text.substr(e);
  return out;
}

Digits fixedPoint(double x, int precision, bool keepPoint, bool strip) {
  Digits out = split(exactly(x, std::chars_format::fixed, precision));
  if (strip)
    stripZeros(out.behind);
  if (keepPoint && out.behind.empty())
    out.behind = ".";
  return out;
}

/// A hundred times the value: the point moves, so that nothing is rounded twice.
Digits percent(double x, int precision, bool keepPoint) {
  Digits out = split(exactly(x, std::chars_format::fixed, precision + 2));
  out.whole += out.behind.substr(1, 2);
  out.whole.erase(0, std::min(out.whole.find_first_not_of('0'), out.whole.size() - 1));
  out.behind.erase(1, 2);
  if (out.behind == "." && !keepPoint)
    out.behind.clear();
  out.behind += '%';
  return out;
}

/// Significant digits, with an exponent where it is small or needs more digits than there are.
Digits general(double x, int precision, bool keepZeros, bool needsPoint) {
  precision = std::max(precision, 1);
  std::string text = exactly(x, std::chars_format::scientific, precision - 1);
  int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  if (exponent < -4 || exponent >= precision - needsPoint)
    return withExponent(x, precision - 1, keepZeros, !keepZeros);
  Digits out = fixedPoint(x, std::max(precision - 1 - exponent, 0), keepZeros, !keepZeros);
  if (needsPoint && out.behind.empty())
    out.behind = ".0";
  return out;
}

Digits shortest(double x, DType dtype) {
  std::string text;
  if (dtype == DType::F32 || dtype == DType::C64) {
    auto value = static_cast<float>(x);
    appendElement(text, DType::F32, &value, false);
  } else if (isHalf(dtype)) {
    uint16_t bits = toHalf(dtype, x);
    appendElement(text, dtype, &bits, false);
  } else
    appendFloat(text, x, false);
  return split(std::move(text));
}

/// The magnitude of a finite or other value.
Digits digitsOf(const FormatSpec &spec, double x, DType dtype) {
  x = std::fabs(x);
  Digits out;
  char type = static_cast<char>(std::tolower(spec.type));
  int precision = spec.precision == FormatSpec::none ? 6 : spec.precision;
  if (!std::isfinite(x))
    out = {std::isnan(x) ? "nan" : "inf", type == '%' ? "%" : "", false, false};
  else if (type == 'e')
    out = withExponent(x, precision, spec.alternate, false);
  else if (type == 'f')
    out = fixedPoint(x, precision, spec.alternate, false);
  else if (type == '%')
    out = percent(x, precision, spec.alternate);
  else if (type == 'g')
    out = general(x, precision, spec.alternate, false);
  else if (spec.precision != FormatSpec::none)
    out = general(x, precision, spec.alternate, true);
  else
    out = shortest(x, dtype);
  std::string_view significand = std::string_view(out.behind).substr(0, out.behind.find('e'));
  out.isZero = out.isFinite && (out.whole + std::string(significand)).find_first_of("123456789") == std::string::npos;
  if (spec.type == 'E' || spec.type == 'F' || spec.type == 'G')
    for (std::string *part : {&out.whole, &out.behind})
      std::transform(part->begin(), part->end(), part->begin(), [](char c) { return std::toupper(c); });
  return out;
}

std::string grouped(std::string_view digits, char separator, size_t group) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % group == 0)
      out += separator;
    out += digits[i];
  }
  return out;
}

/// Sign, zeros up to the width where they are asked for, separators.
std::string composed(const FormatSpec &spec, Digits digits, bool negative, std::string_view prefix, size_t group) {
  std::string head = negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "";
  head += prefix;
  bool fillsZeros = spec.fill == "0" && (spec.align == '=' || (spec.zeros && !spec.align));
  if (spec.grouping && digits.isFinite) {
    size_t outside = head.size() + digits.behind.size();
    if (fillsZeros && spec.width > 0)
      for (size_t n = digits.whole.size(); n + (n - 1) / group + outside < static_cast<size_t>(spec.width); ++n)
        digits.whole.insert(0, 1, '0');
    digits.whole = grouped(digits.whole, spec.grouping, group);
  }
  std::string body = digits.whole + digits.behind;
  size_t columns = head.size() + body.size();
  if (spec.align == '=' || fillsZeros)
    for (; spec.width > 0 && columns < static_cast<size_t>(spec.width);
         columns += std::max<size_t>(columnsOf(spec.fill), 1))
      head += spec.fill;
  return head + body;
}

std::string realText(const FormatSpec &spec, double x, DType dtype) {
  Digits digits = digitsOf(spec, x, dtype);
  bool negative = std::signbit(x) && !std::isnan(x) && !(spec.positiveZero && digits.isZero);
  return composed(spec, std::move(digits), negative, "", 3);
}

std::string characterOf(int64_t code) {
  if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
    fail(DiagId::FormatCharacter, {std::to_string(code)});
  std::string out;
  if (code < 0x80)
    return {static_cast<char>(code)};
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr int leads[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(leads[more] | code >> 6 * more);
  while (more-- > 0)
    out += static_cast<char>(0x80 | (code >> 6 * more & 0x3F));
  return out;
}

std::string integerText(const FormatSpec &spec, int64_t n) {
  auto magnitude = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  if (spec.type == 'c')
    return characterOf(n);
  bool decimal = spec.type == 0 || spec.type == 'd';
  std::string whole = spec.type == 'b'   ? fmt::format("{:b}", magnitude)
                      : spec.type == 'o' ? fmt::format("{:o}", magnitude)
                      : spec.type == 'x' ? fmt::format("{:x}", magnitude)
                      : spec.type == 'X' ? fmt::format("{:X}", magnitude)
                                         : std::to_string(magnitude);
  std::string prefix = spec.alternate && !decimal ? std::string{'0', spec.type} : "";
  return composed(spec, {whole, "", n == 0}, n < 0, prefix, decimal ? 3 : 4);
}

} // namespace

std::string padded(const FormatSpec &spec, std::string text, char align) {
  int64_t missing = spec.width - static_cast<int64_t>(columnsOf(text));
  int64_t step = std::max<int64_t>(static_cast<int64_t>(columnsOf(spec.fill)), 1), fills = missing / step;
  if (missing <= 0)
    return text;
  align = spec.align ? spec.align : align;
  int64_t before = align == '<' ? 0 : align == '^' ? fills / 2 : fills;
  std::string out;
  for (int64_t i = 0; i < before; ++i)
    out += spec.fill;
  out += text;
  for (int64_t i = before; i < fills; ++i)
    out += spec.fill;
  return out;
}

std::string formatText(const FormatSpec &spec, std::string_view text) {
  size_t end = 0;
  for (int i = 0; end < text.size() && (spec.precision == FormatSpec::none || i < spec.precision); ++i)
    end += std::min(characterLength(text.substr(end)), text.size() - end);
  return padded(spec, std::string(text.substr(0, end)), '<');
}

/// `.3f`, `8.2e`, `5d`: digits, and blanks around them.
static bool appendPlain(std::string &out, const FormatSpec &spec, DType dtype, const void *element) {
  const DKind kind = kindOf(dtype);
  const bool isInteger = kind == DKind::Int && (spec.type == 0 || spec.type == 'd');
  if ((spec.sign && spec.sign != '-') || spec.positiveZero || spec.alternate || spec.zeros || spec.grouping ||
      spec.align == '=' || spec.fill.size() != 1 || !(isInteger || kind == DKind::Float))
    return false;
  std::array<char, 512> digits;
  char *const begin = digits.data(), *const last = begin + digits.size();
  char *end;
  if (isInteger)
    end = std::to_chars(begin, last, integerOf(dtype, element)).ptr;
  else {
    const double x = partsOf(dtype, element).real();
    const int precision = spec.precision == FormatSpec::none ? 6 : spec.precision;
    if (!std::isfinite(x) || precision > 100 || (spec.type != 'f' && spec.type != 'e'))
      return false;
    auto style = spec.type == 'f' ? std::chars_format::fixed : std::chars_format::scientific;
    end = std::to_chars(begin, last, x, style, precision).ptr;
  }
  const int64_t fills = std::max<int64_t>(spec.width - (end - begin), 0), before = spec.align == '<'   ? 0
                                                                                   : spec.align == '^' ? fills / 2
                                                                                                       : fills;
  out.append(before, spec.fill[0]);
  out.append(begin, end);
  out.append(fills - before, spec.fill[0]);
  return true;
}

void appendElement(std::string &out, const FormatSpec &spec, DType dtype, const void *element) {
  if (!appendPlain(out, spec, dtype, element))
    out += formatElement(spec, dtype, element);
}

std::string formatElement(const FormatSpec &spec, DType dtype, const void *element) {
  if (dtype == DType::Bool)
    return formatText(spec, *static_cast<const uint8_t *>(element) ? "true" : "false");
  auto parts = partsOf(dtype, element);
  if (isComplex(dtype)) {
    FormatSpec part = spec;
    part.width = FormatSpec::none;
    std::string text = realText(part, parts.real(), dtype);
    part.sign = '+';
    return padded(spec, text + realText(part, parts.imag(), dtype) + "i", '>');
  }
  bool isInteger = kindOf(dtype) <= DKind::Int;
  bool asInteger =
      isInteger && (spec.type == 0 || std::string_view("boxXdc").find(spec.type) != std::string_view::npos);
  if (!asInteger)
    return padded(
        spec, realText(spec, isInteger ? static_cast<double>(integerOf(dtype, element)) : parts.real(), dtype), '>');
  return padded(spec, integerText(spec, integerOf(dtype, element)), '>');
}

static int numberFor(std::span<const int64_t> &numbers, const char *what, int64_t least) {
  if (numbers.empty())
    fail(DiagId::Internal, {"a format without its number"});
  int64_t n = numbers.front();
  numbers = numbers.subspan(1);
  if (n < least || n > FormatSpec::largest)
    fail(DiagId::FormatNumber, {what, std::to_string(n)});
  return static_cast<int>(n);
}

/// A field whose specification begins with `print`, or none.
static PrintOptions printed(std::span<const int64_t> &numbers) {
  PrintOptions options = printOptions();
  options.precision = numberFor(numbers, "precision", 1);
  options.scalars = true;
  return options;
}

static void takeNumbers(FormatSpec &spec, std::span<const int64_t> numbers) {
  if (spec.width == FormatSpec::given)
    spec.width = numberFor(numbers, "width", 0);
  if (spec.precision == FormatSpec::given)
    spec.precision = numberFor(numbers, "precision", 0);
}

std::string formatField(const Value &value, std::string_view text, std::span<const int64_t> numbers) {
  const auto *string = std::get_if<StrRef>(&value);
  if (text.empty() || text == "\"")
    return string && !text.empty() ? quoted((*string)->text) : format(value);
  const auto *tensor = std::get_if<TensorRef>(&value);
  if (text == "print {}")
    return format(value, printed(numbers));
  FormatSpec spec;
  if (std::string problem; !parseFormatSpec(text, spec, problem) || !(string || tensor))
    fail(DiagId::Internal, {problem});
  takeNumbers(spec, numbers);
  if (string)
    return formatText(spec, (*string)->text);
  return format(**tensor, printOptions(), &spec);
}

namespace {

/// A field of a plan.
struct PlannedField {
  FormatPlan::Kind kind;
  DType dtype;
  char form; ///< 0: as print shows it; a quote; else by the specification
  uint8_t numbers, fillLength;
  char fill[4], align, sign, grouping, type;
  bool positiveZero, alternate, zeros;
  int32_t width, precision;

  FormatSpec spec() const {
    return {.fill = std::string(fill, fillLength),
            .align = align,
            .sign = sign,
            .positiveZero = positiveZero,
            .alternate = alternate,
            .zeros = zeros,
            .width = width,
            .grouping = grouping,
            .precision = precision,
            .type = type};
  }
};

template <typename T> T take(const char *&plan) {
  T value;
  std::memcpy(&value, plan, sizeof value);
  plan += sizeof value;
  return value;
}

template <typename T> void put(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void appendField(std::string &out, const PlannedField &field, const int64_t *words) {
  int64_t numbers[2];
  for (unsigned i = 0; i < field.numbers; ++i)
    numbers[i] = words[2 * (i + 1)];
  FormatSpec spec = field.spec();
  if (field.form)
    takeNumbers(spec, {numbers, field.numbers});
  if (field.kind == FormatPlan::Scalar)
    return field.form ? appendElement(out, spec, field.dtype, words) : appendScalar(out, field.dtype, words);
  auto *object = reinterpret_cast<void *>(*words);
  if (field.kind == FormatPlan::Tensor)
    out += format(*static_cast<Tensor *>(object), printOptions(), field.form ? &spec : nullptr);
  else if (const std::string &text = static_cast<Str *>(object)->text; field.form == '"')
    out += quoted(text);
  else
    out += field.form ? formatText(spec, text) : text;
}

} // namespace

void FormatPlan::piece(std::string_view text) {
  put(bytes, static_cast<uint32_t>(text.size()));
  bytes += text;
}

bool FormatPlan::field(Kind kind, DType dtype, std::string_view text) {
  FormatSpec spec;
  std::string problem;
  const bool isPrint = text.empty() || text == "\"";
  if (!isPrint && (text == "print {}" || !parseFormatSpec(text, spec, problem) || spec.fill.size() > 4))
    return false;
  PlannedField field = {};
  field.kind = kind;
  field.dtype = dtype;
  field.form = text.empty() ? '\0' : isPrint ? '"' : 's';
  field.numbers = (spec.width == FormatSpec::given) + (spec.precision == FormatSpec::given);
  field.fillLength = spec.fill.size();
  std::ranges::copy(spec.fill, field.fill);
  field.align = spec.align;
  field.sign = spec.sign;
  field.grouping = spec.grouping;
  field.type = spec.type;
  field.positiveZero = spec.positiveZero;
  field.alternate = spec.alternate;
  field.zeros = spec.zeros;
  field.width = spec.width;
  field.precision = spec.precision;
  put(bytes, field);
  return true;
}

std::string FormatPlan::finish() {
  put(bytes, PlannedField{});
  return std::move(bytes);
}

std::string FormatPlan::run(const char *plan, const int64_t *words) {
  std::string out;
  while (true) {
    const auto length = take<uint32_t>(plan);
    out.append(plan, length);
    plan += length;
    const auto field = take<PlannedField>(plan);
    if (field.kind == End)
      return out;
    appendField(out, field, words);
    words += 2 * (1 + field.numbers);
  }
}

} // namespace toy::rt

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shortest digits for scalars and full precision; for tensors a common number of decimals, or a common exponent form,
/// of 6 significant digits.
#include "runtime/Format.h"

#include "runtime/FormatField.h"
#include "runtime/List.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "support/Half.h"
#include "support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>

namespace toy::rt {

PrintOptions &printOptions() {
  static PrintOptions options;
  return options;
}

void appendFloat(std::string &out, double value, bool single) {
  if (std::isnan(value))
    out += "nan";
  else if (std::isinf(value))
    out += value < 0 ? "-inf" : "inf";
  else {
    char buffer[40];
    double magnitude = std::fabs(value);
    auto style = magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e16) ? std::chars_format::scientific
                                                                           : std::chars_format::fixed;
    auto end = single ? std::to_chars(buffer, buffer + 40, static_cast<float>(value), style).ptr
                      : std::to_chars(buffer, buffer + 40, value, style).ptr;
    std::string_view text(buffer, end - buffer);
    out += text;
    if (style == std::chars_format::fixed && text.find('.') == std::string_view::npos)
      out += ".0";
  }
}

/// The shortest digits that read back to the same half.
static void appendHalf(std::string &out, DType dtype, uint16_t bits) {
  double value = fromHalf(dtype, bits), shortest = value;
  if (std::isfinite(value))
    for (int digits = 1; digits < 10; ++digits)
      if (shortest = std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
          toHalf(dtype, shortest) == bits)
        break;
  appendFloat(out, shortest, false);
}

std::complex<double> partsOf(DType dtype, const void *p) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
  case DType::I32:
  case DType::I64:
    return static_cast<double>(integerOf(dtype, p));
  case DType::BF16:
  case DType::F16:
    return fromHalf(dtype, *static_cast<const uint16_t *>(p));
  case DType::F32:
    return *static_cast<const float *>(p);
  case DType::F64:
    return *static_cast<const double *>(p);
  case DType::C64:
    return {static_cast<const float *>(p)[0], static_cast<const float *>(p)[1]};
  default:
    return {static_cast<const double *>(p)[0], static_cast<const double *>(p)[1]};
  }
}

int64_t integerOf(DType dtype, const void *p) {
  return dtype == DType::I64   ? *static_cast<const int64_t *>(p)
         : dtype == DType::I32 ? *static_cast<const int32_t *>(p)
                               : *static_cast<const uint8_t *>(p);
}

static void appendInteger(std::string &out, DType dtype, const void *p) {
  int64_t n = integerOf(dtype, p);
  if (dtype == DType::Bool) {
    out += n ? "true" : "false";
    return;
  }
  fmt::format_int digits(n);
  out.append(digits.data(), digits.size());
}

void appendElement(std::string &out, DType dtype, const void *p, bool full) {
  if (kindOf(dtype) <= DKind::Int)
    return appendInteger(out, dtype, p);
  auto z = partsOf(dtype, p);
  bool single = realOf(dtype) == DType::F32;
  if (isHalf(dtype))
    return appendHalf(out, dtype, *static_cast<const uint16_t *>(p));
  if (!isComplex(dtype))
    return appendFloat(out, z.real(), single);
  bool literal = std::isfinite(z.real()) && std::isfinite(z.imag());
  if (full && !literal) {
    out += "complex(";
    appendFloat(out, z.real(), single);
    out += ", ";
    appendFloat(out, z.imag(), single);
    out += ')';
    return;
  }
  appendFloat(out, z.real(), single);
  if (!std::signbit(z.imag()) || std::isnan(z.imag()))
    out += '+';
  appendFloat(out, z.imag(), single);
  out += 'i';
}

namespace {

/// How the elements of one tensor are written: a number of decimals, fixed or scientific.
struct Style {
  bool scientific = false;
  int decimals = 1;

  /// From the largest and smallest magnitudes that are not 0.
  void choose(double largest, double smallest) {
    scientific = largest >= 1e8 || (smallest > 0 && smallest < 1e-4) || (smallest > 0 && largest / smallest > 1e6);
  }
  /// Decimals that a part needs at the given significant digits.
  int needed(double x, int digits) const {
    if (!std::isfinite(x) || x == 0)
      return 1;
    std::string text = fmt::format("{:.{}e}", std::fabs(x), digits - 1);
    size_t e = text.find('e');
    int exponent = std::stoi(text.substr(e + 1));
    std::string mantissa = text.substr(0, e);
    size_t last = mantissa.find_last_not_of('0');
    int behind = last == std::string::npos || last <= 1
                     ? 0
                     : static_cast<int>(last) - 1; // digits behind the first that are not zero
    return std::max(scientific ? behind : behind - exponent, 1);
  }
  std::string part(double x) const {
    if (std::isnan(x))
      return "nan";
    if (std::isinf(x))
      return x < 0 ? "-inf" : "inf";
    return scientific ? fmt::format("{:.{}e}", x, decimals) : fmt::format("{:.{}f}", x, decimals);
  }
};

class TensorFormatter {
public:
  TensorFormatter(const Tensor &t, const PrintOptions &options, const FormatSpec *spec)
      : t(t), options(options), spec(spec) {
    double parts = 1; // elements; where there are none, empty rows, of which nobody needs all
    for (int64_t size : t.shape())
      parts *= std::max<int64_t>(size, 1);
    summarised = (!options.full() || t.count() == 0) && parts > static_cast<double>(options.threshold);
    full = options.full();
    edges.assign(t.rank, summarised ? options.edge : std::numeric_limits<int64_t>::max() / 2);
  }

  std::string run() {
    if (!full) {
      if (!summarised)
        onHost(t);
      collect();
      if (options.height > 0 && t.count() > 0 && fitToHeight())
        collect();
    } else
      onHost(t);
    axis(0, 0, 1);
    return std::move(out);
  }

private:
  const char *element(int64_t i) const {
    int64_t at = copied.empty() ? i : std::lower_bound(shown.begin(), shown.end(), i) - shown.begin();
    return (copied.empty() ? static_cast<const char *>(onHost(t)) : copied.data()) + at * sizeOf(t.dtype);
  }
  /// The elements that are shown, from the device, neighbours together.
  void copyShown() {
    int64_t bytes = sizeOf(t.dtype);
    copied.resize(shown.size() * bytes);
    for (size_t begin = 0, end; begin < shown.size(); begin = end) {
      for (end = begin + 1; end < shown.size() && shown[end] == shown[end - 1] + 1;)
        ++end;
      readBytes(t, shown[begin] * bytes, static_cast<int64_t>(end - begin) * bytes, copied.data() + begin * bytes);
    }
  }
  /// The texts of the elements that are shown.
  void collect() {
    texts.clear();
    shown.clear();
    copied.clear();
    width = 0;
    visit(
        [&](int64_t i) {
          texts.emplace_back();
          shown.push_back(i);
        },
        0, 0);
    if (!t.storage->data)
      copyShown();
    layout();
  }

  size_t appended = 0;
  bool hidden(int axis, int64_t index, int64_t size) const {
    int64_t edge = edges[axis];
    return size > 2 * edge && index >= edge && index < size - edge;
  }

  bool hides(int axis) const { return edges[axis] * 2 < t.sizes[axis]; }
  /// Elements of an axis that are shown, and the mark for the others.
  int64_t items(int axis) const { return hides(axis) ? edges[axis] * 2 + 1 : t.sizes[axis]; }
  bool canShrink(int axis) const { return hides(axis) ? edges[axis] > 1 : t.sizes[axis] > 2; }
  int64_t rows() const {
    int last = t.rank - 1;
    int64_t columns = std::max<int64_t>((options.width - t.rank) / static_cast<int64_t>(width + 2), 1),
            out = (items(last) + columns - 1) / columns;
    for (int axis = last - 1; axis >= 0; --axis)
      out = (items(axis) - hides(axis)) * out + hides(axis) + (items(axis) - 1) * (last - 1 - axis);
    return out;
  }
  /// Hides elements until the rows fit or only the ends of all axes are left: of the longest axis before the last one,
  /// then of the last one. False where nothing is hidden.
  bool fitToHeight() {
    bool changed = false;
    while (rows() > options.height) {
      int longest = t.rank - 1;
      for (int axis = t.rank - 2; axis >= 0; --axis)
        if (canShrink(axis) && (longest == t.rank - 1 || items(axis) >= items(longest)))
          longest = axis;
      if (!canShrink(longest))
        break;
      edges[longest] = hides(longest) ? edges[longest] - 1 : (t.sizes[longest] - 1) / 2;
      changed = true;
    }
    return changed;
  }

  template <typename F> void visit(F &&f, int axis, int64_t offset) {
    if (axis == t.rank)
      return f(offset);
    int64_t n = t.count() == 0 ? 0 : t.sizes[axis];
    for (int64_t i = 0; i < n; ++i) {
      if (hidden(axis, i, n)) {
        i = n - edges[axis] - 1;
        continue;
      }
      visit(f, axis + 1, offset * n + i);
    }
  }

  void layout() {
    if (spec && (spec->type || spec->precision != FormatSpec::none || kindOf(t.dtype) <= DKind::Int)) {
      for (size_t k = 0; k < shown.size(); ++k)
        texts[k] = formatElement(*spec, t.dtype, element(shown[k]));
    } else if (kindOf(t.dtype) <= DKind::Int) {
      for (size_t k = 0; k < shown.size(); ++k)
        appendElement(texts[k], t.dtype, element(shown[k]), false);
    } else {
      Style style;
      double largest = 0, smallest = 0;
      auto each = [&](auto &&f) {
        for (int64_t i : shown) {
          auto z = partsOf(t.dtype, element(i));
          if (isComplex(t.dtype) && options.polar && !spec)
            f(std::abs(z));
          else {
            f(z.real());
            if (isComplex(t.dtype))
              f(z.imag());
          }
        }
      };
      each([&](double x) {
        x = std::fabs(x);
        if (std::isfinite(x) && x != 0) {
          largest = std::max(largest, x);
          smallest = smallest == 0 ? x : std::min(smallest, x);
        }
      });
      style.choose(largest, smallest);
      each([&](double x) { style.decimals = std::max(style.decimals, style.needed(x, options.precision)); });
      style.decimals = std::min(style.decimals, style.scientific ? options.precision - 1 : options.precision);
      for (size_t k = 0; k < shown.size(); ++k) {
        auto z = partsOf(t.dtype, element(shown[k]));
        if (spec) { // as many digits as without it
          FormatSpec digits = *spec;
          digits.type = style.scientific ? 'e' : 'f';
          digits.precision = style.decimals;
          texts[k] = formatElement(digits, t.dtype, element(shown[k]));
          continue;
        }
        if (isComplex(t.dtype) && options.polar) {
          texts[k] = style.part(std::abs(z)) +
                     fmt::format("∠{:.{}f}°", std::arg(z) * (180 / M_PI), std::min(options.precision, 2));
          continue;
        }
        texts[k] = style.part(z.real());
        if (isComplex(t.dtype)) {
          if (!std::signbit(z.imag()) || std::isnan(z.imag()))
            texts[k] += '+';
          texts[k] += style.part(z.imag()) + "i";
        }
      }
    }
    for (const std::string &text : texts)
      width = std::max(width, columnsOf(text));
  }

  void appendText(int64_t offset) {
    if (++appended % 4096 == 0)
      poll();
    if (full && spec)
      out += formatElement(*spec, t.dtype, element(offset));
    if (full)
      return spec ? void() : appendElement(out, t.dtype, element(offset), true);
    const std::string &text = texts[next++];
    out.append(width - columnsOf(text), ' ');
    out += text;
  }

  void axis(int axisIndex, int64_t offset, size_t indent) {
    if (axisIndex == t.rank)
      return appendText(offset);
    out += '[';
    int64_t n = t.sizes[axisIndex];
    bool last = axisIndex == t.rank - 1;
    size_t column = indent;
    for (int64_t i = 0; i < n; ++i) {
      if (i % 1024 == 1023)
        poll();
      if (i > 0)
        separator(last, axisIndex, indent, column);
      if (hidden(axisIndex, i, n)) {
        out += "…";
        i = n - edges[axisIndex] - 1;
        column += 3;
        continue;
      }
      axis(axisIndex + 1, offset * n + i, indent + 1);
      column += width + 2;
    }
    out += ']';
  }

  void separator(bool last, int axisIndex, size_t indent, size_t &column) {
    if (full) {
      out += last ? ", " : ",\n";
      return;
    }
    if (last && static_cast<int64_t>(column + width + 1) <= options.width) {
      out += ", ";
      return;
    }
    out += ',';
    out.append(last ? 1 : t.rank - 1 - axisIndex, '\n');
    out.append(indent, ' ');
    column = indent;
  }

  const Tensor &t;
  const PrintOptions &options;
  const FormatSpec *spec; ///< null: as `print`
  bool summarised, full;
  std::vector<int64_t> edges; ///< for each axis, how many elements are shown at each end
  std::vector<int64_t> shown;
  std::vector<char> copied; ///< what is shown, where the rest is on a device
  std::vector<std::string> texts;
  size_t width = 0, next = 0;
  std::string out;
};

} // namespace

void appendScalar(std::string &out, DType dtype, const void *element, const PrintOptions &options) {
  if (!isComplex(dtype) || !options.polar || options.full())
    return appendElement(out, dtype, element, options.full());
  auto z = partsOf(dtype, element);
  appendFloat(out, std::abs(z), dtype == DType::C64);
  out += "∠";
  appendFloat(out, std::arg(z) * (180 / M_PI), dtype == DType::C64);
  out += "°";
}

std::string format(const Tensor &tensor, const PrintOptions &options, const FormatSpec *spec) {
  std::string out;
  if (tensor.rank == 0)
    onHost(tensor);
  if (tensor.rank == 0 && spec)
    appendElement(out, *spec, tensor.dtype, tensor.data);
  else if (tensor.rank == 0 && (!options.scalars || (isComplex(tensor.dtype) && options.polar && !options.full())))
    appendScalar(out, tensor.dtype, tensor.data, options);
  else
    return TensorFormatter(tensor, options, spec).run();
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (c == '\n' || c == '\t' || c == '\r')
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  return out + "\"";
}

/// Elements of tuples, structs and lists: strings have quotes.
static std::string memberText(const Value &value, const PrintOptions &options) {
  const auto *text = std::get_if<StrRef>(&value);
  return text ? quoted((*text)->text) : format(value, options);
}

/// `list(1, 2)`; of many elements those at the ends.
static std::string formatList(int64_t count, const std::function<Value(int64_t)> &element,
                              const PrintOptions &options) {
  std::string out = "list(";
  bool summarised = !options.full() && count > options.threshold;
  for (int64_t i = 0; i < count; ++i) {
    if (i % 4096 == 4095)
      poll();
    out += i ? ", " : "";
    if (summarised && i == options.edge) {
      out += "…, ";
      i = count - options.edge;
    }
    out += memberText(element(i), options);
  }
  return out + ")";
}

std::string format(const Value &value, const PrintOptions &options) {
  if (auto *t = std::get_if<TensorRef>(&value))
    return format(**t, options);
  if (auto *s = std::get_if<StrRef>(&value))
    return (*s)->text;
  if (auto *list = std::get_if<ListRef>(&value))
    return formatList((*list)->count, [&](int64_t i) { return valueOf(**list, i); }, options);
  auto *aggregate = std::get_if<std::shared_ptr<Aggregate>>(&value);
  if (!aggregate)
    return "nothing";
  const Aggregate &a = **aggregate;
  if (a.isText)
    return a.typeName;
  if (a.isList)
    return formatList(static_cast<int64_t>(a.elements.size()), [&](int64_t i) { return a.elements[i]; }, options);
  std::string out = a.names.empty() ? "(" : a.typeName + "{";
  for (size_t i = 0; i < a.elements.size(); ++i) {
    out += i ? ", " : "";
    if (!a.names.empty())
      out += a.names[i] + ": ";
    out += memberText(a.elements[i], options);
  }
  if (a.names.empty() && a.elements.size() == 1)
    out += ",";
  return out + (a.names.empty() ? ")" : "}");
}

std::string typeName(const Value &value) {
  if (auto *t = std::get_if<TensorRef>(&value)) {
    std::string out(nameOf((*t)->dtype));
    return (*t)->rank ? fmt::format("{}[{}]", out, fmt::join((*t)->shape(), ", ")) : out;
  }
  if (std::holds_alternative<StrRef>(value))
    return "str";
  if (auto *list = std::get_if<ListRef>(&value)) {
    ItemKind of = (*list)->of;
    std::string out = of.leaf == ItemKind::Text ? "str" : std::string(nameOf(of.dtype));
    if (of.leaf == ItemKind::Tensor)
      out += fmt::format("[{}]", fmt::join(std::vector<char>(of.rank, '_'), ", "));
    for (int i = 0; i <= of.depth; ++i)
      out = "list[" + out + "]";
    return out;
  }
  auto *aggregate = std::get_if<std::shared_ptr<Aggregate>>(&value);
  if (!aggregate)
    return "nothing";
  if (!(*aggregate)->names.empty() || (*aggregate)->isText || (*aggregate)->isList)
    return (*aggregate)->typeName;
  std::string out = "(";
  for (const Value &element : (*aggregate)->elements)
    out += (out.size() > 1 ? ", " : "") + typeName(element);
  return out + ")";
}

} // namespace toy::rt

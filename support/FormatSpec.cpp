// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reads a format specification from the left to the right, and says what does not fit a kind of values.
#include "support/FormatSpec.h"

#include "support/Unicode.h"

#include <fmt/format.h>

namespace toy {
namespace {

bool isOneOf(char c, std::string_view all) { return all.find(c) != std::string_view::npos; }

class Reader {
public:
  Reader(std::string_view text, FormatSpec &spec, std::string &problem) : rest(text), spec(spec), problem(problem) {}

  bool run() {
    size_t first = rest.empty() ? 0 : characterLength(rest);
    bool filled = rest.size() > first && first && isOneOf(rest[first], "<>^=");
    if (filled) {
      spec.fill = rest.substr(0, first);
      rest.remove_prefix(first);
    }
    spec.align = takeOneOf("<>^=");
    spec.sign = takeOneOf("+- ");
    spec.positiveZero = takeOneOf("z");
    spec.alternate = takeOneOf("#");
    if (!filled)
      spec.zeros = takeOneOf("0");
    if (spec.zeros)
      spec.fill = "0";
    if (!number(spec.width, "width"))
      return false;
    spec.grouping = takeOneOf(",_");
    if (spec.grouping && !rest.empty() && isOneOf(rest[0], ",_"))
      return fail("`,` and `_` are not given together or twice");
    if (takeOneOf(".") && !number(spec.precision, "precision", true))
      return false;
    spec.type = takeOneOf("boxXdceEfFgG%s");
    return rest.empty() || fail(rest.size() == characterLength(rest) ? fmt::format("unknown type `{}`", rest)
                                                                     : fmt::format("`{}` is out of place", rest));
  }

private:
  bool fail(std::string what) {
    problem = std::move(what);
    return false;
  }
  char takeOneOf(std::string_view all) {
    char c = !rest.empty() && isOneOf(rest[0], all) ? rest[0] : 0;
    rest.remove_prefix(c ? 1 : 0);
    return c;
  }
  /// Digits, or `{}`.
  bool number(int &out, const char *what, bool isNeeded = false) {
    if (rest.starts_with("{}")) {
      rest.remove_prefix(2);
      out = FormatSpec::given;
      return true;
    }
    size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (!digits)
      return !isNeeded || fail(fmt::format("a {} is missing", what));
    out = 0;
    for (char c : rest.substr(0, digits))
      if (out = out * 10 + (c - '0'); out > FormatSpec::largest)
        return fail(fmt::format("the {} is at most {}", what, FormatSpec::largest));
    rest.remove_prefix(digits);
    return true;
  }

  std::string_view rest;
  FormatSpec &spec;
  std::string &problem;
};

} // namespace

bool parseFormatSpec(std::string_view text, FormatSpec &spec, std::string &problem) {
  return Reader(text, spec, problem).run();
}

std::string misfitOf(const FormatSpec &spec, FormatKind kind) {
  constexpr std::string_view names[] = {"text", "integers", "floats", "complex values"};
  bool isText = kind == FormatKind::Text, isIntegral = kind == FormatKind::Integer;
  bool integerType = isOneOf(spec.type, "boxXdc") && spec.type, textType = spec.type == 's';
  bool floatType = isOneOf(spec.type, "eEfFgG%") && spec.type;
  auto isNotFor = [&](std::string_view what) {
    return fmt::format("{} is not for {}", what, names[static_cast<size_t>(kind)]);
  };
  if (integerType && !isIntegral)
    return fmt::format("`{}` formats integers", spec.type);
  if (textType && !isText)
    return "`s` formats text and bool";
  if (floatType && isText)
    return fmt::format("`{}` formats numbers", spec.type);
  if (isText && spec.align == '=')
    return isNotFor("alignment by `=`");
  if (kind == FormatKind::Complex && spec.align == '=')
    return isNotFor("alignment by `=`");
  if (kind == FormatKind::Complex && spec.fill == "0")
    return isNotFor("zero fill");
  if (isText && spec.sign)
    return isNotFor(fmt::format("the sign `{}`", spec.sign));
  if (isText && spec.grouping)
    return isNotFor(fmt::format("grouping by `{}`", spec.grouping));
  if (isText && spec.alternate)
    return isNotFor("`#`");
  if (spec.positiveZero && (isText || (isIntegral && !floatType)))
    return isNotFor("`z`");
  if (isIntegral && !floatType && spec.precision != FormatSpec::none)
    return isNotFor("a precision");
  if (spec.type == 'c' && (spec.sign || spec.alternate || spec.grouping))
    return "a sign, `#` or grouping is not for characters";
  if (spec.grouping == ',' && integerType && spec.type != 'd')
    return "grouping by `,` is for decimal numbers";
  return "";
}

} // namespace toy

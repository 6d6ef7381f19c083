// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers separated by commas, a row a line. Complex numbers as NumPy's savetxt ((1+2j)) and Octave's dlmwrite (1+2i)
/// write them; written as 1+2j, which both read. Lines that begin with # or % are comments.
#include "runtime/Io.h"

#include "runtime/Error.h"
#include "runtime/Format.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "support/Half.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>

namespace toy::rt {
namespace {

using Complex = std::complex<double>;

/// `nan`, `inf`, a decimal number; moves past it.
bool readReal(std::string_view &s, double &x) {
  bool negative = false;
  if (!s.empty() && (s[0] == '+' || s[0] == '-')) {
    negative = s[0] == '-';
    s.remove_prefix(1);
  }
  if (!s.empty() && (s[0] == '+' || s[0] == '-'))
    return false;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), x); // also nan, inf, infinity in any case
  if (error != std::errc() && error != std::errc::result_out_of_range)
    return false;
  if (error == std::errc::result_out_of_range)
    x = std::strtod(std::string(s.data(), end).c_str(), nullptr);
  s.remove_prefix(end - s.data());
  x = negative ? -x : x;
  return true;
}

/// A real or complex number that is the whole field.
bool readNumber(std::string_view s, Complex &z, bool &isComplex) {
  auto trim = [&] {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t'))
      s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
      s.remove_suffix(1);
  };
  trim();
  if (s.size() > 2 && s.front() == '(' && s.back() == ')') {
    s = s.substr(1, s.size() - 2);
    trim();
  }
  auto isUnit = [](char c) { return c == 'i' || c == 'j' || c == 'I' || c == 'J'; };
  double first = 0, second = 0;
  if (!readReal(s, first))
    return false;
  if (s.empty()) {
    z = first;
    return true;
  }
  isComplex = true;
  if (s.size() == 1 && isUnit(s[0])) {
    z = {0, first};
    return true;
  }
  if ((s[0] != '+' && s[0] != '-') || !readReal(s, second) || s.size() != 1 || !isUnit(s[0]))
    return false;
  z = {first, second};
  return true;
}

std::string realText(double x, bool single) {
  return single ? fmt::format("{}", static_cast<float>(x)) : fmt::format("{}", x);
}

} // namespace

TensorRef readCsv(Bytes &file) {
  Reservation forText(file.size(), "`" + file.getPath() + "`");
  std::string contents = file.text(0, file.size());
  int64_t most =
      1 + std::count(contents.begin(), contents.end(), ',') + std::count(contents.begin(), contents.end(), '\n');
  Reservation forValues(most * static_cast<int64_t>(sizeof(Complex)), "the numbers of `" + file.getPath() + "`");
  std::vector<Complex> values;
  values.reserve(most);
  int64_t rows = 0, columns = -1, lineNumber = 0;
  bool isComplex = false;
  auto bad = [&](std::string why) {
    fail(DiagId::MalformedFile, {file.getPath(), ".csv", "line " + std::to_string(lineNumber) + ": " + why});
  };
  std::string_view rest = contents;
  if (rest.starts_with("\xef\xbb\xbf"))
    rest.remove_prefix(3);
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++lineNumber;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos || line[0] == '#' || line[0] == '%')
      continue;
    int64_t fields = 0;
    while (true) {
      size_t comma = line.find(',');
      Complex z;
      std::string_view field = line.substr(0, comma);
      if (!readNumber(field, z, isComplex))
        bad("`" + std::string(field.substr(0, 40)) + "` is no number");
      values.push_back(z);
      ++fields;
      if (comma == std::string_view::npos)
        break;
      line.remove_prefix(comma + 1);
    }
    if (columns >= 0 && fields != columns)
      bad(std::to_string(fields) + " numbers, the lines before have " + std::to_string(columns));
    columns = fields;
    if (++rows % 1024 == 0)
      poll();
  }
  TensorRef out(
      newTensor(isComplex ? DType::C128 : DType::F64, std::vector<int64_t>{rows, std::max<int64_t>(columns, 0)}));
  for (size_t i = 0; i < values.size(); ++i)
    if (isComplex)
      out->as<Complex>()[i] = values[i];
    else
      out->as<double>()[i] = values[i].real();
  return out;
}

std::string csvText(const std::string &path, const Tensor &t) {
  if (t.rank > 2)
    fail(DiagId::CannotWrite, {path, "a .csv file holds a vector or a matrix"});
  int64_t columns = t.rank == 2 ? t.sizes[1] : 1, count = t.count();
  bool single = realOf(t.dtype) == DType::F32;
  std::string out;
  auto part = [&](int64_t i) { return single ? static_cast<double>(t.as<float>()[i]) : t.as<double>()[i]; };
  for (int64_t i = 0; i < count; ++i) {
    switch (t.dtype) {
    case DType::Bool:
    case DType::U8:
      out += std::to_string(t.as<uint8_t>()[i]);
      break;
    case DType::I32:
      out += std::to_string(t.as<int32_t>()[i]);
      break;
    case DType::I64:
      out += std::to_string(t.as<int64_t>()[i]);
      break;
    case DType::BF16:
    case DType::F16:
      appendElement(out, t.dtype, t.as<uint16_t>() + i, true);
      break;
    case DType::F32:
    case DType::F64:
      out += realText(part(i), single);
      break;
    default:
      out += realText(part(2 * i), single) + (std::signbit(part(2 * i + 1)) ? "-" : "+") +
             realText(std::fabs(part(2 * i + 1)), single) + "j";
    }
    out += (i + 1) % columns == 0 ? '\n' : ',';
    if (i % 4096 == 0)
      poll();
  }
  return out;
}

} // namespace toy::rt

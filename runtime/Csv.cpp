// SPDX-License-Identifier: Apache-2.0
/// \file
/// Numbers separated by commas, a row a line. Complex numbers as NumPy's savetxt ((1+2j)) and Octave's dlmwrite (1+2i)
/// write them; written as 1+2j, which both read. Lines that begin with # or % are comments.
#include "runtime/Io.h"

#include "runtime/Error.h"
#include "runtime/Format.h"
#include "runtime/List.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "runtime/Progress.h"
#include "support/Half.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <optional>

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

namespace {

/// A cell, in the text of the file; `isQuoted` where it stood between quotes. A column of nothing else is text, but
/// where its title is quoted as well: there are programs that put all cells between quotes.
struct Cell {
  std::string_view text;
  bool isQuoted = false;
  bool isEmpty() const { return !isQuoted && text.find_first_not_of(" \t\r") == std::string_view::npos; }
};

/// The records of a file, one after the other (RFC 4180: a cell between quotes holds anything, `""` is a quote).
class Records {
public:
  Records(Bytes &file, const CsvOptions &options)
      : forText(file.size(), "`" + file.getPath() + "`"), path(file.getPath()), options(options),
        contents(file.text(0, file.size())), most(1 + count(options.sep) + count('\n')),
        forValues(most * static_cast<int64_t>(sizeof(Complex) + sizeof(Cell)), "the cells of `" + path + "`") {
    if (contents.starts_with("\xef\xbb\xbf"))
      at = 3;
    for (int64_t i = 0; i < options.skip && at < contents.size(); ++i)
      endLine(contents.find('\n', at));
  }

  /// The next record that is no comment and not blank; false at the end.
  bool next(std::vector<Cell> &cells, bool hasComments) {
    while (at < contents.size()) {
      first = line;
      char c = contents[at];
      size_t end = std::min(contents.find('\n', at), contents.size());
      bool isBlank = std::string_view(contents).substr(at, end - at).find_first_not_of(" \t\r") == std::string::npos;
      if (!isBlank && !(hasComments && (c == '#' || c == '%'))) {
        read(cells);
        return true;
      }
      endLine(end);
    }
    return false;
  }

  [[noreturn]] void refuse(const std::string &why) const {
    fail(DiagId::MalformedFile, {path, ".csv", "line " + std::to_string(first) + ": " + why});
  }
  /// The last argument is what helps.
  [[noreturn]] void refuseText(size_t column, const Cell &cell, size_t columns) const {
    std::string help = columns == 1 && cell.text.find(';') != std::string::npos
                           ? "`sep = \";\"` separates cells by semicolons"
                           : "`header = true` reads names of columns, and columns of text";
    fail(DiagId::MalformedFile, {path, ".csv",
                                 "line " + std::to_string(first) + ", column " + std::to_string(column + 1) + ": `" +
                                     std::string(cell.text.substr(0, 40)) + "` is no number",
                                 help});
  }

  int64_t mostCells() const { return most; }
  /// Now and then: Ctrl-C is looked for, and how far this is may be shown.
  void rest() const {
    poll();
    noteDone(Activity::Bytes, static_cast<int64_t>(at));
  }

private:
  int64_t count(char c) const { return std::count(contents.begin(), contents.end(), c); }

  void endLine(size_t end) {
    at = end >= contents.size() ? contents.size() : end + 1;
    ++line;
  }

  void read(std::vector<Cell> &cells) {
    cells.clear();
    while (true) {
      cells.emplace_back();
      bool isLast = at >= contents.size() // what is behind the last separator is empty
                    || (contents[at] == '"' ? readQuoted(cells.back()) : readPlain(cells.back()));
      if (isLast)
        return;
    }
  }

  /// Both give whether the cell is the last one of its record.
  bool readPlain(Cell &cell) {
    size_t end = at;
    while (end < contents.size() && contents[end] != options.sep && contents[end] != '\n')
      ++end;
    cell.text = std::string_view(contents).substr(at, end - at);
    return leave(cell, end);
  }

  bool readQuoted(Cell &cell) {
    cell.isQuoted = true;
    size_t begin = at + 1, last = begin; // the text moves together where quotes are doubled
    for (at = begin;; ++at) {
      if (at >= contents.size())
        refuse("a quote is not closed");
      if (contents[at] == '"' && (++at >= contents.size() || contents[at] != '"'))
        break;
      line += contents[at] == '\n';
      contents[last++] = contents[at];
    }
    cell.text = std::string_view(contents).substr(begin, last - begin);
    size_t end = contents.find_first_not_of(" \t\r", at);
    if (end != std::string::npos && contents[end] != options.sep && contents[end] != '\n')
      refuse("there is text behind a quote");
    return leave(cell, std::min(end, contents.size()));
  }

  bool leave(Cell &cell, size_t end) {
    bool isSeparated = end < contents.size() && contents[end] == options.sep;
    if (!isSeparated) {
      if (!cell.isQuoted && cell.text.ends_with('\r'))
        cell.text.remove_suffix(1);
      endLine(end);
      return true;
    }
    at = end + 1;
    return false;
  }

  Reservation forText;
  std::string path;
  const CsvOptions &options;
  std::string contents;
  int64_t most; ///< cells that there can be
  Reservation forValues;
  size_t at = 0;
  int64_t line = 1, first = 1;
};

bool numberIn(const Cell &cell, const CsvOptions &options, Complex &z, bool &isComplex) {
  if (cell.isEmpty()) {
    z = options.missing;
    return true;
  }
  if (options.decimal == '.')
    return readNumber(cell.text, z, isComplex);
  std::string text(cell.text);
  std::replace(text.begin(), text.end(), options.decimal, '.');
  return readNumber(text, z, isComplex);
}

TensorRef numbers(const std::vector<Complex> &values, bool isComplex, const std::vector<int64_t> &sizes) {
  TensorRef out(newTensor(isComplex ? DType::C128 : DType::F64, sizes));
  for (size_t i = 0; i < values.size(); ++i)
    if (isComplex)
      out->as<Complex>()[i] = values[i];
    else
      out->as<double>()[i] = values[i].real();
  return out;
}

void checkCount(const Records &records, size_t cells, size_t columns) {
  if (cells != columns)
    records.refuse(std::to_string(cells) + " cells, the lines before have " + std::to_string(columns));
}

/// A name of the language: each run of other characters is one `_`.
std::string columnName(std::string_view text, const std::vector<std::string> &taken) {
  std::string name;
  for (char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 0x80)
      name += c;
    else if (!name.ends_with('_') || c == '_')
      name += '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])))
    name.insert(0, "_");
  static constexpr std::string_view reserved[] = {"and", "break", "continue", "def",    "else", "false", "for",  "if",
                                                  "in",  "not",   "or",       "struct", "true", "var",   "while"};
  auto isTaken = [&](const std::string &n) {
    return std::ranges::find(reserved, n) != std::end(reserved) || std::ranges::find(taken, n) != taken.end();
  };
  std::string out = name;
  for (int i = 2; isTaken(out); ++i)
    out = name + "_" + std::to_string(i);
  return out;
}

} // namespace

TensorRef readCsv(Bytes &file, const CsvOptions &options) {
  Records records(file, options);
  std::vector<Complex> values;
  values.reserve(records.mostCells());
  std::vector<Cell> cells;
  size_t columns = 0, rows = 0;
  bool isComplex = false;
  while (records.next(cells, /*hasComments=*/true)) {
    checkCount(records, cells.size(), rows ? columns : cells.size());
    columns = cells.size();
    for (const Cell &cell : cells)
      if (!numberIn(cell, options, values.emplace_back(), isComplex))
        records.refuseText(&cell - cells.data(), cell, columns);
    if (++rows % 1024 == 0)
      records.rest();
  }
  return numbers(values, isComplex, {static_cast<int64_t>(rows), static_cast<int64_t>(columns)});
}

namespace {

/// The columns of a table with a line of titles.
class Table {
public:
  Table(Bytes &file, const CsvOptions &options) : options(options), records(file, options) {
    if (!records.next(titles, /*hasComments=*/false))
      records.refuse("there is no line of titles");
    for (const Cell &title : titles)
      names.push_back(columnName(title.text, names));
    columns.resize(names.size());
    std::vector<Cell> cells;
    for (size_t rows = 0; records.next(cells, /*hasComments=*/false); ++rows) {
      checkCount(records, cells.size(), names.size());
      for (size_t i = 0; i < cells.size(); ++i)
        columns[i].push_back(cells[i]);
      if (rows % 1024 == 0)
        records.rest();
    }
  }

  const std::vector<std::string> &titlesOfColumns() const { return names; }
  Value texts(size_t i) const {
    std::vector<std::string> all;
    for (const Cell &cell : columns[i])
      all.emplace_back(cell.text);
    return listOf(std::move(all));
  }
  /// Numbers; or texts, where one cell is no number, or where all stand between quotes and the title does not.
  Value values(size_t i) const {
    auto isQuoted = [](const Cell &cell) { return cell.isQuoted; };
    if (!titles[i].isQuoted && !columns[i].empty() && std::ranges::all_of(columns[i], isQuoted))
      return texts(i);
    std::vector<Complex> all(columns[i].size());
    bool isComplex = false;
    for (size_t row = 0; row < all.size(); ++row)
      if (!numberIn(columns[i][row], options, all[row], isComplex))
        return texts(i);
    return numbers(all, isComplex, {static_cast<int64_t>(all.size())});
  }

private:
  const CsvOptions &options;
  Records records;
  std::vector<Cell> titles;
  std::vector<std::string> names;
  std::vector<std::vector<Cell>> columns;
};

} // namespace

std::vector<NamedColumn> readCsvTable(Bytes &file, const CsvOptions &options) {
  Table table(file, options);
  std::vector<NamedColumn> out;
  for (const std::string &name : table.titlesOfColumns())
    out.emplace_back(name, table.values(out.size()));
  return out;
}

Value loadColumn(const std::string &path, const std::string &name, const CsvOptions &options, bool asTexts) {
  LoadedFile file(path);
  Table table(file, options);
  const std::vector<std::string> &names = table.titlesOfColumns();
  auto found = std::ranges::find(names, name);
  if (found == names.end())
    fail(DiagId::NoSuchArray, {path, " `" + name + "`", fmt::format("{}", fmt::join(names, ", "))});
  return asTexts ? table.texts(found - names.begin()) : table.values(found - names.begin());
}

/// An element as a cell.
static void appendCell(std::string &out, const Tensor &t, int64_t i) {
  bool single = realOf(t.dtype) == DType::F32;
  auto part = [&](int64_t i) { return single ? static_cast<double>(t.as<float>()[i]) : t.as<double>()[i]; };
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
  if (i % 4096 == 0)
    poll();
}

std::string csvText(const std::string &path, const Tensor &t) {
  if (t.rank > 2)
    fail(DiagId::CannotWrite, {path, "a .csv file holds a vector or a matrix"});
  int64_t columns = t.rank == 2 ? t.sizes[1] : 1, count = t.count();
  std::string out;
  for (int64_t i = 0; i < count; ++i) {
    appendCell(out, t, i);
    out += (i + 1) % columns == 0 ? '\n' : ',';
  }
  return out;
}

/// Between quotes where it would be read as anything else, as a number say.
static void appendText(std::string &out, const std::string &text) {
  auto isSpecial = [](char c) { return c == ',' || c == '"' || c == '\n' || c == '\r'; };
  auto isBlank = [](char c) { return c == ' ' || c == '\t'; };
  Complex number;
  bool isComplex;
  if (!text.empty() && !isBlank(text.front()) && !isBlank(text.back()) && std::ranges::none_of(text, isSpecial) &&
      !readNumber(text, number, isComplex)) {
    out += text;
    return;
  }
  out += '"';
  for (char c : text)
    out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

/// The length of a column, or none where it is no column.
static std::optional<int64_t> lengthOf(const Value &column) {
  if (auto *texts = std::get_if<ListRef>(&column))
    return (*texts)->of == ItemKind{ItemKind::Text, DType::U8, 0, 0} ? std::optional((*texts)->count) : std::nullopt;
  const Tensor &tensor = *std::get<TensorRef>(column);
  return tensor.rank == 1 ? std::optional(tensor.sizes[0]) : std::nullopt;
}

std::string csvTableText(const std::string &path, std::span<const NamedColumn> columns) {
  std::string out;
  std::optional<int64_t> rows = lengthOf(columns[0].second);
  for (const auto &[name, column] : columns) {
    if (auto *tensor = std::get_if<TensorRef>(&column))
      onHost(**tensor);
    if (!rows || lengthOf(column) != rows)
      fail(DiagId::CannotWrite, {path, "the columns of a .csv file are vectors and lists of strings of one length"});
    out += (out.empty() ? "" : ",") + name;
  }
  out += '\n';
  for (int64_t row = 0; row < *rows; ++row)
    for (size_t i = 0; i < columns.size(); ++i) {
      if (auto *texts = std::get_if<ListRef>(&columns[i].second))
        appendText(out, (*texts)->items[row].text->text);
      else
        appendCell(out, *std::get<TensorRef>(columns[i].second), row);
      out += i + 1 < columns.size() ? ',' : '\n';
    }
  return out;
}

} // namespace toy::rt

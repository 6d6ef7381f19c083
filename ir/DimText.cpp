// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes as text, written and read.
#include "ir/DimPoly.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace toy {
using detail::Poly;
using Kind = Dim::Kind;

/// Anything that is neither a blank nor an operator is part of a name: letters of every script are.
static bool isWord(char c) { return isAlnum(c) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80; }

namespace {

/// A term as it is written; the constant comes last and has no text.
struct Piece {
  int64_t factor;
  std::string text;
  bool isDivision = false; ///< in brackets
};
using Pieces = SmallVector<Piece, 4>;

class Writer {
public:
  using Shown = function_ref<std::string(StringRef)>;
  explicit Writer(Shown shown) : shown(shown) {}

  std::string text(Dim dim) {
    if (dim.isUnknown())
      return "?";
    Pieces pieces = piecesOf(Poly(dim));
    if (pieces.size() == 1 && pieces[0].factor == 1 && pieces[0].isDivision)
      return pieces[0].text.substr(1, pieces[0].text.size() - 2);
    auto *first = find_if(pieces, [](const Piece &piece) { return piece.factor > 0; });
    if (first != pieces.end())
      std::rotate(pieces.begin(), first, first + 1);
    std::string out;
    for (const Piece &piece : pieces)
      out += (piece.factor < 0 ? "-" : out.empty() ? "" : "+") + withoutSign(piece);
    return out;
  }

  static std::string withoutSign(const Piece &piece) {
    uint64_t magnitude = piece.factor < 0 ? -static_cast<uint64_t>(piece.factor) : piece.factor;
    std::string out = magnitude != 1 || piece.text.empty() ? std::to_string(magnitude) : "";
    return out + (out.empty() || piece.text.empty() ? "" : "*") + piece.text;
  }

  Pieces piecesOf(Poly sum) {
    Pieces pieces;
    for (const DimTerm &term : SmallVector<DimTerm, 4>(sum.terms)) // remainders
      if (auto [times, quotient] = detail::takeRemainder(sum, term.dim); times != 0)
        pieces.push_back({times, division(quotient, "%"), true});
    if (auto *only = onlyExtremum(sum)) {
      DimTerm term = *only;
      sum.take(term.dim);
      Poly inside = takeNegative(sum);
      Pieces rest = terms(sum);
      pieces.push_back({term.factor, extremum(term.dim, inside)});
      pieces.append(rest);
    } else
      pieces.append(terms(sum));
    if (sum.constant != 0 || pieces.empty())
      pieces.push_back({sum.constant, ""});
    return pieces;
  }

private:
  /// A sum with one minimum or maximum takes what is subtracted from it inside: `max(N-1,0)`.
  static const DimTerm *onlyExtremum(const Poly &sum) {
    auto isExtremum = [](const DimTerm &term) { return detail::isExtremum(term.dim.kind()); };
    auto *found = find_if(sum.terms, isExtremum);
    return count_if(sum.terms, isExtremum) == 1 && found->factor == 1 ? found : nullptr;
  }

  static Poly takeNegative(Poly &sum) {
    Poly negative(sum.context);
    for (const DimTerm &term : SmallVector<DimTerm, 4>(sum.terms))
      if (term.factor < 0)
        negative.add(term.dim, sum.take(term.dim));
    if (sum.constant < 0)
      negative.addConstant(std::exchange(sum.constant, 0));
    return negative;
  }

  Pieces terms(const Poly &sum) {
    Pieces out;
    for (const DimTerm &term : sum.terms) {
      std::string text;
      term.dim.forEachAtom([&](int64_t power, Dim atom) {
        for (; power > 0; --power)
          text += (text.empty() ? "" : "*") + atomText(atom);
      });
      out.push_back({term.factor, text, term.dim.kind() == Kind::FloorDiv});
    }
    return out;
  }

  std::string atomText(Dim atom) {
    if (atom.kind() == Kind::Symbol)
      return shown ? shown(atom.symbolName()) : atom.symbolName().str();
    return atom.kind() == Kind::FloorDiv ? division(atom, "//") : extremum(atom, Poly(atom.getContext()));
  }

  std::string extremum(Dim atom, const Poly &inside) {
    std::string out = atom.kind() == Kind::Min ? "min(" : "max(";
    for (auto [i, member] : enumerate(atom.operands())) {
      Poly sum(member);
      sum.add(inside);
      out += (i ? "," : "") + text(detail::dimOf(std::move(sum)));
    }
    return out + ")";
  }

  std::string division(Dim quotient, StringRef op) {
    auto side = [&](Dim dim) {
      std::string out = text(dim);
      return dim.kind() == Kind::Symbol || (dim.isNumber() && dim.value() >= 0) ? out : "(" + out + ")";
    };
    return "(" + side(quotient.operands()[0]) + op.str() + side(quotient.operands()[1]) + ")";
  }

  Shown shown;
};

/// Recursive-descent parser of sizes; none on malformed text.
class Reader {
public:
  Reader(mlir::MLIRContext *context, StringRef text) : context(context), rest(text) {}

  std::optional<Dim> all() {
    auto dim = sum();
    skip();
    return dim && rest.empty() ? dim : std::nullopt;
  }

private:
  void skip() { rest = rest.ltrim(); }
  bool eat(StringRef token) {
    skip();
    return rest.consume_front(token);
  }

  std::optional<Dim> sum() {
    auto left = product();
    while (left) {
      bool isPlus = eat("+");
      if (!isPlus && !eat("-"))
        break;
      auto right = product();
      left = right ? std::optional(isPlus ? *left + *right : *left - *right) : std::nullopt;
    }
    return left;
  }

  std::optional<Dim> product() {
    auto left = factor();
    while (left) {
      char op = eat("//") ? '/' : eat("%") ? '%' : eat("*") ? '*' : 0;
      if (!op)
        break;
      auto right = factor();
      if (!right)
        return std::nullopt;
      left = op == '*' ? *left * *right : op == '/' ? left->floorDiv(*right) : left->mod(*right);
    }
    return left;
  }

  std::optional<Dim> factor() {
    if (depth > 200)
      return std::nullopt;
    ++depth;
    auto result = nested();
    --depth;
    return result;
  }

  std::optional<Dim> nested() {
    if (eat("-")) {
      auto dim = factor();
      return dim ? std::optional(Dim::number(context, 0) - *dim) : std::nullopt;
    }
    if (eat("(")) {
      auto dim = sum();
      return eat(")") ? dim : std::nullopt;
    }
    if (eat("?"))
      return Dim::unknown(context);
    skip();
    StringRef word = rest.take_while(isWord);
    rest = rest.drop_front(word.size());
    if (word.empty())
      return std::nullopt;
    int64_t number;
    if (isDigit(word[0]))
      return word.getAsInteger(10, number) ? std::nullopt : std::optional(Dim::number(context, number));
    if ((word == "min" || word == "max") && eat("("))
      return members(word == "min");
    return Dim::symbol(context, word);
  }

  std::optional<Dim> members(bool isMin) {
    auto result = sum();
    while (result && eat(",")) {
      auto next = sum();
      result = next ? std::optional(isMin ? result->min(*next) : result->max(*next)) : std::nullopt;
    }
    return eat(")") ? result : std::nullopt;
  }

  mlir::MLIRContext *context;
  StringRef rest;
  int depth = 0;
};

} // namespace

std::string Dim::str(function_ref<std::string(StringRef)> shown) const { return Writer(shown).text(*this); }

std::optional<Dim> Dim::parse(mlir::MLIRContext *context, StringRef text) { return Reader(context, text).all(); }

std::pair<std::string, std::string> Dim::sides(function_ref<std::string(StringRef)> shown) const {
  std::string left, right;
  if (!isNumber() || value() != 0)
    for (const Piece &piece : Writer(shown).piecesOf(Poly(*this))) {
      std::string &side = piece.factor > 0 ? left : right;
      side += (side.empty() ? "" : " + ") + Writer::withoutSign(piece);
    }
  return {left, right};
}

} // namespace toy

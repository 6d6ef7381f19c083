// SPDX-License-Identifier: Apache-2.0
/// \file
/// Canonical polynomials behind Dim: a map from monomials (sorted products of atoms) to integer coefficients, printed in a fixed order.
#include "ir/Dim.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <vector>

using namespace llvm;

namespace toy {
namespace {

/// A product of atoms, sorted (an atom with power p occurs p times). An atom is a name or the text of a quotient, remainder, min or max.
using Monomial = std::vector<std::string>;

/// Longer products first, then by text: `2*M*N+N+3`.
struct MonomialOrder {
  bool operator()(const Monomial &a, const Monomial &b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};

struct Poly {
  std::map<Monomial, int64_t, MonomialOrder> terms;

  static Poly number(int64_t n) {
    Poly p;
    p.add({}, n);
    return p;
  }
  static Poly atom(std::string text) {
    Poly p;
    p.add({std::move(text)}, 1);
    return p;
  }
  void add(const Monomial &m, int64_t coefficient) {
    int64_t &slot = terms[m];
    [[maybe_unused]] bool overflow = __builtin_add_overflow(slot, coefficient, &slot);
    assert(!overflow && "size arithmetic overflow");
    if (slot == 0)
      terms.erase(m);
  }
  std::optional<int64_t> asNumber() const {
    if (terms.empty())
      return 0;
    if (terms.size() == 1 && terms.begin()->first.empty())
      return terms.begin()->second;
    return std::nullopt;
  }
  std::string str() const;
};

std::string Poly::str() const {
  if (terms.empty())
    return "0";
  if (const auto &[monomial, coefficient] = *terms.begin(); terms.size() == 1 && coefficient == 1 && monomial.size() == 1 && monomial[0][0] == '(')
    return monomial[0].substr(1, monomial[0].size() - 2);
  std::string out;
  for (const auto &[monomial, coefficient] : terms) {
    if (coefficient < 0)
      out += "-";
    else if (!out.empty())
      out += "+";
    uint64_t magnitude = coefficient < 0 ? -static_cast<uint64_t>(coefficient) : coefficient;
    if (magnitude != 1 || monomial.empty())
      out += std::to_string(magnitude) + (monomial.empty() ? "" : "*");
    out += join(monomial, "*");
  }
  return out;
}

Poly sum(const Poly &a, const Poly &b, int64_t sign) {
  Poly result = a;
  for (const auto &[monomial, coefficient] : b.terms)
    result.add(monomial, sign * coefficient);
  return result;
}

Poly product(const Poly &a, const Poly &b) {
  Poly result;
  for (const auto &[ma, ca] : a.terms)
    for (const auto &[mb, cb] : b.terms) {
      Monomial m = ma;
      m.insert(m.end(), mb.begin(), mb.end());
      sort(m);
      int64_t c;
      [[maybe_unused]] bool overflow = __builtin_mul_overflow(ca, cb, &c);
      assert(!overflow && "size arithmetic overflow");
      result.add(m, c);
    }
  return result;
}

int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

/// `(a//b)`, `((a+1)%b)`: atoms stand in brackets, so that a text means the same wherever it stands.
Poly binaryAtom(const Poly &a, const char *op, const Poly &b) {
  auto side = [](const Poly &p) {
    std::string text = p.str();
    return all_of(text, [](char c) { return isAlnum(c) || c == '_' || c == '$' || c == '?'; }) ? text : "(" + text + ")";
  };
  return Poly::atom("(" + side(a) + op + side(b) + ")");
}

/// a // b. Exact when b is a number that divides every coefficient but the constant, or when a is b times a number.
Poly quotient(const Poly &a, const Poly &b) {
  if (auto divisor = b.asNumber(); divisor && *divisor != 0) {
    Poly result;
    bool exact = true;
    for (const auto &[monomial, coefficient] : a.terms) {
      exact &= monomial.empty() || coefficient % *divisor == 0;
      result.add(monomial, floorDivide(coefficient, *divisor));
    }
    if (exact)
      return result;
  }
  return binaryAtom(a, "//", b);
}

Poly remainder(const Poly &a, const Poly &b) {
  if (auto divisor = b.asNumber(); divisor && *divisor != 0) {
    bool divisible = all_of(a.terms, [&](const auto &term) { return term.first.empty() || term.second % *divisor == 0; });
    if (divisible) {
      auto constant = a.terms.find({});
      int64_t c = constant == a.terms.end() ? 0 : constant->second;
      return Poly::number(c - floorDivide(c, *divisor) * *divisor);
    }
  }
  return binaryAtom(a, "%", b);
}

Poly extremum(const Poly &a, const Poly &b, bool isMin) {
  if (auto difference = sum(a, b, -1).asNumber())
    return (*difference <= 0) == isMin ? a : b;
  std::string left = a.str(), right = b.str();
  if (right < left)
    std::swap(left, right);
  return Poly::atom((isMin ? "min(" : "max(") + left + "," + right + ")");
}

/// Recursive-descent parser of sizes; null on malformed text.
class DimParser {
public:
  DimParser(StringRef text, const StringMap<Dim> *values) : rest(text), values(values) {}
  std::optional<Poly> parseAll() {
    auto p = parseSum();
    skip();
    return p && rest.empty() ? p : std::nullopt;
  }

private:
  void skip() { rest = rest.ltrim(); }
  bool eat(StringRef token) {
    skip();
    return rest.consume_front(token);
  }
  std::optional<Poly> parseSum() {
    auto left = parseProduct();
    while (left) {
      bool plus = eat("+");
      if (!plus && !eat("-"))
        break;
      auto right = parseProduct();
      left = right ? std::optional(sum(*left, *right, plus ? 1 : -1)) : std::nullopt;
    }
    return left;
  }
  std::optional<Poly> parseProduct() {
    auto left = parseFactor();
    while (left) {
      char op = eat("//") ? '/' : eat("%") ? '%' : eat("*") ? '*' : 0;
      if (!op)
        break;
      auto right = parseFactor();
      if (!right)
        return std::nullopt;
      left = op == '*' ? product(*left, *right) : op == '/' ? quotient(*left, *right) : remainder(*left, *right);
    }
    return left;
  }
  std::optional<Poly> parseFactor() {
    if (eat("-")) {
      auto p = parseFactor();
      return p ? std::optional(product(Poly::number(-1), *p)) : std::nullopt;
    }
    if (eat("(")) {
      auto p = parseSum();
      return eat(")") ? p : std::nullopt;
    }
    skip();
    StringRef word = rest.take_while([](char c) { return isAlnum(c) || c == '_' || c == '$' || c == '?'; });
    rest = rest.drop_front(word.size());
    if (word.empty())
      return std::nullopt;
    int64_t number;
    if (isDigit(word[0]))
      return word.getAsInteger(10, number) ? std::nullopt : std::optional(Poly::number(number));
    if ((word == "min" || word == "max") && eat("(")) {
      auto a = parseSum();
      if (!a || !eat(","))
        return std::nullopt;
      auto b = parseSum();
      return b && eat(")") ? std::optional(extremum(*a, *b, word == "min")) : std::nullopt;
    }
    return lookup(word);
  }
  std::optional<Poly> lookup(StringRef name) {
    if (values)
      if (auto it = values->find(name); it != values->end())
        return DimParser(it->second.str(), nullptr).parseAll();
    return Poly::atom(name.str());
  }

  StringRef rest;
  const StringMap<Dim> *values;
};

Poly polyOf(Dim dim) {
  if (dim.isNumber())
    return Poly::number(dim.value());
  return *DimParser(cast<mlir::StringAttr>(dim.getAttr()).getValue(), nullptr).parseAll();
}

Dim dimOf(mlir::MLIRContext *context, const Poly &poly) {
  if (auto number = poly.asNumber())
    return Dim::number(context, *number);
  return Dim(mlir::StringAttr::get(context, poly.str()));
}

} // namespace

Dim Dim::number(mlir::MLIRContext *context, int64_t value) {
  return Dim(mlir::IntegerAttr::get(mlir::IntegerType::get(context, 64), value));
}
Dim Dim::symbol(mlir::MLIRContext *context, StringRef name) { return Dim(mlir::StringAttr::get(context, name)); }

std::optional<Dim> Dim::parse(mlir::MLIRContext *context, StringRef text) {
  auto poly = DimParser(text, nullptr).parseAll();
  return poly ? std::optional(dimOf(context, *poly)) : std::nullopt;
}

bool Dim::isNumber() const { return isa<mlir::IntegerAttr>(attr); }
int64_t Dim::value() const { return cast<mlir::IntegerAttr>(attr).getInt(); }

StringRef Dim::symbolName() const {
  auto text = dyn_cast<mlir::StringAttr>(attr);
  if (!text || !all_of(text.getValue(), [](char c) { return isAlnum(c) || c == '_' || c == '$' || c == '?'; }))
    return {};
  return text.getValue();
}

std::string Dim::str() const {
  return isNumber() ? std::to_string(value()) : cast<mlir::StringAttr>(attr).getValue().str();
}

void Dim::collectSymbols(function_ref<void(StringRef)> visit) const {
  if (isNumber())
    return;
  StringRef rest = cast<mlir::StringAttr>(attr).getValue();
  while (!rest.empty()) {
    StringRef word = rest.take_while([](char c) { return isAlnum(c) || c == '_' || c == '$' || c == '?'; });
    rest = rest.drop_front(std::max<size_t>(word.size(), 1));
    if (!word.empty() && !isDigit(word[0]) && !((word == "min" || word == "max") && rest.starts_with("(")))
      visit(word);
  }
}

Dim Dim::substitute(const StringMap<Dim> &values) const {
  if (isNumber() || values.empty())
    return *this;
  auto poly = DimParser(cast<mlir::StringAttr>(attr).getValue(), &values).parseAll();
  return dimOf(attr.getContext(), *poly);
}

void Dim::forEachTerm(function_ref<void(int64_t, ArrayRef<std::string>)> visit) const {
  for (const auto &[monomial, coefficient] : polyOf(*this).terms)
    visit(coefficient, monomial);
}

std::optional<Dim::Atom> Dim::atomParts(mlir::MLIRContext *context, StringRef atom) {
  bool isMin = atom.starts_with("min("), isMax = atom.starts_with("max(");
  if (!atom.starts_with("(") && !isMin && !isMax)
    return std::nullopt;
  StringRef rest = atom.drop_front(isMin || isMax ? 4 : 1).drop_back();
  size_t depth = 0, at = 0; // of the comma or operator
  for (; at < rest.size(); ++at) {
    if (depth == 0 && (isMin || isMax ? rest[at] == ',' : rest[at] == '/' || rest[at] == '%'))
      break;
    depth += (rest[at] == '(') - (rest[at] == ')');
  }
  bool isQuotient = rest.drop_front(at).starts_with("//");
  StringRef left = rest.take_front(at), right = rest.drop_front(at + (isQuotient ? 2 : 1));
  return Atom{isMin ? Atom::Min : isMax ? Atom::Max : isQuotient ? Atom::Quotient : Atom::Remainder, *parse(context, left), *parse(context, right)};
}

Dim Dim::opaque(mlir::MLIRContext *context, StringRef atom) { return dimOf(context, Poly::atom(atom.str())); }

std::string Dim::renamed(StringRef text, const std::map<std::string, std::string> &names) {
  std::string out;
  while (!text.empty()) {
    StringRef word = text.take_while([](char c) { return isAlnum(c) || c == '_' || c == '$' || c == '?'; });
    auto it = names.find(word.str());
    out += word.empty() ? text.take_front().str() : it == names.end() ? word.str() : it->second;
    text = text.drop_front(std::max<size_t>(word.size(), 1));
  }
  return out;
}

Dim Dim::operator+(Dim o) const { return dimOf(attr.getContext(), sum(polyOf(*this), polyOf(o), 1)); }
Dim Dim::operator-(Dim o) const { return dimOf(attr.getContext(), sum(polyOf(*this), polyOf(o), -1)); }
Dim Dim::operator*(Dim o) const { return dimOf(attr.getContext(), product(polyOf(*this), polyOf(o))); }
Dim Dim::floorDiv(Dim o) const { return dimOf(attr.getContext(), quotient(polyOf(*this), polyOf(o))); }
Dim Dim::mod(Dim o) const { return dimOf(attr.getContext(), remainder(polyOf(*this), polyOf(o))); }
Dim Dim::min(Dim o) const { return dimOf(attr.getContext(), extremum(polyOf(*this), polyOf(o), true)); }
Dim Dim::max(Dim o) const { return dimOf(attr.getContext(), extremum(polyOf(*this), polyOf(o), false)); }

} // namespace toy

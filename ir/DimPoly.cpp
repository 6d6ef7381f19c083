// SPDX-License-Identifier: Apache-2.0
/// \file
/// The arithmetic that keeps sizes canonical, on sums of factors times monomials.
#include "ir/DimPoly.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;

namespace toy {
using detail::Poly;
using Kind = Dim::Kind;

/// Monomials in a sum: longer ones first.
static bool isBefore(Dim a, Dim b) {
  unsigned p = detail::storageOf(a).degree, q = detail::storageOf(b).degree;
  return p != q ? p > q : Dim::compare(a, b) < 0;
}

Poly::Poly(Dim dim) : context(dim.getContext()) {
  const DimKey &key = detail::keyOf(dim);
  isValid = key.kind != Kind::Unknown;
  constant = key.constant;
  if (key.kind == Kind::Sum)
    terms.assign(key.terms.begin(), key.terms.end());
  else if (key.kind != Kind::Constant && isValid)
    terms.push_back({1, dim});
}

void Poly::addConstant(int64_t value) {
  if (__builtin_add_overflow(constant, value, &constant))
    isValid = false;
}

void Poly::add(Dim monomial, int64_t factor) {
  if (monomial.isUnknown())
    isValid = false;
  if (!isValid || factor == 0)
    return;
  auto *at = std::lower_bound(terms.begin(), terms.end(), monomial,
                              [](const DimTerm &term, Dim dim) { return term.dim != dim && isBefore(term.dim, dim); });
  if (at == terms.end() || at->dim != monomial) {
    terms.insert(at, {factor, monomial});
    isValid = terms.size() <= 4 * Dim::mostTerms;
  } else if (__builtin_add_overflow(at->factor, factor, &at->factor))
    isValid = false;
  else if (at->factor == 0)
    terms.erase(at);
}

void Poly::add(const Poly &other, int64_t factor) {
  isValid = isValid && other.isValid;
  auto scale = [&](int64_t value) {
    int64_t product = 0;
    isValid = isValid && !__builtin_mul_overflow(value, factor, &product);
    return product;
  };
  addConstant(scale(other.constant));
  for (const DimTerm &term : other.terms)
    if (isValid)
      add(term.dim, scale(term.factor));
}

int64_t Poly::factorOf(Dim monomial) const {
  auto *at = find_if(terms, [&](const DimTerm &term) { return term.dim == monomial; });
  return at == terms.end() ? 0 : at->factor;
}

int64_t Poly::take(Dim monomial) {
  auto *at = find_if(terms, [&](const DimTerm &term) { return term.dim == monomial; });
  int64_t factor = at == terms.end() ? 0 : at->factor;
  if (at != terms.end())
    terms.erase(at);
  return factor;
}

/// The product of two monomials.
static Dim productOf(Dim a, Dim b) {
  SmallVector<DimTerm, 4> factors;
  for (Dim side : {a, b})
    side.forEachAtom([&](int64_t power, Dim atom) {
      auto *at = find_if(factors, [&](const DimTerm &factor) { return factor.dim == atom; });
      if (at == factors.end())
        factors.push_back({power, atom});
      else
        at->factor += power; // limited by the degree
    });
  sort(factors, [](const DimTerm &p, const DimTerm &q) { return Dim::compare(p.dim, q.dim) < 0; });
  return detail::nodeOf(a.getContext(), {Kind::Product, 0, {}, factors});
}

Poly detail::operator*(const Poly &a, const Poly &b) {
  Poly result(a.context);
  result.add(a, b.constant);
  for (const DimTerm &q : b.terms) {
    if (!a.isValid || !b.isValid || !result.isValid)
      break;
    Poly row(a.context);
    row.add(q.dim, a.constant);
    for (const DimTerm &p : a.terms) {
      row.add(productOf(p.dim, q.dim), p.factor);
      if (!row.isValid)
        break;
    }
    result.add(row, q.factor);
  }
  result.isValid = result.isValid && a.isValid && b.isValid;
  return result;
}

//===--- Minima and maxima ---===//

/// `max(p, r + max(q,s))` is `max(p, r+q, r+s)`.
static void flatten(SmallVectorImpl<Poly> &members, Kind kind) {
  for (size_t i = 0; i < members.size();) {
    auto *inner =
        find_if(members[i].terms, [&](const DimTerm &term) { return term.dim.kind() == kind && term.factor > 0; });
    if (inner == members[i].terms.end() || members.size() + inner->dim.operands().size() > Dim::mostMembers) {
      ++i;
      continue;
    }
    Poly rest = members[i];
    Dim extremum = inner->dim;
    int64_t factor = rest.take(extremum);
    members.erase(members.begin() + i);
    for (Dim member : extremum.operands()) {
      members.push_back(rest);
      members.back().add(Poly(member), factor);
    }
  }
}

/// A structural order of sums.
static bool isBefore(const Poly &a, const Poly &b) {
  for (auto [p, q] : zip(a.terms, b.terms)) {
    if (p.dim != q.dim)
      return isBefore(p.dim, q.dim);
    if (p.factor != q.factor)
      return p.factor < q.factor;
  }
  return a.terms.size() != b.terms.size() ? a.terms.size() < b.terms.size() : a.constant < b.constant;
}

/// Drops members that another one always exceeds; of members that are always equal, the first by structure stays.
static void dropExceeded(SmallVectorImpl<Poly> &members, Kind kind) {
  sort(members, [](const Poly &a, const Poly &b) { return isBefore(a, b); });
  auto exceeds = [&](const Poly &a, const Poly &b) { // or is equal
    Poly difference = kind == Kind::Max ? a : b;
    difference.add(kind == Kind::Max ? b : a, -1);
    return difference.isValid && rangeOf(difference).isNonNegative();
  };
  for (size_t i = 0; i < members.size();) {
    bool isExceeded = false;
    for (size_t j = 0; j < members.size() && !isExceeded; ++j)
      isExceeded = i != j && exceeds(members[j], members[i]) && (j < i || !exceeds(members[i], members[j]));
    if (isExceeded)
      members.erase(members.begin() + i);
    else
      ++i;
  }
}

/// Takes out of the members what all of them share, by the least factor of every monomial; the sum that it is.
static Poly takeShared(MutableArrayRef<Poly> members) {
  Poly shared(members[0].context, members[0].constant);
  SmallVector<Dim> monomials;
  for (const Poly &member : members) {
    shared.constant = std::min(shared.constant, member.constant);
    for (const DimTerm &term : member.terms)
      if (!is_contained(monomials, term.dim))
        monomials.push_back(term.dim);
  }
  for (Dim monomial : monomials) {
    int64_t least = INT64_MAX;
    for (const Poly &member : members)
      least = std::min(least, member.factorOf(monomial));
    shared.add(monomial, least);
  }
  for (Poly &member : members)
    member.add(shared, -1);
  return shared;
}

/// Divides the members by the greatest common divisor of their factors, which it gives.
static int64_t takeDivisor(MutableArrayRef<Poly> members) {
  int64_t divisor = 0; // all factors are 0 or more
  for (const Poly &member : members) {
    divisor = std::gcd(divisor, member.constant);
    for (const DimTerm &term : member.terms)
      divisor = std::gcd(divisor, term.factor);
  }
  for (Poly &member : members) {
    member.constant /= divisor;
    for (DimTerm &term : member.terms)
      term.factor /= divisor;
  }
  return divisor;
}

Poly detail::extremum(Kind kind, SmallVector<Poly> members) {
  Poly result(members[0].context);
  flatten(members, kind);
  for (const Poly &member : members)
    result.isValid = result.isValid && member.isValid;
  if (!result.isValid)
    return result;
  dropExceeded(members, kind);
  if (members.size() == 1)
    return members[0];
  result = takeShared(members);
  for (const Poly &member : members)
    result.isValid = result.isValid && member.isValid && member.constant >= 0 &&
                     all_of(member.terms, [](const DimTerm &term) { return term.factor > 0; });
  if (!result.isValid)
    return result;
  int64_t divisor = takeDivisor(members);
  SmallVector<Dim> operands = map_to_vector(members, [](const Poly &member) { return dimOf(member); });
  sort(operands, [](Dim a, Dim b) { return Dim::compare(a, b) < 0; });
  if (any_of(operands, [](Dim member) { return member.isUnknown(); }))
    result.isValid = false;
  else
    result.add(detail::nodeOf(result.context, {kind, 0, {}, {}, operands}), divisor);
  return result;
}

static Poly negated(const Poly &sum) {
  Poly out(sum.context);
  out.add(sum, -1);
  return Poly(dimOf(std::move(out)));
}

/// `-max(p,q)` is `min(-p,-q)`, alone or as the only minimum or maximum of a product: false when there is none left
/// with a negative factor.
static bool makePositive(Poly &sum) {
  for (const DimTerm &term : sum.terms) {
    if (term.factor >= 0 || term.factor == INT64_MIN)
      continue;
    Dim found;
    int64_t count = 0;
    term.dim.forEachAtom([&](int64_t power, Dim atom) {
      if (detail::isExtremum(atom.kind())) {
        found = atom;
        count += power;
      }
    });
    if (count != 1)
      continue;
    Poly others(sum.context, 1);
    term.dim.forEachAtom([&](int64_t power, Dim atom) {
      for (; power > 0 && atom != found; --power)
        others = others * Poly(atom);
    });
    SmallVector<Poly> members;
    for (Dim member : found.operands())
      members.push_back(negated(Poly(member)));
    Poly flipped = detail::extremum(detail::opposite(found.kind()), std::move(members)) * others;
    int64_t factor = sum.take(term.dim);
    sum.add(flipped, -factor);
    return sum.isValid;
  }
  return false;
}

Dim detail::dimOf(Poly sum) {
  while (sum.isValid && makePositive(sum))
    ;
  if (!sum.isValid || sum.terms.size() > Dim::mostTerms)
    return Dim::unknown(sum.context);
  if (sum.terms.empty())
    return Dim::number(sum.context, sum.constant);
  if (sum.constant == 0 && sum.terms.size() == 1 && sum.terms[0].factor == 1)
    return sum.terms[0].dim;
  return detail::nodeOf(sum.context, {Kind::Sum, sum.constant, {}, sum.terms});
}

//===--- Quotients ---===//

/// p // divisor for a positive number: what it divides comes out, of the rest only what is left over stays inside.
static Poly quotientByNumber(const Poly &p, int64_t divisor) {
  Poly whole(p.context, *checked::floorDivide(p.constant, divisor)),
      rest(p.context, p.constant - whole.constant * divisor);
  int64_t common = divisor;
  for (const DimTerm &term : p.terms) {
    int64_t times = *checked::floorDivide(term.factor, divisor);
    whole.add(term.dim, times);
    rest.add(term.dim, term.factor - times * divisor);
    common = std::gcd(common, term.factor - times * divisor);
  }
  if (SizeRange range = rangeOf(rest); range.lo >= 0 && range.hi < divisor)
    return whole;
  if (common > 1) { // (2*N+1)//4 is N//2
    divisor /= common;
    rest.constant /= common;
    for (DimTerm &term : rest.terms)
      term.factor /= common;
  }
  if (rest.terms.size() == 1 && rest.terms[0].factor == 1 &&
      rest.terms[0].dim.kind() == Kind::FloorDiv) { // (N//2 + 1)//3 is (N+2)//6
    Dim inner = rest.terms[0].dim;
    auto number = inner.operands()[1].asNumber();
    auto product = number ? checked::multiply(*number, divisor) : std::nullopt;
    if (product) {
      Poly dividend(inner.operands()[0]);
      dividend.add(Poly(p.context, rest.constant), *number);
      whole.add(quotientByNumber(dividend, *product));
      return whole;
    }
  }
  Dim operands[] = {dimOf(rest), Dim::number(p.context, divisor)};
  if (operands[0].isUnknown())
    whole.isValid = false;
  else
    whole.add(detail::nodeOf(p.context, {Kind::FloorDiv, 0, {}, {}, operands}), 1);
  return whole;
}

Poly detail::quotient(Poly p, Poly q) {
  Poly result(p.context);
  if (p.isConstant() && q.isConstant()) {
    auto value = checked::floorDivide(p.constant, q.constant);
    result.isValid = value.has_value();
    result.constant = value.value_or(0);
    return result;
  }
  result.isValid = p.isValid && q.isValid && !(q.isConstant() && (q.constant == 0 || q.constant == INT64_MIN));
  if (!result.isValid)
    return result;
  if (q.isConstant()) {
    Poly dividend = q.constant > 0 ? std::move(p) : negated(p);
    return dividend.isValid ? quotientByNumber(dividend, std::abs(q.constant)) : dividend;
  }
  Dim operands[] = {dimOf(std::move(p)), dimOf(std::move(q))};
  if (operands[0].isUnknown() || operands[1].isUnknown())
    result.isValid = false;
  else if (operands[0] == operands[1] && operands[1].range().lo > 0)
    result.constant = 1;
  else
    result.add(detail::nodeOf(result.context, {Kind::FloorDiv, 0, {}, {}, operands}), 1);
  return result;
}

DimTerm detail::takeRemainder(Poly &sum, Dim term) {
  Dim quotient;
  int64_t factor = sum.factorOf(term), times = 0;
  if (term.kind() == Kind::FloorDiv && term.operands()[1].isNumber()) {
    int64_t divisor = term.operands()[1].value();
    quotient = term;
    if (divisor > 0 && factor % divisor == 0)
      times = -(factor / divisor);
  } else if (term.kind() == Kind::Product) {
    term.forEachAtom([&](int64_t power, Dim atom) {
      if (atom.kind() == Kind::FloorDiv && power == 1 && atom.operands()[1].kind() != Kind::Sum &&
          productOf(atom, atom.operands()[1]) == term)
        quotient = atom;
    });
    times = factor == INT64_MIN ? 0 : -factor;
  }
  if (times == 0 || !quotient)
    return {0, {}};
  Poly rest = sum;
  rest.take(term);
  size_t without = rest.terms.size();
  rest.add(Poly(quotient.operands()[0]), -times);
  if (!rest.isValid || rest.terms.size() >= without)
    return {0, {}};
  sum = std::move(rest);
  return {times, quotient};
}

} // namespace toy

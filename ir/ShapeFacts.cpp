// SPDX-License-Identifier: Apache-2.0
#include "ir/ShapeFacts.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <numeric>

using namespace llvm;

namespace toy {

SizeFact SizeFact::negated() const {
  if (relation == NonNegative)
    return {NonNegative, Dim::number(dim.getAttr().getContext(), -1) - dim};
  return {relation == Zero ? NonZero : Zero, dim};
}

std::string SizeFact::str(const std::map<std::string, std::string> &shown) const {
  std::string left, right;
  dim.forEachTerm([&](int64_t coefficient, ArrayRef<std::string> atoms) {
    std::string &side = coefficient > 0 ? left : right;
    uint64_t magnitude = coefficient < 0 ? -static_cast<uint64_t>(coefficient) : coefficient;
    std::string text = magnitude != 1 || atoms.empty() ? std::to_string(magnitude) : "";
    for (const std::string &atom : atoms)
      text += (text.empty() ? "" : "*") + Dim::renamed(atom, shown);
    side += (side.empty() ? "" : " + ") + text;
  });
  if (left.empty() && relation != NonNegative)
    std::swap(left, right);
  if (relation == NonNegative && left.find_first_not_of("0123456789") == left.npos)
    return (right.empty() ? "0" : right) + " <= " + (left.empty() ? "0" : left);
  return (left.empty() ? "0" : left) + (relation == Zero ? " == " : relation == NonZero ? " != " : " >= ") + (right.empty() ? "0" : right);
}

bool SizeFact::holds(const StringMap<Dim> &sizes) const {
  int64_t value = dim.substitute(sizes).value();
  return relation == Zero ? value == 0 : relation == NonZero ? value != 0 : value >= 0;
}

void ShapeFacts::bound(StringRef name, int64_t lo, int64_t hi) {
  auto [it, isNew] = ranges.try_emplace(name.str(), Range{std::max<int64_t>(lo, 0), hi});
  if (!isNew) {
    it->second.lo = std::max(it->second.lo, lo);
    it->second.hi = std::min(it->second.hi, hi);
  }
}

// Bounds that leave 64 bits are no bounds.
static int64_t addBound(int64_t a, int64_t b, int64_t none) {
  int64_t sum;
  return a == none || b == none || __builtin_add_overflow(a, b, &sum) ? none : sum;
}

static ShapeFacts::Range sumOf(ShapeFacts::Range a, ShapeFacts::Range b) {
  int64_t stride = std::gcd(a.stride, b.stride), offset;
  if (__builtin_add_overflow(a.offset, b.offset, &offset))
    stride = 1, offset = 0;
  return {addBound(a.lo, b.lo, ShapeFacts::smallest), addBound(a.hi, b.hi, ShapeFacts::largest), stride, stride ? ((offset % stride) + stride) % stride : offset};
}

static ShapeFacts::Range productOf(ShapeFacts::Range a, ShapeFacts::Range b) {
  bool finite = a.lo != ShapeFacts::smallest && b.lo != ShapeFacts::smallest && a.hi != ShapeFacts::largest && b.hi != ShapeFacts::largest;
  ShapeFacts::Range out{ShapeFacts::smallest, ShapeFacts::largest};
  int64_t corners[4];
  if (finite && !__builtin_mul_overflow(a.lo, b.lo, &corners[0]) && !__builtin_mul_overflow(a.lo, b.hi, &corners[1]) && !__builtin_mul_overflow(a.hi, b.lo, &corners[2]) && !__builtin_mul_overflow(a.hi, b.hi, &corners[3]))
    out = {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  else if (a.lo >= 0 && b.lo >= 0) {
    int64_t lo;
    out.lo = __builtin_mul_overflow(a.lo, b.lo, &lo) ? 0 : lo;
    if (a.hi == 0 || b.hi == 0)
      out.hi = 0;
  }
  // A constant factor scales stride and offset; otherwise common divisors stay.
  const ShapeFacts::Range *constant = a.stride == 0 ? &a : b.stride == 0 ? &b : nullptr, &other = constant == &a ? b : a;
  int64_t stride, offset;
  if (constant) {
    if (!__builtin_mul_overflow(std::abs(constant->offset), other.stride, &stride) && !__builtin_mul_overflow(constant->offset, other.offset, &offset)) {
      out.stride = stride;
      out.offset = stride ? ((offset % stride) + stride) % stride : offset;
    }
    if (constant->offset < 0 && other.lo >= 0 && !finite) { // -c * [lo, inf)
      int64_t hi;
      out = {ShapeFacts::smallest, __builtin_mul_overflow(constant->offset, other.lo, &hi) ? 0 : hi, out.stride, out.offset};
    } else if (constant->offset > 0 && !finite) {
      int64_t lo;
      out.lo = other.lo == ShapeFacts::smallest || __builtin_mul_overflow(constant->offset, other.lo, &lo) ? ShapeFacts::smallest : lo;
      int64_t hi;
      out.hi = other.hi == ShapeFacts::largest || __builtin_mul_overflow(constant->offset, other.hi, &hi) ? ShapeFacts::largest : hi;
    }
  } else {
    int64_t da = std::gcd(a.stride, a.offset), db = std::gcd(b.stride, b.offset);
    if (!__builtin_mul_overflow(da, db, &stride) && stride > 0) {
      out.stride = stride;
      out.offset = 0;
    }
  }
  return out;
}

ShapeFacts::Range ShapeFacts::rangeOfAtom(mlir::MLIRContext *context, StringRef atom) const {
  auto parts = Dim::atomParts(context, atom);
  if (!parts) {
    auto it = ranges.find(atom.str());
    return it == ranges.end() ? Range{0, largest} : it->second;
  }
  Range a = rangeOf(parts->left), b = rangeOf(parts->right), out{smallest, largest};
  switch (parts->kind) {
  case Dim::Atom::Quotient:
    if (b.lo > 0 && a.lo >= 0)
      out = {b.hi == largest ? 0 : a.lo / b.hi, a.hi == largest ? largest : a.hi / b.lo};
    break;
  case Dim::Atom::Remainder:
    if (b.lo > 0)
      out = {0, b.hi == largest ? largest : b.hi - 1};
    break;
  case Dim::Atom::Min: out = {std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; break;
  case Dim::Atom::Max: out = {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; break;
  }
  if (auto it = ranges.find(atom.str()); it != ranges.end()) {
    out.lo = std::max(out.lo, it->second.lo);
    out.hi = std::min(out.hi, it->second.hi);
  }
  return out;
}

ShapeFacts::Range ShapeFacts::rangeOf(Dim dim) const {
  Range sum{0, 0, 0, 0};
  canonical(dim).forEachTerm([&](int64_t coefficient, ArrayRef<std::string> atoms) {
    Range term{coefficient, coefficient, 0, coefficient};
    for (const std::string &atom : atoms)
      term = productOf(term, rangeOfAtom(dim.getAttr().getContext(), atom));
    sum = sumOf(sum, term);
  });
  return sum;
}

void ShapeFacts::assume(SizeFact fact) {
  fact.dim = canonical(fact.dim);
  mlir::MLIRContext *context = fact.dim.getAttr().getContext();
  if (fact.dim.isNumber())
    return;
  facts.push_back(fact);
  // c*atom + constant: a range, or, for a remainder, a congruence.
  int64_t constant = 0, coefficient = 0;
  std::string atom;
  int terms = 0;
  std::map<std::string, int> uses;
  fact.dim.forEachTerm([&](int64_t c, ArrayRef<std::string> atoms) {
    for (const std::string &a : atoms)
      ++uses[a];
    if (atoms.empty())
      constant = c;
    else {
      ++terms;
      coefficient = c;
      atom = atoms.size() == 1 ? atoms[0] : "";
    }
  });
  if (terms == 1 && !atom.empty() && (coefficient == 1 || coefficient == -1)) {
    auto &range = ranges.try_emplace(atom, Dim::atomParts(context, atom) ? Range{smallest, largest} : Range{0, largest}).first->second;
    int64_t edge = coefficient == 1 ? -constant : constant;
    if (fact.relation == SizeFact::Zero || (fact.relation == SizeFact::NonNegative && coefficient == 1))
      range.lo = std::max(range.lo, edge);
    if (fact.relation == SizeFact::Zero || (fact.relation == SizeFact::NonNegative && coefficient == -1))
      range.hi = std::min(range.hi, edge);
    if (auto parts = Dim::atomParts(context, atom); parts && parts->kind == Dim::Atom::Remainder && fact.relation == SizeFact::Zero && parts->right.isNumber() && parts->right.value() > 0 && !parts->left.symbolName().empty()) {
      auto &of = ranges.try_emplace(parts->left.symbolName().str(), Range{0, largest}).first->second;
      if (of.stride == 1) { // the first congruence is kept; the facts hold the others
        of.stride = parts->right.value();
        of.offset = edge;
      }
    }
  }
  if (fact.relation != SizeFact::Zero)
    return;
  // The last name that stands alone with factor 1 or -1 is replaced by the rest.
  std::string solved;
  int64_t sign = 0;
  fact.dim.forEachTerm([&](int64_t c, ArrayRef<std::string> atoms) {
    if (atoms.size() != 1 || uses[atoms[0]] != 1 || (c != 1 && c != -1) || Dim::atomParts(context, atoms[0]))
      return;
    bool inside = false; // another atom may hold it
    for (auto &[other, n] : uses)
      if (auto parts = Dim::atomParts(context, other)) {
        auto look = [&](StringRef s) { inside |= s == atoms[0]; };
        parts->left.collectSymbols(look);
        parts->right.collectSymbols(look);
      }
    if (!inside && atoms[0] > solved) {
      solved = atoms[0];
      sign = c;
    }
  });
  if (solved.empty())
    return;
  Dim name = Dim::symbol(context, solved), rest = fact.dim - (sign == 1 ? name : Dim::number(context, 0) - name);
  Dim value = sign == 1 ? Dim::number(context, 0) - rest : rest;
  if (auto it = ranges.find(solved); it != ranges.end() && !value.symbolName().empty())
    bound(value.symbolName(), it->second.lo, it->second.hi);
  StringMap<Dim> step;
  step[solved] = value;
  for (auto &entry : equals)
    entry.second = entry.second.substitute(step);
  equals[solved] = value;
  for (SizeFact &known : facts)
    known.dim = known.dim.substitute(step);
  erase_if(facts, [](const SizeFact &known) { return known.dim.isNumber(); });
}

/// Linear constraints over names; products and what cannot be expressed are names of their own, with their range.
bool ShapeFacts::isImpossible(ArrayRef<SizeFact> more) const {
  using namespace mlir::presburger;
  constexpr int mostQueries = 200, mostConstraints = 64;
  if (++queries > mostQueries || facts.size() + more.size() > mostConstraints)
    return false;
  std::map<std::string, unsigned> columns;
  std::vector<std::pair<std::map<std::string, int64_t>, bool>> rows; // coefficients ("" is the constant), whether an equality
  std::vector<std::string> pending;
  mlir::MLIRContext *context = nullptr;
  auto columnsOf = [&](Dim dim) {
    std::map<std::string, int64_t> row;
    canonical(dim).forEachTerm([&](int64_t coefficient, ArrayRef<std::string> atoms) {
      std::string product = join(atoms, "*");
      row[product] += coefficient;
      if (!atoms.empty() && columns.try_emplace(product, columns.size()).second) {
        Range range{1, 1, 0, 1};
        for (const std::string &atom : atoms)
          range = productOf(range, rangeOfAtom(context, atom));
        if (range.lo != smallest)
          rows.push_back({{{product, 1}, {"", -range.lo}}, false});
        if (range.hi != largest && range.hi != smallest)
          rows.push_back({{{product, -1}, {"", range.hi}}, false});
        if (atoms.size() == 1)
          pending.push_back(atoms[0]);
      }
    });
    return row;
  };
  auto add = [&](const SizeFact &fact) {
    context = fact.dim.getAttr().getContext();
    if (fact.relation != SizeFact::NonZero)
      rows.push_back({columnsOf(fact.dim), fact.relation == SizeFact::Zero});
  };
  for (const SizeFact &fact : facts)
    add(fact);
  for (const SizeFact &fact : more)
    add(fact);
  while (!pending.empty() && rows.size() < 4 * mostConstraints) { // what quotients, remainders, minima and maxima mean
    std::string atom = pending.back();
    pending.pop_back();
    auto parts = Dim::atomParts(context, atom);
    if (!parts)
      continue;
    Dim self = Dim::opaque(context, atom);
    if (parts->kind == Dim::Atom::Min || parts->kind == Dim::Atom::Max) {
      bool isMin = parts->kind == Dim::Atom::Min;
      for (Dim side : {parts->left, parts->right})
        rows.push_back({columnsOf(isMin ? side - self : self - side), false});
    } else if (parts->right.isNumber() && parts->right.value() > 0) {
      Dim n = parts->right, one = Dim::number(context, 1);
      Dim quotient = parts->kind == Dim::Atom::Quotient ? self : parts->left.floorDiv(n);
      Dim rest = parts->kind == Dim::Atom::Remainder ? self : parts->left - n * quotient;
      if (parts->kind == Dim::Atom::Remainder)
        rows.push_back({columnsOf(parts->left - n * quotient - self), true});
      rows.push_back({columnsOf(rest), false});
      rows.push_back({columnsOf(n - one - rest), false});
    }
  }
  IntegerPolyhedron set(PresburgerSpace::getSetSpace(columns.size()));
  for (auto &[row, isEquality] : rows) {
    SmallVector<int64_t> coefficients(columns.size() + 1);
    for (auto &[product, coefficient] : row)
      coefficients[product.empty() ? columns.size() : columns.at(product)] = coefficient;
    if (isEquality)
      set.addEquality(coefficients);
    else
      set.addInequality(coefficients);
  }
  return set.isEmpty() || set.isIntegerEmpty();
}

Truth ShapeFacts::decide(SizeFact fact) const {
  fact.dim = canonical(fact.dim);
  if (fact.relation == SizeFact::NonZero) {
    Truth zero = decide({SizeFact::Zero, fact.dim});
    return zero == Truth::Unknown ? zero : zero == Truth::Yes ? Truth::No : Truth::Yes;
  }
  auto truth = [](bool b) { return b ? Truth::Yes : Truth::No; };
  bool isZero = fact.relation == SizeFact::Zero;
  if (fact.dim.isNumber())
    return truth(isZero ? fact.dim.value() == 0 : fact.dim.value() >= 0);
  Range range = rangeOf(fact.dim);
  if (!isZero && range.lo != smallest && range.lo >= 0)
    return Truth::Yes;
  if (range.hi < 0 || (isZero && range.lo > 0) || (isZero && (range.stride ? range.offset % range.stride != 0 : range.offset != 0)))
    return Truth::No;
  Dim opposite = Dim::number(fact.dim.getAttr().getContext(), 0) - fact.dim;
  for (const SizeFact &known : facts)
    if (known.dim == fact.dim || (known.relation != SizeFact::NonNegative && known.dim == opposite)) {
      if (known.relation == fact.relation)
        return Truth::Yes;
      if (isZero && known.relation == SizeFact::NonZero)
        return Truth::No;
    }
  if (isImpossible(fact))
    return Truth::No;
  SizeFact not_ = fact.negated();
  if (!isZero)
    return isImpossible(not_) ? Truth::Yes : Truth::Unknown;
  Dim one = Dim::number(fact.dim.getAttr().getContext(), 1);
  return isImpossible(SizeFact{SizeFact::NonNegative, fact.dim - one}) && isImpossible(SizeFact{SizeFact::NonNegative, opposite - one}) ? Truth::Yes : Truth::Unknown;
}

std::vector<size_t> minimalFacts(const ShapeFacts &known, ArrayRef<SizeFact> facts) {
  std::vector<size_t> kept(facts.size());
  std::iota(kept.begin(), kept.end(), 0);
  for (size_t i = facts.size(); i-- > 0;) { // the later ones were found with the earlier ones known
    ShapeFacts others = known;
    for (size_t j : kept)
      if (j != i)
        others.assume(facts[j]);
    if (others.decide(facts[i]) == Truth::Yes)
      erase(kept, i);
  }
  return kept;
}

SizeTest::SizeTest(SizeFact fact, const StringMap<unsigned> &places) : relation(fact.relation) {
  fact.dim.forEachTerm([&](int64_t coefficient, ArrayRef<std::string> atoms) {
    if (atoms.empty())
      constant = coefficient;
    else if (terms < 0 || terms == mostTerms || atoms.size() > 1 || !places.count(atoms[0]))
      terms = -1;
    else {
      slots[terms] = places.lookup(atoms[0]);
      weights[terms++] = coefficient;
    }
  });
  if (terms < 0)
    compile(fact.dim, places);
}

void SizeTest::compile(Dim dim, const StringMap<unsigned> &places) {
  bool first = true;
  dim.forEachTerm([&](int64_t coefficient, ArrayRef<std::string> atoms) {
    bool hasFactor = coefficient != 1 || atoms.empty();
    if (hasFactor)
      steps.push_back({Constant, coefficient});
    for (const std::string &atom : atoms) {
      if (auto parts = Dim::atomParts(dim.getAttr().getContext(), atom)) {
        compile(parts->left, places);
        compile(parts->right, places);
        constexpr Code codes[] = {Quotient, Remainder, Min, Max};
        steps.push_back({codes[parts->kind], 0});
      } else
        steps.push_back({Load, places.lookup(atom)});
      if (std::exchange(hasFactor, true))
        steps.push_back({Multiply, 0});
    }
    if (!std::exchange(first, false))
      steps.push_back({Add, 0});
  });
  if (first)
    steps.push_back({Constant, 0});
}

int64_t SizeTest::run(const int64_t *sizes) const {
  int64_t stack[mostDepth], *top = stack; // depth is that of brackets in a source line, which the parser limits
  SmallVector<int64_t, 0> large;
  if (steps.size() > mostDepth) {
    large.resize(steps.size());
    top = large.data();
  }
  auto floorDivide = [](int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); };
  for (Step step : steps) {
    if (step.code <= Constant) {
      *top++ = step.code == Load ? sizes[step.operand] : step.operand;
      continue;
    }
    int64_t b = *--top, &a = top[-1];
    switch (step.code) {
    case Add: a += b; break;
    case Multiply: a *= b; break;
    case Quotient: a = floorDivide(a, b); break;
    case Remainder: a -= floorDivide(a, b) * b; break;
    case Min: a = std::min(a, b); break;
    default: a = std::max(a, b); break;
    }
  }
  return top[-1];
}

} // namespace toy

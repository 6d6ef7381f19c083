// SPDX-License-Identifier: Apache-2.0
#include "ir/ShapeFacts.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <numeric>

using namespace llvm;

namespace toy {

SizeFact SizeFact::negated() const {
  if (relation == NonNegative)
    return {NonNegative, Dim::number(dim.getContext(), -1) - dim};
  return {relation == Zero ? NonZero : Zero, dim};
}

std::string SizeFact::str(const std::map<std::string, std::string> &shown) const {
  auto [left, right] = dim.sides([&](StringRef name) {
    auto it = shown.find(name.str());
    return it == shown.end() ? name.str() : it->second;
  });
  if (left.empty() && relation != NonNegative)
    std::swap(left, right);
  if (relation == NonNegative && left.find_first_not_of("0123456789") == left.npos)
    return (right.empty() ? "0" : right) + " <= " + (left.empty() ? "0" : left);
  return (left.empty() ? "0" : left) +
         (relation == Zero      ? " == "
          : relation == NonZero ? " != "
                                : " >= ") +
         (right.empty() ? "0" : right);
}

bool SizeFact::holds(const StringMap<Dim> &sizes) const {
  auto value = dim.evaluate(sizes);
  return value && (relation == Zero ? *value == 0 : relation == NonZero ? *value != 0 : *value >= 0);
}

//===--- Facts ---===//

struct ShapeFacts::State {
  StringMap<SizeRange> names;
  DenseMap<Dim, SizeRange> atoms;
  StringMap<Dim> equals;
  std::vector<SizeFact> facts;
  mutable DenseMap<std::pair<Dim, unsigned>, Truth> answers;

  static constexpr size_t mostFacts = 256; ///< more are forgotten
};

ShapeFacts::ShapeFacts() : state(std::make_shared<State>()), workLeft(std::make_shared<int64_t>(mostWork)) {}

ShapeFacts::State &ShapeFacts::change() {
  if (state.use_count() > 1)
    state = std::make_shared<State>(*state);
  state->answers.clear();
  return *state;
}

Dim ShapeFacts::canonical(Dim dim) const { return dim.substitute(state->equals); }

void ShapeFacts::bound(StringRef name, int64_t lo, int64_t hi) {
  auto [it, isNew] = change().names.try_emplace(name, SizeRange{std::max<int64_t>(lo, 0), hi});
  if (!isNew) {
    it->second.lo = std::max(it->second.lo, lo);
    it->second.hi = std::min(it->second.hi, hi);
  }
}

std::optional<SizeRange> ShapeFacts::known(Dim atom) const {
  if (atom.kind() == Dim::Kind::Symbol) {
    auto it = state->names.find(atom.symbolName());
    return it == state->names.end() ? std::nullopt : std::optional(it->second);
  }
  auto it = state->atoms.find(atom);
  return it == state->atoms.end() ? std::nullopt : std::optional(it->second);
}

SizeRange ShapeFacts::rangeOf(Dim dim) const {
  return toy::rangeOf(canonical(dim), [&](Dim atom) { return known(atom); });
}

void ShapeFacts::assume(SizeFact fact) {
  if (fact.dim.isUnknown())
    return;
  fact.dim = canonical(fact.dim);
  if (fact.dim.isNumber() || fact.dim.isUnknown() || state->facts.size() >= State::mostFacts)
    return;
  change().facts.push_back(fact);
  narrow(fact);
  if (fact.relation == SizeFact::Zero)
    solve(fact);
}

/// What a fact says about single atoms: bounds, and for `name%number` a congruence.
void ShapeFacts::narrow(const SizeFact &fact) {
  SmallVector<DimTerm, 4> terms;
  fact.dim.forEachTerm([&](int64_t factor, Dim monomial) { terms.push_back({factor, monomial}); });
  int64_t constant = fact.dim.constant();
  bool isZero = fact.relation == SizeFact::Zero, isAtLeast = fact.relation == SizeFact::NonNegative;
  if (constant == INT64_MIN)
    return;
  auto rangeFor = [&](Dim atom) -> SizeRange & {
    return atom.kind() == Dim::Kind::Symbol
               ? state->names.try_emplace(atom.symbolName(), SizeRange{0, largest}).first->second
               : state->atoms.try_emplace(atom, SizeRange()).first->second;
  };
  if (terms.size() == 1 && (terms[0].factor == 1 || terms[0].factor == -1) &&
      terms[0].dim.kind() != Dim::Kind::Product) {
    auto [factor, atom] = terms[0];
    int64_t edge = factor == 1 ? -constant : constant;
    SizeRange &range = rangeFor(atom);
    if (isZero || (isAtLeast && factor == 1))
      range.lo = std::max(range.lo, edge);
    if (isZero || (isAtLeast && factor == -1))
      range.hi = std::min(range.hi, edge);
  }
  // name - n*((name + a)//n) + constant == 0
  for (auto [first, second] : {std::pair(0, 1), std::pair(1, 0)}) {
    if (!isZero || terms.size() != 2 || terms[first].dim.kind() != Dim::Kind::FloorDiv ||
        terms[second].dim.kind() != Dim::Kind::Symbol)
      continue;
    Dim divisor = terms[first].dim.operands()[1];
    int64_t sign = terms[second].factor;
    if (!divisor.isNumber() || (sign != 1 && sign != -1) || terms[first].factor != -sign * divisor.value())
      continue;
    SizeRange &range = rangeFor(terms[second].dim);
    if (range.stride == 1) { // the first congruence is kept; the facts hold the others
      range.stride = divisor.value();
      int64_t rest = (-sign * constant) % range.stride;
      range.offset = rest < 0 ? rest + range.stride : rest;
    }
  }
}

/// The last name that stands alone with factor 1 or -1 is replaced by the rest.
void ShapeFacts::solve(const SizeFact &fact) {
  Dim name;
  int64_t sign = 0;
  fact.dim.forEachTerm([&](int64_t factor, Dim monomial) {
    if (monomial.kind() != Dim::Kind::Symbol || (factor != 1 && factor != -1) ||
        (name && monomial.symbolName() < name.symbolName()))
      return;
    bool isElsewhere = false;
    fact.dim.forEachTerm([&](int64_t, Dim other) {
      if (other != monomial)
        other.collectSymbols([&](StringRef symbol) { isElsewhere |= symbol == monomial.symbolName(); });
    });
    if (isElsewhere)
      return;
    name = monomial;
    sign = factor;
  });
  if (!name)
    return;
  Dim zero = Dim::number(name.getContext(), 0), rest = fact.dim - (sign == 1 ? name : zero - name);
  Dim value = sign == 1 ? zero - rest : rest;
  if (value.isUnknown())
    return;
  SizeRange range = known(name).value_or(SizeRange{0, largest});
  StringMap<Dim> step;
  step[name.symbolName()] = value;
  State &own = change();
  for (auto &entry : own.equals)
    entry.second = entry.second.substitute(step);
  own.equals[name.symbolName()] = value;
  for (SizeFact &other : own.facts)
    other.dim = other.dim.substitute(step);
  erase_if(own.facts, [](const SizeFact &other) { return other.dim.isNumber() || other.dim.isUnknown(); });
  // What was known about the name holds for the rest.
  if (rangeOf(value).lo < range.lo)
    assume(SizeFact::atLeast(value, Dim::number(name.getContext(), range.lo)));
  if (range.hi != largest && rangeOf(value).hi > range.hi)
    assume(SizeFact::atLeast(Dim::number(name.getContext(), range.hi), value));
}

namespace {
/// Linear constraints over monomials: products and what cannot be expressed are unknowns of their own, with their
/// bounds.
class LinearSystem {
public:
  LinearSystem(function_ref<std::optional<SizeRange>(Dim)> known) : known(known) {}

  void add(const SizeFact &fact) {
    if (fact.relation != SizeFact::NonZero && !fact.dim.isUnknown())
      add(fact.dim, fact.relation == SizeFact::Zero);
  }

  /// Whether no integers fulfil all rows, whichever member each of the first extrema is. Takes its work from what is
  /// left.
  bool isRefuted(int64_t &left) {
    while (!pending.empty() && rows.size() < mostRows)
      define(pending.pop_back_val());
    if (left <= 0)
      return false;
    left -= static_cast<int64_t>(rows.size() * columns.size());
    if (hasNoSolution())
      return true;
    if (splits == mostSplits || splits == extrema.size())
      return false;
    Dim atom = extrema[splits];
    return all_of(atom.operands(), [&](Dim member) {
      LinearSystem part = *this;
      ++part.splits;
      part.add(member, 1, atom, -1, 0, true);
      return part.isRefuted(left);
    });
  }

  static constexpr size_t mostFacts = 64;

private:
  struct Row {
    SmallVector<std::pair<unsigned, int64_t>, 4> factors;
    int64_t constant;
    bool isEquality;
  };

  bool hasNoSolution() const {
    using namespace mlir::presburger;
    IntegerPolyhedron set(PresburgerSpace::getSetSpace(columns.size()));
    for (const Row &row : rows) {
      SmallVector<DynamicAPInt> coefficients(columns.size() + 1);
      for (auto [column, factor] : row.factors)
        coefficients[column] += factor;
      coefficients.back() = row.constant;
      if (row.isEquality)
        set.addEquality(coefficients);
      else
        set.addInequality(coefficients);
    }
    return set.isEmpty() || set.isIntegerEmpty();
  }

  void add(Dim dim, bool isEquality) { add(dim, 1, Dim(), 0, 0, isEquality); }

  /// `sign*dim + factor*atom + extra`. As columns, since sizes that are added would be simplified: `N - min(N,M)` is
  /// `max(N,M) - M`, which says nothing of the minimum.
  void add(Dim dim, int64_t sign, Dim atom, int64_t factor, int64_t extra, bool isEquality) {
    if (dim.isUnknown())
      return;
    int64_t constant;
    bool overflows =
        __builtin_mul_overflow(dim.constant(), sign, &constant) || __builtin_add_overflow(constant, extra, &constant);
    Row row{{}, constant, isEquality};
    dim.forEachTerm([&](int64_t weight, Dim monomial) {
      overflows |= __builtin_mul_overflow(weight, sign, &weight);
      row.factors.emplace_back(column(monomial), weight);
    });
    if (atom)
      row.factors.emplace_back(column(atom), factor);
    if (!overflows) // fewer rows refute less
      rows.push_back(row);
  }

  unsigned column(Dim monomial) {
    auto [it, isNew] = columns.try_emplace(monomial, columns.size());
    unsigned index = it->second;
    if (!isNew)
      return index;
    SizeRange range = toy::rangeOf(monomial, known);
    if (range.lo != SizeRange::smallest)
      rows.push_back({{{index, 1}}, range.lo == INT64_MAX ? -INT64_MAX : -range.lo, false});
    if (range.hi != SizeRange::largest && range.hi != SizeRange::smallest)
      rows.push_back({{{index, -1}}, range.hi, false});
    if (!monomial.operands().empty())
      pending.push_back(monomial);
    return index;
  }

  /// What a quotient means, and what is linear of a minimum or a maximum: it is beyond no member.
  void define(Dim atom) {
    ArrayRef<Dim> operands = atom.operands();
    if (atom.kind() != Dim::Kind::FloorDiv) {
      int64_t sign = atom.kind() == Dim::Kind::Min ? 1 : -1;
      for (Dim member : operands)
        add(member, sign, atom, -sign, 0, false);
      extrema.push_back(atom);
    } else if (operands[1].isNumber() && operands[1].value() > 0) {
      int64_t divisor = operands[1].value();
      add(operands[0], 1, atom, -divisor, 0, false);
      add(operands[0], -1, atom, divisor, divisor - 1, false);
    }
  }

  static constexpr size_t mostRows = 256, mostSplits = 3;
  function_ref<std::optional<SizeRange>(Dim)> known;
  DenseMap<Dim, unsigned> columns;
  std::vector<Row> rows;
  SmallVector<Dim> pending, extrema; ///< extrema of what was added last come first
  size_t splits = 0;                 ///< of the extrema are one of their members
};
} // namespace

bool ShapeFacts::isImpossible(SizeFact more) const {
  if (more.dim.isUnknown())
    return false;
  auto lookUp = [&](Dim atom) { return known(atom); };
  LinearSystem system(lookUp);
  // The facts that have to do with the question, nearest first: fewer of them refute less.
  StringSet<> names, found;
  auto collect = [&](StringRef name) { found.insert(name); };
  more.dim.collectSymbols(collect);
  SmallVector<const SizeFact *> others;
  for (const SizeFact &fact : state->facts)
    others.push_back(&fact);
  for (size_t added = 0; !found.empty() && added < LinearSystem::mostFacts;) {
    names = std::exchange(found, {});
    erase_if(others, [&](const SizeFact *fact) {
      bool isNear = false;
      fact->dim.collectSymbols([&](StringRef name) { isNear |= names.contains(name); });
      if (!isNear || added == LinearSystem::mostFacts)
        return false;
      system.add(*fact);
      fact->dim.collectSymbols(collect);
      return ++added > 0;
    });
  }
  system.add(more);
  return system.isRefuted(*workLeft);
}

Truth ShapeFacts::decide(SizeFact fact) const {
  fact.dim = canonical(fact.dim);
  if (fact.dim.isUnknown())
    return Truth::Unknown;
  if (fact.relation == SizeFact::NonZero) {
    Truth zero = decide({SizeFact::Zero, fact.dim});
    return zero == Truth::Unknown ? zero : zero == Truth::Yes ? Truth::No : Truth::Yes;
  }
  auto [it, isNew] = state->answers.try_emplace({fact.dim, fact.relation}, Truth::Unknown);
  if (isNew) {
    Truth answer = decideCanonical(fact);
    state->answers[{fact.dim, fact.relation}] = answer;
    return answer;
  }
  return it->second;
}

Truth ShapeFacts::decideCanonical(SizeFact fact) const {
  auto truth = [](bool b) { return b ? Truth::Yes : Truth::No; };
  bool isZero = fact.relation == SizeFact::Zero;
  if (fact.dim.isNumber())
    return truth(isZero ? fact.dim.value() == 0 : fact.dim.value() >= 0);
  Range range = rangeOf(fact.dim);
  if (isZero ? range.lo == 0 && range.hi == 0 : range.lo >= 0)
    return Truth::Yes;
  if (range.hi < 0 || (isZero && range.lo > 0) ||
      (isZero && (range.stride ? range.offset % range.stride != 0 : range.offset != 0)))
    return Truth::No;
  mlir::MLIRContext *context = fact.dim.getContext();
  Dim opposite = Dim::number(context, 0) - fact.dim;
  if (rangeOf(opposite).lo > 0)
    return Truth::No;
  for (const SizeFact &other : state->facts)
    if (other.dim == fact.dim || (other.relation != SizeFact::NonNegative && other.dim == opposite)) {
      if (other.relation == fact.relation)
        return Truth::Yes;
      if (isZero && other.relation == SizeFact::NonZero)
        return Truth::No;
    }
  if (isImpossible(fact))
    return Truth::No;
  if (!isZero)
    return isImpossible(fact.negated()) ? Truth::Yes : Truth::Unknown;
  Dim one = Dim::number(context, 1);
  return isImpossible({SizeFact::NonNegative, fact.dim - one}) && isImpossible({SizeFact::NonNegative, opposite - one})
             ? Truth::Yes
             : Truth::Unknown;
}

std::vector<size_t> minimalFacts(const ShapeFacts &known, ArrayRef<SizeFact> facts) {
  std::vector<size_t> kept(facts.size());
  std::iota(kept.begin(), kept.end(), 0);
  constexpr size_t most = 64; // of more, all are kept: each is found with n others
  for (size_t i = facts.size() <= most ? facts.size() : 0;
       i-- > 0;) { // the later ones were found with the earlier ones known
    ShapeFacts others = known;
    for (size_t j : kept)
      if (j != i)
        others.assume(facts[j]);
    if (others.decide(facts[i]) == Truth::Yes)
      erase(kept, i);
  }
  return kept;
}

//===--- Tests ---===//

/// Steps of a fact that is no short sum of names.
struct SizeTest::Compiler : DimComputation<unsigned> {
  Compiler(std::vector<Step> &steps, const StringMap<unsigned> &places) : steps(steps), places(places) {}
  unsigned push(Step step) {
    steps.push_back(step);
    return steps.size() - 1;
  }
  unsigned constant(int64_t n) override { return push({Step::Constant, 0, n}); }
  unsigned symbol(StringRef name) override { return push({Step::Load, 0, places.lookup(name)}); }
  unsigned combine(Operation op, unsigned a, unsigned b) override { return push({Step::Combine, op, a, b}); }

  std::vector<Step> &steps;
  const StringMap<unsigned> &places;
};

SizeTest::SizeTest(SizeFact fact, const StringMap<unsigned> &places)
    : constant(fact.dim.constant()), relation(fact.relation) {
  fact.dim.forEachTerm([&](int64_t factor, Dim monomial) {
    if (terms < 0 || terms == mostTerms || monomial.kind() != Dim::Kind::Symbol ||
        !places.count(monomial.symbolName())) {
      terms = -1;
      return;
    }
    slots[terms] = places.lookup(monomial.symbolName());
    weights[terms++] = factor;
  });
  if (terms < 0 && !fact.dim.isUnknown())
    Compiler(steps, places).compute(fact.dim);
}

bool SizeTest::run(const int64_t *sizes, int64_t &value) const {
  using Computation = DimComputation<unsigned>;
  SmallVector<int64_t, 64> values(steps.size());
  for (auto [step, slot] : zip_equal(steps, values)) {
    if (step.code != Step::Combine) {
      slot = step.code == Step::Load ? sizes[step.left] : step.left;
      continue;
    }
    int64_t a = values[step.left], b = values[step.right];
    std::optional<int64_t> result;
    switch (step.operation) {
    case Computation::Add:
      result = checked::add(a, b);
      break;
    case Computation::Subtract:
      result = checked::subtract(a, b);
      break;
    case Computation::Multiply:
      result = checked::multiply(a, b);
      break;
    case Computation::FloorDivide:
      result = checked::floorDivide(a, b);
      break;
    case Computation::Minimum:
      result = std::min(a, b);
      break;
    default:
      result = std::max(a, b);
      break;
    }
    if (!result)
      return false;
    slot = *result;
  }
  if (steps.empty())
    return false;
  value = values.back();
  return true;
}

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Intervals and congruences of sizes.
#include "ir/DimPoly.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <numeric>

using namespace llvm;

namespace toy {
namespace checked {

std::optional<int64_t> add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}
std::optional<int64_t> subtract(int64_t a, int64_t b) {
  int64_t difference;
  return __builtin_sub_overflow(a, b, &difference) ? std::nullopt : std::optional(difference);
}
std::optional<int64_t> multiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
}
std::optional<int64_t> floorDivide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1))
    return std::nullopt;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

} // namespace checked

namespace {

constexpr int64_t largest = SizeRange::largest, smallest = SizeRange::smallest;

int64_t modulo(int64_t a, int64_t m) {
  int64_t rest = a % m;
  return rest < 0 ? rest + m : rest;
}

/// Bounds that leave 64 bits are no bounds.
int64_t addBound(int64_t a, int64_t b, int64_t none) {
  return a == none || b == none ? none : checked::add(a, b).value_or(none);
}

/// A number times a bound, on the side of `none`.
int64_t scaleBound(int64_t factor, int64_t bound, int64_t none) {
  return bound == largest || bound == smallest ? none : checked::multiply(factor, bound).value_or(none);
}

SizeRange sumOf(SizeRange a, SizeRange b) {
  SizeRange out{addBound(a.lo, b.lo, smallest), addBound(a.hi, b.hi, largest)};
  auto offset = checked::add(a.offset, b.offset);
  if (offset && a.stride != INT64_MIN && b.stride != INT64_MIN) {
    out.stride = std::gcd(a.stride, b.stride);
    out.offset = out.stride ? modulo(*offset, out.stride) : *offset;
  }
  return out;
}

SizeRange scaled(SizeRange a, int64_t factor) {
  if (factor == 0)
    return SizeRange::of(0);
  SizeRange out = factor > 0 ? SizeRange{scaleBound(factor, a.lo, smallest), scaleBound(factor, a.hi, largest)}
                             : SizeRange{scaleBound(factor, a.hi, smallest), scaleBound(factor, a.lo, largest)};
  auto stride = checked::multiply(a.stride, factor), offset = checked::multiply(a.offset, factor);
  if (stride && offset && *stride != INT64_MIN) {
    out.stride = std::abs(*stride);
    out.offset = out.stride ? modulo(*offset, out.stride) : *offset;
  }
  return out;
}

SizeRange productOf(SizeRange a, SizeRange b) {
  if (a.stride == 0)
    return scaled(b, a.offset);
  if (b.stride == 0)
    return scaled(a, b.offset);
  SizeRange out;
  bool isFinite = a.lo != smallest && b.lo != smallest && a.hi != largest && b.hi != largest;
  std::optional<int64_t> corners[] = {checked::multiply(a.lo, b.lo), checked::multiply(a.lo, b.hi),
                                      checked::multiply(a.hi, b.lo), checked::multiply(a.hi, b.hi)};
  if (isFinite && all_of(corners, [](auto &corner) { return corner.has_value(); })) {
    out.lo = **std::min_element(std::begin(corners), std::end(corners));
    out.hi = **std::max_element(std::begin(corners), std::end(corners));
  } else if (a.lo >= 0 && b.lo >= 0) {
    out.lo = corners[0].value_or(0);
    if (a.hi == 0 || b.hi == 0)
      out.hi = 0;
  }
  // Common divisors of a factor's values stay.
  if (auto stride = checked::multiply(std::gcd(a.stride, a.offset), std::gcd(b.stride, b.offset));
      stride && *stride > 0)
    out.stride = *stride;
  return out;
}

/// Values of either.
SizeRange unionOf(SizeRange a, SizeRange b, bool isMin) {
  SizeRange out = isMin ? SizeRange{std::min(a.lo, b.lo), std::min(a.hi, b.hi)}
                        : SizeRange{std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
  if (auto difference = checked::add(a.offset, b.offset == INT64_MIN ? 0 : -b.offset);
      difference && b.offset != INT64_MIN && *difference != INT64_MIN) {
    out.stride = std::gcd(std::gcd(a.stride, b.stride), *difference);
    out.offset = out.stride ? modulo(a.offset, out.stride) : a.offset;
  }
  return out;
}

SizeRange quotientOf(SizeRange a, SizeRange b) {
  if (b.lo <= 0)
    return {};
  auto divide = [](int64_t x, int64_t y) { return *checked::floorDivide(x, y); }; // y is positive
  SizeRange out;
  if (a.lo != smallest)
    out.lo = a.lo >= 0 ? (b.hi == largest ? 0 : divide(a.lo, b.hi)) : divide(a.lo, b.lo);
  if (a.hi != largest)
    out.hi = a.hi >= 0 ? divide(a.hi, b.lo) : b.hi == largest ? -1 : divide(a.hi, b.hi);
  return out;
}

/// Finds bounds of sums. Extrema are split into their members where other terms may cancel against them, which the
/// budget limits.
class RangeFinder {
public:
  using Known = function_ref<std::optional<SizeRange>(Dim)>;
  explicit RangeFinder(Known known) : known(known) {}

  SizeRange dim(Dim dim) { return sum(detail::Poly(dim)); }

  SizeRange monomial(Dim dim) {
    SizeRange out = SizeRange::of(1);
    dim.forEachAtom([&](int64_t power, Dim factor) {
      for (SizeRange range = atom(factor); power > 0; --power)
        out = productOf(out, range);
    });
    return out;
  }

  SizeRange sum(const detail::Poly &sum) {
    if (!sum.isValid)
      return {};
    SizeRange out = SizeRange::of(sum.constant);
    for (const DimTerm &term : sum.terms)
      out = sumOf(out, scaled(monomial(term.dim), term.factor));
    if (sum.terms.size() < 2 || out.isNonNegative())
      return out;
    // All members bound it from below where the sum takes the least of them, one does where it takes the greatest: the
    // former come first.
    for (bool isLeast : {true, false})
      for (const DimTerm &term : sum.terms)
        if (detail::isExtremum(term.dim.kind()) && takesLeast(term) == isLeast && budget > 0)
          return intersection(out, splitExtremum(sum, term));
    for (const DimTerm &term : sum.terms) {
      if (budget <= 0)
        break;
      if (auto bound = splitQuotient(sum, term))
        out = intersection(out, *bound);
    }
    return out;
  }

  SizeRange atom(Dim atom) {
    SizeRange out = atom.range();
    if (!known || atom.isUnknown())
      return out;
    if (atom.kind() != Dim::Kind::Symbol) {
      auto it = memo.find(atom);
      if (it != memo.end())
        return it->second;
      out = intersection(out, inside(atom));
    }
    if (auto more = known(atom))
      out = intersection(out, *more);
    if (atom.kind() != Dim::Kind::Symbol)
      memo[atom] = out;
    return out;
  }

  /// From the ranges of an atom's operands.
  SizeRange inside(Dim atom) {
    ArrayRef<Dim> operands = atom.operands();
    SizeRange out = dim(operands[0]);
    if (atom.kind() == Dim::Kind::FloorDiv)
      return quotientOf(out, dim(operands[1]));
    for (Dim member : operands.drop_front())
      out = unionOf(out, dim(member), atom.kind() == Dim::Kind::Min);
    return out;
  }

private:
  static bool takesLeast(const DimTerm &term) { return (term.dim.kind() == Dim::Kind::Min) == (term.factor > 0); }

  /// Halves of an even factor are split one after the other: `2*max(N,M)` is at least `N+M`.
  SizeRange splitExtremum(const detail::Poly &whole, const DimTerm &term) {
    SizeRange out;
    bool isFirst = true;
    int64_t factor = term.factor % 2 == 0 ? term.factor / 2 : term.factor;
    for (Dim member : term.dim.operands()) {
      --budget;
      detail::Poly part = whole;
      part.add(term.dim, -factor);
      part.add(detail::Poly(member), factor);
      SizeRange range = sum(part);
      out = std::exchange(isFirst, false) ? range : unionOf(out, range, takesLeast(term));
    }
    return out;
  }

  /// `n*(p//n)` is p less a remainder of 0 to n-1.
  std::optional<SizeRange> splitQuotient(const detail::Poly &whole, const DimTerm &term) {
    if (term.dim.kind() != Dim::Kind::FloorDiv || !term.dim.operands()[1].isNumber())
      return std::nullopt;
    int64_t divisor = term.dim.operands()[1].value();
    if (divisor <= 0 || term.factor % divisor != 0)
      return std::nullopt;
    --budget;
    int64_t times = term.factor / divisor;
    auto most = checked::multiply(times, divisor - 1);
    if (!most || *most == INT64_MIN)
      return std::nullopt;
    detail::Poly part = whole;
    part.take(term.dim);
    part.add(detail::Poly(term.dim.operands()[0]), times);
    SizeRange range = sum(part);
    return sumOf({range.lo, range.hi}, {std::min<int64_t>(-*most, 0), std::max<int64_t>(-*most, 0)});
  }

  Known known;
  DenseMap<Dim, SizeRange> memo;
  int budget = 32;
};

} // namespace

SizeRange intersection(SizeRange a, SizeRange b) {
  SizeRange out = a;
  out.lo = std::max(a.lo, b.lo);
  out.hi = std::min(a.hi, b.hi);
  if (b.stride == 0 || (a.stride != 0 && b.stride > a.stride)) { // the stronger congruence
    out.stride = b.stride;
    out.offset = b.offset;
  }
  return out;
}

SizeRange rangeOf(Dim dim, function_ref<std::optional<SizeRange>(Dim)> known) { return RangeFinder(known).dim(dim); }

namespace detail {

SizeRange rangeOf(const Poly &sum, function_ref<std::optional<SizeRange>(Dim)> known) {
  return RangeFinder(known).sum(sum);
}

SizeRange rangeOfNode(const DimKey &key) {
  switch (key.kind) {
  case Dim::Kind::Unknown:
    return {};
  case Dim::Kind::Constant:
    return SizeRange::of(key.constant);
  case Dim::Kind::Symbol:
    return key.name.starts_with("$$") ? SizeRange() : SizeRange{0, SizeRange::largest};
  case Dim::Kind::FloorDiv:
    return quotientOf(key.operands[0].range(), key.operands[1].range());
  case Dim::Kind::Min:
  case Dim::Kind::Max: {
    SizeRange out = key.operands[0].range();
    for (Dim member : key.operands.drop_front())
      out = unionOf(out, member.range(), key.kind == Dim::Kind::Min);
    return out;
  }
  case Dim::Kind::Product: {
    SizeRange out = SizeRange::of(1);
    for (const DimTerm &term : key.terms)
      for (int64_t power = term.factor; power > 0; --power)
        out = productOf(out, term.dim.range());
    return out;
  }
  case Dim::Kind::Sum:
    break;
  }
  SizeRange out = SizeRange::of(key.constant);
  for (const DimTerm &term : key.terms)
    out = sumOf(out, scaled(term.dim.range(), term.factor));
  if (out.isNonNegative())
    return out;
  Poly sum(key.terms.front().dim.getContext(), key.constant);
  sum.terms.assign(key.terms.begin(), key.terms.end());
  return rangeOf(sum);
}

} // namespace detail
} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reasoning about sizes: what follows from what is known about named sizes. Answers are yes, no or unknown, and never
/// wrong; work is bounded.
#pragma once

#include "ir/Dim.h"
#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace toy {

/// `dim == 0`, `dim != 0` or `dim >= 0`.
struct SizeFact {
  enum Relation : uint8_t { Zero, NonZero, NonNegative } relation;
  Dim dim;

  static SizeFact equal(Dim a, Dim b) { return {Zero, a - b}; }
  static SizeFact atLeast(Dim a, Dim b) { return {NonNegative, a - b}; }
  SizeFact negated() const;
  /// As users write it: positive terms stand on both sides, `x + y >= 3`. `shown` gives names (names without an entry
  /// stay).
  std::string str(const std::map<std::string, std::string> &shown = {}) const;
  /// Whether it holds for sizes; all names have one. What cannot be computed does not hold, and neither does its
  /// negation.
  bool holds(const llvm::StringMap<Dim> &sizes) const;
};

enum class Truth : uint8_t { No, Yes, Unknown };

/// Named sizes (integers from 0 on) and facts about them. In this order: canonical sizes after substitution of equals,
/// intervals and congruences, facts that are known word for word, and MLIR's Presburger library on what is linear, with
/// products as names of their own, case by case of some minima and maxima. Copies are cheap, and share the work that
/// is left.
class ShapeFacts {
public:
  using Range = SizeRange;
  static constexpr int64_t largest = SizeRange::largest, smallest = SizeRange::smallest;
  static constexpr int64_t mostWork = 500'000; ///< of the Presburger library: rows times columns of its questions

  ShapeFacts();
  /// A name lies in lo..hi; a second range narrows the first.
  void bound(llvm::StringRef name, int64_t lo, int64_t hi = largest);
  /// Takes a fact to be true.
  void assume(SizeFact fact);
  Truth decide(SizeFact fact) const;
  Truth equal(Dim a, Dim b) const { return decide(SizeFact::equal(a, b)); }
  /// With names replaced by what they are known to be equal to.
  Dim canonical(Dim dim) const;
  Range rangeOf(Dim dim) const;
  /// Whether more was asked than is answered with the Presburger library: what is unknown might have a proof.
  bool isExhausted() const { return *workLeft <= 0; }

private:
  struct State;
  State &change();
  void narrow(const SizeFact &fact);
  void solve(const SizeFact &fact);
  std::optional<SizeRange> known(Dim atom) const;
  Truth decideCanonical(SizeFact fact) const;
  /// Whether the facts, with one more, have no solution in integers.
  bool isImpossible(SizeFact more) const;

  std::shared_ptr<State> state; ///< shared by copies until one of them changes
  std::shared_ptr<int64_t> workLeft;
};

/// A fact in a form that is tested in nanoseconds: a weighted sum of an array of sizes, or, with products and
/// quotients, a list of steps.
class SizeTest {
public:
  /// `places` are the indices of names in the array.
  SizeTest(SizeFact fact, const llvm::StringMap<unsigned> &places);
  bool holds(const int64_t *sizes) const {
    int64_t value = constant;
    bool overflows = false;
    for (int i = 0; i < terms; ++i) {
      int64_t product;
      overflows |= __builtin_mul_overflow(weights[i], sizes[slots[i]], &product);
      overflows |= __builtin_add_overflow(value, product, &value);
    }
    if (terms < 0)
      overflows = !run(sizes, value);
    return !overflows && (relation == SizeFact::Zero      ? value == 0
                          : relation == SizeFact::NonZero ? value != 0
                                                          : value >= 0);
  }

private:
  struct Compiler;
  /// False where a step leaves 64 bits or divides by 0.
  bool run(const int64_t *sizes, int64_t &value) const;

  static constexpr int mostTerms = 4;
  int terms = 0; ///< -1: steps
  unsigned slots[mostTerms] = {};
  int64_t weights[mostTerms] = {}, constant = 0;
  struct Step {
    enum Code : uint8_t { Load, Constant, Combine } code;
    uint8_t operation = 0;
    int64_t left = 0, right = 0; ///< a place, a number, or the numbers of two steps before
  };
  SizeFact::Relation relation;
  std::vector<Step> steps;
};

/// The facts that do not follow from the others and from what is known (`known`), in their order.
std::vector<size_t> minimalFacts(const ShapeFacts &known, llvm::ArrayRef<SizeFact> facts);

} // namespace toy

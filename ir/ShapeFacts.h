// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reasoning about sizes: what follows from what is known about named sizes. Answers are yes, no or unknown, and never wrong; work is bounded.
#pragma once

#include "ir/Dim.h"

#include <map>
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
  /// As users write it: positive terms stand on both sides, `x + y >= 3`. `shown` gives names (names without an entry stay).
  std::string str(const std::map<std::string, std::string> &shown = {}) const;
  /// Whether it holds for sizes; all names have one.
  bool holds(const llvm::StringMap<Dim> &sizes) const;
};

enum class Truth : uint8_t { No, Yes, Unknown };

/// Named sizes (integers from 0 on) and facts about them. In this order: canonical polynomials after substitution of equals, intervals and congruences,
/// facts that are known word for word, and MLIR's Presburger library on what is linear, with products as names of their own.
class ShapeFacts {
public:
  /// A name lies in lo..hi; a second range narrows the first.
  void bound(llvm::StringRef name, int64_t lo, int64_t hi = largest);
  /// Takes a fact to be true.
  void assume(SizeFact fact);
  Truth decide(SizeFact fact) const;
  Truth equal(Dim a, Dim b) const { return decide(SizeFact::equal(a, b)); }
  /// With names replaced by what they are known to be equal to.
  Dim canonical(Dim dim) const { return dim.substitute(equals); }

  struct Range {
    int64_t lo, hi;                  ///< `smallest` and `largest`: no bound
    int64_t stride = 1, offset = 0;  ///< values are offset modulo stride; stride 0: only the offset
  };
  Range rangeOf(Dim dim) const;

  static constexpr int64_t largest = INT64_MAX, smallest = INT64_MIN;

private:
  Range rangeOfAtom(mlir::MLIRContext *context, llvm::StringRef atom) const;
  /// Whether the facts, with one more, have no solution in integers.
  bool isImpossible(llvm::ArrayRef<SizeFact> more) const;

  std::map<std::string, Range> ranges;
  llvm::StringMap<Dim> equals;
  std::vector<SizeFact> facts;
  mutable int queries = 0;
};

/// A fact in a form that is tested in nanoseconds: a weighted sum of an array of sizes, or, with products and quotients, a postfix program.
class SizeTest {
public:
  /// `places` are the indices of names in the array.
  SizeTest(SizeFact fact, const llvm::StringMap<unsigned> &places);
  bool holds(const int64_t *sizes) const {
    int64_t value = constant;
    for (int i = 0; i < terms; ++i)
      value += weights[i] * sizes[slots[i]];
    if (terms < 0)
      value = run(sizes);
    return relation == SizeFact::Zero ? value == 0 : relation == SizeFact::NonZero ? value != 0 : value >= 0;
  }

private:
  int64_t run(const int64_t *sizes) const;

  static constexpr int mostTerms = 4;
  int terms = 0; ///< -1: a program
  unsigned slots[mostTerms] = {};
  int64_t weights[mostTerms] = {}, constant = 0;
  enum Code : uint8_t { Load, Constant, Add, Multiply, Quotient, Remainder, Min, Max };
  struct Step {
    Code code;
    int64_t operand;
  };
  void compile(Dim dim, const llvm::StringMap<unsigned> &places);

  SizeFact::Relation relation;
  std::vector<Step> steps;
  static constexpr int mostDepth = 32;
};

/// The facts that do not follow from the others and from what is known (`known`), in their order.
std::vector<size_t> minimalFacts(const ShapeFacts &known, llvm::ArrayRef<SizeFact> facts);

} // namespace toy

// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes are canonical: equal expressions are equal values.
#include "ir/ShapeFacts.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <random>

using namespace toy;

namespace {
struct DimTest : testing::Test {
  mlir::MLIRContext context;
  Dim dim(const char *text) { return *Dim::parse(&context, text); }
};
} // namespace

TEST_F(DimTest, CanonicalForms) {
  EXPECT_EQ(dim("M*N + N*M"), dim("2*N*M"));
  EXPECT_EQ(dim("N*(N+1)"), dim("N*N+N"));
  EXPECT_EQ(dim("N - N"), dim("0"));
  EXPECT_EQ(dim("2*M+1").str(), "2*M+1");
  EXPECT_NE(dim("N"), dim("M"));
}

TEST_F(DimTest, AtomsInSums) {
  for (const char *text : {"-(A%3)-1", "2*(A%3)", "N*(A//2)", "N-(A//2)*(B%5)", "min(A,-(B//2))", "(A//2)//3", "(A%3)%2", "-(A//(B+1))"}) {
    Dim once = dim(text);
    EXPECT_EQ(once, dim(once.str().c_str())) << text << " prints as " << once.str();
  }
  EXPECT_NE(dim("2*(A%3)"), dim("(2*A)%3"));
  EXPECT_EQ(dim("N//2").str(), "N//2");
  EXPECT_EQ(dim("N//2 + 1").str(), "(N//2)+1");
}

TEST_F(DimTest, Quotients) {
  EXPECT_EQ(dim("(2*M)//2"), dim("M"));
  EXPECT_EQ(dim("(4*M+3)//4"), dim("M"));
  EXPECT_EQ(dim("(2*M)%2"), dim("0"));
  EXPECT_EQ(dim("7//2"), dim("3"));
  EXPECT_NE(dim("(M*N)//N"), dim("M")); // N may be 0
}

TEST_F(DimTest, MinMaxAndSubstitution) {
  EXPECT_EQ(dim("min(N, N+1)"), dim("N"));
  EXPECT_EQ(dim("max(M, N)"), dim("max(N, M)"));
  llvm::StringMap<Dim> values;
  values["N"] = dim("3");
  EXPECT_EQ(dim("max(M, N*2)").substitute(values), dim("max(M, 6)"));
}

TEST_F(DimTest, MalformedTexts) {
  for (const char *text : {"", "N+", "(N", "N N", "*"})
    EXPECT_FALSE(Dim::parse(&context, text)) << text;
}

TEST_F(DimTest, Atoms) {
  auto quotient = Dim::atomParts(&context, "((N+(M//2))//(K+1))");
  ASSERT_TRUE(quotient);
  EXPECT_EQ(quotient->kind, Dim::Atom::Quotient);
  EXPECT_EQ(quotient->left, dim("N + M//2"));
  EXPECT_EQ(quotient->right, dim("K+1"));
  auto least = Dim::atomParts(&context, "min(max(A,B),N+1)");
  ASSERT_TRUE(least);
  EXPECT_EQ(least->left, dim("max(A,B)"));
  EXPECT_EQ(least->right, dim("N+1"));
  EXPECT_FALSE(Dim::atomParts(&context, "N"));
}

TEST_F(DimTest, Truth) {
  ShapeFacts facts;
  auto atLeast = [&](const char *a, const char *b) { return facts.decide(SizeFact::atLeast(dim(a), dim(b))); };
  auto equal = [&](const char *a, const char *b) { return facts.equal(dim(a), dim(b)); };
  EXPECT_EQ(equal("2*N", "N+N"), Truth::Yes);
  EXPECT_EQ(equal("N", "N+1"), Truth::No);
  EXPECT_EQ(equal("N", "M"), Truth::Unknown);
  EXPECT_EQ(equal("2*N", "2*M+1"), Truth::No); // even and odd
  EXPECT_EQ(atLeast("N*M", "0"), Truth::Yes);
  EXPECT_EQ(atLeast("N*M", "1"), Truth::Unknown);
  EXPECT_EQ(atLeast("4*(N//4)", "N+1"), Truth::No);
  EXPECT_EQ(atLeast("N", "4*(N//4)"), Truth::Yes);
  EXPECT_EQ(atLeast("3", "N%4"), Truth::Yes);
  EXPECT_EQ(atLeast("N", "min(N,M)"), Truth::Yes);
  EXPECT_EQ(atLeast("max(N,M)", "min(N,M)"), Truth::Yes);
  EXPECT_EQ(equal("N//N", "1"), Truth::Unknown); // N may be 0
  facts.assume(SizeFact::atLeast(dim("N"), dim("5")));
  EXPECT_EQ(equal("N", "3"), Truth::No);
  EXPECT_EQ(equal("N", "5"), Truth::Unknown);
  EXPECT_EQ(atLeast("N*M", "5*M"), Truth::Unknown); // products are names of their own
  facts.assume(SizeFact::equal(dim("M"), dim("2*N")));
  EXPECT_EQ(atLeast("M", "10"), Truth::Yes);
  EXPECT_EQ(equal("M", "N+N"), Truth::Yes);
  facts.assume(SizeFact::equal(dim("K%8"), dim("0")));
  EXPECT_EQ(equal("K", "12"), Truth::No);
  EXPECT_EQ(equal("K", "16"), Truth::Unknown);
  facts.assume(SizeFact::atLeast(dim("A"), dim("B")));
  facts.assume(SizeFact::atLeast(dim("B"), dim("C+1")));
  EXPECT_EQ(atLeast("A", "C+1"), Truth::Yes);
  EXPECT_EQ(equal("A", "C"), Truth::No);
}

TEST_F(DimTest, MinimalFacts) {
  std::vector<SizeFact> facts = {SizeFact::atLeast(dim("N"), dim("3")), SizeFact::atLeast(dim("N"), dim("5")), SizeFact::equal(dim("N"), dim("M")), SizeFact::atLeast(dim("M"), dim("4"))};
  std::vector<size_t> kept = minimalFacts({}, facts);
  EXPECT_EQ(kept, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(SizeFact::atLeast(dim("X+Y"), dim("3")).str({{"X", "x.shape[0]"}, {"Y", "y.shape[0]"}}), "x.shape[0] + y.shape[0] >= 3");
  EXPECT_EQ(SizeFact::equal(dim("X"), dim("1")).str(), "X == 1");
  EXPECT_EQ(SizeFact::atLeast(dim("X"), dim("3")).negated().str(), "X <= 2");
}

// Random facts and questions about three sizes: what is answered holds for every assignment that the facts allow.
TEST_F(DimTest, AnswersAreSound) {
  std::mt19937 engine(7);
  auto below = [&](int n) { return static_cast<int>(engine() % n); };
  const char *names[] = {"A", "B", "C"};
  auto random = [&](auto &self, int depth) -> Dim {
    if (depth == 0 || below(3) == 0)
      return below(3) ? dim(names[below(3)]) : Dim::number(&context, below(5));
    Dim x = self(self, depth - 1), y = self(self, depth - 1), n = Dim::number(&context, 1 + below(4));
    switch (below(8)) {
    case 0: case 1: return x + y;
    case 2: return x - y;
    case 3: return x * n;
    case 4: return x.floorDiv(n);
    case 5: return x.mod(n);
    case 6: return below(2) ? x.min(y) : x.max(y);
    default: return x * y;
    }
  };
  auto randomFact = [&] { return SizeFact{static_cast<SizeFact::Relation>(below(3)), random(random, 2)}; };
  int answered = 0;
  for (int round = 0; round < 1500; ++round) {
    ShapeFacts facts;
    std::vector<SizeFact> known;
    for (int i = below(4); i-- > 0;) {
      known.push_back(randomFact());
      facts.assume(known.back());
    }
    SizeFact question = randomFact();
    Truth truth = facts.decide(question);
    answered += truth != Truth::Unknown;
    for (int a = 0; a < 6; ++a)
      for (int b = 0; b < 6; ++b)
        for (int c = 0; c < 6; ++c) {
          llvm::StringMap<Dim> sizes;
          sizes["A"] = Dim::number(&context, a);
          sizes["B"] = Dim::number(&context, b);
          sizes["C"] = Dim::number(&context, c);
          if (truth != Truth::Unknown && llvm::all_of(known, [&](const SizeFact &f) { return f.holds(sizes); })) {
            std::string text;
            for (const SizeFact &f : known)
              text += f.str() + "; ";
            ASSERT_EQ(question.holds(sizes), truth == Truth::Yes) << text << "question " << question.str() << " with " << a << " " << b << " " << c;
          }
        }
  }
  EXPECT_GT(answered, 500);
  llvm::StringMap<unsigned> places;
  for (unsigned i = 0; i < 3; ++i)
    places[names[i]] = i;
  for (int round = 0; round < 3000; ++round) {
    SizeFact fact = randomFact();
    int64_t values[3];
    llvm::StringMap<Dim> sizes;
    for (int i = 0; i < 3; ++i)
      sizes[names[i]] = Dim::number(&context, values[i] = below(50));
    EXPECT_EQ(SizeTest(fact, places).holds(values), fact.holds(sizes)) << fact.str();
  }
}

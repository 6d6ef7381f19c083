// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes are canonical: equal expressions are equal values.
#include "ir/ShapeFacts.h"
#include "ir/ToyDialect.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <random>

using namespace toy;

namespace {
struct DimTest : testing::Test {
  DimTest() { context.loadDialect<ToyDialect>(); }
  mlir::MLIRContext context;
  Dim dim(llvm::StringRef text) { return *Dim::parse(&context, text); }
  Dim number(int64_t n) { return Dim::number(&context, n); }
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
  for (const char *text :
       {"-(A%3)-1", "2*(A%3)", "N*(A//2)", "N-(A//2)*(B%5)", "min(A,-(B//2))", "(A//2)//3", "(A%3)%2", "-(A//(B+1))"}) {
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
  EXPECT_EQ(dim("(N//2 + 1)//3"), dim("(N+2)//6"));
  EXPECT_EQ(dim("min(N, 9)//(M+1)").range().hi, 9);
  EXPECT_NE(dim("(M*N)//N"), dim("M")); // N may be 0
}

TEST_F(DimTest, MinMaxAndSubstitution) {
  EXPECT_EQ(dim("min(N, N+1)"), dim("N"));
  EXPECT_EQ(dim("max(M, N)"), dim("max(N, M)"));
  EXPECT_EQ(number(INT64_MAX).min(number(-5)), number(-5)); // their difference leaves 64 bits
  EXPECT_EQ(number(INT64_MIN).max(number(5)), number(5));
  llvm::StringMap<Dim> values;
  values["N"] = dim("3");
  EXPECT_EQ(dim("max(M, N*2)").substitute(values), dim("max(M, 6)"));
}

// Integers of the program, which may be negative.
TEST_F(DimTest, SignedSymbols) {
  Dim signedOne = Dim::symbol(&context, "$$0");
  EXPECT_NE(signedOne.max(number(0)), signedOne);
  llvm::StringMap<Dim> values;
  values["$$0"] = number(-5);
  EXPECT_EQ(signedOne.min(number(1)).floorDiv(number(2)).substitute(values), number(-3));
}

TEST_F(DimTest, MalformedTexts) {
  for (const char *text : {"", "N+", "(N", "N N", "*"})
    EXPECT_FALSE(Dim::parse(&context, text)) << text;
}

// Each row lists texts of one size: they are the same node.
TEST_F(DimTest, EqualSizesAreOneNode) {
  const std::vector<std::vector<const char *>> families = {
      {"N-min(1,N)", "max(N-1,0)", "max(N,1)-1", "min(max(N-1,0),N)", "max(min(N-1,N),0)", "0-min(1-N,0)"},
      {"max(min(N,16)-max(min(0,N),0),0)", "min(16,N)", "min(N,16,N+3)", "N-max(N-16,0)"},
      {"max(a,max(b,c))", "max(max(c,b),a)", "max(a,b,c)", "max(a,b,c,a)"},
      {"max(a,b)+c", "max(a+c,b+c)", "c+max(b,a)", "2*c-min(c-a,c-b)"},
      {"p-min(a,b)", "max(p-a,p-b)", "p+max(-a,-b)"},
      {"p-max(a,b)", "min(p-a,p-b)"},
      {"2*max(N-1,0)", "max(2*N-2,0)", "max(N,1)+max(N,1)-2"},
      {"(N//4)*4 + N%4", "N"},
      {"(N+5)//4", "(N+1)//4+1"},
      {"(4*N+3)//4", "N"},
      {"(5*N)//4", "N+N//4"},
      {"(2*N+1)//4", "N//2"},
      {"(N//2)//3", "N//6", "(N//3)//2"},
      {"N//(0-2)", "(0-N)//2"},
      {"(N%4)//4", "0"},
      {"min(N%4,3)", "N%4"},
      {"max(N%4,0)", "N%4", "N%4+4*0"},
      {"M+min(N,16)+min(K,4)", "min(M+16,M+N)+min(K,4)", "min(16,N)+min(M+K,M+4)"},
      {"(max(N,0))*M", "N*M"},
      {"K-M*max(N-1,0)", "K+M*min(1-N,0)"},
      {"max((N+3)//4, 0)", "(N+3)//4"},
      {"(N+1)//(N+1)", "1"},
  };
  for (const auto &family : families)
    for (const char *text : family) {
      EXPECT_EQ(dim(text), dim(family[0])) << text << " is " << dim(text).str() << ", not " << dim(family[0]).str();
      EXPECT_EQ(dim(text), dim(dim(text).str())) << text << " prints as " << dim(text).str();
    }
  for (auto [left, right] : {std::pair("max(a,b)", "min(a,b)"),
                             {"N//2", "N//3"},
                             {"max(a-b,0)", "a-b"},
                             {"N//N", "1"},
                             {"min(N,M)*K", "min(N*K,M)"}})
    EXPECT_NE(dim(left), dim(right)) << left;
}

TEST_F(DimTest, Texts) {
  EXPECT_EQ(dim("max(N-1,0)").str(), "max(0,N-1)");
  EXPECT_EQ(dim("min(16,N)").str(), "min(16,N)");
  EXPECT_EQ(dim("M+min(16,N)").str(), "min(16,N)+M");
  EXPECT_EQ(dim("max(N-M,0)").str(), "max(0,N-M)");
  EXPECT_EQ(dim("N%4").str(), "N%4");
  EXPECT_EQ(dim("2*(A%B)+1").str(), "2*(A%B)+1");
  EXPECT_EQ(dim("-(N//2)").str(), "-(N//2)");
  EXPECT_EQ(dim("(A//2)*(B//3)").str(), "(A//2)*(B//3)");
  EXPECT_EQ(dim("α*2 + größe").str(), "größe+2*α");
  EXPECT_EQ(dim("2*N").str([](llvm::StringRef) { return std::string("x.shape[0]"); }), "2*x.shape[0]");
  std::string type;
  llvm::raw_string_ostream(type) << TensorType::get(&context, DType::F64,
                                                    {dim("α"), dim("N"), dim("N+1"), number(3), dim("a$b")});
  EXPECT_EQ(type, "!toy.tensor<f64[\"α\", N, \"N+1\", 3, \"a$b\"]>");
}

TEST_F(DimTest, ChainOfSlices) {
  Dim size = dim("N"), one = number(1), zero = number(0);
  for (int i = 0; i < 1000; ++i) {
    Dim tail = (size - one.min(size)).max(zero), head = size.min((size - one).max(zero));
    ASSERT_EQ(tail, head) << i;
    size = tail;
  }
  EXPECT_EQ(size.str(), "max(0,N-1000)");
}

TEST_F(DimTest, LimitsGiveTheUnknownSize) {
  int64_t most = INT64_MAX;
  EXPECT_TRUE((dim("N") * number(most) + dim("N")).isUnknown());
  EXPECT_TRUE((number(most) + number(1)).isUnknown());
  EXPECT_TRUE((number(INT64_MIN) - number(1)).isUnknown());
  EXPECT_TRUE((dim("N") * number(most) * number(2)).isUnknown());
  EXPECT_TRUE((number(0) - number(INT64_MIN)).isUnknown());
  EXPECT_TRUE(number(5).floorDiv(number(0)).isUnknown());
  EXPECT_TRUE(number(INT64_MIN).floorDiv(number(-1)).isUnknown());
  EXPECT_TRUE(dim("N").floorDiv(number(INT64_MIN)).isUnknown());
  EXPECT_FALSE(dim("N").floorDiv(number(most)).isUnknown());
  Dim unknown = Dim::unknown(&context);
  for (Dim result : {unknown + dim("N"), dim("N") * unknown, unknown.min(dim("N")), dim("N").floorDiv(unknown),
                     unknown - unknown, unknown.mod(number(2))})
    EXPECT_TRUE(result.isUnknown());
  EXPECT_EQ(Dim::symbol(&context, "?"), unknown);
  EXPECT_EQ(unknown.str(), "?");
  ShapeFacts facts;
  facts.assume(SizeFact::equal(unknown, dim("N")));
  EXPECT_EQ(facts.equal(unknown, unknown), Truth::Unknown);
  EXPECT_EQ(facts.decide(SizeFact::atLeast(unknown, number(0))), Truth::Unknown);
  // Many terms, high powers, deep atoms, many nodes: these would have no end without limits.
  Dim sum = number(0), power = number(1), deep = dim("N"), wide = dim("N+1");
  for (unsigned i = 0; i < Dim::mostTerms; ++i)
    sum = sum + Dim::symbol(&context, "n" + std::to_string(i));
  ASSERT_FALSE(sum.isUnknown());
  ASSERT_TRUE((sum + dim("N")).isUnknown());
  for (unsigned i = 0; i < Dim::mostDegree; ++i)
    power = power * dim("N");
  ASSERT_FALSE(power.isUnknown());
  ASSERT_TRUE((power * dim("N")).isUnknown());
  auto deeper = [&](Dim size) { return (size * dim("M")).floorDiv(dim("K+1")) + number(1); };
  for (unsigned i = 0; i < Dim::mostLevels; ++i)
    deep = deeper(deep);
  ASSERT_FALSE(deep.isUnknown());
  ASSERT_TRUE(deeper(deep).isUnknown());
  for (int i = 0; i < 300; ++i)
    wide =
        (wide * dim("x" + std::to_string(i % 7))).max(dim("y" + std::to_string(i))) * wide + wide.floorDiv(dim("K+2"));
  EXPECT_TRUE(wide.isUnknown());
  EXPECT_FALSE(Dim::parse(&context, std::string(100000, '(') + "N"));
  EXPECT_FALSE(Dim::parse(&context, std::string(100000, '-') + "N"));
  EXPECT_FALSE(Dim::parse(&context, "99999999999999999999"));
}

// Random expressions, as trees that are evaluated beside the canonical form.
TEST_F(DimTest, CanonicalFormsKeepValues) {
  std::mt19937 engine(11);
  auto below = [&](int n) { return static_cast<int>(engine() % n); };
  const char *names[] = {"A", "B", "C"};
  for (int round = 0; round < 4000; ++round) {
    int64_t values[3];
    llvm::StringMap<Dim> sizes;
    for (int i = 0; i < 3; ++i)
      sizes[names[i]] = number(values[i] = below(3) ? below(8) : below(1000));
    auto random = [&](auto &self, int depth) -> std::pair<Dim, std::optional<int64_t>> {
      if (depth == 0 || below(4) == 0) {
        int i = below(3);
        int64_t n = below(12) - 3;
        return below(3) ? std::pair(dim(names[i]), std::optional(values[i])) : std::pair(number(n), std::optional(n));
      }
      auto [x, p] = self(self, depth - 1);
      auto [y, q] = self(self, depth - 1);
      auto both = [&](auto f) { return p && q ? f(*p, *q) : std::nullopt; };
      switch (below(9)) {
      case 0:
      case 1:
        return {x + y, both(checked::add)};
      case 2:
      case 3:
        return {x - y, both(checked::subtract)};
      case 4:
        return {x * y, both(checked::multiply)};
      case 5:
        return {x.floorDiv(y), both(checked::floorDivide)};
      case 6:
        return {x.mod(y), both([](int64_t a, int64_t b) -> std::optional<int64_t> {
                  auto quotient = checked::floorDivide(a, b);
                  return quotient ? std::optional(a - *quotient * b) : std::nullopt;
                })};
      case 7:
        return {x.min(y), both([](int64_t a, int64_t b) { return std::optional(std::min(a, b)); })};
      default:
        return {x.max(y), both([](int64_t a, int64_t b) { return std::optional(std::max(a, b)); })};
      }
    };
    auto [size, value] = random(random, 5);
    if (size.isUnknown() || !value)
      continue;
    auto got = size.evaluate(sizes);
    ASSERT_TRUE(!got || *got == *value) << size.str() << " is " << got.value_or(-1) << ", not " << *value;
    Dim replaced = size.substitute(sizes);
    ASSERT_TRUE(replaced.isUnknown() || !replaced.isNumber() || replaced.value() == *value) << size.str();
    ASSERT_EQ(dim(size.str()), size) << size.str() << " reads as " << dim(size.str()).str();
    SizeRange range = size.range();
    ASSERT_TRUE(range.lo <= *value && *value <= range.hi)
        << size.str() << " in " << range.lo << " to " << range.hi << " is " << *value;
    ASSERT_TRUE(range.stride ? (*value - range.offset) % range.stride == 0 : *value == range.offset)
        << size.str() << " is " << *value;
  }
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
  EXPECT_EQ(equal("min(4,N)", "4"), Truth::Yes);    // a slice of the first four
  EXPECT_EQ(equal("min(5,N)", "max(0,min(5,N-1))"), Truth::Unknown);
  EXPECT_EQ(equal("min(4,N)", "max(0,min(4,N-1))"), Truth::Yes);
  EXPECT_EQ(equal("min(4,N)", "min(3,N)"), Truth::No);
  EXPECT_EQ(equal("min(N,K)+max(N,K)", "N+K"), Truth::Yes); // whichever is less
  EXPECT_EQ(equal("min(N,K)+max(N,L)", "N+K"), Truth::Unknown);
  EXPECT_EQ(atLeast("max(2*N,K)", "N+1"), Truth::Yes);
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

TEST_F(DimTest, FactsThatComeLater) {
  ShapeFacts facts;
  auto atLeast = [&](const char *a, const char *b) { return facts.decide(SizeFact::atLeast(dim(a), dim(b))); };
  EXPECT_EQ(atLeast("A", "3"), Truth::Unknown);
  facts.assume(SizeFact::atLeast(dim("A"), dim("3")));
  EXPECT_EQ(atLeast("A", "3"), Truth::Yes);
  // The bounds of a name that is replaced hold for what replaces it.
  facts.bound("C", 5, 9);
  EXPECT_EQ(facts.rangeOf(dim("2*C+1")).lo, 11);
  EXPECT_EQ(facts.rangeOf(dim("2*C+1")).hi, 19);
  facts.assume(SizeFact::equal(dim("C"), dim("B-2")));
  EXPECT_EQ(atLeast("B", "7"), Truth::Yes);
  EXPECT_EQ(atLeast("11", "B"), Truth::Yes);
  EXPECT_EQ(atLeast("B", "8"), Truth::Unknown);
}

TEST_F(DimTest, GuardsDoNotHoldWhereSizesOverflow) {
  llvm::StringMap<unsigned> places;
  places["N"] = 0;
  places["M"] = 1;
  const int64_t small[] = {3, 4}, large[] = {INT64_C(1) << 40, INT64_C(1) << 40};
  SizeFact fact = SizeFact::atLeast(dim("N*M"), dim("0"));
  EXPECT_TRUE(SizeTest(fact, places).holds(small));
  EXPECT_FALSE(SizeTest(fact.negated(), places).holds(small));
  EXPECT_FALSE(SizeTest(fact, places).holds(large));
  EXPECT_FALSE(SizeTest(fact.negated(), places).holds(large));
}

TEST_F(DimTest, WorkIsBounded) {
  ShapeFacts facts;
  for (int i = 0; i < 40; ++i)
    facts.assume(SizeFact::atLeast(dim("2*N" + std::to_string(i)), dim("3*N" + std::to_string(i + 1) + "+1000")));
  ShapeFacts copy = facts;
  auto asks = [&](int i) {
    std::string least = "3*N" + std::to_string(i % 40 + 1) + "+" + std::to_string(i);
    return facts.equal(dim("min(2*N" + std::to_string(i % 40) + "," + least + ")"), dim(least));
  };
  EXPECT_EQ(asks(0), Truth::Yes);
  EXPECT_FALSE(facts.isExhausted());
  int asked = 1;
  while (asks(asked) == Truth::Yes)
    ++asked;
  EXPECT_TRUE(facts.isExhausted() && copy.isExhausted());
  EXPECT_GT(asked, 10);
  EXPECT_LT(asked, 900); // the last that follows from the facts
  EXPECT_EQ(facts.equal(dim("N1+N2"), dim("N2+N1")), Truth::Yes);
}

TEST_F(DimTest, MinimalFacts) {
  std::vector<SizeFact> facts = {SizeFact::atLeast(dim("N"), dim("3")), SizeFact::atLeast(dim("N"), dim("5")),
                                 SizeFact::equal(dim("N"), dim("M")), SizeFact::atLeast(dim("M"), dim("4"))};
  std::vector<size_t> kept = minimalFacts({}, facts);
  EXPECT_EQ(kept, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(SizeFact::atLeast(dim("X+Y"), dim("3")).str({{"X", "x.shape[0]"}, {"Y", "y.shape[0]"}}),
            "x.shape[0] + y.shape[0] >= 3");
  EXPECT_EQ(SizeFact::equal(dim("X"), dim("1")).str(), "X == 1");
  EXPECT_EQ(SizeFact::equal(dim("X%4"), dim("1")).str(), "(X%4) == 1");
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
    case 0:
    case 1:
      return x + y;
    case 2:
      return x - y;
    case 3:
      return x * n;
    case 4:
      return x.floorDiv(n);
    case 5:
      return x.mod(n);
    case 6:
      return below(2) ? x.min(y) : x.max(y);
    default:
      return x * y;
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
            ASSERT_EQ(question.holds(sizes), truth == Truth::Yes)
                << text << "question " << question.str() << " with " << a << " " << b << " " << c;
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

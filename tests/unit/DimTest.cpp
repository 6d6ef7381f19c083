// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes are canonical: equal expressions are equal values.
#include "ir/Dim.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

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

// SPDX-License-Identifier: Apache-2.0
/// \file
/// The parser: readings that are easy to get wrong, completeness, recovery, limits.
#include "parser/Parser.h"

#include <gtest/gtest.h>

using namespace toy;

namespace {

struct Parsed {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  ParseResult result{{}, ParseStatus::Wrong};
  Parsed(std::string text, bool prompt = false) {
    TokenBuffer tokens = lex(sources.add("test", std::move(text)), diagnostics);
    result = parse(tokens, diagnostics, {prompt});
  }
  std::string tree() const { return ast::print(result.module); }
};

std::string expression(const std::string &text) { return Parsed(text + ";").tree(); }

} // namespace

TEST(Parser, ComplexLiteralsFoldWithTheirSigns) {
  EXPECT_EQ(expression("1-0i"), "ExprStmt\n  Number 1 -0i\n");
  EXPECT_EQ(expression("-1 + 2i"), "ExprStmt\n  Number -1 2i\n");
  EXPECT_NE(expression("2*1-0i").find("Binary"), std::string::npos);
  EXPECT_NE(expression("x-1i").find("Binary"), std::string::npos);
  EXPECT_NE(expression("(1)-1i").find("Binary"), std::string::npos);
}

TEST(Parser, PowerBindsTighterThanMinus) {
  EXPECT_EQ(expression("-x**2"), "ExprStmt\n  Unary -\n    Binary\n      Name x\n      ** Number 2\n");
}

TEST(Parser, AdjointAndMembers) {
  EXPECT_EQ(expression("a' @ b.T"), "ExprStmt\n  Binary\n    Adjoint\n      Name a\n    @ Member .T\n      Name b\n");
  EXPECT_EQ(expression("x.f(1)"), "ExprStmt\n  Call f\n    Name x\n    Number 1\n");
}

TEST(Parser, ShapesOfVariables) {
  EXPECT_EQ(Parsed("var a<2, 3> = 1;").tree(), "Var a<2, 3>\n  Number 1\n");
  EXPECT_EQ(Parsed("var a<2>= 1;").tree(), "Var a<2>\n  Number 1\n");
}

TEST(Parser, IncompleteIsNotWrong) {
  for (const char *text :
       {"1 +", "def f(x) {", "f(1,", "[1, 2", "if x {", "## a docstring", "@dynamic(x, 0)", "var x ="})
    EXPECT_EQ(Parsed(text, true).result.status, ParseStatus::Incomplete) << text;
  for (const char *text : {"1 + ;", "def f(x) }", ")", "var = 1"})
    EXPECT_EQ(Parsed(text, true).result.status, ParseStatus::Wrong) << text;
  for (const char *text : {"1 + 2", "var x = 1", "f(x);", "if x { 1; }"})
    EXPECT_EQ(Parsed(text, true).result.status, ParseStatus::Complete) << text;
}

TEST(Parser, SeveralErrorsAreFound) {
  Parsed p("var x = ;\nvar y = 1;\nvar = 2;\nf(1 2);\n");
  EXPECT_EQ(p.diagnostics.errorCount(), 3u);
}

TEST(Parser, LongChainsDoNotNest) {
  std::string text = "1";
  for (int i = 0; i < 1000000; ++i)
    text += "+1";
  EXPECT_EQ(Parsed(text + ";").result.status, ParseStatus::Complete);
}

TEST(Parser, NestingLimitIsNamed) {
  Parsed deep(std::string(1001, '(') + "1" + std::string(1001, ')') + ";");
  ASSERT_TRUE(deep.diagnostics.hasErrors());
  EXPECT_NE(deep.diagnostics.diagnostics()[0].message.find("1000"), std::string::npos);
}

TEST(Parser, LargeLiteralsAreCompact) {
  std::string text = "[";
  for (int i = 0; i < 1000000; ++i)
    text += "1.5, ";
  Parsed p(text + "2];");
  ASSERT_EQ(p.result.status, ParseStatus::Complete);
  EXPECT_EQ(p.tree(), "ExprStmt\n  Bracket 1000001 numbers <1000001>\n");
}

TEST(Parser, Declarations) {
  std::string tree = Parsed("def f(x: f32[N, 2*M], y = 1) -> c64[N] where N > 1 { return x; }").tree();
  EXPECT_TRUE(tree.starts_with("Function f(x: f32[N, 2*M], y = …) -> c64[N]\n")) << tree;
  EXPECT_EQ(Parsed("extern def g(x: c64[N]) -> c64[N] from \"lib.so\" symbol \"g1\";").result.status,
            ParseStatus::Complete);
  EXPECT_EQ(Parsed("struct P { var a; var b; } P p = {1, {2, 3}};").result.status, ParseStatus::Complete);
}

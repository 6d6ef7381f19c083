// SPDX-License-Identifier: Apache-2.0
/// \file
/// Promotion, diagnostics, suggestions.
#include "support/DType.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

#include <set>

using namespace toy;

TEST(Source, LinesThatATextDoesNotHaveAreEmpty) {
  SourceManager sources;
  const SourceBuffer &buffer = sources.get(sources.add("a", "one\ntwo\r\n"));
  EXPECT_EQ(buffer.lineText(1), "one");
  EXPECT_EQ(buffer.lineText(2), "two");
  for (uint32_t line : {0u, 4u, 1000u})
    EXPECT_EQ(buffer.lineText(line), "");
}

TEST(Promotion, KindsAndPrecisions) {
  EXPECT_EQ(promote({DType::I64}, {DType::F32}), DType::F32); // integers never widen a float
  EXPECT_EQ(promote({DType::F64}, {DType::C64}), DType::C128);
  EXPECT_EQ(promote({DType::I64}, {DType::C64}), DType::C64);
  EXPECT_EQ(promote({DType::Bool}, {DType::U8}), DType::U8);
  EXPECT_EQ(promote({DType::I64}, {DType::I32}), DType::I64);
}

TEST(Promotion, ScalarsAndLiteralsDoNotWiden) {
  EXPECT_EQ(promote({DType::F64, false}, {DType::F32, true}), DType::F32);
  EXPECT_EQ(promote({DType::C128, false}, {DType::F32, true}), DType::C64);
  EXPECT_EQ(promote({DType::F64, false, true}, {DType::F32, false}), DType::F32);
  EXPECT_EQ(promote({DType::C128, false, true}, {DType::F32, true}), DType::C64);
  EXPECT_EQ(promote({DType::F64, false}, {DType::I64, true}), DType::F64); // a higher kind does
}

TEST(Diagnostics, CodesAreUniqueAndExplained) {
  std::set<std::string_view> codes;
  for (DiagId id : allDiagnostics()) {
    EXPECT_TRUE(codes.insert(infoOf(id).code).second) << infoOf(id).code;
    EXPECT_GT(infoOf(id).explanation.size(), 15u) << infoOf(id).code;
    EXPECT_EQ(findDiagnostic(infoOf(id).code), id);
  }
}

TEST(Diagnostics, StackedLabels) {
  SourceManager sources;
  BufferId id = sources.add("demo.toy", "var a = 1;\nvar c = a @ b;\n");
  DiagnosticEngine engine(sources);
  engine.report(DiagId::MatmulInner, {id, 21, 22}, {"c128[2, 3]", "c128[2, 3]", "3", "2"})
      .label({id, 19, 20}, "c128[2, 3]: 3 columns")
      .label({id, 23, 24}, "c128[2, 3]: 2 rows")
      .withHelp("`a @ b.T` would be c128[2, 2]");
  EXPECT_EQ(engine.render(engine.diagnostics()[0], false),
            "error[T0301]: cannot multiply c128[2, 3] @ c128[2, 3]: inner sizes 3 and 2 differ\n"
            " --> demo.toy:2:11\n"
            "  |\n"
            "2 | var c = a @ b;\n"
            "  |         - ^ - c128[2, 3]: 2 rows\n"
            "  |         |\n"
            "  |         c128[2, 3]: 3 columns\n"
            "help: `a @ b.T` would be c128[2, 2]\n");
}

TEST(Suggestions, CloseNamesOnly) {
  EXPECT_EQ(suggest("sqtr", {"sin", "sqrt"}), "sqrt");
  EXPECT_EQ(suggest("zebra", {"sin", "sqrt"}), std::nullopt);
}
TEST(Source, PrintableEscapesWhatATerminalMustNotSee) {
  EXPECT_EQ(printable("a\xC3\xA9\tb\n"), "a\xC3\xA9\tb\n");
  EXPECT_EQ(printable("\x1b[31m\xff\x7f"), "\\x1B[31m\\xFF\\x7F");
  EXPECT_EQ(printable(std::string_view("\xE2\x82", 2)), "\\xE2\\x82");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

# SPDX-License-Identifier: Apache-2.0
"""The mutants of mutants.py: what is wrong, in which file, the text to change, and what it becomes. Here those of the
recognizer of complex products."""

SUMS, HEADER, PASS, RELAXED = (
    "passes/recognize/SumOfProducts.cpp",
    "passes/recognize/SumOfProducts.h",
    "passes/RecognizeComplex.cpp",
    "passes/recognize/Relaxed.cpp",
)
MUTANTS = [
    ("a negation is lost", SUMS, "negative = !negative;", ""),
    (
        "the sign of a left factor is lost",
        SUMS,
        "term.lhs = withoutNegations(term.op->getOperand(0), term.negative);",
        "bool lost = false; term.lhs = withoutNegations(term.op->getOperand(0), lost);",
    ),
    (
        "the sign of a right factor is lost",
        SUMS,
        "term.rhs = withoutNegations(term.op->getOperand(1), term.negative);",
        "bool lost = false; term.rhs = withoutNegations(term.op->getOperand(1), lost);",
    ),
    ("any factor is two", SUMS, "convertToDouble() == 2", "convertToDouble() != 0"),
    ("elementwise and matrix products mix", SUMS, " || isa<MatMulOp>(x->op) != isa<MatMulOp>(y->op)", ""),
    ("differences are sums", SUMS, "y->negative ^= isa<SubOp>(op);", ""),
    ("operands are not sorted", SUMS, "llvm::sort(key);", ""),
    ("matrices commute", SUMS, "(!ordered && term.lhs == y", "(term.lhs == y"),
    ("factors of matrices are exchanged", SUMS, "if (ordered && (exchangeP || exchangeQ))", "if (false)"),
    ("ad is not looked at", SUMS, "isProductOf(ad, a, d, ordered) && ", ""),
    ("bc is not looked at", SUMS, " && isProductOf(bc, b, c, ordered)", ""),
    ("one half of a product is enough", SUMS, "term.lhs == x && term.rhs == y)", "term.lhs == x)"),
    ("signs are not looked at", SUMS, "if (re.hasMixedSigns() == im.hasMixedSigns()) {", "if (false) {"),
    ("b keeps its sign", HEADER, "return bcNegative != acNegative;", "return false;"),
    ("c keeps its sign", HEADER, "return acNegative;", "return false;"),
    ("d keeps its sign", HEADER, "return adNegative;", "return false;"),
    (
        "mixed signs are equal ones",
        HEADER,
        "terms[0].negative != terms[1].negative",
        "terms[0].negative == terms[1].negative",
    ),
    ("integers are complex", PASS, "if (!isFloat(tensorTypeOf(re->getResult(0)).getDtype()))", "if (false)"),
    ("branches do not matter", PASS, "if (re->getBlock() != im->getBlock())", "if (false)"),
    (
        "factors' shapes do not matter",
        PASS,
        "if (p.re->isMatrix && !(isSameUpToNames(",
        "if (false && !(isSameUpToNames(",
    ),
    (
        "real and imaginary parts are exchanged",
        PASS,
        'std::pair(re, "toy.real"), std::pair(im, "toy.imag")',
        'std::pair(re, "toy.imag"), std::pair(im, "toy.real")',
    ),
    (
        "the first sum is the real part",
        PASS,
        "return concatX && concatX == concatY && positionY < positionX;",
        "return false;",
    ),
    ("no largest matching", PASS, "if (!mate[j] || self(self, *mate[j], seen)) {", "if (false) {"),
    ("raised parts are forgotten", PASS, "raised[part->getResult(0)] = value;", ""),
    (
        "any two functions are cosine and sine of one angle",
        PASS,
        "cosine && sine && cosine.getX() == sine.getX()",
        "cosine && sine",
    ),
    (
        "angles of polar forms do not matter",
        PASS,
        "cosines.insert({{radius.getAsOpaquePointer(), t.getAsOpaquePointer()}, mul});\n"
        "      if (Value t = angle(mul, SinOp(), radius))\n"
        "        sines.insert({{radius.getAsOpaquePointer(), t.getAsOpaquePointer()}, mul});",
        "cosines.insert({{radius.getAsOpaquePointer(), nullptr}, mul});\n"
        "      if (angle(mul, SinOp(), radius))\n"
        "        sines.insert({{radius.getAsOpaquePointer(), nullptr}, mul});",
    ),
    ("polar forms are not found", PASS, "it != sines.end() && it->second != cosine", "false"),
    (
        "any slices are pairs",
        PASS,
        "s.getSteps()[last] == 1 && *to == *count",
        "true",
    ),
    ("tables' halves may differ", PASS, "concat.getParts()[0] == concat.getParts()[1] && ", ""),
    ("the turned half is another tensor's", PASS, "withoutRelabel(slice.getX()) != withoutRelabel(x) || ", ""),
    (
        "the turned half is not negated",
        PASS,
        "x2 = negated ? withoutRelabel(negated.getX()) : Value();",
        "x2 = negated ? withoutRelabel(negated.getX()) : halves.getParts()[0];",
    ),
    ("abs2 of any products", PASS, "sum->terms[0].lhs != sum->terms[0].rhs ||", ""),
    (
        "differences of squares are abs2",
        PASS,
        "sum->hasMixedSigns() || sum->terms[0].negative || sum->terms[0].lhs",
        "sum->terms[0].lhs",
    ),
    (
        "relaxed forms are always raised",
        RELAXED,
        "    if (!allowed) {\n      log.missed.push_back({re->getLoc()",
        "    if (false) {\n      log.missed.push_back({re->getLoc()",
    ),
    (
        "the magnitude is always raised",
        RELAXED,
        "    if (!allowed) {\n      log.missed.push_back({root.getLoc()",
        "    if (false) {\n      log.missed.push_back({root.getLoc()",
    ),
    ("any denominator divides", RELAXED, "if (!y || !isSumOfSquares(re.getRhs(), y.getLhs(), y.getRhs()))", "if (!y)"),
    ("Gauss's form with any difference", RELAXED, " || difference.getRhs() != c)", ")"),
]

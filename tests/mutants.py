#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the recogniser of complex products in one place at a time and sees that its tests notice. Builds a copy of the sources in build/mutants; takes
some minutes, so it is not part of `make test`: `make mutants`. Ends with `N caught, N missed`."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build/mutants/source"
BUILD = ROOT / "build/mutants/build"
sys.path.insert(0, str(ROOT / "tests"))
import recognition  # noqa: E402
import run  # noqa: E402

SUMS, HEADER, PASS, RELAXED = "passes/recognize/SumOfProducts.cpp", "passes/recognize/SumOfProducts.h", "passes/RecognizeComplex.cpp", "passes/recognize/Relaxed.cpp"
MUTANTS = [
    ("a negation is lost", SUMS, "negative = !negative;", ""),
    ("the sign of a left factor is lost", SUMS, "term.lhs = withoutNegations(term.op->getOperand(0), term.negative);", "bool lost = false; term.lhs = withoutNegations(term.op->getOperand(0), lost);"),
    ("the sign of a right factor is lost", SUMS, "term.rhs = withoutNegations(term.op->getOperand(1), term.negative);", "bool lost = false; term.rhs = withoutNegations(term.op->getOperand(1), lost);"),
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
    ("mixed signs are equal ones", HEADER, "terms[0].negative != terms[1].negative", "terms[0].negative == terms[1].negative"),
    ("integers are complex", PASS, "if (!isFloat(tensorTypeOf(re->getResult(0)).getDtype()))", "if (false)"),
    ("branches do not matter", PASS, "if (re->getBlock() != im->getBlock())", "if (false)"),
    ("factors' shapes do not matter", PASS, "if (p.re->isMatrix && (p.a.getType()", "if (false && (p.a.getType()"),
    ("real and imaginary parts are exchanged", PASS, 'std::pair(re, "toy.real"), std::pair(im, "toy.imag")', 'std::pair(re, "toy.imag"), std::pair(im, "toy.real")'),
    ("the first sum is the real part", PASS, "return concatX && concatX == concatY && positionY < positionX;", "return false;"),
    ("no largest matching", PASS, "if (!mate[j] || self(self, *mate[j], seen)) {", "if (false) {"),
    ("raised parts are forgotten", PASS, "raised[part->getResult(0)] = value;", ""),
    ("any two functions are cosine and sine of one angle", PASS, "cosine && sine && cosine.getX() == sine.getX()", "cosine && sine"),
    ("angles of polar forms do not matter", PASS, "{{radius.getAsOpaquePointer(), t.getAsOpaquePointer()}, mul}", "{{radius.getAsOpaquePointer(), nullptr}, mul}"),
    ("polar forms are not found", PASS, "it != sines.end() && it->second != cosine", "false"),
    ("any slices are pairs", PASS, "(s.getSteps()[last] == 2 && to->is(1)) || (s.getSteps()[last] == 1 && *to == *count)", "true"),
    ("tables' halves may differ", PASS, "concat.getParts()[0] == concat.getParts()[1] && ", ""),
    ("the turned half is another tensor's", PASS, "slice.getX() != x || ", ""),
    ("the turned half is not negated", PASS, "Value x1 = halves.getParts()[1], x2 = negated ? negated.getX() : Value();", "Value x1 = halves.getParts()[1], x2 = negated ? negated.getX() : halves.getParts()[0];"),
    ("abs2 of any products", PASS, "sum->terms[0].lhs != sum->terms[0].rhs ||", ""),
    ("differences of squares are abs2", PASS, "sum->hasMixedSigns() || sum->terms[0].negative || sum->terms[0].lhs", "sum->terms[0].lhs"),
    ("relaxed forms are always raised", RELAXED, "    if (!allowed) {\n      log.missed.push_back({re->getLoc()", "    if (false) {\n      log.missed.push_back({re->getLoc()"),
    ("the magnitude is always raised", RELAXED, "    if (!allowed) {\n      log.missed.push_back({root.getLoc()", "    if (false) {\n      log.missed.push_back({root.getLoc()"),
    ("any denominator divides", RELAXED, "if (!y || !isSumOfSquares(re.getRhs(), y.getLhs(), y.getRhs()))", "if (!y)"),
    ("Gauss's form with any difference", RELAXED, " || difference.getRhs() != c)", ")"),
]


def build():
    done = subprocess.run(["cmake", "--build", str(BUILD), "--target", "toy", "toy-opt", "--", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return None if done.returncode == 0 else done.stdout


def first_failure():
    toy = str(BUILD / "toy")
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    jobs = {pool.submit(function, toy): name for name, function in recognition.all_cases()}
    jobs[pool.submit(run.check_filecheck, {"toy-opt": BUILD / "toy-opt", "toy": toy}, ROOT / "tests/passes/recognize-complex.mlir")] = "recognize-complex.mlir"
    try:
        for job in concurrent.futures.as_completed(jobs):
            try:
                failed = job.result() is not None
            except Exception:
                failed = True
            if failed:
                return jobs[job]
        return None
    finally:
        pool.shutdown(cancel_futures=True)


def main():
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split():
        target = COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
            shutil.copyfile(ROOT / name, target)
    environment = {**os.environ, "CC": "clang-22", "CXX": "clang++-22"}
    subprocess.run(["cmake", "--preset", "release", "-S", str(COPY), "-B", str(BUILD)], cwd=COPY, env=environment, stdout=subprocess.DEVNULL, check=True)
    problem = build()
    if problem or first_failure():
        print(problem or "the tests fail without mutants")
        return 1
    caught = missed = 0
    for name, path, before, after in MUTANTS:
        file = COPY / path
        text = file.read_text()
        if before not in text:
            print(f"MISSED {name}: the place to change is gone")
            missed += 1
            continue
        file.write_text(text.replace(before, after))
        problem = build()
        failure = None if problem else first_failure()
        file.write_text(text)
        if problem:
            print(f"MISSED {name}: it does not compile\n{problem}", flush=True)
        elif failure:
            print(f"caught {name}: {failure}", flush=True)
        else:
            print(f"MISSED {name}", flush=True)
        caught += failure is not None
        missed += failure is None
    print(f"{caught} caught, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

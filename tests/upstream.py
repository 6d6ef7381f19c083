# SPDX-License-Identifier: Apache-2.0
"""`--emit=linalg`: functions of the lessons and of the course are lowered by mlir-opt, run by mlir-runner, and give the
evaluator's numbers; what the stage does not have is an error that names what docs/guides/upstream-mlir.md lists."""
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy as np

import guides
import op_examples
from programs import run, same

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guides/upstream-mlir.md"
TOOLS = ("mlir-opt-22", "mlir-runner-22", "cc")

# What MLIR's runner prints has six digits; this has all of them.
PRINTING = r"""
#include <stdint.h>
#include <stdio.h>
struct unranked { int64_t rank; int64_t *descriptor; };
#define PRINTED(NAME, TYPE, FORMAT)                                                                            \
  static void NAME##_axis(TYPE *x, int64_t *sizes, int64_t *strides, int64_t rank) {                           \
    if (rank == 0) { printf(FORMAT " ", *x); return; }                                                         \
    for (int64_t i = 0; i < sizes[0]; ++i) NAME##_axis(x + i * strides[0], sizes + 1, strides + 1, rank - 1);  \
  }                                                                                                            \
  void _mlir_ciface_##NAME(struct unranked *m) {                                                               \
    int64_t *d = m->descriptor;                                                                                \
    NAME##_axis((TYPE *)d[1] + d[2], d + 3, d + 3 + m->rank, m->rank);                                         \
    puts("");                                                                                                  \
  }
PRINTED(printMemrefF64, double, "%.17g")
PRINTED(printMemrefF32, float, "%.9g")
PRINTED(printMemrefI64, long, "%ld")
PRINTED(printMemrefI32, int, "%d")
"""

MATRICES = (
    "var a = [[1.5, 2], [3, 4]]; var b = [[0, 1.25], [1, 0]]; var c = [[2, 1], [0, 2.5]]; var d = [[1, 1.75], [0, 1]];"
)
VECTORS = "var z = [1.5+2i, 3-0.25i, -2i]; var w = [2i, 1+1i, -0.5]; var x = [3.5, -1.25, 2, 8];"
RANDOM = {"toy.next_key", "toy.sample", "toy.seed"}
TEXT = {"toy.str_constant", "toy.text"}
LISTS = {"toy.list"}
ROPE = (
    "var x = f32(arange(96)).reshape(6, 2, 8);"
    " var w = c64(polar(1.0, unsqueeze(arange(6.0), 1) * 100.0 ** (-arange(4) / 4)));"
)
SINGLE = "var u = c64([1.5+2i, 3-0.25i, -2i]); var v = c64([2i, 1+1i, -0.5]);"

# Calls, by the program whose functions they call; where it has a third member, numbers of f32, whose sums differ more.
CALLS = {
    "examples/03-functions-and-shapes.toy": [
        "normalize([3, 4]), normalize([0, 0], eps = 1), affine(ones(2, 3), ones(3, 2), [10, 20])",
        "spread([4, 8, 9.5]), factorial(20)",
        "normalize(c64([3i, 4])), halves(c64([1, 2, 3i, 4i]))",
    ],
    "examples/04-recognition.toy": [
        f"{MATRICES} multiply(a, b, c, d), multiply_matrices(a, b, c, d), near_miss(a, b, c, d), rotate(a, b, c)",
    ],
    "examples/05-unpacking.toy": [f"{SINGLE} chain(u, v)", f"{MATRICES} by_hand(a, b, c, d)"],
    "examples/06-polar-and-rope.toy": [
        "rotate_pairs(f32(arange(96)).reshape(6, 2, 8), c64(polar(1, arange(24.0).reshape(6, 4))))",
        "score(arange(6.0), arange(6.0) + 1)",
    ],
    "examples/08-eigenvalues.toy": ["largest([[2, 1i], [-1i, 2]], 1e-12)"],
    "examples/09-mandelbrot.toy": [
        "grid(-2.2-1.2i, 0.8+1.2i, 4, 6)",
        "escape(grid(-2.2-1.2i, 0.8+1.2i, 8, 10), 30), shade([0.0, 0.5, 1], u8([7, 8, 9]))",
    ],
    "examples/10-control-flow.toy": [
        "newton(1+1i), newton(-1+0.5i), first_negative([[1, 2], [3, -5], [-1, -1]]), first_negative([[1.0, 2]])",
        "running_mean([[2, 4i], [4, 0], [0, 2i]])",
    ],
    "examples/12-model.toy": ["frequencies(5, 8), rotated(f32(arange(48)).reshape(2, 3, 8), frequencies(3, 8))"],
    "examples/13-loops.toy": [
        "product(f64(arange(16)).reshape(4, 4), f64(arange(16)).reshape(4, 4) + 1), sorted([3.0, 1.0, 2.0])",
        "pascal(6), histogram(arange(10) % 4 - 1, 4), fibonacci(15), transform(polar(1, 0.3 * arange(16) ** 2))",
    ],
    "examples/14-pictures.toy": ["damped(linspace(0, 10, 7), 0.3, 3), steps([0.1+0.2i, -1+0.3i], 3)"],
}

# Programs of the course that upstream dialects do not have as a whole: what they lack, and calls that run all the same.
LACKING = {
    "05-interleaved-planar-packed.md forms.toy": (
        {"toy.sort"},
        [f"{VECTORS} angles(z), angles(w), running(z)"],
    ),
    "05-interleaved-planar-packed.md transform.toy": ({"toy.call_library of complex values"}, []),
    "05-interleaved-planar-packed.md three.toy": (
        {"toy.prod of complex values"},
        [f"{VECTORS} average(z), reversed(w)"],
    ),
    "07-when-not-to-replace.md errors.toy": (
        RANDOM | TEXT | LISTS,
        [f"{MATRICES} four(a, b, c, d), gauss(a, b, c, d), error(a, c + 4)"],
    ),
    "09-from-index-to-loop.md sorted.toy": ({"toy.sort"}, []),
    "10-a-loop-over-elements.md escape.toy": (
        TEXT,
        ["escape(complex(linspace(-2.2, 0.8, 12), unsqueeze(linspace(1.2, -1.2, 9), 1)), 50)"],
    ),
    "11-four-ropes-one-loop.md rope.toy": (
        RANDOM,
        [f"{ROPE} pairs(x, w), even_odd(x, w), halves(x, w), rotate_half(x, w)"],
    ),
    "13-proving-it.md mutants.toy": (
        RANDOM | TEXT | LISTS,
        ["alive(1.0, 0.0, 1.0, 0.0), alive(1.0, 1.0, 1.0, 1.0), alive(1.0, 2.0, 3.0, 4.0)"],
    ),
    "13-proving-it.md both.toy": (RANDOM, [f"{SINGLE} chain(u, v)"]),
}


def available():
    return [tool for tool in TOOLS if not shutil.which(tool)]


def definitions(text):
    """The functions and structs of a program, without its statements."""
    found, at = [], 0
    for start in re.finditer(r"^(?:def|struct) ", text, re.M):
        if start.start() < at:
            continue
        depth, at = 0, text.index("{", start.start())
        while True:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
            if depth == 0:
                break
        found.append(text[start.start() : at])
    return "\n".join(found) + "\n"


def lowered(folder, text):
    """A program in upstream dialects by upstream passes down to LLVM's dialect: its file, or what is wrong."""
    source, target = pathlib.Path(folder, "program.mlir"), pathlib.Path(folder, "lowered.mlir")
    source.write_text(text)
    done = run(["mlir-opt-22", str(source), *passes(), "-o", str(target)])
    return (target, None) if done.returncode == 0 else (None, done.stderr[:1500])


def passes():
    """The command that the guide shows."""
    found = re.search(r"mlir-opt-22 (\S+\.mlir) (.*?) -o ", PAGE.read_text().replace("\\\n>", " "))
    return [word.strip('"').replace('="', "=") for word in re.findall(r'--\S+="[^"]*"|--\S+', found.group(2))]


def printing(folder):
    source, library = pathlib.Path(folder, "printing.c"), pathlib.Path(folder, "printing.so")
    source.write_text(PRINTING)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def numbers(text):
    text = text.replace("true", "1").replace("false", "0")
    return np.array([float(n) for n in re.findall(r"[+-]?(?:inf|nan|\d+\.?\d*(?:e[+-]?\d+)?)", text)])


def same_numbers(toy, folder, library, program, is_single):
    """What mlir-runner prints of a program, and what the evaluator prints."""
    path = pathlib.Path(folder, "program.toy")
    path.write_text(program)
    emitted = run([toy, "--emit=linalg", str(path)])
    if emitted.returncode:
        return emitted.stderr[:1500]
    target, problem = lowered(folder, emitted.stdout)
    if problem:
        return problem
    libraries = f"-shared-libs={library},/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so"
    done = run(["mlir-runner-22", "-e", "main", "-entry-point-result=void", libraries, str(target)])
    wanted = run([toy, "--jit=never", "--precision=full", str(path)])
    got, want = numbers(done.stdout), numbers(wanted.stdout)
    if done.returncode or len(want) == 0 or got.shape != want.shape:
        return f"{done.stderr[:500]}\n{done.stdout[:500]}\ninstead of\n{wanted.stdout[:500]}{wanted.stderr[:300]}"
    near = np.isclose(got, want, rtol=1e-5 if is_single else 1e-12, atol=1e-5 if is_single else 1e-13, equal_nan=True)
    return None if near.all() else f"{done.stdout[:800]}\ninstead of\n{wanted.stdout[:800]}"


def same_calls(toy, file, calls):
    if missing := available():
        return f"skipped: there is no {' and no '.join(missing)}"
    functions = definitions((ROOT / file).read_text())
    with tempfile.TemporaryDirectory() as folder:
        library = printing(folder)
        for call in calls:
            program = functions + variables_and_print(call)
            single = "32" in program or "c64" in program
            if problem := same_numbers(toy, folder, library, program, single):
                return f"{call}: {problem}"
    return None


def missing(toy, path):
    """The operations that an error of the stage names."""
    done = run([toy, "--emit=linalg", str(path)])
    return set(re.findall(r"error\[T0337\]: `(.*?)` in the stage linalg", done.stderr)), done


def course(toy):
    """Every program of the course: as a whole, or, where something has no form, what the table says of it."""
    if absent := available():
        return f"skipped: there is no {' and no '.join(absent)}"
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        library = printing(folder)
        for page in guides.pages(ROOT / "docs/course"):
            for language, body, _ in guides.fences(page):
                if language != "toy" or not guides.name_of(body):
                    continue
                name = f"{page.name} {guides.name_of(body)}"
                path = pathlib.Path(folder, guides.name_of(body))
                path.write_text(body)
                lacking, calls = LACKING.get(name, (set(), []))
                named, done = missing(toy, path)
                problems.append(same(f"{name}: what has no form", named, lacking))
                single = "32" in body or "c64" in body
                programs = [f"{definitions(body)}{variables_and_print(call)}" for call in calls]
                for program in programs if lacking else [body]:
                    problem = same_numbers(toy, folder, library, program, single)
                    problems.append(problem and f"{name}: {problem}")
    return "\n".join(p for p in problems if p) or None


def operations(toy):
    """Every operation's example, alone: the guide lists those that have no form."""
    without, toy_opt = set(), pathlib.Path(toy).with_name("toy-opt")
    for name, example in op_examples.definitions():
        if not example or "{\n" in example or "toy.yield" in example or name in ("fused", "yield"):
            continue
        command = [toy_opt, "--toy-unpack-complex", "--convert-toy-to-linalg", "-"]
        program = op_examples.function(example)
        if subprocess.run(command, input=program, capture_output=True, text=True, timeout=60).returncode:
            without.add(name)
    listed = set(
        re.findall(r"`(\w+)`", re.search(r"^## What has no form\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)[1])
    )
    return same("operations without a form", sorted(without), sorted(listed))


def variables_and_print(call):
    *variables, values = call.rpartition("; ")
    return f"{''.join(variables)}\nprint({values});\n"


def all_cases():
    yield "upstream: operations", operations, "host"
    yield "upstream: course", course, "release", "host", "nightly"
    for file, calls in CALLS.items():
        name = pathlib.Path(file).stem
        yield f"upstream: {name}", lambda toy, file=file, calls=calls: same_calls(toy, file, calls), "release", "host"

# SPDX-License-Identifier: Apache-2.0
"""What docs/adding-a-feature.md says is what has to be done: the edits in its blocks make a copy of the sources a
compiler with `erfc` and `schur`, and those of `erfc` with other names and values one with `lgamma`. The copy is built
as this build was; its new functions are compared with Python, and its own tests have to find nothing missing. The peer
is Python's math and NumPy."""
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import device
from programs import run_parts

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/adding-a-feature.md"

# A second function by the same steps: what is not the same but for the name.
LGAMMA = {
    "runtime/cuda/DeviceReal.h": """\
+/// By Stirling's series where x is large; smaller ones go there by the recurrence, negative ones by the reflection.
+double realLgamma(double x) {
+  if (isNan(x) || isInfinite(x))
+    return isNan(x) ? x : infinity;
+  if (x <= 0 && x == realTruncated(x))
+    return infinity;
+  constexpr double pi = 0x1.921fb54442d18p+1;
+  if (x < 0)
+    return realLog(pi / size(realSin(pi * (x - realTruncated(x))))) - realLgamma(1 - x);
+  double below = 1;
+  for (; x < 16; x += 1)
+    below *= x;
+  double r = 1 / (x * x), rest = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / x;
+  return (x - 0.5) * realLog(x) - x + 0x1.d67f1c864beb5p-1 + rest - realLog(below);
+}
 /// The exact remainder, with the sign of x: long division by halves.""",
    "ir/ToyElementwiseOps.td": """\
 def ErfOp : Toy_RealMath<"erf", "the error function">;
+def LgammaOp : Toy_RealMath<"lgamma", "log(abs(gamma(x)))", "Infinite at 0, -1, -2 and so on.">;""",
    "irgen/Builtins.def": """\
 TOY_BUILTIN(erf, "x", "elementwise", unaryBuiltin, "erf", 'f', "the error function")
+TOY_BUILTIN(lgamma, "x", "elementwise", unaryBuiltin, "lgamma", 'f', "log(abs(gamma(x)))")""",
    "repl/Examples.def": """\
 TOY_EXAMPLE("erf", "erf(0.5)", "0.5204998778130465")
+TOY_EXAMPLE("lgamma", "lgamma(1.0)", "0.0")""",
    "tests/e2e/lgamma.toy": """\
+print(round(abs(lgamma([1, 2]))), lgamma(0), round(lgamma(101)));  # expect: [0.0, 0.0] inf 364.0""",
    "tests/errors/lgamma-of-complex.toy": "+print(lgamma(1i));  # error: T0202 1:7",
}


def edits():
    """(path, lines) of every block of the document; a line is a sign and a text."""
    found = []
    for indent, body in re.findall(r"^( *)```diff\n(.*?)^ *```$", DOCUMENT.read_text(), re.M | re.S):
        first, *lines = [line.removeprefix(indent) for line in body.splitlines()]
        assert first.startswith("--- "), f"a block of {DOCUMENT.name} begins with `{first}`, not with a file"
        found.append((first[4:], lines))
    return found


UPSTREAM = """\
 * random numbers: `seed`, `next_key`, `fold_in`, `sample`, `draw`, `permutation`
+* functions of elements: `lgamma`"""


def lgamma(path, lines):
    text = "\n".join(lines).replace("erfc", "lgamma").replace("Erfc", "Lgamma")
    path = path.replace("erfc", "lgamma")
    if path == "passes/linalg/Elementwise.cpp":  # upstream has no operation for it
        return "docs/guides/upstream-mlir.md", UPSTREAM.splitlines()
    poles = "math.inf if v <= 0 and v == int(v) else math.lgamma(v)"
    return path, LGAMMA.get(path, text).replace("math.lgamma,", f"lambda v: {poles},").splitlines()


def apply(folder, path, lines):
    """One block. Its place is the lines without `+`, one behind the other, once in the file."""
    file = folder / path
    if not file.exists():
        assert all(line[0] == "+" for line in lines), f"{DOCUMENT.name}: there is no {path}"
        file.write_text("".join(line[1:] + "\n" for line in lines))
        return
    text, place = file.read_text().split("\n"), [line[1:].strip() for line in lines if line[0] != "+"]
    found = [i for i in range(len(text)) if [line.strip() for line in text[i : i + len(place)]] == place]
    assert place and len(found) == 1, f"{DOCUMENT.name}: {len(found)} places in {path} are\n" + "\n".join(place)
    width = lambda line: len(line) - len(line.lstrip())
    first = next(line for line in lines if line[0] != "+")
    shift, made, at = width(text[found[0]]) - width(first[1:]), [], found[0]
    for line in lines:
        if line[0] == "+":
            made.append((" " * (shift + width(line[1:])) + line[1:].strip()).rstrip())
        else:
            made.append(text[at])
            at += 1
    text[found[0] : at] = made
    file.write_text("\n".join(text))


def copy_sources(folder):
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name, follow_symlinks=False)


def format_sources(folder, paths):
    """As `make format` does."""
    cpp, python = ([p for p in paths if p.endswith(ends)] for ends in ((".cpp", ".h"), ".py"))
    subprocess.run(["clang-format-22", "-i", *cpp], cwd=folder, check=True)
    subprocess.run(["/usr/bin/black", "--quiet", *python], cwd=folder, check=True)


def build(folder):
    """As this build was configured. Paths are relative to the folder in ccache's eyes, so that it knows what did not
    change."""
    cache = pathlib.Path(os.environ["TOY_TEST_BUILD"], "CMakeCache.txt").read_text()
    chosen = re.findall(
        r"^((?:CMAKE_(?:\w+_COMPILER(?:_LAUNCHER)?|BUILD_TYPE|EXE_LINKER_FLAGS)|TOY_ASAN|TOY_STATIC_LLVM):\w+=.*)$",
        cache,
        re.M,
    )
    environment = {**os.environ, "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1"}
    environment.pop(
        "XDG_CACHE_HOME", None
    )  # which conftest.py sets: ccache's own place, where earlier builds' objects are
    built = folder / "build/release"
    for command in (
        ["cmake", "-G", "Ninja", "-S", str(folder), "-B", str(built), *(f"-D{entry}" for entry in chosen)],
        ["ninja", "-C", str(built), "toy", "toy-opt", "toy-check", "toyfakecuda"],
    ):
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout[-4000:]
    return built


def add_functions(folder):
    """All blocks of the document, and those about `erfc` once more for `lgamma`."""
    blocks = edits()
    for path, lines in [*blocks, *(lgamma(*block) for block in blocks if "erfc" in "".join(block[1]).lower())]:
        apply(folder, path, lines)
    format_sources(folder, sorted({path for path, _ in blocks}))


ARGUMENTS = [0.001, 0.25, 0.5, 0.75, 1.25, 1.5, 2.5, 3.0, 4.75, 8.5, 12.25, 20.5]
PROGRAM = f"""\
var x = {ARGUMENTS};
save("erfc.npy", erfc(x)); save("erfc32.npy", erfc(f32(x)));
save("lgamma.npy", lgamma(x)); save("lgamma32.npy", lgamma(f32(x)));
var a = rand(3, 5, 5) - 0.5; var (t, z) = schur(a);
save("a.npy", a); save("t.npy", t); save("z.npy", z);
var ca = a + 1i * rand(3, 5, 5); var (ct, cz) = schur(ca);
save("ca.npy", ca); save("ct.npy", ct); save("cz.npy", cz);
"""


def wrong_elements(folder):
    for name, least in (("erfc", 0), ("lgamma", 1e-14)):  # zeros at 1 and 2
        want = np.array([getattr(math, name)(v) for v in ARGUMENTS])
        got, single = np.load(folder / f"{name}.npy"), np.load(folder / f"{name}32.npy")
        if not np.allclose(got, want, 1e-14, least) or not np.allclose(single, want, 1e-6, least * 1e8 + 1e-38):
            yield f"{name}: {got}, {single}, expected {want}"


def wrong_matrices(folder):
    for kind in ("", "c"):
        a, t, z = (np.load(folder / f"{kind}{name}.npy") for name in "atz")
        adjoint = np.conj(np.swapaxes(z, -1, -2))
        below = np.diagonal(t, -1, -2, -1)  # of a real matrix: of blocks of 2, so that no neighbours are there
        zeros = [np.tril(t, -1)] if kind else [np.tril(t, -2), below[..., 1:] * below[..., :-1]]
        if not (
            a.dtype == t.dtype == z.dtype
            and np.allclose(z @ t @ adjoint, a, 0, 1e-13)
            and np.allclose(z @ adjoint, np.eye(5), 0, 1e-13)
            and not any(map(np.any, zeros))
        ):
            yield f"schur of\n{a}\n{t}\n{z}"


def problems_of(toy):
    for flags in ("--jit=never", "--jit=always", "--jit=always --unpack", "device"):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            if flags == "device":
                text = PROGRAM.replace('save("', f'save("{folder}/')
                done = device.run(toy, ["--device=cuda", "--jit=always", "--no-cache", "-e", text])
                problem = done.problem() or (
                    "" if done.stats.get("launches") else f"no kernel was launched: {done.stats}"
                )
            else:
                [[done]] = run_parts(toy, [(PROGRAM, [flags])], cwd=folder)
                problem = done.stderr
            for found in [problem] if problem else [*wrong_elements(folder), *wrong_matrices(folder)]:
                yield f"{flags}: {found}"


def tests_of_the_copy(folder, built):
    """Those that go through all functions, those of the new ones, and of the form of the sources."""
    chosen = (
        "erfc or lgamma or schur or libraries or library or (every and function) or (examples and help) or test_cpp"
        " or (upstream and operations)"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", f"--build={built}", "-k", chosen],
        cwd=folder / "tests",
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout[-6000:] if done.returncode else None


def check(toy):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        copy_sources(folder)
        add_functions(folder)
        built = build(folder)
        return "\n".join(problems_of(str(built / "toy"))) or tests_of_the_copy(folder, built)


def places(_toy):
    """The places that the document names are there: what is built and tested at night can be written."""
    with tempfile.TemporaryDirectory() as name:
        copy_sources(pathlib.Path(name))
        for path, lines in edits():
            apply(pathlib.Path(name), path, lines)


def all_cases():
    yield "places of the documentation are there", places, "host"
    yield "functions added as the documentation says", check, "nightly", "release", "host", "long"

# SPDX-License-Identifier: Apache-2.0
"""Programs on a CUDA device that does not exist: the fake driver of tests/cuda runs the PTX that toy makes, lets
streams run in any order that their events allow, and reports races, accesses outside of live memory, and misuse.
Results have the bits of the host's; transfers, launches, graphs and allocations are counted; every call of the driver
is made to fail once."""
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

from programs import OF_THE_HOST, expected_lines, is_sanitized, of_this_build, run_parts
from verdicts import once

ROOT = pathlib.Path(__file__).resolve().parent.parent
EVERYWHERE = ["--device=cuda", "--jit=always"]  # with code that other cases of this run left, under any kind of graph
GRAPHS = ["off", "auto", "full", "piecewise"]
# Programs of more than half a second whose compiled code is the host's, or that of other tests of devices.
AT_NIGHT = {
    "across-rows",
    "banks-and-queues",
    "chance",
    "circuits-and-splines",
    "codes-and-puzzles",
    "complex-in-lanes",
    "complex-rows-by-halves",
    "complex-vector-products",
    "eigenvalues",
    "element-domains",
    "everyday-edges",
    "everyday-programs",
    "fft-of-prime-rows",
    "filters-and-steps",
    "folds-in-groups",
    "folds-in-lanes",
    "functions-of-spaced-rows",
    "lane-transforms",
    "learning",
    "lists",
    "long-interp",
    "long-rows-in-order",
    "many-folds",
    "merged-axes",
    "narrow-columns",
    "pairs-of-registers",
    "positions",
    "random-numbers",
    "ranges-of-indices",
    "ranges-of-numbers",
    "rays",
    "reductions-of-axes",
    "results-over-operands",
    "row-ends",
    "row-parts",
    "row-strips",
    "rows-by-position",
    "rows-of-unknown-length",
    "scattered-apart",
    "short-complex-products",
    "short-rows",
    "short-sides",
    "short-transforms",
    "signals-and-systems",
    "small-orthogonal",
    "small-transposes",
    "small-turns",
    "sorted-parts",
    "spaced-elements",
    "sparse-and-roots",
    "states-and-graphs",
    "streamed-tiles",
    "strided-reductions",
    "sums-of-transposes",
    "tiny-rows",
    "trees",
    "try",
}


class Done:
    def __init__(self, status, stdout, stderr, report, stats):
        self.status, self.stdout, self.stderr, self.report, self.stats = status, stdout, stderr, report, stats

    def problem(self):
        """What went wrong without anybody asking for it."""
        found = [line for line in self.report.splitlines() if line.startswith("found: ")]
        if self.status or found:
            return f"exit status {self.status}\n{self.stderr}" + "\n".join(found)
        return None


def run(toy, args, seed=1, stdin=None, **environment):
    """toy with the fake driver, which lies beside it."""
    driver = pathlib.Path(toy).parent / "libtoyfakecuda.so"
    with tempfile.TemporaryDirectory() as folder:
        report, stats = pathlib.Path(folder, "report"), pathlib.Path(folder, "stats")
        env = {
            **os.environ,
            "TOY_CUDA_DRIVER": str(driver),
            "TOY_FAKE_REPORT": str(report),
            "TOY_FAKE_SEED": str(seed),
            **environment,
        }
        if os.environ.get("TOY_REAL_DEVICE"):  # tests/device_check.py
            del env["TOY_CUDA_DRIVER"]
        done = subprocess.run(
            [toy, f"--stats={stats}", *args],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=300,
            text=True,
            errors="replace",
            env=env,
            cwd=folder,
        )
        return Done(
            done.returncode,
            done.stdout,
            done.stderr,
            report.read_text() if report.exists() else "",
            json.loads(stats.read_text()).get("cuda", {}) if stats.exists() else {},
        )


def on_host(toy, args):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [toy, "--device=cpu", "--jit=never", *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            cwd=folder,
        )
    return done.stdout if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr}"


def program(toy, path, flags, seed):
    done = run(toy, [*EVERYWHERE, *flags, str(path)], seed)
    if problem := done.problem():
        return problem
    got, want = [line.strip() for line in done.stdout.splitlines()], expected_lines(path)
    return None if got == want else f"expected {want}\ngot {got}"


NUMBER = r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?"


def same_bits(toy, text, flags=(), seed=1, tolerance=0.0, **environment):
    """The program prints the same, all digits (or up to a relative error of each number), on the host and on the
    device."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.toy")
        path.write_text(text)
        want = on_host(toy, ["--precision=full", str(path)])
        done = run(toy, [*EVERYWHERE, *flags, "--precision=full", str(path)], seed, **environment)
        if problem := done.problem():
            return f"{problem}\n{text}"
        got = done.stdout
        return (
            None
            if got == want or (tolerance and close(got, want, tolerance))
            else f"host:\n{want}\ndevice:\n{got}\n{text}"
        )


def random_program(toy, seed):
    import generator.random_programs as random_programs

    text = random_programs.Generator(seed).program()
    return same_bits(
        toy,
        text,
        [
            f"--cuda-graphs={GRAPHS[seed % 4]}",
            *(["--unpack"] if seed % 5 == 4 else []),
            *(["--no-fuse"] if seed % 3 == 2 else []),
        ],
        seed,
        tolerance=1e-13,
    )  # sines of 1e10 are within an ulp


def close(got, want, tolerance):
    """The same text but for the last digits of its numbers; of formatted ones (`:+.5e`) the last one may be rounded to
    the other side."""

    def last_digit(number):
        mantissa, exponent = number.split("e") if "e" in number else (number, None)
        decimals = len(mantissa.partition(".")[2])
        return 10.0 ** (int(exponent) - decimals) if exponent and decimals == 5 else 0

    x, y = (re.findall(NUMBER, text) for text in (got, want))
    return re.sub(NUMBER, "#", got) == re.sub(NUMBER, "#", want) and all(
        abs(float(a) - float(b)) <= max(tolerance * max(1, abs(float(b))), 1.01 * last_digit(b)) for a, b in zip(x, y)
    )


def tool_of_cuda(name):
    path = f"/usr/local/cuda/bin/{name}"
    return shutil.which(name) or (path if os.path.exists(path) else None)


def ptxas_refuses(ptxas, text, architectures):
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
    for architecture in architectures:
        if problem := once(lambda: refused(ptxas, text, architecture), version, architecture, text):
            return f"{architecture}: {problem}"
    return None


#: bytes of registers that ptxas stores of its own accord, where 32 registers are left and all threads are resident
PREFERRED_SPILLS = 16


def refused(ptxas, text, architecture):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        out = subprocess.run(
            [ptxas, "-v", f"-arch={architecture}", "-o", "/dev/null", file.name],
            capture_output=True,
            text=True,
            timeout=300,
        )
    spills = [
        line
        for line in out.stderr.splitlines()
        if (stored := re.search(r"(\d+) bytes spill stores", line)) and int(stored[1]) > PREFERRED_SPILLS
    ]
    return out.stderr[-1500:] if out.returncode else "\n".join(spills)


def assembles(toy, architectures):
    """The kernels of the examples, at night of all programs, and those written by hand go through ptxas, where it is
    installed; none spills registers, but for a few that ptxas prefers to."""
    ptxas = tool_of_cuda("ptxas")
    if not ptxas:
        return "skipped: ptxas is not installed"
    files = 0
    folders = ("tests/e2e", "examples") if len(architectures) > 1 else ("examples",)
    for path in (p for folder in folders for p in sorted((ROOT / folder).glob("*.toy"))):
        done = subprocess.run(
            [toy, "--emit=ptx", str(path)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
        )
        if done.returncode or ".entry" not in done.stdout:  # variables that only a run knows
            continue
        files += 1
        if problem := ptxas_refuses(ptxas, done.stdout, architectures):
            return f"{path} for {problem}"
    for path in pathlib.Path(toy).parent.glob("runtime/*.ptx"):
        files += 1
        if problem := ptxas_refuses(ptxas, path.read_text(), architectures):
            return f"{path} for {problem}"
    return None if files >= 13 else f"only {files} programs and sources have kernels"


def accesses(toy):
    """Kernels read and write 16 bytes at once, also around elementary functions, which have branches; what rows need is
    read together."""

    def kernel_of(text, addresses):
        ptx = subprocess.run([toy, "--emit=ptx", "-"], input=text, capture_output=True, text=True, timeout=120).stdout
        return next((kernel for kernel in ptx.split(".entry") if kernel.count(".ptr") == addresses), "")

    for dtype, body in (
        ("f32", "x * y + x"),
        ("f32", "exp(x) * y"),
        ("f64", "exp(x) + tanh(y)"),
        ("c64", "x * y"),
        ("c64", "sqrt(x) / y"),
        ("c128", "sqrt(x) * y"),
        ("bf16", "tanh(x) * y"),
        ("i32", "x + y"),
    ):
        matrix = f"{dtype}[64, 64]"
        text = f"def f(x: {matrix}, y: {matrix}) {{ return {body}; }} var a = {dtype}(ones([64, 64])); f(a, a * 2);"
        widths = [
            int(count or 1) * int(bits) // 8
            for count, bits in re.findall(r"(?:ld|st)\.global(?:\.nc)?(?:\.v(\d))?\.b(\d+)", kernel_of(text, 3))
        ]
        if "tanh" in body and dtype == "bf16":  # its numbers by parts of the axis are read one by one
            widths = [width for width in widths if width != 4]
        if widths != [16] * 3:
            return f"{text}: accesses of {widths} bytes"
    for axis, what in ((1, "row"), (0, "column")):
        text = f"def f(x: f32[N, 4096]) {{ return sum(exp(x), {axis}); }} var a = f32(ones([3, 4096])); f(a);"
        loads = re.findall(r"ld\.global\.nc\.b32|bra|\$L__BB", kernel_of(text, 2))
        if "ld.global.nc.b32" not in loads or loads[loads.index("ld.global.nc.b32") :][:4] != ["ld.global.nc.b32"] * 4:
            return f"a {what} is read element by element: {loads}"
    return None


def elementwise(toy, dtypes):
    """Every function of elements has a form for devices: a kernel for each dtype that it takes, which calls nothing
    that is not in it and stores no register. A device has no libm."""
    ptxas = tool_of_cuda("ptxas")
    table = (ROOT / "irgen/Builtins.def").read_text()
    rows = re.findall(r'^TOY_BUILTIN\((\w+), "([^"]*)", "elementwise"', table, re.M)
    if len(rows) < 38:
        return f"only {len(rows)} functions of elements"
    operators = ["+", "-", "*", "/", "**", "<", "==", "&", "|", "^", "<<", ">>"]
    forms = [f"{name}({', '.join(['x'] * len(re.sub(r',? *[a-z]+=', '', names).split(',')))})" for name, names in rows]
    forms += [f"x {operator} x" for operator in operators] + ["-x", "x.real", "f32(x)", "c64(x)", "f16(x)", "i32(x)"]
    for dtype in dtypes:
        lead = f"var a = {dtype}(ones([40]));\n"
        programs = [f"def f{i}(x) {{ return {form}; }} var y{i} = f{i}(a);\n" for i, form in enumerate(forms)]
        ran = run_parts(toy, [(lead + program, ["--jit=never"]) for program in programs])
        taken = [program for program, [done] in zip(programs, ran) if done.status == 0]
        done = subprocess.run(
            [toy, "--emit=ptx", "-e", lead + "".join(taken)], capture_output=True, text=True, timeout=120
        )
        kernels = done.stdout.count(".visible .entry")
        share = 0.6 if dtype in ("i32", "bool") else 1  # of which some are what they were, or checked by the host
        if done.returncode or ".extern" in done.stdout or len(taken) < 8 or kernels < len(taken) * share:
            calls = re.findall(r"^\.extern .*", done.stdout, re.M)
            return f"{dtype}: {kernels} kernels of {len(taken)} forms, calls of {calls}\n{done.stderr}"
        if problem := ptxas and ptxas_refuses(ptxas, done.stdout, ["sm_90"]):
            return f"{dtype}: {problem}"
    return None


def compiled_by_nvcc(toy, architectures):
    """What clang compiles nvcc takes too, and gives no other registers to spill."""
    nvcc, ptxas = tool_of_cuda("nvcc"), tool_of_cuda("ptxas")
    if not nvcc or not ptxas:
        return "skipped: nvcc is not installed"
    for source, flags in (
        ("Kernels", []),
        *(
            ("Rope", [f"-DROPE_ELEMENT={element}", f"-DROPE_PART={part}"])
            for element, part in (("float", "float"), ("double", "double"), ("BFloat16", "float"), ("Float16", "float"))
        ),
    ):
        done = subprocess.run(
            [
                nvcc,
                "-std=c++20",
                "-fmad=false",
                "-arch=sm_80",
                *flags,
                "-ptx",
                "-o",
                "/dev/stdout",
                str(ROOT / f"runtime/cuda/{source}.cu"),
            ],
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode:
            return done.stderr
        if problem := ptxas_refuses(ptxas, done.stdout, architectures):
            return f"{source} {flags} for {problem}"
    return None


def for_architectures(name, check):
    """One of them every day, all at night."""
    yield f"device: {name}", lambda toy: check(toy, ["sm_90"])
    yield f"device: {name} for every architecture", lambda toy: check(toy, ["sm_80", "sm_90", "sm_100"]), "nightly"


MARKERS = ("device", "host")


def all_cases(random=60):
    rows = []
    programs = sorted(p for folder in ("tests/e2e", "examples") for p in (ROOT / folder).glob("*.toy"))

    for path in (p for p in programs if expected_lines(p) and p.stem not in OF_THE_HOST):
        i = zlib.crc32(path.stem.encode())  # the same, whatever other programs there are
        at_night = path.stem in AT_NIGHT or i % 2 != is_sanitized()
        nights = range(4) if at_night else [j for j in range(4) if j != i // 2 % 4]
        for j, mode in enumerate(GRAPHS):
            flags = [f"--cuda-graphs={mode}", *(["--unpack"] if (i + j) % 4 == 3 else [])]
            rows.append(
                (
                    f"device: {path.name} {' '.join(flags)}",
                    lambda toy, path=path, flags=flags, seed=i % 1000: program(toy, path, flags, seed),
                    *(["nightly"] if j in nights else []),
                )
            )
    rows += [
        (
            f"device: random program {seed}",
            lambda toy, seed=seed: random_program(toy, seed),
            *([] if seed in of_this_build(12) else ["nightly"]),
        )
        for seed in range(random)
    ]
    return [
        *rows,
        ("device: accesses", accesses),
        ("device: elementwise", lambda toy: elementwise(toy, ("f32", "c128", "bf16", "i32"))),
        ("device: elementwise, others", lambda toy: elementwise(toy, ("f64", "c64", "f16", "bool")), "nightly"),
        *for_architectures("ptxas", assembles),
        *for_architectures("nvcc", compiled_by_nvcc),
    ]


def of_all_modules():
    """The cases of this and of the modules beside it, which pytest finds by itself."""
    import device_counts
    import device_failures
    import device_kernels
    import device_numbers
    import device_ropes

    modules = (device_numbers, device_ropes, device_kernels, device_counts, device_failures)
    return [*all_cases(), *itertools.chain(*(module.all_cases() for module in modules))]


if __name__ == "__main__":  # some cases, or random programs: device.py TOY [SUBSTRING | FIRST LAST]
    toy = os.path.abspath(sys.argv[1])
    sys.path.insert(0, str(ROOT / "tests"))
    cases = (
        [
            (f"random {seed}", lambda toy, seed=seed: random_program(toy, seed))
            for seed in range(int(sys.argv[2]), int(sys.argv[3]))
        ]
        if len(sys.argv) > 3
        else [c for c in of_all_modules() if len(sys.argv) < 3 or sys.argv[2] in c[0]]
    )
    failed = 0
    for name, function, *_ in cases:
        if problem := function(toy):
            failed += 1
            print(f"FAIL {name}\n{problem[:3000]}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")

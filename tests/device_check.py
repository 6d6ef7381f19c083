# SPDX-License-Identifier: Apache-2.0
"""What is worth knowing first of a real device, in a few minutes: cases in the order of their value, several at a time,
each in a process of its own with a limit; a report as JSON and as Markdown. Needs Python's standard library alone.

    device_check.py TOY [--case=NAME] [--only=SUBSTRING] [--jobs=N] [--limit=SECONDS] [--budget=SECONDS] [--out=FOLDER]

Without TOY_CUDA_DRIVER the machine's driver is used."""
import argparse
import concurrent.futures
import datetime
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import device
import device_counts
import device_kernels
import device_numbers
import device_ropes
import processes
from device import EVERYWHERE, GRAPHS, run, same_bits
from programs import OF_THE_HOST, expected_lines

FIRST = """var a = f32(reshape(sin(arange(1200) * 0.7), [30, 40])); var z = c64(a) * c64(1 + 0.5i);
var q = f32(reshape(cos(arange(512)), [1, 4, 8, 16])); var w = c64(polar(1.0, reshape(arange(32) * 0.1, [4, 8])));
def f(a, z, q, w) { return (norm(a @ a.T), norm(fft(z)), rope(q, w)[0, 0, 0, :4], softmax(a * 2, axis = 1)[1, :4], sum(z * conj(z))); }
for i in range(3) { print(f(a + f32(i), z, q, w)); }
"""
# Lines of numbers; both sides of a pair are computed from the same values, in the order of the host and of a library.
SPECIAL = "[0.0, -0.0, 1, -1, 0.5, -0.5, inf, -inf, nan, 1e-310, 1e308, -1e308, 709.5, 710, -740, -745.5, 1e22, 2e6, 1e-200, 2, -2, 0.9999999, 1.0000001, 123456789]"
FUNCTIONS = "exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh sqrt rsqrt reciprocal abs erf sigmoid".split()
OF_COMPLEX = "exp log sin cos tan sinh cosh tanh sqrt reciprocal abs".split()


def first(toy):
    """A product, a transform, a rotation, rows and a sum, under every kind of graph."""
    for mode in GRAPHS:
        if problem := same_bits(toy, FIRST, [f"--cuda-graphs={mode}"], tolerance=2e-5):
            return f"--cuda-graphs={mode}: {problem}"
    return None


def transforms(toy, mode):
    """fft, ifft, rfft, irfft along every axis, odd and even sizes."""
    text = "var x = reshape(sin(arange(140.0) * 0.7), [4, 7, 5]);\n"
    for dtype in ("f64", "f32"):
        for axis in (0, 1, 2):
            text += f"print(rfft({dtype}(x), axis={axis}), irfft(rfft({dtype}(x), axis={axis}), n={(4, 7, 5)[axis]}, axis={axis}));\n"
            complex_ = {"f64": "c128(x) * (1 + 0.5i)", "f32": "c64(x) * c64(1 + 0.5i)"}[dtype]
            text += f"print(fft({complex_}, axis={axis}), ifft({complex_}, axis={axis}));\n"
    return same_bits(toy, text, [f"--cuda-graphs={mode}"], tolerance=1e-5)


def precisions(toy):
    """The errors of products beside f64, by precision; what `medium` keeps is the library's choice."""
    for dtype, exact, factor in (("f32", "f64", ""), ("c64", "c128", " * c64(1 - 0.3i)")):
        lead = f"seed(7); var x = {dtype}(randn(64, 96)){factor}; var y = {dtype}(randn(96, 80)){factor}; var e = {exact}(x) @ {exact}(y);"
        for precision, most in (("ieee", 5e-7), ("high", 2e-6), ("medium", 3e-3)):
            text = f"{lead} var error = norm({exact}(x @ y) - e) / norm(e); print(error);"
            done = run(toy, [*EVERYWHERE, f"--matmul-precision={precision}", "--precision=full", "-e", text])
            if problem := done.problem():
                return problem
            if not float(done.stdout) <= most:
                return f"{dtype}, {precision}: error {done.stdout}"
    return None


def functions(toy, dtype):
    """Elementary functions of ordinary and extraordinary arguments: classes of the host's, numbers within a few units
    in the last place."""
    names = FUNCTIONS if dtype in ("f64", "f32") else OF_COMPLEX
    scale = {"f64": "", "f32": "", "c128": " * (1 - 0.7i)", "c64": " * c64(1 - 0.7i)"}[dtype]
    special = SPECIAL if not scale else "arange(24) * 0.4 - 4"
    lead = f"var l = {special}; var s = {dtype}(l); var o = {dtype}(sin(arange(300) * 0.7) * 3){scale};\n"
    text = lead + "".join(f"print({f}(s)); print({f}(o));\n" for f in names)
    return same_bits(toy, text, tolerance=2e-15 if dtype in ("f64", "c128") else 1e-6)


def program(toy, path, mode):
    """What a program of the tests announces; one that this machine's host cannot run says nothing of a device."""
    if problem := device.program(toy, path, [f"--cuda-graphs={mode}"], 1):
        host = device.on_host(toy, [str(path)])
        if [line.strip() for line in host.splitlines()] == expected_lines(path):
            return problem
        return "skipped: the host does not run it either"
    return None


# What goes through memory that threads share: rows, folds and positions of all ways, transposes.
SHARED = """def f(x: f32[N, M]) { return (softmax(x, 1), layernorm(x), sum(x, 0), argmax(x, 0), argmax(x, 1), sum(x.T * 2, 1)); }
def g(n, m) { print(f(f32(reshape(sin(arange(n * m) * 0.7), [n, m])))); return 0; }
g(3, 700); g(2, 2500); g(70, 33);
var v = f32(sin(arange(100000.0))); print(sum(v * v), argmax(v), max(v), rfft(reshape(v[:2000], [20, 100]), axis = 0)[3, :4]);
"""


def sanitized(toy, check):
    """No access outside of live memory, or no race for shared memory."""
    tool = device.tool_of_cuda("compute-sanitizer")
    if not tool:
        return "skipped: compute-sanitizer is not installed"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "shared.toy")
        path.write_text(SHARED)
        command = [tool, "--tool", check, "--target-processes", "all", "--error-exitcode", "9", toy, *EVERYWHERE]
        for program in (path, device.ROOT / "tests/e2e/reductions.toy"):
            done = subprocess.run(
                [*command, "--no-cache", str(program)], stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
            found = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", done.stdout + done.stderr)
            if done.returncode or not found or set(found) != {"0"}:
                return done.stdout[-2000:] + done.stderr[-1000:]
    return None


def numbers(names):
    """Those that need nothing but the program, by the beginnings of their names."""
    every = itertools.chain(device_numbers.all_cases(), device_ropes.all_cases())
    cases = [(name.removeprefix("device: "), function) for name, function, *_ in every]
    for start in names:
        found = [(name, function) for name, function in cases if re.fullmatch(rf"{start}( .*)?", name)]
        assert found, start
        yield from found


def of_many(cases):
    """Cases of many programs as one each: contexts of a device are made one after the other, so that a case of many
    processes waits for all that run beside it."""
    for name, count, check in cases:
        yield from ((f"{name}, {i}", lambda toy, i=i, check=check: check(toy, i)) for i in range(count))


def rows(number, name):
    return name, len(device_numbers.ROWS), lambda toy, i: device_numbers.rows(toy, number, [i])


def ropes(dtype):
    count = len(list(device_ropes.forms(dtype)))
    return f"ropes of {dtype}", count, lambda toy, i: device_ropes.ropes(toy, dtype, slice(i, i + 1))


def rows_and_ropes():
    near, joined = len(device_ropes.NEAR), len(device_ropes.JOINED)
    yield from (rows(0, "rows"), ropes("f32"), ropes("bf16"))
    yield "near ropes", near, lambda toy, i: device_ropes.near_ropes(toy, slice(i, i + 1))
    yield "joined ropes", joined, lambda toy, i: device_ropes.joined(toy, False, [i])


def cases_of_a_device():
    yield "first", first
    yield "real transforms of a middle axis", lambda toy: same_bits(
        toy, "print(rfft(reshape(arange(105.0), [3, 5, 7]), axis=1));", tolerance=1e-12
    )
    yield from numbers(["infinities"])
    yield "clock waits", device_counts.clock
    yield "precisions", precisions
    yield from ((f"functions, {d}", lambda toy, d=d: functions(toy, d)) for d in ("f64", "f32", "c128", "c64"))
    yield from ((f"transforms, {mode}", lambda toy, mode=mode: transforms(toy, mode)) for mode in GRAPHS)
    yield from numbers(["parts of f32", "parts of bf16", "long rows"])
    yield from of_many(rows_and_ropes())
    for check in (
        device_kernels.positions,
        device_kernels.declared_sizes,
        device_kernels.copies,
        device_kernels.divisions,
        device_kernels.transposes,
        device_kernels.columns,
        device_kernels.blocks_of_rows,
        device_kernels.turned,
        device_kernels.halves,
        device_kernels.rounding,
        device_kernels.writes,
    ):
        yield check.__name__.replace("_", " "), check
    yield "partial sums", device_kernels.partial_sums
    yield "steady calls", device_counts.steady
    yield from ((f"graphs {mode}", lambda toy, mode=mode: device_counts.graphs(toy, [mode])) for mode in GRAPHS)
    yield "new graphs", device_counts.new_graphs
    yield from numbers(["folds", "product"])
    paths = sorted(p for folder in ("tests/e2e", "examples") for p in (device.ROOT / folder).glob("*.toy"))
    paths = [path for path in paths if expected_lines(path) and path.stem not in OF_THE_HOST]
    short = [path for path in paths if path.stem not in device.AT_NIGHT]

    def programs(turn, paths):
        for i, path in enumerate(paths):
            mode = GRAPHS[(i + turn) % len(GRAPHS)]
            yield f"{path.name}, {mode}", lambda toy, path=path, mode=mode: program(toy, path, mode)

    yield from programs(0, short)
    for check in ("memcheck", "racecheck"):
        yield f"compute-sanitizer, {check}", lambda toy, check=check: sanitized(toy, check)
    yield from ((f"random {seed}", lambda toy, seed=seed: device.random_program(toy, seed)) for seed in range(40))
    for turn in range(1, len(GRAPHS)):
        yield from programs(turn, short)
    yield from numbers(["parts of f64", "parts of f16", "further folds"])
    yield from of_many([ropes("f64"), ropes("f16"), rows(1, "rows of other sizes")])
    for turn in range(len(GRAPHS)):
        yield from programs(turn, [path for path in paths if path not in short])


def unknown_names(toy):
    """Names of no case are an error that tells the names."""
    for words in ("--case=frist", "--only=frist"):
        status, said = processes.run([sys.executable, __file__, toy, words], 60)
        if status != 2 or "frist" not in said or "first" not in said:
            return f"{words}: {status} {said}"


def all_cases():
    """What other modules do not have, on the fake device."""
    yield "device: cases of a real one, unknown names", unknown_names
    for name, check in cases_of_a_device():
        if name == "first" or name.startswith(("functions", "transforms")):
            yield f"device: cases of a real one, {name}", check


def in_process(arguments, name):
    """A case in a process group of its own, which ends with it."""
    command = [sys.executable, __file__, arguments.toy, f"--case={name}"]
    begin = time.monotonic()
    status, said = processes.run(command, arguments.limit)
    status = "skipped" if said.startswith("skipped") else "passed" if status == 0 else "failed"
    return {
        "name": name,
        "status": status,
        "seconds": round(time.monotonic() - begin, 2),
        "problem": said.strip()[:3000],
    }


def run_all(arguments, names):
    """Results in the order of the cases; what has not begun when the budget ends is left out."""
    end = time.monotonic() + arguments.budget - arguments.limit

    def one(name):
        if time.monotonic() > end:
            return {"name": name, "status": "left out", "seconds": 0, "problem": ""}
        result = in_process(arguments, name)
        if result["status"] == "failed":
            print(f"FAIL {name}\n{result['problem'][:600]}", flush=True)
        return result

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        return list(pool.map(one, names))


def about(toy):
    """The device, its libraries, the driver and the program."""
    done = subprocess.run([toy, "--device=cuda", "-"], input=":device\n", capture_output=True, text=True)
    lines = (done.stdout + done.stderr).strip().splitlines()
    lines += subprocess.run([toy, "--version"], capture_output=True, text=True).stdout.splitlines()
    if smi := shutil.which("nvidia-smi"):
        query = [smi, "--query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem", "--format=csv,noheader"]
        lines += subprocess.run(query, capture_output=True, text=True).stdout.splitlines()
    return lines, done.returncode == 0


def markdown(report):
    counts = ", ".join(f"{n} {status}" for status, n in report["totals"].items() if n)
    lines = [f"# Correctness on a device, {report['date']}", "", *(f"    {line}" for line in report["about"]), ""]
    lines += [
        f"{counts}, {report['seconds']:.0f} s, {report['jobs']} at a time.",
        "",
        "| case | | s |",
        "| --- | --- | ---: |",
    ]
    lines += [f"| {c['name']} | {c['status']} | {c['seconds']} |" for c in report["cases"] if c["status"] != "left out"]
    for case in report["cases"]:
        if case["status"] == "failed":
            lines += [
                "",
                f"## {case['name']}",
                "",
                *(f"    {line[:300]}" for line in case["problem"].splitlines()[:40]),
            ]
    return "\n".join(lines) + "\n"


def write(report, out, name):
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")
    (out / f"{name}.md").write_text(markdown(report))
    print(f"{out / name}.json, .md")


def parsed():
    """The arguments; names of no case are an error."""
    parser = argparse.ArgumentParser()
    parser.add_argument("toy", type=os.path.abspath)
    parser.add_argument("--case")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=max(1, min(16, os.cpu_count() or 1)))
    parser.add_argument("--limit", type=float, default=120, help="seconds a case may take")
    parser.add_argument("--budget", type=float, default=470, help="seconds for all of them")
    parser.add_argument("--out", type=pathlib.Path, default=os.environ.get("OUT") or device.ROOT / "bench/results")
    arguments = parser.parse_args()
    names = [name for name, _ in cases_of_a_device()]
    known = ", ".join(dict.fromkeys(name.split(",")[0] for name in names))
    if arguments.case and arguments.case not in names:
        parser.error(f"--case: there is no `{arguments.case}`, but {known}")
    arguments.names = [name for name in names if arguments.only in name]
    if not arguments.names:
        parser.error(f"--only: no case has `{arguments.only}` in its name; there are {known}")
    return arguments


def main():
    arguments = parsed()
    if arguments.case:
        problem = dict(cases_of_a_device())[arguments.case](arguments.toy)
        print(problem or "")
        return 1 if problem and not problem.startswith("skipped") else 0
    begin = time.monotonic()
    lines, usable = about(arguments.toy)
    print("\n".join(lines), flush=True)
    if not usable:
        return 1
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update({"HOME": folder, "XDG_CACHE_HOME": folder, "TMPDIR": folder, "TOY_FILL_FRESH": "1"})
        cases = run_all(arguments, arguments.names)
    statuses = [case["status"] for case in cases]
    totals = {status: statuses.count(status) for status in ("passed", "failed", "skipped", "left out")}
    report = {"date": f"{datetime.date.today()}", "about": lines, "jobs": arguments.jobs, "totals": totals}
    report |= {"seconds": round(time.monotonic() - begin, 1), "cases": cases}
    write(report, arguments.out, f"device-correct-{report['date']}")
    print(", ".join(f"{n} {status}" for status, n in totals.items()))
    return 1 if totals["failed"] or not totals["passed"] else 0


if __name__ == "__main__":
    if "TOY_CUDA_DRIVER" not in os.environ:
        os.environ["TOY_REAL_DEVICE"] = "1"  # device.run
    sys.exit(main())

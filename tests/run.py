#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests and ends with one line `N passed, N failed, N skipped`.

Kinds: unit tests; programs with `# expect:` lines (tests/e2e, examples), evaluated and compiled at several settings; programs with one
`# error: CODE LINE:COLUMN` line (tests/errors); textual IR with `// RUN:` lines for FileCheck; random programs, evaluator against compiled code;
every operator with every dtype; random subscripts; transforms, roots and residuals; damaged files; every function with every dtype, shape and axis, complex operations and libraries against NumPy; hidden complex products and near misses; every operation's documented example; complex functions against tables; printed values read back; the command line; the prompt in a pseudo-terminal; a real model's first layer; programs on a device that the fake CUDA driver plays.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
LLVM_BIN = "/usr/lib/llvm-22/bin"
CONFIGURATIONS = [["--jit=never"], ["--jit=never", "--naive-matmul"], ["--jit=auto"], ["--jit=always"], ["--jit=always", "-O0"], ["--jit=always", "--dynamic=on"], ["--jit=always", "-O3"],
                  ["--jit=always", "-O2", "--no-fuse"], ["--jit=always", "--unpack"], ["--jit=always", "-O2", "--unpack"]]


class Results:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, name, problem):
        if problem is None:
            self.passed += 1
        elif problem.startswith("skipped"):
            self.skipped += 1
            print(f"SKIP {name}: {problem}")
        else:
            self.failed += 1
            print(f"FAIL {name}\n{problem}")


def run(command, timeout=120, **kwargs):
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, text=True, errors="replace", **kwargs)


def expected_lines(path):
    return [line.split("# expect:", 1)[1].strip() for line in path.read_text().splitlines() if "# expect:" in line]


def check_program(toy, path, flags):
    """Every `# expect:` text is one line of output, in order, blanks at the ends aside."""
    with tempfile.TemporaryDirectory() as folder:
        done = run([toy, *flags, str(path)], cwd=folder)
    if done.returncode != 0:
        return f"exit status {done.returncode}\n{done.stderr}"
    got = [line.strip() for line in done.stdout.splitlines()]
    want = expected_lines(path)
    if not want:
        return "the program expects nothing"
    if got != want:
        return "\n".join(f"  line {i + 1}: expected {w!r}, got {g!r}" for i, (w, g) in enumerate(zip(want + ["<nothing>"] * 99, got + ["<nothing>"] * 99))
                         if w != g and i < max(len(want), len(got)))
    return None


def check_error(toy, path, flags):
    """`# error: CODE LINE:COLUMN` for every error, in order; `# help: TEXT` parts of the message."""
    text = path.read_text()
    want = [line.split("# error:", 1)[1].split() for line in text.splitlines() if "# error:" in line]
    done = run([toy, *flags, str(path)], cwd=path.parent)
    if done.returncode != 1:
        return f"exit status {done.returncode}, expected 1\n{done.stdout}{done.stderr}"
    lines = done.stderr.splitlines()
    got = [(line.split("[", 1)[1].split("]")[0], next((l.rsplit(":", 2)[1:] for l in lines[i:] if "--> " in l), ["?", "?"]))
           for i, line in enumerate(lines) if line.startswith("error[")]
    got = [[code, ":".join(place)] for code, place in got]
    if got != want:
        return f"expected {want}, got {got}\n{done.stderr}"
    for line in text.splitlines():
        if "# help:" in line and line.split("# help:", 1)[1].strip() not in done.stderr:
            return f"no help {line}\n{done.stderr}"
    return None


def check_filecheck(tools, path):
    for line in path.read_text().splitlines():
        if "RUN:" not in line:
            continue
        command = line.split("RUN:", 1)[1].strip()
        for name, tool in {**tools, "FileCheck": f"{LLVM_BIN}/FileCheck", "not ": f"{LLVM_BIN}/not "}.items():
            command = command.replace(f"%{name}" if name in tools else name, str(tool))
        done = run(["bash", "-c", "set -o pipefail; " + command.replace("%s", str(path))])
        if done.returncode != 0:
            return f"{command}\n{done.stdout}{done.stderr}"
    return None


def unit_results(binary, results):
    if not os.path.exists(binary):
        return results.add("unit tests", f"{binary} is missing")
    done = run([binary, "--gtest_brief=1"], timeout=600)
    for line in done.stdout.splitlines():
        if "[  PASSED  ]" in line:
            results.passed += int(line.split("]")[1].split()[0])
        if "[  FAILED  ]" in line and "(" in line:
            results.add(line, done.stdout[-4000:])
    if done.returncode not in (0, 1):
        results.add("unit tests", f"exit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def fuzz_files(binary):
    done = run([binary, "3"])
    return None if done.returncode == 0 else f"exit status {done.returncode}\n{done.stdout}{done.stderr[-3000:]}"


def fuzz_prompt(binary, count):
    programs = [str(p) for folder in ("examples", "tests/e2e", "tests/errors") for p in sorted((ROOT / folder).rglob("*.toy"))]
    with tempfile.TemporaryDirectory() as folder:
        done = run([binary, str(count), "1", *programs], cwd=folder, timeout=600)
    return None if done.returncode == 0 else f"exit status {done.returncode}\n{done.stdout}{done.stderr[-3000:]}"


def fuzz_shapes(binary, count):
    done = run([binary, str(count), "1"], timeout=600)
    return None if done.returncode == 0 else f"exit status {done.returncode}\n{done.stdout}{done.stderr[-3000:]}"


# With --device=fake: tests of what only the host does, by the start of their names.
HOST_ONLY = ("layout conversions", "updates in place", "code cache", "command line", "fused chain", "device: ", "prompt", "sizes: remarks", "Fourier transforms of every length")


def on_fake_device(toy, folder):
    """A program that is toy with --device=cuda on the fake driver; every finding of the driver is an error of the run."""
    wrapper = pathlib.Path(folder, "toy")
    report = "$(mktemp)"
    wrapper.write_text(f"""#!/bin/sh
report={report}
TOY_CUDA_DRIVER={os.path.dirname(toy)}/libtoyfakecuda.so TOY_FAKE_REPORT=$report {toy} --device=cuda --no-cache "$@"
status=$?
grep '^found: ' $report >&2 && status=99
rm -f $report
exit $status
""")
    wrapper.chmod(0o755)
    return str(wrapper)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--toy", required=True)
    parser.add_argument("--toy-opt", required=True)
    parser.add_argument("--unit", required=True)
    parser.add_argument("--random", type=int, default=150, help="number of random programs")
    parser.add_argument("--sanitized", action="store_true", help="the programs are built with sanitizers")
    parser.add_argument("--durations", type=int, default=0, metavar="N", help="the N tests that took longest")
    parser.add_argument("--device", choices=["host", "fake"], default="host", help="fake: everything on a device that tests/cuda plays")
    parser.add_argument("files", nargs="*", help="only these files")
    options = parser.parse_args()
    cache = tempfile.TemporaryDirectory()  # of machine code: what earlier runs left is not used
    os.environ["XDG_CACHE_HOME"] = cache.name
    toy, opt = os.path.abspath(options.toy), os.path.abspath(options.toy_opt)
    if options.device == "fake":
        os.environ["TOY_TEST_DEVICE"] = "fake"
        toy = on_fake_device(toy, cache.name)
    results = Results()
    jobs = []
    pool = concurrent.futures.ThreadPoolExecutor(2)
    only = {pathlib.Path(f).resolve() for f in options.files}

    seconds = {}

    def timed(name, function, *args):
        begin = time.monotonic()
        try:
            return function(*args)
        finally:
            seconds[name] = time.monotonic() - begin

    def add(name, function, *args):
        jobs.append((name, pool.submit(timed, name, function, *args)))

    def submit(name, path, function, *args):
        if not only or path in only:
            add(name, function, *args)

    if not only and options.device == "host":  # which take longest, and use no device
        beside = os.path.dirname(os.path.abspath(options.unit))
        add("random programs of sizes", fuzz_shapes, os.path.join(beside, "fuzz-shapes"), 60 if options.sanitized else 600)
        add("mutated programs at the prompt", fuzz_prompt, os.path.join(beside, "fuzz-prompt"), 1000 if options.sanitized else 10000)
        add("damaged files", fuzz_files, os.path.join(beside, "fuzz-files"))
    for folder in ("tests/e2e", "examples"):
        for path in sorted(p for p in (ROOT / folder).rglob("*.toy") if expected_lines(p)):
            for flags in CONFIGURATIONS:
                submit(f"{path.relative_to(ROOT)} {' '.join(flags)}", path, check_program, toy, path, flags)
    for path in sorted((ROOT / "tests/errors").rglob("*.toy")):
        for flags in (["--jit=never"], ["--jit=always"]):
            submit(f"{path.relative_to(ROOT)} {' '.join(flags)}", path, check_error, toy, path, flags)
    for path in sorted((ROOT / "tests").rglob("*.mlir")):
        submit(str(path.relative_to(ROOT)), path, check_filecheck, {"toy-opt": opt, "toy": toy}, path)
    if not only:
        import cases
        import buckets
        import device
        import dynamic
        import files
        import golden_errors
        import indexing
        import functions
        import op_examples
        import operators
        import libraries
        import matrix
        import numerics
        import prompt
        import recognition
        import scenarios
        import generator.random_programs as random_programs
        every = [*cases.all_cases(), *operators.all_cases(), *recognition.all_cases(), *functions.all_cases(), *scenarios.all_cases(), *libraries.all_cases(), *matrix.all_cases(), *golden_errors.all_cases(), *dynamic.all_cases(), *device.all_cases(), *buckets.all_cases(), *numerics.all_cases(), *prompt.all_cases(), *indexing.all_cases(), *files.all_cases()]
        if options.sanitized:  # several times slower: what is about time, memory, or thousands of programs is left to the other build
            every = [(name, function) for name, function in every if not name.startswith("prompt: ") and "memory" not in name and "placement" not in name and not (name.startswith("matrix: ") and (", refused" in name or ", compiled" in name)) and "sweep" not in name and not name.endswith("c128 --jit=always --unpack")]
        for name, function in every:
            if options.device == "fake" and name.startswith(HOST_ONLY):
                results.add(name, "skipped: about the host")
            else:
                add(name, function, toy)
        for name, function in op_examples.all_cases(opt):
            add(name, function, toy)
        for seed in range(options.random):
            add(f"random program {seed}", random_programs.check, toy, seed)
        unit_results(os.path.abspath(options.unit), results)
    for name, job in jobs:
        try:
            results.add(name, job.result())
        except subprocess.TimeoutExpired as error:
            results.add(name, f"timed out: {error.cmd}")
    for name, took in sorted(seconds.items(), key=lambda item: -item[1])[:options.durations]:
        print(f"{took:7.1f} s  {name}")
    if not only:
        print(f"random programs: {random_programs.recognized['products']} forms recognised, {random_programs.recognized['near misses']} near misses reported")
    print(f"{results.passed} passed, {results.failed} failed, {results.skipped} skipped")
    return 1 if results.failed or not results.passed else 0


if __name__ == "__main__":
    sys.exit(main())

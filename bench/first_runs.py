#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a program costs the first time: seconds of the processor with an empty cache of code, and with what that run
left.

Usage: taskset -c 1 bench/first_runs.py build/release/toy [--rounds=N] [FILE.toy...]

Without files: statements of three kinds, the same in one function, small functions, loops, and the lessons. Each number
is the least of N rounds (5). `made` are the kernels that the first run compiled, `kept` those that were there when they
were met, `ready` those that came with the program."""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def statements(n):
    kinds = ["var a{i} = sin(x + {i}.5);\n", "var b{i} = cumsum(a{j});\n", "print(max(b{j}));\n"]
    return "var x = linspace(0.0, 1.0, 1000);\n" + "".join(kinds[i % 3].format(i=i, j=i - 1) for i in range(n))


def one_function(n):
    lines = "".join(f"  var a{i} = sin(x + {i}.5); var b{i} = cumsum(a{i}); s += max(b{i});\n" for i in range(n // 3))
    return f"def f(x) {{\n  var s = 0.0;\n{lines}  return s;\n}}\nprint(f(linspace(0.0, 1.0, 10000)));\n"


def small_functions(n):
    text = "".join(f"def f{i}(x, y) {{ var t = x * {i}.5 + y; return sum(t * t - y / {i + 1}); }}\n" for i in range(n))
    calls = "".join(f"print(f{i}(x, y));\n" for i in range(n))
    return text + "var x = linspace(0.0, 1.0, 20000); var y = linspace(1.0, 2.0, 20000);\n" + calls


LOOPS = {"sieve": 100, "bubble": 20, "lcs": 20, "floyd": 8, "knapsack": 200, "gauss": 8, "histogram": 100, "heat": 10}


def loops(sizes):
    """Programs of bench/loops in one, with little to do."""
    parts, calls = [], []
    for name, n in sizes.items():
        text = re.sub(r"^#.*\n", "", (ROOT / f"bench/loops/{name}.toy").read_text(encoding="utf-8"), flags=re.M)
        for function in re.findall(r"^def (\w+)\(", text, flags=re.M):
            text = re.sub(rf"\b{function}\(", f"{name}_{function}(", text)
        parts.append(text)
        calls.append(f"print({name}_run({n}));\n")
    return "".join(parts + calls)


def programs():
    for n in (200, 600, 2000):
        yield f"{n} statements", statements(n)
    for n in (200, 600, 2000):
        yield f"a function of {n} statements", one_function(n)
    yield "60 small functions", small_functions(60)
    yield "8 programs of loops", loops(LOOPS)


def seconds(toy, path, cache):
    """Of the processor; and the kernels of the run."""
    stats = cache / "stats.json"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS")}
    done = subprocess.run(
        [toy, f"--stats={stats}", str(path)],
        env={**environment, "XDG_CACHE_HOME": str(cache)},
        cwd=cache,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{path}: {done.stderr}")
    code = json.loads(stats.read_text())["kernel_code"]
    return (
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        code["made"],
        code["kept"],
        code["ready"],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("toy")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    toy = os.path.abspath(options.toy)
    files = [os.path.abspath(f) for f in options.files] or sorted(str(f) for f in ROOT.glob("examples/*.toy"))
    cases = [
        *([] if options.files else programs()),
        *((os.path.basename(f), pathlib.Path(f).read_text()) for f in files),
    ]
    print("| program | lines | first | second | more | made | kept | ready |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, text in cases:
        first, second = [], []
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "program.toy")
                path.write_text(text)
                first.append(seconds(toy, path, pathlib.Path(folder)))
                second.append(seconds(toy, path, pathlib.Path(folder)))
        (a, made, kept, ready), (b, *_) = min(first), min(second)
        row = [name, text.count("\n"), f"{a:.3f}", f"{b:.3f}", f"{a - b:.3f}", made, kept, ready]
        print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What blocks that catch errors, trees and `--check` cost: CPU seconds of the compiler for n of them in a row, and the
time of a turn of a loop beside the same loop without them; what sizes, loops and parameters cost the compiler. The best
of five. Nothing here is a test."""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
from test_compile_effort import nested_loops, slices, wide_functions

TURNS = 100000
LOOPS = {
    "a sum": "t += x[i % 3];",
    "the same in `try`": "try { t += x[i % 3]; } catch e { t = -1.0; }",
    "a `try` that fails": "try { t += x[i % 3 + 3]; } catch e { t += 1.0; }",
    "a struct of two, changed by `with`": "p = with(p, a = p.a + x[i % 3]);",
    "the same by `tree_map`": "p = tree_map((v, w) => v + w, p, q);",
}
LOOP = """
struct P {{ var a; var b; }}
def f(x: f64[3]) {{
  var t = 0.0; var p = P(0.0, 1.0); var q = P(1.0, 0.0);
  for i in range({turns}) {{ {body} }}
  return t + p.a;
}}
var best = inf;
for k in range(5) {{ var b = clock(); check(f([1, 2, 3]) > -inf); best = minimum(best, clock() - b); }}
print(best);
"""
BLOCKS = {
    "`if` in a function": "if x[{i} % 3] > {i} {{ t += sum(x); }} else {{ t -= 1; }}",
    "`try` in a function": "try {{ t += sum(x * {i}); }} catch e {{ t = 0.0; }}",
}


def cpu_seconds(toy, arguments, text):
    """Of a process, without caches."""
    with tempfile.NamedTemporaryFile("w", suffix=".toy") as file:
        file.write(text)
        file.flush()
        best = float("inf")
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([toy, "--no-cache", *arguments, file.name], stdout=subprocess.DEVNULL, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return best


def many(block, n):
    lines = "\n".join("  " + block.format(i=i) for i in range(n))
    return f"def f(x: f64[3]) {{\n  var t = 0.0;\n{lines}\n  return t;\n}}\nprint(f([1, 2, 3]));\n"


def turn(toy, body):
    text = LOOP.format(turns=TURNS, body=body)
    done = subprocess.run([toy, "--threads=1", "-e", text], stdout=subprocess.PIPE, text=True, check=True)
    return 1e9 * float(done.stdout) / TURNS


if __name__ == "__main__":
    toy = os.path.realpath(sys.argv[1])
    print("| in each turn of a loop | ns |\n| --- | --- |")
    for name, body in LOOPS.items():
        print(f"| {name} | {turn(toy, body):.1f} |")
    print("\n| compiled, CPU ms | 25 | 100 | 400 |\n| --- | --- | --- | --- |")
    for name, block in BLOCKS.items():
        for flags, words in (([], ""), (["--check"], ", `--check`")):
            times = [f"{1e3 * cpu_seconds(toy, flags, many(block, n)):.0f}" for n in (25, 100, 400)]
            print(f"| {name}{words} | {' | '.join(times)} |")
    always = ["--jit=always", "--unpack"]
    rows = [
        *((f"{n} slices, up to the IR", ["--emit=toy"], slices(n)) for n in (14, 1000, 4000)),
        *((f"{n} nested loops, up to the IR", ["--emit=toy"], nested_loops(n)) for n in (6, 8, 10, 12)),
        ("64 functions of 17 parameters that read two", always, wide_functions(64, False)),
        ("64 functions of the two parameters that they read", always, wide_functions(64, True)),
    ]
    print("\n| compiled | CPU ms |\n| --- | --- |")
    for name, flags, text in rows:
        print(f"| {name} | {1e3 * cpu_seconds(toy, flags, text):.0f} |")

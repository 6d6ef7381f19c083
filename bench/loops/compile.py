#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to compile functions with loops over elements, in milliseconds of the processor: the least of several
runs of a program that defines and calls one, over the same program with a function that is evaluated. One nest is to
take at most 10, a function of 100 lines of loops at most 40.

    taskset -c 1 bench/loops/compile.py build/release/toy [--rounds=7] [--check]
"""
import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile

NEST = """  for i in range(1, n - 1) {{
    for j in range(1, n - 1) {{
      x[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j]) + {k}.5 * x[i, j - 1];
      if x[i, j] > {k}.0 {{ s += x[i, j]; }}
    }}
  }}
"""
#: nests in a function, and the most milliseconds
FUNCTIONS = {"one nest": (1, 10), "100 lines": (16, 40)}


def program(nests):
    body = "".join(NEST.format(k=k) for k in range(nests))
    return f"def f(n: i64) {{\n  var x = ones(n, n);\n  var s = 0.0;\n{body}  return s;\n}}\nprint(f(8));\n"


def milliseconds(toy, path, flags):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([toy, "--no-cache", "--threads=1", *flags, str(path)], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("toy")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--check", action="store_true", help="fail where a limit is passed")
    options = parser.parse_args()
    late = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.toy")
        for name, (nests, limit) in FUNCTIONS.items():
            path.write_text(program(nests), encoding="utf-8")
            compiled, evaluated = (
                min(milliseconds(options.toy, path, flags) for _ in range(options.rounds))
                for flags in (["--jit=always"], ["--jit=never"])
            )
            print(f"{name}: {compiled - evaluated:.1f} ms, at most {limit}", flush=True)
            late += [name] if compiled - evaluated > limit else []
    if options.check and late:
        sys.exit(f"above their limits: {', '.join(late)}")


if __name__ == "__main__":
    main()

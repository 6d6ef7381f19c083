#!/usr/bin/python3
"""Loops over elements beside the same loops in C: whole-program time of `run(n)`, the least of several runs in turn,
on one pinned thread. A program is NAME.toy with a function `run(n: i64)` and NAME.c with `static double run(long n)`.

    bench/loops/run.py build/release/toy [NAME …] [--flags='--unpack'] [--rounds=7] [--numba=PYTHON]

With a Python that has Numba, times of the programs in numba_peers.py are beside them, over C's, without and with
checks of indices.
"""

import argparse
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
#: the argument of `run`, and the most time over C's
PROGRAMS = {
    "sieve": (2_000_000, 1.10),
    "bubble": (3_000, 1.00),
    "matmul": (256, 1.10),
    "nbody": (40_000, 1.15),
    "mandelbrot": (160, 1.15),
    "collatz": (30_000, 1.10),
    "fib": (30, 1.30),
    "descent": (60_000, 1.15),
    "relaxation": (200, 1.10),
    "histogram": (100_000, 1.15),
    "vectors": (20_000, 1.50),
    "orbit": (100_000, 1.50),
    "gates": (200_000, 1.50),
    "lcs": (700, 1.50),
    "edit": (700, 1.50),
    "knapsack": (10_000, 1.50),
    "chain": (150, 1.50),
    "quick": (20_000, 1.50),
    "heap": (20_000, 1.50),
    "bfs": (300, 1.50),
    "dijkstra": (500, 1.50),
    "floyd": (150, 1.50),
    "gauss": (150, 1.50),
    "heat": (250, 1.50),
    "life": (100, 1.50),
    "dft": (600, 1.50),
    "fftloop": (16_384, 1.50),
    "lorenz": (200_000, 1.50),
    "gcd": (500, 1.50),
    "queens": (8, 1.50),
    "union": (100_000, 1.50),
    "grid": (120, 1.50),
    "neighbours": (400, 1.50),
    "filter": (200, 1.50),
    "seidel": (100, 1.50),
    "levenshtein": (1_000, 1.50),
    "lu": (100, 1.50),
    "pendulum": (50_000, 1.50),
    "bits": (50_000, 1.50),
    "totient": (200_000, 1.50),
    "radix": (50_000, 1.50),
    "merge": (20_000, 1.50),
    "search": (300_000, 1.50),
    "hashing": (50_000, 1.50),
    "newton": (60, 1.50),
    "cholesky": (200, 1.50),
    "depth": (50_000, 1.50),
    "thomas": (5_000, 1.50),
    "increasing": (50_000, 1.50),
    "tuples": (100_000, 1.50),
    "checksum": (300_000, 1.50),
    "stencil": (60, 1.50),
    "tree": (20_000, 1.50),
    "horner": (20_000, 1.50),
    "permute": (8, 1.50),
    "jacobi": (40, 1.50),
    "table": (300, 1.50),
    "simpson": (200, 1.50),
    "waves": (2_000, 1.50),
    "traceback": (500, 1.50),
    "counting": (20_000, 1.50),
    "kmp": (200_000, 1.50),
    "bellman": (3_000, 1.50),
    "kepler": (10_000, 1.50),
    "blur": (120, 1.50),
    "subsets": (22, 1.50),
    "fractal": (100, 1.50),
    "scanning": (200_000, 1.50),
    "insertion": (3_000, 1.50),
    "digits": (100_000, 1.50),
    "rowswap": (400, 1.50),
    "automaton": (400, 1.50),
    "generations": (1_000, 1.50),
    "selection": (3_000, 1.50),
    "prim": (400, 1.50),
    "clamped": (150, 1.50),
    "jordan": (120, 1.50),
    "pivots": (200, 1.50),
    "particles": (1_000, 1.50),
    "rungekutta": (50_000, 1.50),
    "phases": (2_000, 1.50),
    "topological": (10_000, 1.50),
    "flood": (200, 1.50),
    "bilinear": (200, 1.50),
    "runlength": (200_000, 1.50),
    "smoothing": (2_000, 1.50),
    "columns": (120, 1.50),
    "rowsums": (200, 1.50),
    "dots": (150, 1.50),
    "crout": (200, 1.50),
    "band": (300, 1.50),
    "cocktail": (2_000, 1.50),
    "astar": (120, 1.50),
    "durand": (30, 1.50),
    "sparse": (5_000, 1.50),
    "pagerank": (5_000, 1.50),
    "windows": (100_000, 1.50),
    "rot3": (20_000, 1.50),
    "raymarch": (100, 1.50),
    "sudoku": (20, 1.50),
    "viterbi": (4_000, 1.50),
    "perona": (150, 1.50),
    "obst": (150, 1.50),
    "forward": (20_000, 1.50),
    "msort": (10_000, 1.50),
    "knight": (300_000, 1.50),
    "tsp": (12, 1.50),
    "warping": (400, 1.50),
    "alignment": (400, 1.50),
    "hull": (50_000, 1.50),
    "ising": (60, 1.50),
    "appends": (100_000, 1.50),
    "sliding": (600, 1.50),
    "fftslice": (4_096, 1.50),
    "hanoi": (14, 1.50),
    "heights": (200, 1.50),
    "scores": (5_000, 1.50),
    "swarm": (1_001, 1.50),
    "oscillators": (5_000, 1.50),
    "gramschmidt": (100, 1.50),
    "substitution": (200, 1.50),
    "power": (10_000, 1.50),
    "nearest": (2_000, 1.50),
    "classes": (5_000, 1.50),
    "bodies": (2_000, 1.50),
    "rolling": (500, 1.50),
    "kalman": (2_001, 1.50),
    "prefixes": (5_000, 1.50),
    "links": (1_001, 1.50),
    "layers": (1_001, 1.50),
    "springs": (1_000, 1.50),
    "heaptuple": (60, 1.50),
    "events": (20_000, 1.50),
    "adjacency": (5_000, 1.50),
    "sparselists": (2_000, 1.50),
    "listproduct": (100, 1.50),
    "elimination": (100, 1.50),
    "subsetsum": (16, 1.50),
    "lifelist": (60, 1.50),
    "dplist": (400, 1.50),
    "warshall": (80, 1.50),
    "gridcube": (30, 1.50),
    "luperm": (80, 1.50),
    "queenslist": (8, 1.50),
    "stackcalc": (3_000, 1.50),
    "trie": (3_000, 1.50),
    "redblack": (60, 1.50),
    "words": (2_000, 1.50),
    "edges": (500, 1.50),
    "components": (3_000, 1.50),
    "galaxy": (100, 1.50),
    "searchtree": (3_000, 1.50),
    "givens": (60, 1.50),
    "twoopt": (100, 1.50),
    "machine": (5_000, 1.50),
    "simstruct": (64, 1.50),
    "percolate": (30, 1.50),
    "minimax": (0, 1.50),
    "hamilton": (8, 1.50),
    "wordsearch": (20, 1.50),
    "perms": (8, 1.50),
    "coloring": (12, 1.50),
    "pascal": (200, 1.50),
    "knapsacklist": (50, 1.50),
}
COMPILERS = {
    "clang": ["clang-22", "-O3", "-march=native", "-ffp-contract=off", "-fwrapv"],
    "gcc": ["gcc", "-O3", "-march=native", "-ffp-contract=off", "-fwrapv"],
}
#: C's allocator keeps what a call has given up, as this language's does: fresh pages cost more than some programs
KEEPS = {"MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TRIM_THRESHOLD_": "2000000000", "MALLOC_TOP_PAD_": "67108864"}
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <time.h>
%s
static double (*volatile entry)(long) = run; /* what it gives is not known in advance */
int main(int n, char **args) {
  struct timespec a, b;
  double least = 1e9, value = 0;
  for (int i = 0; i < 3; ++i) {
    clock_gettime(CLOCK_MONOTONIC, &a);
    value = entry(atol(args[1]));
    clock_gettime(CLOCK_MONOTONIC, &b);
    double t = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    if (t < least) least = t;
  }
  printf("%%.17g %%.17g\\n", value, least);
}
"""
TOY = """
var n = i64(args[0]);
var value = run(n);
var least = 1e9;
for i in range(3) {
  var start = clock();
  value = run(n);
  least = minimum(least, clock() - start);
}
print(value);
print(least);
"""


def timed(command):
    own = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    environment = own | KEEPS
    done = subprocess.run(["taskset", "-c", "1", *command], capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    value, seconds = done.stdout.split()
    return float(value), float(seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("toy")
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--flags", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--numba", metavar="PYTHON", help="a Python with Numba")
    parser.add_argument("--check", action="store_true", help="fail where a limit is passed")
    options = parser.parse_args()
    ratios, late = [], []
    numba = re.findall(r"def (\w+)\(n\)", (HERE / "numba_peers.py").read_text()) if options.numba else []
    print(
        f"{'program':<12}{'n':>9}{'toy ms':>10}{'clang ms':>10}{'gcc ms':>10}{'of clang':>10}{'limit':>7}"
        + ("   numba checked" if numba else "")
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or PROGRAMS:
            n, limit = PROGRAMS.get(name, (1000, 1.5))
            text = (HERE / f"{name}.c").read_text(encoding="utf-8")
            commands = {}
            for compiler, command in COMPILERS.items():
                source = pathlib.Path(folder, f"{name}-{compiler}.c")
                source.write_text(MAIN % text, encoding="utf-8")
                subprocess.run([*command, str(source), "-o", str(source.with_suffix("")), "-lm"], check=True)
                commands[compiler] = [str(source.with_suffix("")), str(n)]
            script = pathlib.Path(folder, f"{name}.toy")
            script.write_text((HERE / f"{name}.toy").read_text(encoding="utf-8") + TOY, encoding="utf-8")
            commands["toy"] = [
                options.toy,
                "--threads=1",
                "--precision=full",
                *options.flags.split(),
                str(script),
                str(n),
            ]
            for kind in ("plain", "checked") if name in numba else ():
                commands[kind] = [options.numba, str(HERE / "numba_peers.py"), name, str(n), kind]
            best, values = {}, {}
            for _ in range(options.rounds):
                for who, command in commands.items():
                    values[who], seconds = timed(command)
                    best[who] = min(best.get(who, math.inf), seconds)
            if not math.isclose(values["toy"], values["clang"], rel_tol=1e-9):
                sys.exit(f"{name}: {values}")
            ratio = best["toy"] / best["clang"]
            ratios.append(ratio)
            late += [name] if ratio > limit else []
            print(
                f"{name:<12}{n:>9}{1e3 * best['toy']:>10.2f}{1e3 * best['clang']:>10.2f}{1e3 * best['gcc']:>10.2f}"
                f"{ratio:>10.2f}{limit:>7.2f}"
                + "".join(f"{best[kind] / best['clang']:>8.2f}" for kind in ("plain", "checked") if kind in best),
                flush=True,
            )
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    if options.check and late:
        sys.exit(f"above their limits: {', '.join(late)}")


if __name__ == "__main__":
    main()

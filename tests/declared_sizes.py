# SPDX-License-Identifier: Apache-2.0
"""Random programs of functions with declared sizes that call each other, beside a model of them in NumPy: sizes that
fit give the model's numbers, sizes that do not are an error, in every mode. Parameters, results, local variables and
files are declared with `N`, `2*N+1`, `N+M`; there are `where` clauses, structs, functions without declarations,
recursion, loops that run zero times and stores of a tensor into itself. `declared_sizes.py FIRST LAST` prints
programs."""
import os
import re
import sys
import tempfile

import numpy as np

from declared_sizes_generator import FILES, Generator
from programs import of_this_build, run_parts

MODES = [
    "--jit=never",
    "--jit=auto",
    "--jit=always",
    "--jit=always --dynamic=on",
    "--jit=always --unpack",
    "--jit=always --no-fuse",
]


def numbers(line):
    return [int(float(n)) for n in re.findall(r"-?\d+(?:\.\d+)?", line)]


def verdict(done, printed, fails):
    got = [numbers(line) for line in re.sub(r",\n *|\n +", ", ", done.stdout).splitlines()]
    if fails and done.status == 0:
        return "accepted, and must be an error"
    if done.status not in (0, 1) or re.search(r"error\[X|internal error", done.stderr):
        return f"status {done.status}"
    if fails is False and done.status != 0:
        return "refused, and is right"
    if got != printed[: len(got)] or (done.status == 0 and len(got) != len(printed)):
        return f"other numbers: expected {printed}"
    return None


def check(toy, seeds, every_mode):
    """Each program evaluated and in every other mode, or in two of them."""

    def modes(seed):
        return MODES if every_mode else [MODES[0], MODES[1 + seed % 5], MODES[1 + (seed + 2) % 5]]

    made = [Generator(seed).program() for seed in seeds]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for n in range(FILES):
            for dtype, numpy in {"f64": "f8", "c128": "c16", "f32": "f4", "i64": "i8"}.items():
                np.save(os.path.join(folder, f"{dtype}.{n}.npy"), np.arange(n).astype(numpy))
        for seed, (text, printed, fails), results in zip(
            seeds,
            made,
            run_parts(
                toy,
                [(text, modes(seed)) for seed, (text, _, _) in zip(seeds, made)],
                cwd=folder,
                flags=["--timeout=60"],
            ),
        ):
            wrong = [
                (mode, problem, done)
                for mode, done in zip(modes(seed), results)
                if (problem := verdict(done, printed, fails))
            ]
            if wrong:
                problems.append(
                    "\n".join(
                        f"{seed} {mode}: {problem}\n{done.stdout}{done.stderr}" for mode, problem, done in wrong[:2]
                    )
                    + text
                )
    return f"{len(problems)} of {len(made)} programs\n" + "\n\n".join(problems[:5]) if problems else None


def all_cases(shard=50, daily=100, nightly=10000):
    for first in range(0, nightly, shard):
        markers = [] if first in of_this_build(daily) else ["nightly"]
        yield f"programs with declared sizes {first} to {first + shard - 1}", lambda toy, first=first: check(
            toy, range(first, first + shard), first >= daily
        ), *markers


if __name__ == "__main__":
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        print("# -----", number, *Generator(number).program(), sep="\n")

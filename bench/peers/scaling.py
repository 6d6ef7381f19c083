#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a second thread gains: each cell of the bench that takes more than 50 us, Toy on one thread and on two, in
turns, the least of two rounds.

    bench/peers/scaling.py build/release/toy [--only sum] [--dtype f32] [--rows FILE] [--write bench/results/threads.md]

Cells that --rows knows already are not measured again."""
import argparse
import json
import os
import re
import tempfile
import time
from types import SimpleNamespace

import lines
import report
from run import Bench
from table import cells

LEAST = 50e-6


class Toy(Bench):
    """Without peers; on as many CPUs as threads."""

    def __init__(self, options, folder, known):
        self.options, self.folder, self.known = options, folder, known
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}

    def toy(self, work):
        os.sched_setaffinity(0, range(self.options.threads) if self.options.threads > 1 else [1])
        return super().toy(work)


def measure(options, kept):
    folder, known = tempfile.mkdtemp(prefix="toy-threads-"), {}
    one, two = (
        Toy(SimpleNamespace(toy=options.toy, threads=n, seconds=options.seconds), folder, known) for n in (1, 2)
    )
    for case in lines.CASES:
        if not re.search(options.only, case.name):
            continue
        chosen = [c for c in cells(case) if options.dtype in ("", c[0]) and key(case, *c) not in kept]
        work = [(i, case, dtype, c) for i, (dtype, c) in enumerate(chosen)]
        if not work:
            continue
        alone = one.toy(work)
        kept |= {key(*w[1:]): None for w in work}
        work = [w for w in work if (alone[w[0]] or 0) > LEAST]
        pairs = {w[0]: [alone[w[0]], None] for w in work}
        for bench, place in ((two, 1), (one, 0), (two, 1)) if work else ():
            for number, seconds in bench.toy(work).items():
                times = [t for t in (pairs[number][place], seconds) if t is not None]
                pairs[number][place] = min(times, default=None)
        kept |= {key(*w[1:]): pairs[w[0]] for w in work}
        if options.rows:
            with open(options.rows, "w") as file:
                json.dump(kept, file, indent=0)
        for w in work:
            print(key(*w[1:]), *(report.micros(t) for t in pairs[w[0]]), gain(pairs[w[0]]), flush=True)
    return kept


def key(case, dtype, c):
    return f"{case.name} | {dtype} | {c.name}"


def gain(times):
    return report.number(times[0] / times[1]) if all(times) else "fails"


def markdown(rows):
    known = {name: times for name, times in rows.items() if times and all(times)}
    ratios = [one / two for one, two in known.values()]
    out = [
        "# What a second thread gains",
        "",
        f"{time.strftime('%Y-%m-%d')}, {report.machine()}; `bench/peers/scaling.py`. All cells of the bench that take more than",
        "50 us on one thread. The gain is the time of one thread by that of two on two CPUs, which may share a core.",
        "",
        f"{len(ratios)} cells, {sum(r >= 1.5 for r in ratios)} gain 1.5 or more, {sum(r < 0.95 for r in ratios)} are slower,"
        f" geometric mean {report.mean(ratios):.2f}. Below 1.5:",
        "",
        "| line | dtype | class | one thread, us | two, us | gain |",
        "| --- " * 6 + "|",
    ]
    for name, times in sorted(known.items(), key=lambda row: row[1][0] / row[1][1]):
        if times[0] >= 1.5 * times[1]:
            break
        out.append(f"| {name} | " + " | ".join([*map(report.micros, times), gain(times)]) + " |")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("toy", type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=0.01, help="for each cell, thread count and round")
    parser.add_argument("--only", default="")
    parser.add_argument("--dtype", default="")
    parser.add_argument("--rows", help="a file for what is measured, as JSON")
    parser.add_argument("--write", help="a file for the table")
    options = parser.parse_args()
    kept = {}
    if options.rows and os.path.exists(options.rows):
        with open(options.rows) as file:
            kept = json.load(file)
    kept = measure(options, kept)
    if options.write:
        with open(options.write, "w") as file:
            file.write(markdown(kept))


if __name__ == "__main__":
    main()

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a second thread gains: each cell of the bench that takes more than 50 us, Toy on one thread and on two, in
turns, the least of two rounds.

    bench/peers/scaling.py build/release/toy [--only sum] [--dtype f32] [--rows FILE [--below 1.5] [--time 100]]
        [--write bench/results/threads.md]

Cells that --rows knows already are not measured again, but for those whose gain is below --below: a table is measured
in parts, and each time is the least of all rounds. The first part asks the machine what two CPUs can gain at all: two
processes, each on a CPU of its own."""
import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from types import SimpleNamespace

import lines
import report
from run import Bench
from table import cells

LEAST = 50e-6
CALIBRATION = "two processes"
#: what two processes do beside each other, by what it is bound
BOUNDS = {
    "products of 128 by 128, f32": ("ones(128, 128)", "x @ x"),
    "sums of 4 MB, in the last cache": ("ones(1000000)", "x + x"),
    "sums of 64 MB, beyond it": ("ones(16000000)", "x + x"),
}
RATE = """var x = f32({operand}); var warm = {expression}; var least = inf; var begin = clock();
while clock() - begin < {seconds} {{ var start = clock(); warm = {expression}; least = minimum(least, clock() - start); }}
print(least);
"""


class Toy(Bench):
    """Without peers; on as many CPUs as threads."""

    def __init__(self, options, folder, known):
        self.options, self.folder, self.known = options, folder, known
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}

    def toy(self, work):
        os.sched_setaffinity(0, range(self.options.threads) if self.options.threads > 1 else [1])
        return super().toy(work)


def calibrate(options, folder):
    """By bound: seconds of one process alone, and of each of two, by two: what a perfect second thread would take."""
    found, path = {}, f"{folder}/rate.toy"
    for name, (operand, expression) in BOUNDS.items():
        with open(path, "w") as file:
            file.write(RATE.format(operand=operand, expression=expression, seconds=0.5))

        def start(cpu):
            command = ["taskset", "-c", str(cpu), options.toy, "--threads=1", path]
            return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

        def seconds(process):
            return float(process.communicate()[0])

        seconds(start(1))  # its machine code is kept
        alone = min(seconds(start(1)) for _ in range(2))
        both = [seconds(process) for process in [start(0), start(1)]]
        found[name] = [alone, sum(both) / 4]
    return found


def measure(options, kept):
    folder, known, begin = tempfile.mkdtemp(prefix="toy-threads-"), {}, time.time()
    if not kept.get(CALIBRATION):
        kept[CALIBRATION] = calibrate(options, folder)
    one, two = (
        Toy(SimpleNamespace(toy=options.toy, threads=n, seconds=options.seconds), folder, known) for n in (1, 2)
    )
    done = {name for name, times in kept.items() if not (options.below and is_below(times, options.below))}
    for case in lines.CASES:
        if not re.search(options.only, case.name):
            continue
        if options.time and time.time() - begin > options.time:
            print(f"{case.name} and what follows is left", flush=True)
            break
        chosen = [c for c in cells(case) if options.dtype in ("", c[0]) and key(case, *c) not in done]
        work = [(i, case, dtype, c) for i, (dtype, c) in enumerate(chosen)]
        if not work:
            continue
        alone = one.toy(work)
        before = {w[0]: kept.get(key(*w[1:])) or [None, None] for w in work}
        kept |= {key(*w[1:]): kept.get(key(*w[1:])) for w in work}
        work = [w for w in work if (alone[w[0]] or 0) > LEAST]
        pairs = {w[0]: [least(before[w[0]][0], alone[w[0]]), before[w[0]][1]] for w in work}
        for bench, place in ((two, 1), (one, 0), (two, 1)) if work else ():
            for number, seconds in bench.toy(work).items():
                pairs[number][place] = least(pairs[number][place], seconds)
        kept |= {key(*w[1:]): pairs[w[0]] for w in work}
        if options.rows:
            with open(options.rows, "w") as file:
                json.dump(kept, file, indent=0)
        for w in work:
            print(key(*w[1:]), *(report.micros(t) for t in pairs[w[0]]), gain(pairs[w[0]]), flush=True)
    return kept


def least(*times):
    """Of those that are known: what else the machine does only makes slower."""
    return min((t for t in times if t is not None), default=None)


def key(case, dtype, c):
    return f"{case.name} | {dtype} | {c.name}"


def is_below(times, least):
    return isinstance(times, list) and all(times) and times[0] < least * times[1]


def gain(times):
    return report.number(times[0] / times[1]) if all(times) else "fails"


def markdown(rows):
    known = {name: times for name, times in rows.items() if isinstance(times, list) and all(times)}
    ratios = [one / two for one, two in known.values()]
    out = [
        "# What a second thread gains",
        "",
        f"{time.strftime('%Y-%m-%d')}, {report.machine()}; `bench/peers/scaling.py`. All cells of the bench that take more than",
        "50 us on one thread. The gain is the time of one thread by that of two on two CPUs.",
        "",
        "What the machine has for two: the least time of a call in one process, and in two at once, each on a CPU of its",
        "own. More than these gains cannot be had.",
        "",
        "| two processes | alone, us | beside another, us | gain |",
        "| --- " * 4 + "|",
        *(
            f"| {name} | {report.micros(one)} | {report.micros(2 * two)} | {gain([one, two])} |"
            for name, (one, two) in rows[CALIBRATION].items()
        ),
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
    parser.add_argument("--below", type=float, help="cells of --rows that gain less than this, once more")
    parser.add_argument("--time", type=float, help="seconds after which no further line is begun")
    parser.add_argument("--read", action="store_true", help="measure nothing, only write what is in --rows")
    parser.add_argument("--write", help="a file for the table")
    options = parser.parse_args()
    kept = {}
    if options.rows and os.path.exists(options.rows):
        with open(options.rows) as file:
            kept = json.load(file)
    kept = kept if options.read else measure(options, kept)
    if options.write:
        with open(options.write, "w") as file:
            file.write(markdown(kept))


if __name__ == "__main__":
    main()

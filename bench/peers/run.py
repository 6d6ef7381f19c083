#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every built-in function and operator beside NumPy (or SciPy), PyTorch and JAX: one thread, seconds by each one's own
clock, the least of some tens of milliseconds (Toy's after as many calls as it takes until its kernels are optimized),
Toy and its peers in turn; what is below 1.1 is measured a second time. Results are compared.

    python3 -m venv bench/venv && bench/venv/bin/pip install numpy scipy torch jax
    taskset -c 1 bench/peers/run.py build/release/toy [--only sum] [--dtype f32] [--class "axis 0"]
        [--rows FILE [--below 0.7]] [--write bench/results/peers.md]

Toy's calls are made by a loop of compiled code, its peers' by a loop in Python: small cells hold what a call costs
there. What the clock itself costs is taken off. Two hardware threads may share a core: measure with nothing else
running."""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import lines  # noqa: E402
import inputs  # noqa: E402
import report  # noqa: E402
from table import cells, texts  # noqa: E402

import numpy as np  # noqa: E402

#: what kernels compute as quick code before they are optimized (jit/Promotion.cpp), twice; calls until then are not
#: measured, as long as that takes less than so many seconds
QUICK, PATIENCE = 2 * 2**21, 0.25
# `last` outlives the loops and comes from other arguments at first: no call can be left out or taken from another.
TIMED = """def work{i}({names}) {{ return {expression}; }}
def time{i}({names}, {again}) {{
  var least = inf; var start = clock(); var round = 0; var last = work{i}({again});
  while round < {quick} and clock() - start < {patience} {{ last = work{i}({names}); round += 1; }}
  start = clock(); round = 0;
  while (clock() - start < {seconds} or round < 3) and round < 20000 {{
    var begin = clock(); last = work{i}({names}); var end = clock();
    least = minimum(least, end - begin); round += 1;
  }}
  return (least, last);
}}
var (seconds{i}, result{i}) = time{i}({given}, {given_again});
save("{folder}/out{i}.npy", {result});
print({i}, seconds{i} - idle);
"""
#: of Toy's clock: what takes less counts as this
TICK = 1e-8
IDLE = """def idle_clock() {
  var least = inf;
  for i in range(10000) { var begin = clock(); var end = clock(); least = minimum(least, end - begin); }
  return least;
}
var idle = idle_clock();
"""


class Bench:
    def __init__(self, options):
        self.options, self.folder, self.known = options, tempfile.mkdtemp(prefix="toy-peers-"), {}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
        self.peer = subprocess.Popen(
            [options.python, str(HERE / "peer.py"), str(options.threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        self.versions = json.loads(self.peer.stdout.readline())

    def file(self, name, kind, dtype, shape):
        key = (name, kind, dtype, tuple(shape))
        if key not in self.known:
            self.known[key] = f"{self.folder}/{len(self.known)}.npy"
            np.save(self.known[key], inputs.array(*key))
        return self.known[key]

    def files(self, case, dtype, c):
        return {
            name: self.file(name, kind, dtype, c.sizes.get(name, c.sizes.get("*")))
            for name, kind in case.inputs.items()
        }

    def elements(self, case, c):
        """Of the largest operand: about what a call computes."""
        return max((math.prod(c.sizes.get(name, c.sizes.get("*"))) for name in case.inputs), default=1)

    def program(self, work):
        """A script of cells (number, case, dtype, class) that share what they load."""
        text, loaded = IDLE, {}
        for i, case, dtype, c in work:
            given = {}
            for name, path in self.files(case, dtype, c).items():
                key = (path, dtype)
                if key not in loaded:
                    loaded[key] = f"v{len(loaded)}"
                    read = f'load("{path}")'
                    if dtype == "bf16" and not case.inputs[name].startswith(("index", "order")):
                        read = f"bf16({read})"
                    text += f"var {loaded[key]} = {read}; var {loaded[key]}_ = {read};\n"
                given[name] = loaded[key]
            text += TIMED.format(
                i=i,
                names=", ".join(given),
                again=", ".join(f"{n}_" for n in given),
                given=", ".join(given.values()),
                given_again=", ".join(f"{v}_" for v in given.values()),
                expression=texts(case, c)["toy"],
                quick=-(-QUICK // max(self.elements(case, c), 1)),
                patience=PATIENCE,
                seconds=self.options.seconds,
                folder=self.folder,
                result=f"f32(result{i})" if dtype == "bf16" else f"result{i}",
            )
        return text

    def toy(self, work):
        """Seconds by number; a cell that fails ends the script, so that another one goes on behind it."""
        times, work = {}, list(work)
        while work:
            path = f"{self.folder}/cells.toy"
            pathlib.Path(path).write_text(self.program(work))
            command = [self.options.toy, f"--threads={self.options.threads}", path]
            done = subprocess.run(command, capture_output=True, text=True, env=self.environment)
            for line in done.stdout.splitlines():
                number, seconds = line.split()
                times[int(number)] = max(float(seconds), TICK)
            work = [w for w in work if w[0] not in times]
            if work:
                print(f"{work[0][1].name} {work[0][2]} {work[0][3].name} FAILS: {done.stderr[:400]}", file=sys.stderr)
                times[work.pop(0)[0]] = None
        return times

    def peers(self, i, case, dtype, c, has_result):
        known = texts(case, c)
        cell = {
            "inputs": self.files(case, dtype, c),
            "dtype": dtype,
            "halves": [n for n, k in case.inputs.items() if dtype == "bf16" and inputs.dtype_of(k, dtype) == "bf16"],
            "texts": {peer: known[peer] for peer in ("numpy", "torch", "jax") if peer in known},
            "tolerance": case.tolerance,
            "result": f"{self.folder}/out{i}.npy" if has_result else None,
            "seconds": self.options.seconds,
            "verbose": self.options.verbose,
        }
        self.peer.stdin.write(json.dumps(cell) + "\n")
        self.peer.stdin.flush()
        return json.loads(self.peer.stdout.readline())

    def rows(self, work):
        """Measured twice where the first time says that Toy is slower, or nearly: noise only makes slower."""
        ours = self.toy(work)
        rows = {w[0]: self.row(w, ours[w[0]]) for w in work}
        again = [w for w in work if rows[w[0]].ratio is not None and rows[w[0]].ratio < 1.1]
        for w, seconds in ((w, s) for s in [self.toy(again)] for w in again):
            rows[w[0]].merge(self.row(w, seconds[w[0]]))
        return [rows[w[0]] for w in work]

    def row(self, w, seconds):
        answer = self.peers(*w, seconds is not None)
        differs = answer["differs"] if seconds is not None else "fails"
        return report.Row(w[1].name, w[2], w[3].name, seconds, answer["times"], differs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("toy", type=os.path.abspath)
    parser.add_argument("--python", default=str(HERE.parent / "venv/bin/python"), help="one that has the peers")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.02, help="for each cell and peer")
    parser.add_argument("--only", default="", help="lines whose name this expression finds")
    parser.add_argument("--dtype", default="")
    parser.add_argument("--class", dest="shape", default="")
    parser.add_argument("--write", help="a file for the tables")
    parser.add_argument("--rows", help="a file for what is measured, as JSON; what it has of other lines stays")
    parser.add_argument("--below", type=float, help="only cells whose ratio in --rows is below this")
    parser.add_argument("--read", action="store_true", help="measure nothing, only write what is in that file")
    parser.add_argument("--verbose", action="store_true", help="say why a peer has no time")
    options = parser.parse_args()
    rows, versions = report.read(options.rows) if options.read else measure(options)
    if options.write:
        pathlib.Path(options.write).write_text(report.markdown(rows, versions, options.threads))
    print(report.summary(rows))
    sys.exit(any(row.differs for row in rows))


def measure(options):
    bench, rows = Bench(options), []
    kept = report.read(options.rows)[0] if options.rows and os.path.exists(options.rows) else []
    slow = {(r.name, r.dtype, r.shape) for r in kept if options.below and r.ratio and r.ratio < options.below}
    for case in lines.CASES:
        if not re.search(options.only, case.name):
            continue
        chosen = [
            (dtype, c)
            for dtype, c in cells(case)
            if options.dtype in ("", dtype)
            and options.shape in ("", c.name)
            and (not options.below or (case.name, dtype, c.name) in slow)
        ]
        if not chosen:
            continue
        work = [(i, case, dtype, c) for i, (dtype, c) in enumerate(chosen)]
        for row in bench.rows(work):
            rows.append(row)
            print(row.line(), flush=True)
        if options.rows:
            kept = report.replaced(kept, rows)
            report.save(options.rows, kept, bench.versions)
    bench.peer.stdin.close()
    return kept or rows, bench.versions


if __name__ == "__main__":
    main()

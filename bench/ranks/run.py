# SPDX-License-Identifier: Apache-2.0
"""Several processes on this machine: run.py TOY [RANKS]. Sums beside MPI_Allreduce in turn, start-up beside `mpirun
true`, k-means on ranks and threads; then a model of larger machines, which is no measurement. Needs Open MPI and a C
compiler."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from model import NETWORK, SUMMING, fitted, model

HERE = pathlib.Path(__file__).resolve().parent
SIZES = [4, 64, 112, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304]


def environment():
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpirun(ranks, words, binding="core"):
    command = ["mpirun.openmpi", "--oversubscribe", "--bind-to", binding, "-n", str(ranks), *map(str, words)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout


def seconds(run):
    began = time.time()
    run()
    return time.time() - began


def sums(toy, raw, ranks, binding, rounds=5):
    """Bytes to microseconds of MPI and of the language in each of some runs in turn."""
    times = [{n: [] for n in SIZES} for _ in range(2)]
    for _ in range(rounds):
        for found, words in zip(times, ([raw], [toy, HERE / "sums.toy"])):
            for line in mpirun(ranks, [*words, *SIZES], binding).splitlines():
                n, t = line.split()
                found[int(n)].append(float(t))
    return times


def table(mpi, own):
    print("| bytes | MPI_Allreduce, µs: least | median | all_reduce, µs: least | median | ratio: least | median |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for n in SIZES:
        figures = [kind(times[n]) for times in (mpi, own) for kind in (min, statistics.median)]
        ratios = [figures[2] / figures[0], figures[3] / figures[1]]
        print(f"| {n} | " + " | ".join([f"{x:.3f}" for x in figures] + [f"{x:.2f}" for x in ratios]) + " |")


def main():
    toy, ranks = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory() as folder:
        raw = f"{folder}/raw"
        subprocess.run(["cc", "-O2", "-o", raw, HERE / "raw.c", "-ldl"], check=True)
        for binding in ("core", "none"):
            mpi, own = sums(toy, raw, ranks, binding)
            print(
                f"\nMeasured: all_reduce of f32 on {ranks} ranks, --bind-to {binding}, load {os.getloadavg()[0]:.1f}\n"
            )
            table(mpi, own)
    empty = min(seconds(lambda: mpirun(ranks, ["true"])) for _ in range(4))
    begun = min(seconds(lambda: mpirun(ranks, [toy, "-e", "1"])) for _ in range(4))
    alone = min(seconds(lambda: subprocess.run([toy, "-e", "1"], capture_output=True)) for _ in range(4))
    print(
        f"\nMeasured: `mpirun true` {empty * 1e3:.0f} ms, with toy {begun * 1e3:.0f} ms; alone {alone * 1e3:.0f} ms\n"
    )
    program = [HERE.parent.parent / "examples/ranks/kmeans.toy", 400000, 32]
    times = {
        f"{r} ranks, {t} threads": min(
            seconds(lambda: mpirun(r, [toy, f"--threads={t}", *program], "none")) for _ in range(3)
        )
        for r, t in ((1, 1), (1, 2), (2, 1))
    }
    print("Measured: k-means, 400,000 points, 32 centres, s: " + ", ".join(f"{k} {v:.2f}" for k, v in times.items()))
    a, b = fitted({n: min(times) for n, times in own.items()})
    print(
        f"\nFitted to this machine: {a:.2f} µs a message, {b / 1e3:.1f} GB/s. Assumed for a network: {NETWORK[0]} µs,"
    )
    print(f"{NETWORK[1] / 1e3} GB/s; summing {SUMMING / 1e3} GB/s. Model, not measured: all_reduce, µs\n")
    print("| ranks | bytes | ring | parts | doubling | halving |\n| --- | --- | --- | --- | --- | --- |")
    for p, n in ((2, 65536), (16, 16384), (256, 1 << 20), (4096, 256), (4096, 64 << 20)):
        row = model(p, n, *((a, b) if p == 2 else NETWORK))
        print(f"| {p} | {n} | " + " | ".join(f"{row[k]:.0f}" for k in ("ring", "parts", "doubling", "halving")) + " |")


main()

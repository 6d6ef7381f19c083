# SPDX-License-Identifier: Apache-2.0
"""Weak and strong scaling to 4,096 ranks, simulated and not measured: simulation.py [MICROSECONDS GB_PER_SECOND]. Each
step of each rank takes its share of work, a little more or less by chance, and now and then an interruption by the
system; a collective begins when the last rank is there and takes what the model of its opening and its schedule says.
Without arguments the network is assumed."""
import math
import sys

import numpy as np

from model import NETWORK, model, opening

IMBALANCE = 0.02  # standard deviation of a rank's time for a step
INTERRUPTION, INTERVAL, CHANCE = 1e-3, 0.1, 0.01  # seconds; in so many of the intervals
RANKS = (16, 256, 4096)


def slowest(rng, seconds, ranks):
    """When the last of the ranks has done its part of a step, which takes so many seconds."""
    work = seconds * (1 + IMBALANCE * rng.standard_normal(ranks))
    interrupted = rng.binomial(max(1, round(seconds / INTERVAL)), CHANCE * min(1.0, seconds / INTERVAL), ranks)
    return np.max(work + INTERRUPTION * interrupted)


def efficiency(seconds, collective, ranks, steps=2000):
    """The share of the time that is work; `collective` is in seconds."""
    rng = np.random.default_rng(ranks)
    return seconds * steps / sum(slowest(rng, seconds, ranks) + collective for _ in range(steps))


def sum_seconds(ranks, size, network):
    schedules = model(ranks, size, *network)
    return min(schedules["doubling"], schedules["halving"]) * 1e-6


def exchange_seconds(ranks, size, network):
    """all_to_all, one message after the other; `size` bytes to each rank."""
    latency, bandwidth = network
    return (ranks - 1) * (latency + size / bandwidth) * 1e-6


def rows(network):
    centres = 32 * 17 * 4
    for seconds in (0.1, 1e-3):
        for name, doubling in (("", False), (", openings by doubling", True)):
            begin = lambda p: opening(p, *network, doubling) * 1e-6
            found = [efficiency(seconds, begin(p) + sum_seconds(p, centres, network), p) for p in RANKS]
            yield f"k-means, steps of {seconds * 1e3:g} ms, 32 centres{name}", found
    n, speed = 32768, 5e9
    work = 5 * n * n * math.log2(n * n) / speed
    transforms = [
        efficiency(work / p, opening(p, *network) * 1e-6 + exchange_seconds(p, 8 * n * n / p**2, network), p, 400)
        for p in RANKS
    ]
    yield f"FFT {n} x {n} c64, {speed / 1e9:g} GFLOP/s a rank (strong scaling)", transforms


def main():
    network = (float(sys.argv[1]), float(sys.argv[2]) * 1e3) if len(sys.argv) > 2 else NETWORK
    print(f"Simulated, not measured: {network[0]} µs a message, {network[1] / 1e3} GB/s; efficiency\n")
    print("| program | " + " | ".join(f"{p} ranks" for p in RANKS) + " |\n| --- |" + " --- |" * len(RANKS))
    for name, found in rows(network):
        print(f"| {name} | " + " | ".join(f"{e:.2f}" for e in found) + " |")


if __name__ == "__main__":
    main()

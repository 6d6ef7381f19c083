# SPDX-License-Identifier: Apache-2.0
"""What the schedules of a sum over ranks would take by the number of steps and bytes: a model, which measures
nothing."""
import math

import numpy as np

NETWORK = (2.0, 25e3)  # assumed: microseconds a message, bytes a microsecond
SUMMING = 20e3  # assumed: bytes a microsecond


def model(p, n, a, b):
    """Microseconds of the schedules for n bytes on p ranks."""
    steps, share = math.log2(p), (p - 1) / p
    return {
        "ring": 2 * (p - 1) * (a + n / p / b) + share * n / SUMMING,
        "parts": 2 * (p - 1) * a + 2 * share * n / b + share * n / SUMMING,
        "doubling": steps * (a + n / b + n / SUMMING),
        "halving": 2 * steps * a + 2 * share * n / b + share * n / SUMMING,
    }


OPENING, DIGEST, MANY = 128, 16, 64  # bytes of a rank in an opening, and of what digests would take; ranks
SUMMED, HALVED = 256, 256 << 10  # bytes: of sums in openings that cost no more than a message; of those that are halved


def opening(p, a, b, doubling=False):
    """Microseconds of the opening of a collective: all ranks' bytes in log2 p steps; or, above some ranks, a recursive
    doubling of what the headers have in common, which is not what is done."""
    steps = math.log2(p)
    if doubling and p > MANY:
        return steps * (a + DIGEST / b)
    return steps * a + (p - 1) * OPENING / b


def fitted(times):
    """Microseconds a message and bytes a microsecond of sums on two ranks, by least squares of relative errors:
    time = opening + bytes / bandwidth + added bytes / summing, where the bytes that fit into an opening are free, and
    each rank adds half of those that are halved."""
    sizes = np.array(sorted(times), float)
    found = np.array([times[int(n)] for n in sizes])
    small = found[sizes <= SUMMED]
    large = sizes > SUMMED
    added = np.where(sizes >= HALVED, sizes / 2, sizes) / SUMMING
    system = np.stack([np.ones(large.sum()), sizes[large]], 1) / found[large, None]
    (_, slope), *_ = np.linalg.lstsq(system, 1 - (added / found)[large], rcond=None)
    return float(small.mean()), float(1 / max(slope, 1e-9))

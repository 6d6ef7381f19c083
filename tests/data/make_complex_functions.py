#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes complex_functions.txt: correctly rounded values of complex functions, from mpmath. Lines: function, arguments,
value, each part as a hexadecimal float. Points: all over the plane, near zeros and branch points, on both sides of
cuts, on circles where logarithms cancel."""
import math
import pathlib
import random

import mpmath

mpmath.mp.prec = 4000  # parts may be 10^-300 of each other
FUNCTIONS = {
    "exp": mpmath.exp,
    "expm1": lambda z: mpmath.exp(z) - 1,
    "log": mpmath.log,
    "log1p": lambda z: mpmath.log(1 + z),
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "reciprocal": lambda z: 1 / z,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "sign": lambda z: z / abs(z),
    "pow": mpmath.power,
}


def points(rng):
    for _ in range(40):
        yield rng.uniform(-4, 4), rng.uniform(-4, 4)
    for _ in range(25):
        yield (rng.choice([-1, 1]) * 10 ** rng.uniform(-12, 2) for _ in range(2))
    for _ in range(15):  # near the real axis: both sides of the cuts on it
        yield rng.uniform(-3, 3), rng.choice([-1, 1]) * 10 ** rng.uniform(-300, -10)
    for _ in range(15):  # near the imaginary axis
        yield rng.choice([-1, 1]) * 10 ** rng.uniform(-300, -10), rng.uniform(-3, 3)
    for _ in range(10):
        t = rng.uniform(-3.1, 3.1)
        yield math.cos(t) * (1 + rng.uniform(-1, 1) * 1e-9), math.sin(t)
        yield math.cos(t) - 1, math.sin(t)
    for _ in range(10):  # e^x cos y is nearly 1
        y = rng.uniform(-1.5, 1.5)
        yield -math.log(math.cos(y)) * (1 + rng.uniform(-1, 1) * 1e-6), y
    for _ in range(10):  # near the branch points
        yield rng.choice([-1, 1]) * (1 + rng.uniform(-1, 1) * 10 ** rng.uniform(-15, -3)), rng.uniform(
            -1, 1
        ) * 10 ** rng.uniform(-15, -3)


def exponents(rng):
    while True:
        yield rng.uniform(-4, 4), rng.uniform(-4, 4)
        yield rng.uniform(-20, 20), 0.0
        yield rng.randint(-6, 6) + 0.5, 0.0
        yield 0.0, rng.uniform(-9, 9)
        yield tuple(rng.choice([-1, 1]) * 10 ** rng.uniform(-12, 1) for _ in range(2))


def main():
    rng = random.Random(1)
    lines = ["# function re im -> re im; made by make_complex_functions.py with mpmath " + mpmath.__version__]
    for name, function in FUNCTIONS.items():
        for point, exponent in zip(points(rng), exponents(random.Random(2))):
            arguments = [tuple(point), exponent] if name == "pow" else [tuple(point)]
            value = function(*(mpmath.mpc(*argument) for argument in arguments))
            if all(mpmath.mpf("1e-290") < abs(part) < mpmath.mpf("1e290") for part in (value.real, value.imag)):
                lines.append(
                    " ".join(
                        [
                            name,
                            *(
                                part.hex()
                                for argument in [*arguments, (float(value.real), float(value.imag))]
                                for part in argument
                            ),
                        ]
                    )
                )
    (pathlib.Path(__file__).parent / "complex_functions.txt").write_text("\n".join(lines) + "\n")


main()

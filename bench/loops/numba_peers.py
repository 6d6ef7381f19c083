#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The loops of bench/loops as Numba compiles them: functions of one name with NAME.toy. `bench/loops/run.py
--numba=PYTHON` runs this file with a Python that has Numba, once with and once without checks of indices.

    numba_peers.py NAME n {plain|checked}
"""
import sys
import time

import numpy as np
from numba import njit

kind = {"boundscheck": sys.argv[3:] == ["checked"]}


@njit(**kind)
def sieve(n):
    a = np.ones(n + 1, np.bool_)
    a[0] = a[1] = False
    i = 2
    while i * i <= n:
        if a[i]:
            j = i * i
            while j <= n:
                a[j] = False
                j += i
        i += 1
    return np.sum(a)


@njit(**kind)
def numbers(n):
    v = np.zeros(n)
    seed = 12345
    for i in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        v[i] = seed
    return v


@njit(**kind)
def bubble(n):
    v = numbers(n)
    for i in range(n):
        for j in range(n - 1 - i):
            if v[j] > v[j + 1]:
                v[j], v[j + 1] = v[j + 1], v[j]
    return v[0] + v[n // 2] + v[n - 1]


@njit(**kind)
def matmul(n):
    a = np.arange(n * n).astype(np.float64).reshape(n, n) * 0.001
    b = np.ascontiguousarray(a.T)
    c = np.zeros((n, n))
    for i in range(n):
        for k in range(n):
            for j in range(n):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c)


@njit(**kind)
def nbody(n):
    x = np.array(
        [0.0, 4.84143144246472082945e00, 8.34336671824457987790e00, 1.28943695621391310e01, 15.3796971148509165]
    )
    y = np.array(
        [0.0, -1.16032004402742839362, 4.12479856412430479268, -15.1111514016986312525, -25.9193146099879641146]
    )
    z = np.array(
        [0.0, -0.103622044471123109494, -0.403523417114321381185, -0.223307578892655734398, 0.179258772950371181757]
    )
    u = np.array([0.0, 0.606326392995832, -1.01077434617879, 1.08279100644154, 0.979090732243898])
    v = np.array([0.0, 2.81198684491626, 1.82566237123041, 0.868713018169608, 0.594698998647676])
    w = np.array([0.0, -0.02521836165988763, 0.008415761376584154, -0.01083263740136364, -0.03475595555078104])
    m = np.array(
        [39.47841760435743, 0.03769367487038949, 0.011286326131968767, 0.0017237240570597112, 0.0020336868699246304]
    )
    for _ in range(n):
        for i in range(5):
            for j in range(i + 1, 5):
                dx = x[i] - x[j]
                dy = y[i] - y[j]
                dz = z[i] - z[j]
                d2 = dx * dx + dy * dy + dz * dz
                f = 0.01 / (d2 * np.sqrt(d2))
                u[i] -= dx * m[j] * f
                v[i] -= dy * m[j] * f
                w[i] -= dz * m[j] * f
                u[j] += dx * m[i] * f
                v[j] += dy * m[i] * f
                w[j] += dz * m[i] * f
        for i in range(5):
            x[i] += 0.01 * u[i]
            y[i] += 0.01 * v[i]
            z[i] += 0.01 * w[i]
    return x[0] + y[1] + z[2] + x[3] + y[4]


@njit(**kind)
def mandelbrot(n):
    count = 0
    for i in range(n):
        for j in range(n):
            c = complex(-2.0 + 3.0 * j / n, -1.5 + 3.0 * i / n)
            z = 0j
            k = 0
            while k < 200 and z.real * z.real + z.imag * z.imag <= 4.0:
                z = z * z + c
                k += 1
            count += k
    return count


@njit(**kind)
def collatz(n):
    best = 0
    for i in range(1, n):
        x = i
        steps = 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        best = max(best, steps)
    return best


@njit(**kind)
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@njit(**kind)
def sift(h, start, end):
    root = start
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and h[child] < h[child + 1]:
            child += 1
        if h[root] >= h[child]:
            return
        h[root], h[child] = h[child], h[root]
        root = child


@njit(**kind)
def descent(n):
    v = numbers(n)
    for i in range(n // 2 - 1, -1, -1):
        sift(v, i, n)
    for end in range(n - 1, 0, -1):
        v[0], v[end] = v[end], v[0]
        sift(v, 0, end)
    return v[0] + v[n // 2] + v[n - 1]


@njit(**kind)
def relaxation(n):
    d = np.zeros((n, n))
    seed = 12345
    for i in range(n):
        for j in range(n):
            seed = (seed * 1103515245 + 12345) % 2147483648
            d[i, j] = seed % 1000
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return np.sum(d)


@njit(**kind)
def histogram(n):
    h = np.zeros(64, np.int64)
    x = np.arange(n) % 64
    for _ in range(20):
        for i in range(n):
            h[x[i]] += 1
    return h[0] + 2 * h[63]


@njit(**kind)
def rowswap(n):
    a = (np.arange(n * n) * 31 % 1009).astype(np.float64).reshape(n, n)
    seed = 7
    for _ in range(20 * n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        i = seed % n
        j = seed // 65536 % n
        t = a[i].copy()
        a[i] = a[j]
        a[j] = t
    s = 0.0
    for i in range(n):
        s += a[i, i] * i
    return s


@njit(**kind)
def jordan(n):
    a = (np.arange(n * n) * 7919 % 1009).astype(np.float64).reshape(n, n) / 1009.0
    b = np.zeros((n, n))
    for i in range(n):
        a[i, i] += n
        b[i, i] = 1.0
    for k in range(n):
        p = a[k, k]
        a[k] = a[k] / p
        b[k] = b[k] / p
        for i in range(n):
            if i != k:
                f = a[i, k]
                a[i] -= f * a[k]
                b[i] -= f * b[k]
    return b[0, 0] + b[n // 2, n // 3] + b[n - 1, n - 1]


@njit(**kind)
def selection(n):
    a = np.arange(n) * 7919 % 10007
    for i in range(n - 1):
        best = i
        for j in range(i + 1, n):
            if a[j] < a[best]:
                best = j
        a[i], a[best] = a[best], a[i]
    return a[0] + a[n // 2] * 3 + a[n - 1]


@njit(**kind)
def smoothing(n):
    x = (np.arange(n) * 31 % 255).astype(np.float64)
    for _ in range(400):
        y = x.copy()
        y[1:-1] = 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:]
        x = y
    return x[n // 2] + x[n // 3] + x[1]


def main():
    run, n = globals()[sys.argv[1]], int(sys.argv[2])
    value, least = run(n), 1e9
    for _ in range(3):
        start = time.perf_counter()
        value = run(n)
        least = min(least, time.perf_counter() - start)
    print(f"{float(value):.17g} {least:.17g}")


if __name__ == "__main__":
    main()

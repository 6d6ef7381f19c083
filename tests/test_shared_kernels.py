# SPDX-License-Identifier: Apache-2.0
"""Loops over elements are compiled once, whichever statement or program has them."""
import json
import os
import subprocess

import pytest

from programs import is_sanitized

HEAD = "var x = linspace(0.0, 1.0, 1000);\nvar y = x * 2.5 + 0.5;\n"


def kernels(toy, folder, text, *flags):
    """What a program prints, and how many of its kernels were made and were there."""
    return kernel_code(toy, folder, text, *flags)[:3]


def kernel_code(toy, folder, text, *flags):
    """What a program prints, and how many of its kernels were made, were there, and were optimized as it ran."""
    (folder / "p.toy").write_text(text)
    done = subprocess.run(
        [toy, f"--stats={folder}/stats.json", "--jit=always", *flags, f"{folder}/p.toy"],
        env={**os.environ, "XDG_CACHE_HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    code = json.loads((folder / "stats.json").read_text())["kernel_code"]
    return done.stdout, code["made"], code["kept"], code["promoted"]


def statements(n):
    return HEAD + "".join(f"var a{i} = sin(x * {i + 2}.25 - y / {2 * i + 3}.0);\nprint(a{i}[7]);\n" for i in range(n))


@pytest.mark.host
@pytest.mark.sanitized
def test_numbers_do_not_make_kernels(toy, tmp_path):
    one, ten = (kernels(toy, tmp_path, statements(n), "--no-cache")[1] for n in (1, 10))
    assert one == ten


@pytest.mark.host
@pytest.mark.parametrize(
    "usual, other, special",
    [
        ("x * 3.0", "x * 5.0", "x * 0.0"),
        ("x + 3.0", "x + 5.0", "x + 0.0"),
        ("x / 3.0", "x / 5.0", "x / 4.0"),
        ("c128(x) * (3+2i)", "c128(x) * (5-7i)", "c128(x) * 1i"),
        ("i64(x) + 3", "i64(x) + 5", "i64(x) * 8"),
        ("where(x < 0.25, x, 3.0)", "where(x < 0.75, x, 5.0)", "where(x < 0.0, x, 5.0)"),
        ("x ** 3.5", "x ** 3.5 ", "x ** 2.0"),
    ],
)
def test_numbers_that_decide_make_kernels(toy, tmp_path, usual, other, special):
    """0 and 1, factors of integers, exponents, and divisors that multiply instead."""

    def made(a, b):
        program = f"def f(x: f64[N]) {{ return {a}; }}\ndef g(x: f64[N]) {{ return {b}; }}\n"
        return kernels(toy, tmp_path, program + "print(f(ones(5))[3]);\nprint(g(ones(5))[3]);\n", "--no-cache")[1]

    assert made(usual, other) < made(usual, special)


@pytest.mark.host
def test_programs_share_kernels(toy, tmp_path):
    first = kernels(toy, tmp_path, statements(3))
    assert first[1] > 0
    other = kernels(toy, tmp_path, "print(1);\n" + statements(5))
    assert other[1] == 0 and other[2] > 0
    assert other[0] == "1\n" + kernels(toy, tmp_path, statements(5), "--jit=never")[0]
    again = kernels(toy, tmp_path, statements(3))
    assert again == (first[0], 0, 0)  # all code of the program was there


@pytest.mark.host
def test_a_lost_kernel_is_made_again(toy, tmp_path):
    """Whichever file of the cache is lost or damaged."""
    first = kernels(toy, tmp_path, statements(3))[0]
    names = sorted(f.name for f in (tmp_path / "toy").iterdir() if f.name != "key")
    assert len(names) > 2
    for i, name in enumerate(names):
        path = tmp_path / "toy" / name
        path.unlink() if i % 2 else path.write_bytes(path.read_bytes()[:-1] + b"?")
        assert kernels(toy, tmp_path, statements(3))[0] == first


@pytest.mark.host
def test_errors_of_shared_kernels_have_their_own_places(toy, tmp_path):
    text = "var a = i64([1, 2, 3, 0]);\nvar b = i64(zeros(4));\nvar c = b // (a + 5);\nvar d = b // (a - 3);\n"
    (tmp_path / "p.toy").write_text(text)
    done = subprocess.run([toy, "--jit=always", f"{tmp_path}/p.toy"], capture_output=True, text=True)
    assert done.returncode == 1 and "p.toy:4:" in done.stderr and "zero" in done.stderr, done.stderr


@pytest.mark.host
@pytest.mark.parametrize("pair", [("erf(x)", "exp(x)"), ("x * 0.0", "c128(x) * 0.0"), ("sinh(x)", "tanh(x)")])
def test_kernels_that_call_others_are_apart(toy, tmp_path, pair):
    """Only the name of a function tells them from each other."""
    program = "".join(f"def f{i}(x: f64[N]) {{ return {e}; }}\n" for i, e in enumerate(pair)) + (
        "for n in [5, 100000] { var x = linspace(0.0, 1.0, i64(n)); print(sum(f0(x)), sum(f1(x))); }\n"
    )
    compiled, evaluated = (
        kernels(toy, tmp_path, program, "--no-cache", jit)[0] for jit in ("--jit=always", "--jit=never")
    )
    assert compiled == evaluated


# A step of a loop whose turns change the next, for each kind of kernel: maps, folds of all and along axes, places,
# sums that run, pairs, moves.
STEPS = [
    "sin(x) * 0.5 + cos(x) / 3.0 - sum(x) / 1000.0",
    "f64(f32(x) * f32(0.75) + exp(-f32(x)))",
    "x * 0.5 + max(reshape(x, [8, 8]), 0)[argmax(x) % 8] + mean(reshape(x, [8, 8]), 1)[argmin(x) % 8]",
    "real((complex(x, 1 - x) * (0.6+0.8i)) ** 2) + 1e-3 * abs(sum(complex(x, x) / (1+2i)))",
    "0.5 * x[::-1] + 0.1 * (unsqueeze(x, 1) * x).T[3] + 0.05 * stack([x, -x])[1]",
    "f64((i64(x * 1000.0) * 7 + 3) % 1009) / 1009.0 + where(x < 0.5, x, -x) * 0.01",
    "softmax(reshape(x, [8, 8]), 1)[argmax(x) // 8, 0] + x * 0.3 + f64(any(x > 2.0)) - 0.1 * cumsum(x) / 64.0",
]


def hot_loop(step, turns, known):
    sizes = "64" if known else "N"
    other = "" if known else "print(sum(step(ones(128)[:64])), shape(0 * step(linspace(0.0, 1.0, 64))));\n"
    return (
        f"def step(x: f64[{sizes}]) {{ return {step}; }}\n{other}var x = linspace(0.0, 1.0, 64);\nvar all = x;\n"
        f"for t in range({turns}) {{ x = step(x); all = all * 0.5 + x; }}\nprint(x, all);\n"
    )


@pytest.mark.host
@pytest.mark.sanitized
@pytest.mark.parametrize(
    "step, known",
    [(step, known) for i, step in enumerate(STEPS) for known in (0, 1) if (i + known) % 2 == is_sanitized()],
)
def test_what_runs_often_is_optimized_with_the_same_bits(toy, tmp_path, step, known):
    text = hot_loop(step, 60000, known)
    output = kernel_code(toy, tmp_path, text, "--precision=full", "-O2")[0]
    runs = []
    while len(runs) < 4 or (runs[-1][3] and len(runs) < 12):  # a run may end before its kernels
        runs.append(kernel_code(toy, tmp_path, text, "--precision=full"))
    assert {run[0] for run in runs} == {output}
    assert runs[0][1] > 0 and sum(run[3] for run in runs) > 0
    assert runs[-1][1:] == (0, 0, 0)  # the optimized ones were kept
    for flags in (["-O0"], ["--threads=2", "--no-cache"]):
        assert kernel_code(toy, tmp_path, text, "--precision=full", *flags)[0] == output, flags


@pytest.mark.host
def test_what_runs_seldom_is_not(toy, tmp_path):
    assert kernel_code(toy, tmp_path, hot_loop(STEPS[0], 20, True))[3] == 0


@pytest.mark.host
@pytest.mark.parametrize("threads", [1, 2])
def test_one_large_call_waits_for_optimized_code(toy, tmp_path, threads):
    text = (
        "def f(x) { return sin(x) * 0.5 + cos(x); }\nprint(sum(f(arange(9.0))), sum(f(arange(11.0))));\n"
        "var y = f(arange(5000000.0));\nprint(y[0], y[4999999], sum(y));\n"
    )
    output, _, _, promoted = kernel_code(toy, tmp_path, text, "--no-cache", "--dynamic=on", f"--threads={threads}")
    assert promoted > 0
    assert output == kernel_code(toy, tmp_path, text, "--no-cache", "--dynamic=on", "-O2")[0]


@pytest.mark.host
def test_on_one_processor_calls_wait_for_optimized_code(toy, tmp_path):
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        for turns, promoted in ((20, 0), (4000, 1)):
            assert kernel_code(toy, tmp_path, hot_loop("tanh(x) * 0.5", turns, True), "--no-cache")[3] == promoted
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.host
def test_what_an_earlier_program_had_is_optimized_sooner(toy, tmp_path):
    allowed, text = os.sched_getaffinity(0), hot_loop("tanh(x) * 0.5", 1000, True)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        runs = [kernel_code(toy, tmp_path, text) for _ in range(3)]
    finally:
        os.sched_setaffinity(0, allowed)
    assert [run[3] for run in runs] == [0, 1, 0]
    assert len({run[0] for run in runs}) == 1


@pytest.mark.host
def test_programs_end_while_kernels_are_optimized(toy, tmp_path):
    for turns in range(2000, 12000, 400):
        assert kernel_code(toy, tmp_path, hot_loop(STEPS[turns // 400 % len(STEPS)], turns, True), "--no-cache")[0]


@pytest.mark.host
def test_a_lost_optimized_kernel_is_made_again(toy, tmp_path):
    text = hot_loop(STEPS[0], 60000, True)
    runs = [kernel_code(toy, tmp_path, text) for _ in range(3)]
    assert sum(run[3] for run in runs) > 0
    for path in (tmp_path / "toy").iterdir():
        if path.name != "key":
            path.write_bytes(path.read_bytes()[:-1] + b"?")
            assert kernel_code(toy, tmp_path, text)[0] == runs[0][0]

# SPDX-License-Identifier: Apache-2.0
"""Loops over elements are compiled once, whichever statement or program has them."""
import json
import os
import subprocess

import pytest

HEAD = "var x = linspace(0.0, 1.0, 1000);\nvar y = x * 2.5 + 0.5;\n"


def kernels(toy, folder, text, *flags):
    """What a program prints, and how many of its kernels were made and were there."""
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
    return done.stdout, code["made"], code["kept"]


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
        ("x * 3.0", "x * 5.0", "x * 1.0"),
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

# SPDX-License-Identifier: Apache-2.0
"""Registers of a device's kernels by ptxas, without a device: forms of programs, every dtype that they take, last sizes
that signatures give and others. A row for each form: of all its dtypes and sizes the most registers for each
architecture, the share of a multiprocessor's threads that are then resident, spilled bytes and bytes of local memory. A
table in Markdown. Usage: cuda_registers.py TOY [PTXAS]"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]
REGISTERS, THREADS, OF_BLOCK = 65536, 2048, 256  # of a multiprocessor, and of a block
REAL, ALL = ["f32", "f64", "bf16", "f16"], ["f32", "f64", "bf16", "f16", "c64", "c128"]
FORMS = [
    ("chain", "x * y + x / (y + {d}(2)) - x * x", ALL),
    ("chain of integers", "where(x < y, x * y, x - y) + x", ["i32", "i64", "u8"]),
    ("chain with rows and columns", "x * y[0] + y[:, 0][:, newaxis]", ALL),
    ("exp, tanh, erf", "exp(x) * tanh(y) + erf(x)", REAL),
    ("tanh", "tanh(x)", REAL),
    ("erf", "erf(x)", REAL),
    ("log, sqrt, sin, cos", "log(x) * sqrt(y) + sin(x) * cos(y)", REAL),
    ("powers", "x ** y", ALL),
    ("expm1", "expm1(x)", ALL),
    ("six functions", "sin(x) * cos(y) * tan(x) * atan(y) * exp(x) * log(y)", ALL),
    ("exp, sqrt of complex", "exp(x) * sqrt(y)", ["c64", "c128"]),
    ("softmax", "softmax(x, 1)", REAL),
    ("rmsnorm and residual", "var h = x + y; return (rmsnorm(h, 1), h)", REAL),
    ("layernorm", "layernorm(x, 1, 0)", REAL),
    ("rope", "", REAL),  # written by hand
    ("sums of rows", "(sum(x, 1), prod(x * y, 1))", ALL),
    ("sums of columns", "(sum(x, 0), prod(x * y, 0))", ALL),
    ("greatest, positions", "(max(x, 1), min(x, 0), argmax(x, 1), argmin(x, 0))", REAL + ["i32", "u8"]),
    ("transpose", "x.T * {d}(2) + y.T", ALL),
]


def program(body, dtype, last):
    """With a call, whose last size the signature gives or does not."""
    body = body.replace("{d}", dtype)
    body = body if "return" in body else f"return {body}"
    function = f"def f(x: {dtype}[N, {last}], y: {dtype}[N, {last}]) {{ {body}; }}\n"
    return function + f"var x = {dtype}(reshape(arange(1024) % 7, [8, 128]) * 0.1); f(x, x + {dtype}(1));\n"


def texts(toy, name, body, dtype):
    """PTX of a form, for both kinds of sizes."""
    if not body:
        file = f"{name}-{dtype}-sm80.ptx" if dtype == "bf16" else f"{name}-{dtype}.ptx"
        return [pathlib.Path(toy).parent.joinpath("runtime", file).read_text()]
    found = []
    for last in ("128", "M"):
        command = [toy, "--emit=ptx", "-"]
        done = subprocess.run(command, input=program(body, dtype, last), capture_output=True, text=True)
        if done.returncode or ".entry" not in done.stdout:
            raise RuntimeError(f"{name}, {dtype}: {done.stderr}")
        found.append(done.stdout)
    return found


def used(ptxas, text, architecture):
    """Registers, spilled bytes and bytes on the stack of each kernel."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        command = [ptxas, "-v", f"-arch={architecture}", "-o", "/dev/null", file.name]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    for part in said.split("Compiling entry function '")[1:]:
        stack, spills = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill", part).groups()
        yield int(re.search(r"Used (\d+) registers", part)[1]), int(spills), int(stack)


def resident(registers):
    """The share of a multiprocessor's threads that so many registers each allow, by whole blocks."""
    blocks = REGISTERS // (OF_BLOCK * (-(-registers // 8) * 8))
    return min(blocks * OF_BLOCK, THREADS) / THREADS


def rows(toy, ptxas):
    """Of each form and dtype: registers for each architecture, spilled bytes, local memory."""
    for name, body, dtypes in FORMS:
        for dtype in dtypes:
            found = [
                [list(zip(*used(ptxas, text, each))) for each in ARCHITECTURES]
                for text in texts(toy, name, body, dtype)
            ]
            registers = [max(max(of[i][0]) for of in found) for i in range(len(ARCHITECTURES))]
            spills, stack = (max(max(kernels[j]) for of in found for kernels in of) for j in (1, 2))
            yield name, dtype, registers, spills, stack


def main():
    toy, ptxas = os.path.abspath(sys.argv[1]), (sys.argv[2:] or ["ptxas"])[0]
    print("| form | dtype | " + " | ".join(ARCHITECTURES) + " | resident | spilled | local |")
    print(f"| --- | --- |{' ---: |' * (len(ARCHITECTURES) + 3)}")
    for name, dtype, registers, spills, stack in rows(toy, ptxas):
        share = f"{100 * resident(max(registers)):.0f} %"
        print(f"| {name} | {dtype} | {' | '.join(map(str, registers))} | {share} | {spills} | {stack} |", flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""On a CUDA device: Toy and, where the Python that runs this has it, PyTorch, both eager and compiled; milliseconds,
medians. A table in Markdown. Nothing here is a test. Usage: cuda.py TOY"""
import statistics
import subprocess
import sys
import tempfile

try:
    import torch

    if not torch.cuda.is_available():
        torch = None
except ImportError:
    torch = None

ROUNDS = 30
# name: (set-up and function in Toy, the call; bytes that must be read and written, real operations; PyTorch's set-up
# and call)
CHAIN = "({0} * b + a) * conj(b) - a * (0.5+0.5i) + b * b"
CASES = {
    "copy, f32[2^28]": (
        "def f(x: f32[N]) { return x + 0; } var a = zeros([2 ** 28], dtype=f32);",
        "f(a)",
        2**31,
        0,
        "a = torch.zeros(2**28, device='cuda')",
        "a.clone()",
    ),
    "8 operations, c64[2^25]": (
        f"def f(a: c64[N], b: c64[N]) {{ return {CHAIN.format('a')}; }} var a = c64(arange(2 ** 25)) * c64(1e-7i); var b = a + c64(1);",
        "f(a, b)",
        3 * 2**28,
        0,
        "a = torch.arange(2**25, device='cuda') * 1e-7j; b = a + 1",
        "(a * b + a) * b.conj() - a * (0.5+0.5j) + b * b",
    ),
    "rope, f32[1, 8192, 32, 128]": (
        "def f(x: f32[1, 8192, 32, 128], w: c64[8192, 1, 64]) { return reshape(view_as_real(view_as_complex(reshape(x, [1, 8192, 32, 64, 2])) * reshape(w, [8192, 1, 64])), [1, 8192, 32, 128]); }"
        " var a = zeros([1, 8192, 32, 128], dtype=f32) + f32(1); var w = c64(polar(1.0, reshape(arange(8192) * 1.0, [8192, 1, 1]) * reshape(arange(64) * 0.01, [1, 1, 64])));",
        "f(a, w)",
        2 * 2**27,
        0,
        "a = torch.ones(1, 8192, 32, 128, device='cuda'); w = torch.polar(torch.ones(8192, 1, 64, device='cuda'), torch.rand(8192, 1, 64, device='cuda'))",
        "torch.view_as_real(torch.view_as_complex(a.reshape(1, 8192, 32, 64, 2)) * w).flatten(3)",
    ),
    "rope of queries and keys, bf16[1, 8192, 32 and 8, 128]": (
        "def f(q, k, w) { return (rope(q, w), rope(k, w)); } var q = bf16(zeros(1, 8192, 32, 128) + 1); var k = bf16(zeros(1, 8192, 8, 128) + 1);"
        " var w = c64(polar(1.0, reshape(arange(8192) * 1.0, [8192, 1]) * reshape(arange(64) * 0.01, [1, 64])));",
        "f(q, k, w)",
        4 * 8192 * 40 * 128,
        0,
        "q = torch.ones(1, 8192, 32, 128, device='cuda', dtype=torch.bfloat16); k = torch.ones(1, 8192, 8, 128, device='cuda', dtype=torch.bfloat16);"
        " c = torch.rand(8192, 1, 64, device='cuda'); s = torch.rand(8192, 1, 64, device='cuda')",
        "[torch.stack([x[..., 0::2].float() * c - x[..., 1::2].float() * s, x[..., 0::2].float() * s + x[..., 1::2].float() * c], -1).flatten(3).bfloat16() for x in (q, k)]",
    ),
    "softmax, f32[8192, 4096]": (
        "def f(x: f32[N, M]) { return softmax(x, axis=1); } var a = zeros([8192, 4096], dtype=f32) + f32(1);",
        "f(a)",
        2 * 2**27,
        0,
        "a = torch.ones(8192, 4096, device='cuda')",
        "torch.softmax(a, 1)",
    ),
    "rmsnorm and residual, bf16[8192, 4096]": (
        "def f(x: bf16[N, M], r: bf16[N, M]) { var h = x + r; return (rmsnorm(h, 1), h); } var a = bf16(zeros([8192, 4096]) + 1);",
        "f(a, a)",
        4 * 2**26,
        0,
        "a = torch.ones(8192, 4096, device='cuda', dtype=torch.bfloat16)",
        "(lambda h: (torch.nn.functional.rms_norm(h, (4096,)), h))(a + a)",
    ),
    "sum of f64[2^26]": (
        "def f(x: f64[N]) { return x * sum(x); } var a = ones([2 ** 26]);",
        "f(a)",
        3 * 2**29,
        0,
        "a = torch.ones(2**26, device='cuda', dtype=torch.float64)",
        "a * a.sum()",
    ),
    "c64 product, 4096": (
        "def f(a: c64[N, N]) { return a @ a; } var a = c64(ones([4096, 4096]) * 1e-3);",
        "f(a)",
        0,
        8 * 4096**3,
        "a = torch.ones(4096, 4096, device='cuda', dtype=torch.complex64)",
        "a @ a",
    ),
    "c64 product, 4096, high": (
        "def f(a: c64[N, N]) { return a @ a; } var a = c64(ones([4096, 4096]) * 1e-3);",
        "f(a)",
        0,
        8 * 4096**3,
        "a = torch.ones(4096, 4096, device='cuda', dtype=torch.complex64)",
        "a @ a",
    ),
    "64 small operations": (
        "def f(x: f32[256, 256]) { var y = x; for i in range(64) { y = sum(y, axis=1, keepdims=true) * x; } return y; } var a = zeros([256, 256], dtype=f32) + f32(0.004);",
        "f(a)",
        0,
        0,
        "a = torch.full((256, 256), 0.004, device='cuda')",
        "functools.reduce(lambda y, _: y.sum(1, keepdim=True) * a, range(64), a)",
    ),
}


def toy(program, call, flags):
    text = f"{program}\nfor i in range({ROUNDS + 5}) {{ var t = clock(); var y = {call}; print(clock() - t); }}"
    with tempfile.NamedTemporaryFile("w", suffix=".toy") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(
            [sys.argv[1], "--device=cuda", "--jit=always", *flags, file.name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    if done.returncode:
        return None, done.stderr.splitlines()[0] if done.stderr else "failed"
    return statistics.median(float(line) for line in done.stdout.split()[5:]) * 1e3, ""


def peer(program, call, compiled):
    import functools

    scope = {"torch": torch, "functools": functools}
    exec(program, scope)
    exec(f"def f():\n  return {call}", scope)
    f = torch.compile(scope["f"]) if compiled else scope["f"]
    times = []
    for _ in range(ROUNDS + 5):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        f()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[5:])


def main():
    print("| | Toy, ms | GB/s or TFLOP/s | PyTorch, ms | compiled, ms |\n| --- | ---: | ---: | ---: | ---: |")
    for name, (program, call, size, operations, set_up, expression) in CASES.items():
        ms, problem = toy(program, call, ["--matmul-precision=high"] if "high" in name else [])
        if ms is None:
            print(f"| {name} | {problem} | | | |")
            continue
        rate = f"{size / ms / 1e6:.0f} GB/s" if size else f"{operations / ms / 1e9:.1f} TFLOP/s" if operations else ""
        others = []
        for compiled in (False, True):
            try:
                others.append(f"{peer(set_up, expression, compiled):.3f}" if torch else "")
            except Exception as error:  # a form that it does not compile
                others.append(type(error).__name__)
        print(f"| {name} | {ms:.3f} | {rate} | {others[0]} | {others[1]} |", flush=True)
    if torch:
        print(f"\nPyTorch {torch.__version__}, {torch.cuda.get_device_name()}")


if __name__ == "__main__":
    main()

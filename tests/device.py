# SPDX-License-Identifier: Apache-2.0
"""Programs on a CUDA device that does not exist: the fake driver of tests/cuda runs the PTX that toy makes, lets streams run in any order that their
events allow, and reports races, accesses outside of live memory, and misuse. Results have the bits of the host's; transfers, launches, graphs and
allocations are counted; every call of the driver is made to fail once."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EVERYWHERE = ["--device=cuda", "--jit=always", "--no-cache"]
GRAPHS = ["off", "auto", "full", "piecewise"]


class Done:
    def __init__(self, status, stdout, stderr, report, stats):
        self.status, self.stdout, self.stderr, self.report, self.stats = status, stdout, stderr, report, stats

    def problem(self):
        """What went wrong without anybody asking for it."""
        found = [line for line in self.report.splitlines() if line.startswith("found: ")]
        if self.status or found:
            return f"exit status {self.status}\n{self.stderr}" + "\n".join(found)
        return None


def run(toy, args, seed=1, stdin=None, **environment):
    """toy with the fake driver, which lies beside it."""
    driver = pathlib.Path(toy).parent / "libtoyfakecuda.so"
    with tempfile.TemporaryDirectory() as folder:
        report, stats = pathlib.Path(folder, "report"), pathlib.Path(folder, "stats")
        env = {**os.environ, "TOY_CUDA_DRIVER": str(driver), "TOY_FAKE_REPORT": str(report), "TOY_FAKE_SEED": str(seed), **environment}
        if os.environ.get("TOY_REAL_DEVICE"):  # scripts/gpu-check
            del env["TOY_CUDA_DRIVER"]
        done = subprocess.run([toy, f"--stats={stats}", *args], input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, text=True,
                              errors="replace", env=env, cwd=folder)
        return Done(done.returncode, done.stdout, done.stderr, report.read_text() if report.exists() else "",
                    json.loads(stats.read_text()).get("cuda", {}) if stats.exists() else {})


def on_host(toy, args):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([toy, "--device=cpu", "--jit=always", *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, cwd=folder)
    return done.stdout if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr}"


def program(toy, path, flags, seed):
    from run import expected_lines
    done = run(toy, [*EVERYWHERE, *flags, str(path)], seed)
    if problem := done.problem():
        return problem
    got, want = [line.strip() for line in done.stdout.splitlines()], expected_lines(path)
    return None if got == want else f"expected {want}\ngot {got}"


NUMBER = r"-?\d+\.?\d*(?:e[-+]?\d+)?"


def same_bits(toy, text, flags=(), seed=1, tolerance=0.0):
    """The program prints the same, all digits (or up to a relative error of each number), on the host and on the device."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.toy")
        path.write_text(text)
        want = on_host(toy, ["--precision=full", str(path)])
        done = run(toy, [*EVERYWHERE, *flags, "--precision=full", str(path)], seed)
        if problem := done.problem():
            return f"{problem}\n{text}"
        got = done.stdout
        return None if got == want or (tolerance and close(got, want, tolerance)) else f"host:\n{want}\ndevice:\n{got}\n{text}"


def random_program(toy, seed):
    import generator.random_programs as random_programs
    text = random_programs.Generator(seed).program()
    return same_bits(toy, text, [f"--cuda-graphs={GRAPHS[seed % 4]}", *(["--unpack"] if seed % 5 == 4 else []), *(["--no-fuse"] if seed % 3 == 2 else [])], seed, tolerance=1e-13)  # sines of 1e10 are within an ulp


def close(got, want, tolerance):
    """The same text but for the last digits of its numbers."""
    x, y = (list(map(float, re.findall(NUMBER, text))) for text in (got, want))
    return re.sub(NUMBER, "#", got) == re.sub(NUMBER, "#", want) and all(abs(a - b) <= tolerance * max(1, abs(b)) for a, b in zip(x, y))


MATRIX = "def at(n: i64) { return sin(arange(n) * 0.7) + 0.3; }\n"
# What a program prints must agree with NumPy-like expectations on the host, within rounding: products are summed in another order.
PRODUCTS = [f"{MATRIX}var a = {d}(reshape(at(6 * 5), [6, 5])) * {f}; var b = {d}(reshape(at(5 * 4), [5, 4])) * {f}; var c = a @ b; {after}"
            for d, f in (("f32", "1"), ("f64", "1"), ("c64", "complex(f32(0.5), f32(-1))"), ("c128", "(0.5-1i)"))
            for after in ("print(max(abs(c - (b.T @ a.T).T)) < 1e-5, norm(c));", "print(norm(conj(a).T @ c), norm(a @ conj(b)), norm(c @ conj(c).T));",
                          "print(norm(a[1:, ::2] @ b[::2]), norm(a[0] @ b), norm(a @ b[:, 1]), a[0] @ b[:, 1]);",
                          f"var t = real(a[0, 0]); print(norm(t * (a @ b)), norm((3 * a) @ b)); var s = stack(a, a * 2, a - 1); print(norm(s @ b), norm(s @ stack(b, b, b)), norm(stack(a, a) @ b));")]


def product(toy, text):
    for flags in ([], ["--fast-math"]):  # which multiplies scalars into the product
        got, want = run(toy, [*EVERYWHERE, *flags, "-e", text]), on_host(toy, ["-e", text])
        if problem := got.problem():
            return f"{problem}\n{text}"
        if got.stats.get("products", 0) == 0:
            return f"no product ran on the device: {got.stats}\n{text}"
        if not close(got.stdout, want, 2e-5):
            return f"host {want} device {got.stdout}\n{text}"
    return None


def transforms(toy):
    """fft, ifft, rfft, irfft against NumPy: lengths, axes, norms, both precisions, alone and in graphs."""
    import numpy as np
    rng = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        x = {"c128": rng.normal(size=(3, 10, 4)) + 1j * rng.normal(size=(3, 10, 4)), "f64": rng.normal(size=(3, 10, 4))}
        x["c64"], x["f32"] = x["c128"].astype("c8"), x["f64"].astype("f4")
        text, want = "", {}
        for dtype, array in x.items():
            np.save(f"{folder}/{dtype}.npy", array)
            text += f'var {dtype}_ = load("{folder}/{dtype}.npy");\n'
            for axis in (0, 1, 2):
                for norm in ("backward", "ortho", "forward"):
                    for f in ("fft", "ifft") if "c" in dtype else ("rfft", "irfft"):
                        argument = f"rfft({dtype}_, axis={axis})" if f == "irfft" else f"{dtype}_"
                        n = f", n={array.shape[axis]}" if f == "irfft" else ""
                        name = f"{dtype}.{f}.{axis}.{norm}"
                        text += f'save("{folder}/{name}.npy", {f}({argument}{n}, axis={axis}, norm="{norm}"));\n'
                        source = np.fft.rfft(array, axis=axis) if f == "irfft" else array
                        want[name] = getattr(np.fft, f)(source, axis=axis, norm=norm, **({"n": array.shape[axis]} if n else {}))
        path = pathlib.Path(folder, "program.toy")
        path.write_text(text)
        for mode in GRAPHS:
            done = run(toy, [*EVERYWHERE, f"--cuda-graphs={mode}", str(path)])
            if problem := done.problem():
                return problem
            if mode == "off" and done.stats["transforms"] < len(want):
                return f"{done.stats['transforms']} transforms ran on the device, {len(want)} were asked for"
            for name, expected in want.items():
                error = np.abs(np.load(f"{folder}/{name}.npy") - expected).max() / np.abs(expected).max()
                if error > (1e-6 if "c64" in name or "f32" in name else 1e-14):
                    return f"{name}, graphs {mode}: relative error {error}"
    return None


def precisions(toy):
    """ieee keeps all digits of f32, high nearly all of them on units that read 11 digits, medium those 11."""
    import numpy as np
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        a, b = (rng.normal(size=(2, 40, 30)), rng.normal(size=(2, 30, 50)))
        files = {"f": (a[0].astype("f4"), b[0].astype("f4")), "c": ((a[0] + 1j * a[1]).astype("c8"), (b[0] + 1j * b[1]).astype("c8"))}
        for kind, (x, y) in files.items():
            np.save(f"{folder}/x{kind}.npy", x)
            np.save(f"{folder}/y{kind}.npy", y)
            exact = x.astype("c16") @ y.astype("c16")
            for precision, low, high, name in (("ieee", 0, 4e-7, "f32"), ("high", 0, 1e-6, "3xtf32"), ("medium", 5e-5, 2e-3, "tf32")):
                for mode in ("off", "full"):
                    text = f'var x = load("{folder}/x{kind}.npy"); var y = load("{folder}/y{kind}.npy"); for i in range(2) {{ save("{folder}/z.npy", 2 * (x @ y)); }}'
                    done = run(toy, [*EVERYWHERE, f"--matmul-precision={precision}", f"--cuda-graphs={mode}", "-e", text])
                    if problem := done.problem():
                        return problem
                    error = np.linalg.norm(np.load(f"{folder}/z.npy") - 2 * exact) / np.linalg.norm(2 * exact)
                    if not low <= error <= high or done.stats["product_precisions"] != {name: 2}:
                        return f"{kind}, {precision}: error {error}, {done.stats['product_precisions']}"
    return None


def functions(toy):
    """All elementary functions: the same bits for ordinary arguments, the same class and few units in the last place for all others."""
    import numpy as np
    special = [0.0, -0.0, 1, -1, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e-310, 5e-324, 1e308, -1e308, 709.5, 710, -740, -745, -746, 1e22, 2e6, 1e300, 1e-200, 1e200, 2, 3, -2, 0.999999999, 1.0000001, 1e16, 123456789.0, -9.8e239]
    rng = np.random.default_rng(1)
    ordinary = rng.normal(size=300)
    real = imag = np.array(special)
    z = np.empty(len(real) ** 2, complex)
    z.real, z.imag = np.repeat(real, len(imag)), np.tile(imag, len(real))
    one = "exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh sqrt rsqrt reciprocal abs".split()
    with tempfile.TemporaryDirectory() as folder:
        inputs = {"special": real, "ordinary": ordinary, "zspecial": z, "zordinary": ordinary[:150] + 1j * ordinary[150:], "single": ordinary.astype("f4"), "zsingle": (ordinary[:150] + 1j * ordinary[150:]).astype("c8")}
        text = ""
        for name, array in inputs.items():
            np.save(f"{folder}/{name}.npy", array)
            text += f'var {name} = load("{folder}/{name}.npy");\n'
            for f in one + (["sign"] if "z" in name else ["erf"]):
                text += f'save("{folder}/OUT.{name}.{f}.npy", {f}({name}));\n'
        for x in ("special", "ordinary[:40]"):
            for name, e in {"pow": "A ** B", "atan2": "atan2(A, B)", "hypot": "hypot(A, B)", "mod": "A % B", "floordiv": "A // B"}.items():
                text += f'save("{folder}/OUT.{x[:8]}.{name}.npy", {e});\n'.replace("A", f"reshape({x}, [-1, 1])").replace("B", f"reshape({x}, [1, -1])")
        text += f'save("{folder}/OUT.zspecial.div.npy", reshape(zspecial, [-1, 1]) / reshape(zspecial[::9], [1, -1])); save("{folder}/OUT.zspecial.cube.npy", zspecial ** 3);\n'
        text += f'save("{folder}/OUT.zordinary.pow.npy", zordinary ** (1.5+0.25i)); save("{folder}/OUT.special.f16.npy", f32(f16(special))); save("{folder}/OUT.special.bf16.npy", f32(bf16(special)));\n'
        for where in ("cpu", "cuda"):
            path = pathlib.Path(folder, f"{where}.toy")
            path.write_text(text.replace("OUT", where))
            done = run(toy, [f"--device={where}", "--jit=always", "--no-cache", str(path)])
            if problem := done.problem():
                return problem
        problems = []
        for path in sorted(pathlib.Path(folder).glob("cpu.*.npy")):
            a, b = np.load(path), np.load(str(path).replace("/cpu.", "/cuda."))
            kind, name = path.name.split(".")[1:3]
            for x, y in ([(a.real, b.real), (a.imag, b.imag)] if np.iscomplexobj(a) else [(a, b)]):
                with np.errstate(all="ignore"):
                    if "ordinary" in kind or "single" in kind:
                        bad = ~((x == y) | (np.isnan(x) & np.isnan(y))) | (np.signbit(x) != np.signbit(y)) & ~np.isnan(x)
                        if name in ("erf", "hypot"):
                            bad &= np.abs(x - y) > 8 * np.spacing(np.abs(x))
                        if name == "expm1":
                            bad &= np.abs(x - y) > 32 * np.spacing(np.abs(x))
                        if name in ("log", "log1p", "log2", "log10", "pow", "sqrt", "acosh", "atanh"):  # a few arguments are out of the ordinary
                            bad &= np.abs(x - y) > 4 * np.spacing(np.maximum(np.abs(x), 1e-300))
                    else:
                        # infinite results of infinite arguments may have either sign in C99; below 1e-290 only the class counts
                        bad = (np.isnan(x) != np.isnan(y)) | (np.isinf(x) != np.isinf(y)) | (np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) > (128 if name == "expm1" else 16) * np.spacing(np.maximum(np.abs(x), 1e-290))))
                if bad.any():
                    i = tuple(int(k) for k in np.argwhere(bad)[0])
                    problems.append(f"{name} of {kind}: {int(bad.sum())} of {bad.size} differ, first {i}: {x[i]!r} on the host, {y[i]!r} on the device")
        return "\n".join(problems) or None


# Programs, and the bytes that have to move to the device and back. What is made there and printed as a slice moves as that slice.
BIG = "var x = load(\"{data}\");"  # f64[1000, 100], 800000 bytes
N = 800000
TRANSFERS = [
    ("print(shape(x));", 0, 0),
    ("var y = x * 2; print(shape(y));", N, 0),
    ("var y = x * 2;", N, 0),
    ("var y = x * 2; var z = y + x; var w = z * z - y;", N, 0),
    ("var y = x * 2; print(y);", N, 6 * 6 * 8),
    ("var y = sum(x * x); print(y);", N, 8),
    ("var y = sum(x, axis=0); print(y);", N, 800),
    ("var y = sum(x, axis=1); print(y[:5]);", N, 40),
    ("var y = x @ x.T; print(y[0, 0]);", N, 8),
    ("var y = exp(x); print(max(y));", N, 8),
    ("var y = x * 2; print(y[3, 4]);", N, 8),
    ("var y = x; y = y * 2; y = y * 2; y = y * 2; print(y[0, :3]);", N, 24),
    ("var y = reshape(x * 2, [100, 1000]); print(sum(y));", N, 8),
    ("var y = (x * 2).T; print(sum(y));", N, 8),
    ("var y = f32(x); print(sum(y));", N, 4),
    ("var y = complex(x, x * 2); print(sum(abs(y)));", N, 8),
    ("var y = x > 0; print(all(y), any(y));", N, 2),
    ("var y = softmax(x, axis=1); print(sum(y));", N, 8),
    ("def f(a: f64[N, M]) { return a * 2 + 1; } var y = f(x); var z = f(y); print(z[0, 0]);", N, 8),
    ("def f(a: f64[N, M]) { return a * 2 + 1; } for i in range(5) { x = f(x); } print(x[0, 0]);", N, 8),
    ("var y = x * 2; save(\"out.npy\", y);", N, N),
    ("var y = x * 2; print(sum(y)); save(\"out.npy\", y); print(sum(y));", N, N + 16),
    ("var y = zeros([1000, 100]) + 1; print(sum(y));", 0, 8),
    ("var y = ones([1000, 1000]) * 3; var z = y @ y; print(z[0, 0]);", 0, 8),
    ("var y = x[:10]; print(sum(y * y));", N, 8),
    ("var a = x * 1; var b = a; var c = b; print(sum(a + b + c));", N, 8),
    ("var y = argmax(x, axis=1); print(y[:4]);", N, 32),
    ("var y = mean(x, axis=1); var z = x - reshape(y, [1000, 1]); print(sum(z * z));", N, 8),
    ("var y = x * 2; y = x * 3; print(sum(y));", N, 8),
    ("var y = cat(x, x); print(sum(y));", N, 8),
    ("var y = (x + 1i) * (x - 1i); print(sum(y).real);", N, 16),
    ("var y = where(x > 0, x, -x); print(sum(y));", N, 8),
]


def transfers(toy):
    import numpy as np
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.random.default_rng(1).normal(size=(1000, 100)))
        path = pathlib.Path(folder, "program.toy")
        for text, there, back in TRANSFERS:
            path.write_text(BIG.replace("{data}", f"{folder}/x.npy") + "\n" + text)
            done = run(toy, [*EVERYWHERE, str(path)])
            got = (done.stats.get("bytes_to_device", 0), done.stats.get("bytes_to_host", 0))
            if problem := done.problem():
                problems.append(f"{text}: {problem}")
            elif got != (there, back):
                problems.append(f"{text}\n  moved {got} bytes, needed {(there, back)}")
            elif not close(done.stdout, on_host(toy, [str(path)]), 1e-10):
                problems.append(f"{text}\n  {done.stdout}\n  {on_host(toy, [str(path)])}")
    return "\n".join(problems) or None


STEADY = """def f(x: f64[N, N], w: f64[N, N]) {
  var y = tanh(x @ w + 1);
  var z = y * y - x;
  var s = sum(z, axis=1);
  return z / reshape(s, [x.shape[0], 1]) + y @ w;
}
var x = ones([16, 16]) * 0.1; var w = ones([16, 16]) * 0.2;
"""


def graphs(toy):
    """One graph launch a call, nothing allocated once it is warm, and earlier results keep their values."""
    calls = {}
    for n in (4, 12):
        text = STEADY + "".join(f"var y{i % 2} = f(x, w);\n" for i in range(n)) + "print(sum(y0), sum(y1));"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "program.toy")
            path.write_text(text)
            done = run(toy, [*EVERYWHERE, "-i", str(path)], stdin="")
        if problem := done.problem():
            return problem
        calls[n] = done.stats
    grown = {key: calls[12][key] - calls[4][key] for key in ("graph_launches", "launches", "products", "allocations", "graphs", "bytes_to_device", "bytes_to_host")}
    want = {"graph_launches": 8, "launches": 0, "products": 0, "allocations": 0, "graphs": 0, "bytes_to_device": 0, "bytes_to_host": 0}
    if grown != want:
        return f"eight more calls cost {grown}, not {want}"
    for mode in GRAPHS:  # a result is not overwritten by later calls, whatever the sizes
        text = STEADY + "var first = f(x, w); var before = sum(first); for i in range(6) { x = x + 0.01; w = w * 1.01; var y = f(x, w); } print(sum(first) == before, f(ones([3, 3]), ones([3, 3])));"
        if problem := same_bits(toy, text.replace("@", "*"), [f"--cuda-graphs={mode}"]):
            return problem
        # Whole numbers, so that products are exact: sizes change under the same graph, and one value is updated on the host in between.
        text = """def g(x: f64[N, M], y: f64[M, K]) { var z = x @ y; return (z + 1) @ (y.T * 2) - x; }
for n in i64([3, 5, 3, 7, 5]) {
  var x = reshape(arange(n * 4) * 1.0, [n, 4]); var y = reshape(arange(4 * (n + 1)) * 1.0, [4, n + 1]);
  print(g(x, y)); x[0, 0] = 100; print(g(x, y), sum(g(2 * x, y) @ ones([4, 1])), g(x, y) @ conj(y));
  var big = reshape(arange(100 * n * 7) % 11 * 1.0, [100 * n, 7]); print(sum(big * 2 + 1, axis=0), sum(where(big > 3, big, 0)), max(big, axis=1)[:9]);
}"""
        if problem := same_bits(toy, text, [f"--cuda-graphs={mode}"]):
            return problem
        # Rows of several blocks of 8192, which are summed in the host's order.
        text = "var long = sin(reshape(arange(60000) * 0.1, [3, 20000])); print(sum(long, axis=1), sum(long), sum(f32(long), axis=1), max(long), mean(long * 1i));"
        if problem := same_bits(toy, text, [f"--cuda-graphs={mode}"]):
            return problem
        # The same kernels in the same order, but one reads now the one and now the other.
        text = """def g(x: f64[N, M], k) { var p = x * 2; var q = x * 3; var t = p; if k > 0 { t = q; } var r = reshape(sum(t, axis=1), [N, 1]); var u = sum(p, axis=1) - sum(q, axis=1); return r + reshape(u, [N, 1]); }
var x = reshape(arange(12) * 1.0, [3, 4]);
for i in range(8) { print(g(x, i % 2)); }"""
        for seed in range(4):
            if problem := same_bits(toy, text, [f"--cuda-graphs={mode}"], seed):
                return problem
    return None


def overlap(toy):
    """Independent chains of small operations run next to each other, on streams and in graphs; big ones and dependent ones do not. In virtual time."""
    chains = "".join(f"var y{i} = x * {i + 2}.0; for i in range(12) {{ y{i} = reshape(sum(y{i}, axis=1), [N, 1]) * x; }} " for i in range(4))
    one = "var y0 = x; for i in range(48) { y0 = reshape(sum(y0, axis=1), [N, 1]) * x; } "
    for mode in ("off", "full"):
        for body, n, low, high in ((f"{chains} return y0 + y1 + y2 + y3;", 8, 0, 0.5), (f"{one} return y0;", 8, 0.8, 1.01), (f"{chains} return y0 + y1 + y2 + y3;", 200, 0.8 if mode == "off" else 0, 1.01)):
            done = run(toy, [*EVERYWHERE, f"--cuda-graphs={mode}", "-e", f"def f(x: f64[N, M]) {{ {body} }} var x = ones([{n}, {n}]) * 0.01; print(sum(f(x)));"])
            if problem := done.problem():
                return problem
            took, row = (float(re.search(rf"virtual us{k}: (\d+)", done.report).group(1)) for k in ("", " in a row"))
            if not low <= took / row <= high:
                return f"{mode}, {n}: {took} us of {row} in a row\n{body}"
    return None


def no_device(toy):
    """One clear line for each way of having no device; with --device=auto nothing at all."""
    rows = [({"TOY_CUDA_DRIVER": "/nonexistent.so"}, "cannot be opened"), ({"TOY_FAKE_INIT": "100"}, "CUDA_ERROR_NO_DEVICE"), ({"TOY_FAKE_DEVICES": "0"}, "sees none"), ({"TOY_FAKE_VERSION": "11040"}, "CUDA 11.4")]
    for environment, part in rows:
        done = run(toy, ["--device=cuda", "-e", "print(1);"], **environment)
        if done.status != 1 or "error[D0104]" not in done.stderr or part not in done.stderr or len(done.stderr.strip().splitlines()) != 1:
            return f"{environment}: exit status {done.status}\n{done.stderr}"
        done = run(toy, ["--device=auto", "--jit=always", "-e", "print(sum(ones([100000])));"], **environment)
        if done.status or done.stderr or done.stdout != "100000.0\n":
            return f"{environment} with --device=auto: {done.status} {done.stdout}{done.stderr}"
    return None


FAULTY = """var host = [1.0, 2, 3, 4]
var x = arange(3000) * 1.0
var a = x * 2 + 1
var b = reshape(a, [50, 60]) @ reshape(a, [60, 50])
var c = sum(b, axis=1)
var d = sum(abs(fft(c)))
d
print("first", sum(host), 7 * 6)
print("second", sum(host), 7 * 6)
"""
CALLS = ["cuMemAllocAsync", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel", "cuEventCreate", "cuEventRecord", "cuEventQuery", "cuStreamCreate", "cuInit",
         "cuGraphCreate", "cuGraphAddKernelNode", "cuGraphAddChildGraphNode", "cuGraphInstantiate", "cuGraphLaunch", "cuStreamBeginCapture", "cuStreamEndCapture", "cublasGemmStridedBatchedEx", "cufftXtExec", "cuMemFreeAsync", "cuGraphExecKernelNodeSetParams"]


def faults(toy):
    """Each call of the driver fails once, with an error that stays or one that does not: a clear message, the session goes on, and what the host has survives."""
    tried = 0
    for mode in ("off", "full"):
        for function in CALLS:
            for k in (1, 2, 5):
                for code in (2, 700):
                    done = run_prompt(toy, FAULTY, [f"--cuda-graphs={mode}"], TOY_FAKE_FAIL=f"{function}:{k}:{code}")
                    tried += 1
                    if function in ("cuInit", "cuStreamCreate") and k == 1:
                        if done.status != 1 or "D0104" not in done.stderr:
                            return f"{function}: {done.status} {done.stderr}"
                        continue
                    codes = set(re.findall(r"error\[([A-Z]\d+)\]", done.stderr))
                    if any(not c.startswith("R012") and c != "N0101" for c in codes):  # of the device, or of names that a failed line did not define
                        return f"{function}, call {k}, error {code}: unexpected {codes}\n{done.stderr}"
                    if "X000" in done.stderr or done.status not in (0, 1) or "second 10.0 42" not in done.stdout:
                        return f"{function}, call {k}, error {code}, graphs {mode}: the session did not go on\n{done.status}\n{done.stdout}\n{done.stderr}"
                    if "found: " in done.report:
                        return f"{function}, call {k}, error {code}: {done.report}"
    return None if tried > 100 else "too few faults"


def run_prompt(toy, text, flags, **environment):
    """Lines at the prompt, which goes on after errors."""
    driver = pathlib.Path(toy).parent / "libtoyfakecuda.so"
    import pexpect
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report")
        env = {**os.environ, "TOY_CUDA_DRIVER": str(driver), "TOY_FAKE_REPORT": str(report), "TERM": "dumb", "NO_COLOR": "1", "HOME": folder, **environment}
        child = pexpect.spawn(toy, ["--device=cuda", "--jit=always", "--no-cache", "--no-init", *flags], env=env, encoding="utf-8", timeout=60, echo=False, dimensions=(100, 250))
        child.delaybeforesend = None
        out = []
        try:
            child.expect("toy> ")
            for line in text.splitlines():
                child.sendline(line)
                child.expect("toy> ")
                out.append(child.before)
            child.sendline(":quit")
            child.expect(pexpect.EOF)
            child.close()
            status = child.exitstatus
        except (pexpect.EOF, pexpect.TIMEOUT):
            out.append(child.before if isinstance(child.before, str) else "")
            child.close()
            status = child.exitstatus if child.exitstatus is not None else -1
        text = "".join(out)
        return Done(status, text, text, report.read_text() if report.exists() else "", {})


def interrupted(toy):
    """Ctrl-C while a kernel does not end: the prompt is back at once, and what the host has can be worked with."""
    import pexpect
    import time
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "TOY_CUDA_DRIVER": str(pathlib.Path(toy).parent / "libtoyfakecuda.so"), "TERM": "dumb", "NO_COLOR": "1", "HOME": folder, "TOY_FAKE_HANG": "1"}
        child = pexpect.spawn(toy, ["--device=cuda", "--jit=always", "--no-cache", "--no-init"], env=env, encoding="utf-8", timeout=30, echo=False, dimensions=(100, 250))
        child.delaybeforesend = None
        child.expect("toy> ")
        child.sendline("var y = arange(1000) * 2.0")  # comes back before the device is done
        child.expect("toy> ")
        child.sendline("print(sum(y))")
        time.sleep(0.5)
        start = time.monotonic()
        child.sendintr()
        child.expect("toy> ")
        seconds, message = time.monotonic() - start, child.before
        child.sendline('print("still", 6 * 7)')
        child.expect("toy> ")
        alive = "still 42" in child.before
        child.close(force=True)
        return None if "R0114" in message and alive and seconds < 0.5 else f"{seconds} s\n{message}\n{child.before}"


def placement(toy):
    """--device=auto: small work and single passes over the host's data stay there, products and long regions go to the device."""
    rows = [("var y = ones([100]) * 2; print(sum(y));", False), ("var x = load(\"x.npy\"); print(sum(x + 1));", False),
            ("var x = ones([900, 900]); for i in range(40) { x = x * 0.5 + 1; } print(x[0, 0]);", True)]
    import numpy as np
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.ones((1000, 300)))
        for text, wanted in rows:
            done = run(toy, ["--device=auto", "--jit=always", "--no-cache", "-e", text.replace("x.npy", f"{folder}/x.npy")])
            if problem := done.problem():
                return problem
            if bool(done.stats.get("launches", 0)) != wanted:
                return f"{text}: {done.stats}"
    return None


def memory(toy):
    """Copies of what the host has make room; when even that is not enough, the message says so and the session goes on."""
    import numpy as np
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.ones((1000, 100)))
        loads = "".join(f"var x{i} = load(\"{folder}/x.npy\"); var s{i} = sum(x{i} * 2);\n" for i in range(6)) + "print(s0, s5, sum(x0 * 2));"
        path = pathlib.Path(folder, "program.toy")
        path.write_text(loads)
        done = run(toy, [*EVERYWHERE, str(path)], TOY_FAKE_MEMORY=str(4 * N))
        if problem := done.problem():
            return problem
        if done.stdout != "200000.0 200000.0 200000.0\n":
            return done.stdout
        path.write_text(f"var x = load(\"{folder}/x.npy\"); var y = x * 2; print(sum(y));")
        done = run(toy, [*EVERYWHERE, str(path)], TOY_FAKE_MEMORY=str(N // 2))
        if done.status != 1 or "error[R0122]" not in done.stderr or "found" in done.report:
            return f"{done.status} {done.stderr}{done.report}"
        # What operations that are still to run read does not make room.
        path.write_text(f"def f(a: f64[N, M]) {{ return (a * 2, a * 3); }} var x = load(\"{folder}/x.npy\"); var (b, c) = f(x); print(sum(b), sum(c));")
        done = run(toy, [*EVERYWHERE, str(path)], TOY_FAKE_MEMORY=str(N * 5 // 2))
        return None if done.status == 1 and "error[R0122]" in done.stderr and "found" not in done.report else f"{done.status} {done.stderr}{done.report}"


def assembles(toy):
    """The kernels of all examples go through ptxas, where it is installed, for several architectures; none spills registers."""
    ptxas = shutil.which("ptxas") or ("/usr/local/cuda/bin/ptxas" if os.path.exists("/usr/local/cuda/bin/ptxas") else None)
    if not ptxas:
        return "skipped: ptxas is not installed"
    files = 0
    for path in [*sorted((ROOT / "tests/e2e").glob("*.toy")), *sorted((ROOT / "examples").glob("0*.toy"))]:
        done = subprocess.run([toy, "--emit=ptx", str(path)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        if done.returncode or ".entry" not in done.stdout:  # variables that only a run knows
            continue
        files += 1
        for architecture in ("sm_80", "sm_90", "sm_100"):
            with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
                file.write(done.stdout)
                file.flush()
                out = subprocess.run([ptxas, "-v", f"-arch={architecture}", "-o", "/dev/null", file.name], capture_output=True, text=True, timeout=300)
            spills = [line for line in out.stderr.splitlines() if "spill" in line and "0 bytes spill stores, 0 bytes spill loads" not in line]
            if out.returncode or spills:
                return f"{path} for {architecture}: {out.stderr[-1500:] if out.returncode else spills}"
    return None if files >= 8 else f"only {files} programs have kernels"


def all_cases(random=60):
    rows = []
    programs = sorted(p for folder in ("tests/e2e", "examples") for p in (ROOT / folder).glob("*.toy"))
    from run import expected_lines
    for i, path in enumerate(p for p in programs if expected_lines(p)):
        for j, mode in enumerate(GRAPHS):
            flags = [f"--cuda-graphs={mode}", *(["--unpack"] if (i + j) % 4 == 3 else [])]
            rows.append((f"device: {path.name} {' '.join(flags)}", lambda toy, path=path, flags=flags, seed=i: program(toy, path, flags, seed)))
    rows += [(f"device: random program {seed}", lambda toy, seed=seed: random_program(toy, seed)) for seed in range(random)]
    rows += [(f"device: product {i}", lambda toy, text=text: product(toy, text)) for i, text in enumerate(PRODUCTS)]
    rows += [("device: functions", functions), ("device: transforms", transforms), ("device: precisions", precisions), ("device: transfers", transfers), ("device: graphs", graphs), ("device: overlap", overlap), ("device: none", no_device), ("device: faults", faults), ("device: memory", memory), ("device: interrupted", interrupted), ("device: placement", placement), ("device: ptxas", assembles)]
    return rows


if __name__ == "__main__":  # some cases, or random programs: device.py TOY [SUBSTRING | FIRST LAST]
    toy = os.path.abspath(sys.argv[1])
    sys.path.insert(0, str(ROOT / "tests"))
    cases = [(f"random {seed}", lambda toy, seed=seed: random_program(toy, seed)) for seed in range(int(sys.argv[2]), int(sys.argv[3]))] if len(sys.argv) > 3 else [c for c in all_cases() if len(sys.argv) < 3 or sys.argv[2] in c[0]]
    failed = 0
    for name, function in cases:
        if problem := function(toy):
            failed += 1
            print(f"FAIL {name}\n{problem[:3000]}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")

# SPDX-License-Identifier: Apache-2.0
"""What a device computes: products, transforms, elementary functions, rows, beside the host and NumPy."""
import pathlib
import tempfile

from device import EVERYWHERE, GRAPHS, close, on_host, run, same_bits

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


# Rows from reductions of the same rows are one kernel, also of halves; what else reads a part, or reads it elsewhere, needs the stored value.
ROWS = [
    ("f32", "softmax(x)", 1), ("bf16", "softmax(x)", 1), ("f32", "rmsnorm(x, 2)", 1), ("f64", "layernorm(x, 3, 0.5)", 1), ("c64", "x / (sum(abs(x), -1, true) + 1) - mean(x, -1, true)", 1), ("f64", "x - max(x, 1, true) * min(x, -1, true)", 1),
    ("f64", "softmax(softmax(x) * x)", 1), ("f32", "softmax(x, 1)", 1), ("f64", "(x - mean(x, -1, true)) * flip(x, 1)", 1), ("f64", "x / flip(sum(exp(x), 1, true), 0)", 2), ("f64", "(x / sum(x, 1, true), sum(x, 1, true))", 2), ("f64", "x - argmax(x, 1, true)", 3), ("f64", "softmax(x, 0)", 4),
]


def rows(toy):
    """The host's bits, and the number of kernels that a call needs."""
    for dtype, body, kernels in ROWS:
        for columns, declared in ((12, 12), (33, "M"), (1, "M"), *([(8200, "M")] if "rms" in body else []), (256, 256)):
            lead = f"def f(x: {dtype}[N, {declared}]) {{ return {body}; }}\n"
            value = f"{dtype}(reshape(sin(arange(5 * {columns}) * 0.7), [5, {columns}]))" + (" * c64(1 + 0.5i)" if dtype == "c64" else "")
            if problem := same_bits(toy, f"{lead}print(f({value})); print(f(({value})[1:4]));", [f"--cuda-graphs={GRAPHS[columns % 4]}"]):
                return problem
        launches = []
        for calls in (1, 4):
            done = run(toy, [*EVERYWHERE, "--cuda-graphs=off", "-e", f"{lead}var x = {value};" + "".join(f"var r{i} = f(x);" for i in range(calls))])
            if problem := done.problem():
                return problem
            launches.append(done.stats["launches"])
        if launches[1] - launches[0] != 3 * kernels:
            return f"{body}: {(launches[1] - launches[0]) / 3} kernels a call, not {kernels}"
    return None


def long_rows(toy):
    """A few long rows are a kernel for each step, with the host's bits as well; short ones are one."""
    lead, launches = "def f(x: f32[N, M]) { return softmax(x, 1); }\n", {}
    for shape in ("2, 8200", "2, 8100"):
        value = f"f32(reshape(sin(arange({shape.replace(',', ' *')}) * 0.7), [{shape}]))"
        if problem := same_bits(toy, f"{lead}var r = f({value}); print(r[:, 0:40], sum(r, 1));", ["--cuda-graphs=off"]):
            return problem
        done = run(toy, [*EVERYWHERE, "--cuda-graphs=off", "-e", f"{lead}var r = f({value});"])
        launches[shape] = done.stats["launches"]
    return None if launches["2, 8200"] == launches["2, 8100"] + 3 else f"{launches}"


def all_cases():
    return [*((f"device: product {i}", lambda toy, text=text: product(toy, text)) for i, text in enumerate(PRODUCTS)), ("device: functions", functions), ("device: transforms", transforms),
            ("device: precisions", precisions), ("device: rows", rows), ("device: long rows", long_rows)]

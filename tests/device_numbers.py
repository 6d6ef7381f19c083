# SPDX-License-Identifier: Apache-2.0
"""What a device computes: products, transforms, elementary functions, rows, beside the host and NumPy."""
import pathlib
import tempfile

from device import EVERYWHERE, GRAPHS, close, on_host, run, same_bits

MATRIX = "def at(n: i64) { return sin(arange(n) * 0.7) + 0.3; }\n"
# What a program prints must agree with NumPy-like expectations on the host, within rounding: products are summed in
# another order.
PRODUCTS = [
    f"{MATRIX}var a = {d}(reshape(at(6 * 5), [6, 5])) * {f}; var b = {d}(reshape(at(5 * 4), [5, 4])) * {f}; var c = a @"
    f" b; {after}"
    for d, f in (("f32", "1"), ("f64", "1"), ("c64", "complex(f32(0.5), f32(-1))"), ("c128", "(0.5-1i)"))
    for after in (
        "print(max(abs(c - (b.T @ a.T).T)) < 1e-5, norm(c));",
        "print(conj(a).T @ c, norm(a @ conj(b)), norm(c @ conj(c).T));",
        (
            "print(norm(a[:, ::-1] @ b[::-1]), norm(conj(a) @ conj(b)), norm(stack(a, a)[::-1, ::2] @ stack(b,"
            " conj(b))[:, ::-1, ::3]));"
        ),
        "print(norm(a[1:, ::2] @ b[::2]), norm(a[0] @ b), norm(a @ b[:, 1]), a[0] @ b[:, 1]);",
        (
            f"var t = real(a[0, 0]); print(norm(t * (a @ b)), norm((3 * a) @ b)); var s = stack(a, a * 2, a - 1);"
            f" print(norm(s @ b), norm(s @ stack(b, b, b)), norm(stack(a, a) @ b));"
        ),
    )
]


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


def parts_and_halves(toy, dtype):
    """Recognized products of parts run on the device by every strategy, halves are read as they are; nothing comes to
    the host but what is printed."""
    lead = (
        MATRIX
        + "var a = {d}(reshape(at(30), [6, 5])); var b = {d}(reshape(at(30) + 1, [6, 5])); var c = {d}(reshape(at(20),"
        " [5, 4])); var e = {d}(reshape(at(20) - 1, [5, 4]));\n"
    )
    if dtype in ("f32", "f64"):
        for f in (
            "(a @ c - b @ d, a @ d + b @ c)",
            "(a @ c + b @ d, b @ c - a @ d)",
            "(a @ c + b @ d, a @ d - b @ c)",
            "(a @ c - b @ d, -(a @ d) - b @ c)",
            "(a.T.T @ c - b @ d, a @ d + b @ c)",
        ):
            text = (
                lead.replace("{d}", dtype)
                + f"def f(a, b, c, d) {{ return {f}; }}\nfor i in range(3) {{ var (x, y) = f(a * 2, b, c * i, e);"
                " print(sum(x), sum(y * y)); }"
            )
            want = on_host(toy, ["-e", text])
            for i, (products, *flags) in enumerate(
                (
                    (4, "--complex-matmul=four-real"),
                    (4,),
                    (4, "--matmul-precision=high"),
                    (3, "--complex-matmul=gauss"),
                    (1, "--complex-matmul=native"),
                )
            ):
                done = run(toy, [*EVERYWHERE, *flags, f"--cuda-graphs={GRAPHS[i % 4]}", "-e", text])
                if problem := done.problem():
                    return f"{problem}\n{text}"
                if (
                    sum(done.stats["product_precisions"].values()) != 3 * (4 if ".T.T" in f else products)
                    or done.stats["bytes_to_host"] > 64
                    or not close(done.stdout, want, 2e-5)
                ):
                    return f"{done.stats}\n{done.stdout}{want}{text}"
    else:
        for product, mixed in (
            ("a @ c", 0),
            ("a @ e", 0),
            ("c.T @ a.T", 0),
            ("a[1:, :3] @ c[:3]", 0),
            ("stack(a, b) @ c", 0),
            ("a[0] @ c", 0),
            ("f32(a) @ f32(c)", 0),
            ("a @ (f32(c) + 1)", 1),
            ("a @ c[::-1][::-1]", 0),
        ):
            text = (
                lead.replace("{d}", dtype)
                + f"def f(a, b, c, e) {{ return f32({product}); }}\nfor i in range(3) {{ print(sum(f(a, b, c, e *"
                f" {dtype}(i)))); }}"
            )
            done = run(toy, [*EVERYWHERE, "-e", text])
            if problem := done.problem():
                return f"{problem}\n{text}"
            if list(done.stats["product_precisions"]) != (["f32"] if mixed else [dtype]) or not close(
                done.stdout, on_host(toy, ["-e", text]), 1e-2
            ):
                return f"{done.stats}\n{done.stdout}{on_host(toy, ['-e', text])}{text}"
    return None


def transforms(toy, mode):
    """fft, ifft, rfft, irfft against NumPy: lengths, axes, norms, both precisions, alone or in graphs."""
    import numpy as np

    rng = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        sizes = (4, 7, 5)  # odd ones: parts of a tensor are not aligned as complex elements are
        x = {"c128": rng.normal(size=sizes) + 1j * rng.normal(size=sizes), "f64": rng.normal(size=sizes)}
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
                        want[name] = getattr(np.fft, f)(
                            source, axis=axis, norm=norm, **({"n": array.shape[axis]} if n else {})
                        )
        path = pathlib.Path(folder, "program.toy")
        path.write_text(text)
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
        files = {
            "f": (a[0].astype("f4"), b[0].astype("f4")),
            "c": ((a[0] + 1j * a[1]).astype("c8"), (b[0] + 1j * b[1]).astype("c8")),
        }
        for kind, (x, y) in files.items():
            np.save(f"{folder}/x{kind}.npy", x)
            np.save(f"{folder}/y{kind}.npy", y)
            exact = x.astype("c16") @ y.astype("c16")
            for precision, low, high, name in (
                ("ieee", 0, 4e-7, "f32"),
                ("high", 0, 1e-6, "3xtf32"),
                ("medium", 5e-5, 2e-3, "tf32"),
            ):
                for mode in ("off", "full"):
                    text = (
                        f'var x = load("{folder}/x{kind}.npy"); var y = load("{folder}/y{kind}.npy"); for i in range(2)'
                        f' {{ save("{folder}/z.npy", 2 * (x @ y)); }}'
                    )
                    done = run(
                        toy, [*EVERYWHERE, f"--matmul-precision={precision}", f"--cuda-graphs={mode}", "-e", text]
                    )
                    if problem := done.problem():
                        return problem
                    error = np.linalg.norm(np.load(f"{folder}/z.npy") - 2 * exact) / np.linalg.norm(2 * exact)
                    if not low <= error <= high or done.stats["product_precisions"] != {name: 2}:
                        return f"{kind}, {precision}: error {error}, {done.stats['product_precisions']}"
    return None


def infinities(toy):
    """Products of infinities and NaN have the classes of the host's at every precision; complex ones that are not
    finite may be NaN, as cuBLAS multiplies the sum by 1 + 0i."""
    for a, b in (
        ("f32([[inf, 1], [2, 3]])", "f32([[1, 0.3], [4, 1]])"),
        ("f32([[0.1, 1], [2, 3.3]])", "f32([[1, -inf], [4.7, 1]])"),
        ("f32([[nan, 1], [2, 3.3]])", "f32([[1, inf], [0, 1]])"),
        ("c64([[inf, 1], [0.1i, 0.3]])", "c64([[1 + 0.3i, 0.5], [4, 1]])"),
    ):
        text = f"var y = {a} @ {b}; print(isfinite(y){', isinf(y), isnan(y)' if a[0] == 'f' else ''});"
        for precision in ("ieee", "high", "medium"):
            if problem := same_bits(toy, text, [f"--matmul-precision={precision}"]):
                return f"{precision}: {problem}"
    return None


FEW_UNITS = dict.fromkeys("log log1p log2 log10 pow sqrt acosh atanh".split(), 4)  # of arguments out of the ordinary
FEW_UNITS |= dict.fromkeys(["erf", "exp2", "hypot"], 8) | {"expm1": 32}


def other_bits(name, x, y):
    """Where ordinary arguments have other results, but for few units in the last place of some functions."""
    import numpy as np

    bad = ~((x == y) | (np.isnan(x) & np.isnan(y))) | (np.signbit(x) != np.signbit(y)) & ~np.isnan(x)
    if name in FEW_UNITS:
        bad &= np.abs(x - y) > FEW_UNITS[name] * np.spacing(np.maximum(np.abs(x), 1e-300))
    return bad


def far_apart(name, x, y):
    """Where special arguments have results of another class, or numbers that are not near. Infinite results of infinite
    arguments may have either sign in C99; below 1e-290 only the class counts."""
    import numpy as np

    apart = np.abs(x - y) > (128 if name == "expm1" else 16) * np.spacing(np.maximum(np.abs(x), 1e-290))
    return (np.isnan(x) != np.isnan(y)) | (np.isinf(x) != np.isinf(y)) | (np.isfinite(x) & np.isfinite(y) & apart)


def functions(toy, every=11):
    """All elementary functions: the same bits for ordinary arguments, the same class and few units in the last place
    for all others. Of the pairs of special parts one in `every` is tried."""
    import numpy as np

    special = [
        0.0,
        -0.0,
        1,
        -1,
        0.5,
        -0.5,
        np.inf,
        -np.inf,
        np.nan,
        1e-310,
        5e-324,
        1e308,
        -1e308,
        709.5,
        710,
        -740,
        -745,
        -746,
        1e22,
        2e6,
        1e300,
        1e-200,
        1e200,
        2,
        3,
        -2,
        0.999999999,
        1.0000001,
        1e16,
        123456789.0,
        -9.8e239,
    ]
    rng = np.random.default_rng(1)
    ordinary = rng.normal(size=300)
    real = imag = np.array(special)
    z = np.empty(len(real) ** 2, complex)
    z.real, z.imag = np.repeat(real, len(imag)), np.tile(imag, len(real))
    z = z[::every]  # which has no factor with their number: each part is there
    one = (
        "exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh sqrt rsqrt"
        " reciprocal abs".split()
    )
    with tempfile.TemporaryDirectory() as folder:
        inputs = {
            "reals": np.concatenate([real, ordinary]),  # special ones first
            "zs": np.concatenate([z, ordinary[:150] + 1j * ordinary[150:]]),
            "single": ordinary.astype("f4"),
            "zsingle": (ordinary[:150] + 1j * ordinary[150:]).astype("c8"),
        }
        text = ""
        for name, array in inputs.items():
            np.save(f"{folder}/{name}.npy", array)
            text += f'var {name} = load("{folder}/{name}.npy");\n'
            for f in one + (["sign"] if "z" in name else ["erf", "exp2"]):
                text += f'save("{folder}/OUT.{name}.{f}.npy", {f}({name}));\n'
        text += f"var special = reals[:{len(real)}]; var ordinary = reals[{len(real)}:];"
        text += f" var zspecial = zs[:{len(z)}]; var zordinary = zs[{len(z)}:];\n"
        for x in ("special", "ordinary[:40]"):
            for name, e in {
                "pow": "A ** B",
                "atan2": "atan2(A, B)",
                "hypot": "hypot(A, B)",
                "mod": "A % B",
                "floordiv": "A // B",
            }.items():
                text += f'save("{folder}/OUT.{x[:8]}.{name}.npy", {e});\n'.replace(
                    "A", f"reshape({x}, [-1, 1])"
                ).replace("B", f"reshape({x}, [1, -1])")
        text += (
            f'save("{folder}/OUT.zspecial.div.npy", reshape(zspecial, [-1, 1]) / reshape(zspecial[::9], [1, -1]));'
            f' save("{folder}/OUT.zspecial.cube.npy", zspecial ** 3);\n'
        )
        text += (
            f'save("{folder}/OUT.zordinary.pow.npy", zordinary ** (1.5+0.25i)); save("{folder}/OUT.special.f16.npy",'
            f' f32(f16(special))); save("{folder}/OUT.special.bf16.npy", f32(bf16(special)));\n'
        )
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
            specials = {"reals": len(real), "zs": len(z)}.get(kind, a.size if "special" in kind else 0)
            for x, y in [(a.real, b.real), (a.imag, b.imag)] if np.iscomplexobj(a) else [(a, b)]:
                x, y = x.ravel(), y.ravel()
                with np.errstate(all="ignore"):
                    bad = np.concatenate(
                        [
                            far_apart(name, x[:specials], y[:specials]),
                            other_bits(name, x[specials:], y[specials:]),
                        ]
                    )
                if bad.any():
                    i = int(np.argmax(bad))
                    problems.append(
                        f"{name} of {kind}: {int(bad.sum())} of {bad.size} differ, first {i}: {x[i]!r} on the host,"
                        f" {y[i]!r} on the device"
                    )
        return "\n".join(problems) or None


# Programs, and the bytes that have to move to the device and back. What is made there and printed as a slice moves as
# that slice.


# Rows from reductions of the same rows are one kernel, also of halves, with a result for each part that is returned or
# read later (a residual sum); what
# is read before the end, or in another place, needs a kernel before.
ROWS = [
    ("f32", "softmax(x)", 1),
    ("bf16", "softmax(x)", 1),
    ("f32", "rmsnorm(x, 2)", 1),
    ("f64", "layernorm(x, 3, 0.5)", 1),
    ("c64", "x / (sum(abs(x), -1, true) + 1) - mean(x, -1, true)", 1),
    ("f64", "x - max(x, 1, true) * min(x, -1, true)", 1),
    ("f64", "softmax(softmax(x) * x)", 1),
    ("f32", "softmax(x, 1)", 1),
    ("f64", "(x - mean(x, -1, true)) * flip(x, 1)", 1),
    ("f64", "x / flip(sum(exp(x), 1, true), 0)", 2),
    ("f64", "(x / sum(x, 1, true), sum(x, 1, true))", 1),
    ("f64", "x - argmax(x, 1, true)", 2),
    ("f64", "softmax(x, 0)", 4),
    ("f32", "var h = x + sin(x); return (rmsnorm(h, 2), h)", 1),
    ("bf16", "var h = f32(x) + 0.5; var m = max(h, 1, true); return (softmax(bf16(h - m)), h, m)", 1),
    ("c64", "var h = x * 1.5i; return (h / (sum(abs(h), -1, true) + 1), h)", 1),
    ("f64", "var h = x + sin(x); var g = h + softmax(h) * 2; return (rmsnorm(g, 1), h, g)", 1),
    ("f64", "var h = x * 3; return (softmax(h), rmsnorm(h, 1))", 2),
    ("f64", "var h = x * 2; var p = h[::-1] + 1; return (softmax(h), p)", 3),
    ("f64", "var h = x * 2; return (softmax(h), h[::-1] + 1)", 2),
    ("f64", "var h = x * 2; var n = softmax(h); if x[0, 0] < 2 { n = n + h; } return (n, h)", 2),
]


def rows(toy, number=0, which=range(len(ROWS))):
    """The host's bits, and the number of kernels that a call needs."""
    for i in which:
        dtype, body, kernels = ROWS[i]
        sizes = [*([(8200, "M")] if body.startswith("rms") else []), ((1, "M"), (12, 12), (256, 256))[i % 3], (33, "M")]
        for columns, declared in sizes[(i + number) % 2 :: 2]:
            lead = f"def f(x: {dtype}[N, {declared}]) {{ {'' if 'return' in body else 'return '}{body}; }}\n"
            value = f"{dtype}(reshape(sin(arange(5 * {columns}) * 0.7), [5, {columns}]))" + (
                " * c64(1 + 0.5i)" if dtype == "c64" else ""
            )
            pick = " print(f(x)[1]);" if "return (" in body else ""  # nobody reads the first result
            if problem := same_bits(
                toy,
                f"{lead}var x = {value};\nprint(f(x)); print(f(x[1:4]));{pick}",
                [f"--cuda-graphs={GRAPHS[columns % 4]}"],
            ):
                return problem
        launches = []
        for calls in (1, 2):
            done = run(
                toy,
                [
                    *EVERYWHERE,
                    "--cuda-graphs=off",
                    "-e",
                    f"{lead}var x = {value};\n" + "".join(f"var r{i} = f(x);" for i in range(calls)),
                ],
            )
            if problem := done.problem():
                return problem
            launches.append(done.stats["launches"])
        if launches[1] - launches[0] != kernels:
            return f"{body}: {launches[1] - launches[0]} kernels a call, not {kernels}"
    return None


def folds(toy, ways):
    """Reductions of rows of every number of elements a lane, of known and of any length: the host's bits."""
    lead = (
        "def at(n: i64) { return sin(arange(3 * n) * 0.7) + 0.9; }\ndef f(x) { return (sum(x, 1), sum(abs(x) * 2, -1),"
        " prod(x, 1), mean(x * x, 1)); }\ndef g(x) { return (max(x, 1), min(x, 1)); }\n"
    )
    for dtype, flag in ways:
        text = lead + "".join(
            f"var x = {dtype}(reshape(at({n}), [3, {n}])){' * (1 - 0.3i)' if 'c' in dtype else ''}; print({n},"
            f" f(x){'' if 'c' in dtype else ', g(x)'}, sum(x));\n"
            for n in (1, 31, 32, 33, 64, 95, 224, 255, 256, 257, 288, 300, 512, 513, 1000)
        )
        if problem := same_bits(toy, text, ["--cuda-graphs=off", flag]):
            return problem
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
    # The greatest element and the sum are two kernels each: of blocks, and of their results.
    return None if launches["2, 8200"] == launches["2, 8100"] + 5 else f"{launches}"


def subscripts(toy, seed):
    """Random subscripts, read and stored, against NumPy."""
    import os
    import indexing

    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report")
        env = {
            **os.environ,
            "TOY_CUDA_DRIVER": str(pathlib.Path(toy).parent / "libtoyfakecuda.so"),
            "TOY_FAKE_REPORT": str(report),
            "TOY_FAKE_SEED": str(seed),
        }
        if problem := indexing.check(toy, [*EVERYWHERE, f"--cuda-graphs={GRAPHS[seed % 4]}"], seed, env=env):
            return problem
        found = [line for line in report.read_text().splitlines() if line.startswith("found: ")]
        return "\n".join(found) or None


# Reads and writes in every order: copies before and after writes, writes of writes, in loops and across statements.
MARKERS = ("device", "host")


def all_cases():
    """One precision and one kind of graph every day, the others at night."""
    yield from ((f"device: product {i}", lambda toy, text=text: product(toy, text)) for i, text in enumerate(PRODUCTS))
    for dtype in ("f32", "f64", "bf16", "f16"):
        nightly = [] if dtype in ("f32", "bf16") else ["nightly"]
        yield f"device: parts of {dtype}", lambda toy, dtype=dtype: parts_and_halves(toy, dtype), *nightly
    for mode in GRAPHS:
        yield f"device: transforms, graphs {mode}", lambda toy, mode=mode: transforms(toy, mode), *(
            [] if mode in ("off", "full") else ["nightly"]
        )
    for check in (functions, precisions, infinities, rows, long_rows):
        yield f"device: {check.__name__.replace('_', ' ')}", check, *(["long"] if check in (functions, rows) else [])
    for name, ways, marker in (
        ("folds", [("f32", "--dynamic=off"), ("c128", "--dynamic=on"), ("f16", "--dynamic=on")], "long"),
        ("further folds", [("f32", "--dynamic=on"), ("c128", "--dynamic=off"), ("f16", "--dynamic=off")], "nightly"),
    ):
        yield f"device: {name}", lambda toy, ways=ways: folds(toy, ways), marker
    yield "device: rows of other sizes", lambda toy: rows(toy, 1), "nightly"
    yield "device: functions of all pairs", lambda toy: functions(toy, 1), "nightly"
    yield from (
        (f"device: subscripts {seed}", lambda toy, seed=seed: subscripts(toy, seed), *([] if seed < 2 else ["nightly"]))
        for seed in range(8)
    )

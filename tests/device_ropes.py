# SPDX-License-Identifier: Apache-2.0
"""Rotary embeddings: what becomes the kernel that is written for them, and pairs of tensors in one launch."""
from device import EVERYWHERE, GRAPHS, run, same_bits


def turned(spelling, dtype, batch, length, heads, pairs):
    """A program that turns queries and keys in one function, and what it calls."""
    angles = "c128" if dtype == "f64" else "c64"
    lead = f"""seed({pairs + heads});
def interleaved(x, w) {{ return rope(x, w); }}
def half(x, w) {{ return rope(x, w, "half"); }}
def pairs(x, w) {{ var s = x.shape; return reshape(view_as_real(view_as_complex(reshape(x, [s[0], s[1], s[2],
s[3] // 2, 2])) * w[:, newaxis]), s); }}
def real_halves(x, w) {{
  var h = w.shape[1]; var c = cat([real(w), real(w)], axis = -1)[:, newaxis];
  var s = cat([imag(w), imag(w)], axis = -1)[:, newaxis];
  return x * c + cat([-x[..., h:], x[..., :h]], axis = -1) * s;
}}
def by_hand(x, w) {{
  var c = real(w)[:, newaxis]; var s = imag(w)[:, newaxis]; var e = x[..., 0::2]; var o = x[..., 1::2];
  return flatten(stack([e * c - o * s, e * s + o * c], axis = -1), -2);
}}
def both(q, k, w) {{ return ({spelling}(q, w), {spelling}(k, w)); }}
var q = {dtype}(randn({batch}, {length}, {heads}, {2 * pairs}));
var k = {dtype}(randn({batch}, {length}, 1, {2 * pairs}));
q[0, 0, 0, :4] = {dtype}([nan, inf, -0.0, -inf]);
var w = {angles}(polar(1.0, randn({length}, {pairs})));
"""
    return lead


SPELLINGS = ["interleaved", "half", "pairs", "real_halves", "by_hand"]
SHAPES = [(2, 5, 3, 8), (1, 7, 1, 16), (3, 4, 5, 3), (1, 2, 9, 24)]


def forms(dtype):
    """Spellings and shapes of a dtype; halves have functions alone."""
    for i, spelling in enumerate(SPELLINGS):
        of_spelling = ["f32", "f64", "bf16", "f16"] if i < 2 else ["f32", "f64"]
        if dtype in of_spelling:
            j = of_spelling.index(dtype)
            yield from ((i, j, spelling, shape) for shape in (SHAPES if i < 2 else SHAPES[j : j + 2]))


def ropes(toy, dtype, which=slice(None)):
    """Every spelling of rotary embeddings is the kernel written for them, with the host's bits; queries and keys are
    turned in one launch."""
    for i, j, spelling, shape in list(forms(dtype))[which]:
        text = turned(spelling, dtype, *shape) + "var (a, b) = both(q, k, w); print(a); print(b);"
        if problem := same_bits(toy, text, [f"--cuda-graphs={GRAPHS[(i + j) % 4]}"], seed=j):
            return problem
        counts = []
        for calls in (1, 3):
            done = run(
                toy,
                [
                    *EVERYWHERE,
                    "--cuda-graphs=off",
                    "-e",
                    turned(spelling, dtype, *shape)
                    + "".join(f"var (a{n}, b{n}) = both(q, k, w);" for n in range(calls)),
                ],
            )
            if problem := done.problem():
                return problem
            counts.append((done.stats["ropes"], done.stats["launches"]))
        if (counts[1][0] - counts[0][0], counts[1][1] - counts[0][1]) != (4, 2):
            return (
                f"{spelling} {dtype}: two calls more turn {counts[1][0] - counts[0][0]} tensors in"
                f" {counts[1][1] - counts[0][1]} launches, not 4 in 2\n{text}"
            )
    return None


# What is nearly a rotation, or has nothing to share, is the generated kernel: parts of two tensors, from neighbours to
# halves, another sign, other axes.
NOT_ROPES = [
    "def f(x, y, w) { var z = complex(x[..., 0::2], y[..., 1::2]) * w; return flatten(view_as_real(z), -2); }",
    "def f(x, y, w) { var z = complex(x[..., 0::2], x[..., 1::2]) * w; return cat([real(z), imag(z)], axis = -1); }",
    "def f(x, y, w) { var z = complex(x[..., :4], x[..., 4:]) * w; return flatten(view_as_real(z), -2); }",
    (
        "def f(x, y, w) { var a = x[..., :4]; var b = x[..., 4:]; return cat([a * real(w) - b * imag(w), b * real(w) -"
        " a * imag(w)], axis = -1); }"
    ),
    (
        "def f(x, y, w) { var a = x[..., 1:5]; var b = x[..., 4:]; return cat([a * real(w) - b * imag(w), a * imag(w) +"
        " b * real(w)], axis = -1); }"
    ),
    "def f(x, y, w) { return view_as_complex(reshape(x, [2, 3, 4, 2])) * c64(y[..., :4]); }",
    (
        "def f(x, y, w) { var a = x[..., 0::2]; var b = x[..., 1::2]; return cat([a * real(w) - b * imag(w), a * imag(w)"
        " + b * real(w)], axis = -1); }"
    ),
    (
        "def f(x, y, w) { var a = x[..., :4]; var b = x[..., 4:]; return flatten(stack([a * real(w) - b * imag(w), a *"
        " imag(w) + b * real(w)], axis = -1), -2); }"
    ),
]
# Halves that are f16 on the way, as operands or as results.
ROUNDED_TWICE = [
    (
        "def f(x, y, w) { var h = f16(x); var a = f32(h[..., 0::2]); var b = f32(h[..., 1::2]); return"
        " bf16(flatten(stack([a * real(w) - b * imag(w), a * imag(w) + b * real(w)], axis = -1), -2)); }"
    ),
    (
        "def f(x, y, w) { var a = f32(x[..., 0::2]); var b = f32(x[..., 1::2]); return bf16(flatten(stack([f16(a *"
        " real(w) - b * imag(w)), f16(a * imag(w) + b * real(w))], axis = -1), -2)); }"
    ),
    (
        "def f(x, y, w) { var a = f32(x[..., :4]); var b = f32(x[..., 4:]); return bf16(cat([f16(a * real(w) - b *"
        " imag(w)), f16(a * imag(w) + b * real(w))], axis = -1)); }"
    ),
]


TWICE = [("f16", f"bf16({form})") for form in ("rope(f32(x), w)", 'rope(f32(x), w, "half")')]
TWICE += [("bf16", f"bf16(f16({form}))") for form in ("rope(f32(x), w)", 'rope(f32(x), w, "half")')]
TWICE += [
    ("f16", "f16(real(complex(f32(bf16(x)[..., :4]), f32(bf16(x)[..., 4:])) * w[:, newaxis]))"),
    ("f16", "f16(cat([real(z), imag(z)], axis = -1))"),
]


def nearly_ropes():
    """Programs, and whether a kernel for rotations may run."""
    # Angles of an outer and an inner axis, with one between that has none, and one before that shares them; pairs that
    # are repeated, on axes where the angles are not.
    f = "def f(x, w) { return view_as_complex(x) * w; } "
    for lead, n in (("", 96), ("2, ", 192)):
        axes = f"f32(reshape(arange({n}), [{lead}2, 3, 4, 2, 2]))"
        yield f"{f}print(f({axes}, c64(polar(1.0, reshape(arange(16), [2, 1, 4, 2])))));", True
    repeated = "f32(reshape(arange(16), [1, 4, 2, 2]))"
    yield f"{f}print(f({repeated}, c64(polar(1.0, reshape(arange(6), [3, 1, 2])))));", True
    lead = {"f16": "var b = bf16(x); var z = complex(f32(b[..., :4]), f32(b[..., 4:])) * w[:, newaxis]; "}
    programs = [f"{body}\nvar x = f32(reshape(sin(arange(48)), [2, 3, 8])); var y = x + 1;" for body in NOT_ROPES]
    programs += [f"{body}\nvar x = bf16(reshape(sin(arange(48)), [2, 3, 8])); var y = x;" for body in ROUNDED_TWICE]
    programs += [
        f"def f(x, y, w) {{ {lead.get(dtype, '')}return {body}; }}\nvar x = {dtype}(reshape(sin(arange(96)), [2, 3, 2,"
        " 8])); var y = x;"
        for dtype, body in TWICE
    ]
    for program in programs:
        yield f"{program} var w = c64(polar(1.0, reshape(arange(12), [3, 4])));\nprint(f(x, y, w));", False


NEAR = list(nearly_ropes())


def near_ropes(toy, which=slice(None)):
    """What is nearly a rotation has the host's bits, and is not the kernel that is written for them."""
    for text, may in NEAR[which]:
        if problem := same_bits(toy, text):
            return problem
        if not may and run(toy, [*EVERYWHERE, "-e", text]).stats["ropes"]:
            return f"a kernel for rotations ran\n{text}"
    return None


# What joins, and how many rotations and launches that is.
JOINED = [
    ("rope(rope(q, w), w)", 2, 2),
    ("rope(q, w) + k @ swapaxes(k, -1, -2) @ rope(exp(k), w)", 2, 3),
    ("rope(rope(q, w) + rope(k, w), w)", 3, 3),
    ("(rope(q, w), rope(k, w), rope(q, w * w))", 3, 3),
    ("(rope(q, w), rope(rope(k, w), w), rope(exp(q), w))", 4, 3),
    # a pair of f32 whose first needs a pair of bf16, which ends behind its second
    ("var a = rope(bf16(q), w); var b = rope(f32(a) * 2, w); return (b, rope(k, w), rope(bf16(k), w))", 4, 5),
]


def joined(toy, every_mode, which=range(len(JOINED))):
    """Pairs are joined where neither needs the other, over what stands between them; chains are not."""
    lead = (
        "seed(1); var q = f32(randn(1, 4, 2, 8)); var k = f32(randn(1, 4, 2, 8)); var w = c64(polar(1.0, randn(4,"
        " 4)));\n"
    )
    for i in which:
        body, ropes, launches = JOINED[i]
        text = f"{lead}def f(q, k, w) {{ {'' if 'return' in body else 'return '}{body}; }}\n"
        counts = []
        for seed, calls in enumerate((1, 3, 3)):
            done = run(
                toy,
                [
                    *EVERYWHERE,
                    "--cuda-graphs=off",
                    "-e",
                    text + "".join(f"var r{n} = f(q, k, w);" for n in range(calls)),
                ],
                seed,
            )
            if problem := done.problem():
                return problem
            counts.append((done.stats["ropes"], done.stats["launches"]))
        if (counts[1][0] - counts[0][0], counts[1][1] - counts[0][1]) != (2 * ropes, 2 * launches) or counts[
            1
        ] != counts[2]:
            return f"{body}: {counts}"
        for mode in GRAPHS if every_mode else [GRAPHS[i % 4]]:
            if problem := same_bits(
                toy, text + "for i in range(3) { print(f(q * i, k, w)); }", [f"--cuda-graphs={mode}"], tolerance=1e-5
            ):
                return problem
    return None


MARKERS = ("device", "host")


def all_cases():
    """One precision of each width and one kind of graph every day, the others at night."""
    for dtype in ("f32", "f64", "bf16", "f16"):
        nightly = [] if dtype in ("f32", "bf16") else ["nightly"]
        yield f"device: ropes of {dtype}", lambda toy, dtype=dtype: ropes(toy, dtype), *nightly
    yield "device: near ropes", near_ropes
    yield "device: joined ropes", lambda toy: joined(toy, False)
    yield "device: joined ropes in every graph", lambda toy: joined(toy, True), "nightly"

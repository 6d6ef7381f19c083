# SPDX-License-Identifier: Apache-2.0
"""Format strings against Python's `format`: thousands of random values and specifications, evaluated and compiled, in
one process. `%` is compared with exact decimals, since Python multiplies by 100 before it rounds."""
import decimal
import random
import struct

from programs import count, run_parts

FLOATS, INTEGERS = "eEfFgG", "boxXdc"
PAIRS = 1500


def float_of(rng):
    kind = rng.randrange(6)
    if kind == 0:  # any bits
        return struct.unpack("d", rng.randbytes(8))[0]
    if kind == 1:  # ties at some digit
        return rng.randrange(-4000, 4000) / 2 ** rng.randrange(8)
    if kind == 2:
        return rng.choice([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e16, 9.5, 99.95, 1e-5, 0.0001])
    return rng.uniform(-1, 1) * 10 ** rng.randrange(-8, 20)


def spec_of(rng, types, of_numbers=True, is_complex=False):
    out = ""
    if rng.random() < 0.4:
        out += rng.choice(["", "", "*", "é", "0" * (not is_complex)]) + rng.choice(
            "<>^" + ("=" if of_numbers and not is_complex else "")
        )
    kind = rng.choice(types)
    if of_numbers and kind != "c":
        out += rng.choice(["", "", "", "+", "-", " "])
    if of_numbers and kind in FLOATS and kind and rng.random() < 0.2:
        out += "z"
    if of_numbers and kind and kind not in "c%" and rng.random() < 0.2:
        out += "#"
    if rng.random() < 0.5:
        out += ("0" if of_numbers and not is_complex and rng.random() < 0.4 else "") + str(rng.randrange(1, 24))
    if of_numbers and kind != "c" and rng.random() < 0.2:
        out += "_" if kind in ("b", "o", "x", "X") else rng.choice(",_")
    if (not of_numbers or kind not in INTEGERS or not kind) and rng.random() < 0.6:
        out += f".{rng.choice([0, 1, 2, 3, 6, 12, 17, 30])}"
    return out + kind


def literal(x):
    if isinstance(x, complex):
        return f"complex({literal(x.real)}, {literal(x.imag)})"
    return {"inf": "inf", "-inf": "-inf", "nan": "nan"}.get(repr(x), repr(x))


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def cases(rng):
    """(Toy's expression, specification, Python's text)."""
    for _ in range(PAIRS):
        x, spec = float_of(rng), spec_of(rng, ["", *FLOATS])
        yield literal(x), spec, format(x, spec)
    for _ in range(PAIRS // 3):
        x, spec = single(rng.uniform(-1, 1) * 10 ** rng.randrange(-6, 9)), spec_of(rng, FLOATS)
        yield f"f32({literal(x)})", spec, format(x, spec)
    for _ in range(PAIRS // 2):
        n = rng.choice([rng.randrange(-300, 300), rng.randrange(-(2**63) + 1, 2**63)])
        spec = spec_of(rng, ["", *INTEGERS, "f", "e", "g"])
        if "c" in spec:
            n = rng.choice([rng.randrange(0x20, 0x7F), 0xE9, 0x3C9, 0x20AC, 0x10348])
        if not spec[-1:].isalpha() and "." in spec:  # a precision is for floats
            spec += "f"
        yield str(n), spec, format(n, spec)
    for _ in range(PAIRS // 3):
        z = complex(float_of(rng), float_of(rng))
        spec = spec_of(rng, FLOATS, is_complex=True)
        yield literal(z), spec, format(z, spec).replace("j", "i")
    for _ in range(PAIRS // 3):
        text, spec = rng.choice(["", "a", "toy", "é€", "a longer text"]), spec_of(rng, ["", "s"], False)
        yield f'"{text}"', spec, format(text, spec)
    for _ in range(PAIRS // 3):
        x, digits = rng.uniform(-1, 1) * 10 ** rng.randrange(-6, 9), rng.randrange(8)
        with decimal.localcontext(decimal.Context(prec=1200)):
            yield literal(x), f".{digits}%", format(decimal.Decimal(x) * 100, f".{digits}f") + "%"


def parts():
    """Programs and what they print; a tenth is compiled."""
    rng = random.Random(20)
    rows = list(cases(rng))
    rng.shuffle(rows)
    compiled = rows[: len(rows) // 10]
    yield rows, "--jit=never", ""
    yield compiled, "--jit=always -O0", "def shown() { %s }\nshown();"
    yield compiled[:100], "--jit=always --unpack -O0", "def shown() { %s }\nshown();"


def same_texts(toy):
    chosen = list(parts())
    programs = []
    for rows, flags, frame in chosen:
        text = "\n".join(f'print(f"|{{{value}:{spec}}}|");' for value, spec, _ in rows)
        programs.append((frame % text if frame else text, [flags]))
    problems = []
    for (rows, flags, _), [done] in zip(chosen, run_parts(toy, programs)):
        if done.status:
            return f"{flags}: status {done.status}\n{done.stderr[:2000]}"
        lines = done.stdout.split("\n")
        if len(lines) != len(rows) + 1:
            return f"{flags}: {len(lines)} lines of {len(rows)}"
        for (value, spec, want), line in zip(rows, lines):
            if line != f"|{want}|":
                problems.append(f"{flags}: {value}:{spec} gives {line}, Python |{want}|")
        count(len(rows))
    return "\n".join(problems[:20]) or None


def all_cases():
    yield "format strings give Python's text", same_texts

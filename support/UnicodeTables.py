# SPDX-License-Identifier: Apache-2.0
"""Writes the tables behind support/Unicode.cpp from Python's Unicode data: ranges of identifier characters, canonical
decompositions and their inverses, combining classes. Usage: UnicodeTables.py OUTPUT."""
import pathlib
import sys
import unicodedata

# Characters that show nothing (Default_Ignorable_Code_Point): no part of names, although Unicode's tables let some of
# them continue one.
IGNORABLE = [
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
]
CODES = [code for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000]


def ranges(holds):
    out = []
    for code in CODES:
        if holds(code):
            if out and out[-1][1] == code - 1:
                out[-1][1] = code
            else:
                out.append([code, code])
    return out


def is_ignorable(code):
    return any(low <= code <= high for low, high in IGNORABLE)


def table(kind, name, rows):
    return (
        f"constexpr {kind} {name}[] = {{"
        + ", ".join("{" + ", ".join(hex(value) for value in row) + "}" for row in rows)
        + "};\n"
    )


def main():
    pairs, classes = [], []
    for code in CODES:
        text = unicodedata.decomposition(chr(code))
        if text and not text.startswith("<"):
            pairs.append([code, *(int(part, 16) for part in text.split()), 0][:3])
        order = unicodedata.combining(chr(code))
        if order and classes and classes[-1][1] == code - 1 and classes[-1][2] == order:
            classes[-1][1] = code
        elif order:
            classes.append([code, code, order])
    composed = sorted(
        [first, second, code]
        for code, first, second in pairs
        if second and unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(code)
    )
    out = f"// Unicode {unicodedata.unidata_version}; written by support/UnicodeTables.py.\n"
    out += table("CodeRange", "nameStarts", ranges(lambda code: chr(code).isidentifier() and not is_ignorable(code)))
    out += table(
        "CodeRange", "nameParts", ranges(lambda code: ("a" + chr(code)).isidentifier() and not is_ignorable(code))
    )
    out += table("CodeRange", "ignorable", IGNORABLE)
    out += table(
        "CodeRange",
        "blanks",
        ranges(lambda code: unicodedata.category(chr(code)) in ("Zs", "Zl", "Zp") or code == 0x85),
    )
    out += table(
        "CodeRange",
        "zeroWidth",
        ranges(lambda code: unicodedata.category(chr(code)) in ("Mn", "Me", "Cf") and code != 0xAD),
    )
    out += table("CodeRange", "wide", ranges(lambda code: unicodedata.east_asian_width(chr(code)) in "WF"))
    out += table("CombiningClass", "combiningClasses", classes)
    out += table("Decomposition", "decompositions", pairs)
    out += table("Composition", "compositions", composed)
    pathlib.Path(sys.argv[1]).write_text(out)


main()

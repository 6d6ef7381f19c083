# SPDX-License-Identifier: Apache-2.0
"""Pictures: what is drawn where, read back from SVG, PNG and what terminals get, beside NumPy."""
import base64, os, pathlib, re, struct, subprocess, tempfile, unicodedata, zlib
import xml.etree.ElementTree as xml
import numpy as np

from programs import run_parts

SVG = "{http://www.w3.org/2000/svg}"


def start(toy, program, *flags, **variables):
    """Standard output of a program at its own folder, and what it wrote there."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TOY_GRAPHICS", "NO_COLOR", "KITTY"))}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [toy, *flags, "-e", program],
            cwd=folder,
            capture_output=True,
            env=environment | {"TERM": "xterm"} | variables,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


def pixels(png):
    """A PNG of rows without filters."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    at, data = 8, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        body = png[at + 4 : at + 8 + length]
        assert zlib.crc32(body) == struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0]
        data += body[4:] if body[:4] == b"IDAT" else b""
        at += 12 + length
    assert (depth, kind) == (8, 2)
    return (
        np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 3 * width + 1)[:, 1:].reshape(height, width, 3)
    )


def curves(root):
    """The lines of series: those drawn two units wide, but for the legend's."""
    lines = [p for p in root.iter(SVG + "polyline") if p.get("stroke-width") == "2"]
    return [np.array([[float(v) for v in p.split(",")] for p in line.get("points").split()]) for line in lines]


def scale(root, anchor, axis):
    """The map from numbers to coordinates that the numbers on an axis promise."""
    texts = [t for t in root.iter(SVG + "text") if t.get("text-anchor") == anchor and re.fullmatch(r"[-\d.]+", t.text)]
    return np.polyfit([float(t.text) for t in texts], [float(t.get(axis)) for t in texts], 1)


def svg_is_right(toy):
    _, files = start(toy, 'var x = linspace(-3, 4, 50); save("a.svg", plot(x, x * x, title = "a < b & \\"c\\""));')
    root = xml.fromstring(files["a.svg"])
    if root.find(SVG + "title").text != 'a < b & "c"' or "x from -3 to 4" not in root.find(SVG + "desc").text:
        return "title or description"
    [curve] = curves(root)
    x = np.linspace(-3, 4, 50)
    for axis, anchor, values in (("x", "middle", x), ("y", "end", x * x)):
        slope, offset = scale(root, anchor, axis)
        found = curve[:, "xy".index(axis)]
        if not np.allclose(found, slope * values + offset, atol=0.05):
            return f"{axis}: {found} {slope * values + offset}"
    return None


def nan_breaks_lines(toy):
    out, files = start(toy, 'var p = plot([1, 2, nan, 3, 4, inf, 1, 0]); save("a.svg", p); print(p);')
    if [len(c) for c in curves(xml.fromstring(files["a.svg"]))] != [2, 2, 2]:
        return "the line is not broken"
    return None if "(1 value that is not finite is left out)" in out.decode() else out.decode()


def counts_are_numpys(toy):
    rng = np.random.default_rng(5)
    parts, models = [], []
    for i in range(12):
        x = np.round(rng.standard_normal(rng.integers(1, 60)) * 3, rng.integers(0, 3))
        bins = int(rng.integers(1, 12))
        text = ", ".join(repr(float(v)) for v in x)
        parts.append((f"write(hist([{text}], bins = {bins}).drawing);", ["--jit=never"]))
        models.append(np.histogram(x, bins))
    for (program, _), (run,), (counts, edges) in zip(parts, run_parts(toy, parts), models):
        lines = run.stdout.splitlines()
        if not np.allclose(np.array(lines[4].split(), float), edges) or lines[5].split() != [str(c) for c in counts]:
            return f"{program}\n{run}\n{counts} {edges}"
    return None


def long_lines_keep_extremes(toy):
    program = "var y = zeros(1000000); y[123456] = 9; y[777777] = -7; write(plot(y).drawing);"
    lines = start(toy, program)[0].decode().splitlines()
    x, y = np.array(lines[4].split(), float), np.array(lines[5].split(), float)
    if len(x) > 10000 or x[0] != 0 or x[-1] != 999999 or np.any(np.diff(x) <= 0):
        return f"{len(x)} points"
    return None if x[y == 9] == [123456] and x[y == -7] == [777777] else "an extreme is lost"


def png_is_right(toy):
    program = 'save("i.png", image([[0, 1], [1, 0]], map = "gray")); save("p.png", plot([0, 1]));'
    _, files = start(toy, program)
    image, plot = pixels(files["i.png"]), pixels(files["p.png"])
    height, width, _ = image.shape
    black = np.argwhere((image[:, : width // 2] == 0).all(-1))
    if not len(black) or plot.shape != (640, 1280, 3):
        return f"{image.shape} {plot.shape}"
    blue = np.argwhere((plot == [0, 114, 178]).all(-1))
    (top, right), (bottom, left) = blue[blue[:, 0].argmin()], blue[blue[:, 0].argmax()]
    return None if right > left + 900 and bottom > top + 400 else f"the line goes from {left, bottom} to {right, top}"


LATIN = "".join(chr(c) for c in range(0xA1, 0x100) if c != 0xAD)
GREEK = "αβγδεζηθικλμνξοπρςστυφχψωΓΔΘΛΞΠΣΦΨΩάέήίόύώϊ"
SIGNS = "−×÷±≈≠≤≥≡∞√∑∏∫∂∇∈∅∀∃→←↑↓⇒⟨⟩⊗⊕∘∠∥…–—•′″‘’“”€ℏ⁰⁴⁵⁶⁷⁸⁹⁻ⁿ₀₁₂₃₄₅₆₇₈₉"
ALIKE = ["µμ", "∑Σ", "όó", "οo", "’′", "”″", "−–—", "∥|"]  # what may look the same


def letters_of(toy, text):
    """The pixels of each letter in the title of a picture."""
    cells = {}
    for at in range(0, len(text), 60):
        part = text[at : at + 60]
        _, files = start(toy, f'save("t.png", plot([0, 1], title = "H{part}H"));')
        band = (pixels(files["t.png"])[:50] < 100).all(-1)
        rows, columns = np.nonzero(band)
        left, step = columns.min(), 12  # at the scale of files
        if columns.max() - left != (len(part) + 1) * step + 9:
            raise ValueError(f"{part!r} is {columns.max() - left} wide")
        for i, letter in enumerate(part):
            cells[letter] = band[:, left + (i + 1) * step :][:, :step]
    return cells


def letters_are_drawn(toy):
    """Latin, Greek and the usual signs have letters of their own; with a mark, they hold the letter."""
    cells = letters_of(toy, LATIN + GREEK + SIGNS + "aeiouncAEIOUNC漢")
    seen, problems = {}, []
    for letter, cell in cells.items():
        if letter != "漢" and np.array_equal(cell, cells["漢"]):
            problems.append(f"{letter} is a box")
        other = seen.setdefault(cell.tobytes(), letter)
        if other != letter and not any({other, letter} <= set(group) for group in ALIKE):
            problems.append(f"{letter} looks like {other}")
    for marked in "àáâãåèéêëìíîïñòóôõöùúûüçÀÁÂÃÄÅÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÇ":
        base = cells[unicodedata.normalize("NFD", marked)[0]]
        if unicodedata.normalize("NFD", marked)[0] != "i" and not (cells[marked] >= base).all():
            problems.append(f"{marked} lacks its letter")
    return "\n".join(problems) or None


def sixels(text):
    """The image that a terminal would show."""
    body = re.fullmatch(rb'\x1bP0;1q"1;1;(\d+);(\d+)(.*)\x1b\\\n', text, re.S)
    width, height = int(body[1]), int(body[2])
    image, colours, x, y, colour = np.full((height + 5, width, 3), -1), {}, 0, 0, None
    for token in re.findall(rb"#\d+(?:;2;\d+;\d+;\d+)?|!\d+.|[$\-?-~]", body[3]):
        if token[:1] == b"#":
            parts = [int(v) for v in token[1:].split(b";")]
            colour = parts[0]
            if len(parts) > 1:
                colours[colour] = parts[2:]
        elif token == b"$":
            x = 0
        elif token == b"-":
            x, y = 0, y + 6
        else:
            run, bits = (int(token[1:-1]), token[-1] - 63) if token[:1] == b"!" else (1, token[0] - 63)
            for k in range(6):
                if bits >> k & 1:
                    image[y + k, x : x + run] = colours[colour]
            x += run
    return image[:height]


def terminals_get_images(toy):
    program = 'var p = plot([1, 3, 2]); save("p.png", p); print(p);'
    sent = {}
    for way in ("kitty", "iterm", "sixel"):
        sent[way], files = start(toy, program, "--color=always", TOY_GRAPHICS=way)
    want = files["p.png"]
    pieces = re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", sent["kitty"])
    if base64.b64decode(b"".join(data for _, data in pieces)) != want or any(len(data) > 4096 for _, data in pieces):
        return "kitty's data"
    if not pieces[0][0].startswith(b"a=T,f=100") or [k[-3:] for k, _ in pieces] != [b"m=1"] * (len(pieces) - 1) + [
        b"m=0"
    ]:
        return f"kitty's keys {[k for k, _ in pieces]}"
    size, data = re.fullmatch(rb"\x1b\]1337;File=inline=1;size=(\d+);width=80:(.*)\x07\n", sent["iterm"], re.S).groups()
    if base64.b64decode(data) != want or int(size) != len(want):
        return "iTerm2's data"
    image = sixels(sent["sixel"])
    if image.shape != (320, 640, 3) or image.min() < 0:
        return f"sixels {image.shape}"
    blue = (image == [0, 40, 60]).all(-1).sum()
    return None if 500 < blue < 5000 and (image == 100).all(-1).mean() > 0.8 else f"{blue} blue pixels"


def pipes_get_text(toy):
    for flags, variables in (
        ((), {}),
        ((), {"TOY_GRAPHICS": "kitty"}),
        (("--color=never",), {"TOY_GRAPHICS": "sixel"}),
    ):
        out, _ = start(toy, "print(plot([1, 2])); show([[1, 1i]]); show([[1, 2]]);", *flags, **variables)
        if b"\x1b" in out or "\u2524" not in out.decode():
            return f"{flags} {variables} {out}"
    colours, _ = start(toy, "show([[1, 2]]);", "--color=always")
    return None if b"\x1b[38;2;68;1;84m" in colours else f"{colours}"  # viridis begins there


def texts_fit(toy):
    program = 'print(plot([-1e300, 1e300], title = "t", xlabel = "x", ylabel = "y", width = W, height = H));'
    for width, height in ((20, 4), (24, 6), (80, 20), (200, 50)):
        out, _ = start(toy, program.replace("W", str(width)).replace("H", str(height)))
        if max(len(line) for line in out.decode().splitlines()) > width:
            return f"{width} {height}\n{out.decode()}"
    return None


REFUSED = {
    "plot([1, 2], [1, 2, 3])": "T0104",
    "scatter_plot(arange(5.0), arange(5.0), arange(4.0))": "R0105",
    "def f(x, y) { return plot(x, y); } f([1, 2, 3], [1, 2, 3]); f([1], [2]); f([1, 2], [1, 2, 3])": "R0105",
    'plot("a")': "T0210",
    "plot([1i], [1])": "T0104",
    "plot(zeros(2, 2, 2))": "T0104",
    "plot([1, 2], [1, 2], labels = 1)": "T0104",
    "plot(zeros(0))": "R0132",
    "plot([nan, inf])": "R0132",
    "plot([-1, -2], ylog = true)": "R0132",
    "plot([1], width = 3)": "R0132",
    'plot([1], labels = list("a", "b"))': "R0132",
    "hist([nan])": "R0132",
    "hist(zeros(0))": "R0132",
    "hist([1i])": "T0206",
    "image([1])": "T0104",
    "image(zeros(0, 2))": "R0132",
    'image([[1]], map = "x")': "R0132",
    "image([[1, 2]], low = 3)": "R0132",
    'picture("x")': "R0132",
    'picture("picture line 0 0 0 0 0 1 \\n\\n\\n\\n1 2\\n3\\n")': "R0132",
    'save("x.foo", plot([1]))': "I0105",
}


def refusals(toy):
    parts = [(f"{program};", ["--jit=never", "--jit=always"]) for program in REFUSED]
    for (program, _), runs, code in zip(parts, run_parts(toy, parts), REFUSED.values()):
        for run in runs:
            if code not in run.stderr:
                return f"{program} {code}\n{run}"
    return None


def kept_by_sessions(toy):
    program = 'var p = plot([1, 2, nan], title = "a\\nb"); var l = list(p, p);\n:save s.toy\n'
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([toy, "-i"], input=program, cwd=folder, capture_output=True, text=True)
        text = pathlib.Path(folder, "s.toy").read_text()
        pathlib.Path(folder, "s.toy").write_text(text + 'print(p == plot([1, 2, nan], title = "a b"), len(l));\n')
        done = subprocess.run([toy, "s.toy"], cwd=folder, capture_output=True, text=True)
    return None if done.stdout == "true 2\n" else f"{done}\n{text}"


def drawn_again(toy):
    """docs/pictures is what `make pictures` makes."""
    root = pathlib.Path(__file__).resolve().parent.parent
    kept = {path.name: path.read_text() for path in (root / "docs/pictures").iterdir()}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([root / "scripts/pictures", toy, folder], check=True)
        made = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
    changed = sorted(name for name in kept | made if kept.get(name) != made.get(name))
    return f"`make pictures` changes {changed}" if changed or len(made) != 20 else None


def all_cases():
    yield "docs/pictures is what is drawn", drawn_again
    yield "SVG has title, description and the data's places", svg_is_right
    yield "nan breaks lines, infinities are left out with a note", nan_breaks_lines
    yield "histograms have NumPy's bins", counts_are_numpys
    yield "a line of 10^6 points keeps its extremes", long_lines_keep_extremes
    yield "PNG of lines and images", png_is_right
    yield "PNG has letters of Latin, Greek and mathematics", letters_are_drawn
    yield "kitty, iTerm2 and sixel images hold the picture", terminals_get_images
    yield "pipes get text without escape codes", pipes_get_text
    yield "texts are as wide as they may be", texts_fit
    yield "what no picture can be made of", refusals
    yield "sessions save pictures", kept_by_sessions

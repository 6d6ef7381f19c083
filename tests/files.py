# SPDX-License-Identifier: Apache-2.0
"""Files of every format: both ways with NumPy, names, bad names and paths, and files that are cut off or damaged, which
are errors and never crashes."""
import json
import os
import pathlib
import struct
import tempfile
import zlib

import numpy as np

import programs


def run(toy, folder, text, flags=()):
    path = os.path.join(folder, "p.toy")
    pathlib.Path(path).write_text(text, encoding="utf-8")
    return programs.run([toy, *flags, path], cwd=folder)


def png(rows, colour, filters):
    """An image whose rows use the filters in turn."""
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    raw, previous = b"", np.zeros(rows.shape[1] * channels, np.uint8)
    for y, row in enumerate(rows.reshape(rows.shape[0], -1)):
        left = np.concatenate([np.zeros(channels, np.uint8), row[:-channels]])
        corner = np.concatenate([np.zeros(channels, np.uint8), previous[:-channels]])
        l, u, c = left.astype(int), previous.astype(int), corner.astype(int)
        p = l + u - c
        paeth = np.where(
            (abs(p - l) <= abs(p - u)) & (abs(p - l) <= abs(p - c)), l, np.where(abs(p - u) <= abs(p - c), u, c)
        )
        predictor = [0 * l, l, u, (l + u) // 2, paeth][filters[y % len(filters)]]
        raw += bytes([filters[y % len(filters)]]) + ((row.astype(int) - predictor) % 256).astype(np.uint8).tobytes()
        previous = row
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, colour, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(raw))
        + chunk(b"IEND", b"")
    )


def named_arrays(toy):
    rng = np.random.default_rng(0)
    a, z = rng.standard_normal((3, 4)), rng.standard_normal((2, 2)) + 1j * rng.standard_normal((2, 2))
    everything = {
        "b": rng.random(5) > 0.5,
        "u": np.arange(5, dtype=np.uint8),
        "i": np.arange(3, dtype=np.int32),
        "l": np.arange(4) - 2,
        "s": a.astype(np.float32),
        "d": a,
        "c": z.astype(np.complex64),
        "z": z,
        "f": np.asfortranarray(a),
        "e": np.zeros((0, 3)),
        "o": np.float64(2.5),
    }
    with tempfile.TemporaryDirectory() as folder:
        np.savez(os.path.join(folder, "in.npz"), **everything)
        np.savez_compressed(os.path.join(folder, "small.npz"), a=a, i=np.arange(5))
        header = {
            "w": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]},
            "h": {"dtype": "F16", "shape": [3], "data_offsets": [4, 10]},
            "__metadata__": {"format": "pt"},
        }
        text = json.dumps(header).encode()
        pathlib.Path(folder, "half.safetensors").write_bytes(
            struct.pack("<Q", len(text))
            + text
            + struct.pack("<HH", 0x3FC0, 0xC000)
            + np.array([1.5, -2, 6e-8], np.float16).tobytes()
        )
        for flags in ([], ["--jit=always"], ["--jit=always", "--unpack"]):
            done = run(
                toy,
                folder,
                """var w = load("in.npz"); var c = load("small.npz", "i"); var h = load("half.safetensors");
save("out.npz", w); save("one.npz", w.z, name="q"); save("two.npz", (w.d, w.z)); save("t.safetensors", w); save("back.npz", load("t.safetensors"));
save("named.safetensors", c64(w.z), name="layer.0.w"); save("single.npz", load("named.safetensors"));
print(c, h.w, h.h[2] > 0, load("in.npz", "l").dtype, load("named.safetensors", "layer.0.w").dtype);
def total(path) { var x: f64[N, 4] = load(path, "d"); return sum(x); } print(total("in.npz") == sum(w.d));
""",
                flags,
            )
            if done.returncode or done.stdout != "[0, 1, 2, 3, 4] [ 1.5, -2.0] true i64 c64\ntrue\n":
                return f"{flags}: {done.stdout}{done.stderr}"
            for name in ("out.npz", "back.npz"):
                out = np.load(os.path.join(folder, name))
                for key, value in everything.items():
                    if (
                        out[key].dtype != np.asarray(value).dtype
                        or out[key].tobytes() != np.ascontiguousarray(value).tobytes()
                        or out[key].shape != np.shape(value)
                    ):
                        return f"{flags}: {name}: {key} differs"
            if sorted(np.load(os.path.join(folder, "two.npz"))) != ["arr_0", "arr_1"] or not np.array_equal(
                np.load(os.path.join(folder, "one.npz"))["q"], z
            ):
                return "names"
    return None


def tables_and_images(toy):
    rng = np.random.default_rng(1)
    a, z = rng.standard_normal((3, 4)), rng.standard_normal((2, 2)) + 1j * rng.standard_normal((2, 2))
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(os.path.join(folder, "a.csv"), a, delimiter=",", header="two\nlines")
        np.savetxt(os.path.join(folder, "z.csv"), z, delimiter=",")
        pathlib.Path(folder, "octave.csv").write_text("1+2i,3-4i\r\n-5i, 6\n\n-Inf,nan\n")
        images = {
            colour: rng.integers(0, 256, (7, 5, channels), np.uint8)
            for colour, channels in {0: 1, 2: 3, 4: 2, 6: 4}.items()
        }
        for colour, pixels in images.items():
            pathlib.Path(folder, f"i{colour}.png").write_bytes(png(pixels, colour, [0, 1, 2, 3, 4]))
        done = run(
            toy,
            folder,
            """var a = load("a.csv"); var z = load("z.csv"); save("a2.csv", a); save("z2.csv", z); save("v.csv", i64([1, 2, 3])); save("a.npy", a); save("z.npy", z);
print(load("octave.csv")); print(load("v.csv").shape, load("z.csv").dtype);
save("i0.npy", load("i0.png")); save("i2.npy", load("i2.png")); save("i4.npy", load("i4.png")); save("i6.npy", load("i6.png"));
save("grey.png", f64(load("i0.png")) / 255); save("colour.png", load("i2.png")); save("alpha.png", load("i6.png")); save("c.png", [[1, 1i], [-1, 0i]]);
print(all(load("grey.png") == load("i0.png")), all(load("colour.png") == load("i2.png")), all(load("alpha.png") == load("i6.png"))); print(load("c.png"));
show([[1, 1i], [-1, -1i]]);
""",
        )
        expected = (
            "[[ 1.0+2.0i,  3.0-4.0i],\n [ 0.0-5.0i,  6.0+0.0i],\n [-inf+0.0i,  nan+0.0i]]\n(3, 1) c128\ntrue true true\n"
            "[[[255,   0,   0],\n  [128, 255,   0]],\n\n [[  0, 255, 255],\n  [  0,   0,   0]]]\n"
        )
        if done.returncode or done.stdout != expected + (
            "::::::::::::############\n" * 6 + "############::::::::::::\n" * 6
        ):  # an image in characters: standard output is no terminal
            return f"{done.stdout!r}\nexpected\n{expected!r}{done.stderr}"
        load = lambda name: np.load(os.path.join(folder, name))
        if not np.allclose(load("a.npy"), a, rtol=1e-15) or not np.allclose(load("z.npy"), z, rtol=1e-15):
            return "csv read"
        if not np.array_equal(
            np.loadtxt(os.path.join(folder, "a2.csv"), delimiter=","), load("a.npy")
        ) or not np.array_equal(
            np.loadtxt(os.path.join(folder, "z2.csv"), delimiter=",", dtype=complex), load("z.npy")
        ):
            return "csv written"
        for colour, pixels in images.items():
            if not np.array_equal(load(f"i{colour}.npy"), pixels[..., 0] if pixels.shape[2] == 1 else pixels):
                return f"png of colour type {colour}"
    return None


ERRORS = {
    'load("no.npz")': "I0101",
    'load("a.npz", "q")': "I0111",
    'load("a.npy", "q")': "I0111",
    'load("odd.npz")': "I0111",
    'load(".")': "I0102",
    'load("/dev/null")': "I0102",
    'save("x.foo", [1])': "I0106",
    'load("a.foo")': "I0106",
    'save("/no/x.npz", [1])': "I0105",
    'save("x.csv", ones(2, 2, 2))': "I0105",
    'save("x.png", ones(2))': "I0105",
    'save("x.npy", ([1], [2]))': "I0105",
    "load(1)": "T0104",
    'save("x.npy", "text")': "T0104",
    "show([1])": "T0104",
    'load("bad.csv")': "I0104",
    'load("ragged.csv")': "I0104",
    'load("ragged.csv", header = true)': "I0104",
    'load("quote.csv", header = true)': "I0104",
    'load("behind.csv", header = true)': "I0104",
    'load("empty.csv", header = true)': "I0104",
    'load("no.csv", header = true)': "I0101",
    'struct P { var x; var y; } save("x.csv", P([1, 2], [3]))': "I0105",
    'read_text("no.txt")': "I0101",
    'read_text(".")': "I0102",
    'write_text("/no/x.txt", "a")': "I0105",
    'write_text("/no/x.txt", "a", append = true)': "I0105",
    'write_text("a\\0b", "a", append = true)': "I0105",
}


def file_errors(toy):
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        np.savez(os.path.join(folder, "a.npz"), a=np.ones(3), b=np.ones(2))
        np.savez(os.path.join(folder, "odd.npz"), **{"a b": np.ones(3), "c.d": np.ones(2)})
        np.save(os.path.join(folder, "a.npy"), np.ones(2))
        texts = {"a.foo": "x", "bad.csv": "1,2\n3,x\n", "ragged.csv": "1,2\n3\n", "empty.csv": "\n"}
        for name, text in {**texts, "quote.csv": 'a\n"b\n', "behind.csv": 'a\n"b" c\n'}.items():
            pathlib.Path(folder, name).write_text(text)
        for source, code in ERRORS.items():
            done = run(toy, folder, source + ";")
            if done.returncode != 1 or f"error[{code}]" not in done.stderr:
                problems.append(f"{source}: expected {code}, status {done.returncode}\n{done.stderr}")
    return "\n".join(problems) or None


def many_arrays(toy):
    """Any array of a file that holds more than a message would list."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(os.path.join(folder, "many.npz"), **{f"array_number_{i}": np.full(1, i) for i in range(60)})
        done = run(toy, folder, 'print(load("many.npz", "array_number_0"), load("many.npz", "array_number_59"));')
    return None if done.stdout == "[0] [59]\n" else done.stdout + done.stderr


def read_once(toy):
    """A file is read once, and of an array by its name no other one: neither its bytes, nor what is wrong with it."""
    read = 'def read() { return i64(split(lines(read_text("/proc/self/io"))[0], " ")[1]); }\n'
    with tempfile.TemporaryDirectory() as folder:
        x = np.arange(500_000.0)
        np.save(os.path.join(folder, "x.npy"), x)
        np.savez(os.path.join(folder, "x.npz"), x=x, y=x, z=x)
        saved = run(toy, folder, 'var x = load("x.npy"); save("x.safetensors", (x, x, x));')
        problems = [saved.stderr] if saved.returncode else []
        for call in ('load("x.npy")', 'load("x.npz", "y")', 'load("x.safetensors", "arr_1")'):
            done = run(toy, folder, f"{read}var before = read(); var x = {call}; print(read() - before, sum(x));")
            words = done.stdout.split()
            if len(words) != 2 or not x.nbytes <= int(words[0]) < 1.5 * x.nbytes or float(words[1]) != x.sum():
                problems.append(f"{call}: {done.stdout}{done.stderr}")
        path = pathlib.Path(folder, "x.safetensors")
        path.write_bytes(path.read_bytes().replace(b'"arr_0":{"dtype":"F64"', b'"arr_0":{"dtype":"F8 "'))
        for name, code in (("arr_1", None), ("arr_0", "I0108")):
            done = run(toy, folder, f'print(load("x.safetensors", "{name}")[0]);')
            if (code or "0.0\n") not in (done.stderr if code else done.stdout):
                problems.append(f"{name} of other dtypes: {done.stdout}{done.stderr}")
    return "\n".join(problems) or None


def damaged(toy):
    """Cut off anywhere and with any bytes changed: an error (or other values), never a crash or a large allocation."""
    rng = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "a.npy"), rng.standard_normal((4, 5)))
        np.savez_compressed(os.path.join(folder, "a.npz"), a=np.arange(50), b=np.ones((3, 4)) * 1j)
        pathlib.Path(folder, "a.png").write_bytes(png(rng.integers(0, 256, (9, 8, 3), np.uint8), 2, [0, 1, 2, 3, 4]))
        done = run(toy, folder, 'save("a.safetensors", load("a.npz"));')
        if done.returncode:
            return done.stderr
        text, count = "", 0
        for suffix in ("npy", "npz", "png", "safetensors"):
            whole = pathlib.Path(folder, "a." + suffix).read_bytes()
            for i in range(60):
                data = bytearray(whole)
                if i < 20:
                    data = data[: rng.integers(0, len(data))]
                else:
                    for _ in range(rng.integers(1, 5)):
                        data[rng.integers(0, len(data))] = rng.integers(0, 256)
                pathlib.Path(folder, f"d{count}.{suffix}").write_bytes(bytes(data))
                text += f'var x{count} = load("d{count}.{suffix}");\n'
                count += 1
        pathlib.Path(folder, "input").write_text(text)
        with open(os.path.join(folder, "input")) as lines:
            for line in lines:
                done = programs.run([toy, "--memory-limit=100000000", "-e", line], cwd=folder)
                if done.returncode not in (0, 1) or "X0001" in done.stderr:
                    return f"{line}: status {done.returncode}\n{done.stderr}"
    return None


def all_cases():
    for case in (named_arrays, tables_and_images, file_errors, many_arrays, read_once, damaged):
        yield "files: " + case.__name__.replace("_", " "), case

# SPDX-License-Identifier: Apache-2.0
"""Of a file that is loaded for a part of it, that part is read and held: values beside NumPy's, bytes read and memory,
on one rank and on several; what changes a file meanwhile. Of random numbers, and of what is computed element by
element, a part is made."""
import pathlib
import re
import struct
import tempfile

import numpy as np

import programs
from ranks_jobs import MARKS, MPICH, OPEN, both, job

FLAGS = (["--jit=never"], ["--jit=always"], ["--jit=always", "--unpack"], ["--jit=always", "--dynamic=on"])


def run(toy, folder, text, flags=()):
    pathlib.Path(folder, "p.toy").write_text(text)
    return programs.run([toy, *flags, "p.toy"], cwd=folder)


def safetensors(path, arrays):
    """Of numpy's f32, i64 and bool arrays."""
    names = {"float32": "F32", "int64": "I64", "bool": "BOOL"}
    head, data = [], b""
    for name, x in arrays.items():
        begin, data = len(data), data + x.tobytes()
        head.append(
            f'"{name}":{{"dtype":"{names[x.dtype.name]}","shape":{list(x.shape)},"data_offsets":[{begin},{len(data)}]}}'
        )
    header = ("{" + ",".join(head) + "}").encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(header)) + header + data)


ARRAYS = {
    "plain.npy": np.arange(7 * 5 * 6, dtype=np.float32).reshape(7, 5, 6),
    "complex.npy": (np.arange(210) * (1 - 2j)).astype(np.complex64).reshape(7, 5, 6),
    "swapped.npy": np.arange(210).astype(">c16").reshape(7, 5, 6) * (2 + 1j),
    "columns.npy": np.asfortranarray(np.arange(210, dtype=np.int32).reshape(7, 5, 6)),
    "truths.npy": np.arange(210).reshape(7, 5, 6) % 3 == 0,
    "bytes.npy": np.arange(210, dtype=np.uint8).reshape(7, 5, 6),
}
SELECTIONS = [
    ("2:5", np.s_[2:5]),
    ("3", np.s_[3]),
    ("-1, 2, 3", np.s_[-1, 2, 3]),
    (":, 1:3", np.s_[:, 1:3]),
    ("..., 4", np.s_[..., 4]),
    ("5:1:-2, ::2, 1:", np.s_[5:1:-2, ::2, 1:]),
    ("::-1, ::-1, ::-1", np.s_[::-1, ::-1, ::-1]),
    ("4:4", np.s_[4:4]),
    ("newaxis, :, 2", np.s_[None, :, 2]),
    (":", np.s_[:]),
]
KINDS = {"f": "f32", "c": "c64", "i": "i32", "b": "bool", "u": "u8"}


def selections(toy, flags):
    """Each selection of each file, at the top level and in a function."""
    for file, x in ARRAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/{file}", x)
            if file == "truths.npy":  # what is not 0 is true
                raw = pathlib.Path(folder, file).read_bytes()
                pathlib.Path(folder, file).write_bytes(raw[:-210] + raw[-210:].replace(b"\1", b"\7"))
            dtype = "c128" if x.dtype.itemsize == 16 else KINDS[x.dtype.kind]
            lines = []
            for i, (text, _) in enumerate(SELECTIONS):
                lines.append(f"def f{i}(path) {{ var x: {dtype}[N, M, K] = load(path); return x[{text}]; }}")
                lines.append(f'save("a{i}.npy", load("{file}")[{text}]); save("b{i}.npy", f{i}("{file}"));')
            done = run(toy, folder, "\n".join(lines), flags)
            if done.returncode:
                return f"{file}: {done.stderr}"
            for i, (text, index) in enumerate(SELECTIONS):
                for way in "ab":
                    got, want = np.load(f"{folder}/{way}{i}.npy"), np.asarray(x[index])
                    want = want.astype(want.dtype.newbyteorder("="))
                    if got.dtype != want.dtype or got.shape != want.shape or got.tobytes() != want.tobytes():
                        return f"{file}[{text}] {way}: {got} {want}"


MEGABYTES = 400
READ = 'var io = read_text("/proc/self/io"); print(io);'  # first what this process has read, `rchar: N`


def large(folder, name="large.npy", rows=MEGABYTES * 1000, columns=250):
    """Takes no room: what nobody wrote is 0."""
    with open(f"{folder}/{name}", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)})
        begin = file.tell()
        for row in (0, 1000, rows // 2, rows - 1):
            file.seek(begin + 4 * columns * row)
            file.write(np.full(columns, row, np.float32).tobytes())
        file.truncate(begin + 4 * columns * rows)


WITHIN = ["--memory-limit=60000000"]
PARTS = {
    'var x = load("large.npy")[999:1002]; print(x[:, 3]);': "[   0.0, 1000.0,    0.0]",
    'print(load("large.npy")[-1, :3]);': "[399999.0, 399999.0, 399999.0]",
    'print(sum(load("large.npy")[::1000, 249]));': "201000.0",
    'print(load("large.npy")[1000:1001].shape, load("large.npy")[:, :4].shape);': "(1, 250) (400000, 4)",
    "def f(path) { var x: f32[N, D] = load(path); return (x[1000], N, D); } "
    'var y = f("large.npy"); print(y[0][:2], y[1], y[2]);': "[1000.0, 1000.0] 400000 250",
    'print(load("two.safetensors").small[1:3], load("two.safetensors", "large")[7:8].shape);': "[1.0, 2.0] (1, 250)",
}


def little_is_held(toy, flags):
    """Within less memory than the file has bytes; a whole file is refused there."""
    with tempfile.TemporaryDirectory() as folder:
        large(folder)
        sparse = np.zeros((1, 250), np.float32)
        safetensors(f"{folder}/two.safetensors", {"small": np.arange(5, dtype=np.float32), "large": sparse})
        raw = pathlib.Path(folder, "two.safetensors").read_bytes()
        size = MEGABYTES * 1000 * 1000
        header = (
            raw[8:].split(b"}}")[0].replace(b"[1, 250]", b"[400000, 250]").replace(b"1020", str(20 + size).encode())
            + b"}}"
        )
        with open(f"{folder}/two.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + np.arange(5, dtype=np.float32).tobytes())
            file.truncate(8 + len(header) + 20 + size)
        for text, want in PARTS.items():
            done = run(toy, folder, text, [*WITHIN, *flags])
            if (done.returncode, done.stdout) != (0, want + "\n"):
                return f"{text}: {done}"
        for text in ('print(sum(load("large.npy")));', 'var x = load("large.npy"); print(x[3:5]);'):
            done = run(toy, folder, text, [*WITHIN, *flags])
            if done.returncode != 1 or "error[R0108]" not in done.stderr:
                return f"{text}: {done}"


def bytes_read(toy):
    """Of 400 MB those that are asked for, and what a loop takes parts of once."""
    loop = 'def f() { var x: f64[N, 1000] = load("some.npy"); var s = 0.0; for i in range(5) { s += sum(x[i:900]); } '
    with tempfile.TemporaryDirectory() as folder:
        large(folder)
        np.save(f"{folder}/some.npy", np.zeros((1000, 1000)))
        before = 0
        for text, most in (
            ("1;", 20e6),
            ('var x = load("large.npy")[5000:15000];', 10.2e6),
            ('var x = load("large.npy")[7];', 1e5),
            (loop + "return s; } f();", 8.2e6),
        ):
            done = run(toy, folder, text + READ, ["--jit=never"])
            found = re.search(r"rchar: (\d+)", done.stdout)
            if not found or int(found[1]) - before > most:
                return f"{text}: {done} {before}"
            before = before or int(found[1])


def forgotten(toy):
    """What a statement has loaded is held by its variable alone: it is changed in place, and goes with it."""
    text = 'var x = load("x.npy"); x[0] = 1; x = 0; var y = load("x.npy"); y[1] = 2; y = 0; print(1);'
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.zeros(4_000_000))
        done = run(toy, folder, text, ["--memory-limit=40000000"])
        return None if (done.returncode, done.stdout) == (0, "1\n") else str(done)


WHOLES = """
def f(path) { var x: f64[N] = load(path); return (x[1:3], sum(x)); }
def g(path) { var x: f64[N] = load(path); return x[1:] - x[:-1]; }
def h(path) { var x: f64[N] = load(path); var s = 0.0; for i in range(N) { s += x[i] * x[i]; } return s; }
def k(path, c) { var x: f64[N] = load(path); if c > 0 { return x[1:]; } return x; }
print(f("x.npy"), g("x.npy"), h("x.npy"), k("x.npy", 1), k("x.npy", 0));
for row in load("x.npy") { write(str(row) + " "); } print(load("x.npy")[1:] + load("x.npy")[:4], load("x.npy"));
try { print(load("x.npy")[7]); } catch e { print(e.code); } print(load("x.npy")[load("x.npy") > 2]);
"""
SAID = """([1.0, 2.0], 10.0) [1.0, 1.0, 1.0, 1.0] 30.0 [1.0, 2.0, 3.0, 4.0] [0.0, 1.0, 2.0, 3.0, 4.0]
0.0 1.0 2.0 3.0 4.0 [1.0, 3.0, 5.0, 7.0] [0.0, 1.0, 2.0, 3.0, 4.0]
R0101
[3.0, 4.0]
"""


def more_is_used(toy, flags):
    """Where another part is used, or one in a loop, the file is read once."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.arange(5.0))
        done = run(toy, folder, WHOLES, flags)
        return None if (done.returncode, done.stdout) == (0, SAID) else str(done)


CHANGES = """
def f(path) { var x: f64[N] = load(path); CHANGE return x[1:3]; }
print(f("x.npy"));
"""


def changed(toy, flags):
    """A file that is put in the place of another leaves what was opened; one that is written to is no longer it."""
    for change, want, error in (
        ("", "[1.0, 2.0]\n", ""),
        ("save(path, [7, 8, 9]);", "[1.0, 2.0]\n", ""),
        ('write_text(path, "a", append = true);', "", "error[I0101]"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/x.npy", np.arange(5.0))
            done = run(toy, folder, CHANGES.replace("CHANGE", change), flags)
            if done.stdout != want or error not in done.stderr or done.returncode != (1 if error else 0):
                return f"{change}: {done}"
            if error and "it has changed while it was read" not in done.stderr:
                return str(done)


SHARDS = """
var mine = shard(load("large.npy")); var columns = shard(load("large.npy")[:2000], axis = 1);
def part(path) { var x: f32[N, D] = load(path); return shard(x); }
var again = part("large.npy");
print(all_reduce(sum(mine[:, 0])), all_reduce(sum(columns)), all_reduce(i64(len(again))), all_gather(i64(columns.shape[1])));
var whole: f32[N, D] = load("small.npy"); print(all(unshard(shard(whole)) == whole), all(unshard(part("small.npy")) == whole));
"""


def shards(toy, launcher, ranks, flags):
    """Each rank holds its part of a file."""
    with tempfile.TemporaryDirectory() as folder:
        large(folder)
        np.save(f"{folder}/small.npy", np.arange(70, dtype=np.float32).reshape(10, 7))
        pathlib.Path(folder, "p.toy").write_text(SHARDS)
        most = 400e6 / ranks * 2 + 60e6
        done = job(toy, launcher, ranks, [f"--memory-limit={int(most)}", *flags, "p.toy"], folder)
        widths = ", ".join(str(250 // ranks + (r < 250 % ranks)) for r in range(ranks))
        want = f"600999.0 250000.0 400000 [{widths}]\ntrue true\n"
        return None if done[:2] == (0, want) else f"{done} {want}"


MADE = [  # `S` stands for the sizes, `K` for the key
    "rand(S, key = K)",
    "randn(S, dtype = c64, key = K)",
    "rand(S, dtype = f16, key = K) * 2 + 1",
    "normal(3.0, 2.0, S, key = K)",
    "uniform(zeros(S), arange(N), key = K)",
    "f32(exponential(2.0, S, key = K))",
    "gamma(0.5, S, key = K)",
    "poisson(30.0, S, key = K)",
    "binomial(9, 0.25, S, key = K)",
    "rand(S, key = K) - rand(6, key = K) * rand(5, 1, key = K)",
    "randint(-5, 1000, S, key = K) + i64(rand(S, key = K) < 0.5)",
    "exp(1i * reshape(arange(N), [S])) - rand(S, key = K)",
    "where(rand(S, key = K) < 0.5, sqrt(full([S], 2i)), 1i)",
]


def made_parts(toy, flags):
    """Each selection of each of them has the bits that it has in the whole."""
    sizes = (7, 5, 6)
    lines = []
    for i, text in enumerate(MADE):
        made = text.replace("[S]", str(list(sizes))).replace("S", ", ".join(map(str, sizes))).replace("K", "key(k)")
        made = made.replace("arange(N)", "arange(6.0)" if "uniform" in text else "arange(210.0)")
        lines.append(f"def whole{i}(k) {{ return {made}; }}\nvar w{i} = whole{i}({i});")
        for j, (selection, _) in enumerate(SELECTIONS):
            lines.append(f"def part{i}_{j}(k) {{ var x = {made}; var n = len(x); return (x[{selection}], n); }}")
            lines.append(f"var p = part{i}_{j}({i})[0]; var q = w{i}[{selection}];")
            lines.append(f'if p.shape != q.shape or not all(p == q) {{ print("{text}[{selection}]"); }}')
    with tempfile.TemporaryDirectory() as folder:
        done = run(toy, folder, "\n".join(lines), flags)
        return None if (done.returncode, done.stdout) == (0, "") else f"{done.stdout}{done.stderr}"


HUGE = """
var n = 1000000000000;
def part(n: i64, k) { var x = normal(3.0, 2.0, n, 4, key = k); return (x[n - 3:, 1:3], len(x)); }
print(part(n, key(1))[0].shape, part(n, key(1))[1], (f32(rand(n)) + exp(rand(n) * 1i))[n // 2 : n // 2 + 1].shape);
"""
FAILS = """
try { print((6 // arange(3))[1:]); } catch e { print(e.code); }
try { print((2 ** (1 - arange(3)))[:1]); } catch e { print(e.code); }
print((arange(3) // 2)[1:], (reshape(rand(3), [3, 1]) * zeros(4) + ones(4))[1:2]);
def f() { var x = arange(5) * 2; return (x[1:3], sum(x)); }
print(f());
"""


def made_or_not(toy, flags):
    """A part of what no memory could hold; what fails for an element fails with another one, too."""
    for text, want in (
        (HUGE, "(3, 2) 1000000000000 (1,)\n"),
        (FAILS, "R0102\nR0103\n[0, 1] [[1.0, 1.0, 1.0, 1.0]]\n([2, 4], 20)\n"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            done = run(toy, folder, text, [*flags, *WITHIN])
            if (done.returncode, done.stdout) != (0, want):
                return str(done)


MADE_SHARDS = """
def mine(n: i64, axis) { return shard(normal(3.0, 2.0, n, n, key = key(5)), axis = axis); }
def part(n: i64) { return shard(rand(n, key = key(6)))[:1]; }
var all_of = normal(3.0, 2.0, 30, 30, key = key(5));
print(all(unshard(mine(30, 0)) == all_of), all(unshard(mine(30, 1), axis = 1) == all_of));
print(all_reduce(i64(len(shard(rand(4000000, key = key(6)))))), all_gather(part(4000000)).shape);
"""


def made_shards(toy, launcher, ranks, flags):
    """Each rank makes its part of random numbers."""
    done = job(toy, launcher, ranks, [f"--memory-limit={64000000 // ranks + 1000000}", *flags, "-e", MADE_SHARDS])
    return None if done[:2] == (0, f"true true\n4000000 ({ranks},)\n") else str(done)


def all_cases():
    for flags in FLAGS:
        yield f"made parts: selections, {' '.join(flags)}", lambda toy, f=flags: made_parts(toy, f)
        yield f"made parts: memory and errors, {' '.join(flags)}", lambda toy, f=flags: made_or_not(toy, f), "host"
    for ranks, launcher, flags in ((2, OPEN, ["--jit=always"]), (3, MPICH, ["--jit=never"])):
        run = lambda toy, m=launcher, r=ranks, f=flags: made_shards(toy, m, r, f)
        yield f"ranks: made parts on {ranks}", run, both(launcher), *MARKS
    for flags in FLAGS:
        yield f"file parts: selections, {' '.join(flags)}", lambda toy, f=flags: selections(toy, f)
        yield f"file parts: more is used, {' '.join(flags)}", lambda toy, f=flags: more_is_used(toy, f)
    for flags in FLAGS[:2]:
        yield f"file parts: memory, {flags[0]}", lambda toy, f=flags: little_is_held(toy, f), "release", "host"
        yield f"file parts: changed, {flags[0]}", lambda toy, f=flags: changed(toy, f)
    yield "file parts: bytes read", bytes_read, "release", "host"
    yield "file parts: forgotten", forgotten, "release", "host"
    for ranks, launcher, flags in ((2, OPEN, ["--jit=never"]), (3, MPICH, ["--jit=always"])):
        run = lambda toy, m=launcher, r=ranks, f=flags: shards(toy, m, r, f)
        yield f"ranks: file parts on {ranks}", run, both(launcher), *MARKS

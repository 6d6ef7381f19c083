# SPDX-License-Identifier: Apache-2.0
"""Files in the way: a code cache that others wrote, targets that are links, devices and pipes, headers that promise
gigabytes, and names that a shell would run."""
import contextlib
import functools
import io
import json
import os
import pathlib
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import threading
import time
import zipfile
import zlib

import numpy as np

NOBODY = 65534


def run(toy, arguments, folder, stdin="", prepare=None, **environment):
    settings = {**os.environ, "HOME": str(folder), "TMPDIR": str(folder), "NO_COLOR": "1", **environment}
    settings = {name: value for name, value in settings.items() if value is not None}
    return subprocess.run(
        [toy, *arguments],
        cwd=folder,
        input=stdin,
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=60,
        preexec_fn=prepare,
    )


def first(*problems):
    return next((p for p in problems if p), None)


def same(what, got, want):
    return None if got == want else f"{what}: expected {want!r}, got {got!r}"


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def cases_in_a_folder(check):
    @functools.wraps(check)
    def case(toy):
        with tempfile.TemporaryDirectory() as folder:
            return check(toy, pathlib.Path(folder))

    return case


# --- the code cache

PROGRAM = "def f(z: f64, n: i64) { var s = z; for i in range(n) { s = s * z + %d; } return s; }\nprint(f(1.0, 3) + f(2.0, 3));\n"
OUTPUT = {k: f"{1 + 3 * k + 16 + 7 * k:.1f}\n" for k in (1, 2)}


class Cached:
    """Runs of one program on a cache: what they print, and whether they compiled."""

    def __init__(self, toy, folder, constant=1, home=None):
        self.toy, self.folder, self.constant, self.home = toy, folder, constant, home or folder / "cache"
        self.home.mkdir(exist_ok=True)
        self.cache = self.home / "toy"

    def run(self):
        program = self.folder / f"p{self.constant}.toy"
        program.write_text(PROGRAM % self.constant)
        done = run(
            self.toy, [f"--stats={self.folder}/s.json", str(program)], self.folder, XDG_CACHE_HOME=str(self.home)
        )
        if done.returncode or done.stdout != OUTPUT[self.constant]:
            return f"status {done.returncode}: {done.stdout!r} {done.stderr}"
        return [
            "kept" if "kept" in c["reason"] else "made"
            for c in json.loads((self.folder / "s.json").read_text())["compiles"]
        ][0]

    def expect(self, what, *wanted):
        for want in wanted:
            if (got := self.run()) != want:
                return f"{what}: expected {want}, got {got}"
        return None

    def objects(self):
        return sorted(f for f in self.cache.iterdir() if len(f.name) == 64)


@cases_in_a_folder
def cache_is_private(toy, folder):
    c = Cached(toy, folder)
    if problem := c.expect("a new cache", "made", "kept"):
        return problem
    modes = {f.name if f.name == "key" else "object": mode(f) for f in c.cache.iterdir()}
    if problem := first(
        same("mode of the folder", mode(c.cache), 0o700), same("modes of files", modes, {"key": 0o600, "object": 0o600})
    ):
        return problem
    os.chmod(c.cache, 0o777)
    if problem := c.expect("a folder that was open", "kept") or same("its mode", mode(c.cache), 0o700):
        return problem
    target = folder / "elsewhere"
    shutil.copytree(c.cache, target)
    os.chmod(target, 0o755)
    shutil.rmtree(c.cache)
    c.cache.symlink_to(target)
    if problem := c.expect("a link instead of the folder", "made", "made") or same(
        "mode of the link's target", mode(target), 0o755
    ):
        return problem
    c.cache.unlink()
    c.cache.write_text("a file")
    if problem := c.expect("a file instead of the folder", "made"):
        return problem
    (folder / "sub").mkdir()
    done = run(toy, [str(folder / "p1.toy")], folder / "sub", XDG_CACHE_HOME="relative", HOME=str(folder / "home"))
    return first(
        same("output", done.stdout, OUTPUT[1]),
        same("a relative folder is ignored", os.listdir(folder / "sub"), []),
        same("the other one is used", (folder / "home/.cache/toy/key").exists(), True),
    )


@cases_in_a_folder
def cache_of_another_user(toy, folder):
    if os.geteuid() != 0:
        return "skipped: only root can make files of others"
    c = Cached(toy, folder)
    if problem := c.expect("a new cache", "made", "kept"):
        return problem
    for path in ("key", c.objects()[0].name):
        os.chown(c.cache / path, NOBODY, NOBODY)
        if problem := c.expect(f"{path} of another user", "made", "kept"):
            return problem
    for path in ("key", c.objects()[0].name):
        os.chmod(c.cache / path, 0o666)
        if problem := c.expect(f"{path} that others can write", "made", "kept"):
            return problem
    os.chown(c.cache, NOBODY, NOBODY)
    before = sorted((f.name, f.read_bytes()) for f in c.cache.iterdir())
    return c.expect("a folder of another user", "made", "made") or same(
        "its files", sorted((f.name, f.read_bytes()) for f in c.cache.iterdir()), before
    )


@cases_in_a_folder
def objects_are_bound_to_keys(toy, folder):
    one, two = Cached(toy, folder, 1), Cached(toy, folder, 2)
    if problem := one.expect("first", "made"):
        return problem
    [a] = one.objects()
    if problem := two.expect("second", "made"):
        return problem
    [b] = [f for f in two.objects() if f != a]
    shutil.copy(b, a)
    if problem := one.expect("the object of another key", "made", "kept"):
        return problem
    whole = a.read_bytes()
    for what, data in {
        "empty": b"",
        "cut": whole[:-1],
        "longer": whole + b"x",
        "a bit": whole[:-1] + bytes([whole[-1] ^ 1]),
        "a header": whole[:45],
        "another digest": whole[:13] + bytes(32) + whole[45:],
    }.items():
        a.write_bytes(data)
        if problem := one.expect(what, "made", "kept"):
            return problem
    other = Cached(toy, folder, 1, folder / "other")
    if problem := other.expect("another cache", "made"):
        return problem
    shutil.copy(other.objects()[0], a)
    if problem := one.expect("an object with another secret", "made", "kept"):
        return problem
    for what, data in {"short": b"x", "long": b"x" * 33, "another": b"x" * 32}.items():
        (one.cache / "key").write_bytes(data)
        if problem := one.expect(f"a secret that is {what}", "made", "kept"):
            return problem
    return None


@cases_in_a_folder
def cache_entries_that_are_no_files(toy, folder):
    c = Cached(toy, folder)
    if problem := c.expect("a new cache", "made", "kept"):
        return problem
    copy = folder / "copy"
    for name in (c.objects()[0].name, "key"):
        path = c.cache / name
        shutil.copy(path, copy)
        kinds = {
            "pipe": os.mkfifo,
            "link to a device": lambda p: os.symlink("/dev/zero", p),
            "link to itself": lambda p: os.symlink(p, p),
            "link to a copy": lambda p: os.symlink(copy, p),
            "huge": lambda p: os.truncate(os.open(p, os.O_CREAT | os.O_WRONLY, 0o600), 1 << 36),
        }
        if os.geteuid() == 0:
            kinds["device"] = lambda p: os.mknod(p, stat.S_IFCHR | 0o600, os.makedev(1, 5))
        for kind, make in kinds.items():
            path.unlink()
            make(path)
            if problem := c.expect(f"{name}: {kind}", "made", "kept"):
                return problem
        path.unlink()
        path.mkdir()
        if problem := c.expect(f"{name}: folder", "made", "made"):
            return problem
        path.rmdir()
        if problem := c.expect("afterwards", "made", "kept"):
            return problem
    key = c.objects()[0]
    key.unlink()
    for pid in range(1, 1 << 15, 97):  # as a process that died would leave it
        (c.cache / f"{key.name}.{pid}").touch()
    return c.expect("left over files", "made", "kept")


@cases_in_a_folder
def first_processes_agree_on_a_secret(toy, folder):
    (folder / "p.toy").write_text(PROGRAM % 1)
    started = [
        subprocess.Popen(
            [toy, str(folder / "p.toy")],
            env={**os.environ, "XDG_CACHE_HOME": str(folder)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    outputs = {p.communicate()[0] for p in started}
    return same("outputs", outputs, {OUTPUT[1]}) or same(
        "files", sorted(len(f.name) for f in (folder / "toy").iterdir()), [3, 64]
    )


# --- writing

VALUE = "[1.0, 2.0, 3.0]"
WRITERS = {  # what writes, as arguments and input
    **{
        f"save .{suffix}": (["-e", f'save("TARGET.{suffix}", {value});'], f".{suffix}")
        for suffix, value in {
            "npy": VALUE,
            "npz": VALUE,
            "safetensors": VALUE,
            "csv": VALUE,
            "png": f"[{VALUE}]",
        }.items()
    },
    "--emit": (["--emit=toy", "-o", "TARGET", "-e", "print(1);"], ""),
    "--stats": (["--stats=TARGET", "-e", "1;"], ""),
    "--size-profile": (["--size-profile=TARGET", "-e", "1;"], ""),
    ":save": (":save TARGET\n", ""),
    ":graph": (":graph 1+1 TARGET.dot\n", ".dot"),
}


def write(toy, folder, name, target, **more):
    arguments, suffix = WRITERS[name]
    if isinstance(arguments, str):
        return run(toy, [], folder, stdin="var x = 1;\n" + arguments.replace("TARGET" + suffix, str(target)), **more)
    return run(toy, [a.replace("TARGET" + suffix, str(target)) for a in arguments], folder, **more)


def each_writer(check):
    @functools.wraps(check)
    def case(toy):
        for name in WRITERS:
            with tempfile.TemporaryDirectory() as folder:
                if problem := check(toy, pathlib.Path(folder), name, WRITERS[name][1]):
                    return problem if problem.startswith("skipped") else f"{name}: {problem}"
        return None

    return case


@each_writer
def modes_and_links_stay(toy, folder, name, suffix):
    place, old = folder / "place", os.umask(0o027)
    place.mkdir()
    try:
        new = place / ("new" + suffix)
        done = write(toy, folder, name, new)
        if done.returncode or not new.exists():
            return f"status {done.returncode} {done.stderr}"
        contents = new.read_bytes()
    finally:
        os.umask(old)
    is_same = lambda path: name == "--stats" or path.read_bytes() == contents
    if problem := same("mode of a new file", mode(new), 0o640):
        return problem
    private, link, dangling = place / ("private" + suffix), folder / ("link" + suffix), folder / ("dangling" + suffix)
    private.write_text("old")
    private.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(private, NOBODY, NOBODY)
    owner = private.stat().st_uid
    link.symlink_to("place/" + private.name)
    dangling.symlink_to(place / ("made" + suffix))
    for target in (private, link, dangling):
        if (done := write(toy, folder, name, target)).returncode:
            return f"{target.name}: {done.stderr}"
        if problem := first(
            same("mode", mode(private), 0o600),
            same("owner", private.stat().st_uid, owner),
            same("link", (link.is_symlink(), dangling.is_symlink()), (True, True)),
            same("contents", is_same(target), True),
        ):
            return f"{target.name}: {problem}"
        private.write_text("old")
    return same(
        "files", sorted(p.name for p in place.iterdir()), sorted(n + suffix for n in ("new", "private", "made"))
    )


@each_writer
def devices_and_pipes_are_written_directly(toy, folder, name, suffix):
    pipe, contents = folder / ("pipe" + suffix), []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: contents.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = write(toy, folder, name, pipe)
    reader.join(20)
    if (
        done.returncode
        or not contents
        or (not contents[0] and name != "--size-profile")
        or not stat.S_ISFIFO(os.stat(pipe).st_mode)
    ):
        return f"pipe: status {done.returncode}, {contents} {done.stderr}"
    stdout = folder / ("stdout" + suffix)
    stdout.symlink_to("/dev/stdout")
    done = write(toy, folder, name, stdout)
    if done.returncode or (not done.stdout and name != "--size-profile") or not stdout.is_symlink():
        return f"standard output: status {done.returncode}, {done.stdout!r} {done.stderr}"
    if os.geteuid() != 0:
        return None
    null = folder / ("null" + suffix)
    os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    done = write(toy, folder, name, null)
    full = folder / ("full" + suffix)
    os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    failed = write(toy, folder, name, full)
    return first(
        same("device", (done.returncode, stat.S_ISCHR(os.stat(null).st_mode)), (0, True)),
        same("full device", stat.S_ISCHR(os.stat(full).st_mode), True),
        None
        if name == "--size-profile"
        else same("full device", (failed.returncode, "I0105" in failed.stderr), (1, True)),
    )


@each_writer
def failed_writes_change_nothing(toy, folder, name, suffix):
    import resource

    place = folder / "place"
    place.mkdir()
    old = place / ("old" + suffix)
    old.write_text("old")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))

    done = write(toy, folder, name, old, prepare=limit, XDG_CACHE_HOME=str(folder))
    if name == "--size-profile":
        return None  # nothing to write
    return first(
        same("status", (done.returncode, "I0105" in done.stderr), (1, True)),
        same("contents", old.read_text(), "old"),
        same("files", os.listdir(place), [old.name]),
    )


@cases_in_a_folder
def killed_writes_leave_the_old_file(toy, folder):
    place = folder / "place"
    place.mkdir()
    for delay in (0.05, 0.1, 0.2, 0.4):
        (place / "x.npy").write_text("old")
        child = subprocess.Popen(
            [toy, "-e", 'var x = zeros(3000000); while true { save("place/x.npy", x); }'],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(delay)
        child.kill()
        child.wait()
        left = [n for n in os.listdir(place) if n != "x.npy"]
        if left and hasattr(os, "O_TMPFILE") and anonymous_files(place):
            return f"left over: {left}"
        if (size := (place / "x.npy").stat().st_size) not in (3, 24000128):
            return f"{size} bytes are neither the old nor the new file"
    return None


def anonymous_files(folder):
    with contextlib.suppress(OSError):
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
        return True
    return False


@cases_in_a_folder
def standard_output_in_order(toy, folder):
    (folder / "s.csv").symlink_to("/dev/stdout")
    with open(folder / "out", "w") as out:
        done = subprocess.run(
            [toy, "-e", 'print("before"); save("s.csv", [1]); print("after");'],
            cwd=folder,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
        )
    return first(
        same("status", (done.returncode, done.stderr), (0, "")),
        same("a file as standard output", (folder / "out").read_text(), "before\n1\nafter\n"),
    )


# --- sizes that files promise


def zipped(path, name, header, zeros, declared=None):
    """A member of a header and zeros, written in pieces: what this process takes would count as the tested one's."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive, archive.open(
        name, "w"
    ) as member:
        member.write(header)
        for at in range(0, zeros, 1 << 20):
            member.write(bytes(min(1 << 20, zeros - at)))
    if declared is not None:  # the sizes in both headers
        data, real = bytearray(pathlib.Path(path).read_bytes()), struct.pack("<I", len(header) + zeros)
        for at in (22, data.rindex(b"PK\1\2") + 24):
            assert data[at : at + 4] == real
            data[at : at + 4] = struct.pack("<I", declared)
        pathlib.Path(path).write_bytes(bytes(data))


def npy_header(shape, dtype="|u1", version=1):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode()


def memory_of(toy, folder, text, limit=100_000_000):
    """Status, messages and the largest resident size in bytes."""
    out = folder / "messages"
    with open(out, "w") as messages:
        child = subprocess.Popen(
            [toy, "--jit=never", f"--memory-limit={limit}", "-e", text],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=messages,
            env={**os.environ, "NO_COLOR": "1"},
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, out.read_text(), usage.ru_maxrss * 1024


@cases_in_a_folder
def promised_sizes_count_before_they_are_taken(toy, folder):
    base = memory_of(toy, folder, "1;")[2]
    large = 1 << 27
    packer = zlib.compressobj(9)
    image = b"".join(packer.compress(bytes(1 << 20)) for _ in range((large + (large >> 10)) >> 20)) + packer.flush()
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    (folder / "wide.png").write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 1024, large >> 10, 8, 0, 0, 0, 0))
        + chunk(b"IDAT", image)
        + chunk(b"IEND", b"")
    )
    zipped(folder / "deflated.npz", "a.npy", npy_header((large,)), large)
    zipped(folder / "behind.npz", "a.npy", npy_header((5,)), large)
    zipped(folder / "lie.npz", "a.npy", npy_header((large,)), 10, declared=large + 128)
    zipped(folder / "short.npz", "a.npy", npy_header((5,)), 5000, declared=140)
    zipped(folder / "long.npz", "a.npy", npy_header((5,)), 5000, declared=6000)
    for name, header in {
        "sparse.npy": npy_header((large,)),
        "sparse.safetensors": struct.pack("<Q", 96)
        + json.dumps({"a": {"dtype": "U8", "shape": [large], "data_offsets": [0, large]}}).ljust(96).encode(),
    }.items():
        (folder / name).write_bytes(header)
        os.truncate(folder / name, len(header) + large)
    (folder / "numbers.csv").write_text("1," * 4_999_999 + "1\n")
    os.truncate(os.open(folder / "sparse.csv", os.O_CREAT | os.O_WRONLY), 1 << 40)
    os.truncate(os.open(folder / "sparse.toy", os.O_CREAT | os.O_WRONLY), 1 << 30)
    wanted = {
        "deflated.npz": "R0108",
        "lie.npz": "I0104",
        "short.npz": "I0104",
        "long.npz": "I0104",
        "sparse.npy": "R0108",
        "sparse.safetensors": "R0108",
        "wide.png": "R0108",
        "numbers.csv": "R0108",
        "sparse.csv": "R0108",
    }
    for name, code in wanted.items():
        status, messages, used = memory_of(toy, folder, f'var x = load("{name}"); print(x.shape);')
        if status != 1 or f"error[{code}]" not in messages or used - base > 120_000_000:
            return f"{name}: status {status}, {used - base} bytes, expected {code}\n{messages}"
    status, messages, used = memory_of(toy, folder, 'print(load("behind.npz").shape);')
    if (status, messages) != (0, "(5,)\n") or used - base > 50_000_000:
        return f"behind.npz: status {status}, {used - base} bytes\n{messages}"
    status, messages, used = memory_of(toy, folder, 'import "sparse.toy"')
    return (
        None
        if status == 1 and "R0108" in messages and used - base < 120_000_000
        else f"import: status {status}, {used - base} bytes\n{messages}"
    )


@cases_in_a_folder
def members_of_every_kind(toy, folder):
    """All versions of headers, stored and deflated, with bytes behind the array, large and empty."""
    rng = np.random.default_rng(0)
    arrays = {
        "small": np.arange(5.0),
        "large": rng.integers(0, 4, 300_000),
        "empty": np.zeros((0, 4)),
        "fortran": np.asfortranarray(rng.random((300, 200))),
        "scalar": np.float64(3),
    }
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        for version in ((1, 0), (2, 0), (3, 0)):
            with zipfile.ZipFile(folder / "a.npz", "w", compression) as archive:
                for name, value in arrays.items():
                    text = io.BytesIO()
                    np.lib.format.write_array(text, np.asanyarray(value), version=version)
                    archive.writestr(name + ".npy", text.getvalue() + b"behind" * (name == "small"))
            done = run(toy, ["--jit=never", "-e", 'save("b.npz", load("a.npz"));'], folder)
            if done.returncode:
                return f"{compression} {version}: {done.stderr}"
            back = np.load(folder / "b.npz")
            if any(not np.array_equal(back[name], value) for name, value in arrays.items()):
                return f"{compression} {version}: values differ"
    return None


# --- the prompt and other programs


@cases_in_a_folder
def nothing_typed_reaches_a_shell(toy, folder):
    tools = folder / "tools"
    tools.mkdir()
    (tools / "dot").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/dot-arguments\ncat\n')
    (folder / "editor").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/editor-arguments\n')
    for tool in (tools / "dot", folder / "editor"):
        tool.chmod(0o755)
    hostile = [
        "a.$(touch ran).svg",
        "a.$(touch${IFS}ran).svg",
        "a'.;touch ran;'.svg",
        "`touch ran`.svg",
        "-o.ran.svg",
        "a;touch ran.svg",
        "a.svg|touch${IFS}ran.png",
    ]
    for with_dot in (False, True):
        path = f"{tools}:{os.environ['PATH']}" if with_dot else "/nowhere"
        for name in hostile:
            place = folder / "place"
            place.mkdir()
            for argument in (name, f"'{name}"):
                run(toy, [], place, stdin=f":graph 1+1 {argument}\n", PATH=path)
            made = sorted(os.listdir(place))
            if (place / "ran").exists() or (folder / "ran").exists() or (" " not in name and len(made) != 2):
                return f":graph {name}: made {made}"
            shutil.rmtree(place)
        for name in ("x';touch ran;'.toy", "$(touch ran).toy", "`touch ran`.toy", "-x.toy", "f; touch ran"):
            (folder / "editor-arguments").unlink(missing_ok=True)
            run(
                toy,
                [],
                folder,
                stdin=f":edit {name}\n",
                PATH=path + ":/bin:/usr/bin",
                VISUAL="",
                EDITOR=f"{folder}/editor '--two words' \\$HOME",
            )
            got = (folder / "editor-arguments").read_text().splitlines()
            if (
                (folder / "ran").exists()
                or got[:2] != ["--two words", "$HOME"]
                or len(got) != 3
                or got[2].startswith("-")
            ):
                return f":edit {name}: {got}"
    done = run(toy, [], folder, stdin=":graph 1+1 picture.svg\n", PATH=path)
    return first(
        same("output", done.stdout, "picture.svg\n"),
        same("arguments of dot", (folder / "dot-arguments").read_text(), "-Tsvg\n"),
        same("picture", (folder / "picture.svg").read_text().startswith("digraph"), True),
        same(
            "no editor", "D0108" in run(toy, [], folder, stdin=":edit f\n", VISUAL="", EDITOR="/no/such").stderr, True
        ),
        same("scratch folders", [p.name for p in folder.glob("toy-*")], []),
    )


@cases_in_a_folder
def reproducers_are_few_and_private(toy, folder):
    source = folder / "bad.c"
    source.write_text(
        '#include "toy_extern.h"\n#include <stdlib.h>\nint32_t stop(const toy_call *call) { (void)call; abort(); }\n'
    )
    subprocess.run(
        [
            "cc",
            "-shared",
            "-fPIC",
            f"-I{pathlib.Path(__file__).resolve().parent.parent / 'runtime'}",
            "-o",
            f"{folder}/libbad.so",
            str(source),
        ],
        check=True,
    )
    state = folder / "state"
    (folder / "p.toy").write_text(f'extern def stop(x: f64) -> f64 from "{folder}/libbad.so";\nprint(stop(1.0));\n')
    for _ in range(7):
        done = run(toy, ["p.toy"], folder, XDG_STATE_HOME=str(state))
        if done.returncode != 70 or "a reproducer is in" not in done.stderr:
            return f"status {done.returncode}: {done.stderr}"
    kept = list((state / "toy").iterdir())
    return first(
        same("kept", len(kept), 5),
        same("modes", {mode(p) for p in kept}, {0o600}),
        same("mode of the folder", mode(state / "toy"), 0o700),
        same("text", "stop(1.0)" in kept[0].read_text(), True),
        same("folder for temporary files", [p.name for p in folder.glob("toy-*")], []),
    )


@cases_in_a_folder
def files_at_the_start(toy, folder):
    from prompt import Session

    config, state = folder / "config", folder / "state"
    init = config / "toy/init.toy"
    (config / "toy").mkdir(parents=True)
    init.write_text("var fromInit = 7;\n")

    def runs(what, want):
        s = Session(toy, width=300, XDG_CONFIG_HOME=str(config), XDG_STATE_HOME=str(state))
        try:
            answer = s.line("fromInit") == "i64\n7"
            return same(what, (answer, "another user could have written it" in s.text()), want)
        finally:
            s.close()

    if problem := runs("own file", (True, False)):
        return problem
    (state / "toy/history").chmod(0o644)
    for path, bits in ((init, 0o666), (init, 0o620), (config / "toy", 0o777)):
        old = mode(path)
        path.chmod(bits)
        if problem := runs(f"{path.name} of mode {bits:o}", (False, True)):
            return problem
        path.chmod(old)
    if os.geteuid() == 0:
        os.chown(init, NOBODY, NOBODY)
        if problem := runs("file of another user", (False, True)):
            return problem
    return first(
        same("mode of the history", mode(state / "toy/history"), 0o600),
        same("mode of its folder", mode(state / "toy"), 0o700),
    )


def start_of_the_program(toy):
    """A position-independent program whose tables of addresses cannot be written once it runs."""
    shown = subprocess.run(["readelf", "-hldW", toy], stdout=subprocess.PIPE, text=True, check=True).stdout
    return first(
        same("type", "DYN (Position-Independent Executable file)" in shown, True),
        same("RELRO", "GNU_RELRO" in shown, True),
        same("bound at the start", "BIND_NOW" in shown or "NOW" in shown, True),
        same("stack", any("GNU_STACK" in line and "RWE" in line for line in shown.splitlines()), False),
    )


MARKERS = ("host", "release")


def all_cases():
    for case in (
        cache_is_private,
        cache_of_another_user,
        objects_are_bound_to_keys,
        cache_entries_that_are_no_files,
        first_processes_agree_on_a_secret,
        modes_and_links_stay,
        devices_and_pipes_are_written_directly,
        failed_writes_change_nothing,
        killed_writes_leave_the_old_file,
        standard_output_in_order,
        promised_sizes_count_before_they_are_taken,
        members_of_every_kind,
        nothing_typed_reaches_a_shell,
        reproducers_are_few_and_private,
        files_at_the_start,
        start_of_the_program,
    ):
        yield "hostile files: " + case.__name__.replace("_", " "), case

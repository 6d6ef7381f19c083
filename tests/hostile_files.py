# SPDX-License-Identifier: Apache-2.0
"""Files in the way: headers that promise gigabytes, names that a shell would run, settings of other users."""
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import zipfile
import zlib


import numpy as np

from own_folder import cases_in_a_folder, mode, NOBODY, run
from programs import first, same


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
    from terminal import Session

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
        promised_sizes_count_before_they_are_taken,
        members_of_every_kind,
        nothing_typed_reaches_a_shell,
        reproducers_are_few_and_private,
        files_at_the_start,
        start_of_the_program,
    ):
        yield "hostile files: " + case.__name__.replace("_", " "), case

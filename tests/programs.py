# SPDX-License-Identifier: Apache-2.0
"""Runs programs: many at once in one process of toy-check, or everything on a fake device."""
import collections
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile

cells = 0  # results that this process has compared

Done = collections.namedtuple("Done", "status stdout stderr recognized missed compiles copies")

# Programs that say of products the bits of the host's order (rule 13), which a device's library does not have.
OF_THE_HOST = {
    "products-by-vectors",
    "products-in-all-layouts",
    "products-of-rows-taken-apart",
    "small-complex-products",
}


def count(n):
    global cells
    cells += n


def is_sanitized():
    """Whether these are the tests of the build with sanitizers: other turns than those of the release build."""
    return bool(os.environ["TOY_TEST_SANITIZED"])


def of_this_build(count):
    """Half of the numbers below `count`: a day's tests of the build with sanitizers have the other half."""
    return range(count // 2, count) if is_sanitized() else range(count // 2)


def in_turn(settings, number, count):
    """The first setting, which the others are compared with, and so many of the others, for a program's number."""
    first, *others = settings
    return [first, *(others[(number + i) % len(others)] for i in range(count))]


def expected_lines(path):
    return [line.split("# expect:", 1)[1].strip() for line in path.read_text().splitlines() if "# expect:" in line]


def checker(toy):
    """toy-check, beside toy."""
    return os.path.join(os.path.dirname(os.path.abspath(toy)), "toy-check")


def run_parts(toy, parts, cwd=None, flags=()):
    """Each part is (text, configurations), a configuration a string of flags. Gives a list of `Done`, one a
    configuration, for each part. Every run is in a session of its own; the process goes on until one ends it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "parts.toy")
        path.write_text(
            "\n# -----\n".join(
                "".join(f"# CONFIG: {c}\n" for c in configurations) + text for text, configurations in parts
            )
            + "\n",
            encoding="utf-8",
        )
        done = subprocess.run(
            [checker(toy), "--json", *flags, str(path)],
            cwd=cwd or folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=3600,
        )
        rows = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or len(rows) != sum(len(configurations) for _, configurations in parts):
        raise AssertionError(f"toy-check: status {done.returncode}, {len(rows)} results\n{done.stderr}")
    count(len(rows))
    results = iter(
        Done(**{**row, "recognized": row["recognized"].split()})
        for row in (({k: row[k] for k in Done._fields}) for row in rows)
    )
    return [[next(results) for _ in configurations] for _, configurations in parts]


def check_files(toy, folder, names, flags=()):
    """toy-check over files in a folder that announce what they want: None, or what is wrong. A file that holds no
    program is wrong, too."""
    done = subprocess.run(
        [checker(toy), *flags, *names],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
    )
    last = re.match(r"(\d+) passed, 0 failed$", done.stdout.rstrip().rsplit("\n", 1)[-1])
    if done.returncode or not last:
        return done.stdout + done.stderr or f"status {done.returncode}"
    if int(last.group(1)) < len(names):
        return f"{len(names)} files, but {last.group(0)}: one holds no program"
    count(int(last.group(1)))


def on_fake_device(build, folder):
    """Programs in `folder` that are toy and toy-check with --device=cuda on the fake driver; every finding of the
    driver is an error of the run."""
    for name in ("toy", "toy-check"):
        wrapper = pathlib.Path(folder, name)
        wrapper.write_text(
            f"""#!/bin/sh
report=$(mktemp)
TOY_CUDA_DRIVER={build}/libtoyfakecuda.so TOY_FAKE_REPORT=$report {build}/{name} --device=cuda "$@"
status=$?
grep '^found: ' $report >&2 && status=99
rm -f $report
exit $status
"""
        )
        wrapper.chmod(0o755)
    os.symlink(f"{build}/libtoyfakecuda.so", pathlib.Path(folder, "libtoyfakecuda.so"))


def run(command, **kwargs):
    """A finished program that gets no input and, if nothing else is said, two minutes."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(command, text=True, errors="replace", **{**pipes, "timeout": 120, **kwargs})


def run_inputs(toy, flags, texts):
    """What each input of one session behind pipes (share/jupyter/kernels/toy/toy_session.py has the protocol) showed,
    errors included: they do not end it."""
    requests = b""
    for number, text in enumerate(texts):
        execute = {"jsonrpc": "2.0", "id": number, "method": "execute", "params": {"code": text, "number": number}}
        message = json.dumps(execute).encode()
        requests += b"Content-Length: %d\r\n\r\n%s" % (len(message), message)
    done = subprocess.run([toy, "--notebook", *flags], input=requests, capture_output=True, timeout=240)
    shown, number, out = [""] * len(texts), 0, io.BytesIO(done.stdout)
    while header := out.readline():
        out.readline()
        message = json.loads(out.read(int(header.split(b":")[1])))
        if message.get("method") == "show":
            shown[number] += message["params"].get("text", "")
        else:
            number += 1
    return shown


def without_signs(text):
    """On a device, transforms are another library's: zeros of imaginary parts have other signs. Without them there."""
    return re.sub(r"-(?=0\.0+i)", "+", text) if os.environ.get("TOY_TEST_DEVICE") == "fake" else text


def same(what, got, want):
    """What is wrong with a value, or None."""
    return None if got == want else f"{what}: expected {want!r}, got {got!r}"


def first(*problems):
    """The first of checks that found something, or None."""
    return next((p for p in problems if p), None)

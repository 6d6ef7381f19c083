#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the arithmetic of sizes, the resolution of names, the recognizer of complex products, what runs on devices, or
what several processes do, in one place at a time and sees that the tests notice. Builds a copy of the sources in
build/mutants; takes some minutes, so it is not part of `make test`: `make mutants ARGS=sizes` (or `names`,
`recognition`, `device`, `ranks`; behind it parts of mutants' names, as `a|b`). Ends with `N caught, N missed`."""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

from mutant_rows_device import DEVICE_MODULES, DEVICE_MUTANTS
from mutant_rows_recognition import MUTANTS
from mutant_rows_front import NAMES_MUTANTS, SIZES_MUTANTS
from mutant_rows_ranks import RANKS_MUTANTS

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build/mutants/source"
BUILD = ROOT / "build/mutants/build"
LIT = "/usr/lib/llvm-22/bin/lit"


def changed(text, before, after):
    """The text with something else in a place, however the place is broken into lines; None where there is no such
    place."""
    place = r"\s*".join(re.escape(token) for token in re.findall(r"\w+|[^\w\s]", before))
    mutant, count = re.subn(place, lambda _: after, text)
    return mutant if count else None


def places_gone():
    """Mutants whose place is no longer in the sources."""
    return [
        name
        for kind in KINDS.values()
        for name, path, before, after in kind.mutants
        if changed((ROOT / path).read_text(), before, after) is None
    ]


def build():
    done = subprocess.run(
        [
            "cmake",
            "--build",
            str(BUILD),
            "--target",
            "toy",
            "toy-opt",
            "toy-check",
            "toyfakecuda",
            "unit-tests",
            "--",
            "--quiet",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return None if done.returncode == 0 else done.stdout


@dataclasses.dataclass
class Kind:
    """Mutants, and the tests that are to notice them, from the quickest on."""

    mutants: list
    pytest: tuple
    units: str = ""  # a filter of GoogleTest
    texts: tuple = ()  # of tests/passes


KINDS = {
    "sizes": Kind(
        SIZES_MUTANTS,
        ("size_places.py", "declared_sizes.py", "dynamic.py", "symbolic.py", "names.py", "-m", "not nightly"),
        units="Dim*:ShapeFacts*",
    ),
    "names": Kind(
        NAMES_MUTANTS,
        ("names.py", "metamorphic.py", "closures.py", "modules.py", "attempts.py", "watching.py", "reference_docs.py")
        + ("cases.py", "dynamic.py", "-m", "not nightly"),
    ),
    "recognition": Kind(MUTANTS, ("recognition.py",), texts=("recognize-complex",)),
    "device": Kind(
        DEVICE_MUTANTS,
        ("buckets.py", "device.py", *(f"device_{part}.py" for part in DEVICE_MODULES))
        + ("-k", "not (ptxas or nvcc or auto or off or unpack)"),
        texts=("pad-to-buckets", "fuse-row-reductions"),
    ),
    "ranks": Kind(
        RANKS_MUTANTS,
        ("ranks.py", "ranks_values.py", "ranks_faults.py", "-k", "not (faults or all or example or programs)"),
    ),
}


def fails(command):
    try:
        return (
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120).returncode != 0
        )
    except subprocess.TimeoutExpired:
        return True


def first_failure(kind):
    """The name of a test that fails, or None."""
    if kind.units and fails([BUILD / "unit-tests", f"--gtest_filter={kind.units}"]):
        return "unit tests"
    if kind.texts and fails(
        [LIT, "-q", f"--param=build={BUILD}", *(ROOT / f"tests/passes/{t}.mlir" for t in kind.texts)]
    ):
        return "lit"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-n",
            "auto",
            f"--build={BUILD}",
            "-m",
            "nightly or not nightly",
            *kind.pytest,
        ],
        cwd=ROOT / "tests",
        stdout=subprocess.PIPE,
        text=True,
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    return None if done.returncode == 0 else failed[0].removeprefix("FAILED ") if failed else "pytest"


def main(kinds, only=""):
    for name in subprocess.run(
        ["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split():
        target = COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
            shutil.copyfile(ROOT / name, target)
    environment = {**os.environ, "CC": "clang-22", "CXX": "clang++-22"}
    subprocess.run(
        ["cmake", "--preset", "release", "-S", str(COPY), "-B", str(BUILD)],
        cwd=COPY,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    problem = build()
    caught = missed = 0
    for kind in kinds:
        if problem or first_failure(KINDS[kind]):
            print(problem or "the tests fail without mutants")
            return 1
        for name, path, before, after in KINDS[kind].mutants:
            if not any(part in name for part in only.split("|")):
                continue
            file = COPY / path
            text = file.read_text()
            mutant = changed(text, before, after)
            if mutant is None:
                print(f"MISSED {name}: the place to change is gone")
                missed += 1
                continue
            file.write_text(mutant)
            broken = build()
            failure = None if broken else first_failure(KINDS[kind])
            file.write_text(text)
            if broken:
                print(f"MISSED {name}: it does not compile\n{broken}", flush=True)
            elif failure:
                print(f"caught {name}: {failure}", flush=True)
            else:
                print(f"MISSED {name}", flush=True)
            caught += failure is not None
            missed += failure is None
    print(f"{caught} caught, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:2] or list(KINDS), " ".join(sys.argv[2:])))  # a kind, and parts of names: a|b

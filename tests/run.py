#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What `make test` and `make check` do: ctest over lit (texts with `RUN:` lines), pytest (everything that is compared
with Python) and the unit tests and fuzzers in C++. Shows what goes on and ends with one line `N passed, N failed, N
skipped`, of all kinds together.

    tests/run.py [--build=FOLDER] [FILE... | arguments for pytest]

Files are run alone; with -k or -m only pytest runs. Each kind alone: `lit -v tests`, `cd tests && python3 -m pytest`,
`ctest --test-dir build/release -L unit`."""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

from environment import VARIABLES

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIT = "/usr/lib/llvm-22/bin/lit"


def totals(report):
    """Passed, failed and skipped tests of a JUnit file."""
    sums = [0, 0, 0]
    for case in xml.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        sums[1 if kinds & {"failure", "error"} else 2 if "skipped" in kinds else 0] += 1
    return sums


def show(stream):
    """The lines of lit and pytest as they come; of the other tests a line each, at their end."""
    names, noise = {}, re.compile(
        r"Test command:|Working Directory:|Environment variables:|Test timeout computed|^ ?[A-Z_]+=|^$"
    )
    for line in stream:
        if started := re.match(r"\s*Start +(\d+): (.*)", line):
            names[started.group(1)] = started.group(2)
        elif said := re.match(r"(\d+): ?(.*)", line):
            if names.get(said.group(1)) in ("lit", "pytest") and not noise.search(said.group(2)):
                print(said.group(2), flush=True)
        elif re.search(r"Test +#\d+:", line) and not re.search(r": (lit|pytest) ", line):
            print(line.rstrip(), flush=True)


def run_all(build, arguments):
    only_pytest = any(a in ("-k", "-m") or a.startswith(("-k", "-m", "--device")) for a in arguments)
    reports = pathlib.Path(build, "reports")
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    environment = {**os.environ, **VARIABLES, "PYTEST_ADDOPTS": shlex.join(arguments), "COLUMNS": "60"}
    # Five processes read all tests: they are translated once, and not beside the sources.
    environment["PYTHONPYCACHEPREFIX"] = os.path.join(os.path.abspath(build), "pycache")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [
        "ctest",
        "--test-dir",
        build,
        "-V",
        "-j",
        str((os.cpu_count() or 1) + 1),
        "--output-junit",
        f"{reports}/ctest.xml",
        "--no-tests=error",
        *(["-L", "pytest"] if only_pytest else []),
    ]
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    show(process.stdout)
    status = process.wait()
    sums = [totals(path) for path in reports.glob("*.xml") if path.name != "ctest.xml"]
    passed, failed, skipped = (sum(column) for column in zip([0, 0, 0], *sums))
    for case in xml.parse(reports / "ctest.xml").iter("testcase"):
        failure, own = case.get("status") != "run", reports / f"{case.get('name')}.xml"
        if not own.exists():  # a unit test, or a kind that came to no report
            failed, passed = failed + failure, passed + (not failure)
        elif (
            failure and not totals(own)[1]
        ):  # no test of the kind failed, but the kind: nothing was run, or it broke down
            failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if status or failed or not passed else 0


def run_files(build, files, arguments):
    """Some files, by lit if they have RUN lines."""
    lit = [f for f in files if "RUN:" in pathlib.Path(f).read_text()]
    others = [os.path.abspath(f) for f in files if f not in lit]
    status = 0
    if lit:
        status |= subprocess.run([LIT, "-v", f"--param=build={build}", *lit]).returncode
    if others:
        status |= subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-v",
                f"--build={build}",
                f"--rootdir={ROOT}/tests",
                "-c",
                str(ROOT / "tests/pytest.ini"),
                *arguments,
                *others,
            ],
            cwd=ROOT / "tests",
        ).returncode
    return status


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--toy", help="the program, in place of --build")
    parser.add_argument("--toy-opt", help=argparse.SUPPRESS)
    parser.add_argument("--unit", help=argparse.SUPPRESS)
    options, arguments = parser.parse_known_args()
    build = os.path.abspath(os.path.dirname(options.toy) if options.toy else options.build)
    files = [a for a in arguments if pathlib.Path(a).suffix in (".toy", ".mlir", ".py") and pathlib.Path(a).exists()]
    arguments = [a for a in arguments if a not in files]
    return run_files(build, files, arguments) if files else run_all(build, arguments)


if __name__ == "__main__":
    sys.exit(main())

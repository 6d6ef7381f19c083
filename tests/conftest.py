# SPDX-License-Identifier: Apache-2.0
"""How pytest finds and runs what lies here. A test is one of * a function `test_…` of a file `test_*.py`, with the
fixture `toy` (the program's path); * a pair `(name, check)` that `all_cases()` of another module gives: `check(toy)`
returns None, or what is wrong, or a text that begins with `skipped`. A third   member names markers; * a program with
lines `# expect:` or `# error:` in tests/e2e, tests/errors or examples, for toy-check. Which kinds of builds run a test
is said by markers (pytest.ini); `sanitized` is given to all that are not marked `release`, `host` is skipped on a
device."""
import functools
import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

import pytest
from _pytest.mark.expression import Expression, ParseError
from xdist.scheduler import LoadScheduling

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import environment  # noqa: E402
import numpy  # noqa: E402
import programs  # noqa: E402

# The headers of all arrays that a test reads, of which few differ, are tokenized for what Python 2 wrote in them.
if hasattr(numpy.lib.format, "_filter_header"):
    numpy.lib.format._filter_header = functools.cache(numpy.lib.format._filter_header)

EVERY_DAY = ["--jit=never", "--jit=auto", "--jit=always"]
# A program has one of these by day, in turn, another one with sanitizers (instead of all compiled at once), and all of
# them at night.
IN_TURN = ["--jit=always -O0", "--jit=always -O0 --dynamic=on", "--jit=always -O0 --unpack"]
IN_TURN += ["--jit=always -O0 --no-fuse", "--jit=always -O3 --unpack", "--jit=never --naive-matmul"]
AT_NIGHT = ["--jit=always --dynamic=on", "--jit=always --unpack", "--jit=always --no-fuse"]
AT_NIGHT += ["--jit=always -O2 --no-fuse", "--jit=always -O3", "--jit=always -O2 --unpack"]
# Hundreds of kernels: they begin first, and are compiled by day in two ways instead of three, never with -O3.
LONG_PROGRAMS = {"across-rows", "eigenvalues", "narrow-columns", "products-by-vectors", "reductions-of-axes"}
LONG_PROGRAMS |= {"folds-in-groups", "folds-in-lanes", "spaced-elements", "streamed-tiles", "functions-of-spaced-rows"}
LONG_PROGRAMS |= {"strip-ends", "sums-of-transposes", "small-transposes", "complex-rows-by-halves", "scattered-apart"}
# Terminals, and processes that time out: their tests wait most of their time.
WAITING = {"progress", "prompt_keys", "prompt_sessions", "ranks_faults", "screen_rows", "screen_values", "screens"}
WAITING |= {"faults", "watching"}
OF_ERRORS = ["--jit=never", "--jit=always"]


def pytest_addoption(parser):
    parser.addoption("--build", default=str(ROOT / "build/release"), help="the folder with toy, toy-check and toy-opt")
    parser.addoption(
        "--sanitized",
        action="store_true",
        help="the programs are built with sanitizers, several times slower: without tests marked `release`",
    )
    parser.addoption(
        "--device", choices=["host", "fake"], default="host", help="fake: everything on a device that tests/cuda plays"
    )

    parser.addoption(
        "--cpu",
        type=int,
        metavar="N",
        help="the N tests that take most CPU time, and a table by file: tests, seconds, programs started",
    )


class Starts:
    """Counts the programs that this process starts."""

    number = 0

    def __call__(self, event, arguments):
        self.number += event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn")


starts = Starts()


def pytest_configure(config):
    if config.getoption("--cpu"):
        sys.addaudithook(starts)
    build = os.path.abspath(config.getoption("--build"))
    os.environ["TOY_TEST_SANITIZED"] = "1" if config.getoption("--sanitized") else ""
    if not config.option.markexpr:
        config.option.markexpr = "sanitized and not nightly" if config.getoption("--sanitized") else "not nightly"
    # Machine code that earlier runs left is not used; workers share what this run makes.
    if not hasattr(config, "workerinput"):
        for expression in filter(None, (config.option.keyword, config.option.markexpr)):
            try:
                Expression.compile(expression)
            except ParseError as error:  # workers would only break down
                raise pytest.UsageError(
                    f"`{expression}` is no expression of words, `and`, `or` and `not`: {error}"
                ) from None
        config.folder = tempfile.TemporaryDirectory(dir=environment.memory())
        os.environ["TMPDIR"] = os.path.join(config.folder.name, "tmp")
        os.mkdir(os.environ["TMPDIR"])
        for what in ("cache", "state", "config"):  # nor what the user of this machine keeps, as the prompt's history
            os.environ[f"XDG_{what.upper()}_HOME"] = os.path.join(config.folder.name, what)
        os.environ.update(environment.VARIABLES)
        os.environ["TOY_TEST_DEVICE"] = config.getoption("--device")
        os.environ["TOY_TEST_BUILD"] = build
        os.environ["TOY_TEST_PROGRAMS"] = build
        if config.getoption("--device") == "fake":
            programs.on_fake_device(build, config.folder.name)
            os.environ["TOY_TEST_PROGRAMS"] = config.folder.name
    config.programs = os.environ["TOY_TEST_PROGRAMS"]


def pytest_xdist_auto_num_workers(config):
    """Two more than processors: tests of the prompt wait most of their time."""
    return len(os.sched_getaffinity(0)) + 2


class OneByOne(LoadScheduling):
    """Gives each worker one test beside the one that it runs, so that nobody waits behind a long one."""

    def check_schedule(self, node, duration=0):
        if self.pending and not node.shutting_down:
            self._send_tests(node, 2 - len(self.node2pending[node]))
        elif not self.pending:
            super().check_schedule(node, duration)

    def _send_tests(self, node, num):
        super()._send_tests(node, min(num, 2))


def pytest_xdist_make_scheduler(config, log):
    return OneByOne(config, log)


@pytest.fixture
def toy(request):
    return os.path.join(request.config.programs, "toy")


def spent():
    """Results compared, programs started; seconds of CPU, user's and system's, here and of what was waited for."""
    times = os.times()
    return programs.cells, starts.number, times.user + times.children_user, times.system + times.children_system


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    before = spent()
    yield
    names = "cells", "starts", "user", "system"
    item.user_properties += [(n, round(b - a, 3)) for n, a, b in zip(names, before, spent())]


class Problem(Exception):
    """What a check returned."""


class Case(pytest.Item):
    def __init__(self, *, check, markers=(), **keywords):
        super().__init__(**keywords)
        self.check = check
        for name in markers:
            self.add_marker(name)

    def runtest(self):
        problem = self.check(os.path.join(self.config.programs, "toy"))
        if problem and problem.startswith("skipped"):
            pytest.skip(problem.removeprefix("skipped").lstrip(": "))
        if problem:
            raise Problem(problem)

    def repr_failure(self, info, style=None):
        return str(info.value) if isinstance(info.value, Problem) else super().repr_failure(info, style)

    def reportinfo(self):
        return self.path, 0, self.name


class Cases(pytest.File):
    def collect(self):
        module = importlib.import_module(".".join(self.path.relative_to(ROOT / "tests").with_suffix("").parts))
        shared = getattr(module, "MARKERS", ())
        arguments = (
            [os.path.join(os.environ["TOY_TEST_BUILD"], "toy-opt")]
            if module.all_cases.__code__.co_varnames[:1] == ("toy_opt",)
            else []
        )
        for name, check, *markers in module.all_cases(*arguments):
            yield Case.from_parent(self, name=name, check=check, markers=[*shared, *markers])


class Program(pytest.File):
    def collect(self):
        of_errors, is_long = self.path.parent.name == "errors", self.path.stem in LONG_PROGRAMS
        in_turn = [way for way in IN_TURN if not is_long or "-O0" in way]
        own = in_turn[(zlib.crc32(self.path.stem.encode()) + programs.is_sanitized()) % len(in_turn)]
        by_day = OF_ERRORS if of_errors else [*EVERY_DAY[: 2 if programs.is_sanitized() or is_long else 3], own]
        shared = ["host"] if self.path.stem in programs.OF_THE_HOST else []
        yield Case.from_parent(
            self,
            name=self.path.stem,
            check=lambda toy: self.check(toy, by_day),
            markers=[*shared, *(["long"] if is_long else [])],
        )
        if not of_errors:
            at_night = [way for way in (*EVERY_DAY, *IN_TURN, *AT_NIGHT) if way not in by_day]
            yield Case.from_parent(
                self,
                name=f"{self.path.stem} at night",
                check=lambda toy: self.check(toy, at_night),
                markers=[*shared, "nightly"],
            )

    def check(self, toy, configurations):
        with tempfile.TemporaryDirectory() as folder:
            command = [
                programs.checker(toy),
                "--timeout=300",
                *(f"--config={flags}" for flags in configurations),
                str(self.path),
            ]
            done = subprocess.run(
                command,
                cwd=self.path.parent if self.path.parent.name == "errors" else folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=3600,
            )
        last = done.stdout.rstrip().rsplit("\n", 1)[-1]
        if done.returncode or not re.match(r"[1-9]\d* passed, 0 failed", last):
            return done.stdout + done.stderr or f"status {done.returncode}"
        programs.count(int(last.split()[0]))
        return None


def pytest_collect_file(file_path, parent):
    if (
        file_path.suffix == ".py"
        and not file_path.name.startswith("test_")
        and re.search(r"^def all_cases\(", file_path.read_text(), re.M)
    ):
        return Cases.from_parent(parent, path=file_path)
    if file_path.suffix == ".toy":
        text = file_path.read_text()
        if "RUN:" not in text and ("# expect:" in text or "# error:" in text):
            return Program.from_parent(parent, path=file_path)
    return None


def pytest_collection_modifyitems(config, items):
    """What takes long begins first, and what waits is spread over three quarters of a run, beside what computes."""
    on_device = config.getoption("--device") == "fake"
    for item in items:
        if not item.get_closest_marker("release"):
            item.add_marker("sanitized")
        if on_device and item.get_closest_marker("host"):
            item.add_marker(pytest.mark.skip(reason="about the host"))
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    waiting = [item for item in items if item.path.stem in WAITING]
    computing = [item for item in items if item.path.stem not in WAITING]
    step = 1 + len(computing) * 3 // 4 // (len(waiting) + 1)
    for turn, item in enumerate(waiting):
        computing.insert(turn * (step + 1), item)
    items[:] = computing


def pytest_terminal_summary(terminalreporter, config):
    tests = []
    for report in (
        r for reports in terminalreporter.stats.values() for r in reports if getattr(r, "when", "") == "call"
    ):
        numbers = dict(report.user_properties)
        tests.append((report.nodeid, numbers["user"] + numbers["system"], numbers))
    if config.getoption("--cpu"):
        write_cost(terminalreporter.write_line, tests, config.getoption("--cpu"))
    terminalreporter.write_line(
        f"{sum(n['cells'] for _, _, n in tests)} results compared (a program, an expression or a message under one"
        f" configuration), {sum(cpu for _, cpu, _ in tests):.0f} s of CPU"
    )


def write_cost(write, tests, longest):
    """The tests that cost most, and the files."""
    files = {}
    for name, cpu, numbers in tests:
        files.setdefault(name.split("::")[0], []).append((cpu, numbers))
    for name, cpu, _ in sorted(tests, key=lambda test: -test[1])[:longest]:
        write(f"{cpu:8.2f}  {name}")
    write("     CPU  system  tests  starts  file")
    for file, rows in sorted(files.items(), key=lambda entry: -sum(cpu for cpu, _ in entry[1])):
        cpu, system, starts = (sum(r) for r in zip(*((c, n["system"], n["starts"]) for c, n in rows)))
        write(f"{cpu:8.1f}{system:8.1f}{len(rows):7}{starts:8}  {file}")

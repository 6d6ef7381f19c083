# SPDX-License-Identifier: Apache-2.0
"""How tests run a program as several processes: launchers, jobs, and what is left of them."""
import os
import pathlib
import shutil
import subprocess
import time

import processes
import pytest

OPEN, MPICH = "mpirun.openmpi", "mpirun.mpich"
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def longest():
    """Seconds that a job lives on after what ends it: 3, where others do not want the processors, too."""
    return 3.0 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def command(launcher, ranks):
    return [launcher, *(["--oversubscribe"] if launcher == OPEN else []), "-n", str(ranks)]


def environment(**more):
    return {**os.environ, **ENVIRONMENT, **more}


def job(toy, launcher, ranks, arguments, folder=None, stdin="", **more):
    """Runs a job to its end; (status, output, errors, seconds)."""
    began = time.time()
    words = [*command(launcher, ranks), toy, *arguments]
    options = {"cwd": folder, "stderr": subprocess.PIPE, "env": environment(**more)}
    status, out, err = processes.run(words, 300, stdin, **options)
    return status, out.replace("\r\n", "\n"), err, time.time() - began


def both(*names):
    return pytest.mark.skipif(any(shutil.which(name) is None for name in names), reason=f"needs {' and '.join(names)}")


def left_over(mark):
    """Processes whose command line has a word."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(path.parent.name)
        except OSError:
            pass
    return found


def left_soon(mark):
    """The same, a moment later: a launcher may end before what it has killed."""
    deadline = time.time() + 3
    while (rest := left_over(mark)) and time.time() < deadline:
        time.sleep(0.05)
    return rest


MARKS = ("release", "host")

# SPDX-License-Identifier: Apache-2.0
"""Processes with a time limit, which holds for all that they start."""
import os
import signal
import subprocess


def start(command, **keywords):
    """A process that leads a group of its own and whose output, with what it says of errors, is read."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, text=True, errors="replace", start_new_session=True, **{**streams, **keywords})


def end(child):
    """Kills such a process and what is left of its group."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(command, limit, given="", alone=False, **keywords):
    """The status, None if the process did not end within so many seconds, and what it wrote: to stdout, and to stderr
    if that is a pipe of its own. With `alone` nothing that it started goes on after it."""
    with start(command, **{"stdin": subprocess.PIPE, **keywords}) as child:
        try:
            said = child.communicate(given, timeout=limit)
            status = child.returncode
        except subprocess.TimeoutExpired:
            status, said = None, (f"not done after {limit:g} s", "")
        finally:
            if alone or child.returncode is None:
                end(child)
    return status, *said[: 2 if "stderr" in keywords else 1]

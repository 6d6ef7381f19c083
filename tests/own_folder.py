# SPDX-License-Identifier: Apache-2.0
"""The program in a folder of its own, which is its home and where its temporary files go."""
import functools
import os
import pathlib
import stat
import subprocess
import tempfile


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


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def cases_in_a_folder(check):
    @functools.wraps(check)
    def case(toy):
        with tempfile.TemporaryDirectory() as folder:
            return check(toy, pathlib.Path(folder))

    return case

# SPDX-License-Identifier: Apache-2.0
"""The fuzzers in C++ with more seeds than ctest gives them every day."""
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def fuzz(fuzzer, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [os.path.join(os.environ["TOY_TEST_BUILD"], fuzzer), *map(str, arguments)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=3600,
        )
    return None if done.returncode == 0 else f"status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-1000:]}"


MARKERS = ("host", "release", "nightly")


def all_cases():
    for seed in range(4, 25):
        yield f"fuzz-shapes {seed}", lambda toy, seed=seed: fuzz("fuzz-shapes", 100, seed)
    programs = sorted(
        p for folder in ("examples", "tests/e2e", "tests/errors") for p in (ROOT / folder).glob("**/*.toy")
    )
    for seed in range(2, 6):
        yield f"fuzz-prompt {seed}", lambda toy, seed=seed: fuzz("fuzz-prompt", 10000, seed, *programs)

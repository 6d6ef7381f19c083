# SPDX-License-Identifier: Apache-2.0
"""A published Llama, run by a program of the language."""
import pathlib

from programs import run, same

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "examples/llama/stories260K"


def real_model(toy):
    """Layer 0 of a published Llama: embedding, RMSNorm, projections and RoPE agree with reference queries and keys."""
    for flags in (["--jit=never"], [], ["--jit=always"]):
        done = run([toy, *flags, str(ROOT / "tests/model/layer0.toy"), str(MODEL)])
        if done.returncode or done.stdout != "true true\n":
            return f"{flags}: {done.stdout}{done.stderr}"
    return None


def llama(toy):
    """The whole model, in the language: its greedy tokens are as published; sampling is repeatable; a prompt is
    continued; files that are no model are errors."""
    program, files = str(ROOT / "examples/llama/llama.toy"), [str(MODEL / "stories260K.bin"), str(MODEL / "tok512.bin")]
    want = (MODEL / "expected-greedy-200.txt").read_text()
    alone = run([toy, program], cwd=ROOT)
    if alone.returncode or not alone.stdout.startswith(want[:-1]):
        return f"without a checkpoint: {alone.stdout}{alone.stderr}"
    for flags in (["--unpack"], ["--threads=1"], ["--no-recognize"]):
        done = run([toy, *flags, program, *files, "80"])
        if done.returncode or len(done.stdout) < 80 or not want.startswith(done.stdout[:-1]):
            return f"{flags}: {done.stdout}{done.stderr}"
    again = [run([toy, program, *files, "40", "0.9", seed, "Once upon a"]).stdout for seed in ("7", "7", "8")]
    if again[0] != again[1] or again[0] == again[2] or not again[0].startswith("Once upon a"):
        return f"{again}"
    failed = run([toy, program, files[1], files[1]])
    return same("status of a wrong file", failed.returncode, 1)


def random_llama(toy):
    """A random model of any size runs."""
    done = run([toy, str(ROOT / "examples/llama/random.toy"), "32", "2", "4", "2", "50", "8", "5"])
    return None if done.returncode == 0 and done.stdout.endswith("of a prompt\n") else done.stdout + done.stderr


def all_cases():
    for case in (real_model, llama, random_llama):
        yield case.__name__.replace("_", " "), case

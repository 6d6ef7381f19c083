# SPDX-License-Identifier: Apache-2.0
"""Greedy decoding of the Llama example beside llama2.c's run.c, taking turns: tokens a second while decoding (from the
second token on, as run.c counts; what a run of one token takes is subtracted), medians, and the time of the whole
command. run.c is not part of this repository: build it with `gcc -O3 -march=native run.c -lm` and name the program.
Usage: llama.py TOY RUN CHECKPOINT TOKENIZER [STEPS [ROUNDS]]"""
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def timed(command):
    begin = time.perf_counter()
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=True
    )
    return time.perf_counter() - begin, done


def main():
    toy, run, checkpoint, tokenizer = sys.argv[1:5]
    steps = int(sys.argv[5]) if len(sys.argv) > 5 else 200
    rounds = int(sys.argv[6]) if len(sys.argv) > 6 else 9
    ours, theirs, whole = [], [], ([], [])
    for _ in range(rounds):
        seconds, done = timed(
            [toy, "--time", str(HERE.parent / "examples/llama/llama.toy"), checkpoint, tokenizer, str(steps)]
        )
        whole[0].append(seconds)
        one = timed([toy, "--time", str(HERE.parent / "examples/llama/llama.toy"), checkpoint, tokenizer, "1"])[1]
        run_ms = [float(dict(re.findall(r"(\w+)\s+([0-9.]+) ms", text))["run"]) for text in (one.stderr, done.stderr)]
        ours.append((steps - 1) / ((run_ms[1] - run_ms[0]) / 1000))
        seconds, done = timed([run, checkpoint, "-z", tokenizer, "-t", "0", "-n", str(steps)])
        whole[1].append(seconds)
        theirs.append(float(re.search(r"tok/s: ([0-9.]+)", done.stderr).group(1)))
    print("| program | tokens a second | whole command, ms |\n| --- | --- | --- |")
    for name, rates, times in (("toy", ours, whole[0]), ("run.c", theirs, whole[1])):
        print(f"| {name} | {statistics.median(rates):.0f} | {1000 * statistics.median(times):.0f} |")


if __name__ == "__main__":
    main()

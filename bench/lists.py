# SPDX-License-Identifier: Apache-2.0
"""Appends and text beside CPython, one thread: the best of five runs each. Nothing here is a test."""
import subprocess
import sys
import tempfile
import time

PROGRAM = """
def integers(n) { var xs = list(); for i in range(n) { xs = append(xs, i); } return xs; }
def texts(n) { var xs = list(); for i in range(n) { xs = append(xs, "word"); } return xs; }
def total(xs: list[i64]) { var t = 0; for x in xs { t += x; } return t; }
def measured(f: fn) {
  var best = inf;
  for k in range(5) { var b = clock(); check(f() >= 0); best = minimum(best, clock() - b); }
  print(best);
}
measured(() => len(integers(10000)));
measured(() => len(integers(100000)));
measured(() => len(integers(1000000)));
measured(() => len(texts(1000000)));
var xs = integers(1000000);
measured(() => total(xs));
var text = join(map(i => f"word{i % 1000}", integers(1250000)), " ");
measured(() => len(split(text)));
var words = split(text);
measured(() => len(join(words, " ")));
measured(() => len(sort(words)[0]));
"""
NAMES = [
    "10^4 appends of integers",
    "10^5 appends of integers",
    "10^6 appends of integers",
    "10^6 appends of a string",
    "sum of 10^6 integers in a loop",
    "split of 10 MB",
    "join of 10 MB",
    "sort of 1.25 * 10^6 words",
]


def python_times():
    def integers(n):
        xs = []
        for i in range(n):
            xs.append(i)
        return xs

    def texts(n):
        xs = []
        for _ in range(n):
            xs.append("word")
        return xs

    def total(xs):
        t = 0
        for x in xs:
            t += x
        return t

    xs = integers(1000000)
    text = " ".join(f"word{i % 1000}" for i in range(1250000))
    words = text.split(" ")
    for f in (
        lambda: integers(10000),
        lambda: integers(100000),
        lambda: integers(1000000),
        lambda: texts(1000000),
        lambda: total(xs),
        lambda: text.split(" "),
        lambda: " ".join(words),
        lambda: sorted(words),
    ):
        best = float("inf")
        for _ in range(5):
            begin = time.perf_counter()
            f()
            best = min(best, time.perf_counter() - begin)
        yield best


def toy_times(toy):
    with tempfile.NamedTemporaryFile("w", suffix=".toy") as file:
        file.write(PROGRAM)
        file.flush()
        done = subprocess.run([toy, "--threads=1", file.name], stdout=subprocess.PIPE, text=True, check=True)
        return [float(line) for line in done.stdout.split()]


if __name__ == "__main__":
    print("| | toy ms | CPython ms | ratio |\n| --- | --- | --- | --- |")
    for name, ours, theirs in zip(NAMES, toy_times(sys.argv[1]), python_times(), strict=True):
        print(f"| {name} | {1e3 * ours:.2f} | {1e3 * theirs:.2f} | {theirs / ours:.1f} |")

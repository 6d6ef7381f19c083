# SPDX-License-Identifier: Apache-2.0
"""Lists, text, tables, trees and errors beside CPython and NumPy, one thread: the best of five runs each, or of
those that fit into 50 ms. The first word of a line's name is the function that it measures; tests/peers_bench.py asks
for a line of each. Nothing here is a test.

    bench/lists_text.py build/release/toy [EXPRESSION]    # lines whose name this finds"""
import csv
import functools
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

#: what both languages have: a name, then its value in each
VALUES = [
    ("xs", "integers(1000000)", "list(range(1000000))"),
    ("words", 'map(i => f"word{i % 1000}", integers(100000))', '[f"word{i % 1000}" for i in range(100000)]'),
    ("text", 'join(words, " ")', '" ".join(words)'),
    ("page", 'join(words, "\\n") + "\\n"', '"\\n".join(words) + "\\n"'),
    ("data", "bytes(text)", "np.frombuffer(text.encode(), np.uint8)"),
    ("m", "rand(1000, 100)", "rng.random((1000, 100))"),
    ("p", "Net(rand(300, 300), rand(300), 0.5)", '{"w": rng.random((300, 300)), "b": rng.random(300), "c": 0.5}'),
    ("tall", "Columns(words, rand(100000))", "(words, rng.random(100000))"),
]

#: how Toy writes what takes more than an expression
TOY = """struct Net { var w; var b; var c; }
struct Columns { var word: list[str]; var x: f64[n]; }
def integers(n) { var xs = list(); for i in range(n) { xs = append(xs, i); } return xs; }
def texts(n) { var xs = list(); for i in range(n) { xs = append(xs, "word"); } return xs; }
def rows(n) { var x = zeros(0, 3); for i in range(n) { x = append(x, [1.0 * i, 2, 3]); } return x; }
def total(xs: list[i64]) { var t = 0; for x in xs { t += x; } return t; }
def changed(xs) { for i in range(len(xs)) { xs[i] = xs[i] + 1; } return xs; }
def caught(n) { var t = 0; for i in range(n) { try { fail("odd"); } catch e { t += len(e.text); } } return t; }
def tried(n) {
  var t = 0;
  for i in range(n) { try { t += i; if t < 0 { fail("odd"); } } catch e { t += 1; } }
  return t;
}
def counts(words) {
  var seen = list(); var n = list();
  for w in words {
    var at = find(seen, w);
    if at < 0 { seen = append(seen, w); n = append(n, 1); } else { n[at] = n[at] + 1; }
  }
  return n;
}
def numbers_of(path) { var x: f64[_, _] = load(path); return x; }
def columns_of(path) { Columns c = load(path, header = true); return c; }
def with_members(p, n) { var q = p; for i in range(n) { q = with(q, c = q.c + 1); } return q.c; }
"""

# --- the same in Python


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


def rows(n):
    x = []
    for i in range(n):
        x.append([1.0 * i, 2, 3])
    return np.array(x)


def total(xs):
    t = 0
    for x in xs:
        t += x
    return t


def changed(xs):
    xs = xs.copy()
    for i in range(len(xs)):
        xs[i] = xs[i] + 1
    return xs


def caught(n):
    t = 0
    for _ in range(n):
        try:
            raise ValueError("odd")
        except ValueError as e:
            t += len(str(e))
    return t


def tried(n):
    t = 0
    for i in range(n):
        try:
            t += i
            if t < 0:
                raise ValueError("odd")
        except ValueError:
            t += 1
    return t


def counts(words):
    seen, n = [], []
    for w in words:
        at = seen.index(w) if w in seen else -1
        if at < 0:
            seen.append(w)
            n.append(1)
        else:
            n[at] += 1
    return n


def with_members(p, n):
    q = p
    for _ in range(n):
        q = {**q, "c": q["c"] + 1}
    return q["c"]


def columns_of(path):
    with open(path, newline="") as file:
        rows_ = list(csv.reader(file))[1:]
    return [row[0] for row in rows_], np.array([float(row[1]) for row in rows_])


def table_to(path, words, x):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["word", "x"])
        out.writerows(zip(words, x.tolist()))
    return 1


def write(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)
    return 1


def read(path):
    with open(path) as file:
        return file.read()


#: name, in Toy, in Python; both give a number. `@` is a folder.
LINES = [
    ("try that fails", "caught(10000)", "caught(10000)"),
    ("try that does not", "tried(100000)", "tried(100000)"),
    ("append of 10^4 integers", "len(integers(10000))", "len(integers(10000))"),
    ("append of 10^6 integers", "len(integers(1000000))", "len(integers(1000000))"),
    ("append of a string", "len(texts(1000000))", "len(texts(1000000))"),
    ("append of rows", "len(rows(100000))", "len(rows(100000))"),
    ("list in a loop", "total(xs)", "total(xs)"),
    ("list changed", "changed(xs)[5]", "changed(xs)[5]"),
    ("map of a list", "len(map(x => 2 * x + 1, xs))", "len([2 * x + 1 for x in xs])"),
    ("map to text", "len(map(x => str(x), xs[:100000]))", "len([str(x) for x in xs[:100000]])"),
    ("fold", "fold((a, x) => a + x % 7, 0, xs)", "functools.reduce(lambda a, x: a + x % 7, xs, 0)"),
    ("stack", "len(stack(xs))", "len(np.array(xs))"),
    ("contains", "i64(contains(xs, 999999))", "int(999999 in xs)"),
    ("find in a list", "find(xs, 999999)", "xs.index(999999)"),
    ("find in text", 'find(text, "word999 word1 ")', 'text.find("word999 word1 ")'),
    ("find and counts", "len(counts(words[:10000]))", "len(counts(words[:10000]))"),
    ("sort of words", "len(sort(words)[0])", "len(sorted(words)[0])"),
    ("split", "len(split(text))", 'len(text.split(" "))'),
    ("join", 'len(join(words, " "))', 'len(" ".join(words))'),
    ("lines", "len(lines(page))", "len(page.splitlines())"),
    ("strip", "fold((n, w) => n + len(strip(w)), 0, words)", "sum(len(w.strip()) for w in words)"),
    ("replace", 'len(replace(text, "word", "w"))', 'len(text.replace("word", "w"))'),
    (
        "starts_with",
        'fold((n, w) => n + i64(starts_with(w, "word1")), 0, words)',
        'sum(w.startswith("word1") for w in words)',
    ),
    ("ends_with", 'fold((n, w) => n + i64(ends_with(w, "1")), 0, words)', 'sum(w.endswith("1") for w in words)'),
    ("upper", "len(upper(text))", "len(text.upper())"),
    ("lower", "len(lower(text))", "len(text.lower())"),
    ("decode", "len(decode(data))", "len(data.tobytes().decode())"),
    ("bytes", "len(bytes(text))", "len(np.frombuffer(text.encode(), np.uint8))"),
    ("str", "len(str(xs[5])) + len(str(m[0, 0]))", "len(str(xs[5])) + len(str(m[0, 0]))"),
    (
        "str of numbers",
        'fold((n, i) => n + len(f"{i / 7:.3f}"), 0, xs[:100000])',
        'sum(len(f"{i / 7:.3f}") for i in xs[:100000])',
    ),  # fmt: skip
    ("read_text", 'len(read_text("@/text.txt"))', 'len(read("@/text.txt"))'),
    ("write_text", 'done(() => { write_text("@/toy.txt", text); })', 'write("@/py.txt", text)'),
    (
        "write_text behind",
        'done(() => { write_text("@/toy.log", "a line\\n", append = true); })',
        'write("@/py.log", "a line\\n", "a")',
    ),
    ("read_binary", 'len(read_binary("@/m.bin", f64, [-1, 100]))', 'len(np.fromfile("@/m.bin").reshape(-1, 100))'),
    ("load of numbers", 'len(numbers_of("@/m.csv"))', 'len(np.loadtxt("@/m.csv", delimiter=","))'),
    ("load of a table", 'len(columns_of("@/t.csv").x)', 'len(columns_of("@/t.csv")[1])'),
    ("save of numbers", 'done(() => { save("@/toy.csv", m); })', '1 + (np.savetxt("@/py.csv", m, delimiter=",") or 0)'),
    ("save of a table", 'done(() => { save("@/toyt.csv", tall); })', 'table_to("@/pyt.csv", *tall)'),
    ("tree_map", "tree_map((a, b) => a - 0.1 * b, p, p).b[0]", "{k: v - 0.1 * v for k, v in p.items()}['b'][0]"),
    ("tree_fold", "tree_fold((s, x) => s + sum(x * x), 0.0, p)", "sum(np.sum(v * v) for v in p.values())"),
    ("with", "with_members(p, 100000)", "with_members(p, 100000)"),
]

MEASURED = """def measured(f: fn) {
  var best = inf; var runs = 0; var begin = clock();
  while runs < 5 or clock() - begin < 0.05 {
    var b = clock(); check(f() > -1e300); best = minimum(best, clock() - b); runs += 1;
  }
  print(best);
}
def done(f: fn) { f(); return 1; }
"""


def program(chosen, folder):
    """The script of Toy: the lines, each behind the values that it needs."""
    text, known = TOY + MEASURED, {}
    values = {name: value for name, value, _ in VALUES}

    def needed(expression):
        """Definitions of what an expression names that have not been given yet."""
        out = ""
        for name in re.findall(r"\w+", expression):
            if name in values and name not in known:
                known[name] = True
                out += needed(values[name]) + f"var {name} = {values[name]};\n"
        return out

    for _, toy, _ in chosen:
        text += needed(toy) + f"measured(() => {toy});\n"
    return text.replace("@", folder)


def toy_times(toy, chosen, folder):
    path = f"{folder}/lists.toy"
    with open(path, "w") as file:
        file.write(program(chosen, folder))
    done = subprocess.run([toy, "--threads=1", path], stdout=subprocess.PIPE, text=True, check=True)
    return [float(line) for line in done.stdout.split()]


def python_values(folder):
    values = {**globals(), "rng": np.random.default_rng(0), "functools": functools}
    for name, _, value in VALUES:
        values[name] = eval(value, values)
    write(f"{folder}/text.txt", values["text"])
    values["m"].tofile(f"{folder}/m.bin")
    np.savetxt(f"{folder}/m.csv", values["m"], delimiter=",")
    table_to(f"{folder}/t.csv", *values["tall"])
    return values


def python_times(chosen, values, folder):
    for _, _, text in chosen:
        call, times, start = eval("lambda: " + text.replace("@", folder), values), [], time.perf_counter()
        while len(times) < 5 or time.perf_counter() - start < 0.05:
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        yield min(times)


def main(toy, only=""):
    chosen = [line for line in LINES if re.search(only, line[0])]
    print("| | toy ms | CPython ms | ratio |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        values = python_values(folder)
        ours = toy_times(os.path.abspath(toy), chosen, folder)
        for (name, _, _), a, b in zip(chosen, ours, python_times(chosen, values, folder), strict=True):
            print(f"| {name} | {1e3 * a:.3g} | {1e3 * b:.3g} | {b / a:.2g} |")


if __name__ == "__main__":
    main(*sys.argv[1:])

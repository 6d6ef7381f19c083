# SPDX-License-Identifier: Apache-2.0
"""Random programs that append to lists and vectors, take off them and walk through them by what they hold: on some ways
through a turn, in nests of loops, in functions that call themselves and give them back, beside other names for them,
with errors in the middle, which leave what was there. Compiled code prints what the evaluator prints."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from programs import in_turn, of_this_build, run_parts, same

SETTINGS = ["--jit=never", "--jit=always", "--jit=always -O0", "--jit=always -O3 --unpack", "--jit=always --dynamic=on"]
SETTINGS += ["--jit=auto", "--jit=always --no-fuse"]
DAILY, NIGHTLY = 24, 600

FUNCTIONS = """
def fold(x: list[i64]) -> i64 { var h = 7; for v in x { h = (h * 31 + v) % 1000003; } return h; }
def weigh(x: list[{b}]) { var s = {zero}; for k in range(len(x)) { s += x[k] * {b}(k % 5 - 2); } return s; }
def grow(x: list[i64], depth: i64, seed: i64) -> (list[i64], i64) {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  if depth == 0 { return (append(x, seed % 7), len(x)); }
  if seed // 64 % 4 == 0 { x[seed % len(x)] = depth; }
  var (y, l) = grow(x, depth - 1, seed);
  var (z, r) = grow(y, depth - 1, seed + l);
  return (append(z, l - r), len(z));
}
def risky(x: list[i64], k: i64) -> list[i64] {
  for t in range(k) { if t % 3 == 1 { x = append(x, -t); } x[t % 4] = x[t] + 1; }
  return x;
}
def popped(x: list[i64], least: i64) -> list[i64] { while len(x) > least { x = x[:len(x) - 1]; } return x; }
def walked(x: list[i64], steps: i64) -> i64 {
  var at = 0; var s = 0;
  for k in range(steps) {
    if x[at] < 0 { x[at] = len(x); x = append(x, -1); if k % 5 == 4 { x = append(x, -2); } }
    at = x[at] % len(x); s = (s * 3 + at) % 10007;
  }
  return s + fold(x);
}
"""


class Program:
    """A function with vectors a, c (of integers, which are indices, too) and b."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.b = self.rng.choice(["f64", "f64", "c128", "f32", "i32"])

    def index(self, x):
        """Mostly inside."""
        inside = f"({self.rng.choice(['at', 'i', 'j', 'i * 3 + j', 'h'])}) % len({x})"
        return self.rng.choices(
            [inside, f"-({inside}) - 1", "at", "-1", "0", "i", "at - 1", "len(a) - 1"], [60, 8, 12, 4, 4, 1, 1, 1]
        )[0]

    def condition(self):
        x = self.rng.choice("aac")
        return self.rng.choice(
            [
                f"{x}[{self.index(x)}] < 0",
                f"{x}[{self.index(x)}] % 3 == {self.rng.randint(0, 2)}",
                f"(i + j) % {self.rng.randint(2, 4)} == 0",
                f"len({x}) < {self.rng.randint(3, 40)}",
                f"h % 5 < {self.rng.randint(1, 4)}",
                "len(b) > 2 and h % 2 == 0",
            ]
        )

    def simple(self):
        rng, x = self.rng, self.rng.choice("aac")
        place = self.index(x)
        return rng.choice(
            [
                f"{x} = append({x}, {rng.choice(['-1', 'h % 9 - 4', 'i', 'len(c)'])});",
                f"{x} = append({x}, -1); {x} = append({x}, i - j); b = append(b, {self.b}(h % 11));",
                f"b = append(b, {self.b}(i));",
                f"{x}[{place}] = {rng.choice(['-1', 'h % 13 - 5', 'len(a)'])};",
                f"h = (h * 31 + {x}[{place}]) % 1000003;",
                f"at = {x}[{place}];",
                f"at = h % len({x});",
                f"h = (h + len({x}) + len(b)) % 1000003;",
                f"b[{self.index('b')}] += {self.b}(j);",
                f"var w = weigh(b); b[0] = w; b[0] = {self.b}(1);",
                f"h = (h * 7 + fold({x})) % 1000003;",
            ]
        )

    def statement(self, depth=0):
        rng, x = self.rng, self.rng.choice("aac")
        place = self.index(x)
        forms = [
            f"if {x}[{place}] < 0 {{ {x}[{place}] = len({x}); {self.simple()} }} at = {x}[{place}];",
            f"if {self.condition()} {{ {self.simple()} }}",
            f"if {self.condition()} {{ {self.simple()} }} else {{ {self.simple()} }}",
            f"if len({x}) > {rng.randint(1, 9)} {{ {x} = {x}[:len({x}) - {rng.choice([1, 1, 2])}]; }}",
            f"while len({x}) > {rng.randint(9, 30)} {{ {x} = {x}[:len({x}) - 1]; h = h + {x}[0] % 5; }}",
            self.simple(),
        ]
        rare = [
            f"var kept = {x}; {self.simple()} h = (h + fold(kept)) % 1000003;",
            f"c = a; {self.simple()}",
            f"var t = a; a = c; c = t;",
            f"var (g, r) = grow({x}, {rng.randint(0, 3)}, h); {x} = g; h = (h + r) % 1000003;",
            f"h = (h + walked({x}, {rng.randint(1, 12)})) % 1000003;",
            f"try {{ {x} = risky({x}, {rng.randint(1, 9)}); }} catch e {{ h = (h + {rng.randint(1, 99)}) % 1000003; }}",
            f"{x} = popped({x}, {rng.randint(1, 6)});",
            f"rows = append(rows, {x});",
            f"if {self.condition()} {{ {rng.choice(['break', 'continue'])}; }}",
            "print(i, j, len(a), len(b), h);",
        ]
        if depth < 2 and rng.random() < 0.25:
            inner = " ".join(self.statement(depth + 1) for _ in range(rng.randint(1, 2)))
            turns = rng.choice(["range(6)", "range(3)", "range(h % 8)", "range(len(c) % 7)"])
            return f"for j in {turns} {{ {inner} }}"
        return rng.choice(rare if rng.random() < 0.2 else forms)

    def text(self):
        rng = self.rng
        zero = f"{self.b}(0)"
        lines = [FUNCTIONS.replace("{b}", self.b).replace("{zero}", zero), "def f(n: i64) {"]
        first = ", ".join(str(rng.randint(-3, 3)) for _ in range(rng.randint(1, 9)))
        lines.append(f"  var a = list({first}); var c = list(-1, -1); var b = list({zero}, {self.b}(2));")
        lines.append("  var rows = list(list(1)); var h = 1; var at = 0; var j = 0;")
        for is_last in (False, True) if rng.random() < 0.5 else (True,):
            body = " ".join(self.statement() for _ in range(rng.randint(2, 4)))
            if is_last and rng.random() < 0.4:
                lines.append("  var i = 0;")
                lines.append(f"  while i < n {{ {body.replace('continue;', 'i += 1; continue;')} i += 1; }}")
            else:
                lines.append(f"  for i in range(n) {{ {body} }}")
        lines.append("  for row in rows { h = (h * 3 + fold(row)) % 1000003; }")
        lines += ["  print(h, at, len(a), fold(a), fold(c), weigh(b));", "  return a;", "}"]
        calls = "".join(f"try {{ print(f({n})); }} catch e {{ print(e.text); }}\n" for n in (0, rng.choice([3, 9]), 60))
        return "\n".join(lines) + "\n" + calls + "print(f(17));\n"


def random_programs(toy, seeds, every_setting):
    texts = [Program(seed).text() for seed in seeds]
    settings = [SETTINGS if every_setting else in_turn(SETTINGS, i, 2) for i in range(len(texts))]
    for text, used, results in zip(texts, settings, run_parts(toy, list(zip(texts, settings)))):
        outputs = [(done.status, done.stdout, done.stderr) for done in results]
        if any(output != outputs[0] for output in outputs):
            return "\n".join([text, *(f"{setting}: {output}" for setting, output in zip(used, outputs))])


MANY = """def many(n: i64) {
  var rows: list[list[i64]] = list();
  for i in range(n) {
    var row = list(1, 2, 3, 4, 5, 6, 7, 8, 9);
    for j in range(100000) { if j % 7 != 1 { row = append(row, j); } }
    rows = append(rows, row);
  }
  return len(rows);
}
"""


def room_is_no_memory(toy):
    """A vector of half a large page takes what it is counted as, about a MiB, and not all of the page, but where a
    system gives large pages to everybody."""
    pages = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if pages.exists() and "[always]" in pages.read_text():
        return None

    def most_kilobytes(n):
        with tempfile.NamedTemporaryFile("w", suffix=".toy") as file:
            file.write(f"{MANY}print(many({n}));\n")
            file.flush()
            process = subprocess.Popen([toy, "--jit=always", file.name], stdout=subprocess.DEVNULL)
            process.returncode, usage = os.wait4(process.pid, 0)[1:]
            return usage.ru_maxrss

    each = (most_kilobytes(90) - most_kilobytes(10)) / 80
    return None if each < 1500 else f"{each:.0f} KiB for each of 80 vectors"


FILLED = """def filled(n: i64) -> i64 {
  var x: list[i64] = list();
  for i in range(n) { if i % 2 == 0 { x = append(x, i); } }
  return len(x);
}
print(filled(100000));
try { print(filled(200000)); } catch e { print("no room"); }
"""


def memory_is_counted(toy):
    """What grows where it is counts as memory, too. (With sanitizers it is copied, and both are there for a while.)"""
    ((done,),) = run_parts(toy, [(FILLED, ["--jit=always --memory-limit=790000"])])
    return same("memory that is counted", (done.status, done.stdout), (0, "50000\nno room\n"))


def all_cases():
    yield "growing vectors: memory is counted", memory_is_counted, "host"
    yield "growing vectors: room is no memory", room_is_no_memory, "release", "host"
    yield "growing vectors: random programs", lambda toy: random_programs(toy, of_this_build(DAILY), False)
    for first in range(0, NIGHTLY, 50):
        run = lambda toy, seeds=range(first, first + 50): random_programs(toy, seeds, True)
        yield f"growing vectors: {first} to {first + 49}", run, "nightly"


if __name__ == "__main__":
    print(Program(int(sys.argv[1])).text())

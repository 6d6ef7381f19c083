# SPDX-License-Identifier: Apache-2.0
"""Work of the compiler grows with the program and not faster."""
import json
import resource
import subprocess

import pytest


def slices(n):
    return "def f(y: f64[N]) {\n" + "  y = y[1:] + y[:-1];\n" * n + "  return y;\n}\nprint(f(ones(3)));\n"


def branches(n):
    return (
        "def f(x: f64[N], k: i64) {\n  var s = 0;\n"
        + "".join(f"  if k > {i} {{ s = s + {i}; }}\n" for i in range(n))
        + "  return s + N;\n}\nprint(f([1.0], 5));\n"
    )


def nested_loops(n):
    """Each has a tensor of its own that grows in the innermost one."""
    tensors = "".join(f"  var t{k} = zeros(1);\n" for k in range(n))
    loops = (
        "".join(f"  for i{k} in range(n) {{\n" for k in range(n))
        + "".join(f"  t{k} = cat([t{k}, ones(1)]);\n" for k in range(n))
        + "}" * n
    )
    lengths = " + ".join(f"len(t{k})" for k in range(n))
    return f"def f(n: i64) {{\n{tensors}{loops}\n  return {lengths};\n}}\nprint(f(1));\n"


def wide_functions(n, read):
    """Functions of many parameters that read two of them: the others are there or not."""
    names = [f"v{i}" for i in range(17)] if not read else ["v0", "v16"]
    values = "".join(f"var v{i} = [1.0, {i}{' + 1i' if i % 2 else ''}];\n" for i in range(17))
    return values + "".join(
        f"def f{k}({', '.join(names)}) {{ return v0 * {k} + v16; }}\nprint(f{k}({', '.join(names)}));\n"
        for k in range(n)
    )


def statements(n):
    """Of three kinds, each with a number of its own."""
    kinds = ["var a{i} = sin(x + {i}.5);\n", "var b{i} = cumsum(a{j});\n", "print(max(b{j}));\n"]
    lines = "".join(kinds[i % 3].format(i=i, j=i - 1) for i in range(n))
    return f"var x = linspace(0.0, 1.0, 1000);\n{lines}"


def statements_of_a_function(n):
    lines = "".join(f"  var a{i} = sin(x + {i}.5); var b{i} = cumsum(a{i}); s += max(b{i});\n" for i in range(n // 3))
    return f"def f(x: f64[N]) {{\n  var s = 0.0;\n{lines}  return s;\n}}\nprint(f(linspace(0.0, 1.0, 1000)));\n"


def row_stores(n):
    """One behind the other, of rows that lie side by side: each may ask for what the others left."""
    stores = "".join(f"    a[{i % 40}] = a[{(i * 7 + 1) % 40}] * {1 + i % 5}.5 + a[{i * 3 % 40}];\n" for i in range(n))
    return (
        f"def f(a: f64[N, M]) {{\n  for t in range(2) {{\n{stores}  }}\n  return a;\n}}\nprint(sum(f(ones(40, 30))));\n"
    )


def chains_with_elements(n):
    """Each line looks at one element of what all lines before it have made."""
    lines = "".join(f"  s = log1p(exp(s * {i}.5)) + sin(s[{i % 40}] * x);\n" for i in range(n))
    return f"def f(x) {{\n  var s = x;\n{lines}  return s;\n}}\nprint(sum(f(linspace(0.1, 1.0, 40))));\n"


def functions_with_loops(n):
    """Called one after the other."""
    loop = "var s = 0.0; for i in range(n) {{ s = s * 0.5 + i * {k}.25; if s > 100.0 {{ s -= {k}.5; }} }} return s;"
    functions = "".join(f"def f{k}(n: i64) {{ {loop.format(k=k)} }}\n" for k in range(n))
    return f"{functions}def f(n: i64) {{ return {' + '.join(f'f{k}(n)' for k in range(n))}; }}\nprint(f(10));\n"


def methods_with_loops(n):
    loop = "for i in range(p.n) {{ s = s * 0.5 + i * {k}.25; }}"
    methods = "".join(f"def m{k}(P p) {{ var s = p.x; {loop.format(k=k)} return s; }}\n" for k in range(n))
    calls = "".join(f"  t += p.m{k}();\n" for k in range(n))
    return (
        f"struct P {{ var x; var n; }}\n{methods}def f(P p) {{\n  var t = 0.0;\n{calls}  return t;\n}}\n"
        "P p = {1.5, 10};\nprint(f(p));\n"
    )


def deep_calls(n):
    """Each function has a loop and calls the one before."""
    loop = "for i in range(n) {{ s = s * 0.5 + i * {k}.25; }}"
    functions = "".join(
        f"def f{k}(n: i64) {{ var s = {f'f{k - 1}(n)' if k else '0.0'}; {loop.format(k=k)} return s; }}\n"
        for k in range(n)
    )
    return f"{functions}print(f{n - 1}(10));\n"


def loops_of_a_function(n):
    loops = "".join(
        f"  var s{k} = 0.0; for i in range(n) {{ s{k} = s{k} * 0.5 + i * {k}.25; }} t += s{k};\n" for k in range(n)
    )
    return f"def f(n: i64) {{\n  var t = 0.0;\n{loops}  return t;\n}}\nprint(f(10));\n"


def nests_of_a_loop(n):
    line = "x[i, j] = 0.25 * (x[i - 1, j] + x[i, j + 1]) + {k}.5 * x[i + 1, j]; s += x[i, j];"
    nests = "".join(f"    for i in range(1, 7) {{ for j in range(1, 7) {{ {line.format(k=k)} }} }}\n" for k in range(n))
    begin = "def f(t: i64) {\n  var x = ones(8, 8); var s = 0.0;\n  while t > 0 {\n    t -= 1;\n"
    return f"{begin}{nests}  }}\n  return s;\n}}\nprint(f(9));\n"


def short_loops_of_a_loop(n):
    """Written out, all turns."""
    line = "x[j] = x[j] * 0.5 + {k}.25; if x[j] > {k}.3 {{ s += x[j]; }}"
    loops = "".join(f"    for j in range(16) {{ {line.format(k=k)} }}\n" for k in range(n))
    begin = "def f(t: i64) {\n  var x = ones(16); var s = 0.0;\n  for i in range(t) {\n"
    return f"{begin}{loops}  }}\n  return s;\n}}\nprint(f(9));\n"


def functions_in_a_circle(n):
    """Each calls the next one, the last one the first."""
    functions = "".join(
        f"def f{k}(n: i64, s: i64) -> i64 {{ if n <= 0 {{ return s; }} "
        f"if s % {k + 2} == 1 {{ return f{(k + 1) % n}(n - 1, s + {k}); }} return s * {k + 3}; }}\n"
        for k in range(n)
    )
    return f"{functions}print(f0(4, 1));\n"


def branches_before_recursion(n):
    lines = "".join(f"  if s % {k + 5} == {k} {{ s += n; }}\n" for k in range(n))
    calls = " + ".join(f"f(n - {k}, s)" for k in range(1, 4))
    return (
        f"def f(n: i64, s: i64) -> i64 {{\n  if n <= 0 {{ return s; }}\n{lines}  return {calls};\n}}\nprint(f(4, 1));\n"
    )


def seconds(toy, text, folder, flags):
    """Of the processor."""
    path = folder / "program.toy"
    path.write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([toy, *flags, str(path)], stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[:2000]
    return after.ru_utime - before.ru_utime


@pytest.mark.host  # a device that is played takes longer than the compiler
@pytest.mark.release
@pytest.mark.parametrize(
    "program, flags, n, most",
    [
        (slices, ["--emit=toy"], 1000, 2),
        (branches, ["--jit=always", "--no-cache"], 1000, 4),
        (branches, ["--emit=toy"], 4000, 4),
        (statements, ["--no-cache"], 500, 1),
        (statements_of_a_function, ["--no-cache"], 500, 1),
        (row_stores, ["--jit=always", "--no-cache"], 100, 2),
        (chains_with_elements, ["--emit=selected"], 800, 1),
        (functions_with_loops, ["--no-cache"], 60, 2),
        (methods_with_loops, ["--no-cache"], 60, 2),
        (deep_calls, ["--no-cache"], 40, 2),
        (loops_of_a_function, ["--no-cache"], 60, 2),
        (functions_in_a_circle, ["--jit=always", "-O2", "--emit=llvm"], 200, 3),
        (branches_before_recursion, ["--jit=always", "-O2", "--emit=llvm"], 1000, 2),
    ],
    ids=[
        "slices",
        "branches",
        "branches, generated",
        "statements",
        "statements of a function",
        "row stores",
        "chains with elements",
        "functions with loops",
        "methods with loops",
        "deep calls",
        "loops of a function",
        "functions in a circle",
        "branches before recursion",
    ],
)
def test_linear(toy, tmp_path, program, flags, n, most):
    few, many = seconds(toy, program(n), tmp_path, flags), seconds(toy, program(4 * n), tmp_path, flags)
    assert few < most
    assert many < 10 * few + 0.2, f"{few:.2f} s for {n}, {many:.2f} s for {4 * n}"


@pytest.mark.host
@pytest.mark.release
@pytest.mark.parametrize("program, times", [(nests_of_a_loop, 6), (short_loops_of_a_loop, 12)])
def test_loops_in_a_loop(toy, tmp_path, program, times):
    few, many = (seconds(toy, program(n), tmp_path, ["--no-cache"]) for n in (60, 240))
    assert many < times * few + 0.2, f"{few:.2f} s for 60, {many:.2f} s for 240"


@pytest.mark.release
def test_nested_loops(toy, tmp_path):
    few, many = (seconds(toy, nested_loops(n), tmp_path, ["--emit=toy"]) for n in (6, 12))
    assert few < 1
    assert many < 16 * few + 0.2, f"{few:.2f} s for 6 loops, {many:.2f} s for 12"


@pytest.mark.release
def questions_of_sizes(n):
    """Each needs a proof from forty facts."""
    parameters = ", ".join(f"a{i}: f64[A{i}]" for i in range(41))
    facts = ", ".join(f"2*A{i} >= 3*A{i + 1} + 1000" for i in range(40))
    sizes = [(i % 40, f"3*A{i % 40 + 1}+{i}") for i in range(n)]
    lines = "".join(f"  s += sum(cat([a{k}, a{k}])[:{size}] + ones({size}));\n" for k, size in sizes)
    return f"def f({parameters}) where {facts} {{\n  var s = 0.0;\n{lines}  return s;\n}}\n"


def test_proofs_about_sizes_end(toy, tmp_path):
    """What a function asks too much is an error that says so."""
    for n, texts in (
        (4, [""]),
        (150, ["cannot prove that the sizes", "help: the function asks more about sizes than"]),
    ):
        path = tmp_path / "program.toy"
        path.write_text(questions_of_sizes(n))
        done = subprocess.run([toy, str(path)], capture_output=True, text=True, timeout=120)
        assert all(text in done.stderr for text in texts) and bool(done.stderr) == (n > 4), done.stderr


def test_unread_arguments_cost_nothing(toy, tmp_path):
    flags = ["--jit=always", "--unpack", "--no-cache"]
    all_of_them, read = (seconds(toy, wide_functions(64, read), tmp_path, flags) for read in (False, True))
    assert all_of_them < 1.3 * read + 0.2, f"{all_of_them:.2f} s with 15 unread arguments, {read:.2f} s without"


def loop_nests(n):
    nest = "  for i in range(1, m - 1) {{ for j in range(1, m - 1) {{"
    nest += " x[i, j] += x[i - 1, j] * {k}.5 + x[i, j - 1]; }} }}\n"
    return (
        "def f(m: i64) {\n  var x = ones(m, m);\n"
        + "".join(nest.format(k=k) for k in range(n))
        + "  return x;\n}\nprint(sum(f(9)));\n"
    )


def instructions(toy, text, folder):
    """Of all that is handed to LLVM."""
    path = folder / "program.toy"
    path.write_text(text)
    command = [toy, "-O0", "--jit=always", "--emit=llvm", str(path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[:2000]
    return sum(line.startswith("  ") for line in done.stdout.splitlines())


def sizes_of_functions(toy, text, folder):
    """Lines of LLVM's code, once it is optimized, of each function."""
    path = folder / "program.toy"
    path.write_text(text)
    command = [toy, "--jit=always", "--emit=llvm", str(path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[:2000]
    return [part.split("\n}")[0].count("\n") for part in done.stdout.split("\ndefine ")[1:]]


@pytest.mark.release
@pytest.mark.parametrize("padding", [0, 20], ids=["short", "long"])
def test_loops_of_many_functions_stay_apart(toy, tmp_path, padding):
    """One function with the loops of hundreds would take longer than hundreds of functions. Long ones are not put into
    others by our own pass, and LLVM would do it."""
    text = functions_with_loops(200)
    if padding:
        text = text.replace("s = s * 0.5", "s = s * 0.5" + " + i * 0.5" * padding)
    sizes = sizes_of_functions(toy, text, tmp_path)
    assert max(sizes) < 0.5 * sum(sizes), sorted(sizes)[-3:]


def loops_of_all_kinds(n):
    """Of one function: with checks that may fail, scalars that they carry and give, calls, one in another."""
    kinds = [
        "for i in range(1, n) {{ x[p[i]] = x[i - 1] * {k}.5 + x[i] % 3; }}",
        "for i in range(n) {{ s += x[i] * {k}; if s > 1e6 {{ s = s / 1e6; }} }}",
        "for i in range(n) {{ for j in range(n) {{ y[i, j] += x[i] * {k} - x[j]; }} }}",
        "while s > {k} {{ s = s * 0.75 - 1; c += 1; }}",
        "for i in range(n) {{ if x[i] > 1e9 {{ x[i] /= 1e9; }} if x[i] > s {{ s = g(x[i], s); }} }}",
    ]
    body = "\n".join(kinds[k % len(kinds)].format(k=k) for k in range(n))
    return f"""def g(a, b) {{ if b > 1e300 {{ fail("large"); }} return a - b; }}
def f(a, p) {{
  var x = a; var n = a.shape[0]; var y = zeros(n, n); var s = 0.0; var c = 0;
  {body}
  return (sum(x), sum(y), s, c);
}}
print(f(ones(10), (arange(10) * 7) % 10)); try {{ print(f(ones(10), arange(10) + 1)); }} catch e {{ print(e.text); }}
"""


@pytest.mark.release
def test_loops_of_a_large_function_are_functions(toy, tmp_path):
    """LLVM's time grows with the square of a function."""
    text = loops_of_all_kinds(140)
    sizes = sizes_of_functions(toy, text, tmp_path)
    assert max(sizes) < 0.3 * sum(sizes), sorted(sizes)[-3:]
    command = [toy, str(tmp_path / "program.toy")]
    want, got = (
        subprocess.run([*command, way], capture_output=True, text=True) for way in ("--jit=never", "--jit=always")
    )
    assert want.stdout and (got.stdout, got.stderr) == (want.stdout, want.stderr)


@pytest.mark.release
def test_loops_of_a_large_loop_are_functions(toy, tmp_path):
    sizes = sizes_of_functions(toy, nests_of_a_loop(140), tmp_path)
    assert max(sizes) < 0.3 * sum(sizes), sorted(sizes)[-3:]


@pytest.mark.release
def test_a_large_loop_is_one_function(toy, tmp_path):
    """It is not taken out of its function again and again."""
    body = "\n".join(f"    if i % {k + 2} == 0 {{ s += i * {k}; }} else {{ s -= {k}; }}" for k in range(250))
    text = f"def f(n) {{\n  var s = 0.0;\n  for i in range(n) {{\n{body}\n  }}\n  return s;\n}}\nprint(f(100));\n"
    sizes = sizes_of_functions(toy, text, tmp_path)
    assert max(sizes) > 0.8 * sum(sizes), sizes


def test_code_of_loops_grows_with_their_number(toy, tmp_path):
    """LLVM's time is the time of a compilation, and follows the number of instructions that it is given."""
    none, one, ten, twenty = (instructions(toy, loop_nests(n), tmp_path) for n in (0, 1, 10, 20))
    assert one - none < 150, f"{one - none} instructions for a nest"
    assert twenty - ten < 1.1 * (ten - none), f"{ten - none} instructions for ten nests, {twenty - none} for twenty"


def test_inlined_functions_are_compiled_when_they_are_called(toy, tmp_path):
    """Not evaluated, turn by turn, because the code of the statement before has them inside."""
    path, stats = tmp_path / "program.toy", tmp_path / "stats.json"
    path.write_text(
        "def h(n) { var s = 1; for i in range(n) { s = s * 3 % 1009; } return s; }\n"
        "def g(n) { var s = 0; for i in range(n) { s += h(i % 3); } return s; }\n"
        "def f(n) { return g(n) + 1; }\nprint(f(1000)); print(g(1000)); print(h(4)); print(f(7), g(8), h(9));\n"
    )
    done = subprocess.run([toy, f"--stats={stats}", str(path)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "4331\n4330\n81\n28 30 512\n"
    assert [compiled["function"] for compiled in json.loads(stats.read_text())["compiles"]] == ["f", "g", "h"]

# SPDX-License-Identifier: Apache-2.0
"""Every built-in function × dtype × shape × axis against NumPy. The functions are read from the program's own tables,
so that one without a row here fails; each cell has a value, with its dtype, or a designed error. Accepted cells of
one function and dtype are one program; every refused cell is its own. All programs of a function run in one process."""
import os
import pathlib
import re
import tempfile

import numpy as np

import everyday
from programs import count, run_parts
import matrix_rows_shapes  # noqa: F401 (adds its rows)
from matrix_rows import DTYPES, HALVES, INTEGERS, ROWS, SHAPES, TOLERANCE, Refused, values

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What takes no tensor, or acts on the world: a program in a folder with `x.bin`, the numbers 0 to 3 in i32, and its
# output.
ACTS = {
    **{
        f: (
            f"seed(7); var a = {f}(4, 5); seed(7); var b = {f}([4, 5]); print(all(a == b), any(a != {f}(4, 5)), {f}(2,"
            f" dtype=f32).dtype, {f}(0, 3).shape);"
        )
        for f in ("rand", "randn")
    },
    "seed": "seed(-1); var a = rand(3); seed(-1); print(all(a == rand(3)));",
    "uniform": "print(uniform(2, 2, 3), uniform(f32([1]), 1).dtype, uniform(0, 1, 2, 0).shape);",
    "normal": (
        "print(normal([1, 2], 0), normal(f32([0]), 1).dtype, normal(1i, 0), normal(0, 1, 2, dtype = bf16).dtype);"
    ),
    "exponential": "print(exponential(0, 2), exponential(1, 2, dtype = f32).dtype);",
    "gamma": "print(gamma([0, 0]), gamma(1, 3, scale = 0), gamma(1).dtype);",
    "randint": "print(randint(4, 5, 2), randint(i64([1, 2]), i64([2, 3])), randint(0, 9).dtype);",
    "poisson": "print(poisson([0, 0]), poisson(0, 2, 1), poisson(2).dtype);",
    "binomial": "print(binomial(5, [0, 1]), binomial([3, 4], 1), binomial(2, 0.5).dtype);",
    "permutation": (
        "print(sum(permutation(9)), sort(permutation([3i, 1i])), permutation(1), permutation(zeros(0, 2)).shape);"
    ),
    "choice": "print(choice(1, 2), choice([7], 1, 2), choice(3, p = [0, 1, 0]), sort(choice(3, 3, replace = false)));",
    "key": "seed(4); print(key(7), key(), key());",
    "fold_in": "print(all(fold_in(key(1), 2) == fold_in(key(1), 2)), fold_in(key(1), [2, 3]).shape);",
    "keys": "print(keys(key(1), 2).shape, all(keys(key(1), 2)[1] == fold_in(key(1), 1)));",
    "ranks": "print(rank(), ranks());",
    "all_reduce": (
        'print(all_reduce(f16([1, 2])), all_reduce(1i, op = "prod"), all_reduce([1, 2] > 1, op = "any"),'
        ' all_reduce(i32(3), op = "mean"));'
    ),
    "all_gather": "print(all_gather(2), all_gather([[1i, 2]], axis = 1), all_gather(zeros(0, 2)).shape);",
    "reduce_scatter": 'print(reduce_scatter([[1, 2]], axis = 1), reduce_scatter(u8([1]), op = "min"));',
    "all_to_all": "print(all_to_all([[1, 2]], axis = 1));",
    "broadcast": "print(broadcast([1i]), broadcast(true, from = 0));",
    "send": "send([1, 2], 0); send(bf16(3), 0, tag = 7); print(recv(bf16(0), 0, tag = 7), recv(zeros(2), 0));",
    "recv": "send(zeros(0, 2), rank()); print(recv(zeros(0, 2), 0).shape);",
    "shift": "print(shift([1, 2], -1), shift(true, 5));",
    "barrier": "barrier(); print(1);",
    "shard": "print(shard([1, 2, 3]), shard(ones(2, 0), axis = 1).shape);",
    "unshard": "print(unshard(shard([[1, 2], [3, 4]], axis = 1), axis = 1));",
    "clock": "var t = clock(); print(clock() >= t, t.dtype);",
    "with": "struct P { var a; var b = 0.5; } print(with(P(1), b = 2i), P(1).with(a = [1]));",
    "tree_map": "print(tree_map((x, y) => x + y, (f32(1), [2i], 3), (f32(1), [1.0], 4)));",
    "tree_fold": "print(tree_fold((s, x) => s + sum(x), 0, ([1, 2], 3, 4i)));",
    "fail": 'try { fail("a"); } catch e { print(e.text); }',
    "Error": 'var e = Error(text = "a"); print(e); try { fail("b"); } catch f { e = f; } print(e.text);',
    "exit": "print(1); exit(0); print(2);",
    "breakpoint": "def f(x) { breakpoint(); return x; } breakpoint(); print(f(2));",
    "env": 'print(env("NO_SUCH_VARIABLE", "none"), len(env("NO_SUCH_VARIABLE")));',
    "time": "var t = time(); print(time() >= t, t > 1.7e9, t.dtype);",
    "date": 'print(date(0), date(86400.5, "%Y-%m-%d"));',
    "read_line": "print(len(read_line()));",
    "sleep": "var t = clock(); sleep(0.01); print(clock() - t >= 0.01);",
    "list": 'print(list(1, 2.5), list(list("a")), list());',
    "append": "print(append(list(1i), 2), append(list(), [1, 2]));",
    "contains": (
        'print(contains([1, nan], nan), contains(f32([1, 2]), 2), contains(list([1], [2, 3]), [2, 3]), contains("text",'
        ' "xt"));'
    ),
    "lines": 'print(lines("a\\nb\\r\\n"), lines(""));',
    "join": 'print(join(list("a", "b"), "+"), join(list("a", "b")));',
    "strip": 'print(strip(" a b\\n") + "|");',
    "replace": 'print(replace("aXbX", "X", ""));',
    "find": 'print(find("abc", "c"), find("abc", "d"));',
    "starts_with": 'print(starts_with("abc", "ab"), starts_with("abc", "b"));',
    "ends_with": 'print(ends_with("abc", "bc"), ends_with("abc", "b"));',
    "lower": 'print(lower("A\u00c4z"));',
    "upper": 'print(upper("a\u00e4Z"));',
    "decode": 'print(decode(bytes("a\u00e9")), decode(u8([97, 98])));',
    "read_text": 'write_text("r.txt", "a\\nb"); print(read_text("r.txt"), len(read_text("x.bin")));',
    "write_text": (
        'write_text("t.txt", "a"); write_text("t.txt", "b"); write_text("t.txt", "c", append = true);'
        ' print(read_text("t.txt"));'
    ),
    "bytes": 'print(bytes("a\\n\u00e9"), bytes("").shape);',
    "read_binary": (
        'print(read_binary("x.bin", i32, [2, 2]), read_binary("x.bin", u8, [1], offset = 4), read_binary("x.bin", f16,'
        " [0]).shape);"
    ),
    "write": 'write("ab"); write(u8([99, 10]));',
    "print": 'print(); print(1, "a", [1, 2]);',
    "check": 'check(1 < 2, "no"); print(1);',
    "save": 'save("y.npy", f16([1, 2])); var y = load("y.npy"); print(y, y.dtype);',
    "load": 'save("z.npz", (1, [2i])); print(load("z.npz", "arr_1"));',
    "show": "show(zeros(2, 2));",
    "plot": "print(plot([1, 3, 2], width = 24, height = 6)); print(plot([1, 2], [1i, 2]).drawing);",
    "scatter_plot": "print(scatter_plot([1, 3, 2], [[1, 2], [3, 4], [5, nan]], width = 24, height = 6));",
    "hist": "print(hist([1, 2, 2, inf], bins = 2, width = 24, height = 6));",
    "image": (
        'print(image([[1, 2], [3, nan]], map = "gray").drawing, image([[1i]]).drawing, image(zeros(1, 2, 3)).drawing);'
    ),
    "picture": "var p = plot([1, 2]); print(picture(p.drawing) == p);",
    "fftfreq": "print(fftfreq(4), fftfreq(5, 0.5), fftfreq(0).shape);",
    "rfftfreq": "print(rfftfreq(4));",
}
PRINTED = {
    "rand": "true true f32 (0, 3)\n",
    "randn": "true true f32 (0, 3)\n",
    "seed": "true\n",
    "uniform": "[2.0, 2.0, 2.0] f32 (2, 0)\n",
    "normal": "[1.0, 2.0] f32 0.0+1.0i bf16\n",
    "exponential": "[0.0, 0.0] f32\n",
    "gamma": "[0.0, 0.0] [0.0, 0.0, 0.0] f64\n",
    "randint": "[4, 4] [1, 2] i64\n",
    "poisson": "[0, 0] [[0],\n [0]] i64\n",
    "binomial": "[0, 5] [3, 4] i64\n",
    "permutation": "36 [0.0+1.0i, 0.0+3.0i] [0] (0, 2)\n",
    "choice": "[0, 0] [[7.0, 7.0]] 1 [0, 1, 2]\n",
    "key": "[ 7, -1] [4, 0] [4, 1]\n",
    "fold_in": "true (2, 2)\n",
    "keys": "(2, 2) true\n",
    "ranks": "0 1\n",
    "all_reduce": "[1.0, 2.0] 0.0+1.0i [false,  true] 3.0\n",
    "all_gather": "[2] [[0.0+1.0i, 2.0+0.0i]] (0, 2)\n",
    "reduce_scatter": "[[1.0, 2.0]] [1]\n",
    "all_to_all": "[[1.0, 2.0]]\n",
    "broadcast": "[0.0+1.0i] true\n",
    "send": "3.0 [1.0, 2.0]\n",
    "recv": "(0, 2)\n",
    "shift": "[1.0, 2.0] true\n",
    "barrier": "1\n",
    "shard": "[1.0, 2.0, 3.0] (2, 0)\n",
    "unshard": "[[1.0, 2.0],\n [3.0, 4.0]]\n",
    "clock": "true f64\n",
    "with": "P{a: 1, b: 0.0+2.0i} P{a: [1.0], b: 0.5}\n",
    "tree_map": "(2.0, [1.0+2.0i], 3)\n",
    "tree_fold": "3.0+4.0i\n",
    "fail": "a\n",
    "Error": 'Error{code: "", text: "a", place: ""}\nb\n',
    "exit": "1\n",
    "breakpoint": "2\n",
    "env": "none 0\n",
    "time": "true true f64\n",
    "date": "1970-01-01 00:00:00 1970-01-02\n",
    "read_line": "0\n",
    "sleep": "true\n",
    "list": 'list(1.0, 2.5) list(list("a")) list()\n',
    "append": "list(0.0+1.0i, 2.0+0.0i) list([1.0, 2.0])\n",
    "contains": "false true true true\n",
    "lines": 'list("a", "b") list()\n',
    "join": "a+b ab\n",
    "strip": "a b|\n",
    "replace": "ab\n",
    "find": "2 -1\n",
    "starts_with": "true false\n",
    "ends_with": "true false\n",
    "lower": "a\u00c4z\n",
    "upper": "A\u00e4Z\n",
    "decode": "a\u00e9 ab\n",
    "read_text": "a\nb 16\n",
    "write_text": "bc\n",
    "bytes": "[ 97,  10, 195, 169] (0,)\n",
    "read_binary": "[[0, 1],\n [2, 3]] [1] (0,)\n",
    "write": "abc\n",
    "print": "\n1 a [1.0, 2.0]\n",
    "check": "1\n",
    "save": "[1.0, 2.0] f16\n",
    "load": "[0.0+2.0i]\n",
    "fftfreq": "[ 0.00,  0.25, -0.50, -0.25] [ 0.0,  0.4,  0.8, -0.8, -0.4] (0,)\n",
    "rfftfreq": "[0.00, 0.25, 0.50]\n",
}


def acts(toy, name):
    ways = ["--jit=never", "--jit=always", "--jit=always --threads=1"]
    with tempfile.TemporaryDirectory() as folder:
        np.arange(4, dtype=np.int32).tofile(os.path.join(folder, "x.bin"))
        for flags, done in zip(ways, run_parts(toy, [(ACTS[name], ways)], cwd=folder)[0]):
            if done.status or done.stdout != PRINTED.get(name, done.stdout) or not done.stdout:
                return f"{flags} {ACTS[name]}\n{done.stdout}{done.stderr}"
    return None


def functions():
    rows = re.findall(r"^TOY_BUILTIN\(([a-zA-Z]\w*),", (ROOT / "irgen/Builtins.def").read_text(), re.M)
    library = "".join(path.read_text() for path in sorted((ROOT / "lib/toy").glob("*.toy")))
    return rows + re.findall(r"^def ([a-z]\w*)\(", library, re.M)


def missing(toy):
    known = set(ROWS) | set(ACTS) | {name for name in everyday.ROWS if " " not in name}
    problems = [f"{name} is in no row of the matrix" for name in functions() if name not in known] + [
        f"{name} is no function" for name in known - set(functions())
    ]
    return "\n".join(problems) or None


def cells(name, dtype):
    for k, shape in enumerate(SHAPES):
        x = values(shape, dtype)
        for expression, want, to in ROWS[name](name, dtype, shape, x):
            yield re.sub(r"\bx\b", f"x{k}", expression), want, to


def agree(got, want, dtype):
    if got.shape != np.shape(want):
        return f"has shape {got.shape}, expected {np.shape(want)}"
    tolerance = TOLERANCE.get(dtype, 2e-13)
    if dtype in INTEGERS:
        return None if np.array_equal(got, np.asarray(want).astype(got.dtype)) else f"is\n{got}\nexpected\n{want}"
    scale = np.abs(want)[np.isfinite(want)].max(initial=1.0) if np.size(want) else 1.0
    return (
        None
        if np.allclose(got, want, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
        else f"is\n{got}\nexpected\n{want}"
    )


def inputs(folder, dtype):
    np.savez(os.path.join(folder, f"{dtype}.npz"), **{f"x{k}": values(shape, dtype) for k, shape in enumerate(SHAPES)})
    read = "".join(f"var x{k} = {f'{dtype}(t.x{k})' if dtype in HALVES else f't.x{k}'};\n" for k in range(len(SHAPES)))
    return f'var t = load("{dtype}.npz");\n{read}'


def program(folder, dtype, accepted):
    """Saves all values, a hundred to a file, and prints their dtypes."""
    text = inputs(folder, dtype)
    for i, (expression, _, to) in enumerate(accepted):
        text += f"var r{i} = {expression};\nvar o{i} = {f'f32(r{i})' if to in HALVES else f'r{i}'};\n"
    for start in range(0, len(accepted), 100):
        block = range(start, min(start + 100, len(accepted)))
        text += f'save("{dtype}.{start}.npz", ({", ".join([f"o{i}" for i in block] + ["1"])}));\n'
    return text + "".join(f"print(str(r{i}.dtype));\n" for i in range(len(accepted)))


def check(toy, name, flags, every=1, half=None):
    """All cells of a function, or one in `every`, of its dtypes in turn if `half` is 0 or 1."""
    problems = []
    everything = {dtype: [c for c in cells(name, dtype) if not isinstance(c[1], Refused)][::every] for dtype in DTYPES}
    everything = {dtype: accepted for dtype, accepted in everything.items() if accepted}
    if half is not None:
        everything = {dtype: everything[dtype] for dtype in [*everything][half if len(everything) > 1 else 0 :: 2]}
    with tempfile.TemporaryDirectory() as folder:
        results = (
            run_parts(
                toy, [(program(folder, dtype, accepted), [flags]) for dtype, accepted in everything.items()], cwd=folder
            )
            if everything
            else []
        )
        for (dtype, accepted), (done,) in zip(everything.items(), results):
            if done.status != 0:
                problems.append(f"{name} on {dtype}: status {done.status}\n{done.stderr[:1500]}")
                continue
            count(len(accepted) - 1)
            dtypes = done.stdout.split()
            for i, (expression, want, to) in enumerate(accepted):
                if i % 100 == 0:
                    file = np.load(os.path.join(folder, f"{dtype}.{i}.npz"))
                if dtypes[i] != to:
                    problems.append(f"{expression} on {dtype} is {dtypes[i]}, expected {to}")
                elif problem := agree(file[f"arr_{i % 100}"], want, to):
                    problems.append(f"{expression} on {dtype} {problem}")
    return "\n".join(problems[:20]) or None


def refusals(toy, name):
    rows, seen = [], {}
    for dtype in DTYPES:
        for expression, want, _ in cells(name, dtype):
            if not isinstance(want, Refused):
                continue
            seen[dtype, want] = seen.get((dtype, want), 0) + 1
            if seen[dtype, want] > 8:  # the same error of one dtype: these shapes and axes are enough
                continue
            used = re.search(r"\bx(\d+)", expression)
            rows.append(
                (
                    (
                        f"var {used.group(0)} = zeros({list(SHAPES[int(used.group(1))])}, dtype={dtype}); "
                        if used
                        else ""
                    )
                    + f"var r = {expression};",
                    want,
                )
            )
    problems = []
    for (source, want), (done,) in zip(rows, run_parts(toy, [(source, [""]) for source, _ in rows]) if rows else []):
        if done.status != 1 or not any(done.stderr.startswith(f"error[{code}]") for code in want.split()):
            problems.append(f"{source} expected {want}, got status {done.status}\n{done.stderr[:300]}")
    return "\n".join(problems[:20]) or None


def all_cases():
    yield "every function has a row in the matrix", missing
    for name in ACTS:
        yield f"matrix: {name}", lambda toy, n=name: acts(toy, n)
    for i, name in enumerate(ROWS):
        yield f"matrix: {name}", lambda toy, n=name: check(toy, n, "--jit=never")
        run = lambda toy, n=name, half=i % 2: check(toy, n, "--jit=always", 29, half)
        yield f"matrix: {name}, compiled", run, "release"
        yield f"matrix: {name}, every cell compiled", lambda toy, n=name: check(toy, n, "--jit=always"), "nightly"
        yield f"matrix: {name}, refused", lambda toy, n=name: refusals(toy, n), "release"

# SPDX-License-Identifier: Apache-2.0
"""Programs that run as several processes over MPI: what collectives give, bit for bit, beside the balanced tree in
NumPy, for each dtype, number of ranks, schedule and way of running; printing, files, input, exits; disagreement,
errors, killed ranks, interrupts and timeouts, after which nothing is left of the job."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import numpy as np
import pytest

OPEN, MPICH = "mpirun.openmpi", "mpirun.mpich"
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
NUMPY = {
    "bool": np.bool_,
    "u8": np.uint8,
    "i32": np.int32,
    "i64": np.int64,
    "bf16": np.float32,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
}


def longest():
    """Seconds that a job lives on after what ends it: 3, where others do not want the processors, too."""
    return 3.0 * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def command(launcher, ranks):
    return [launcher, *(["--oversubscribe"] if launcher == OPEN else []), "-n", str(ranks)]


def environment(**more):
    return {**os.environ, **ENVIRONMENT, **more}


def job(toy, launcher, ranks, arguments, folder=None, stdin="", **more):
    """Runs a job to its end; (status, output, errors, seconds)."""
    began = time.time()
    done = subprocess.run(
        [*command(launcher, ranks), toy, *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment(**more),
    )
    return done.returncode, done.stdout.replace("\r\n", "\n"), done.stderr, time.time() - began


# --- what collectives give


def product(a, b):
    """Of complex numbers the four-product form."""
    if not np.iscomplexobj(a):
        return a * b
    out = np.empty_like(a)
    out.real = a.real * b.real - a.imag * b.imag
    out.imag = a.real * b.imag + a.imag * b.real
    return out


def to_bf16(x):
    """f32 rounded to bf16, ties to even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint32) << 16).view(np.float32)


COMBINE = {
    "sum": lambda a, b: a + b,
    "mean": lambda a, b: a + b,
    "prod": product,
    "min": np.minimum,
    "max": np.maximum,
    "any": np.logical_or,
    "all": np.logical_and,
}


def operations(dtype):
    if dtype == "bool":
        return ["any", "all"]
    return ["sum", "prod", "mean"] + ([] if dtype[0] == "c" else ["min", "max"])


def tree(parts, op, dtype):
    """Neighbours first, then pairs of pairs; bf16 and f16 in f32, rounded once."""
    count = len(parts)
    if dtype in ("bf16", "f16"):
        parts = [p.astype(np.float32) for p in parts]
    if op == "mean" and parts[0].dtype.kind in "iu":
        parts = [p.astype(np.float64) for p in parts]
    while len(parts) > 1:
        parts = [COMBINE[op](*parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    out = parts[0]
    if op == "mean":
        reals = out.view(out.real.dtype) if np.iscomplexobj(out) else out
        out = (reals / reals.dtype.type(count)).view(out.dtype)
    return out.astype(np.float16) if dtype == "f16" else to_bf16(out) if dtype == "bf16" else out


def values(rng, dtype, size):
    if dtype == "bool":
        return rng.random(size) < 0.5
    if dtype in ("u8", "i32", "i64"):
        least, most = np.iinfo(NUMPY[dtype]).min, np.iinfo(NUMPY[dtype]).max
        return rng.integers(least, most, size, NUMPY[dtype])
    x = rng.standard_normal(size) * 10 ** rng.integers(-3, 4, size).astype(float)
    if dtype[0] == "c":
        x = x + 1j * rng.standard_normal(size)
    x = x.astype(NUMPY[dtype])
    return to_bf16(x) if dtype == "bf16" else x


def sums_program(dtypes, sizes):
    """Inputs and results of a rank are in files of its own; results pass through functions, so that they are compiled
    where that is asked for."""
    lines = ["var here = str(rank());", "def wide(x) { return f32(x); }"]
    for dtype in dtypes:
        for op in operations(dtype):
            lines.append(f'def {op}_{dtype}(x) {{ return all_reduce(x, op = "{op}"); }}')
        for size in sizes:
            x = f'load("in" + here + ".npz", "{dtype}_{size}")'
            lines.append(
                f"var x = {'bf16(' + x + ')' if dtype == 'bf16' else x};".replace("var x", f"var x_{dtype}_{size}")
            )
            name = f"x_{dtype}_{size}"
            results = [f"{op}_{dtype}({name})" for op in operations(dtype)]
            if dtype == "bf16":
                results = [f"wide({r})" for r in results]
            lines.append(f'save("out" + here + "_{dtype}_{size}.npz", ({", ".join(results)}, rank()));')
    return "\n".join(lines)


def sums(toy, launcher, ranks, flags, schedule="", sizes=(0, 1, 28, 29, 1009), dtypes=tuple(NUMPY)):
    rng = np.random.default_rng(ranks)
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        given = [{f"{d}_{n}": values(rng, d, n) for d in dtypes for n in sizes} for _ in range(ranks)]
        for r, arrays in enumerate(given):
            np.savez(f"{folder}/in{r}.npz", **arrays)
        pathlib.Path(folder, "sums.toy").write_text(sums_program(dtypes, sizes))
        more = {"TOY_RANKS_SCHEDULE": schedule} if schedule else {}
        status, out, err, _ = job(toy, launcher, ranks, [*flags, "sums.toy"], folder, **more)
        if status:
            return f"status {status}\n{out}{err}"
        for dtype in dtypes:
            for size in sizes:
                parts = [arrays[f"{dtype}_{size}"] for arrays in given]
                want = [tree(parts, op, dtype) for op in operations(dtype)]
                for r in range(ranks):
                    found = np.load(f"{folder}/out{r}_{dtype}_{size}.npz")
                    for i, (op, w) in enumerate(zip(operations(dtype), want)):
                        got = found[f"arr_{i}"]
                        if got.dtype != w.dtype or got.tobytes() != w.tobytes():
                            return f"{op} of {dtype}[{size}] on rank {r} of {ranks}: {got[:4]} {w[:4]}"


MOVES = """
var r = rank(); var p = ranks();
def spread(x) { return (all_gather(x[:r + 1]), all_gather(x[:, :r + 2], axis = 1), shift(x, 1), shift(x, -2)); }
def parts(x) { return (reduce_scatter(x), reduce_scatter(x, axis = 1, op = "prod"), shard(x, axis = 1)); }
def swapped(x) { return (all_to_all(x), all_to_all(x, axis = 1)); }
def passed(x) {
  send(x, (r + 1) % p); send(x[0], (r + 1) % p, tag = 3);
  return (recv(x[0], (r + p - 1) % p, tag = 3), recv(x, (r + p - 1) % p));
}
var x = load("in" + str(r) + ".npy");
var a = spread(x); var b = parts(x); var c = swapped(x); var d = passed(x);
var e = (broadcast(x[:r + 1], from = p - 1), broadcast(x[0, 0], from = p - 1), unshard(shard(x)), unshard(shard(x, axis = 1), axis = 1));
save("out" + str(r) + ".npz", (a[0], a[1], a[2], a[3], b[0], b[1], b[2], c[0], c[1], d[0], d[1], e[0], e[1], e[2], e[3]));
"""


def shard_of(x, axis, p, r):
    n = x.shape[axis]
    begin = [k * (n // p) + min(k, n % p) for k in (r, r + 1)]
    return np.take(x, np.arange(*begin), axis)


def moved(xs, r):
    """What MOVES gives rank r."""
    p = len(xs)
    total = [tree(xs, op, "c64") for op in ("sum", "prod")]
    swapped = [np.concatenate([np.split(x, p, axis)[r] for x in xs], axis) for axis in (0, 1)]
    before, own = xs[(r - 1) % p], xs[r]
    return [
        np.concatenate([x[: k + 1] for k, x in enumerate(xs)]),
        np.concatenate([x[:, : k + 2] for k, x in enumerate(xs)], 1),
        before,
        xs[(r + 2) % p],
        shard_of(total[0], 0, p, r),
        shard_of(total[1], 1, p, r),
        shard_of(own, 1, p, r),
        *swapped,
        before[0],
        before,
        xs[p - 1][:p],
        xs[p - 1][0, 0],
        own if p == 1 else np.concatenate([shard_of(x, 0, p, k) for k, x in enumerate(xs)]),
        np.concatenate([shard_of(x, 1, p, k) for k, x in enumerate(xs)], 1),
    ]


def moves(toy, launcher, ranks, flags, columns=3):
    rng = np.random.default_rng(ranks + 10)
    with tempfile.TemporaryDirectory() as folder:
        xs = [values(rng, "c64", 4 * ranks * columns * ranks).reshape(4 * ranks, -1) for _ in range(ranks)]
        for r, x in enumerate(xs):
            np.save(f"{folder}/in{r}.npy", x)
        pathlib.Path(folder, "moves.toy").write_text(MOVES)
        status, out, err, _ = job(toy, launcher, ranks, [*flags, "moves.toy"], folder)
        if status:
            return f"status {status}\n{out}{err}"
        for r in range(ranks):
            found = np.load(f"{folder}/out{r}.npz")
            for i, want in enumerate(moved(xs, r)):
                got = found[f"arr_{i}"]
                if got.shape != np.shape(want) or got.tobytes() != np.asarray(want).tobytes():
                    return f"result {i} on rank {r} of {ranks}: {got.shape} {np.shape(want)}"


EXAMPLES = {"fft2": "true\n", "kmeans": "true\n", "heat": "true\n", "llama": None}


def example(toy, name, launcher, ranks, flags=()):
    """The transform is fft2, and the heat that of one rank, bit for bit; the model tells the published story."""
    root = pathlib.Path(__file__).resolve().parent.parent
    want = EXAMPLES[name] or (root / "examples/llama/stories260K/expected-greedy-200.txt").read_text()
    status, out, err, _ = job(toy, launcher, ranks, [*flags, f"examples/ranks/{name}.toy"], root)
    return None if (status, out) == (0, want) else f"{status} {out}{err}"


# --- the program around them


def printing(toy):
    text = 'print("a" + str(rank()), ranks()); print([1, 2]); print("e", to = "stderr");'
    for flags, out, err in (
        ([], "a0 3\n[1.0, 2.0]\n", "e\n"),
        (["--print=2"], "a2 3\n[1.0, 2.0]\n", "e\n"),
    ):
        got = job(toy, OPEN, 3, [*flags, "-e", text])
        if got[:3] != (0, out, err):
            return f"{flags}: {got}"
    status, out, err, _ = job(toy, OPEN, 3, ["--print=all", "-e", text])
    lines = sorted(f"[{r}] {line}" for r in range(3) for line in (f"a{r} 3", "[1.0, 2.0]"))
    if status or sorted(out.splitlines()) != lines or sorted(err.splitlines()) != [f"[{r}] e" for r in range(3)]:
        return f"all: {status} {out} {err}"
    status, _, err, _ = job(toy, OPEN, 2, ["--print=5", "-e", "1"])
    return None if status == 1 and "error[R0507]" in err else err


def text_and_files(toy):
    """What rank 0 reads all know; where all write one file, rank 0 writes it, and its error is that of all."""
    with tempfile.TemporaryDirectory() as folder:
        status, out, err, _ = job(toy, OPEN, 2, ["-"], folder, "var a = rank()\nall_reduce(a + 1)\n")
        if (status, out) != (0, "3\n"):
            return f"input: {status} {out} {err}"
        program = """
var line = read_line(); var rest = read_line();
write_text("log.txt", line, append = true);
save("own" + str(rank()) + ".npy", [rank()]);
try { save("no/folder.npy", [1]); } catch e { write_text("error" + str(rank()), e.code); }
print(line + rest, all_reduce(len(line) + len(rest)), sum(load("own1.npy")));
"""
        status, out, err, _ = job(toy, OPEN, 2, ["-e", program], folder, "one\ntwo\n")
        if (status, out) != (0, "one\ntwo\n 16 1.0\n"):
            return f"{status} {out} {err}"
        files = {f.name: f.read_bytes() for f in pathlib.Path(folder).iterdir() if f.suffix != ".npy"}
        return None if files == {"log.txt": b"one\n", "error0": b"I0105", "error1": b"I0105"} else files


def random_numbers(toy):
    program = """
var a = all_gather(rand(2)); var b = all_gather(randn(2, stream = rank())); var c = all_gather(rand(stream = rank()));
print(all(a[:2] == a[2:]), any(b[:2] == b[2:]), c[0] == c[1], rand() == broadcast(rand() * 0 + rand()));
"""
    got = job(toy, OPEN, 2, ["-e", program])
    return None if got[:2] == (0, "true false false false\n") else got


def alone(toy):
    """Without a launcher no library of MPI is looked for; under one that starts one rank neither."""
    program = "print(rank(), ranks(), all_reduce([1, 2]), shift(3, 1));"
    for more in ({}, {"PMI_SIZE": "1", "PMI_RANK": "0"}):
        done = subprocess.run(
            [toy, "-e", program], env={**os.environ, "LD_DEBUG": "libs", **more}, capture_output=True, text=True
        )
        if done.stdout != "0 1 [1.0, 2.0] 3\n" or "libmpi" in done.stderr:
            return done.stdout + "".join(line for line in done.stderr.splitlines() if "libmpi" in line)


def launched(toy):
    """--ranks is a short way to write it, and no way to the prompt."""
    for words, want in (
        (["--ranks=2", "-e", "print(ranks(), args[1])", "a", "--ranks=3"], (0, "2 --ranks=3\n", "")),
        (["--ranks=2"], (2, "", "error[D0111]: --ranks needs a script\nhelp: `toy --ranks=4 script.toy`\n")),
        (["--ranks=0", "-e", "1"], (2, "", "error[D0102]")),
    ):
        done = subprocess.run(
            [toy, *words], env=environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        if (done.returncode, done.stdout.replace("\r", "")) != want[:2] or not done.stderr.startswith(want[2]):
            return f"{words}: {done}"
    done = subprocess.run(
        [toy, "--ranks=2", "-e", "1"], env=environment(TOY_MPIRUN="no-mpirun"), capture_output=True, text=True
    )
    return None if done.returncode == 2 and done.stderr.startswith("error[D0112]: --ranks=2: cannot start") else done


def statistics(toy):
    with tempfile.TemporaryDirectory() as folder:
        got = job(toy, OPEN, 2, ["--stats=s.json", "-e", "all_reduce(ones(100)); barrier(); barrier();"], folder)
        import json

        rows = json.loads(pathlib.Path(folder, "s.json").read_text())["collectives"]
    have = [(row["name"], row["count"], row["bytes"]) for row in rows]
    return None if have == [("barrier", 2, 0), ("all_reduce", 1, 800)] and got[0] == 0 else f"{got} {rows}"


# --- ranks that disagree, and libraries that do

HIDDEN = 'i64(env("OMPI_COMM_WORLD_RANK", env("PMI_RANK")))'  # of which nothing is known before the program runs

DISAGREE = {
    "end": (3, "if rank() != 1 { all_reduce(f32(ones(1000))); }", "R0501", "0 and 2 call all_reduce of f32[1000] (sum)", "; 1 has ended"),
    "first ends": (2, "if rank() == 1 { barrier(); }", "R0501", "0 has ended; 1 calls barrier"),
    "sizes": (2, "all_reduce(ones(40000 + 20000 * rank()));", "R0501", "of f64[40000]", "1 calls all_reduce of f64[60000]"),
    "dtype": (2, "if rank() == 0 { all_reduce(f32(1)); } else { all_reduce(i32(1)); }", "R0501", "of f32 (sum)", "of i32 (sum)"),
    "operation": (2, 'if rank() == 0 { all_reduce(1); } else { all_reduce(1, op = "max"); }', "R0501", "(sum)", "(max)"),
    "order": (2, "if rank() == 0 { barrier(); all_reduce(1); } else { all_reduce(1); barrier(); }", "R0501", "0 calls barrier", "1 calls all_reduce"),
    "place": (2, "if rank() == 0 {\n barrier(); } else {\n\n barrier(); }", "R0501", ":2:2", ":4:2"),
    "root": (2, "broadcast(1, from = rank());", "R0501", "from 0", "from 1"),
    "saved by one": (2, 'if rank() == 0 { save("x.npy", [1]); }', "R0501", "0 calls save", "1 has ended"),
    "in try": (2, "try { if rank() == 0 { barrier(); } } catch e { print(e.code); } ", "R0501", "0 calls barrier"),
    "uneven": (2, "all_to_all(ones(3));", "R0506", "3 elements along axis 0 are not 2 equal parts"),
    "no rank": (2, "send(1, 2);", "R0507", "there is no rank 2; there are 2"),
    "other arrives": (2, "if rank() == 0 { send([1, 2], 1); } else { recv(f32([1, 2]), 0); }", "R0508", "f64[2] arrived, expected is f32[2]"),
    "late": (3, "if rank() == 0 { sleep(9); } barrier();", "R0503", "within 1 seconds: rank 1 waits in barrier"),
}  # fmt: skip


def noted(toy):
    """A rank that waits for long says where, and goes on when the other one comes."""
    program = f"if {HIDDEN} == 0 {{ sleep(11); }} barrier(); print(1);"
    status, out, err, _ = job(toy, OPEN, 2, ["-e", program])
    fits = (status, out) == (0, "1\n") and "note: rank 1 has waited for 10 s in barrier at <command line>:1:" in err
    return None if fits else f"{status} {out}{err}"


def left_over(mark):
    """Processes whose command line has a word."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(path.parent.name)
        except OSError:
            pass
    return found


def left_soon(mark):
    """The same, a moment later: a launcher may end before what it has killed."""
    deadline = time.time() + 3
    while (rest := left_over(mark)) and time.time() < deadline:
        time.sleep(0.05)
    return rest


def disagree(toy, launcher, name):
    ranks, program, code, *texts = DISAGREE[name]
    program = program.replace("rank()", HIDDEN)
    with tempfile.TemporaryDirectory(prefix="disagree") as folder:
        pathlib.Path(folder, "p.toy").write_text(program)
        flags = ["--collective-timeout=1"] if code == "R0503" else []
        status, out, err, seconds = job(toy, launcher, ranks, [*flags, f"{folder}/p.toy"], folder)
        rest = left_soon(folder)
    fits = status == 1 and out == "" and f"error[{code}]" in err and all(text in err for text in texts)
    return None if fits and seconds < 2 * longest() and not rest else f"{status} {seconds:.1f} s {rest} {out}{err}"


FAKE = """
#include <string.h>
#include <stdlib.h>
static int calls;
int MPI_Init_thread(int *a, char ***b, int c, int *d) { return 0; }
int MPI_Finalize(void) { return 0; }
int MPI_Abort(int c, int s) { _Exit(s); }
int MPI_Comm_rank(int c, int *r) { *r = 0; return 0; }
int MPI_Comm_size(int c, int *n) { *n = atoi(getenv("FAKE_SIZE")); return 0; }
int MPI_Comm_set_errhandler(int c, int h) { return 0; }
int MPI_Error_string(int e, char *t, int *n) { strcpy(t, "peer is gone"); *n = 12; return 0; }
int MPI_Get_library_version(char *t, int *n) { *t = 0; return 0; }
int MPI_Allgather(void *x, int n, int t, void *y, int m, int u, int c) {
  for (int i = 0; i < 2; ++i) memcpy((char *)y + i * n, x, n);
  return calls++ ? 15 : 0;
}
int MPI_Bcast(void *x, int n, int t, int r, int c) { return 15; }
int MPI_Send(void *x, int n, int t, int r, int g, int c) { return 15; }
int MPI_Recv(void *x, int n, int t, int r, int g, int c, void *s) { return 15; }
int MPI_Sendrecv(void *x, int n, int t, int r, int g, void *y, int m, int u, int q, int h, int c, void *s) { return 15; }
"""


def libraries(toy):
    """A library that is not there, one that belongs to another launcher, and one that loses a rank."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "fake.c").write_text(FAKE)
        fake = f"{folder}/fake.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", fake, f"{folder}/fake.c"], check=True)
        for library, size, want in (
            ("/no/libmpi.so", "2", "error[R0504]: 2 ranks need MPI: /no/libmpi.so: cannot open"),
            (fake, "1", f"error[R0505]: the launcher started 2 ranks, the library {fake} knows 1"),
            (fake, "2", "error[R0502]: the connection to other ranks is lost: peer is gone"),
        ):
            done = subprocess.run(
                [toy, "-e", "try { barrier(); } catch e { print(1); }"],
                env=environment(TOY_MPI=library, PMI_SIZE="2", PMI_RANK="0", FAKE_SIZE=size),
                capture_output=True,
                text=True,
            )
            if done.returncode != 1 or done.stdout or not done.stderr.startswith(want):
                return f"{want}: {done}"


# --- what ends a job

WORK = """
var r = rank(); var x = ones(2000) * r; var t = clock(); var turns = 0;
if all_gather(r)[0] == 0 { write_text("ready" + str(r), "1"); }
while turns < 1000000000 { x = all_reduce(x) * 0.25; turns = turns + 1; EVENT }
"""


def fault(toy, launcher, ranks, kind, victim, delay=0.1):
    """One rank errs, exits, is killed, or all are interrupted: the job ends soon, with a status that is not 0, and
    nothing of it is left."""
    event = {
        "error": f'if r == {victim} and turns == 3 {{ fail("by rank {victim}"); }}',
        "exit": f"if r == {victim} and turns == 3 {{ exit(7); }}",
        "end": f"if r == {victim} and turns == 3 {{ exit(0); }}",
        "fault": f"if r == {victim} and turns == 3 {{ sleep(9); }}",
    }.get(kind, "")
    with tempfile.TemporaryDirectory(prefix="fault") as folder:
        pathlib.Path(folder, "w.toy").write_text(WORK.replace("EVENT", event))
        flags = ["--collective-timeout=1"] if kind == "fault" else []
        run = subprocess.Popen(
            [*command(launcher, ranks), toy, *flags, f"{folder}/w.toy"],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.time() + 60
        while time.time() < deadline and len(list(pathlib.Path(folder).glob("ready*"))) < ranks:
            time.sleep(0.02)
        time.sleep(delay)
        began = time.time()
        if kind == "interrupt":
            run.send_signal(signal.SIGINT)
        if kind in ("kill", "launcher"):
            ids = left_over(f"{folder}/w.toy")
            mine = sorted(int(i) for i in ids if pathlib.Path(f"/proc/{i}/comm").read_text().strip() == "toy")
            os.kill(run.pid if kind == "launcher" else mine[victim], signal.SIGKILL)
        try:
            out, err = run.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            run.kill()
            return f"{kind} on rank {victim} of {ranks}: still there after 30 s"
        seconds = time.time() - began
        rest = left_soon(folder)
    wanted = {"error": f"error[R0128]: by rank {victim}", "end": "error[R0501]"}.get(kind, "")
    limit = longest() + (1 if kind == "fault" else 0)
    has_status = run.returncode != 0 or (kind == "interrupt" and launcher == MPICH)  # whose mpirun may forget it
    fits = has_status and wanted in err and (kind != "exit" or run.returncode == 7)
    if fits and seconds < limit and not rest:
        return None
    return f"{kind} on rank {victim} of {ranks}: {run.returncode}, {seconds:.1f} s, {rest} {out}{err}"


def many_faults(toy, count, seed):
    rng = random.Random(seed)
    kinds = ["error", "exit", "end", "fault", "kill", "interrupt", "launcher"]
    for i in range(count):
        launcher = rng.choice([OPEN, MPICH])
        ranks = rng.randint(2, 4)
        kind = kinds[i % len(kinds)]
        if problem := fault(toy, launcher, ranks, kind, rng.randrange(ranks), rng.random() * 0.3):
            return f"{launcher}: {problem}"


def both(*names):
    return pytest.mark.skipif(any(shutil.which(name) is None for name in names), reason=f"needs {' and '.join(names)}")


def all_cases():
    openmpi, mpich = both(OPEN), both(MPICH)
    marks = ("release", "host")
    yield "ranks: sums on 2, evaluated", lambda toy: sums(toy, OPEN, 2, ["--jit=never"]), openmpi, *marks
    yield "ranks: sums on 3, compiled", lambda toy: sums(
        toy, MPICH, 3, ["--jit=always"], "", (1, 29, 1009), ("bool", "i32", "f16", "f32", "c128")
    ), mpich, *marks
    yield "ranks: sums on 4, by halving", lambda toy: sums(
        toy, OPEN, 4, ["--unpack"], "halving", (0, 1, 29, 1009), ("u8", "bf16", "f64", "c64")
    ), openmpi, *marks
    yield "ranks: sums on 5", lambda toy: sums(
        toy, OPEN, 5, [], "", (1, 28, 1009), ("i64", "f16", "f32", "c64")
    ), openmpi, *marks
    for ranks, schedule in ((r, s) for r in range(1, 6) for s in ("doubling", "halving", "gather", "parts")):
        for launcher, flag in ((OPEN, "--jit=always"), (MPICH, "--dynamic=on")):
            name = f"ranks: all sums on {ranks} by {schedule}, {launcher}"
            sizes = (0, 1, 28, 29, 1009, 1000000)
            run = lambda toy, m=launcher, r=ranks, f=flag, s=schedule, n=sizes: sums(toy, m, r, [f], s, n)
            yield name, run, both(launcher), "nightly", *marks
    yield "ranks: moves on 2, compiled", lambda toy: moves(toy, OPEN, 2, ["--jit=always"]), openmpi, *marks
    yield "ranks: moves on 3, evaluated", lambda toy: moves(toy, MPICH, 3, ["--jit=never"]), mpich, *marks
    for ranks in (1, 2, 3, 4, 5):
        for flag in ("--jit=always", "--unpack", "--dynamic=on"):
            run = lambda toy, r=ranks, f=flag: moves(toy, OPEN, r, [f], 1000)
            yield f"ranks: moves on {ranks}, {flag}", run, openmpi, "nightly", *marks
    for name in EXAMPLES:
        for ranks, launcher in ((1, OPEN), (2, OPEN if name == "llama" else MPICH), (4, OPEN)):
            run = lambda toy, e=name, m=launcher, r=ranks: example(toy, e, m, r)
            yield f"ranks: example {name} on {ranks}", run, both(launcher), *marks
            for flag in ("--jit=always", "--unpack", "--dynamic=on"):
                run = lambda toy, e=name, m=launcher, r=ranks, f=flag: example(toy, e, m, r, [f])
                yield f"ranks: example {name} on {ranks}, {flag}", run, both(launcher), "nightly", *marks
    for function in (printing, text_and_files, random_numbers, launched, statistics):
        yield f"ranks: {function.__name__.replace('_', ' ')}", function, openmpi, *marks
    yield "ranks: alone", alone, *marks
    yield "ranks: libraries", libraries, *marks
    for i, name in enumerate(DISAGREE):
        launcher = (OPEN, MPICH)[i % 2]
        yield f"ranks: disagree, {name}", lambda toy, n=name, m=launcher: disagree(toy, m, n), both(launcher), *marks
    yield "ranks: a note of who waits", noted, openmpi, "nightly", *marks
    for i, kind in enumerate(("error", "exit", "kill", "interrupt", "launcher")):
        run = lambda toy, k=kind, v=i % 2: fault(toy, OPEN, 2, k, v)
        yield f"ranks: {kind}", run, openmpi, *marks
    for seed in range(10):
        run = lambda toy, s=seed: many_faults(toy, 50, s)
        yield f"ranks: 50 faults, {seed}", run, both(OPEN, MPICH), "nightly", *marks

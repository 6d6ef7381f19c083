# SPDX-License-Identifier: Apache-2.0
"""Programs that run as several processes over MPI, and what is around collectives: printing, files, input, random
numbers, warnings, the launcher."""
import json
import os
import pathlib
import re
import subprocess
import tempfile

from ranks_jobs import MARKS, MPICH, OPEN, both, command, environment, job


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


MAILBOXES = """
var own = len(split(read_text("/proc/self/maps"), "memfd:toy-ranks")) - 1; var p = ranks();
var x = all_reduce(arange(300) + rank()); barrier();
if all(x == p * arange(300) + p * (p - 1) / 2) { print(all_gather(own)); }
"""


def mailboxes(toy):
    """Partners on one machine, that is ranks whose numbers differ in one bit, have memory in common; who has none, as a
    rank on another machine, meets others by MPI."""
    choose = '[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 3 ] && export TOY_RANKS_MAILBOXES=0; exec "$0" "$@"'
    for launcher in (OPEN, MPICH):
        for ranks, words, want in (
            (4, [toy], "[3, 3, 3, 3]"),
            (4, ["sh", "-c", choose, toy], "[3, 2, 2, 0]"),
            (3, [toy], "[0, 0, 0]"),
        ):
            status, out, err, _ = job(words[0], launcher, ranks, [*words[1:], "-e", MAILBOXES])
            if (status, out) != (0, want + "\n"):
                return f"{launcher}, {want}: {status} {out}{err}"


COUNTING = """
#include <stdio.h>
static long calls;
#define COUNTED(NAME, PARAMETERS, ARGUMENTS) \\
  int P##NAME PARAMETERS; \\
  int NAME PARAMETERS { return ++calls, P##NAME ARGUMENTS; }
typedef const void *P;
COUNTED(MPI_Isend, (P a, int b, P c, int d, int e, P f, P g), (a, b, c, d, e, f, g))
COUNTED(MPI_Allgather, (P a, int b, P c, P d, int e, P f, P g), (a, b, c, d, e, f, g))
COUNTED(MPI_Sendrecv, (P a, int b, P c, int d, int e, P f, int g, P h, int i, int j, P k, P l),
        (a, b, c, d, e, f, g, h, i, j, k, l))
int PMPI_Finalize(void);
int MPI_Finalize(void) { return fprintf(stderr, "%ld calls\\n", calls), PMPI_Finalize(); }
"""


def messages(toy):
    """What a sum of up to 4 KiB sends: by mailboxes nothing, by MPI its opening, and as many again where it is larger.
    A driver that is not there is not waited for."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "counting.c").write_text(COUNTING)
        library = f"{folder}/counting.so"
        words = ["-shared", "-fPIC", "-o", library, f"{folder}/counting.c", "-l:libmpi.so.40"]
        subprocess.run(["cc", *words], check=True)
        for count, boxes, want in ((1024, "1", 0), (1024, "0", 1), (1025, "1", 1), (1025, "0", 2)):
            text = "def f(x) { for i in range(1000) { x = all_reduce(x) / 2; } return x; }"
            text += f"print(f(f32(ones({count})))[0]);"
            more = {"TOY_MPI": library, "TOY_RANKS_MAILBOXES": boxes, "TOY_CUDA_DRIVER": "/no/driver.so"}
            status, out, err, _ = job(toy, OPEN, 2, ["-e", text], folder, **more)
            calls = [int(n) for n in re.findall(r"(\d+) calls", err)]
            if (status, out, len(calls)) != (0, "1.0\n", 2) or any(n // 1000 != want or n % 1000 > 20 for n in calls):
                return f"{count} elements, mailboxes {boxes}: {status} {out}{err}"


FLOOD = """
var r = rank();
if r == 0 { for i in range(10000) { send(ones(20) + i, 1); } }
barrier();
var total = 0.0;
if r == 1 { for i in range(10000) { total += recv(ones(20), 0)[i % 20]; } }
print(all_reduce(total));
"""


def flood(toy):
    """A rank that waits in an opening goes on with what others send to it, who wait where too much is on its way."""
    for launcher in (OPEN, MPICH):
        flags, more = ["--collective-timeout=20", "-e", FLOOD], {"TOY_RANKS_ON_THEIR_WAY": "100000"}
        status, out, err, _ = job(toy, launcher, 2, flags, **more)
        if (status, out) != (0, f"{10000 * 10001 / 2}\n"):
            return f"{launcher}: {status} {out}{err}"


def statistics(toy):
    with tempfile.TemporaryDirectory() as folder:
        got = job(toy, OPEN, 2, ["--stats=s.json", "-e", "all_reduce(ones(100)); barrier(); barrier();"], folder)
        rows = json.loads(pathlib.Path(folder, "s.json").read_text())["collectives"]
    have = [(row["name"], row["count"], row["bytes"]) for row in rows]
    return None if have == [("barrier", 2, 0), ("all_reduce", 1, 800)] and got[0] == 0 else f"{got} {rows}"


HIDDEN = "warning[N0125]: this is never shown: rank {} prints, and does not come here"
PRINTS = [  # flags, program, the lines on which something is hidden
    ([], "var r = rank();\nif r == 1 { print(r); }\n", [2]),
    ([], "var r = rank() + 1;\nfor i in range(3) {\n if i > 0 and r == ranks() {\n print(i); } }\n", [4]),
    ([], 'if rank() > 0 { write("a");\n} else { print(1); }\n', [1]),
    ([], 'if not (rank() != 1) {\nprint("a", to = "stderr"); }\n', [2]),
    ([], "def show(x) { print(x); }\nif rank() == 1 {\nshow(2); }\n", [3]),
    ([], "def show(x) {\nif rank() == 1 {\nprint(x); } }\nshow(2); show(3);\n", [3]),
    ([], "if rank() == 0 { print(1); }\n", []),
    ([], 'if rank() == i64(env("NOBODY", "1")) { print(1); }\n', []),
    ([], "for i in range(2) { if i == rank() { print(i); } }\n", []),
    ([], "var r = rank(); r = broadcast(r); if r == 1 { barrier(); }\n", []),
    (["--print=all"], "if rank() == 1 { print(1); }\n", []),
    (["--print=1"], "if rank() == 1 { print(1); }\n", []),
    (["--print=1"], "\nif rank() == 0 { print(1); }\n", [2]),
]


def hidden_prints(toy):
    """What the rank that shows its output does not come to is warned of, once, and nothing else is."""
    for flags, program, lines in PRINTS:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "p.toy").write_text(program)
            status, _, err, _ = job(toy, OPEN, 2, [*flags, "p.toy"], folder)
        shown = HIDDEN.format(1 if "--print=1" in flags else 0)
        if status or err.count("N0125") != len(lines) or err.count(shown) != len(lines):
            return f"{flags} {program}: {status} {err}"
        if any(f"p.toy:{line}:" not in err for line in lines):
            return f"{flags} {program}: {err}"


def processors(toy):
    """Ranks whose BLAS takes other kernels are warned of; what the user has chosen for all is no difference."""
    for kinds, rank in ((("Haswell", "Haswell", "Haswell"), None), (("Haswell", "Haswell", "Sandybridge"), 2)):
        choose = "".join(
            f"[ $OMPI_COMM_WORLD_RANK = {r} ] && export OPENBLAS_CORETYPE={k}; " for r, k in enumerate(kinds)
        )
        words = [*command(OPEN, len(kinds)), "sh", "-c", f'{choose} exec {toy} -e "print(ranks())"']
        done = subprocess.run(words, env=environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        warned = re.findall(r"warning\[D0113\]: rank 0 runs on (.*), rank (\d) on (.*): products", done.stderr)
        names = [(f"OPENBLAS_CORETYPE={kinds[0]}", str(rank), f"OPENBLAS_CORETYPE={kinds[rank]}")] if rank else []
        fits = len(warned) == len(names) and all(n in w for ws, ns in zip(warned, names) for w, n in zip(ws, ns))
        if done.returncode or done.stdout.strip() != str(len(kinds)) or not fits:
            return f"{kinds}: {done}"


BLOCKS = """
def block(x: f32[N, D], y: f32[N, D], w: f32[D]) {
  var h = x + all_reduce(y);
  return (h, h / sqrt(mean(h * h, axis = 1, keepdims = true) + 1e-5) * w);
}
var x = f32(reshape(arange(2048), [32, 64]) % 13 + rank()) / 99;
var r = (x, x); var w = x[0] + 1;
for i in range(TIMES) { r = block(r[0], r[1], w); }
print(all_reduce(r[0])[::5, ::7], r[1][::5, ::7]);
"""


def launches(toy):
    """On a device the residual and the norm behind a sum over ranks are one kernel with two results: a launch for each
    block. The numbers are the host's. With several ranks, ranks_devices.py counts."""
    driver, found = str(pathlib.Path(toy).parent / "libtoyfakecuda.so"), []
    for times in (3, 8):
        text = BLOCKS.replace("TIMES", str(times))
        with tempfile.TemporaryDirectory() as folder:
            flags = ["--device=cuda", "--cuda-graphs=off", "--jit=always", "--stats=s.json", "--precision=full"]
            done = job(toy, OPEN, 1, [*flags, "-e", text], folder, TOY_CUDA_DRIVER=driver)
            found.append(json.loads(pathlib.Path(folder, "s.json").read_text())["cuda"]["launches"])
    host = job(toy, OPEN, 1, ["--jit=always", "--precision=full", "-e", text])
    if done[0] or host[0] or done[1] != host[1]:
        return f"{done} {host}"
    return None if found[1] - found[0] == 5 else f"{found} launches for 3 and 8 blocks"


def rows_behind_sums(toy):
    """A program whose rows go over memory together, compiled."""
    path = pathlib.Path(__file__).with_name("data") / "rows-behind-sums.toy"
    for flags in (["--threads=2"], ["--dynamic=on", "--threads=1"]):
        words = [toy, "--jit=always", "--device=cpu", *flags, path]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode or set(done.stdout.split()) != {"true"}:
            return f"{flags}: {done}"


def all_cases():
    openmpi, marks = both(OPEN), MARKS
    for function in (
        printing,
        text_and_files,
        random_numbers,
        launched,
        statistics,
        hidden_prints,
        processors,
        launches,
        messages,
    ):
        yield f"ranks: {function.__name__.replace('_', ' ')}", function, openmpi, *marks
    for function in (mailboxes, flood):
        yield f"ranks: {function.__name__}", function, both(OPEN, MPICH), *marks
    yield "ranks: alone", alone, *marks
    yield "ranks: rows behind sums", rows_behind_sums, *marks

# SPDX-License-Identifier: Apache-2.0
"""Ranks that disagree, libraries that do, and what ends a job: errors, killed ranks, interrupts and timeouts, after
which nothing is left of it."""
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time

import processes
from ranks_jobs import MARKS, MPICH, OPEN, both, command, environment, job, left_over, left_soon, longest

# --- ranks that disagree, and libraries that do

HIDDEN = 'i64(env("OMPI_COMM_WORLD_RANK", env("PMI_RANK")))'  # of which nothing is known before the program runs

DISAGREE = {
    "end": (
        3,
        "if rank() != 1 { all_reduce(f32(ones(1000))); }",
        "R0501",
        "0 and 2 call all_reduce of f32[1000] (sum)",
        "; 1 has ended",
    ),
    "first ends": (2, "if rank() == 1 { barrier(); }", "R0501", "0 has ended; 1 calls barrier"),
    "sizes": (
        2,
        "all_reduce(ones(40000 + 20000 * rank()));",
        "R0501",
        "of f64[40000]",
        "1 calls all_reduce of f64[60000]",
    ),
    "dtype": (
        2,
        "if rank() == 0 { all_reduce(f32(1)); } else { all_reduce(i32(1)); }",
        "R0501",
        "of f32 (sum)",
        "of i32 (sum)",
    ),
    "operation": (
        2,
        'if rank() == 0 { all_reduce(1); } else { all_reduce(1, op = "max"); }',
        "R0501",
        "(sum)",
        "(max)",
    ),
    "one of four": (
        4,
        "if rank() == 1 { all_reduce(ones(40)); } else { all_reduce(ones(50)); }",
        "R0501",
        "0, 2 and 3 call all_reduce of f64[50]",
        "1 calls all_reduce of f64[40]",
    ),
    "a sum and none": (
        4,
        "if rank() == 2 { all_gather(1); } else { all_reduce(ones(400)); }",
        "R0501",
        "0, 1 and 3 call all_reduce of f64[400]",
        "2 calls all_gather of i64[1]",
    ),
    "order": (
        2,
        "if rank() == 0 { barrier(); all_reduce(1); } else { all_reduce(1); barrier(); }",
        "R0501",
        "0 calls barrier",
        "1 calls all_reduce",
    ),
    "place": (2, "if rank() == 0 {\n barrier(); } else {\n\n barrier(); }", "R0501", ":2:2", ":4:2"),
    "root": (2, "broadcast(1, from = rank());", "R0501", "from 0", "from 1"),
    "saved by one": (2, 'if rank() == 0 { save("x.npy", [1]); }', "R0501", "0 calls save", "1 has ended"),
    "in try": (2, "try { if rank() == 0 { barrier(); } } catch e { print(e.code); } ", "R0501", "0 calls barrier"),
    "uneven": (2, "all_to_all(ones(3));", "R0506", "3 elements along axis 0 are not 2 equal parts"),
    "no rank": (2, "send(1, 2);", "R0507", "there is no rank 2; there are 2"),
    "other arrives": (
        2,
        "if rank() == 0 { send([1, 2], 1); } else { recv(f32([1, 2]), 0); }",
        "R0508",
        "f64[2] arrived, expected is f32[2]",
    ),
    "parts of others": (
        2,
        "def f(x: f64[N]) { return unshard(shard(x)); } f(ones(4 + rank()));",
        "R0105",
        "parts of all ranks, and of the whole, differ: 4 and 5",
    ),
    "not received": (
        3,
        "if rank() == 0 { send(1, 1); send(ones(90000), 1, tag = 7); } if rank() == 2 { send(2, 0); send(3, 2); }",
        "R0511",
        ": 1 from rank 2 to 0, 2 from rank 0 to 1, 1 from rank 2 to 2",
    ),
    "sent to one that is late": (
        2,
        "if rank() == 0 { for i in range(9) { send(ones(90000), 1); } } barrier();",
        "R0503",
        "rank 0 waits in send of f64[90000]",
    ),
    "late": (3, "if rank() == 0 { sleep(9); } barrier();", "R0503", "within 1 seconds: rank 1 waits in barrier"),
}


def noted(toy):
    """A rank that waits for long says where, and goes on when the other one comes."""
    program = f"if {HIDDEN} == 0 {{ sleep(11); }} barrier(); print(1);"
    status, out, err, _ = job(toy, OPEN, 2, ["-e", program])
    fits = (status, out) == (0, "1\n") and "note: rank 1 has waited for 10 s in barrier at <command line>:1:" in err
    return None if fits else f"{status} {out}{err}"


def disagree(toy, launcher, name, **more):
    ranks, program, code, *texts = DISAGREE[name]
    program = program.replace("rank()", HIDDEN)
    with tempfile.TemporaryDirectory(prefix="disagree") as folder:
        pathlib.Path(folder, "p.toy").write_text(program)
        flags = ["--collective-timeout=1"] if code == "R0503" else []
        more |= {"TOY_RANKS_ON_THEIR_WAY": "1000000"} if name.startswith("sent") else {}
        status, out, err, seconds = job(toy, launcher, ranks, [*flags, f"{folder}/p.toy"], folder, **more)
        rest = left_soon(folder)
    fits = status == 1 and out == "" and f"error[{code}]" in err and all(text in err for text in texts)
    return None if fits and seconds < 2 * longest() and not rest else f"{status} {seconds:.1f} s {rest} {out}{err}"


REPLICATED = {  # with --check-replicated
    "condition": (
        "if rank() == 0 {\nbarrier(); }",
        "the condition is not the same on all ranks: true on 0, false on 1 and 2",
        1,
    ),
    "turns": (
        "def f(n) {\nfor i in range(n) { barrier(); } }\nf(2 + rank());",
        "the condition is not the same on all ranks: false on 0, true on 1 and 2",
        2,
    ),
    "broadcast": (
        "\nbroadcast([1, rank()], from = 1);",
        "what `broadcast` is given is not the same on all ranks: one on 0, another on 1, 2",
        2,
    ),
    "save": (
        'save("x.npy", [rank() // 2]);',
        "what `save` is given is not the same on all ranks: one on 0 and 1, another on 2",
        1,
    ),
    "sizes": ("broadcast(ones(2 + rank() // 2));", "one on 0 and 1, another on 2", 1),
    "none": ("if all_reduce(rank()) == 3 { barrier(); } broadcast([i64(rank() >= 0)]); print(1);", "", 0),
    "of one": ("if rank() == 0 { print(1); }", "", 0),
    "varying": ("def f(x) { return broadcast(x); }\nf(1); f(stated()); print(1);", "", 0),
}


def replicated(toy, launcher, name, flags):
    """What the analysis cannot see: the rank comes from the environment."""
    program, text, line = REPLICATED[name]
    program = program.replace("stated()", "rank ()").replace("rank()", HIDDEN).replace("rank ()", "rank()")
    with tempfile.TemporaryDirectory(prefix="replicated") as folder:
        pathlib.Path(folder, "p.toy").write_text(program)
        status, out, err, _ = job(toy, launcher, 3, ["--check-replicated", *flags, f"{folder}/p.toy"], folder)
        rest = left_soon(folder)
    if not text:
        return None if (status, out, rest) == (0, "1\n", []) else f"{status} {out}{err}"
    fits = status == 1 and out == "" and f"error[R0510]: " in err and text in err and f"p.toy:{line}:" in err
    return None if fits and not rest else f"{status} {rest} {out}{err}"


FAKE = """
#include <string.h>
#include <stdlib.h>
static int calls;
static const void *sent;
int MPI_Init_thread(int *a, char ***b, int c, int *d) { return 0; }
int MPI_Finalize(void) { return 0; }
int MPI_Abort(int c, int s) { _Exit(s); }
int MPI_Comm_rank(int c, int *r) { *r = 0; return 0; }
int MPI_Comm_size(int c, int *n) { *n = atoi(getenv("FAKE_SIZE")); return 0; }
int MPI_Comm_set_errhandler(int c, int h) { return 0; }
int MPI_Error_string(int e, char *t, int *n) { strcpy(t, "peer is gone"); *n = 12; return 0; }
int MPI_Allgather(void *x, int n, int t, void *y, int m, int u, int c) {
  for (int i = 0; i < 2; ++i) memcpy((char *)y + i * n, x, n);
  return calls++ ? 15 : 0;
}
int MPI_Bcast(void *x, int n, int t, int r, int c) { return 15; }
int MPI_Send(void *x, int n, int t, int r, int g, int c) { return 15; }
int MPI_Isend(const void *x, int n, int t, int r, int g, int c, int *q) { return sent = x, calls++ ? 15 : 0; }
int MPI_Wait(int *q, void *s) { return 0; }
int MPI_Test(int *q, int *f, void *s) { return 15; }
int MPI_Iprobe(int r, int g, int c, int *f, void *s) { return 15; }
int MPI_Recv(void *x, int n, int t, int r, int g, int c, void *s) { return memcpy(x, sent, 128), 0; }
int MPI_Sendrecv(void *x, int n, int t, int r, int g, void *y, int m, int u, int q, int h, int c, void *s) {
  return 15;
}
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


def fault(toy, launcher, ranks, kind, victim, delay=0.1, **more):
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
        words = [*command(launcher, ranks), toy, *flags, f"{folder}/w.toy"]
        run = processes.start(words, cwd=folder, env=environment(**more), stderr=subprocess.PIPE)
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
            processes.end(run)
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
        more = {"TOY_RANKS_MAILBOXES": rng.choice("01")}
        if problem := fault(toy, launcher, ranks, kind, rng.randrange(ranks), rng.random() * 0.3, **more):
            return f"{launcher}, {more}: {problem}"


def all_cases():
    openmpi, marks = both(OPEN), MARKS
    yield "ranks: libraries", libraries, *marks
    for i, name in enumerate(DISAGREE):
        launcher = (OPEN, MPICH)[i % 2]
        yield f"ranks: disagree, {name}", lambda toy, n=name, m=launcher: disagree(toy, m, n), both(launcher), *marks
        run = lambda toy, n=name, m=launcher: disagree(toy, m, n, TOY_RANKS_MAILBOXES="0")
        tiers = [] if name in ("one of four", "order", "first ends") else ["nightly"]
        yield f"ranks: disagree, {name}, by MPI", run, both(launcher), *tiers, *marks
    for i, name in enumerate(REPLICATED):
        launcher, flag = (OPEN, MPICH)[i % 2], ("--jit=always", "--jit=never")[i // 2 % 2]
        run = lambda toy, n=name, m=launcher, f=flag: replicated(toy, m, n, [f])
        yield f"ranks: replicated, {name}", run, both(launcher), *marks
    yield "ranks: a note of who waits", noted, openmpi, "nightly", *marks
    for i, kind in enumerate(("error", "exit", "kill", "interrupt", "launcher")):
        run = lambda toy, k=kind, v=i % 2: fault(toy, OPEN, 2, k, v)
        yield f"ranks: {kind}", run, openmpi, *marks
    for seed in range(10):
        run = lambda toy, s=seed: many_faults(toy, 50, s)
        yield f"ranks: 50 faults, {seed}", run, both(OPEN, MPICH), "nightly", *marks

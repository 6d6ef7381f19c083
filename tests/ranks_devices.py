# SPDX-License-Identifier: Apache-2.0
"""Collectives of tensors on devices: each process has a device of the fake driver (tests/cuda), and a NCCL that is as
strict connects them. Results have the bits of the tree over rank numbers; what goes wrong falls back to MPI, or ends
all ranks."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from nccl_misuse import MISUSES
from ranks import BLOCKS
from ranks_jobs import OPEN, both, command, environment, job, left_soon, longest
from ranks_values import moves, sums

MARKS = ("release", "host", "device")
ON_DEVICE = ["--device=cuda", "--jit=always"]


def fakes(toy, folder, **more):
    """The environment of ranks that have a device each; reports are in files of the folder."""
    programs = pathlib.Path(toy).parent
    return {
        "TOY_CUDA_DRIVER": str(programs / "libtoyfakecuda.so"),
        "TOY_CUDA_NCCL": str(programs / "libtoyfakenccl.so"),
        "TOY_FAKE_DEVICES": "16",
        "TOY_FAKE_REPORT": f"{folder}/report",
        "TMPDIR": str(folder),
        **more,
    }


def reports(folder, ranks):
    return [pathlib.Path(folder, f"report.{r}").read_text() for r in range(ranks)]


def number(report, name):
    found = re.search(rf"^{name}: (\d+)$", report, re.M)
    return int(found.group(1)) if found else 0


def unsound(folder, ranks, groups=1):
    """What the reports say that should not be there, or miss."""
    for r, report in enumerate(reports(folder, ranks)):
        if "found: " in report or number(report, "communicators left") or number(report, "nccl groups") < groups:
            return f"rank {r}: {report}"


def checked(toy, ranks, check, groups=1, **more):
    with tempfile.TemporaryDirectory() as folder:
        return check(fakes(toy, folder, **more)) or unsound(folder, ranks, groups if ranks > 1 else 0)


def device_sums(toy, ranks, flags, sizes, dtypes, seed="1"):
    run = lambda more: sums(toy, OPEN, ranks, [*ON_DEVICE, *flags], "", sizes, dtypes, **more)
    return checked(toy, ranks, run, TOY_FAKE_SEED=seed)


def device_moves(toy, ranks, flags, columns=3, seed="1"):
    run = lambda more: moves(toy, OPEN, ranks, [*ON_DEVICE, *flags], columns, **more)
    return checked(toy, ranks, run, 6, TOY_FAKE_SEED=seed)


def stays_there(toy, sizes, launches, ranks=2):
    """Between sums over ranks nothing comes to the host, and nobody waits. A sum of a size that is known, and the
    residual and the norm behind it, are a call and a launch; another sum is a launch of its own."""
    found = []
    for times in (3, 8):
        with tempfile.TemporaryDirectory() as folder:
            text = BLOCKS.replace("TIMES", str(times)).replace("[N, D]", f"[{sizes}]")
            text = text.replace("[D]", f"[{sizes.split()[1]}]")
            flags = [*ON_DEVICE, "--cuda-graphs=off", "--precision=full"]
            done = job(toy, OPEN, ranks, [*flags, "--stats=s.json", "-e", text], folder, **fakes(toy, folder))
            if done[0] or unsound(folder, ranks):
                return f"{done} {unsound(folder, ranks)}"
            found.append(json.loads(pathlib.Path(folder, "s.json").read_text())["cuda"])
    names = ("bytes_to_host", "bytes_to_device", "waits", "collectives", "launches")
    host = job(toy, OPEN, ranks, ["--jit=always", "--precision=full", "-e", text])
    if done[:3] != host[:3]:
        return f"{done} {host}"
    grown = [found[1][name] - found[0][name] for name in names]
    return None if grown == [0, 0, 0, 5, 5 * launches] else dict(zip(names, grown))


SUM = "var x = f32(arange(5000)) * (rank() + 1); print(sum(all_reduce(x)), sum(shift(x, 1)), all_gather(x).shape);"
RESULT = "37492500.0 24995000.0 (10000,)\n"
REFUSALS = {
    "no library": ({"TOY_CUDA_NCCL": "/no/libnccl.so"}, "on rank 0: /no/libnccl.so cannot be opened"),
    "too old": ({"TOY_FAKE_NCCL_VERSION": "21307"}, "on rank 0: NCCL 2.13.7 is too old, NCCL 2.14.0 is needed"),
    "one device": ({"TOY_FAKE_DEVICES": "1"}, "ranks 0 and 1 have the same device"),
    "no identifier": ({"TOY_FAKE_FAIL": "ncclGetUniqueId:1:2"}, "on rank 0: ncclGetUniqueId says: unhandled system"),
    "no connection": ({"TOY_FAKE_FAIL": "ncclCommInitRank:1:2"}, "on rank 0: ncclCommInitRank says: unhandled system"),
}


def refused(toy, what):
    """Where devices cannot be connected, MPI carries the same, and it is said why, once."""
    more, reason = REFUSALS[what]
    with tempfile.TemporaryDirectory() as folder:
        status, out, err, _ = job(toy, OPEN, 2, [*ON_DEVICE, "-e", SUM], folder, **fakes(toy, folder, **more))
        if (status, out) != (0, RESULT) or err.count("warning[D0110]: collectives run on the host: " + reason) != 1:
            return f"{status} {out} {err}"
        if err.count("warning") != 1 or any(number(r, "nccl groups") for r in reports(folder, 2)):
            return f"{err} {reports(folder, 2)}"


def not_opened(toy):
    """NCCL is opened where devices meet, and nowhere else: not by one process, and not for what openings carry."""
    for ranks, text in ((1, SUM), (2, "print(all_reduce(f32([1, 2]) + 1));")):
        with tempfile.TemporaryDirectory() as folder:
            more = fakes(toy, folder, LD_DEBUG="libs", LD_DEBUG_OUTPUT=f"{folder}/ld")
            done = job(toy, OPEN, ranks, [*ON_DEVICE, "-e", text], folder, **more)
            said = "".join(f.read_text(errors="replace") for f in pathlib.Path(folder).glob("ld.*"))
            if done[0] or "libtoyfakecuda" not in said or "libtoyfakenccl" in said:
                return f"{ranks}: {done}"


LONG = "var x = f32(arange(5000)); for i in range(100) { x = all_reduce(x) / 2; if x[1] < 0 { break; } } print(x[7]);"


def lost(toy, kind, want, flags=(), ranks=2):
    """A connection that is lost, and a rank that never comes, end all ranks soon, with a message and a status."""
    with tempfile.TemporaryDirectory(prefix="lost") as folder:
        pathlib.Path(folder, "w.toy").write_text(LONG)
        began = time.time()
        words = [*ON_DEVICE, *flags, f"{folder}/w.toy"]
        status, out, err, _ = job(toy, OPEN, ranks, words, folder, **fakes(toy, folder, **kind))
        seconds, rest = time.time() - began, left_soon(f"{folder}/w.toy")
        if status != 1 or out or not re.search(want, err) or rest or seconds > 4 + 2 * longest():
            return f"{kind}: {status} {out} {err} {rest} {seconds}"
        if "aborted" not in "".join(reports(folder, ranks)):
            return reports(folder, ranks)


def lost_elsewhere(toy):
    """What one rank alone notices reaches the others before they read what has not arrived."""
    text = "var x = f32(arange(5000)); for i in range(100) { x = all_reduce(x) / 2; print(x[7]); }"
    with tempfile.TemporaryDirectory() as folder:
        words = [*ON_DEVICE, "--print=all", "-e", text]
        status, out, err, _ = job(toy, OPEN, 2, words, folder, **fakes(toy, folder, TOY_FAKE_NCCL="lost:3:1"))
        lines = out.splitlines()
        if status != 1 or "error[R0502]" not in err or any(line not in ("[0] 7.0", "[1] 7.0") for line in lines):
            return f"{status} {out} {err}"
        return None if lines.count("[0] 7.0") == 3 else out


CALLS = ["ncclGroupStart", "ncclGroupEnd", "ncclSend", "ncclRecv", "ncclAllGather", "ncclAllReduce", "ncclBroadcast"]
EVERY_CALL = """
var x = f64(reshape(arange(20000), [100, 200])); var y = i64(x);
var a = (all_reduce(x), all_reduce(y), all_gather(x, axis = 1), broadcast(x, from = 1), all_to_all(x));
print(a[0][1, 1], a[1][1, 1], a[2].shape, a[3][1, 1], a[4][1, 1]);
"""


def each_call_fails(toy, call):
    with tempfile.TemporaryDirectory() as folder:
        more = fakes(toy, folder, TOY_FAKE_FAIL=f"{call}:1:2")
        status, out, err, _ = job(toy, OPEN, 2, [*ON_DEVICE, "-e", EVERY_CALL], folder, **more)
        want = f"error[R0502]: the connection to other ranks is lost: {call} says: unhandled system error"
        return None if status == 1 and not out and want in err else f"{status} {out} {err}"


def mixed(toy):
    """Where ranks differ, rank 0 decides: without a device of its own for MPI, and so it is where another has none."""
    for rank, reason in ((0, "collectives run on the host: on rank 1: --device=cpu"), (1, "")):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sum.toy").write_text(SUM)
            choose = f"export TOY_DEVICE=cpu; [ $OMPI_COMM_WORLD_RANK = {rank} ] && TOY_DEVICE=cuda; exec {toy} sum.toy"
            done = subprocess.run(
                [*command(OPEN, 2), "sh", "-c", choose],
                env=environment(**fakes(toy, folder)),
                capture_output=True,
                text=True,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                timeout=60,
            )
            if (done.returncode, done.stdout.replace("\r", "")) != (0, RESULT) or reason not in done.stderr:
                return str(done)
            if any("nccl groups" in path.read_text() for path in pathlib.Path(folder).glob("report.*")):
                return "it was not MPI"


def misused(toy):
    """The fake finds what two processes do wrong that call it themselves."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(__file__).with_name("nccl_misuse.py")
        started = [
            subprocess.Popen(
                [sys.executable, script, pathlib.Path(toy).parent, str(r)],
                env=environment(TOY_FAKE_REPORT=f"{folder}/report", TMPDIR=folder, OMPI_COMM_WORLD_RANK=str(r)),
            )
            for r in range(2)
        ]
        if any(process.wait(60) for process in started):
            return "it ended with an error"
        for r, report in enumerate(reports(folder, 2)):
            for what, (_, *wants) in MISUSES.items():
                if wants[r] not in report:
                    return f"{what} on rank {r}: {report}"
            if number(report, "communicators left") != 1:
                return f"one is left: {report}"


REAL = ("bool", "i32", "bf16", "f32", "c64")
OTHERS = ("u8", "i64", "f16", "f64", "c128")


def all_cases():
    openmpi, marks = both(OPEN), MARKS
    yield "ranks: devices, sums on 3", lambda toy: device_sums(toy, 3, [], (29, 301), REAL), openmpi, *marks
    yield "ranks: devices, large sums on 2", lambda toy: device_sums(
        toy, 2, [], (20001,), ("f32", "f16")
    ), openmpi, *marks
    yield "ranks: devices, moves on 2", lambda toy: device_moves(toy, 2, []), openmpi, *marks
    for ranks, sizes, count in ((2, "N, D", 2), (3, "32, 64", 1), (9, "32, 64", 2)):
        run = lambda toy, s=sizes, n=count, r=ranks: stays_there(toy, s, n, r)
        yield f"ranks: devices, values stay there, f32[{sizes}] on {ranks}", run, openmpi, *marks
    for what in REFUSALS:
        extra = () if what in ("no library", "one device") else ("nightly",)
        yield f"ranks: devices, {what}", lambda toy, w=what: refused(toy, w), openmpi, *extra, *marks
    yield "ranks: devices, not opened", not_opened, openmpi, *marks
    wait = ["--collective-timeout=1"]
    yield "ranks: devices, a lost connection", lambda toy: lost(
        toy,
        {"TOY_FAKE_NCCL": "lost:3"},
        r"error\[R0502\]: the connection to other ranks is lost: NCCL says: remote process.* \(as the test wanted it\)",
        ["--collective-timeout=9"],
    ), openmpi, *marks
    yield "ranks: devices, a connection lost elsewhere", lost_elsewhere, openmpi, *marks
    yield "ranks: devices, no answer", lambda toy: lost(
        toy,
        {"TOY_FAKE_NCCL": "hang:3"},
        r"error\[R0503\]: no answer .* within 1 seconds: rank \d waits in all_reduce of f32\[5000\] \(sum\) at .*w.toy:1:",
        wait,
    ), openmpi, *marks
    for call in CALLS:
        yield f"ranks: devices, {call} fails", lambda toy, c=call: each_call_fails(toy, c), openmpi, "nightly", *marks
    yield "ranks: devices, only some have one", mixed, openmpi, *marks
    yield "ranks: devices, misuse", misused, *marks
    for ranks in (1, 2, 3, 4, 9):
        for dtypes in (REAL, OTHERS):
            for flags in (["--cuda-graphs=full"], ["--dynamic=on"]):
                name = f"ranks: devices, sums of {dtypes[1]} and others on {ranks}, {flags[0]}"
                run = lambda toy, r=ranks, f=flags, d=dtypes: device_sums(
                    toy, r, f, (0, 1, 28, 29, 1009, 5001), d, str(r)
                )
                yield name, run, openmpi, "nightly", *marks
        run = lambda toy, r=ranks: device_sums(toy, r, [], (70001,), ("bf16", "f32", "f64", "c64", "c128"))
        yield f"ranks: devices, large sums on {ranks}", run, openmpi, "nightly", *marks
        for seed in ("2", "3"):
            run = lambda toy, r=ranks, s=seed: device_moves(toy, r, ["--cuda-graphs=full"], 20, s)
            yield f"ranks: devices, moves on {ranks}, order {seed}", run, openmpi, "nightly", *marks

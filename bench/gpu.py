# SPDX-License-Identifier: Apache-2.0
"""On a CUDA device: Toy and, where a Python on this machine has them, PyTorch (eager and compiled), CuPy and JAX;
milliseconds, medians. Each measurement has a limit, all of them one budget: Toy first, the cases in the order of
bench/cuda_cases.py. Reports as JSON and as Markdown. Nothing here is a test.

    gpu.py TOY [--small] [--only=SUBSTRING] [--limit=SECONDS] [--budget=SECONDS] [--out=FOLDER] [--python=PYTHON]"""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import processes  # noqa: E402
from cuda_cases import CASES, formatted  # noqa: E402

ROUNDS, WARM = 30, 5
PEERS = ["torch", "cupy", "jax", "torch compiled"]  # what takes longest last


def toy_ms(arguments, case, rounds):
    """A median in milliseconds, or what is wrong. A reading of the clock waits for the device."""
    sizes = case.small if arguments.small else case.sizes
    # What nobody reads is not computed, so the last result is read.
    loop = f'var y = {case.call};\nfor i in range({rounds + WARM}) {{ var t = clock(); y = {case.call}; print(clock() - t); }}\nprint(y, to = "stderr");'
    flags = ["--device=cuda", "--jit=always", *case.flags]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "case.toy")
        path.write_text(f"{formatted(case.toy, sizes)}\n{loop}\n")
        stats = pathlib.Path(folder, "stats")
        command = [arguments.toy, f"--stats={stats}", *flags, str(path)]
        status, said, problem = processes.run(command, arguments.limit, stderr=subprocess.PIPE)
        counts = json.loads(stats.read_text())["cuda"] if status == 0 else {}
    if status is None:
        return said
    times = [float(line) for line in said.split()]
    if status or len(times) != rounds + WARM:
        return (problem.splitlines() or ["failed"])[0]
    if counts["sequences"] < rounds + WARM:
        return f"{counts['sequences']} sequences ran, not {rounds + WARM}"
    return statistics.median(times[WARM:]) * 1e3


def of_the_machine():
    """The environment without what the Python of a bundle needs (scripts/device-bundle)."""
    left = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
    folders = [f for f in left.pop("LD_LIBRARY_PATH", "").split(":") if f and f != f"{sys.prefix}/lib"]
    return left | ({"LD_LIBRARY_PATH": ":".join(folders)} if folders else {})


def peer_ms(arguments, peer, names, end):
    """One process for a library, which takes seconds to open; it writes a line a case and is ended where one takes too
    long, after which a new one goes on behind that case."""
    rows, left, said = {}, list(names), tempfile.TemporaryFile("w+")
    while left and time.monotonic() < end:
        command = [
            arguments.python,
            str(ROOT / "bench/cuda_peer.py"),
            peer,
            "small" if arguments.small else "full",
            *left,
        ]
        child = processes.start(command, stderr=said, env=of_the_machine())
        before, opening = len(left), True
        while True:
            limit = 3 * arguments.limit if opening else arguments.limit
            timer = threading.Timer(min(limit, max(end - time.monotonic(), 1)), processes.end, [child])
            timer.start()
            line = child.stdout.readline()
            timer.cancel()
            if not line:
                break
            row, opening = json.loads(line), False
            if "version" in row:
                rows["version"] = row["version"]
            else:
                rows[row["name"]] = row.get("ms", row.get("problem"))
                left.remove(row["name"])
        processes.end(child)
        child.wait()
        if "version" not in rows:  # it is not installed, or sees no device
            said.seek(0)
            print(f"{peer}: {(said.read().strip().splitlines() or ['ended'])[-1][:200]}", flush=True)
            return {}
        if left and (len(left) == before or time.monotonic() < end):
            rows[left.pop(0)] = "ended"
    return rows


def shown(value):
    return f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value)[:60]


def rate(case, ms):
    if not isinstance(ms, float):
        return ""
    return (
        f"{case.bytes / ms / 1e6:.0f} GB/s"
        if case.bytes
        else f"{case.operations / ms / 1e9:.1f} TFLOP/s"
        if case.operations
        else ""
    )


def markdown(report):
    peers = [peer for peer in PEERS if peer in report["peers"]]
    lines = [f"# On a device, {report['date']}", "", *(f"    {line}" for line in report["about"]), ""]
    lines += [f"{peer} {report['peers'][peer]['version']}" for peer in peers] + [""] * bool(peers)
    lines += [f"| | Toy, ms | | {''.join(f'{peer}, ms | ' for peer in peers)}".rstrip()]
    lines += ["| --- | ---: | ---: | " + "---: | " * len(peers)]
    for case in CASES:
        if case.name in report["toy"]:
            ms = report["toy"][case.name]
            others = "".join(f" {shown(report['peers'][peer].get(case.name))} |" for peer in peers)
            lines.append(f"| {case.name} | {shown(ms)} | {'' if report['small'] else rate(case, ms)} |{others}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("toy", type=os.path.abspath)
    parser.add_argument("--small", action="store_true", help="sizes with which the cases are tried without a device")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=40, help="seconds a measurement may take")
    parser.add_argument("--budget", type=float, default=440, help="seconds for all of them")
    parser.add_argument("--out", type=pathlib.Path, default=os.environ.get("OUT") or ROOT / "bench/results")
    parser.add_argument("--python", default=shutil.which("python3") or sys.executable, help="that has the peers")
    return parser.parse_args()


def main():
    sys.path.insert(0, str(ROOT / "tests"))
    from device_check import about

    arguments = parsed()
    end = time.monotonic() + arguments.budget
    lines, usable = about(arguments.toy)
    print("\n".join(lines), flush=True)
    if not usable:
        return 1
    report = {"date": f"{datetime.date.today()}", "small": arguments.small, "about": lines, "toy": {}, "peers": {}}
    cases = [case for case in CASES if arguments.only in case.name]
    for case in cases:
        if time.monotonic() < end:
            report["toy"][case.name] = toy_ms(arguments, case, 3 if arguments.small else ROUNDS)
            print(f"{case.name}: {shown(report['toy'][case.name])}", flush=True)
    for peer in PEERS:
        names = [case.name for case in cases if (case.torch_call if "torch" in peer else case.xp_call)]
        if rows := peer_ms(arguments, peer, names, end):
            report["peers"][peer] = rows
    arguments.out.mkdir(parents=True, exist_ok=True)
    to = arguments.out / f"device-bench-{report['date']}"
    to.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")
    to.with_suffix(".md").write_text(markdown(report))
    print(f"{to}.json, .md")
    return 0 if all(isinstance(ms, float) for ms in report["toy"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The archive of scripts/device-bundle, unpacked where there is nothing but glibc and a shell, with the fake driver;
and what bench/gpu.py measures beside us, with NumPy for a library of a device."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from device import ROOT

OF_GLIBC = ["ld-linux-x86-64.so.2", *(f"lib{name}.so.{n}" for name, n in (("c", 6), ("m", 6), ("mvec", 1)))]
OF_GLIBC += ["libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1"]
# As root of namespaces of its own; what is mounted there goes with it.
INSIDE = 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && cd / && exec chroot "$0" /bin/sh -c "$1"'


def bare(folder):
    """A root with glibc and dash."""
    for name in ("bin", "lib64", "lib/x86_64-linux-gnu", "tmp", "proc", "dev"):
        (folder / name).mkdir(parents=True)
    for name in OF_GLIBC:
        shutil.copy(f"/lib/x86_64-linux-gnu/{name}", folder / "lib/x86_64-linux-gnu" / name)
    shutil.copy("/lib64/ld-linux-x86-64.so.2", folder / "lib64")
    shutil.copy(os.path.realpath("/bin/dash"), folder / "bin/sh")


def inside(folder, command):
    unshare = ["unshare", "--map-root-user", "--mount", "sh", "-c", INSIDE, str(folder), command]
    return subprocess.run(
        unshare,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
        env={"PATH": os.environ["PATH"]},
    )


# A Python that has no library, but would not start with another one's.
PYTHON = """#!/bin/sh
[ -z "$PYTHONHOME$LD_LIBRARY_PATH" ] && echo '{"version": "1"}'
"""


def unpacked(toy, folder):
    """Makes the archive and unpacks it; what is wrong, or nothing."""
    archive = folder / "bundle.tar.xz"
    build = pathlib.Path(toy).resolve().parent
    command = [ROOT / "scripts/device-bundle", f"--build={build}", f"--to={archive}"]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        return made.stdout + made.stderr
    bare(folder / "root")
    subprocess.run(["tar", "-xJf", archive, "-C", folder / "root"], check=True)
    (folder / "root/bin/python3").write_text(PYTHON)
    (folder / "root/bin/python3").chmod(0o755)
    return None


def finds_packages(root):
    """Where the loader finds no cuBLAS and cuFFT, those of a Python's packages are used."""
    for name, file in (("cublas", "libcublas.so.12"), ("cu13", "libcufft.so.12")):
        path = root / f"usr/local/lib/python3.99/dist-packages/nvidia/{name}/lib/{file}"
        path.parent.mkdir(parents=True)
        shutil.copy(root / "toy-device/build/release/libtoyfakecuda.so", path)
    shutil.copy(root / "toy-device/build/release/libtoyfakecuda.so", root / "lib64/libcuda.so.1")
    done = inside(root, "echo :device | LD_LIBRARY_PATH=/lib64 /toy-device/build/release/toy --device=cuda -")
    lines = [line for line in done.stdout.splitlines() if line.startswith("cu")]
    if len(lines) != 3 or not all("/usr/local/lib/python3.99/" in line for line in lines[1:]):
        return f"{done.stdout}{done.stderr}"
    return None


def bundle(toy):
    """Checks and benches run there and report what they found."""
    if subprocess.run(["unshare", "--map-root-user", "--mount", "true"], capture_output=True).returncode:
        return "skipped: no namespaces for users"
    lead = "export TOY_CUDA_DRIVER=/toy-device/build/release/libtoyfakecuda.so OUT=/tmp/out; cd /toy-device && scripts/gpu-check "
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        if problem := unpacked(toy, folder) or finds_packages(folder / "root"):
            return problem
        for what, count in (("correct --only=transform", 6), ("bench --small", 15)):
            done = inside(folder / "root", lead + what)
            reports = list((folder / "root/tmp/out").glob(f"device-{what.split()[0]}-*.json"))
            if done.returncode or len(reports) != 1 or not reports[0].with_suffix(".md").read_text():
                return f"{what}: {done.returncode}\n{done.stdout}{done.stderr}"
            report = json.loads(reports[0].read_text())
            found = report["totals"]["passed"] if "totals" in report else len(report["toy"])
            missing = what.startswith("bench") and report["peers"]["cupy"]["version"] != "1"
            if found < count or missing or "Fake device" not in "".join(report["about"]):
                return f"{what}: {report}"
    return None


def peers(toy):
    """Every case has a form that a library with NumPy's functions computes."""
    sys.path.insert(0, str(ROOT / "bench"))
    from cuda_cases import CASES

    names = [case.name for case in CASES if case.xp_call]
    command = [sys.executable, ROOT / "bench/cuda_peer.py", "numpy", "small", *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    rows = [json.loads(line) for line in done.stdout.splitlines()[1:]]
    if done.returncode or [row["name"] for row in rows] != names or any("ms" not in row for row in rows):
        return f"{done.stdout}{done.stderr}"
    return None


MARKERS = ("device", "host", "release")


def all_cases():
    yield "device: the bundle where there is only glibc", bundle, "nightly"
    yield "device: what is measured beside us", peers

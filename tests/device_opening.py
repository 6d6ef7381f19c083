# SPDX-License-Identifier: Apache-2.0
"""When a device is opened, which one, by which libraries; what its driver says of kernels that it refuses."""
import os
import pathlib
import re
import subprocess
import tempfile

from device import EVERYWHERE, Done, run, same_bits

FEW = 'var s = 0; for i in range(100) { s = s + i; } def f(x) { return sum(x * 2 + 1); } print(s, f(ones([1000])), norm(ones([9, 9]) @ ones([9, 9])), abs(fft([1, 2, 3]))[0], "é");'
MANY = "def f(x) { return sum(x * 2 + 1); } print(f(ones([1000]))); print(f(ones([400000])));"


def opened(toy):
    """--device=auto opens the driver at the first large tensor: code that was made before has its kernels then."""
    for text, flags, wanted in (
        (FEW, ["--device=auto", "--jit=always"], False),
        (MANY, ["--device=auto", "--jit=always"], True),
        (MANY, ["--device=cpu", "--jit=always"], False),
        (FEW, EVERYWHERE, True),
    ):
        done = run(toy, ["--no-cache", *flags, "-e", text])
        if problem := done.problem():
            return problem
        if ("cuInit: 1" in done.report) != wanted:
            return f"{flags}: {done.report or 'no call'}\n{text}"
    return None


def later(toy):
    """What was computed on the host before, on a device and without one behind the driver."""
    text = "def f(x: f64[N, M]) { var y = softmax(x, axis=1); y[0] = sum(y, axis=0) * 2; return y; } for n in i64([3, 900, 4]) { print(sum(f(reshape(sin(arange(n * n) * 0.1), [n, n])))); }"
    want = run(toy, ["--device=cpu", "--jit=always", "-e", text])
    for environment, launches in (({}, True), ({"TOY_FAKE_DEVICES": "0"}, False)):
        done = run(toy, ["--device=auto", "--jit=always", "-e", text], **environment)
        if problem := done.problem():
            return problem
        used = done.stats.get("launches", 0) + done.stats.get("graph_launches", 0) > 0
        if done.stdout != want.stdout or used != launches:
            return f"{environment}: {done.stdout}{want.stdout}{done.stats}"
    return None


def ordinals(toy):
    """--device=cuda:N, and TOY_DEVICE, which the command line overrules."""
    for flags, environment, wanted in (
        (["--device=cuda:1"], {}, "cuda: Fake device, number 1,"),
        (["--device=cuda:0"], {}, "cuda: Fake device, 16 GiB"),
        (["--device=cuda"], {"TOY_DEVICE": "cuda:1"}, "cuda: Fake device, 16 GiB"),
        ([], {"TOY_DEVICE": "cuda:1"}, "cuda: Fake device, number 1,"),
        (["--device=cuda:2"], {}, "error[D0104]: no CUDA device: the driver sees 2, there is no number 2"),
        (["--device=cuda:x"], {}, "error[D0102]: `cuda:x` is not a value of --device"),
        (["--device=cpu:1"], {}, "error[D0102]: `cpu:1` is not a value of --device"),
        ([], {"TOY_DEVICE": "gpu"}, "help: `TOY_DEVICE=cpu|cuda|cuda:N|auto`"),
    ):
        done = run(toy, [*flags, "-"], stdin=":device\n", TOY_FAKE_DEVICES="2", **environment)
        if wanted not in done.stdout + done.stderr:
            return f"{flags} {environment}: {done.stdout}{done.stderr}"
    done = run(toy, ["--device=cpu", "-"], stdin=":device\n", TOY_DEVICE="cuda")
    return None if "cuda:" not in done.stdout else done.stdout


def packages(toy):
    """cuBLAS and cuFFT are found in the packages of a Python, and :device says where."""
    fake = pathlib.Path(toy).resolve().parent / "libtoyfakecuda.so"
    for way, kind in (("VIRTUAL_ENV", "site"), ("HOME", "dist"), ("PATH", "site")):
        with tempfile.TemporaryDirectory() as folder:
            prefix = pathlib.Path(folder, ".local" if way == "HOME" else "")
            wanted = []
            for name, file in (("cublas", "libcublas.so.12"), ("cufft", "libcufft.so.11")):
                path = prefix / f"lib/python3.99/{kind}-packages/nvidia/{name}/lib/{file}"
                path.parent.mkdir(parents=True)
                path.symlink_to(fake)
            (prefix / "bin").mkdir(parents=True, exist_ok=True)
            (prefix / "bin/python3").touch()
            pathlib.Path(folder, "libcuda.so.1").symlink_to(fake)
            environment = {k: v for k, v in os.environ.items() if k not in ("TOY_CUDA_DRIVER", "VIRTUAL_ENV")}
            environment |= {"LD_LIBRARY_PATH": folder, "HOME": "/none", "PATH": "/none"}
            environment[way] = str(prefix / "bin") if way == "PATH" else folder
            command = [toy, "--device=cuda", "--no-cache", "-"]
            text = ":device\nvar a = eye(3); print(sum(a @ a));\n"
            done = subprocess.run(command, input=text, env=environment, capture_output=True, text=True, timeout=60)
        if re.search(r"cu(BLAS|FFT): /(usr|lib)", done.stdout):
            return "skipped: the loader finds CUDA's libraries"
        found = re.findall(r"^cu(?:BLAS|FFT): (.*)$", done.stdout, re.M)
        # one file, opened under its first name
        if (
            done.returncode
            or "3.0" not in done.stdout
            or len(found) != 2
            or not all(f.startswith(folder) for f in found)
        ):
            return f"{way}: {done.stdout}{done.stderr}"
    return None


def pageable(toy):
    """A device that reads the host's memory where it lies has read it before a program goes on: memory of literals is
    used again."""
    text = (
        "def f(n) { var s = zeros([4]); for i in range(n) { var x = [1.0 * i, 2, 3, n]; s = s * 2 + x; } return s; }"
        " print(f(9)); var y = [1.5, 2, 3]; var z = y * 2; y = [4.5, 5, 6]; var w = y * z; y = [7.5, 8, 9]; print(w, y, z);"
    )
    for seed in range(3):
        for late in ({}, {"TOY_FAKE_PAGEABLE": "1"}):
            if problem := same_bits(toy, text, ["--cuda-graphs=off"], seed, **late):
                return f"{late}: {problem}"
    return None


def refused_kernels(toy):
    done = run(toy, [*EVERYWHERE, "-e", "print(sum(arange(10) * 1.0));"], TOY_FAKE_FAIL="cuModuleLoadDataEx:1:218")
    said = "cuModuleLoadDataEx (ptxas application ptx input, line 7; error: as the test wanted it) failed: CUDA_ERROR_INVALID_PTX"
    return None if "error[R0123]" in done.stderr and said in done.stderr else done.stderr


def changed_addresses(toy):
    """A graph most of whose work would be captured again because results are kept is launches instead; one call of many
    operations is captured again."""
    lead = "var x = ones([8, 8]) * 0.1; var w = ones([8, 8]) * 0.2;\n"
    for body, few in (
        ("var y = x @ w; return (y, y + 1);", True),
        (
            "var y = x @ w; var s = y; for i in range(12) { s = reshape(sum(s, axis=1), [N, 1]) * x; } return (y, s);",
            False,
        ),
    ):
        text = f"def f(x: f64[N, N], w: f64[N, N]) {{ {body} }}\n{lead}"
        counts = {}
        for calls in (3, 9):
            kept = "".join(f"var (a{i}, b{i}) = f(x, w);\n" for i in range(calls))
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "program.toy")
                path.write_text(text + kept + "print(sum(a0), sum(b0));")
                done = run(toy, [*EVERYWHERE, str(path)])
            if problem := done.problem():
                return problem
            counts[calls] = done.stats
        grown = {key: counts[9][key] - counts[3][key] for key in ("graph_launches", "launches", "products", "graphs")}
        if grown["graph_launches"] != (0 if few else 6) or (grown["launches"] > 0) != few or grown["graphs"]:
            return f"six calls more: {grown}\n{text}"
    return None


MARKERS = ("device", "host")


def all_cases():
    for check in (opened, later, ordinals, packages, pageable, refused_kernels, changed_addresses):
        yield f"device: {check.__name__.replace('_', ' ')}", check

# SPDX-License-Identifier: Apache-2.0
"""What fails: no device, every call of the driver, memory, and what a user interrupts."""
import itertools
import pathlib
import re
import tempfile

from device import EVERYWHERE, NUMBER, Done, on_host, run, same_bits
from device_counts import N
from programs import first, same
from terminal import Session


def no_device(toy):
    """One clear line for each way of having no device; with --device=auto nothing at all."""
    rows = [
        ({"TOY_CUDA_DRIVER": "/nonexistent.so"}, "cannot be opened"),
        ({"TOY_FAKE_INIT": "100"}, "CUDA_ERROR_NO_DEVICE"),
        ({"TOY_FAKE_DEVICES": "0"}, "sees none"),
        ({"TOY_FAKE_VERSION": "11040"}, "CUDA 11.4"),
        ({"TOY_FAKE_CAPABILITY": "70"}, "compute capability 7.0, 7.5 is needed"),
    ]
    for environment, part in rows:
        done = run(toy, ["--device=cuda", "-e", "print(1);"], **environment)
        if (
            done.status != 1
            or "error[D0104]" not in done.stderr
            or part not in done.stderr
            or len(done.stderr.strip().splitlines()) != 1
        ):
            return f"{environment}: exit status {done.status}\n{done.stderr}"
        done = run(toy, ["--device=auto", "--jit=always", "-e", "print(sum(ones([100000])));"], **environment)
        if done.status or done.stderr or done.stdout != "100000.0\n":
            return f"{environment} with --device=auto: {done.status} {done.stdout}{done.stderr}"
    return None


FAULTY = """var host = [1.0, 2, 3, 4]
var x = arange(3000) * 1.0
var a = x * 2 + 1
var b = reshape(a, [50, 60]) @ reshape(a, [60, 50])
var c = sum(b, axis=1)
var d = sum(abs(fft(c)))
d
print("first", sum(host), 7 * 6)
print("second", sum(host), 7 * 6)
"""
CALLS = [
    "cuMemAllocAsync",
    "cuMemcpyHtoDAsync",
    "cuMemcpyDtoHAsync",
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuLaunchKernel",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventQuery",
    "cuStreamCreate",
    "cuInit",
    "cuGraphCreate",
    "cuGraphAddKernelNode",
    "cuGraphAddChildGraphNode",
    "cuGraphInstantiate",
    "cuGraphLaunch",
    "cuStreamBeginCapture",
    "cuStreamEndCapture",
    "cublasGemmStridedBatchedEx",
    "cufftXtExec",
    "cuMemFreeAsync",
    "cuGraphExecKernelNodeSetParams",
]


WAYS = list(
    itertools.product(("off", "full"), ((1, 2), (2, 700), (5, 2), (1, 700), (2, 2), (5, 700)))
)  # without graphs and with them: which call, and its error


def faults(toy, function, ways):
    """A call of the driver fails once, with an error that stays or one that does not: a clear message, the session goes
    on, and what the host has survives."""
    for mode, (k, code) in ways:
        done = run_prompt(toy, FAULTY, [f"--cuda-graphs={mode}"], TOY_FAKE_FAIL=f"{function}:{k}:{code}")
        if function in ("cuInit", "cuStreamCreate") and k == 1:
            if done.status != 1 or "D0104" not in done.stderr:
                return f"{function}: {done.status} {done.stderr}"
            continue
        codes = set(re.findall(r"error\[([A-Z]\d+)\]", done.stderr))
        if any(
            not c.startswith("R012") and c != "N0101" for c in codes
        ):  # of the device, or of names that a failed line did not define
            return f"{function}, call {k}, error {code}: unexpected {codes}\n{done.stderr}"
        if "X000" in done.stderr or done.status not in (0, 1) or "second 10.0 42" not in done.stdout:
            return f"{function}, call {k}, error {code}, graphs {mode}: the session did not go on\n{done.status}\n{done.stdout}\n{done.stderr}"
        if "found: " in done.report:
            return f"{function}, call {k}, error {code}: {done.report}"
    return None


REFUSED = """def f(x: f64[N, M]) { return fft(x * 2) * 3; }
def g(x: c64[N, M]) { return ifft(x * 2i, axis=0) * 3; }
def r(x: f32[N, M]) { var z = rfft(x * 2) * 3; return irfft(z, M) * 0.5; }
def m(x: f32[N, M], y: f32[N, M]) { return (x * 2) @ (y.T + 1); }
def h(x: bf16[N, M], y: bf16[N, M]) { return (x * 2).T @ y; }
def c(x: c64[N, M], y: c64[N, M]) { return x' @ (y * 1i) + 1; }
def b(x: f64[K, N, M], y: f64[M, P]) { return (x + 1) @ y; }
for i in range(4) {
  var x = reshape(arange(24.0), [4, 6]) + i;
  var z = c64(x) * (1 + 1i);
  print(f(x)[1, 2], g(z)[1, 2], r(f32(x))[1, 2]);
  print(m(f32(x), f32(x)), h(bf16(x), bf16(x)), c(z, z), b(reshape(x, [2, 2, 6]), x.T));
}
"""
CALLS_OF_LIBRARIES = [
    "cublasCreate",
    "cublasSetStream",
    "cublasSetWorkspace",
    "cublasGemmStridedBatchedEx",
    "cufftCreate",
    "cufftSetAutoAllocation",
    "cufftXtMakePlanMany",
    "cufftSetStream",
    "cufftSetWorkArea",
    "cufftXtExec",
]


def libraries(toy, mode):
    """What a library refuses, once or always, is computed by the host, with the same numbers and one remark for a kind
    of call; the device goes on."""
    want = re.findall(NUMBER, on_host(toy, ["-e", REFUSED]))
    for function, k in itertools.product(CALLS_OF_LIBRARIES, ("1", "2", "all")):
        flags = [f"--cuda-graphs={mode}", "--remarks", *(["--matmul-precision=high"] if k == "2" else [])]
        done = run(toy, [*EVERYWHERE, *flags, "-e", REFUSED], TOY_FAKE_FAIL=f"{function}:{k}:2")
        if problem := done.problem():
            return f"{function}, call {k}: {problem}"
        got = re.findall(NUMBER, done.stdout)
        if len(got) != len(want) or any(
            abs(float(x) - float(y)) > 1e-4 * max(abs(float(y)), 1) for x, y in zip(got, want)
        ):
            return f"{function}, call {k}, graphs {mode}: {done.stdout}\nnot {want}"
        said = done.stderr.count("M0107")
        happens = k != "2" or function not in ("cublasCreate",)  # there is one
        if (
            said != happens
            or (said and f"{function} gives status" not in done.stderr)
            or not done.stats["launches"] + done.stats["graph_launches"]
        ):
            return f"{function}, call {k}, graphs {mode}: {said} remarks\n{done.stderr}\n{done.stats}"
        if function in ("cufftSetAutoAllocation", "cufftXtMakePlanMany") and "plans destroyed" not in done.report:
            return f"{function}, call {k}, graphs {mode}: what was begun of a plan stays\n{done.report}"
        others = done.stats["transforms" if function.startswith("cublas") else "products"]
        if not others and mode == "off":
            return f"{function}, call {k}, graphs {mode}: the other library is not used any more: {done.stats}"
    return None


def lower_digits(toy):
    """The host adds its part to what the library has summed so far, where one of three products is refused."""
    text = (
        "def m(x: f32[N, M], y: f32[M, K]) { return x @ y; } print(m(f32(ones([4, 6]) * 1.00044), f32(ones([6, 5]) *"
        " 1.0004)));"
    )
    for call in ("1", "2", "3"):
        flags = ["--matmul-precision=high", "--cuda-graphs=off"]
        if problem := same_bits(
            toy, text, flags, tolerance=2e-6, TOY_FAKE_FAIL=f"cublasGemmStridedBatchedEx:{call}:15"
        ):
            return f"call {call}: {problem}"
    return None


def no_library(toy):
    """Without cuBLAS or cuFFT the host computes, and with --device=cuda that is said once."""
    text = (
        "def f(x: f32[N, N]) { return abs(fft(x @ (x * 2))); } var x = f32(eye(3)); for i in range(2) { print(f(x)); }"
        " def g(x: bf16[N, N]) { return x @ x; } print(g(bf16(x * 3)));"
    )
    want = on_host(toy, ["-e", text])
    for device, count in (("cuda", 1), ("auto", 0)):
        done = run(toy, [f"--device={device}", "--jit=always", "-e", text], TOY_CUDA_BLAS="none", TOY_CUDA_FFT="none")
        if problem := done.problem():
            return problem
        said = [done.stderr.count(f"{work} run on the host: none cannot") for work in ("products", "transforms")]
        if done.stdout != want or said != [count, count] or done.stderr.count("warning") != 2 * count:
            return f"{device}: {done.stdout}{done.stderr}"
    return None


def prompt(toy, *flags, **environment):
    """A session on the fake device, which may fail to begin; rows are not broken."""
    driver = str(pathlib.Path(toy).parent / "libtoyfakecuda.so")
    arguments = ["--device=cuda", "--jit=always", "--no-init", *flags]
    return Session(toy, arguments, width=2000, prompt=None, TOY_CUDA_DRIVER=driver, NO_COLOR="1", **environment)


def run_prompt(toy, text, flags, **environment):
    """Lines at the prompt, which goes on after errors."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report")
        s = prompt(toy, *flags, TOY_FAKE_REPORT=str(report), **environment)
        try:
            s.wait()
            for line in text.splitlines():
                s.line(line)
            s.send(":quit\r")
        except EOFError:
            pass
        try:
            return Done(s.status(), s.text(), s.text(), report.read_text() if report.exists() else "", {})
        finally:
            s.close()


def interrupted(toy):
    """Ctrl-C while a kernel does not end: the prompt is back at once, and what the host has can be worked with."""
    s = prompt(toy, "--no-cache", TOY_FAKE_HANG="1")
    try:
        s.wait()
        s.line("var y = arange(1000) * 2.0")  # comes back before the device is done
        s.start("print(sum(y))", 0)
        s.pause(0.5)
        seconds = s.interrupt()
        return first(
            None if seconds < 0.5 else f"{seconds} s until the prompt",
            same("interrupted", "R0114" in s.text(), True),
            same("alive", s.line('print("still", 6 * 7)'), "still 42"),
        )
    finally:
        s.close()


def memory(toy):
    """Copies of what the host has make room; when even that is not enough, the message says so and the session goes
    on."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.ones((1000, 100)))
        loads = (
            "".join(f'var x{i} = load("{folder}/x.npy"); var s{i} = sum(x{i} * 2);\n' for i in range(6))
            + "print(s0, s5, sum(x0 * 2));"
        )
        path = pathlib.Path(folder, "program.toy")
        path.write_text(loads)
        done = run(toy, [*EVERYWHERE, str(path)], TOY_FAKE_MEMORY=str(4 * N))
        if problem := done.problem():
            return problem
        if done.stdout != "200000.0 200000.0 200000.0\n":
            return done.stdout
        path.write_text(f'var x = load("{folder}/x.npy"); var y = x * 2; print(sum(y));')
        done = run(toy, [*EVERYWHERE, str(path)], TOY_FAKE_MEMORY=str(N // 2))
        if done.status != 1 or "error[R0122]" not in done.stderr or "found" in done.report:
            return f"{done.status} {done.stderr}{done.report}"
        # The first operand does not make room for the second one.
        path.write_text(
            f'def f(a, b) {{ return sum(a + b); }} var x = load("{folder}/x.npy"); var y = load("{folder}/x.npy"); print(f(x, y));'
        )
        done = run(toy, [*EVERYWHERE, str(path)], TOY_FAKE_MEMORY=str(N * 3 // 2))
        if done.status != 1 or "error[R0122]" not in done.stderr or "found" in done.report:
            return f"{done.status} {done.stderr}{done.report}"
        # What operations that are still to run read does not make room.
        path.write_text(
            f'def f(a: f64[N, M]) {{ return (a * 2, a * 3); }} var x = load("{folder}/x.npy"); var (b, c) = f(x); print(sum(b), sum(c));'
        )
        done = run(toy, [*EVERYWHERE, str(path)], TOY_FAKE_MEMORY=str(N * 5 // 2))
        return (
            None
            if done.status == 1 and "error[R0122]" in done.stderr and "found" not in done.report
            else f"{done.status} {done.stderr}{done.report}"
        )


def faults_of_calls():
    """Each of the three calls fails every day without graphs and with them, with one of the errors; at night with the
    other one."""
    for i, function in enumerate(CALLS):
        daily = [way for j, way in enumerate(WAYS) if (j // 3 + i) % 2 == 0]
        yield f"device: faults of {function}", lambda toy, function=function, ways=daily: faults(toy, function, ways)
        others = [way for way in WAYS if way not in daily]
        yield f"device: further faults of {function}", lambda toy, function=function, ways=others: faults(
            toy, function, ways
        ), "nightly"


MARKERS = ("device", "host")


def all_cases():
    return [
        ("device: none", no_device),
        *faults_of_calls(),
        *((f"device: libraries, {mode}", lambda toy, mode=mode: libraries(toy, mode)) for mode in ("off", "full")),
        ("device: lower digits", lower_digits),
        ("device: no library", no_library),
        ("device: memory", memory, "release"),
        ("device: interrupted", interrupted),
    ]

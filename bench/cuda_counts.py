# SPDX-License-Identifier: Apache-2.0
"""What can be said of the cases of bench/gpu.py without a device: for each kernel of a call, blocks at the sizes of a
device, bytes of its accesses, registers, spilled bytes and local memory by ptxas, and instructions by nvdisasm (of
CUDA's toolkit, or of the package nvidia-cuda-nvdisasm). The fake driver loads and counts, and computes nothing. A table
in Markdown. Usage: cuda_counts.py TOY [PTXAS [NVDISASM]]"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from cuda_cases import CASES, formatted

ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]


def launches(toy, case, calls, folder):
    """Numbers of modules, names of kernels, blocks; modules are files in the folder."""
    path, report = pathlib.Path(folder, "case.toy"), pathlib.Path(folder, "report")
    text = formatted(case.toy, case.sizes) + "\n" + "".join(f"var y{i} = {case.call};\n" for i in range(calls))
    path.write_text(text + "".join(f"print(y{i});\n" for i in range(calls)))
    environment = {"TOY_CUDA_DRIVER": str(pathlib.Path(toy).parent / "libtoyfakecuda.so"), "TOY_FAKE_IDLE": folder}
    environment |= {"TOY_FAKE_REPORT": str(report), "TOY_FAKE_MEMORY": str(1 << 34), "TOY_FAKE_CAPABILITY": "80"}
    flags = ["--device=cuda", "--jit=always", "--no-cache", "--cuda-graphs=off", *case.flags]
    done = subprocess.run([toy, *flags, str(path)], env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [tuple(line.split()[1:]) for line in report.read_text().splitlines() if line.startswith("launched: ")]


def of_a_call(toy, case, folder):
    """What a second call launches as well."""
    once, twice = (launches(toy, case, calls, folder) for calls in (1, 2))
    left = list(twice)
    for launch in once:
        if launch in left:
            left.remove(launch)
    return left


def instructions(nvdisasm, cubin):
    """Of each kernel, as they stand in its text: those that it jumps over or repeats count once, padding does not."""
    text = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True).stdout
    found = {}
    for part in re.split(r"^\.text\.", text, flags=re.M)[1:]:
        names = re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?\s*([A-Z]\w*)", part, re.M)
        found[part.split(":")[0]] = sum(name != "NOP" for name in names)
    return found


def assembled(ptxas, nvdisasm, path, architecture):
    """Registers, spilled bytes, bytes on the stack, and instructions of each kernel."""
    cubin = path.with_suffix(f".{architecture}.cubin")
    command = [ptxas, "-v", f"-arch={architecture}", "-o", cubin, path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    counted = instructions(nvdisasm, cubin) if nvdisasm else {}
    found = {}
    for part in text.split("Compiling entry function '")[1:]:
        stack, spills = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill", part).groups()
        name = part.split("'")[0]
        found[name] = (int(re.search(r"Used (\d+) registers", part)[1]), int(spills), int(stack), counted.get(name, 0))
    return found


def widths(text, kernel):
    """How many accesses of how many bytes the text of a kernel has."""
    body = re.split(r"\.entry ", text)
    body = next(part for part in body[1:] if re.match(rf"{kernel}\b", part))
    counts = {}
    for vector, bits in re.findall(r"(?:ld|st)\.global(?:\.nc)?(?:\.v(\d))?\.\w(\d+)", body):
        size = int(vector or 1) * int(bits) // 8
        counts[size] = counts.get(size, 0) + 1
    return ", ".join(f"{n} of {size}" for size, n in sorted(counts.items(), reverse=True))


def rows(toy, ptxas, nvdisasm):
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            seen = {}
            for launch in of_a_call(toy, case, folder):
                seen[launch] = seen.get(launch, 0) + 1
            for i, ((module, kernel, blocks), times) in enumerate(seen.items()):
                path = pathlib.Path(folder, f"{module}.ptx")
                used = [assembled(ptxas, nvdisasm, path, each)[kernel] for each in ARCHITECTURES] if ptxas else []
                columns = [f"{max(numbers)}" for numbers in zip(*used)] or ["", "", "", ""]
                name = case.name if i == 0 else ""
                repeated = f" ({times} times)" if times > 1 else ""
                yield [name, f"{int(blocks):,}{repeated}", widths(path.read_text(), kernel), *columns]
            if not seen:
                yield [case.name, "a library's", "", "", "", "", ""]


def main():
    toy, ptxas, nvdisasm = [*sys.argv[1:], None, None][:3]
    print("| case | blocks | accesses and bytes | registers | spilled | local | instructions |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for row in rows(os.path.abspath(toy), ptxas, nvdisasm):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()

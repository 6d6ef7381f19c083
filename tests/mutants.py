#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the arithmetic of sizes, the resolution of names, the recognizer of complex products, rows in loops, what runs
on devices, kernels of the library, or what several processes do, in one place at a time and sees that the tests notice:
`make mutants ARGS=sizes` (or `names`, `recognition`, `loops`, `device`, `library`, `ranks`; behind it parts of mutants'
names, as `a|b`, or `new`: those that no test has noticed yet). Ends with a line `KIND: N caught, N missed` for each.

The sources stay as they are: compilers are given another text for one of them, and its objects are linked in front of
build/release's libraries, as many mutants at a time as there are processors for it. Of the tests the one that noticed a
mutant last time comes first (mutants_caught.json, which is written anew), then those that notice other mutants, then
all of the kind. A test that fails without mutants, too, notices nothing."""
import collections
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import threading

import environment
import processes
from mutant_rows_columns import COLUMN_MUTANTS
from mutant_rows_device import DEVICE_MODULES, DEVICE_MUTANTS
from mutant_rows_front import NAMES_MUTANTS, SIZES_MUTANTS
from mutant_rows_library import LIBRARY_MUTANTS
from mutant_rows_loops import LOOPS_MUTANTS
from mutant_rows_ranks import RANKS_MUTANTS
from mutant_rows_recognition import MUTANTS
from mutant_rows_turns import TURNS_MUTANTS

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests/mutants_caught.json"
LIT = "/usr/lib/llvm-22/bin/lit"
BUDGET = 1800  # seconds for all tests of a mutant
EVERY = "nightly or not nightly"
QUICKLY = "-O0 -Xclang -fno-validate-pch"  # headers that were compiled with -O3 are taken all the same
UNITS, TEXTS, EVALUATED = "unit tests", "lit", "programs, evaluated"  # as names of tests


@dataclasses.dataclass
class Kind:
    """Mutants, and the tests that are to notice them, from the quickest on."""

    mutants: list
    pytest: tuple
    units: str = ""  # a filter of GoogleTest
    texts: tuple = ()  # of tests/passes, or by their path
    evaluated: bool = (
        False  # tests/e2e and tests/errors as they are run without compiling: 350 programs in four seconds
    )
    programs: tuple = ()  # beside toy and toy-check


KINDS = {
    "sizes": Kind(
        SIZES_MUTANTS,
        ("size_places.py", "symbolic.py", "dynamic.py", "names.py", "declared_sizes.py", "-m", "not nightly"),
        units="Dim*:ShapeFacts*",
        evaluated=True,
        programs=("unit-tests",),
    ),
    "names": Kind(
        NAMES_MUTANTS,
        ("names.py", "closures.py", "modules.py", "cases.py", "attempts.py", "reference_docs.py", "dynamic.py")
        + ("watching.py", "metamorphic.py", "-m", "not nightly"),
        evaluated=True,
    ),
    "recognition": Kind(
        MUTANTS,
        ("recognition.py", "-m", EVERY),
        texts=("recognize-complex",),
        programs=("toy-opt",),
    ),
    "device": Kind(
        [*DEVICE_MUTANTS, *COLUMN_MUTANTS],
        ("buckets.py", "device.py", *(f"device_{part}.py" for part in DEVICE_MODULES))
        + ("-m", EVERY, "-k", "not (ptxas or registers or nvcc or auto or off or unpack)"),
        texts=("pad-to-buckets", "fuse-row-reductions", "emit/partial-results.toy"),
        programs=("toy-opt",),
    ),
    "loops": Kind(
        [*LOOPS_MUTANTS, *TURNS_MUTANTS],
        (
            "e2e/short-rows.toy",
            "e2e/rows-taken-apart.toy",
            "e2e/products-of-rows-taken-apart.toy",
            "e2e/small-turns.toy",
            "e2e/multiples.toy",
            "e2e/listed-rows.toy",
            "e2e/moved-addresses.toy",
            "e2e/rows-in-lists.toy",
            "e2e/filled-lists.toy",
            "e2e/elements-before-loops.toy",
            "e2e/neighbours-around.toy",
            "e2e/alike-operands.toy",
            "e2e/checks-of-fixed-rows.toy",
            "e2e/carried-extrema.toy",
            "e2e/flat-rows.toy",
            "e2e/rows-of-one-length.toy",
            "e2e/checks-behind-bounds.toy",
            "e2e/arguments-come-back.toy",
            "e2e/merged-axes.toy",
            "e2e/strip-ends.toy",
            "e2e/elements-from-turn-to-turn.toy",
            "e2e/questions-before-calls.toy",
            "e2e/zeros-that-loops-overwrite.toy",
            "e2e/growing-vectors.toy",
            "e2e/alike-beginnings.toy",
            "e2e/sums-along-rows.toy",
            "growing_vectors.py",
            "flat_rows.py",
            "equal_rows.py",
            "short_rows.py",
            "lists.py",
            "list_cells.py",
            "test_compile_effort.py::test_loops_of_many_functions_stay_apart",
            "test_compile_effort.py::test_loops_of_a_large_function_are_functions",
            "test_compile_effort.py::test_loops_of_a_large_loop_are_functions",
            "test_compile_effort.py::test_loops_in_a_loop",
            "test_shared_kernels.py::test_what_an_earlier_program_had_is_optimized_sooner",
            "-m",
            "not nightly",
        ),
        texts=(
            "hold-short-rows",
            "fuse-rows",
            "lists-as-tensors",
            "flatten-lists",
            "lists-as-matrices",
            "emit/vectors-without-zeros.toy",
            "emit/carried-vectors.toy",
            "emit/calls-in-a-circle.toy",
            "bound-indices",
            "place-unique",
            "emit/appended.toy",
            "emit/straight-code.toy",
            "emit/alike-operands.toy",
            "emit/fixed-indices.toy",
            "emit/columns-without-rows-of-one.toy",
            "emit/carried-loads.toy",
            "emit/recursion.toy",
        ),
        programs=("toy-opt",),
    ),
    "library": Kind(
        LIBRARY_MUTANTS,
        ("test_small_spectra.py", "test_small_products.py", "held_operands.py", "large_inputs.py")
        + ("e2e/positions.toy", "e2e/spaced-elements.toy", "e2e/small-transposes.toy", "e2e/streamed-tiles.toy")
        + ("e2e/narrow-columns.toy", "e2e/scans-of-few-columns.toy", "e2e/element-domains.toy", "e2e/eigenvalues.toy")
        + ("e2e/parts-of-transposes.toy", "e2e/products-by-vectors.toy", "e2e/products-in-all-layouts.toy")
        + ("e2e/sums-of-transposes.toy", "e2e/long-convolutions.toy", "e2e/batches-of-matrices.toy")
        + ("e2e/long-rows-in-order.toy", "e2e/scattered-apart.toy", "e2e/folds-in-groups.toy", "e2e/element-ends.toy")
        + (
            "e2e/halves-rounded-once.toy",
            "e2e/conversions-in-lanes.toy",
            "e2e/rows-of-unknown-length.toy",
            "e2e/sorted-places.toy",
            "e2e/row-ends.toy",
            "e2e/lane-transforms.toy",
            "e2e/long-transforms.toy",
            "e2e/short-complex-products.toy",
            "e2e/complex-rows-by-halves.toy",
            "e2e/one-element-of-a-row.toy",
            "e2e/short-rows-of-functions.toy",
            "e2e/functions-of-spaced-rows.toy",
        ),
        units="PanelProducts*:NarrowProducts*:Transpose.*:Batches.*:Pieces.*"
        ":ElementFunctions.Powers:ElementFunctions.Inv*",
        texts=("scalarize", "sink-permutes", "fuse-views", "fuse-small-swaps", "emit/steps-without-gathers.toy")
        + ("emit/decided-folds-in-loops.toy", "emit/rows-beside-columns.toy", "emit/streamed-tiles.toy")
        + ("emit/lane-ends.toy",),
        programs=("toy-opt", "unit-tests"),
    ),
    "ranks": Kind(
        RANKS_MUTANTS,
        ("ranks.py", "ranks_values.py", "ranks_faults.py", "ranks_devices.py", "file_parts.py", "-m", EVERY)
        + ("-k", "not (50 or example or (all and sums))"),
        evaluated=True,
    ),
}


def changed(text, before, after):
    """The text with something else in a place, however that is broken into lines, and how often it stands there."""
    place = r"\s*".join(re.escape(token) for token in re.findall(r"\w+|[^\w\s]", before))
    return re.subn(place, lambda _: after, text)


def wrong_places():
    """Mutants whose place does not stand in the sources, or twice."""
    return [
        (name, count)
        for kind in KINDS.values()
        for name, path, before, after in kind.mutants
        if (count := changed((ROOT / path).read_text(), before, after)[1]) != 1
    ]


def record():
    """For each kind the mutants and the tests that noticed them."""
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def run(command, cwd=ROOT):
    return processes.run(command, BUDGET, alone=True, cwd=cwd)


class Build:
    """What ninja knows of a build: which commands read a source, and how programs are linked."""

    def __init__(self, folder):
        self.folder, self.readers = folder, collections.defaultdict(list)
        for text in self.ninja("-t", "deps").split("\n\n"):
            output, *sources = text.split("\n    ")
            for source in sources:
                self.readers[source].append(output.split(":")[0])

    def ninja(self, *words):
        return processes.run(["ninja", "-C", self.folder, "--quiet", *words], BUDGET, cwd=ROOT)[1]

    def outputs(self, source):
        """What is compiled from a source: objects, or texts for devices and the object that holds them."""
        if source.suffix != ".cu":
            return [output for output in self.readers[str(source)] if re.search(r"/toy_\w+\.dir/.*\.o$", output)]
        # By their names in the folder: ninja knows them by their whole paths as well, where the build itself has them.
        texts = re.findall(r"^    ([^/\s]\S*\.ptx)$", self.ninja("-t", "query", source).split("outputs:")[1], re.M)
        return [*texts, "runtime/CMakeFiles/toy_kernel_text.dir/cuda/KernelText.cpp.o"]

    def command(self, output):
        """How it is made, without ccache and lists of what was read."""
        command = self.ninja("-t", "commands", "-s", output).strip()
        return re.sub(r"^ccache |-MD -MT \S+ -MF \S+ ", "", command)

    def shell(self, command):
        status, said = processes.run(["sh", "-c", command], BUDGET, cwd=self.folder)
        if status:
            raise RuntimeError(f"it does not compile: {command}\n{said}")

    def build_mutant(self, mutant, programs, folder):
        """Compiles a source that is not as on disk, and links the objects in front of the libraries that have them."""
        _, path, before, after = mutant
        (folder / "source").write_text(changed((ROOT / path).read_text(), before, after)[0])
        file = {"type": "file", "name": f"{ROOT / path}", "external-contents": f"{folder / 'source'}"}
        (folder / "overlay").write_text(json.dumps({"version": 0, "use-external-names": False, "roots": [file]}))
        objects = []
        for output in self.outputs(ROOT / path):
            target = folder / output
            target.parent.mkdir(parents=True, exist_ok=True)
            command = re.sub(rf"(?<!\S)({self.folder}/)?{re.escape(output)}", str(target), self.command(output))
            command = command.replace("--embed-dir=", f"--embed-dir={folder}/runtime --embed-dir=")
            flags, objects = (QUICKLY, [*objects, str(target)]) if target.suffix == ".o" else ("", objects)
            self.shell(re.sub(r"(?= -c )", f" -ivfsoverlay {folder}/overlay {flags}", command))
        # An object may need what a program has no use for, and of libraries would not have taken.
        flags = "-Wl,--allow-multiple-definition,--unresolved-symbols=ignore-all,--strip-all"
        for program in programs:
            command = self.command(program)
            # With an object of a folder of which it links nothing, a program would not start.
            first = [o for o in objects if f" {os.path.relpath(o, folder).split('CMakeFiles')[0]}" in command]
            self.shell(command.replace(f" -o {program} ", f" {' '.join(first)} {flags} -o {folder / program} "))


class Tests:
    """The tests of a kind: programs without mutants, and which tests noticed something so far."""

    def __init__(self, kind, sound, noticed):
        self.kind, self.noticed = kind, noticed
        self.lock = threading.Lock()
        self.fails_always = functools.cache(lambda test: self.failing(test, sound) is not None)

    def failing(self, test, programs):
        """The name of the test, or for None of one of the kind, if it fails."""
        if test == UNITS:
            return (
                UNITS
                if run([programs / "unit-tests", "--gtest_fail_fast", f"--gtest_filter={self.kind.units}"])[0] != 0
                else None
            )
        if test == TEXTS:
            files = [ROOT / "tests" / (t if "/" in t else f"passes/{t}.mlir") for t in self.kind.texts]
            return TEXTS if run([LIT, "-q", f"--param=build={programs}", *files])[0] != 0 else None
        if test == EVALUATED:
            check = [programs / "toy-check", "--timeout=60", "--config=--jit=never"]
            with tempfile.TemporaryDirectory() as empty:  # for files that programs write
                places = {"e2e": empty, "errors": ROOT / "tests/errors"}
                fails = [run([*check, *(ROOT / "tests" / f).glob("*.toy")], place)[0] for f, place in places.items()]
            return EVALUATED if any(status != 0 for status in fails) else None
        with tempfile.NamedTemporaryFile("w") as order:
            order.writelines(f"{name}\n" for name, _ in collections.Counter(list(self.noticed.values())).most_common())
            order.flush()
            command = [sys.executable, "-m", "pytest", "-x", "-p", "mutant_tests", f"--build={programs}"]
            command += [f"--first={order.name}", *([test, "-m", EVERY] if test else self.kind.pytest)]
            status, said = run(command, ROOT / "tests")
        found = re.search(r"^NOTICED (.*)", said, re.M)
        if status not in (0, 1) and not (test and status == 4) or status == 1 and not found:  # 4: is no longer there
            raise RuntimeError(f"status {status} of {' '.join(map(str, command))}\n{said}")
        return found and found[1]

    def notice(self, name, programs):
        """The test that fails with the mutant only, or None."""
        known = self.noticed.get(name)
        has = {UNITS: self.kind.units, TEXTS: self.kind.texts, EVALUATED: self.kind.evaluated, None: True}
        others = [test for test, is_there in has.items() if is_there]
        for test in [known, *others] if known else others:
            found = self.failing(test, programs)
            if found and found != known:
                with self.lock:
                    if self.fails_always(found) or not self.failing(found, programs):
                        raise RuntimeError(f"{found} fails without mutants, too, or not always")
            if found:
                return found
        return None


def run_kind(name, build, only, folder):
    kind, noticed = KINDS[name], record().get(name, {})
    tests, count = Tests(kind, build.folder, noticed), collections.Counter()

    def look(mutant):
        programs, test = pathlib.Path(tempfile.mkdtemp(dir=folder)), None
        try:
            build.build_mutant(mutant, ["toy", "toy-check", *kind.programs], programs)
            for library in ("libtoyfakecuda.so", "libtoyfakenccl.so"):
                os.symlink(build.folder / library, programs / library)
            (programs / "runtime").mkdir(exist_ok=True)
            for text in (build.folder / "runtime").glob("*.ptx"):
                if not (programs / "runtime" / text.name).exists():
                    os.symlink(text, programs / "runtime" / text.name)
            test = tests.notice(mutant[0], programs)
            print(f"caught {mutant[0]}: {test}" if test else f"MISSED {mutant[0]}", flush=True)
        except RuntimeError as problem:
            print(f"MISSED {mutant[0]}: {problem}", flush=True)
        shutil.rmtree(programs)
        with tests.lock:
            count[test is not None] += 1
            noticed.pop(mutant[0], None)
            noticed.update({mutant[0]: test} if test else {})
            RECORD.write_text(json.dumps({**record(), name: noticed}, indent=1, sort_keys=True) + "\n")

    is_chosen = lambda name: name not in noticed if only == "new" else any(part in name for part in only.split("|"))
    chosen = [mutant for mutant in kind.mutants if is_chosen(mutant[0])]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(look, chosen))
    print(f"{name}: {count[True]} caught, {count[False]} missed", flush=True)
    return count[False]


def main(kinds, only=""):
    os.environ.update(environment.VARIABLES)
    build = Build(ROOT / "build/release")
    with tempfile.TemporaryDirectory(dir=environment.memory()) as folder:
        return 1 if sum([run_kind(kind, build, only, folder) for kind in kinds]) else 0


if __name__ == "__main__":
    chosen, *parts = " ".join(sys.argv[1:]).split(maxsplit=1) or [""]  # a kind, and parts of names: a|b
    sys.exit(main([chosen] if chosen else list(KINDS), *parts))

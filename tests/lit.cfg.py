# SPDX-License-Identifier: Apache-2.0
"""For lit: texts with `RUN:` lines, compared by FileCheck. `--param build=FOLDER` has the programs."""
import os

import lit.formats

LLVM = "/usr/lib/llvm-22/bin"

config.name = "toy"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
build = os.path.abspath(lit_config.params.get("build", os.path.join(config.test_source_root, "../build/release")))
config.test_exec_root = os.path.join(build, "tests/lit")
config.substitutions += [("%toy-opt", os.path.join(build, "toy-opt")), ("%toy", os.path.join(build, "toy"))]
config.environment["PATH"] = LLVM + ":" + os.environ["PATH"]
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "XDG_CACHE_HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
with open("/proc/cpuinfo") as processor:
    if " avx512f " in processor.read():
        config.available_features.add("avx512")  # vectors with masks

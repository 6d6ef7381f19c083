# SPDX-License-Identifier: Apache-2.0
"""Kernels for one instruction set bring nothing that the linker may take for all: an inline function that is compiled
with AVX-512 and chosen for every caller would end the program on a lesser machine."""
import pathlib
import subprocess

import pytest


@pytest.mark.host
@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_no_shared_functions(toy, isa):
    folder = pathlib.Path(toy).parent / f"runtime/CMakeFiles/toy_kernels_{isa}.dir"
    objects = sorted(folder.glob("*.o"))
    assert objects
    symbols = subprocess.run(["nm", "-C", *map(str, objects)], capture_output=True, text=True, check=True).stdout
    assert [line for line in symbols.splitlines() if " W " in line or " V " in line] == []

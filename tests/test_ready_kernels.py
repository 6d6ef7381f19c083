# SPDX-License-Identifier: Apache-2.0
"""Kernels that come with the program: they are found, and whatever is wrong with their file, they are made."""
import json
import os
import subprocess

import pytest

PROGRAM = """var x = linspace(0.0, 1.0, 9000);
var y = sin(x * 2.5) + x;
def f(x: f64[N]) { return sum(x * x); }
print(y[17], f(y));
"""
HEADER = 16 + 64 + 8  # magic, build, count
ROW = 64 + 8 + 8  # digest, offset, size


def run(toy, folder, *flags, **settings):
    (folder / "p.toy").write_text(PROGRAM)
    cache = folder / f"cache{len(list(folder.iterdir()))}"
    cache.mkdir()
    done = subprocess.run(
        [toy, f"--stats={folder}/stats.json", "--jit=always", *flags, f"{folder}/p.toy"],
        env={**os.environ, "XDG_CACHE_HOME": str(cache), **{k: str(v) for k, v in settings.items()}},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads((folder / "stats.json").read_text())["kernel_code"]


@pytest.fixture
def made(toy, tmp_path):
    """What the program prints, how many kernels it has, and a file of them."""
    output, code = run(toy, tmp_path, TOY_MAKE_KERNELS=tmp_path / "kernels")
    assert code["made"] > 0 and code["ready"] == 0
    return output, code["made"], tmp_path / "kernels"


@pytest.mark.host
@pytest.mark.release
def test_they_are_found(toy, tmp_path, made):
    output, count, file = made
    again, code = run(toy, tmp_path, TOY_READY_KERNELS=file)
    assert (again, code["made"], code["ready"]) == (output, 0, count)
    assert run(toy, tmp_path, "--jit=never")[0] == output


@pytest.mark.host
@pytest.mark.release
def test_a_file_grows(toy, tmp_path, made):
    output, count, file = made
    before = file.read_bytes()
    run(toy, tmp_path, TOY_READY_KERNELS=file, TOY_MAKE_KERNELS=file)  # nothing new
    assert file.read_bytes()[:HEADER] == before[:HEADER]
    assert run(toy, tmp_path, TOY_READY_KERNELS=file)[1]["ready"] == count


def other_build(file, data):
    file.write_bytes(data[:16] + bytes([data[16] ^ 1]) + data[17:])


def cut_off(file, data):
    file.write_bytes(data[: HEADER + ROW])


def outside(file, data):
    rows = bytearray(data)
    for at in range(HEADER, HEADER + ROW * int.from_bytes(data[80:88], "little"), ROW):
        rows[at + 64 : at + 72] = (1 << 40).to_bytes(8, "little")
    file.write_bytes(rows)


def anybody_writes(file, data):
    file.chmod(0o666)


def missing(file, data):
    file.unlink()


@pytest.mark.host
@pytest.mark.release
@pytest.mark.parametrize("damage", [other_build, cut_off, outside, anybody_writes, missing])
def test_doubtful_files_are_none(toy, tmp_path, made, damage):
    output, count, file = made
    damage(file, file.read_bytes())
    again, code = run(toy, tmp_path, TOY_READY_KERNELS=file)
    assert (again, code["made"], code["ready"]) == (output, count, 0)


@pytest.mark.host
@pytest.mark.release
def test_without_a_cache_all_is_made(toy, tmp_path, made):
    output, count, file = made
    again, code = run(toy, tmp_path, "--no-cache", TOY_READY_KERNELS=file)
    assert (again, code["made"], code["ready"]) == (output, count, 0)

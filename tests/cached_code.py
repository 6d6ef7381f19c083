# SPDX-License-Identifier: Apache-2.0
"""The code cache: nobody else's, bound to its keys, and of use to several processes that start together."""
import json
import os
import shutil
import stat
import subprocess

from own_folder import cases_in_a_folder, mode, NOBODY, run
from programs import first, same

PROGRAM = "def f(z: f64, n: i64) { var s = z; for i in range(n) { s = s * z + %d; } return s; }\nprint(f(1.0, 3) + f(2.0, 3));\n"
OUTPUT = {k: f"{1 + 3 * k + 16 + 7 * k:.1f}\n" for k in (1, 2)}


class Cached:
    """Runs of one program on a cache: what they print, and whether they compiled."""

    def __init__(self, toy, folder, constant=1, home=None):
        self.toy, self.folder, self.constant, self.home = toy, folder, constant, home or folder / "cache"
        self.home.mkdir(exist_ok=True)
        self.cache = self.home / "toy"

    def run(self):
        program = self.folder / f"p{self.constant}.toy"
        program.write_text(PROGRAM % self.constant)
        done = run(
            self.toy, [f"--stats={self.folder}/s.json", str(program)], self.folder, XDG_CACHE_HOME=str(self.home)
        )
        if done.returncode or done.stdout != OUTPUT[self.constant]:
            return f"status {done.returncode}: {done.stdout!r} {done.stderr}"
        return [
            "kept" if "kept" in c["reason"] else "made"
            for c in json.loads((self.folder / "s.json").read_text())["compiles"]
        ][0]

    def expect(self, what, *wanted):
        for want in wanted:
            if (got := self.run()) != want:
                return f"{what}: expected {want}, got {got}"
        return None

    def objects(self):
        return sorted(f for f in self.cache.iterdir() if len(f.name) == 64)


@cases_in_a_folder
def cache_is_private(toy, folder):
    c = Cached(toy, folder)
    if problem := c.expect("a new cache", "made", "kept"):
        return problem
    modes = {f.name if f.name == "key" else "object": mode(f) for f in c.cache.iterdir()}
    if problem := first(
        same("mode of the folder", mode(c.cache), 0o700), same("modes of files", modes, {"key": 0o600, "object": 0o600})
    ):
        return problem
    os.chmod(c.cache, 0o777)
    if problem := c.expect("a folder that was open", "kept") or same("its mode", mode(c.cache), 0o700):
        return problem
    target = folder / "elsewhere"
    shutil.copytree(c.cache, target)
    os.chmod(target, 0o755)
    shutil.rmtree(c.cache)
    c.cache.symlink_to(target)
    if problem := c.expect("a link instead of the folder", "made", "made") or same(
        "mode of the link's target", mode(target), 0o755
    ):
        return problem
    c.cache.unlink()
    c.cache.write_text("a file")
    if problem := c.expect("a file instead of the folder", "made"):
        return problem
    (folder / "sub").mkdir()
    done = run(toy, [str(folder / "p1.toy")], folder / "sub", XDG_CACHE_HOME="relative", HOME=str(folder / "home"))
    return first(
        same("output", done.stdout, OUTPUT[1]),
        same("a relative folder is ignored", os.listdir(folder / "sub"), []),
        same("the other one is used", (folder / "home/.cache/toy/key").exists(), True),
    )


@cases_in_a_folder
def cache_of_another_user(toy, folder):
    if os.geteuid() != 0:
        return "skipped: only root can make files of others"
    c = Cached(toy, folder)
    if problem := c.expect("a new cache", "made", "kept"):
        return problem
    for path in ("key", c.objects()[0].name):
        os.chown(c.cache / path, NOBODY, NOBODY)
        if problem := c.expect(f"{path} of another user", "made", "kept"):
            return problem
    for path in ("key", c.objects()[0].name):
        os.chmod(c.cache / path, 0o666)
        if problem := c.expect(f"{path} that others can write", "made", "kept"):
            return problem
    os.chown(c.cache, NOBODY, NOBODY)
    before = sorted((f.name, f.read_bytes()) for f in c.cache.iterdir())
    return c.expect("a folder of another user", "made", "made") or same(
        "its files", sorted((f.name, f.read_bytes()) for f in c.cache.iterdir()), before
    )


@cases_in_a_folder
def objects_are_bound_to_keys(toy, folder):
    one, two = Cached(toy, folder, 1), Cached(toy, folder, 2)
    if problem := one.expect("first", "made"):
        return problem
    [a] = one.objects()
    if problem := two.expect("second", "made"):
        return problem
    [b] = [f for f in two.objects() if f != a]
    shutil.copy(b, a)
    if problem := one.expect("the object of another key", "made", "kept"):
        return problem
    whole = a.read_bytes()
    for what, data in {
        "empty": b"",
        "cut": whole[:-1],
        "longer": whole + b"x",
        "a bit": whole[:-1] + bytes([whole[-1] ^ 1]),
        "a header": whole[:45],
        "another digest": whole[:13] + bytes(32) + whole[45:],
    }.items():
        a.write_bytes(data)
        if problem := one.expect(what, "made", "kept"):
            return problem
    other = Cached(toy, folder, 1, folder / "other")
    if problem := other.expect("another cache", "made"):
        return problem
    shutil.copy(other.objects()[0], a)
    if problem := one.expect("an object with another secret", "made", "kept"):
        return problem
    for what, data in {"short": b"x", "long": b"x" * 33, "another": b"x" * 32}.items():
        (one.cache / "key").write_bytes(data)
        if problem := one.expect(f"a secret that is {what}", "made", "kept"):
            return problem
    return None


@cases_in_a_folder
def cache_entries_that_are_no_files(toy, folder):
    c = Cached(toy, folder)
    if problem := c.expect("a new cache", "made", "kept"):
        return problem
    copy = folder / "copy"
    for name in (c.objects()[0].name, "key"):
        path = c.cache / name
        shutil.copy(path, copy)
        kinds = {
            "pipe": os.mkfifo,
            "link to a device": lambda p: os.symlink("/dev/zero", p),
            "link to itself": lambda p: os.symlink(p, p),
            "link to a copy": lambda p: os.symlink(copy, p),
            "huge": lambda p: os.truncate(os.open(p, os.O_CREAT | os.O_WRONLY, 0o600), 1 << 36),
        }
        if os.geteuid() == 0:
            kinds["device"] = lambda p: os.mknod(p, stat.S_IFCHR | 0o600, os.makedev(1, 5))
        for kind, make in kinds.items():
            path.unlink()
            make(path)
            if problem := c.expect(f"{name}: {kind}", "made", "kept"):
                return problem
        path.unlink()
        path.mkdir()
        if problem := c.expect(f"{name}: folder", "made", "made"):
            return problem
        path.rmdir()
        if problem := c.expect("afterwards", "made", "kept"):
            return problem
    key = c.objects()[0]
    key.unlink()
    for pid in range(1, 1 << 15, 97):  # as a process that died would leave it
        (c.cache / f"{key.name}.{pid}").touch()
    return c.expect("left over files", "made", "kept")


@cases_in_a_folder
def first_processes_agree_on_a_secret(toy, folder):
    (folder / "p.toy").write_text(PROGRAM % 1)
    started = [
        subprocess.Popen(
            [toy, str(folder / "p.toy")],
            env={**os.environ, "XDG_CACHE_HOME": str(folder)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    outputs = {p.communicate()[0] for p in started}
    return same("outputs", outputs, {OUTPUT[1]}) or same(
        "files", sorted(len(f.name) for f in (folder / "toy").iterdir()), [3, 64]
    )


MARKERS = ("host", "release")


def all_cases():
    for case in (
        cache_is_private,
        cache_of_another_user,
        objects_are_bound_to_keys,
        cache_entries_that_are_no_files,
        first_processes_agree_on_a_secret,
    ):
        yield "code cache: " + case.__name__.replace("_", " "), case

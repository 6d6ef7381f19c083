# SPDX-License-Identifier: Apache-2.0
"""What writes files: modes and links stay, devices and pipes are written as they are, a write that fails or is killed
leaves what was there."""
import contextlib
import functools
import os
import pathlib
import signal
import stat
import subprocess
import tempfile
import threading
import time

from own_folder import cases_in_a_folder, mode, NOBODY, run
from programs import first, same

VALUE = "[1.0, 2.0, 3.0]"
WRITERS = {  # what writes, as arguments and input
    **{
        f"save .{suffix}": (["-e", f'save("TARGET.{suffix}", {value});'], f".{suffix}")
        for suffix, value in {
            "npy": VALUE,
            "npz": VALUE,
            "safetensors": VALUE,
            "csv": VALUE,
            "png": f"[{VALUE}]",
        }.items()
    },
    "--emit": (["--emit=toy", "-o", "TARGET", "-e", "print(1);"], ""),
    "--stats": (["--stats=TARGET", "-e", "1;"], ""),
    "--size-profile": (["--size-profile=TARGET", "-e", "1;"], ""),
    ":save": (":save TARGET\n", ""),
    ":graph": (":graph 1+1 TARGET.dot\n", ".dot"),
}


def write(toy, folder, name, target, **more):
    arguments, suffix = WRITERS[name]
    if isinstance(arguments, str):
        return run(toy, [], folder, stdin="var x = 1;\n" + arguments.replace("TARGET" + suffix, str(target)), **more)
    return run(toy, [a.replace("TARGET" + suffix, str(target)) for a in arguments], folder, **more)


def each_writer(check):
    @functools.wraps(check)
    def case(toy):
        for name in WRITERS:
            with tempfile.TemporaryDirectory() as folder:
                if problem := check(toy, pathlib.Path(folder), name, WRITERS[name][1]):
                    return problem if problem.startswith("skipped") else f"{name}: {problem}"
        return None

    return case


@each_writer
def modes_and_links_stay(toy, folder, name, suffix):
    place, old = folder / "place", os.umask(0o027)
    place.mkdir()
    try:
        new = place / ("new" + suffix)
        done = write(toy, folder, name, new)
        if done.returncode or not new.exists():
            return f"status {done.returncode} {done.stderr}"
        contents = new.read_bytes()
    finally:
        os.umask(old)
    is_same = lambda path: name == "--stats" or path.read_bytes() == contents
    if problem := same("mode of a new file", mode(new), 0o640):
        return problem
    private, link, dangling = place / ("private" + suffix), folder / ("link" + suffix), folder / ("dangling" + suffix)
    private.write_text("old")
    private.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(private, NOBODY, NOBODY)
    owner = private.stat().st_uid
    link.symlink_to("place/" + private.name)
    dangling.symlink_to(place / ("made" + suffix))
    for target in (private, link, dangling):
        if (done := write(toy, folder, name, target)).returncode:
            return f"{target.name}: {done.stderr}"
        if problem := first(
            same("mode", mode(private), 0o600),
            same("owner", private.stat().st_uid, owner),
            same("link", (link.is_symlink(), dangling.is_symlink()), (True, True)),
            same("contents", is_same(target), True),
        ):
            return f"{target.name}: {problem}"
        private.write_text("old")
    return same(
        "files", sorted(p.name for p in place.iterdir()), sorted(n + suffix for n in ("new", "private", "made"))
    )


@each_writer
def devices_and_pipes_are_written_directly(toy, folder, name, suffix):
    pipe, contents = folder / ("pipe" + suffix), []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: contents.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = write(toy, folder, name, pipe)
    reader.join(20)
    if (
        done.returncode
        or not contents
        or (not contents[0] and name != "--size-profile")
        or not stat.S_ISFIFO(os.stat(pipe).st_mode)
    ):
        return f"pipe: status {done.returncode}, {contents} {done.stderr}"
    stdout = folder / ("stdout" + suffix)
    stdout.symlink_to("/dev/stdout")
    done = write(toy, folder, name, stdout)
    if done.returncode or (not done.stdout and name != "--size-profile") or not stdout.is_symlink():
        return f"standard output: status {done.returncode}, {done.stdout!r} {done.stderr}"
    if os.geteuid() != 0:
        return None
    null = folder / ("null" + suffix)
    os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    done = write(toy, folder, name, null)
    full = folder / ("full" + suffix)
    os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    failed = write(toy, folder, name, full)
    return first(
        same("device", (done.returncode, stat.S_ISCHR(os.stat(null).st_mode)), (0, True)),
        same("full device", stat.S_ISCHR(os.stat(full).st_mode), True),
        None
        if name == "--size-profile"
        else same("full device", (failed.returncode, "I0105" in failed.stderr), (1, True)),
    )


@each_writer
def failed_writes_change_nothing(toy, folder, name, suffix):
    import resource

    place = folder / "place"
    place.mkdir()
    old = place / ("old" + suffix)
    old.write_text("old")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))

    done = write(toy, folder, name, old, prepare=limit, XDG_CACHE_HOME=str(folder))
    if name == "--size-profile":
        return None  # nothing to write
    return first(
        same("status", (done.returncode, "I0105" in done.stderr), (1, True)),
        same("contents", old.read_text(), "old"),
        same("files", os.listdir(place), [old.name]),
    )


@cases_in_a_folder
def killed_writes_leave_the_old_file(toy, folder):
    place = folder / "place"
    place.mkdir()
    for delay in (0.05, 0.1, 0.2, 0.4):
        (place / "x.npy").write_text("old")
        child = subprocess.Popen(
            [toy, "-e", 'var x = zeros(3000000); while true { save("place/x.npy", x); }'],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(delay)
        child.kill()
        child.wait()
        # A file that replaces another has a second name between two calls of the system, when it is whole already.
        whole = 24000128
        left = {n: (place / n).stat().st_size for n in os.listdir(place) if n != "x.npy"}
        if anonymous_files(place) and (len(left) > 1 or any(size != whole for size in left.values())):
            return f"left over: {left}"
        if (size := (place / "x.npy").stat().st_size) not in (3, whole):
            return f"{size} bytes are neither the old nor the new file"
        for name in left:
            (place / name).unlink()
    return None


def anonymous_files(folder):
    with contextlib.suppress(OSError, AttributeError):
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
        return True
    return False


@cases_in_a_folder
def standard_output_in_order(toy, folder):
    (folder / "s.csv").symlink_to("/dev/stdout")
    with open(folder / "out", "w") as out:
        done = subprocess.run(
            [toy, "-e", 'print("before"); save("s.csv", [1]); print("after");'],
            cwd=folder,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
        )
    return first(
        same("status", (done.returncode, done.stderr), (0, "")),
        same("a file as standard output", (folder / "out").read_text(), "before\n1\nafter\n"),
    )


MARKERS = ("host", "release")


def all_cases():
    for case in (
        modes_and_links_stay,
        devices_and_pipes_are_written_directly,
        failed_writes_change_nothing,
        killed_writes_leave_the_old_file,
        standard_output_in_order,
    ):
        yield "written files: " + case.__name__.replace("_", " "), case

# SPDX-License-Identifier: Apache-2.0
"""The prompt beside its peers, in one run: milliseconds from a key or a process to the answer, medians; resident memory
at the prompt; Ctrl-C in a long product. Peers that are not installed are left out. Nothing here is a test. Usage:
compare.py TOY   (peers: apt install clang-tools-22 octave python3-numpy)"""
import os
import pty
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import time

ROUNDS = 9


class Terminal:
    def __init__(self, command, prompt):
        self.prompt = re.compile(prompt)
        self.fd, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "PYTHONDONTWRITEBYTECODE": "1"}
        inherited = [
            (os.POSIX_SPAWN_OPEN, 0, os.ttyname(slave), os.O_RDWR, 0),
            (os.POSIX_SPAWN_DUP2, 0, 1),
            (os.POSIX_SPAWN_DUP2, 0, 2),
            (os.POSIX_SPAWN_CLOSE, self.fd),
        ]
        self.begin = time.perf_counter()
        self.pid = os.posix_spawn(
            shutil.which(command[0]), command, environment, file_actions=inherited, setsid=True
        )  # the first terminal it opens is its own
        os.close(slave)
        self.text = ""
        self.until(self.prompt)
        self.started = time.perf_counter() - self.begin

    def until(self, pattern, timeout=60):
        end = time.perf_counter() + timeout
        while not pattern.search(self.text):
            if time.perf_counter() > end:
                raise TimeoutError(self.text[-500:])
            ready, _, _ = select.select([self.fd], [], [], 0.5)
            if ready:
                self.text += os.read(self.fd, 65536).decode(errors="replace")

    def ask(self, line, answer, interrupt=None):
        """Seconds from Enter to the answer and the next prompt."""
        self.text = ""
        os.write(self.fd, line.encode())
        time.sleep(0.05)
        while select.select([self.fd], [], [], 0.02)[0]:
            os.read(self.fd, 65536)
        self.text = ""
        begin = time.perf_counter()
        os.write(self.fd, b"\r")
        if interrupt is not None:
            time.sleep(interrupt)
            os.kill(self.pid, signal.SIGINT)
            begin = time.perf_counter()
        self.until(re.compile(answer + r"[\s\S]*" + self.prompt.pattern))
        return time.perf_counter() - begin

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{self.pid}/status").read()).group(1)) / 1024

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def peers(toy):
    yield "toy", {
        "command": [toy, "--no-init"],
        "prompt": "toy> ",
        "one-shot": [toy, "-e", "1+1"],
        "sum": ("1+1", "2"),
        "function": ("def f(x) { return x * x + 1; } f(3)", "10"),
        "setup": "var a = [[1, 2i], [3, 4]];",
        "product": ("a @ a", "4"),
        "again": ("a @ a", "4"),
        "big": "var m = complex(rand(3500, 3500), rand(3500, 3500));",
        "long": "var r = m @ m;",
        "stopped": "interrupted",
    }
    if shutil.which("clang-repl-22"):
        yield "clang-repl-22", {
            "command": ["clang-repl-22"],
            "prompt": "clang-repl> ",
            "one-shot": ["sh", "-c", "echo '#include <cstdio>\nprintf(\"%d\", 1+1);' | clang-repl-22"],
            "sum": ("1+1", "2"),
            "function": ("auto f = [](int x) { return x * x + 1; }; f(3)", "10"),
            "setup": "#include <complex>",
            "product": (
                "std::complex<double> a[2][2] = {{1., {0., 2.}}, {3., 4.}}, r[2][2]; for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) { r[i][j] = 0; for (int k = 0; k < 2; ++k) r[i][j] += a[i][k] * a[k][j]; } r[0][0].real()",
                "1",
            ),
            "again": None,
            "big": None,
        }
    if shutil.which("octave-cli"):
        yield "octave", {
            "command": ["octave-cli", "-q", "--no-init-file"],
            "prompt": r"octave:\d+> ",
            "one-shot": ["octave-cli", "-q", "--eval", "1+1"],
            "sum": ("1+1", "2"),
            "function": ("function y = f(x) y = x * x + 1; end; f(3)", "10"),
            "setup": "a = [1, 2i; 3, 4];",
            "product": ("a * a", "4"),
            "again": ("a * a", "4"),
            "big": "m = complex(rand(3500), rand(3500));",
            "long": "r = m * m;",
            "stopped": "\\^C|interrupt",
        }
    yield "python3+numpy", {
        "command": [
            "/usr/bin/python3",
            "-q",
            "-c",
            "import code, readline, numpy as np\ncode.interact(banner='', local={'np': np})",
        ],
        "prompt": ">>> ",
        "one-shot": ["/usr/bin/python3", "-c", "import numpy; print(1+1)"],
        "sum": ("1+1", "2"),
        "function": ("f = lambda x: x * x + 1; print(f(3))", "10"),
        "setup": "a = np.array([[1, 2j], [3, 4]])",
        "product": ("a @ a", "j"),
        "again": ("a @ a", "j"),
        "big": "m = np.random.rand(3500, 3500) + 1j * np.random.rand(3500, 3500)",
        "long": "r = m @ m",
        "stopped": "KeyboardInterrupt",
    }


def main():
    toy = os.path.abspath(sys.argv[1])
    os.environ.pop("PYTHONSTARTUP", None)
    names = [
        "start to prompt",
        "one-shot 1+1",
        "live 1+1",
        "define and call, first",
        "2x2 complex product, first",
        "2x2 complex product, warm",
        "memory at the prompt, MiB",
        "Ctrl-C in a 3500x3500 product",
    ]
    table = {}
    known = list(peers(toy))
    for _ in range(ROUNDS):  # in turns
        for name, p in known:
            row = table.setdefault(name, {n: [] for n in names})
            begin = time.perf_counter()
            subprocess.run(
                p["one-shot"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            row["one-shot 1+1"].append(1e3 * (time.perf_counter() - begin))
            t = Terminal(p["command"], p["prompt"])
            try:
                row["start to prompt"].append(1e3 * t.started)
                row["memory at the prompt, MiB"].append(t.memory())
                t.ask(*p["sum"])
                row["live 1+1"].append(1e3 * t.ask(*p["sum"]))
                row["define and call, first"].append(1e3 * t.ask(*p["function"]))
                t.ask(p["setup"], "")
                row["2x2 complex product, first"].append(1e3 * t.ask(*p["product"]))
                if p["again"]:
                    row["2x2 complex product, warm"].append(
                        1e3 * statistics.median(t.ask(*p["again"]) for _ in range(3))
                    )
            except TimeoutError as error:
                print(f"{name}: {error}", file=sys.stderr)
            finally:
                t.close()
    for name, p in known:
        if p["big"]:
            t = Terminal(p["command"], p["prompt"])
            try:
                t.ask(p["big"], "", None)
                table[name]["Ctrl-C in a 3500x3500 product"].append(1e3 * t.ask(p["long"], p["stopped"], 0.7))
            except TimeoutError:
                pass
            finally:
                t.close()
    print("| ms, median | " + " | ".join(table) + " |\n| --- |" + " --- |" * len(table))
    for n in names:
        print(
            f"| {n} | "
            + " | ".join(f"{statistics.median(row[n]):.1f}" if row[n] else "" for row in table.values())
            + " |"
        )


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What bench/repl/screens.py types: for the rows of docs/prompt-rows.md the keys for the prompt and for its peers.
Ctrl-Z needs a shell around the programs, and colours are no part of the screens: both were looked at by hand."""

UP, DOWN, RIGHT, HOME, END, DROP, BACK_TAB = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[H", "\x1b[F", "\x15", "\x1b[Z"
MOVES = [UP + UP + END, HOME, HOME]


def pasted(text):
    return f"\x1b[200~{text}\x1b[201~"


SCALE = "def scale(x, by=2): return x * by\r\r"  # Python
FILES = DROP + "open('/etc/host\t"

ROWS = {
    "blocks": {
        "toy": ["def g(x) {\r", "if x > 1 {\r", "return x;\r", *MOVES],
        "ipython": ["def g(x):\r", "if x > 1:\r", "return x\r", *MOVES],
        "python": ["def g(x):\r", "if x > 1:\r", "return x\r", *MOVES],
        "octave": ["function y = g(x)\r", "if x > 1\r", "y = x;\r", *MOVES],
        "node": ["function g(x) {\r", "if (x > 1) {\r", "return x;\r", *MOVES],
        "clang-repl": ["int g(int x) {\r"],
    },
    "pastes": {
        "toy": [
            pasted("1+1"),
            "\r",
            pasted("def f(x) {\n  return x + 1;\n}"),
            "\r",
            pasted("toy> f(1)\ni64\n2\ntoy> f(2)"),
            "\r",
        ],
        "ipython": [pasted("1+1"), "\r", pasted("def f(x):\n    return x + 1\n"), "\r\r", pasted(">>> f(1)\n2"), "\r"],
        "python": [pasted("1+1"), "\r", pasted("def f(x):\n    return x + 1\n"), "\r\r", pasted(">>> f(1)\n2"), "\r\r"],
        "octave": [pasted("1+1"), "\r", pasted("function y = f(x)\n  y = x;\nend"), "\r", pasted(">> f(1)"), "\r"],
        "node": [pasted("1+1"), "\r", pasted("function f(x) {\n  return x;\n}"), "\r", pasted("> f(1)\n1"), "\r"],
        "clang-repl": [pasted("1+1"), "\r"],
    },
    "completion of names": {
        "toy": ["def halfway(x) { return x / 2; }\r", "halfw\t", DROP + "\\alph\t", "\t", DROP + "sort\t"],
        "ipython": ["def halfway(x): return x / 2\r\r", "halfw\t", DROP + "\\alph\t", "\t", DROP + "sort\t"],
        "python": ["def halfway(x): return x / 2\r\r", "halfw\t", DROP + "\\alph\t", DROP + "sor\t"],
        "octave": ["function y = halfway(x); y = x/2; end\r", "halfw\t", DROP + "sort\t\t"],
        "node": ["function halfway(x) { return x/2 }\r", "halfw\t", DROP + "parse\t\t"],
        "clang-repl": ["struct Pair { int left, right; };\r", "Pai\t"],
    },
    "completion of members": {
        "toy": ["struct P { var left; }\r", "P p = {1};\r", "p.l\t", DROP + "maximum(2.5, 1i.real).im\t"],
        "ipython": ["p = 3.5\r", "p.is_in\t", DROP + "max(2.5, 1).is_in\t"],
        "python": ["p = 3.5\r", "p.is_in\t", DROP + "(2.5+1).is_in\t\t"],
        "octave": ["p.left = 1;\r", "p.l\t"],
        "node": ["p = {left: [1]}\r", "p.le\t", DROP + "p.left.map(x => x).fil\t\t"],
        "clang-repl": ["struct P { int left; }; P p;\r", "p.le\t"],
    },
    "completion of arguments": {
        "toy": ["softmax([1], ax\t", DROP + ":set the\t", " li\t", DROP + "?T03\t", "q", DROP + 'load("/etc/host\t'],
        "ipython": [SCALE, "scale(1, b\t", DROP + "%colors li\t", DROP + "%matplotlib in\t", FILES],
        "python": [SCALE, "scale(1, b\t", FILES + "\t"],
        "octave": ["fopen('/etc/host\t\t", DROP + "format lo\t\t"],
        "node": [".ed\t", DROP + "require('f\t\t"],
        "clang-repl": ["%he\t"],
    },
    "long lists": {
        "toy": ["s\t", " ", "q", DROP + "acos\t", "\t", "\t", BACK_TAB],
        "ipython": ["import math\r", "math.\t", DOWN * 3],
        "python": ["\t\t"],
        "octave": ["s\t\t"],
        "node": ["\t\t"],
        "clang-repl": ["s\t\t"],
    },
    "hints": {
        "toy": ["def scale(x, by = 2) { return x * by; }\r", "scale(", "1, "],
        "ipython": [SCALE, "scale(", "1, "],
        "python": [SCALE, "scale(", "1, "],
        "octave": ["sum(", "1, "],
        "node": ["Math.max(", "1, "],
        "clang-repl": ["int f(int a, int b) { return a; }\r", "f(", "1, "],
    },
    "a value before Enter": {"toy": ["1 + 1"], "node": ["1 + 1"], "ipython": ["1 + 1"], "octave": ["1 + 1"]},
    "history": {
        "toy": ["var first = 1;\r", "var second = 2;\r", "var", RIGHT, DROP + "var f" + UP, DROP + "\x12rst", "\r"],
        "ipython": ["first = 1\r", "second = 2\r", "s", RIGHT, DROP + "f" + UP, DROP + "\x12rst", "\r"],
        "python": ["first = 1\r", "second = 2\r", "s", DROP + "f" + UP, DROP + "\x12rst", "\r"],
        "octave": ["first = 1;\r", "f" + UP, DROP + "\x12rst", "\r", "if 1\r x = 2;\rend\r", UP],
        "node": ["first = 1\r", "f" + UP, DROP + "\x12rst", "\r", "function q() {\r return 1;\r}\r", UP],
        "clang-repl": ["int first = 1;\r", "int second = 2;\r", "int f" + UP, DROP + "\x12rst"],
        "fish": ["echo first\r", "echo second\r", "ec", RIGHT],
    },
    "help": {
        "toy": ["?SORT\r", "?matmull\r", '?"fourier"\r', "sort?\r", "help sort\r"],
        "ipython": ["?SORTED\r", "?*sort*\r", "?matmull\r", "sorted?\r"],
        "python": ["help('matmull')\r", "help('sorted')\r"],
        "octave": ["help summ\r", "help SUM\r", "lookfor fourier\r"],
        "node": [".help\r"],
        "clang-repl": ["%help\r"],
    },
    "big values": {
        "toy": [
            "reshape(arange(360), 10, 6, 6)\r",
            "arange(30) + 100000\r",
            '(eye(3), "a", eye(2))\r',
            "ones(99, 99)\r",
        ],
        "ipython": ["import numpy as np; np.arange(360).reshape(10, 6, 6)\r", "(np.eye(3), 'a')\r", "[*range(1000)]\r"],
        "python": ["list(range(300))\r"],
        "octave": ["reshape(1:360, 10, 6, 6)\r"],
        "node": ["Array.from({length: 1000}, (_, i) => i)\r"],
        "clang-repl": ["double a[100];\r", "a\r"],
    },
    "plots": {
        "toy": ["plot([1, 4, 9])\r"],
        "ipython": ["plot([1])\r"],
        "octave": ["plot([1])\r"],
        "node": ["plot([1])\r"],
    },
    "progress": {
        "toy": ["for i in range(25) { sleep(0.1); }\r"],
        "ipython": ["import time\r", "for i in range(25): time.sleep(0.1)\r\r"],
        "octave": ["for i = 1:25; pause(0.1); end\r"],
        "node": ["for (let t = Date.now(); Date.now() - t < 2500;);\r"],
    },
    "first contact": {
        "toy": ["help\r", "exit\r"],
        "ipython": ["help\r", "exit\r"],
        "python": ["help\r", "quit\r", "exit\r"],
        "octave": ["help\r", "quit\r"],
        "node": ["help\r", "exit\r"],
        "clang-repl": ["help\r", "exit\r"],
    },
    "previous results": {
        "toy": ["2 + 3\r", "_ * 2\r", "_1 + _2\r", ":results\r"],
        "ipython": ["2 + 3\r", "_ * 2\r", "_1 + _2\r", "Out\r"],
        "python": ["2 + 3\r", "_ * 2\r"],
        "octave": ["2 + 3\r", "ans * 2\r"],
        "node": ["2 + 3\r", "_ * 2\r"],
        "clang-repl": ["2 + 3\r", "_ * 2\r"],
    },
    "taking back": {
        "toy": ["var x = 1;\r", "x = 5;\r", "x = x // 0;\r", ":undo\r", "x\r"],
        "ipython": ["x = 1\r", "%undo\r"],
        "octave": ["undo\r"],
        "node": [".undo\r"],
        "clang-repl": ["int x = 1;\r", "x = 5;\r", "%undo\r", "x\r"],
    },
    "output of commands": {
        "toy": [":!printf abc\r", 'write("abc"); 1 // 0\r'],
        "ipython": ["!printf abc\r"],
        "python": ["import os; os.system('printf abc');\r"],
        "octave": ["system('printf abc');\r"],
        "node": ["process.stdout.write('abc'); undefined\r"],
        "clang-repl": ['extern "C" int printf(const char *, ...);\r', 'auto r = printf("abc");\r'],
    },
    "words of other languages": {
        "toy": ["True\r", "2 ^ 3\r", "np.dot(1, 2)\r", "%timeit 1\r", "whos\r"],
        "ipython": ["true\r", "a && b\r", "x++\r"],
        "python": ["true\r", "None && 1\r"],
        "octave": ["True\r", "lambda x: 3\r"],
        "node": ["True\r", "np.dot(1, 2)\r"],
        "clang-repl": ["True\r"],
    },
    "profile": {
        "toy": ["def f(n) { var s = 0.0; for i in range(n) { s += sin(s); } return s; }\r", ":profile f(3000000)\r"],
        "ipython": ["def f(n): return sum(range(n))\r\r", "%prun -l 6 f(10**6)\r"],
        "octave": ["profile on; x = sum(rand(500)(:)); profile off; profshow\r"],
        "node": [".profile\r"],
        "clang-repl": ["%profile\r"],
    },
    "calls and values": {
        "toy": ["def f(n) { if n < 2 { return 1; } return n * f(n - 1); }\r", ":trace f(3)\r"],
        "ipython": ["%trace\r"],
        "python": ["import trace; trace.Trace(count=0, trace=1).runfunc(lambda: 3)\r"],
        "octave": ["function y = f(x)\r y = 2*x;\r end\r", "echo on all\r", "f(3)\r"],
        "clang-repl": ["%trace\r"],
    },
    "breakpoints": {
        "toy": ["def f(x) { var y = 2 * x; breakpoint(); return y; }\r", "f(3)\r", "y\r", "y = 7\r", ":continue\r"],
        "ipython": ["def f(x):\r  y = 2 * x\rbreakpoint()\rreturn y\r\r", "f(3)\r", "y\r", "y = 7\r", "c\r"],
        "python": ["def f(x):\r  y = 2 * x\rbreakpoint()\rreturn y\r\r", "f(3)\r", "y\r", "y = 7\r", "c\r"],
        "octave": ["function r = f(x)\r r = 2 * x;\r keyboard;\r end\r", "f(3)\r", "r\r", "r = 7;\r", "dbcont\r"],
        "node": ["function f(x) { debugger; return x }\r", "f(3)\r"],
        "clang-repl": ["__builtin_debugtrap();\r"],
    },
    "after an error": {
        "toy": ["def f(a, b) { var q = a // b; return q; }\r", "f(1, 0)\r", ":debug\r", "b\r", ":quit\r"],
        "ipython": ["def f(a, b): return a // b\r\r", "f(1, 0)\r", "%debug\r", "b\r", "p b\r", "q\r"],
        "python": ["def f(a, b): return a // b\r\r", "f(1, 0)\r", "import pdb; pdb.pm()\r", "p b\r", "q\r"],
        "octave": ["function q = f(a)\r q = a.b.c;\r end\r", "debug_on_error(true);\r", "f(1)\r", "a\r", "dbquit\r"],
        "node": ["function f(a) { return a.b.c }\r", "f({})\r"],
        "clang-repl": ["int *q = nullptr;\r", "*q\r"],
    },
    "themes": {
        "toy": [":set theme light\r", "1 + nosuch\r"],
        "ipython": ["%colors linux\r", "1 + 'a' # c"],
    },
}

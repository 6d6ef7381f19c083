# SPDX-License-Identifier: Apache-2.0
"""The example in every operation's documentation parses, verifies and comes back unchanged; with an operand of a wrong
type it is refused."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
TBLGEN = "/usr/lib/llvm-22/bin/mlir-tblgen"
OPERATION = re.compile(r"^### `toy\.(\w+)`(.*?)(?=^### |\Z)", re.M | re.S)
EXAMPLE = re.compile(r"```mlir\n(.*?)```", re.S)


def definitions():
    """(operation, example) from the documentation that the ODS files give."""
    command = [TBLGEN, "-gen-op-doc", "-I", str(ROOT), "-I", "/usr/lib/llvm-22/include", str(ROOT / "ir/ToyOps.td")]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    for match in OPERATION.finditer(text):
        example = EXAMPLE.search(match.group(2))
        yield match.group(1), example.group(1).strip() if example else None


def function(example):
    """A function around one operation, its operands as arguments."""
    line = " ".join(example.split())
    head, types = line.split(" : (", 1) if "{\n" not in example else (None, None)
    operands = re.findall(r"%\w+", head.split("=", 1)[1] if "=" in head.split("{")[0] else head)
    inputs = split_types(types.split(") ->", 1)[0])
    arguments = ", ".join(f"{name}: {type}" for name, type in dict(zip(operands, inputs)).items())
    return f"func.func @f({arguments}) {{\n  {example}\n  return\n}}\n"


def split_types(text):
    out, depth, current = [], 0, ""
    for c in text:
        depth += (c in "<[(") - (c in ">])")
        if c == "," and depth == 0:
            out.append(current.strip())
            current = ""
        else:
            current += c
    return [*out, current.strip()] if current.strip() else out


def opt(toy_opt, text):
    return subprocess.run(
        [toy_opt, "-"], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60
    )


def check(toy_opt, mnemonic, example):
    if example is None:
        return f"{mnemonic} has no example"
    if "{\n" in example or "toy.yield" in example:  # regions: tests/passes
        return None
    text = function(example)
    once = opt(toy_opt, text)
    if once.returncode != 0:
        return f"{mnemonic}: {once.stderr}\n{text}"
    if f"toy.{mnemonic}" not in once.stdout:
        return f"{mnemonic}: the example is of another operation"
    twice = opt(toy_opt, once.stdout)
    if twice.stdout != once.stdout:
        return f"{mnemonic} does not come back unchanged"
    wrong = re.sub(r"!toy\.(tensor<\w+\[[^\]]*\]>|str)", "vector<3xf32>", text)
    if wrong != text and opt(toy_opt, wrong).returncode == 0:
        return f"{mnemonic} takes operands and results of any type"
    return None


def documented(toy):
    """`?toy.NAME` says what each operation is, and shows its example."""
    found = dict(definitions())
    asked = "".join(f"?toy.{name}\n" for name in found)
    done = subprocess.run([toy, "-"], input=asked, capture_output=True, text=True, timeout=60)
    texts = dict(re.findall(r"^toy\.(\w+)\n((?:(?:  .*)?\n)*)", done.stdout, re.M))
    for name, example in found.items():
        lines = [" ".join(line.split()) for line in texts.get(name, "").splitlines()]
        if len(lines) < 2 or example is None or " ".join(example.splitlines()[0].split()) not in lines:
            return f"toy.{name}: {texts.get(name)}{done.stderr}"
    return None


def all_cases(toy_opt):
    yield "every operation is documented at the prompt", documented
    for mnemonic, example in definitions():
        yield f"example of toy.{mnemonic}", lambda _toy, m=mnemonic, e=example: check(toy_opt, m, e)

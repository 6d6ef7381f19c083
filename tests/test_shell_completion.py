# SPDX-License-Identifier: Apache-2.0
"""What shells complete: every option that --help lists, and the words that a value is one of."""
import re
import subprocess

BASH = 'source "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; _toy; echo "${COMPREPLY[@]}"'


def generated(toy, folder, shell):
    path = folder / f"toy.{shell}"
    path.write_text(subprocess.run([toy, f"--generate={shell}"], check=True, capture_output=True, text=True).stdout)
    return path


def options(toy):
    text = subprocess.run([toy, "--help"], check=True, capture_output=True, text=True).stdout
    found = set(re.findall(r"^  (--[a-z-]+)", text, re.M))
    assert len(found) > 20
    return found


def bash(script, *words):
    done = subprocess.run(["bash", "-c", BASH, "bash", script, *words], check=True, capture_output=True, text=True)
    return done.stdout.split()


def fish(script, line):
    command = f"source {script}; complete -C '{line}'"
    done = subprocess.run(["fish", "-N", "-c", command], check=True, capture_output=True, text=True)
    return [row.split("\t")[0] for row in done.stdout.splitlines()]


def test_bash(toy, tmp_path):
    script = generated(toy, tmp_path, "bash")
    assert options(toy) <= {word.rstrip("=") for word in bash(script, "toy", "--")}
    assert bash(script, "toy", "--emit", "=", "l") == ["linalg", "llvm"]
    assert bash(script, "toy", "--device", "=") == ["cpu", "cuda", "auto"]


def test_fish(toy, tmp_path):
    script = generated(toy, tmp_path, "fish")
    assert options(toy) <= {word.rstrip("=") for word in fish(script, "toy --")}
    assert sorted(fish(script, "toy --device=")) == ["--device=auto", "--device=cpu", "--device=cuda"]
    assert fish(script, "toy --explain T0301") == ["T0301"]


def test_zsh(toy, tmp_path):
    script = generated(toy, tmp_path, "zsh")
    subprocess.run(["zsh", "-n", script], check=True)
    shown = f"_arguments() {{ print -rl -- $@ }}; source {script}"
    done = subprocess.run(["zsh", "-f", "-c", shown], check=True, capture_output=True, text=True)
    rows = done.stdout.splitlines()
    assert options(toy) <= {re.match(r"[^\[=]*", row)[0] for row in rows}
    assert any(re.fullmatch(r"--device=-\[.*[^\\]\]:value:\(cpu cuda auto\)", row) for row in rows)

# SPDX-License-Identifier: Apache-2.0
"""The command line: every option of `toy --help` with and without what it takes, and options that are not there."""
import re

from programs import run


def options(toy):
    """Names and values of the options that --help lists."""
    return re.findall(r"^ +(--[a-z-]+)(?:=(\S+))?", run([toy, "--help"]).stdout, re.M)


def refused(toy, *words):
    done = run([toy, *words])
    assert done.returncode == 2 and done.stdout == "", f"{words}: {done}"
    return done.stderr


def test_without_and_with_a_value(toy):
    listed = options(toy)
    both = {name for name, _ in listed if {values == "" for n, values in listed if n == name} == {True, False}}
    assert len(listed) > 20
    for name, values in listed:
        if name in both or name in ("--help", "--version", "--explain"):
            continue
        if values:
            assert refused(toy, name) == f"error[D0114]: `{name}` takes a value\nhelp: `{name}={values}`\n"
        else:
            assert refused(toy, f"{name}=1") == f"error[D0114]: `{name}` takes no value\n"


def test_values_that_are_not_there(toy):
    for name, values in options(toy):
        if "|" in values and name != "--emit":
            said = refused(toy, f"{name}=nonsense")
            assert said == f"error[D0102]: `nonsense` is not a value of {name}\nhelp: `{name}={values}`\n"


def test_words_at_the_end(toy):
    for option, what in (("-e", "a program"), ("-o", "a file"), ("--explain", "a code, as `T0336`")):
        assert refused(toy, option) == f"error[D0114]: `{option}` takes {what}\n"


def test_unknown_options(toy):
    assert refused(toy, "--thread=2") == "error[D0101]: unknown option `--thread=2`\nhelp: did you mean `--threads`?\n"
    assert refused(toy, "--xyzzy") == "error[D0101]: unknown option `--xyzzy`\n"

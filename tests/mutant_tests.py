# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest for mutants.py: tests in an order of its own, each with a time limit, and a line `NOTICED TEST`
for one that fails."""
import pathlib
import signal

import pytest

LIMIT = 120  # seconds for a test: a mutant may wait for ever


def pytest_addoption(parser):
    parser.addoption("--first", help="a file with the names of tests that begin, one a line")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    first = {
        name: place for place, name in enumerate(pathlib.Path(config.getoption("--first")).read_text().splitlines())
    }
    items.sort(key=lambda item: (first.get(item.nodeid, len(first)), item.get_closest_marker("long") is not None))


def stop(*_):
    pytest.fail(f"did not end within {LIMIT} s")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call():
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)


def pytest_terminal_summary(terminalreporter):
    for report in terminalreporter.stats.get("failed", []) + terminalreporter.stats.get("error", []):
        terminalreporter.write_line(f"NOTICED {report.nodeid}")

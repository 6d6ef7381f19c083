# SPDX-License-Identifier: Apache-2.0
"""The mutants of `make mutants` change places that are there, and the record of who noticed them is about them."""
import collections

import mutants
import pytest

pytestmark = [pytest.mark.release, pytest.mark.host]


def test_places():
    assert mutants.wrong_places() == []


def test_outputs():
    """What a mutant makes lies in a folder of its own: a whole path would be one of the build that is looked at."""
    build = mutants.Build(mutants.ROOT / "build/release")
    for source in sorted({mutant[1] for kind in mutants.KINDS.values() for mutant in kind.mutants}):
        if source.endswith(".cu"):
            outputs = build.outputs(mutants.ROOT / source)
            assert len(outputs) > 1 and not any(output.startswith("/") for output in outputs), source


def test_names():
    for name, kind in mutants.KINDS.items():
        counts = collections.Counter(mutant[0] for mutant in kind.mutants)
        assert max(counts.values()) == 1, name
        gone = set(mutants.record().get(name, {})) - set(counts)
        assert not gone, f"{name}: {mutants.RECORD.name} names no mutants: {gone}"

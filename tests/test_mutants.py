# SPDX-License-Identifier: Apache-2.0
"""The mutants of `make mutants` change places that are there, and the record of who noticed them is about them."""
import collections

import mutants
import pytest

pytestmark = [pytest.mark.release, pytest.mark.host]


def test_places():
    assert mutants.wrong_places() == []


def test_names():
    for name, kind in mutants.KINDS.items():
        counts = collections.Counter(mutant[0] for mutant in kind.mutants)
        assert max(counts.values()) == 1, name
        gone = set(mutants.record().get(name, {})) - set(counts)
        assert not gone, f"{name}: {mutants.RECORD.name} names no mutants: {gone}"

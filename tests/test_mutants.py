# SPDX-License-Identifier: Apache-2.0
"""The mutants of `make mutants` change places that are there."""
import mutants
import pytest


@pytest.mark.release
@pytest.mark.host
def test_places():
    assert mutants.places_gone() == []

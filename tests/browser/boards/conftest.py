"""Arena with votes, for tests of boards and of every page."""

from collections.abc import Iterator

import pytest

from tests.browser.helpers.arenas import PATIENT, vote
from tests.fake_provider import FakeProvider
from tests.faults.running import Arena, arena_with


@pytest.fixture(scope="package")
def arena(_fake_provider: FakeProvider) -> Iterator[Arena]:
    with arena_with(_fake_provider, **PATIENT) as arena:
        vote(arena)
        yield arena

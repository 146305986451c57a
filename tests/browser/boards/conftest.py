"""Arena with votes, for tests of boards and of every page."""

from collections.abc import Iterator

import pytest

from tests.browser.helpers.arenas import PATIENT, vote
from tests.fake_provider import FakeProvider
from tests.worlds.arena import Arena, arena_with


@pytest.fixture(scope="package")
def fresh_arena(_fake_provider: FakeProvider) -> Iterator[Arena]:
    """The arena before any vote: tests.scheduling runs tests of this fixture first."""
    with arena_with(_fake_provider, **PATIENT) as arena:
        yield arena


@pytest.fixture(scope="package")
def arena(fresh_arena: Arena) -> Arena:
    vote(fresh_arena)
    return fresh_arena

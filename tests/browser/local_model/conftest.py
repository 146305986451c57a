from collections.abc import Iterator

import pytest

from tests.browser.helpers.administration import ADMINISTRATOR
from tests.browser.helpers.arenas import arena_with_local_model
from tests.worlds.arena import Arena


@pytest.fixture(scope="package")
def arena() -> Iterator[Arena]:
    with arena_with_local_model(**ADMINISTRATOR) as arena:
        yield arena

from collections.abc import Iterator

import pytest

from tests.browser.administration import ADMINISTRATOR
from tests.browser.arenas import arena_with_local_model
from tests.faults.running import Arena


@pytest.fixture(scope="package")
def arena() -> Iterator[Arena]:
    with arena_with_local_model(**ADMINISTRATOR) as arena:
        yield arena

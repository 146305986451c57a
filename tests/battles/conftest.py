"""What tests of battles share."""

import pytest

from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import FakeProvider


@pytest.fixture
def five(fake_provider: FakeProvider) -> list[LanguageModel]:
    """Contestants m0 … m4."""
    return [make.model(f"honest-{n}", at=fake_provider.base_url, slug=f"m{n}", name=f"Name {n}") for n in range(5)]

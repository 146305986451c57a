import pytest

from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import FakeProvider


@pytest.fixture
def five_models(fake_provider: FakeProvider) -> list[LanguageModel]:
    """Models m0 … m4, which answer with their prompt."""
    return [make.model(f"honest-{n}", at=fake_provider.base_url, slug=f"m{n}", name=f"Name {n}") for n in range(5)]

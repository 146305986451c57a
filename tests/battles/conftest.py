"""What tests of battles share."""

import pytest

from accounts import bans, chosen_limits
from battles.moderation import policy
from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import FakeProvider


@pytest.fixture
def five(fake_provider: FakeProvider) -> list[LanguageModel]:
    """Contestants m0 … m4."""
    return [make.model(f"honest-{n}", at=fake_provider.base_url, slug=f"m{n}", name=f"Name {n}") for n in range(5)]


@pytest.fixture
def nothing_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is blocked, limits and rules are looked up once, however long it takes to count questions."""
    for looked_up in (bans.in_force, chosen_limits.in_force, policy.current):
        monkeypatch.setattr(looked_up, "for_s", 3600)

import pytest
from django.test import Client

from accounts.actor import Actor
from models_registry.models import LanguageModel
from tests import make
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample


@pytest.fixture
def member() -> Actor:
    return make.member()


@pytest.fixture
def models() -> list[LanguageModel]:
    return [make.model(name=f"Model {name}", slug=name) for name in ("ada", "bob")]


@pytest.fixture
def sample(member: Actor, models: list[LanguageModel]) -> Sample:
    return samples.sample(member.user, models)


@pytest.fixture
def browser(member: Actor) -> Client:
    return make.browser(member)

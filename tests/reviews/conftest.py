from collections.abc import Sequence

import pytest
from django.test import Client

from accounts.actor import Actor
from models_registry.models import LanguageModel
from reviews import actions
from reviews.models import Review
from tests import make
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample


@pytest.fixture
def owner() -> Actor:
    return make.member()


@pytest.fixture
def member(owner: Actor) -> Actor:
    return owner


@pytest.fixture
def browser(member: Actor) -> Client:
    return make.browser(member)


@pytest.fixture
def models() -> Sequence[LanguageModel]:
    return [make.model(name=f"Gazelle {name}", slug=name, upstream_name=f"acme/{name}-7b") for name in ("ada", "bob")]


@pytest.fixture
def sample(owner: Actor, models: Sequence[LanguageModel]) -> Sample:
    """A run of eight cases and two models, one of which failed on one case: seven pairs."""
    return samples.sample(owner.user, models)


@pytest.fixture
def three(sample: Sample, owner: Actor) -> Sample:
    """A run of three models: 22 pairs, seven or eight of each two models."""
    models = [make.model(name=name, slug=name) for name in ("cat", "dog", "eel")]
    sample.run = samples.finished_run(owner.user, sample.run.version, models)
    return sample


@pytest.fixture
def review(owner: Actor, sample: Sample) -> Review:
    """An open review that asks all members for one opinion on each pair."""
    return actions.open_review(actions.create_review(owner=owner.user, run=sample.run))

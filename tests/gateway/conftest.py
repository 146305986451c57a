from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI

from accounts.actor import Actor
from accounts.models import ApiToken, Scope
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import serve


@pytest.fixture
def address() -> Iterator[str]:
    """URL of a site without workers."""
    with serve() as address:
        yield address


@pytest.fixture
def owner(db: None) -> Actor:
    return make.member()


@pytest.fixture
def token(owner: Actor) -> str:
    assert owner.user is not None
    return ApiToken.issue(user=owner.user, name="software", scopes=[Scope.GATEWAY])[1]


@pytest.fixture
def client(address: str, token: str) -> Iterator[OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key=token, max_retries=0, timeout=60) as client:
        yield client


@pytest.fixture
def model(fake_provider: FakeProvider) -> Callable[..., Any]:
    """Make models of the fake provider: `model("honest", abilities=["tools"]).slug`."""
    return lambda name="honest", **fields: make.model(name, at=fake_provider.base_url, **fields)

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from openai import OpenAI

from accounts.actor import Actor
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.software import issue_token, openai_client
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
    return issue_token(owner)


@pytest.fixture
def client(address: str, token: str) -> Iterator[OpenAI]:
    with openai_client(address, token) as client:
        yield client


@pytest.fixture
def model(fake_provider: FakeProvider) -> Callable[..., Any]:
    """Make models of the fake provider: `model("honest", abilities=["tools"]).slug`."""
    return lambda name="honest", **fields: make.model(name, at=fake_provider.base_url, **fields)

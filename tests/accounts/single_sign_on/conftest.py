from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.single_sign_on import connections, discovery
from tests.accounts.single_sign_on.browser import sign_in
from tests.fake_issuer import FakeIssuer


@pytest.fixture
def issuer(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeIssuer]:
    """Run an issuer of the domain example.org, the only one in the settings. The machine is busy."""
    monkeypatch.setattr(connections, "CONNECT_TIMEOUT_S", 60)
    monkeypatch.setattr(connections, "TOTAL_TIMEOUT_S", 60)
    # An issuer of an earlier test may have had the same port.
    monkeypatch.setattr(discovery, "_endpoints", {})
    monkeypatch.setattr(discovery, "_keys", {})
    running = FakeIssuer()
    settings.ARENA_SSO = [running.settings()]
    yield running
    running.close()


@pytest.fixture
def refusal(issuer: FakeIssuer, client: Client) -> Callable[[], tuple[int, str]]:
    """Return status and code of a sign-in that the arena refuses."""

    def attempt() -> tuple[int, str]:
        response = sign_in(client, issuer)
        assert "_auth_user_id" not in client.session
        return response.status_code, response.context["error"].code

    return attempt

from typing import Any

import pytest
from django.contrib.auth import SESSION_KEY
from django.http import HttpResponse
from django.test import Client

from tests import make
from tests.arena_site.security.test_security_headers import EVERY_ADDRESS, has_security_headers

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

PUBLIC = {
    "/data/",
    "/leaderboard/", "/leaderboard/charts/", "/leaderboard/compare/", "/leaderboard/snapshots/", "/leaderboard/method/",
    "/models/", "/leaderboard/models/one/", "/leaderboard/compare/one/two/", "/api/v1/models/", "/api/v1/models/one/",
    "/api/v1/boards/", "/api/v1/leaderboard/", "/api/v1/leaderboard/models/one/",
    "/api/v1/leaderboard/history/?models=one",
    "/api/v1/leaderboard/head-to-head/?a=one&b=two", "/api/v1/leaderboard/matrix/", "/api/v1/leaderboard/judged/",
    "/api/v1/leaderboard/snapshots/", "/api/v1/schema/", "/api/v1/docs/", "/statistics/", "/api/v1/statistics/",
}  # fmt: skip


@pytest.fixture
def visitor() -> Client:
    client = Client()
    client.cookies["arena_visitor"] = "one who battled before"
    return client


@pytest.fixture
def member() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(make.user(is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def _models() -> None:
    for slug in ("one", "two"):
        make.model("honest", slug=slug)


def directives(client: Client, address: str, **options: Any) -> set[str]:
    return directives_of(client.get(address, **options))


def directives_of(answer: HttpResponse) -> set[str]:
    return {part.strip() for part in answer.headers["Cache-Control"].split(",")}


def is_private(named: set[str]) -> bool:
    return {"private", "no-store"} <= named and "public" not in named


def test_every_url_is_private_and_secured_for_members(member: Client):
    """Both are checked on the same hundreds of responses."""
    public, without_headers = [], []
    for address in EVERY_ADDRESS:
        answer = member.get(address)
        public += [] if is_private(directives_of(answer)) else [address]
        without_headers += [] if has_security_headers(answer) else [address]
    assert (public, without_headers) == ([], [])
    assert SESSION_KEY in member.session, "an address signed the administrator out"


def test_only_listed_urls_are_public_for_strangers():
    stranger = Client(raise_request_exception=False)
    open_to_all = {address for address in EVERY_ADDRESS if not is_private(directives(stranger, address))}
    assert open_to_all <= PUBLIC


@pytest.mark.usefixtures("_models")
@pytest.mark.parametrize("address", sorted(PUBLIC))
def test_public_url_is_private_for_members(address: str, visitor: Client, member: Client):
    assert directives(Client(), address) == {"public", "no-cache"}
    assert is_private(directives(visitor, address))
    assert is_private(directives(member, address))


def test_private_arena_has_no_public_caching(settings: Any):
    settings.ARENA_ACCESS = "private"
    for address in PUBLIC:
        assert is_private(directives(Client(), address))


def test_request_with_token_is_private():
    assert is_private(directives(Client(), "/api/v1/models/", headers={"Authorization": "Bearer arena_x"}))

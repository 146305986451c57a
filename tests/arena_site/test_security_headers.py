"""Whatever a browser asks for, it is told what the answer may do."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests import make

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def addresses(resolver: URLResolver, before: str = "") -> Iterator[str]:
    """One for each pattern of the site, with something that does not exist for what varies."""
    for pattern in resolver.url_patterns:
        route = str(pattern.pattern).lstrip("^").removesuffix("$").removesuffix("\\Z")
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern, before + route)
        elif isinstance(pattern, URLPattern):
            path = re.sub(r"\(\?P<\w+>[^)]*\)", "1-x", before + route)
            path = re.sub(r"<int:\w+>", "1", path)
            yield "/" + re.sub(r"<[^>]+>", "x", path).replace("\\", "").replace("?", "")


EVERY_ADDRESS = sorted(set(addresses(get_resolver())))


def test_every_app_has_addresses():
    for beginning in ("/accounts/", "/admin/", "/api/v1/", "/battles/", "/leaderboard/", "/livez"):
        assert any(address.startswith(beginning) for address in EVERY_ADDRESS)


@pytest.mark.django_db
@pytest.mark.parametrize("address", [*EVERY_ADDRESS, "/nothing-is-here"])
def test_every_answer_has_its_security_headers(address: str):
    client = Client(raise_request_exception=False)
    client.force_login(make.user(is_staff=True, is_superuser=True))
    answer = client.get(address)
    assert answer.status_code != 500
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy

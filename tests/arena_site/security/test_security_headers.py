import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def addresses(resolver: URLResolver, before: str = "") -> Iterator[str]:
    """Yield a URL for each pattern, with parameters of rows that do not exist."""
    for pattern in resolver.url_patterns:
        route = str(pattern.pattern).lstrip("^").removesuffix("$").removesuffix("\\Z")
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern, before + route)
        elif isinstance(pattern, URLPattern):
            path = re.sub(r"\(\?P<\w+>[^)]*\)", "1-x", before + route)
            path = re.sub(r"<int:\w+>", "1", path)
            yield "/" + re.sub(r"<[^>]+>", "x", path).replace("\\", "").replace("?", "")


EVERY_ADDRESS = sorted(set(addresses(get_resolver())))


def test_urls_of_every_app_are_checked():
    for beginning in ("/accounts/", "/admin/", "/api/v1/", "/battles/", "/leaderboard/", "/livez"):
        assert any(address.startswith(beginning) for address in EVERY_ADDRESS)


def has_security_headers(response: HttpResponse) -> bool:
    policy = response.headers["Content-Security-Policy"]
    return (
        response.status_code != 500
        and {name: response.headers.get(name) for name in HEADERS} == HEADERS
        and "default-src 'none'" in policy
        and "unsafe" not in policy
    )


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/api/v1/models/", "/admin/login/", "/nothing-is-here"])
def test_responses_have_security_headers(client: Client, address: str):
    assert has_security_headers(client.get(address))


@pytest.mark.processes
@pytest.mark.parametrize(
    ("scope", "subdomains", "preload"),
    [(None, False, False), ("host", False, False), ("subdomains", True, False), ("preload", True, True)],
)
def test_hsts_covers_the_host_unless_told_otherwise(scope: str | None, subdomains: bool, preload: bool):
    script = (
        "from arena_site.settings import production as site;"
        "print((site.SECURE_HSTS_SECONDS, site.SECURE_HSTS_INCLUDE_SUBDOMAINS, site.SECURE_HSTS_PRELOAD))"
    )
    required = ("SECRET_KEY", "ARENA_ENCRYPTION_KEYS", "DATABASE_URL", "REDIS_URL", "ARENA_HOSTS")
    environment = {name: os.environ.get(name) or "unused" for name in required} | {"ARENA_ENV_FILE": os.devnull}
    environment |= {"PATH": os.environ["PATH"]} | ({"ARENA_HSTS": scope} if scope else {})
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == str((31_536_000, subdomains, preload))

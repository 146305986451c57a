"""The arena's own requests go to an internal address; names, keys and browsers stay with the public one."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from accounts.single_sign_on import connections
from accounts.single_sign_on.checks import check_issuers
from accounts.single_sign_on.errors import IssuerUnreachable
from accounts.single_sign_on.issuers import Issuer
from tests.accounts.single_sign_on.browser import START, leave, sign_in
from tests.fake_issuer import SECRET, FakeIssuer

pytestmark = pytest.mark.django_db
PUBLIC = "https://login.example.org/auth/realms/arena"


@pytest.fixture
def inside(issuer: FakeIssuer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeIssuer]:
    """Run an issuer whose public address does not answer, in a network that is private."""
    monkeypatch.setattr(connections, "_away_until", {})
    running = FakeIssuer(PUBLIC)
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    settings.ARENA_SSO = [running.settings(internal_url=running.internal_url)]
    yield running
    running.close()


def test_own_requests_go_inside_and_browsers_outside(inside: FakeIssuer, client: Client):
    inside.person.pop("email_verified")
    inside.userinfo = {"sub": "person-1", "email": "ada@example.org", "email_verified": True}
    assert leave(client).startswith(f"{PUBLIC}/authorize?")
    assert sign_in(client, inside).status_code == 302
    assert User.objects.get().email == "ada@example.org"
    assert {"/.well-known/openid-configuration", "/keys", "/token", "/userinfo"} <= inside.requests.keys()
    assert (inside.headers["Host"], inside.headers["X-Forwarded-Proto"]) == ("login.example.org", "https")


def test_document_with_internal_endpoints_is_taken(inside: FakeIssuer, client: Client):
    """Some issuers name the address of the request, for programs as well as for browsers."""
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        inside.document[name] = inside.document[name].replace(PUBLIC, inside.internal_url)
    assert leave(client).startswith(f"{PUBLIC}/authorize?")
    assert sign_in(client, inside).status_code == 302


@pytest.mark.parametrize("named", ["https://elsewhere.example", "{internal}", "https://login.example.org"])
def test_another_issuer_at_the_internal_address_is_refused(inside: FakeIssuer, client: Client, named: str):
    inside.document["issuer"] = named.replace("{internal}", inside.internal_url)
    response = client.post(START)
    assert (response.status_code, response.context["error"].code) == (502, "issuer_answer_invalid")


@pytest.mark.parametrize(
    ("changes", "code"),
    [({"iss": "{internal}"}, "id_token_issuer"), ({"aud": "another-client"}, "id_token_audience")],
)
def test_tokens_are_checked_against_the_public_address(
    inside: FakeIssuer, client: Client, changes: dict[str, str], code: str
):
    inside.changes = {name: value.replace("{internal}", inside.internal_url) for name, value in changes.items()}
    assert sign_in(client, inside).context["error"].code == code
    inside.changes, inside.sign = {}, lambda claims: inside.signed(claims, key=inside.OTHER_KEY)
    assert sign_in(client, inside).context["error"].code == "id_token_signature"


def test_redirect_from_the_internal_address_is_not_followed(inside: FakeIssuer, client: Client):
    def redirect(handler: Any) -> None:
        handler.send_response(302)
        handler.send_header("Location", "http://169.254.169.254/latest/meta-data/")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    inside.replies["/.well-known/openid-configuration"] = redirect
    assert client.post(START).context["error"].code == "issuer_answer_invalid"


@pytest.mark.parametrize(
    "internal", ["http://169.254.169.254/", "http://[fd00:ec2::254]/realms/arena", "http://93.184.215.14/realms/arena"]
)
def test_internal_address_is_private_and_no_metadata(settings: Any, internal: str):
    """Plain HTTP would show the client's secret on the way to a public address."""
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = True
    issuer = Issuer(key="company", url=PUBLIC, client_id="arena", internal_url=internal)
    connections._away_until.clear()
    with pytest.raises(IssuerUnreachable) as refused:
        connections.fetch(issuer, f"{PUBLIC}/token")
    assert isinstance(refused.value.__cause__, connections._AddressRefused)


def test_endpoint_of_another_host_needs_https(inside: FakeIssuer, client: Client):
    inside.document["token_endpoint"] = "http://other.example/token"
    assert client.post(START).context["error"].code == "issuer_answer_invalid"


@pytest.mark.parametrize(
    ("public", "internal", "url", "inside"),
    [
        ("https://a.example/realms/x", "http://k:8080/realms/x", "/realms/x/token", "http://k:8080/realms/x/token"),
        ("https://a.example/auth/realms/x", "http://k:8080/realms/x", "/auth/realms/x/t", "http://k:8080/realms/x/t"),
        ("https://a.example/realms/x/", "http://k:8080/auth/realms/x", "/realms/x/t", "http://k:8080/auth/realms/x/t"),
        ("https://a.example/application/o/arena/", "http://k:9000/application/o/arena/", "/application/o/token/",
         "http://k:9000/application/o/token/"),
        ("https://a.example", "http://k:8080/", "/oauth/v2/keys?a=1", "http://k:8080/oauth/v2/keys?a=1"),
        ("https://a.example", "http://k:8080", ".elsewhere.example/keys", "https://a.example.elsewhere.example/keys"),
        ("https://a.example", "", "/keys", "https://a.example/keys"),
    ],
)  # fmt: skip
def test_endpoints_are_found_inside(public: str, internal: str, url: str, inside: str):
    issuer = Issuer(key="a", url=public, client_id="arena", internal_url=internal)
    assert issuer.internal(f"https://a.example{url}") == inside
    assert issuer.public(inside) == f"https://a.example{url}"


@pytest.mark.parametrize(
    "internal", ["keycloak:8080", "ftp://k/", "http://user:pw@k/", "http://k:x/", "http://[k/", "http://k/?a"]
)
def test_wrong_internal_address_is_named_at_the_start(inside: FakeIssuer, settings: Any, internal: str):
    settings.ARENA_SSO = [inside.settings(internal_url=internal)]
    assert ["INTERNAL_URL must" in str(error.msg) for error in check_issuers()] == [True]


def test_logs_have_no_secret_of_the_internal_address(
    inside: FakeIssuer, client: Client, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    inside.userinfo = {"sub": "person-1"}
    sign_in(client, inside)
    inside.replies["/token"] = (400, b'{"error": "invalid_grant"}')
    sign_in(Client(), inside)
    for secret in (SECRET, "an-access-token", "eyJ"):
        assert secret not in caplog.text

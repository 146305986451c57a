"""Tokens, claims and answers that the arena refuses, each with a code; nothing is stored."""

import base64
import hmac
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client

from accounts.models import User
from accounts.single_sign_on import connections, discovery
from accounts.single_sign_on.checks import check_issuers
from tests.accounts.single_sign_on.browser import START, leave
from tests.fake_issuer import SECRET, FakeIssuer

pytestmark = pytest.mark.django_db
DISCOVERY = "/.well-known/openid-configuration"


def unsigned(claims: dict[str, Any]) -> str:
    parts = ({"alg": "none", "typ": "JWT", "kid": "key-1"}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


@pytest.fixture(autouse=True)
def _nothing_is_stored():
    yield
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"iss": "https://elsewhere.example"}, "id_token_issuer"),
        ({"aud": "another-client"}, "id_token_audience"),
        ({"aud": ["another-client", "a-third-one"]}, "id_token_audience"),
        ({"aud": ["arena", "another-client"], "azp": "another-client"}, "id_token_audience"),
        ({"azp": "another-client"}, "id_token_audience"),
        ({"azp": ["arena"]}, "id_token_audience"),
        ({"at_hash": "of-another-access-token"}, "id_token_access_token"),
        ({"at_hash": ["x"]}, "id_token_access_token"),
        ({"nonce": "of-another-sign-in"}, "id_token_nonce"),
        ({"nonce": None}, "id_token_nonce"),
        ({"exp": time.time() - 3600}, "id_token_expired"),
        ({"exp": None}, "id_token_incomplete"),
        ({"exp": float("inf")}, "id_token_unreadable"),
        ({"iat": time.time() + 3600}, "id_token_not_yet_valid"),
        ({"nbf": time.time() + 3600}, "id_token_not_yet_valid"),
        ({"sub": None}, "id_token_incomplete"),
        ({"sub": 7}, "id_token_unreadable"),
        ({"sub": "s" * 10_000}, "claim_too_long"),
        ({"email": "a" * 10_000 + "@example.org"}, "claim_too_long"),
        ({"sid": "s" * 10_000}, "claim_too_long"),
        ({"sub": "nul\0"}, "claim_invalid"),
        ({"email": ["ada@example.org"]}, "claim_invalid"),
        ({"email": "ada@example.org\r\nBcc: eve@example.com"}, "claim_invalid"),
        ({"email": ""}, "no_address"),
        ({"email_verified": False}, "address_not_verified"),
        ({"email_verified": None}, "address_not_verified"),
        ({"email_verified": "yes"}, "address_not_verified"),
        ({"email": "ada@elsewhere.example"}, "address_of_another_domain"),
        ({"email": "ada@example.org.elsewhere.example"}, "address_of_another_domain"),
    ],
)
def test_wrong_claim_is_refused(issuer: FakeIssuer, settings: Any, refusal, changes: dict[str, Any], code: str):
    settings.ARENA_SSO = [issuer.settings(staff_group="arena-staff")]
    issuer.changes = changes
    assert refusal() == (401, code)


@pytest.mark.parametrize(
    ("sign", "code"),
    [
        (lambda issuer: unsigned, "algorithm"),
        (lambda issuer: lambda claims: jwt.encode(claims, SECRET * 2, "HS256", headers={"kid": "key-1"}), "algorithm"),
        (lambda issuer: lambda claims: issuer.signed(claims, key=issuer.OTHER_KEY), "signature"),
        (lambda issuer: lambda claims: issuer.signed(claims)[:-20] + "A" * 20, "signature"),
        (lambda issuer: lambda claims: jwt.encode(claims, issuer.KEY, "RS256", headers={"kid": "unknown"}), "key"),
        (lambda issuer: lambda claims: "not a token", "unreadable"),
        (lambda issuer: lambda claims: "e30.e30.e30", "algorithm"),
        (lambda issuer: lambda claims: "a" * 100_000, "too_long"),
        (lambda issuer: lambda claims: None, "missing"),
        (lambda issuer: lambda claims: {"a": 1}, "missing"),
        (
            lambda issuer: lambda claims: base64.urlsafe_b64encode(b"[" * 30_000).decode() + ".e30.e30",
            "unreadable",
        ),
    ],
)
def test_wrong_token_is_refused(issuer: FakeIssuer, refusal, sign: Any, code: str):
    issuer.sign = sign(issuer)
    assert refusal() == (401, f"id_token_{code}")


def public_key_as_secret(issuer: FakeIssuer, claims: dict[str, Any]) -> str:
    """Sign with HS256, whose secret is the public key that everyone can read. PyJWT refuses to."""
    pem = issuer.KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    _, payload, _ = unsigned(claims).split(".")
    head = base64.urlsafe_b64encode(b'{"alg": "HS256", "kid": "key-1"}').rstrip(b"=").decode()
    digest = hmac.digest(pem, f"{head}.{payload}".encode(), "sha256")
    return f"{head}.{payload}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def without(name: str, claims: dict[str, Any]) -> dict[str, Any]:
    return {other: value for other, value in claims.items() if other != name}


@pytest.mark.parametrize(
    ("sign", "code"),
    [
        (lambda issuer, claims: unsigned(claims), "userinfo_algorithm"),
        (public_key_as_secret, "userinfo_algorithm"),
        (lambda issuer, claims: issuer.signed(claims, key=issuer.OTHER_KEY), "userinfo_signature"),
        (lambda issuer, claims: issuer.signed(claims | {"iss": "https://elsewhere.example"}), "userinfo_issuer"),
        (lambda issuer, claims: issuer.signed(claims | {"aud": "another-client"}), "userinfo_audience"),
        (lambda issuer, claims: issuer.signed(claims | {"azp": "another-client"}), "userinfo_audience"),
        (lambda issuer, claims: issuer.signed(claims | {"exp": 1}), "userinfo_expired"),
        (lambda issuer, claims: issuer.signed(without("iss", claims)), "userinfo_incomplete"),
        (lambda issuer, claims: issuer.signed(without("sub", claims)), "userinfo_incomplete"),
        (lambda issuer, claims: issuer.signed(claims | {"sub": "person-2"}), "no_address"),
        (lambda issuer, claims: json.dumps(claims), "userinfo_unreadable"),  # announced as signed
        (lambda issuer, claims: "", "userinfo_missing"),
        (lambda issuer, claims: "a.b.c.d.e", "userinfo_unreadable"),
        (lambda issuer, claims: "ä" * 100, "userinfo_unreadable"),
        (lambda issuer, claims: "a" * 100_000, "userinfo_too_long"),
    ],
)
def test_wrong_signed_userinfo_is_refused(issuer: FakeIssuer, refusal, sign: Any, code: str):
    issuer.person = {"sub": "person-1"}
    issuer.userinfo = {"sub": "person-1", "email": "ada@example.org", "email_verified": True}
    issuer.sign_userinfo = lambda claims: sign(issuer, claims)
    assert refusal()[1] == code


def test_signature_with_the_public_key_is_refused(issuer: FakeIssuer, refusal):
    issuer.sign = lambda claims: public_key_as_secret(issuer, claims)
    assert refusal() == (401, "id_token_algorithm")


def numbered(**changes: Any) -> dict[str, Any]:
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(FakeIssuer.KEY.public_key()))
    return {**public, "kid": "key-1", "use": "sig", **changes}


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ([numbered(), numbered()], "key"),
        ([numbered(n="A" * 200_000)], "unreadable"),
        ([numbered(n="_" * 20_000 + "w", e="_" * 20_000 + "w")], "unreadable"),
        ([numbered(n=numbered()["n"][:171])], "key"),  # 1024 bits
        ([numbered(n=7)], "unreadable"),
        ([numbered(n="_" * 2732)], "key"),  # 16384 bits
        ([{"kid": "key-1", "kty": "oct", "k": "c2VjcmV0"}], "key"),
        ([numbered(kid=f"key-{number}") for number in range(2, 400)], "key"),
        ([["a"], None, 7], "key"),
    ],
)
def test_bombs_among_the_keys_are_refused_in_time(issuer: FakeIssuer, refusal, keys: Any, code: str):
    issuer.replies["/keys"] = (200, json.dumps({"keys": keys}).encode())
    began = time.process_time()
    assert refusal() == (401, f"id_token_{code}")
    assert time.process_time() - began < 5


def test_domain_of_another_issuer_is_refused(issuer: FakeIssuer, settings: Any, refusal):
    other = {"key": "other", "url": "https://other.example", "client_id": "arena", "domains": ["example.org"]}
    settings.ARENA_SSO = [issuer.settings(domains=[]), other]
    assert refusal() == (401, "address_of_another_domain")


def test_state_of_another_browser_is_refused(issuer: FakeIssuer, client: Client):
    back = issuer.authorize(leave(Client()))
    for path in (back, back.replace("state=", "state=x"), back.partition("&state")[0], back.partition("?")[0]):
        response = client.get(path)
        assert (response.status_code, response.context["error"].code) == (401, "sign_on_state")
    assert issuer.requests["/token"] == 0


def test_callback_for_another_issuer_is_refused(issuer: FakeIssuer, settings: Any, client: Client):
    """Mix-up: a sign-in begun with one issuer must not end with another, and a named issuer must be the right one."""
    other = issuer.settings(key="other", url=issuer.url.replace("/realms/arena", "/realms/other"))
    settings.ARENA_SSO = [issuer.settings(), other]
    back = issuer.authorize(leave(client))
    for path in (back.replace("/company/", "/other/"), f"{back}&iss=https%3A%2F%2Felsewhere.example"):
        assert client.get(path).context["error"].code == "sign_on_state"
    assert issuer.requests["/token"] == 0


def test_refusal_of_the_issuer_is_shown(issuer: FakeIssuer, client: Client):
    for error, code in [("access_denied", "sign_on_cancelled"), ("server_error", "sign_on_refused")]:
        back = issuer.authorize(leave(client)).replace("code=", f"error={error}&was=")
        response = client.get(back)
        assert (response.status_code, response.context["error"].code) == (401, code)
        assert "/accounts/login/" in response.text


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://elsewhere.example"},
        {"token_endpoint": None},
        {"jwks_uri": "http://keys.example/keys"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": ["https://a.example"]},
        {"authorization_endpoint": "https://[broken"},
    ],
)
def test_wrong_discovery_document_is_refused(issuer: FakeIssuer, client: Client, change: dict[str, Any]):
    issuer.document |= change
    response = client.post(START)
    assert (response.status_code, response.context["error"].code) == (502, "issuer_answer_invalid")


@pytest.mark.parametrize("url", ["https://keys.example:99999/", "https://" + "k" * 300 + "/", "{url}/schlüssel"])
def test_address_that_is_none_is_refused(issuer: FakeIssuer, refusal, url: str):
    issuer.document["jwks_uri"] = url.replace("{url}", issuer.url)
    assert refusal() == (503, "issuer_unreachable")


def test_wrong_settings_are_named_at_the_start(settings: Any):
    assert check_issuers() == []
    wrong = {"key": "Com pany", "url": "http://login.example.org", "client_id": "", "scope": "email"}
    one = {"key": "one", "url": "https://one.example", "client_id": "arena", "domains": ["example.org", "@x"]}
    settings.ARENA_SSO = [wrong, one, {**one, "key": "two", "domains": ["example.org"]}]
    text = " ".join(str(error.msg) for error in check_issuers())
    for part in ("a key has", "URL must", "CLIENT_ID is missing", "SCOPE must", "ARENA_SSO_ONE_DOMAINS must",
                 "example.org is listed twice", "the same url"):  # fmt: skip
        assert part in text


@pytest.mark.parametrize(
    "reply",
    [
        (200, b"<html>"), (200, b"[]"), (200, b"[" * 5000), (200, b'{"a": "' + b"a" * connections.MAX_BYTES + b'"}'),
        (302, b""), (404, b"{}"), (500, b"{}"),
    ],
)  # fmt: skip
def test_answer_that_is_no_document_is_refused(issuer: FakeIssuer, client: Client, reply: tuple[int, bytes]):
    issuer.replies[DISCOVERY] = reply
    response = client.post(START)
    assert (response.status_code, response.context["error"].code) == (502, "issuer_answer_invalid")
    assert client.get("/accounts/login/").status_code == 200


def test_endpoint_at_a_metadata_address_is_not_called(issuer: FakeIssuer, client: Client, settings: Any):
    """Addresses in private networks are for the issuer's own host, others for no one."""
    from accounts.single_sign_on.errors import IssuerUnreachable
    from accounts.single_sign_on.issuers import Issuer

    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False
    for url in ("https://169.254.169.254/token", "https://10.0.0.1/token", "https://[fd00:ec2::254]/"):
        somewhere = Issuer(key="company", url="https://issuer.example", client_id="arena")
        connections._away_until.clear()
        with pytest.raises(IssuerUnreachable) as refused:
            connections.fetch(somewhere, url)
        assert isinstance(refused.value.__cause__, connections._AddressRefused)


def test_issuer_that_is_down_leaves_the_sign_in_page_alone(issuer: FakeIssuer, client: Client):
    issuer.close()
    assert client.post(START).status_code == 503
    assert client.get("/accounts/login/").status_code == 200


def test_new_key_of_the_issuer_is_fetched(issuer: FakeIssuer, client: Client, monkeypatch: pytest.MonkeyPatch, refusal):
    issuer.changes = {"email_verified": False}
    assert refusal() == (401, "address_not_verified")
    issuer.key_id = "key-2"
    assert refusal() == (401, "id_token_key")  # asked a moment ago
    monkeypatch.setattr(discovery, "MIN_REFRESH_S", 0)
    assert refusal() == (401, "address_not_verified")
    assert issuer.requests["/keys"] == 2


def test_secret_is_not_logged(issuer: FakeIssuer, client: Client, caplog: pytest.LogCaptureFixture):
    back = issuer.authorize(leave(client)).replace("code=", "code=x")
    assert client.get(back).context["error"].code == "sign_on_code"
    assert "invalid_grant" in caplog.text
    assert SECRET not in caplog.text


def test_begun_sign_ins_are_limited_per_network(issuer: FakeIssuer, client: Client, settings: Any):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("signon", "network"): "2/hour"}
    assert [client.post(START).status_code for _ in range(3)] == [200, 200, 429]

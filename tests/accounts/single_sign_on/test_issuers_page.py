from typing import Any

import pytest
from django.test import Client

from tests import make
from tests.accounts.single_sign_on.browser import sign_in
from tests.fake_issuer import SECRET, FakeIssuer

pytestmark = pytest.mark.django_db

PAGE = "/admin/socialaccount/socialaccount/issuers/"


def test_page_shows_settings_use_and_addresses(issuer: FakeIssuer, client: Client, admin_client: Client):
    assert "No account is connected yet." in admin_client.get(PAGE).text
    sign_in(client, issuer)
    page = admin_client.get(PAGE).text
    assert "1 account is connected; last sign-in: now." in " ".join(page.split())
    assert issuer.url in page
    assert "http://testserver/accounts/sso/company/callback/" in page
    assert "http://testserver/accounts/sso/company/sign-out/" in page
    assert SECRET not in page


def test_check_reads_document_and_keys_anew(issuer: FakeIssuer, admin_client: Client):
    for number in (1, 2):
        assert "It answers as it should, and lists 1 key." in admin_client.post(PAGE).text
        assert issuer.requests["/keys"] == number
    admin_client.get(PAGE)
    assert issuer.requests["/keys"] == 2


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"issuer": "https://other.example.org"}, "names the issuer “https://other.example.org”"),
        ({"token_endpoint": None}, "https: token_endpoint"),
        ({"jwks_uri": "http://127.0.0.1:1/keys"}, "It cannot be reached from this machine."),
    ],
)
def test_check_names_what_is_wrong(issuer: FakeIssuer, admin_client: Client, change: dict[str, Any], sentence: str):
    issuer.document |= change
    for _ in range(2):  # a failure does not hinder the next check
        assert sentence in admin_client.post(PAGE).text


def test_issuer_without_keys_is_named(issuer: FakeIssuer, admin_client: Client):
    issuer.replies["/keys"] = (200, b'{"keys": []}')
    assert "It lists no keys" in admin_client.post(PAGE).text


def test_page_without_issuer_says_how_to_begin(admin_client: Client):
    page = admin_client.get(PAGE).text
    assert "ARENA_SSO=company" in page
    assert "http://testserver/accounts/sso/company/callback/" in page
    assert PAGE in admin_client.get("/admin/socialaccount/socialaccount/").text


def test_page_needs_the_right_to_see_connections(client: Client):
    client.force_login(make.user(is_staff=True))
    assert client.get(PAGE).status_code == 403
    assert client.post(PAGE).status_code == 403

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.models import User
from accounts.single_sign_on import own_sign_in
from common.valkey.connections import connection
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
        ({"jwks_uri": "http://127.0.0.1:1/keys"}, "address inside your network in ARENA_SSO_COMPANY_INTERNAL_URL."),
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


def signed_in(issuer: FakeIssuer, client: Client, settings: Any, **more: Any) -> str:
    """Return the page of staff who signed in by the issuer."""
    settings.ARENA_SSO = [issuer.settings(**more)]
    sign_in(client, issuer)
    User.objects.update(is_staff=True)
    right = Permission.objects.get(codename="view_socialaccount")
    User.objects.get().user_permissions.add(right)
    sign_in(client, issuer)
    return " ".join(client.get(PAGE).text.split())


MAPPED = {"moderators_group": "arena-moderators", "staff_group": "arena-staff"}


@pytest.mark.parametrize(
    ("person", "sentences"),
    [
        (
            {"groups": ["arena-staff", "a-secret-team"]},
            ["Yes, because groups contains “arena-staff”.", "No, because groups does not contain “arena-moderators”."],
        ),
        ({"groups": ["arena-moderators"]}, ["Yes, because moderators are staff."]),
        ({}, ["Yes, as before: groups is absent, and the right was given here in the administration."]),
        (
            {"_claim_names": {"groups": "src1"}},
            ["Yes, as before: groups could not be read.", "No, as before: groups could not be read."],
        ),
    ],
)
def test_page_says_which_rule_gave_which_right(
    issuer: FakeIssuer, client: Client, settings: Any, person: dict[str, Any], sentences: list[str]
):
    issuer.person |= person
    issuer.userinfo = {"sub": "person-1"}
    page = signed_in(issuer, client, settings, **MAPPED)
    for sentence in [*sentences, "Verified, because email_verified is true."]:
        assert sentence in page
    assert "a-secret-team" not in page


def test_page_masks_the_claims_of_ones_own_sign_in(issuer: FakeIssuer, client: Client, settings: Any):
    issuer.person |= {
        "name": "Ada Lovelace", "phone": 4930123456, "address": {"street": "Lane 1"}, "jti": "a-secret-id",
        "roles": {"secret-role": {"1": "x"}}, "teams": [{"name": "secret-team"}], "<b>": None,
    }  # fmt: skip
    issuer.userinfo = {"sub": "person-1", "nickname": "Countess"}
    issuer.changes = {"email_verified": None}
    page = signed_in(issuer, client, settings, trusts_addresses=True, groups_claim="roles", moderators_group="mods")
    for shown in (
        "a…@example.org", "<code>name</code></th> <td>text, 12 characters</td>", "<code>address.street</code>",
        "<code>phone</code></th> <td>number</td>", "<code>roles</code></th> <td>object, 1 entry</td>",
        "<code>teams[0].name</code></th> <td>text, 11 characters</td>", "Userinfo", "text, 8 characters",
        f"<code>{issuer.url}</code> (text,", "Not verified (email_verified); trusted by your setting",
        "taken for new accounts, never for existing ones",
    ):  # fmt: skip
        assert shown in page
    for hidden in ("Lovelace", "4930123456", "Lane 1", "secret", "Countess", "ada@", "person-1"):
        assert hidden not in page.partition("Your own last sign-in")[2].partition("Addresses to register")[0]
    stored = str(connection().get(f"own-sign-in:{User.objects.get().pk}"))
    assert "name" in stored
    for hidden in ("Lovelace", "4930123456", "Lane 1", "secret", "Countess", "ada@", "person-1"):
        assert hidden not in stored
    assert 0 < int(str(connection().ttl(f"own-sign-in:{User.objects.get().pk}"))) <= own_sign_in.KEPT_S


def test_claims_are_shown_to_their_person_only(issuer: FakeIssuer, client: Client, admin_client: Client, settings: Any):
    sign_in(client, issuer)
    [member] = User.objects.exclude(is_superuser=True)
    assert own_sign_in.of(member) is None  # members cannot open the page
    member.is_staff = True
    member.save()
    sign_in(client, issuer)
    assert own_sign_in.of(member) is not None
    assert "Sign in here yourself" in admin_client.get(PAGE).text


def test_connecting_shows_ones_claims_too(issuer: FakeIssuer, client: Client, settings: Any):
    settings.ARENA_SSO = [issuer.settings(domains=[], **MAPPED)]
    issuer.person["groups"] = []
    User.objects.create_superuser("root@home.example", "a-good-password")
    client.post("/accounts/login/", {"login": "root@home.example", "password": "a-good-password"})
    client.post("/accounts/reauthenticate/", {"password": "a-good-password"})
    sign_in(client, issuer, "/accounts/connections/company/connect/")
    page = client.get(PAGE).text
    assert "You connected your account. Rights are set when you sign in." in page
    assert "a…@example.org" in page
    sign_in(client, issuer)
    assert "Yes, as before: administrators keep their rights." in client.get(PAGE).text


def test_page_without_valkey_shows_the_settings(issuer: FakeIssuer, admin_client: Client, no_valkey: None):
    assert "Sign in here yourself" in admin_client.get(PAGE).text


def test_check_shows_what_the_issuer_announces(issuer: FakeIssuer, admin_client: Client, settings: Any):
    settings.ARENA_SSO = [issuer.settings(internal_url=issuer.internal_url.replace("127.0.0.1", "localhost"))]
    issuer.document |= {"claims_supported": ["sub", "groups"], "scopes_supported": "<i>", "x_secret": "unknown"}
    page = " ".join(admin_client.post(PAGE).text.split())
    assert f"{issuer.url}/token <br>called at <code>{issuer.url.replace('127.0.0.1', 'localhost')}/token" in page
    assert "<dd> sub, groups" in page
    assert "&lt;i&gt;" in page
    assert "x_secret" not in page
    assert f"{issuer.url}/token" not in admin_client.get(PAGE).text


@pytest.mark.parametrize(
    ("change", "more", "sentence"),
    [
        ({"issuer": "https://login.microsoftonline.com/{tenantid}/v2.0"}, {}, "for all tenants"),
        ({"issuer": "http://keycloak:8080/realms/arena"}, {"internal_url": "{url}"}, "At the internal address"),
        ({"id_token_signing_alg_values_supported": ["HS256"]}, {}, "It signs with HS256 only"),
    ],
)
def test_check_says_what_to_change(
    issuer: FakeIssuer, admin_client: Client, settings: Any, change: Any, more: dict[str, str], sentence: str
):
    settings.ARENA_SSO = [issuer.settings(**{name: value.format(url=issuer.url) for name, value in more.items()})]
    issuer.document |= change
    assert sentence in admin_client.post(PAGE).text


def test_check_names_the_address_that_answered(issuer: FakeIssuer, admin_client: Client, settings: Any):
    inside = issuer.url.replace("127.0.0.1", "localhost")
    settings.ARENA_SSO = [issuer.settings(internal_url=inside)]
    issuer.replies["/.well-known/openid-configuration"] = (404, b"{}")
    assert f"HTTP 404: {inside}/.well-known/openid-configuration" in admin_client.post(PAGE).text

"""An issuer whose addresses are trusted makes accounts, and takes none over."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from accounts.models import User
from tests import make
from tests.accounts.single_sign_on.browser import sign_in, user_of
from tests.fake_issuer import FakeIssuer

pytestmark = pytest.mark.django_db
CONNECT = "/accounts/connections/company/connect/"
PASSWORD = "a-good-password"


@pytest.fixture(autouse=True, params=[True, False], ids=["domains", "no domains"])
def _trusted(request: Any, issuer: FakeIssuer, settings: Any) -> None:
    domains = ["example.org"] if request.param else []
    settings.ARENA_SSO = [issuer.settings(trusts_addresses=True, domains=domains)]


@pytest.fixture(params=[None, False, "false"])
def flag(request: Any, issuer: FakeIssuer) -> Any:
    issuer.changes = {"email_verified": request.param}
    return request.param


def test_new_account_has_the_address(issuer: FakeIssuer, client: Client, flag: Any, settings: Any):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    sign_in(client, issuer)
    assert user_of(client) == User.objects.get().pk
    assert list(EmailAddress.objects.values_list("email", "verified")) == [("ada@example.org", True)]
    again = Client()
    sign_in(again, issuer)
    assert user_of(again) == user_of(client)


@pytest.mark.parametrize("kind", ["first", "second, unconfirmed"])
def test_existing_account_is_connected_with_its_password_only(issuer: FakeIssuer, client: Client, flag: Any, kind: str):
    user = make.user("ada@example.org" if kind == "first" else "ada@home.example")
    EmailAddress.objects.get_or_create(user=user, email="ada@example.org", defaults={"verified": False})
    assert sign_in(client, issuer)["Location"] == "/accounts/login/"
    assert (user_of(client), SocialAccount.objects.count(), User.objects.count()) == (None, 0, 1)
    client.post("/accounts/login/", {"login": "ada@example.org", "password": "wrong"})
    assert (user_of(client), SocialAccount.objects.count()) == (None, 0)
    client.post("/accounts/login/", {"login": "ada@example.org", "password": PASSWORD})
    assert (user_of(client), SocialAccount.objects.get().user) == (user.pk, user)


def test_prepared_account_is_not_connected(issuer: FakeIssuer, client: Client, flag: Any):
    """Its address is all that is known of its person, and the issuer does not vouch for it."""
    User.objects.create_user("ada@example.org", None, is_staff=True)
    response = sign_in(client, issuer)
    assert (user_of(client), SocialAccount.objects.count()) == (None, 0)
    assert response.status_code == 409 or response["Location"] == "/accounts/login/"


def test_address_of_another_issuers_domain_is_refused(issuer: FakeIssuer, client: Client, flag: Any, settings: Any):
    other = {"key": "other", "url": "https://other.example", "client_id": "arena", "domains": ["example.org"]}
    settings.ARENA_SSO = [issuer.settings(trusts_addresses=True, domains=[]), other]
    assert sign_in(client, issuer).context["error"].code == "address_of_another_domain"
    assert not User.objects.exists()


def test_connecting_gives_no_address(issuer: FakeIssuer, client: Client, flag: Any):
    user = make.user("someone@home.example")
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    sign_in(client, issuer, CONNECT)
    assert SocialAccount.objects.get().user == user
    assert not EmailAddress.objects.filter(email="ada@example.org").exists()

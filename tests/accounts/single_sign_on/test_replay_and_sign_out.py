"""Used callbacks and codes, and sign-outs by the issuer."""

import time
from typing import Any

import pytest
from django.test import Client

from accounts.models import SignIn
from tests import make
from tests.accounts.single_sign_on.browser import leave, sign_in, user_of
from tests.fake_issuer import EVENT, FakeIssuer

pytestmark = pytest.mark.django_db
SIGN_OUT = "/accounts/sso/company/sign-out/"


def sign_out(issuer: FakeIssuer, **changes: Any) -> tuple[int, str]:
    response = Client(enforce_csrf_checks=True).post(SIGN_OUT, {"logout_token": issuer.logout_token(**changes)})
    assert "no-store" in response["Cache-Control"]
    return response.status_code, response.json()["error_description"] if response.content else ""


@pytest.fixture
def signed_in(issuer: FakeIssuer) -> Client:
    browser = Client()
    sign_in(browser, issuer)
    assert user_of(browser) is not None
    return browser


def test_used_callback_is_refused(issuer: FakeIssuer, client: Client):
    back = issuer.authorize(leave(client))
    client.get(back)
    client.post("/accounts/logout/")
    again = client.get(back)
    assert (again.context["error"].code, issuer.requests["/token"]) == ("sign_on_state", 1)
    assert user_of(client) is None


def test_used_code_is_refused(issuer: FakeIssuer, signed_in: Client, client: Client):
    used = issuer.authorize(leave(client))
    client.get(used)
    code = used.partition("code=")[2].partition("&")[0]
    other = Client()
    fresh = issuer.authorize(leave(other))
    response = other.get(fresh.replace(fresh.partition("code=")[2].partition("&")[0], code))
    assert (response.status_code, response.context["error"].code) == (401, "sign_on_code")
    assert user_of(other) is None


def test_issuer_signs_one_session_out(issuer: FakeIssuer, signed_in: Client):
    issuer.changes = {"sid": "session-2"}
    other = Client()
    sign_in(other, issuer)
    assert sign_out(issuer, sid="session-1") == (200, "")
    assert (user_of(signed_in), user_of(other) is None) == (None, False)


def test_issuer_signs_a_person_out_everywhere_it_signed_in(issuer: FakeIssuer, signed_in: Client, settings: Any):
    user = SignIn.objects.get().user
    settings.ARENA_SSO = [issuer.settings(domains=[])]
    user.set_password("a-good-password")
    user.save()
    again, by_password, stranger = Client(), Client(), make.browser(make.member())
    sign_in(again, issuer)
    by_password.post("/accounts/login/", {"login": user.email, "password": "a-good-password"})
    assert sign_out(issuer) == (200, "")
    assert (user_of(again), user_of(by_password), user_of(stranger) is None) == (None, user.pk, False)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"iss": "https://elsewhere.example"}, "issuer"),
        ({"aud": "another-client"}, "audience"),
        ({"iat": time.time() - 3600}, "expired"),
        ({"iat": time.time() + 3600}, "not_yet_valid"),
        ({"exp": time.time() - 3600}, "expired"),
        ({"iat": f"{time.time() - 3600:.0f}"}, "expired"),
        ({"iat": None}, "incomplete"),
        ({"exp": None}, "incomplete"),
        ({"jti": None}, "incomplete"),
        ({"jti": "j" * 10_000}, "subject"),
        ({"events": None}, "incomplete"),
        ({"events": {}}, "events"),
        ({"events": [EVENT]}, "events"),
        ({"nonce": "a-nonce"}, "nonce"),
        ({"sub": None}, "subject"),
        ({"sub": None, "sid": ["session-1"]}, "subject"),
    ],
)
def test_wrong_logout_token_is_refused(issuer: FakeIssuer, signed_in: Client, changes: dict[str, Any], code: str):
    assert sign_out(issuer, **changes) == (400, f"id_token_{code}")
    assert user_of(signed_in) is not None


def test_unsigned_logout_token_is_refused(issuer: FakeIssuer, signed_in: Client):
    issuer.sign = lambda claims: issuer.signed(claims, key=issuer.OTHER_KEY)
    assert sign_out(issuer) == (400, "id_token_signature")
    for token in ({}, {"logout_token": ""}, {"logout_token": "e30.e30."}):
        assert Client().post(SIGN_OUT, token).status_code == 400
    assert Client().get(SIGN_OUT).status_code == 405
    assert user_of(signed_in) is not None


def test_used_logout_token_is_refused(issuer: FakeIssuer, signed_in: Client):
    assert sign_out(issuer, jti="once") == (200, "")
    sign_in(signed_in, issuer)
    assert sign_out(issuer, jti="once") == (400, "id_token_replay")
    assert user_of(signed_in) is not None


def test_session_survives_a_new_password_for_the_sign_out(issuer: FakeIssuer, signed_in: Client, settings: Any):
    """A new password gives the browser a new session key, by which the issuer must still find it."""
    settings.ARENA_SSO = [issuer.settings(domains=[])]
    new = {"password1": "another-password-7", "password2": "another-password-7"}
    signed_in.post("/accounts/password/set/", new)
    signed_in.get("/accounts/browsers/")
    assert user_of(signed_in) is not None
    assert sign_out(issuer, sid="session-1") == (200, "")
    assert user_of(signed_in) is None

"""`me/` and `me/tokens/`, and the page that does the same without a line of script."""

import re
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actions import MAX_TOKENS
from accounts.models import ApiToken, IdempotencyKey, Scope, User
from tests import make

pytestmark = pytest.mark.django_db
ME, TOKENS, PAGE = "/api/v1/me/", "/api/v1/me/tokens/", "/accounts/tokens/"
ASKED = {"name": "nightly", "scopes": ["vote", "read"]}


@pytest.fixture
def member() -> User:
    return make.user("someone@example.org")


@pytest.fixture
def browser(member: User, client: Client) -> Client:
    client.force_login(member)
    return client


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_a_visitor_is_told_that_nobody_is_signed_in(client: Client):
    nobody = {"kind": "visitor", "email": None, "joined_at": None, "is_staff": False, "scopes": None}
    assert client.get(ME).json() == nobody


def test_a_token_is_told_whom_it_acts_for_and_how_far(client: Client, member: User):
    _, secret = ApiToken.issue(user=member, name="t", scopes=[Scope.VOTE, Scope.READ])
    said = client.get(ME, headers=bearer(secret)).json()
    assert (said["kind"], said["email"], said["scopes"]) == ("member", "someone@example.org", ["read", "vote"])
    assert datetime.fromisoformat(said["joined_at"]) == member.date_joined


def test_a_token_made_in_the_browser_is_shown_once_and_works(browser: Client):
    made = browser.post(TOKENS, ASKED, "application/json")
    assert made.status_code == 201
    secret = made.json()["token"]
    assert made.json() | {"token": ""} == {
        "id": ApiToken.objects.get().public_id,
        "name": "nightly",
        "last_four": secret[-4:],
        "scopes": ["read", "vote"],
        "created_at": made.json()["created_at"],
        "expires_at": None,
        "last_used_at": None,
        "token": "",
    }
    assert Client().get(ME, headers=bearer(secret)).json()["scopes"] == ["read", "vote"]
    listed = browser.get(TOKENS).json()
    assert (listed["count"], [row["name"] for row in listed["results"]]) == (1, ["nightly"])
    assert secret not in browser.get(TOKENS).text


def test_repeating_the_request_makes_no_second_token_and_keeps_no_copy_of_the_first(browser: Client):
    first, second = (
        browser.post(TOKENS, ASKED, "application/json", headers={"Idempotency-Key": "k"}) for _ in range(2)
    )
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json() | {"token": None}
    assert ApiToken.objects.count() == 1
    assert first.json()["token"] not in str(IdempotencyKey.objects.get().body)


def test_a_revoked_token_stops_at_once_and_is_gone(browser: Client):
    made = browser.post(TOKENS, ASKED, "application/json").json()
    assert browser.delete(f"{TOKENS}{made['id']}/").status_code == 204
    assert Client().get(ME, headers=bearer(made["token"])).status_code == 401
    assert browser.get(TOKENS).json()["results"] == []
    assert browser.delete(f"{TOKENS}{made['id']}/").status_code == 404


def test_no_token_can_make_see_or_revoke_tokens(client: Client, member: User):
    """Whoever finds one must not be able to make himself another that outlives it."""
    row, secret = ApiToken.issue(user=member, name="t", scopes=list(Scope))
    asked = [
        client.get(TOKENS, headers=bearer(secret)),
        client.post(TOKENS, ASKED, "application/json", headers=bearer(secret)),
        client.delete(f"{TOKENS}{row.public_id}/", headers=bearer(secret)),
    ]
    assert [(response.status_code, response.json()["code"]) for response in asked] == [(403, "permission_denied")] * 3
    assert ApiToken.objects.usable().count() == 1


def test_visitors_have_no_tokens(client: Client):
    assert client.get(TOKENS).status_code == 401
    assert client.post(TOKENS, ASKED, "application/json").status_code == 401


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "n" * 101}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["fly"]}, "scopes"),
        ({"scopes": "read"}, "scopes"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "soon"}, "expires_at"),
    ],
)
def test_a_token_that_cannot_be_is_explained(browser: Client, wrong: dict[str, object], field: str):
    refused = browser.post(TOKENS, ASKED | wrong, "application/json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, [field])
    assert not ApiToken.objects.exists()


def test_there_is_a_number_of_tokens_that_is_enough(browser: Client, member: User):
    for _ in range(MAX_TOKENS):
        ApiToken.issue(user=member, name="t", scopes=[Scope.READ])
    refused = browser.post(TOKENS, ASKED, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_tokens")
    ApiToken.objects.first().revoke()
    assert browser.post(TOKENS, ASKED, "application/json").status_code == 201


def test_the_page_shows_a_new_token_once(browser: Client):
    made = browser.post(PAGE, {"name": "script", "scopes": ["read"], "days": "30"})
    assert made.status_code == 201
    assert "no-store" in made["Cache-Control"]
    [secret] = re.findall(r'value="(arena_[^"]+)"', made.text)
    assert Client().get(ME, headers=bearer(secret)).status_code == 200
    row = ApiToken.objects.get()
    assert timedelta(days=29) < row.expires_at - timezone.now() <= timedelta(days=30)
    again = browser.get(PAGE).text
    assert "script" in again
    assert secret not in again


def test_what_the_page_cannot_do_is_said_beside_the_field(browser: Client):
    refused = browser.post(PAGE, {"name": "script", "days": "30"})
    assert refused.status_code == 422
    assert "errorlist" in refused.text
    assert not ApiToken.objects.exists()


def test_the_page_revokes(browser: Client, member: User):
    row, secret = ApiToken.issue(user=member, name="old", scopes=[Scope.READ])
    revoked = browser.post(f"{PAGE}{row.public_id}/revoke/", follow=True)
    assert "is revoked" in revoked.text
    assert Client().get(ME, headers=bearer(secret)).status_code == 401


def test_more_tokens_are_no_more_queries(browser: Client, member: User):
    def queries() -> int:
        with CaptureQueriesContext(connection) as made:
            browser.get(PAGE)
            browser.get(TOKENS)
        return len(made)

    ApiToken.issue(user=member, name="one", scopes=[Scope.READ])
    few = queries()
    for _ in range(5):
        ApiToken.issue(user=member, name="more", scopes=[Scope.READ])
    assert queries() == few


def test_whoever_is_not_signed_in_is_sent_to_sign_in(client: Client):
    assert client.get(PAGE)["Location"] == f"/accounts/login/?next={PAGE}"

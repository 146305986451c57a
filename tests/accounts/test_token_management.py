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
NEW_TOKEN = {"name": "nightly", "scopes": ["vote", "read"]}


@pytest.fixture
def member() -> User:
    return make.user("someone@example.org")


@pytest.fixture
def browser(member: User, client: Client) -> Client:
    client.force_login(member)
    return client


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_me_describes_a_visitor(client: Client):
    visitor = {"kind": "visitor", "email": None, "joined_at": None, "is_staff": False, "scopes": None}
    me = client.get(ME).json()
    assert {name: me[name] for name in me.keys() - {"limits", "today"}} == visitor


def test_me_describes_the_member_and_scopes_of_a_token(client: Client, member: User):
    secret = make.token(member, scopes=[Scope.VOTE, Scope.READ])
    me = client.get(ME, headers=bearer(secret)).json()
    assert (me["kind"], me["email"], me["scopes"]) == ("member", "someone@example.org", ["read", "vote"])
    assert datetime.fromisoformat(me["joined_at"]) == member.date_joined


def test_new_token_is_shown_once_and_works(browser: Client):
    created = browser.post(TOKENS, NEW_TOKEN, "application/json")
    assert created.status_code == 201
    secret = created.json()["token"]
    assert created.json() | {"token": ""} == {
        "id": ApiToken.objects.get().public_id,
        "name": "nightly",
        "last_four": secret[-4:],
        "scopes": ["read", "vote"],
        "keeps_texts": False,
        "caches_answers": False,
        "created_at": created.json()["created_at"],
        "expires_at": None,
        "last_used_at": None,
        "usage": {"days": 30, "requests": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": "0"},
        "token": "",
    }
    assert Client().get(ME, headers=bearer(secret)).json()["scopes"] == ["read", "vote"]
    listed = browser.get(TOKENS).json()
    assert (listed["count"], [row["name"] for row in listed["results"]]) == (1, ["nightly"])
    assert secret not in browser.get(TOKENS).text


def test_repeated_request_creates_one_token_and_stores_no_secret(browser: Client):
    first, second = (
        browser.post(TOKENS, NEW_TOKEN, "application/json", headers={"Idempotency-Key": "k"}) for _ in range(2)
    )
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json() | {"token": None}
    assert ApiToken.objects.count() == 1
    assert first.json()["token"] not in str(IdempotencyKey.objects.get().body)


def test_revoked_token_stops_working_and_is_unlisted(browser: Client):
    made = browser.post(TOKENS, NEW_TOKEN, "application/json").json()
    assert browser.delete(f"{TOKENS}{made['id']}/").status_code == 204
    assert Client().get(ME, headers=bearer(made["token"])).status_code == 401
    assert browser.get(TOKENS).json()["results"] == []
    assert browser.delete(f"{TOKENS}{made['id']}/").status_code == 404


def test_token_cannot_manage_tokens(client: Client, member: User):
    row, secret = ApiToken.issue(user=member, name="t", scopes=list(Scope))
    responses = [
        client.get(TOKENS, headers=bearer(secret)),
        client.post(TOKENS, NEW_TOKEN, "application/json", headers=bearer(secret)),
        client.delete(f"{TOKENS}{row.public_id}/", headers=bearer(secret)),
    ]
    assert [(response.status_code, response.json()["code"]) for response in responses] == [
        (403, "permission_denied")
    ] * 3
    assert ApiToken.objects.usable().count() == 1


def test_visitor_cannot_manage_tokens(client: Client):
    assert client.get(TOKENS).status_code == 401
    assert client.post(TOKENS, NEW_TOKEN, "application/json").status_code == 401


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
def test_invalid_token_fields_return_field_errors(browser: Client, wrong: dict[str, object], field: str):
    refused = browser.post(TOKENS, NEW_TOKEN | wrong, "application/json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, [field])
    assert not ApiToken.objects.exists()


def test_number_of_tokens_is_limited(browser: Client, member: User):
    for _ in range(MAX_TOKENS):
        ApiToken.issue(user=member, name="t", scopes=[Scope.READ])
    refused = browser.post(TOKENS, NEW_TOKEN, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_tokens")
    ApiToken.objects.first().revoke()
    assert browser.post(TOKENS, NEW_TOKEN, "application/json").status_code == 201


def test_page_shows_new_token_once(browser: Client):
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


def test_page_shows_field_errors(browser: Client):
    refused = browser.post(PAGE, {"name": "script", "days": "30"})
    assert refused.status_code == 422
    assert "errorlist" in refused.text
    assert not ApiToken.objects.exists()


def test_page_revokes_token(browser: Client, member: User):
    row, secret = ApiToken.issue(user=member, name="old", scopes=[Scope.READ])
    revoked = browser.post(f"{PAGE}{row.public_id}/revoke/", follow=True)
    assert "is revoked" in revoked.text
    assert Client().get(ME, headers=bearer(secret)).status_code == 401


def test_query_count_is_independent_of_number_of_tokens(browser: Client, member: User):
    def queries() -> int:
        with CaptureQueriesContext(connection) as made:
            browser.get(PAGE)
            browser.get(TOKENS)
        return len(made)

    ApiToken.issue(user=member, name="one", scopes=[Scope.READ])
    browser.get(TOKENS)  # reads the limits
    few = queries()
    for _ in range(5):
        ApiToken.issue(user=member, name="more", scopes=[Scope.READ])
    assert queries() == few


def test_token_page_redirects_visitor_to_login(client: Client):
    assert client.get(PAGE)["Location"] == f"/accounts/login/?next={PAGE}"

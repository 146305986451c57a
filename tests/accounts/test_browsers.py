from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session as BrowserSession
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditEntry, SignIn, User
from accounts.sign_in.sessions import browser_and_system
from tests import make

pytestmark = pytest.mark.django_db
API = "/api/v1/me/browsers/"
PAGE, OTHERS, PASSWORD = "/accounts/browsers/", "/accounts/browsers/others/sign-out/", "a-good-password"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36"


@pytest.fixture
def member() -> User:
    return make.user("someone@example.org")


def sign_in(user: User, agent: str = FIREFOX, password: str = PASSWORD) -> Client:
    client = Client(headers={"User-Agent": agent}, REMOTE_ADDR="203.0.113.77")
    assert client.post("/accounts/login/", {"login": user.email, "password": password}).status_code == 302
    return client


def is_signed_in(client: Client) -> bool:
    return client.get(PAGE).status_code == 200


def sign_in_row(client: Client) -> SignIn:
    return SignIn.objects.get(session=client.session.session_key)


def names(client: Client) -> list[str]:
    return [str(row) for row in client.get(PAGE).context["browsers"]]


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, ("Firefox", "Linux")),
        (CHROME, ("Chrome", "Windows")),
        (CHROME + " Edg/142.0", ("Edge", "Windows")),
        (CHROME + " OPR/124.0", ("Opera", "Windows")),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/142.0 Mobile Safari/537.36", ("Chrome", "Android")),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", ("Safari", "iOS")),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) CriOS/142.0 Safari/604.1", ("Chrome", "iOS")),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.0 Safari/605.1", ("Safari", "macOS")),
        ("curl/8.9", ("", "")),
        ("", ("", "")),
    ],
)
def test_user_agent_gives_browser_and_system(agent: str, words: tuple[str, str]):
    assert browser_and_system(agent) == words


def test_page_lists_browsers_and_marks_current_one(member: User):
    sign_in(make.user(), "curl/8.9")
    other, mine = sign_in(member, CHROME), sign_in(member)
    page = mine.get(PAGE)
    assert names(mine) == ["Firefox on Linux", "Chrome on Windows"]
    assert page.text.count("this one") == 1
    assert sign_in_row(other).public_id in page.text
    assert sign_in_row(mine).public_id not in page.text
    assert "last seen within the hour" in page.text


def test_sign_in_row_holds_no_address_or_user_agent(member: User):
    sign_in(member)
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_signin")
        [stored] = cursor.fetchall()
    assert [word for word in ("203.0.113", "127.0.0.1", "Mozilla", "145.0") if word in str(stored)] == []
    assert {field.name for field in SignIn._meta.fields} == {
        "id", "public_id", "user", "session", "browser", "system", "signed_in_at", "last_seen_at",
        "issuer", "issuer_session",
    }  # fmt: skip


def test_one_other_browser_is_signed_out(member: User):
    mine, lost, kept = sign_in(member), sign_in(member, CHROME), sign_in(member, "curl/8.9")
    assert mine.post(f"{PAGE}{sign_in_row(lost).public_id}/sign-out/")["Location"] == PAGE
    assert [is_signed_in(client) for client in (mine, lost, kept)] == [True, False, True]
    assert sorted(names(mine)) == ["A browser of an unknown kind", "Firefox on Linux"]
    assert not AuditEntry.objects.exists()


def test_current_session_cannot_be_revoked_from_list(member: User):
    mine = sign_in(member)
    assert mine.post(f"{PAGE}{sign_in_row(mine).public_id}/sign-out/").status_code == 404
    assert is_signed_in(mine)


def test_all_other_browsers_are_signed_out(member: User):
    mine, others, stranger = sign_in(member), [sign_in(member, CHROME) for _ in range(3)], sign_in(make.user())
    assert "3 other browsers are signed out." in mine.post(OTHERS, follow=True).text
    assert [is_signed_in(client) for client in (mine, *others, stranger)] == [True, False, False, False, True]
    assert "Sign out all others" not in mine.get(PAGE).text


def test_api_lists_and_signs_out_browsers(member: User):
    mine, lost, other = sign_in(member), sign_in(member, CHROME), sign_in(member, "curl/8.9")
    listed = mine.get(API).json()
    assert listed["count"] == 3
    rows = {row["id"]: (row["browser"], row["system"], row["is_this_one"]) for row in listed["results"]}
    assert rows == {
        sign_in_row(mine).public_id: ("Firefox", "Linux", True),
        sign_in_row(lost).public_id: ("Chrome", "Windows", False),
        sign_in_row(other).public_id: ("", "", False),
    }
    assert mine.delete(f"{API}{sign_in_row(lost).public_id}/").status_code == 204
    assert [is_signed_in(client) for client in (mine, lost, other)] == [True, False, True]
    refused = mine.delete(f"{API}{sign_in_row(mine).public_id}/")
    assert (refused.status_code, refused.json()["code"]) == (409, "this_browser")
    for _ in range(2):
        assert mine.delete(f"{API}others/").status_code == 204
    assert [is_signed_in(client) for client in (mine, other)] == [True, False]


def test_token_cannot_list_or_sign_out_browsers(member: User):
    sign_in(member)
    program = make.api(member)
    answers = [
        program.get(API),
        program.delete(f"{API}others/"),
        program.delete(f"{API}{SignIn.objects.get().public_id}/"),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert Client().get(API).status_code == 401
    assert SignIn.objects.count() == 1


def test_sign_out_by_staff_is_audited():
    moderator = make.user(is_staff=True)
    mine, _other = sign_in(moderator), sign_in(moderator)
    mine.post(OTHERS)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject, entry.details) == ("sign out", f"user {moderator.pk}", {"browsers": 1})


def test_new_password_signs_out_other_browsers(member: User):
    mine, other = sign_in(member), sign_in(member, CHROME)
    new = {"oldpassword": PASSWORD, "password1": "another-good-one", "password2": "another-good-one"}
    assert mine.post("/accounts/password/change/", new).status_code == 302
    assert names(mine) == ["Firefox on Linux"]
    assert not is_signed_in(other)
    assert is_signed_in(mine)


def test_signing_out_deletes_the_row(member: User):
    client = sign_in(member)
    client.post("/accounts/logout/")
    assert not SignIn.objects.exists()


def test_expired_session_is_not_listed(member: User):
    old, mine = sign_in(member, CHROME), sign_in(member)
    BrowserSession.objects.filter(pk=old.session.session_key).update(expire_date=timezone.now())
    assert names(mine) == ["Firefox on Linux"]


def queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as made:
        client.get(path)
    return len(made)


def age_last_seen(client: Client, hours: int) -> None:
    SignIn.objects.update(last_seen_at=timezone.now() - timedelta(hours=hours))
    session = client.session
    session["sign_in_noted"] = (session.session_key[:8], (timezone.now() - timedelta(hours=hours)).timestamp())
    session.save()


@pytest.mark.usefixtures("nothing_is_forgotten")
def test_last_seen_is_updated_hourly_by_pages_only(member: User):
    client = sign_in(member)
    for path in (PAGE, "/api/v1/me/"):
        client.get(path)
    usual = queries(client, PAGE)
    age_last_seen(client, hours=3)
    api = queries(client, "/api/v1/me/")
    assert "last seen 3" in client.get(PAGE).text  # updated after the response
    assert "last seen within the hour" in client.get(PAGE).text
    assert queries(client, PAGE) == usual
    assert queries(client, "/api/v1/me/") == api


def test_session_without_row_is_recorded_at_next_request(member: User):
    client = sign_in(member)
    SignIn.objects.all().delete()
    session = client.session
    del session["sign_in_noted"]
    session.save()
    assert names(client) == []
    assert names(client) == ["Firefox on Linux"]


def test_query_count_is_independent_of_number_of_browsers(member: User):
    client = sign_in(member)
    one = queries(client, PAGE)
    for _ in range(4):
        sign_in(member, CHROME)
    assert queries(client, PAGE) == one


def test_export_lists_browsers(member: User):
    [row] = sign_in(member).get("/accounts/data/export/").json()["browsers"]
    assert (row["browser"], row["system"], sorted(row)) == (
        "Firefox", "Linux", ["browser", "last_seen_at", "signed_in_at", "system"],
    )  # fmt: skip


def test_deleted_account_is_signed_out_everywhere(member: User):
    other, mine = sign_in(member, CHROME), sign_in(member)
    mine.post("/accounts/reauthenticate/", {"password": PASSWORD})
    mine.post("/accounts/delete/", {"email": member.email})
    assert (SignIn.objects.exists(), is_signed_in(other)) == (False, False)
    assert not BrowserSession.objects.filter(pk=other.session.session_key).exists()


def test_admin_shows_browsers_and_signs_member_out(member: User):
    theirs = sign_in(member, CHROME)
    admin = sign_in(make.user(is_staff=True, is_superuser=True))
    page = admin.get(f"/admin/accounts/user/{member.pk}/change/").text
    assert ("Chrome on Windows" in page, theirs.session.session_key in page) == (True, False)
    admin.post("/admin/accounts/user/", {"action": "sign_out_everywhere", "_selected_action": [member.pk]})
    assert (is_signed_in(theirs), is_signed_in(admin)) == (False, True)
    assert AuditEntry.objects.get(action="sign out").subject == f"user {member.pk}"

import pytest
from django.conf import settings as site
from django.test import Client

from accounts.limiting import chosen
from accounts.models import AuditEntry, Limit, User
from battles import actions
from common.errors import TooManyRequests
from tests import make

pytestmark = pytest.mark.django_db
PAGE = "/admin/accounts/limit/"


@pytest.fixture
def admin(client: Client, administrator: User) -> Client:
    client.force_login(administrator)
    return client


def add(admin: Client, limit: str, rate: str) -> None:
    assert admin.post(f"{PAGE}add/", {"limit": limit, "rate": rate}).status_code == 302


def start_battles(actor: object, number: int) -> int:
    for started in range(number):
        try:
            actions.start_session(actor=actor, prompt="hello")
        except TooManyRequests:
            return started
    return number


def rates() -> dict[tuple[str, str], str]:
    return {(limit.action, limit.who): limit.rate for limit in Limit.objects.all()}


def test_add_form_offers_each_limit_with_its_default(admin: Client):
    page = admin.get(f"{PAGE}add/").text
    for (action, who), rate in site.ARENA_LIMITS.items():
        assert f'<option value="{action} {who}">' in page
        assert f": {rate}</option>" in page


def test_limit_holds_at_once_until_its_row_is_deleted(admin: Client):
    for _ in range(2):
        make.model()
    visitor = make.visitor()
    add(admin, "battle visitor", "2/hour,100/day")
    assert start_battles(visitor, 4) == 2
    assert start_battles(make.member(), 4) == 4
    page = f"{PAGE}{Limit.objects.get().pk}"
    admin.post(f"{page}/change/", {"rate": "off"})
    assert start_battles(visitor, 4) == 4
    admin.post(f"{page}/delete/", {"post": "yes"})
    assert not chosen.in_force()


def test_limit_list_shows_rate_and_default(admin: Client):
    add(admin, "battle visitor", "2/hour")
    page = admin.get(PAGE).text
    assert "new battles, a visitor" in page
    assert "2/hour" in page
    assert site.ARENA_LIMITS["battle", "visitor"] in page


def test_changed_limit_keeps_its_kind(admin: Client):
    add(admin, "battle visitor", "2/hour")
    page = f"{PAGE}{Limit.objects.get().pk}/change/"
    assert 'value="2/hour"' in admin.get(page).text
    admin.post(page, {"limit": "vote member", "rate": "3/hour"})
    assert rates() == {("battle", "visitor"): "3/hour"}


def test_limit_added_twice_has_the_last_rate(admin: Client):
    add(admin, "vote member", "9/hour")
    add(admin, "vote member", "5/hour")
    assert rates() == {("vote", "member"): "5/hour"}


def test_limit_changes_are_audited(admin: Client, administrator: User):
    add(admin, "vote member", "9/hour")
    add(admin, "vote member", "5/hour")
    page = f"{PAGE}{Limit.objects.get().pk}"
    admin.post(f"{page}/change/", {"rate": "off"})
    admin.post(f"{page}/delete/", {"post": "yes"})
    entries = AuditEntry.objects.order_by("pk").values_list("user", "action", "subject", "details")
    assert list(entries) == [
        (administrator.pk, "add limit", "vote member", {"rate": "9/hour"}),
        (administrator.pk, "add limit", "vote member", {"rate": "5/hour"}),
        (administrator.pk, "change limit", "vote member", {"rate": "off"}),
        (administrator.pk, "delete limit", "vote member", {}),
    ]


@pytest.mark.parametrize("rate", ["many", "30", "0/hour", "30/fortnight", "-1/hour", "1/999999999999 years"])
def test_invalid_rate_is_refused_and_shown_again(admin: Client, rate: str):
    answer = admin.post(f"{PAGE}add/", {"limit": "battle visitor", "rate": rate})
    assert f"“{rate}” is no limit." in answer.text
    assert f'value="{rate}"' in answer.text
    assert not Limit.objects.exists()


def test_unknown_limit_is_refused(admin: Client):
    admin.post(f"{PAGE}add/", {"limit": "signup visitor", "rate": "1/hour"})
    assert not Limit.objects.exists()


def test_moderator_cannot_change_limits(at_work: Client):
    assert at_work.get(PAGE).status_code == 403
    assert at_work.post(f"{PAGE}add/", {"limit": "battle visitor", "rate": "off"}).status_code == 403
    assert not Limit.objects.exists()


@pytest.mark.usefixtures("nothing_is_forgotten")
def test_limits_are_read_once_within_their_ttl(django_assert_num_queries):
    with django_assert_num_queries(1):
        for _ in range(3):
            chosen.in_force()

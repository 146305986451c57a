"""Administrators change how often people may do something, on one page and without a restart."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.conf import settings as site
from django.db import connection
from django.test import Client

from accounts import chosen_limits
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


def begin_battles(actor: object, number: int) -> int:
    """How many of them begin."""
    for begun in range(number):
        try:
            actions.start_session(actor=actor, prompt="hello")
        except TooManyRequests:
            return begun
    return number


def test_every_limit_there_is_has_a_field_that_shows_what_is_set(admin: Client):
    page = admin.get(PAGE).text
    for (action, who), rate in site.ARENA_LIMITS.items():
        assert f'name="{action}-{who}"' in page
        assert f'placeholder="{rate}"' in page
        assert f"ARENA_LIMIT_{action}_{who}".upper() in page


def test_a_limit_that_is_chosen_holds_at_once_and_until_the_field_is_empty_again(admin: Client):
    for _ in range(2):
        make.model()
    visitor = make.visitor()
    assert admin.post(PAGE, {"battle-visitor": "2/hour,100/day"}).status_code == 302
    assert begin_battles(visitor, 4) == 2
    assert 'value="2/hour,100/day"' in admin.get(PAGE).text
    assert begin_battles(make.member(), 4) == 4
    admin.post(PAGE, {"battle-visitor": "off"})
    assert begin_battles(visitor, 4) == 4
    admin.post(PAGE, {"battle-visitor": ""})
    assert not Limit.objects.exists()


def fields(page: str) -> dict[str, str]:
    """What a browser would send of the form."""
    found = dict(
        re.findall(r'<input type="(?:text|hidden)" name="((?:shown-)?[a-z]+-[a-z0-9]+)"(?: value="([^"]*)")?', page)
    )
    assert len(found) == 2 * len(site.ARENA_LIMITS)
    return found


def rates() -> dict[tuple[str, str], str]:
    return {(limit.action, limit.who): limit.rate for limit in Limit.objects.all()}


def test_a_page_that_was_open_for_long_changes_only_what_was_changed_on_it(admin: Client):
    admin.post(PAGE, {"upload-member": "7/hour"})
    old = fields(admin.get(PAGE).text)
    admin.post(PAGE, {"battle-visitor": "2/hour", "upload-member": ""})
    assert admin.post(PAGE, old | {"vote-member": "9/hour"}).status_code == 302
    assert rates() == {("battle", "visitor"): "2/hour", ("vote", "member"): "9/hour"}
    changed = AuditEntry.objects.filter(action="change limit").order_by("pk")
    assert [entry.subject for entry in changed][-1:] == ["vote member"]


def test_who_changes_what_another_changed_meanwhile_is_told_and_decides(admin: Client):
    old = fields(admin.get(PAGE).text)
    admin.post(PAGE, {"battle-visitor": "2/hour", "turn-visitor": "3/hour"})
    refused = admin.post(PAGE, old | {"battle-visitor": "5/hour", "vote-member": "9/hour"})
    assert refused.status_code == 422
    assert "Meanwhile somebody else chose “2/hour” here." in refused.text
    assert rates() == {("battle", "visitor"): "2/hour", ("turn", "visitor"): "3/hour"}
    again = fields(refused.text)
    assert (again["battle-visitor"], again["turn-visitor"]) == ("5/hour", "3/hour")
    assert admin.post(PAGE, again).status_code == 302
    assert rates() == {("battle", "visitor"): "5/hour", ("turn", "visitor"): "3/hour", ("vote", "member"): "9/hour"}
    assert admin.post(PAGE, old | {"battle-visitor": "5/hour"}).status_code == 302  # both meant the same


def test_each_change_is_written_down_and_what_stays_is_not(admin: Client, administrator: User):
    admin.post(PAGE, {"vote-member": "9/hour", "signup-network": "100/hour"})
    admin.post(PAGE, {"vote-member": "9/hour", "signup-network": ""})
    kept = AuditEntry.objects.order_by("pk").values_list("user", "action", "subject", "details")
    assert list(kept) == [
        (administrator.pk, "change limit", "vote member", {"changed": {"rate": ["", "9/hour"]}}),
        (administrator.pk, "change limit", "signup network", {"changed": {"rate": ["", "100/hour"]}}),
        (administrator.pk, "change limit", "signup network", {"changed": {"rate": ["100/hour", ""]}}),
    ]


@pytest.mark.parametrize("rate", ["many", "30", "0/hour", "30/fortnight", "-1/hour", "1/999999999999 years"])
def test_what_is_no_limit_is_refused_beside_its_field_and_nothing_is_changed(admin: Client, rate: str):
    answer = admin.post(PAGE, {"battle-visitor": rate, "vote-visitor": "5/hour"})
    assert (answer.status_code, f"“{rate}” is no limit." in answer.text) == (422, True)
    assert f'value="{rate}"' in answer.text
    assert not Limit.objects.exists()


def test_staff_without_the_right_changes_no_limit(at_work: Client):
    assert at_work.get(PAGE).status_code == 403
    assert at_work.post(PAGE, {"battle-visitor": "off"}).status_code == 403
    assert not Limit.objects.exists()


@pytest.mark.usefixtures("nothing_is_forgotten")
def test_limits_are_looked_up_once_for_everybody_who_is_counted_meanwhile(django_assert_num_queries):
    with django_assert_num_queries(1):
        for _ in range(3):
            chosen_limits.in_force()


@pytest.mark.django_db(transaction=True)
def test_administrators_who_choose_the_same_limit_at_once_are_both_written_down(administrator: User):
    def choose(rate: str) -> int:
        try:
            return chosen_limits.choose({("vote", "member"): rate}, by=administrator)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(choose, [f"{number}/hour" for number in range(1, 17)])) == [1] * 16
    changes = [entry.details["changed"]["rate"] for entry in AuditEntry.objects.order_by("pk")]
    assert [before for before, _ in changes] == ["", *(after for _, after in changes[:-1])]
    assert Limit.objects.get().rate == changes[-1][1]

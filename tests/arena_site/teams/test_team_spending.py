"""The spending page of a team, its file and its API; what it hides of open battles."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import AuditEntry, Role, Team, User
from arena_site.teams.spending import tell_owners
from battles.models import Answer, Battle, Call
from models_registry.models import Charge, LanguageModel, SpendingDay
from models_registry.models.ledger import this_month, today
from tests import make
from tests.models_registry.paid_models import cents, paid_model

pytestmark = pytest.mark.django_db
PAGE, API = "/teams/{}/spending/", "/api/v1/teams/{}/spending/"


def team_of(owner: User, **budgets: object) -> Team:
    team = make.team(owner, name="Physics", slug="physics")
    Team.objects.filter(pk=team.pk).update(**budgets)
    return Team.objects.get(pk=team.pk)


def spend(team: Team, amount: Decimal, person: User | None = None) -> None:
    """Fill the accounts of the month and the day."""
    names = [(f"team:{team.pk}", today()), (f"team:{team.pk}/month", this_month())]
    if person is not None:
        names.append((f"team:{team.pk}/user:{person.pk}", this_month()))
    SpendingDay.objects.bulk_create(SpendingDay(account=name, day=day, spent=amount) for name, day in names)


def charged_call(team: Team, model: LanguageModel, *, ago: timedelta, answer: Answer | None = None) -> Call:
    charge = Charge.objects.create(
        day=today(), model=model, provider=model.provider, price=model.price, team=team, most=cents(3), cost=cents(2)
    )
    Charge.objects.filter(pk=charge.pk).update(created_at=timezone.now() - ago)
    return Call.objects.create(
        answer=answer, purpose=Call.Purpose.ANSWER if answer else Call.Purpose.GATEWAY, model=model, attempt=1, fence=1,
        state=Call.State.DONE, charge=charge, started_at=timezone.now() - ago, total_ms=5,
        lease_until=None if answer else timezone.now(),
    )  # fmt: skip


def models_of(owner: User) -> dict[str, tuple[int, str]]:
    payload = make.browser(Actor(user=owner)).get(API.format("physics")).json()
    return {line["model"]: (line["calls"], line["cost"]) for line in payload["models"]}


@pytest.fixture
def _midday(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the time to the middle of a month, so that hours before are in it."""
    now = timezone.now().replace(day=15, hour=12, minute=30)
    monkeypatch.setattr(timezone, "now", lambda: now)


@pytest.mark.usefixtures("_midday")
def test_models_are_known_an_hour_late_in_whole_hours():
    owner = make.user()
    team, model = team_of(owner), paid_model()
    charged_call(team, model, ago=timedelta(minutes=91))  # at 10:59
    charged_call(team, model, ago=timedelta(minutes=89))
    charged_call(make.team(owner), model, ago=timedelta(hours=3))
    assert models_of(owner) == {model.slug: (1, "0.02")}


@pytest.mark.usefixtures("_midday")
def test_models_of_open_battles_are_hidden():
    owner = make.user()
    team, left, right = team_of(owner), paid_model(), paid_model()
    for battle in (make.answered_battle(left, right, actor=Actor(user=owner)) for _ in range(2)):
        for answer in Answer.objects.filter(turn__battle=battle).select_related("side__model"):
            charged_call(team, answer.side.model, ago=timedelta(hours=5), answer=answer)
    assert models_of(owner) == {}
    Battle.objects.filter(pk=battle.pk).update(mode=Battle.Mode.SIDE_BY_SIDE)
    assert models_of(owner) == {left.slug: (1, "0.02"), right.slug: (1, "0.02")}


def test_owner_sees_members_and_budgets():
    owner, member, guest = make.user("owner@example.org"), make.user("member@example.org"), make.user()
    team = team_of(owner, month_budget=10, member_month_budget=2, member_month_requests=50)
    team.members.create(user=member)
    team.members.create(user=guest, role=Role.GUEST)
    spend(team, Decimal("1.75"), member)
    SpendingDay.objects.create(account=f"team:{team.pk}/user:999999", day=this_month(), spent=1)
    client = make.browser(Actor(user=owner))
    page = client.get(PAGE.format("physics")).text
    for text in ("$1.75", "of $10", "member@example.org", "owner@example.org", "former member", "0 of 50"):
        assert text in page
    assert guest.email not in page
    assert "87&nbsp;%" in page
    rows = list(csv.DictReader(io.StringIO(client.get(PAGE.format("physics"), {"as": "csv"}).text)))
    assert [(row["of"], row["name"], row["us_dollars"], row["budget"]) for row in rows] == [
        ("team's day", "", "1.75", ""), ("team's month", "", "1.75", "10"),
        ("member", "member@example.org", "1.75", "2"), ("member", "", "1", "2"),
        ("member", "owner@example.org", "0", "2"),
    ]  # fmt: skip


def test_member_sees_only_the_own_quota():
    owner, member = make.user("owner@example.org"), make.user("member@example.org")
    team = team_of(owner, month_budget=77, member_month_budget=2, member_month_requests=50)
    team.members.create(user=member)
    spend(team, Decimal("0.30233333"), member)
    client = make.browser(Actor(user=member))
    page, limits = client.get(PAGE.format("physics")).text, client.get("/accounts/limits/").text
    assert "$0.30\n" in page  # rounded; the file has all digits
    assert "of $2" in page
    assert "owner@example.org" not in page
    assert "77" not in page
    assert "Physics" in limits
    assert "0 of 50 requests" in limits
    payload = client.get(API.format("physics")).json()
    assert payload["own"] == {
        "spent": "0.30233333", "budget": "2", "percent": 15, "requests": 0, "max_requests": 50,
    }  # fmt: skip
    assert {name for name, value in payload.items() if value is None} == {
        "today", "whole", "members", "models", "models_until",
    }  # fmt: skip
    assert client.post(PAGE.format("physics"), {"day_budget": "5"}).status_code == 403
    assert client.patch(API.format("physics"), {"day_budget": "5"}, "application/json").status_code == 403
    assert Team.objects.get(pk=team.pk).day_budget is None


@pytest.mark.parametrize("role", [None, Role.GUEST])
def test_others_do_not_see_spending(role: Role | None):
    team, person = team_of(make.user()), make.user()
    if role is not None:
        team.members.create(user=person, role=role)
    for path in (PAGE, API):
        response = make.browser(Actor(user=person)).get(path.format("physics"))
        assert response.status_code == (404 if role is None else 403)
        assert make.browser(Actor(user=person)).get(path.format("nothing")).status_code == 404


def test_manager_changes_budgets():
    owner, manager = make.user(), make.user()
    team = team_of(owner)
    team.members.create(user=manager, role=Role.MANAGER)
    client = make.browser(Actor(user=manager))
    sent = {"day_budget": "", "month_budget": "200", "member_month_budget": "5.50", "member_month_requests": "100"}
    assert client.post(PAGE.format("physics"), sent).status_code == 302
    team.refresh_from_db()
    stored = (team.day_budget, team.month_budget, team.member_month_budget, team.member_month_requests)
    assert stored == (None, 200, Decimal("5.50"), 100)
    changed = client.patch(API.format("physics"), {"month_budget": None, "day_budget": "0"}, "application/json")
    assert changed.status_code == 200
    assert [changed.json()[name]["budget"] for name in ("today", "whole")] == ["0", None]
    assert AuditEntry.objects.filter(action="change budgets of team", user=manager).count() == 2


@pytest.mark.parametrize("amount", ["-1", "1000000000000", "1000000.01", "many", "0.001"])
def test_impossible_budgets_are_refused(amount: str):
    owner = make.user()
    team = team_of(owner)
    client = make.browser(Actor(user=owner))
    response = client.post(PAGE.format("physics"), {"month_budget": amount})
    assert response.status_code == 422
    assert amount in response.text
    assert client.patch(API.format("physics"), {"month_budget": amount}, "application/json").status_code == 400
    assert Team.objects.get(pk=team.pk).month_budget is None


def test_token_of_the_team_reads_and_changes_nothing():
    owner = make.user()
    team = team_of(owner)
    for place, status in ((team, 200), (None, 404), (make.team(owner), 404)):
        headers = {"Authorization": f"Bearer {make.token(owner, team=place)}"}
        client = make.browser(Actor(), headers=headers)
        assert client.get(API.format("physics")).status_code == status
        assert client.patch(API.format("physics"), {}, "application/json").status_code == 403


def test_months_before_are_shown_without_the_day():
    owner = make.user()
    team = team_of(owner)
    Team.objects.filter(pk=team.pk).update(created_at=timezone.now() - timedelta(days=40))
    before = (this_month() - timedelta(days=1)).replace(day=1)
    SpendingDay.objects.create(account=f"team:{team.pk}/month", day=before, spent=Decimal("4.20"))
    client = make.browser(Actor(user=owner))
    assert f"?month={before:%Y-%m}" in client.get(PAGE.format("physics")).text
    page = client.get(PAGE.format("physics"), {"month": f"{before:%Y-%m}"}).text
    assert "$4.20" in page
    assert ">today<" not in page
    for month in ("2026-13", "9999-01", "²026-01"):
        assert client.get(PAGE.format("physics"), {"month": month}).status_code == 200


def test_owners_are_told_once_a_month_at_80_percent(monkeypatch: pytest.MonkeyPatch):
    owner, other = make.user("owner@example.org"), make.user("second@example.org")
    team = team_of(owner, month_budget=10)
    team.members.create(user=other, role=Role.OWNER)
    team.members.create(user=make.user(), role=Role.MANAGER)
    spend(team, Decimal("7.99"))
    tell_owners()
    assert mail.outbox == []
    SpendingDay.objects.update(spent=8)
    tell_owners()
    tell_owners()
    assert sorted(message.to[0] for message in mail.outbox) == ["owner@example.org", "second@example.org"]
    assert mail.outbox[0].subject == "Physics has used 80 % of its budget for this month"
    assert "$8.00 of the $10.00" in mail.outbox[0].body
    assert "/teams/physics/spending/" in mail.outbox[0].body
    after = timezone.now() + timedelta(days=31)
    monkeypatch.setattr(timezone, "now", lambda: after)
    tell_owners()
    assert len(mail.outbox) == 2
    spend(team, Decimal(9))
    tell_owners()
    assert len(mail.outbox) == 4


def test_page_of_many_members_takes_fixed_query_count():
    owner = make.user()
    team = team_of(owner)
    client = make.browser(Actor(user=owner))
    client.get(PAGE.format("physics"))
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            client.get(PAGE.format("physics"))
        counts.append(len(queries))
        for _ in range(5):
            person = make.user()
            team.members.create(user=person)
            SpendingDay.objects.create(account=f"team:{team.pk}/user:{person.pk}", day=this_month(), spent=1)
    assert counts[0] == counts[1] < 15

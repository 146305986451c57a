"""Budgets of teams and quotas of their members: docs/adr/0085."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from threading import Event, Thread
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Role, Team, User
from battles import actions
from battles.errors import BudgetReached
from battles.models import Battle, BlindCharge, Vote
from battles.prompting.blind_quotes import BlindQuote, quote_battle
from battles.prompting.lineup import BattleRequest
from battles.worker.runner import Engine
from models_registry import spending
from models_registry.models import Charge, LanguageModel, SpendingDay
from models_registry.models.ledger import SITE, person_account, provider_account
from models_registry.payers import Payer
from models_registry.spending import OverBudget
from tests import make
from tests.concurrency import race
from tests.fake_provider import FakeProvider
from tests.models_registry.paid_models import accounts, cents, paid_model

pytestmark = pytest.mark.django_db(transaction=True)
NOVEMBER, DECEMBER = datetime(2026, 11, 30, 23, 59, tzinfo=UTC), datetime(2026, 12, 1, 0, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _unlimited(settings: Any) -> None:
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")


def team_of(*people: User, **budgets: object) -> Team:
    team = make.team(members={Role.MEMBER: people})
    Team.objects.filter(pk=team.pk).update(**budgets)
    team.refresh_from_db()
    return team


def fresh(person: User) -> Actor:
    return Actor(user=User.signed_in.get(pk=person.pk))


def start(person: User, team: Team, **wish: Any) -> Battle:
    return actions.start_session(
        actor=fresh(person), prompt="one two three", place=team, battle_request=BattleRequest(**wish)
    )


def bill(model: LanguageModel, person: User, team: Team) -> Charge:
    """Return a charge of at most three cents."""
    messages = [{"role": "user", "content": "one"}]
    charge = spending.bill(model, messages, person=Actor(user=person).key, team_id=team.pk)
    assert charge is not None
    return charge


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(BudgetReached) as refused:
        act()
    return str(refused.value)


def test_accounts_of_a_team_take_one_statement():
    model, person = paid_model(), make.user()
    team = team_of(person, month_budget=10)
    [first] = spending.reserve([bill(model, person, team)])
    bills = [bill(model, person, team)]
    with CaptureQueriesContext(connection) as queries:
        [second] = spending.reserve(bills)
        spending.settle({first.pk: cents(1), second.pk: cents(2)})
    assert len(queries) == 2
    person_key = Actor(user=person).key
    assert accounts() == dict.fromkeys(
        [
            SITE, provider_account(model.provider_id), person_account(person_key), f"team:{team.pk}",
            f"team:{team.pk}/month", f"team:{team.pk}/{person_key}",
        ],
        (0, 3),
    )  # fmt: skip
    assert [each.name for each in Charge.objects.all()[0].accounts] == [
        f"team:{team.pk}", f"team:{team.pk}/month", f"team:{team.pk}/{person_key}", person_account(person_key),
        provider_account(model.provider_id), SITE,
    ]  # fmt: skip


@pytest.mark.usefixtures("nothing_is_forgotten")
@pytest.mark.parametrize("is_paid", [True, False])
def test_battle_in_a_team_takes_one_statement_more(is_paid: bool):
    for _ in range(3):
        paid_model() if is_paid else make.model()
    person = make.user()
    team = team_of(person)
    counts = []
    for place in (None, team, None, team):
        actor = fresh(person)
        with CaptureQueriesContext(connection) as queries:
            if place is not None:
                assert list(actor.memberships) == [place.pk]
            actions.start_session(actor=actor, prompt="one two three", place=place)
        counts.append(len(queries))
    assert counts[3] - counts[2] == 1  # the memberships


@pytest.mark.parametrize("limit", ["day_budget", "month_budget", "member_month_budget"])
def test_refusal_says_who_can_raise_the_budget(limit: str):
    for _ in range(3):
        paid_model()
    person, manager = make.user(), make.user("manager@example.org")
    team = make.team(make.user("owner@example.org"), members={Role.MEMBER: [person], Role.MANAGER: [manager]})
    Team.objects.filter(pk=team.pk).update(**{limit: cents(6)})
    start(person, team)
    sentence = refusal(lambda: start(person, team))
    assert sentence.endswith("It can be raised by owner@example.org, manager@example.org.")
    assert ("today" in sentence, "your quota" in sentence) == (limit == "day_budget", limit == "member_month_budget")
    Team.objects.filter(pk=team.pk).update(**{limit: cents(12)})
    start(person, team)


def test_wait_ends_with_the_period(monkeypatch: pytest.MonkeyPatch):
    person = make.user()
    team = team_of(person, member_month_budget=0)
    for _ in range(2):
        paid_model()
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 29, 12, tzinfo=UTC))
    with pytest.raises(BudgetReached) as refused:
        start(person, team)
    assert refused.value.retry_after == 36 * 3600
    Team.objects.update(member_month_budget=None, day_budget=0)
    with pytest.raises(BudgetReached) as refused:
        start(person, Team.objects.get())
    assert refused.value.retry_after == 12 * 3600


def test_race_of_sixty_stays_below_the_quota():
    for _ in range(3):
        paid_model()
    person, other = make.user(), make.user()
    team = team_of(person, other, member_month_budget=cents(20))

    def attempt(_: int) -> str:
        try:
            start(person, team)
        except BudgetReached:
            return "refused"
        return "ok"

    assert sorted(race(attempt, range(60))) == ["ok"] * 3 + ["refused"] * 57  # 6 cents each
    assert accounts()[f"team:{team.pk}/user:{person.pk}"] == (18, 0)
    start(other, team)
    assert accounts()[f"team:{team.pk}/month"] == (24, 0)


def test_race_for_requests_to_free_models_stays_below_the_quota():
    for _ in range(2):
        make.model()
    person, other = make.user(), make.user()
    team = team_of(person, other, member_month_requests=4)

    def attempt(_: int) -> str:
        try:
            start(person, team)
        except BudgetReached as refused:
            return str(refused)
        return "ok"

    outcomes = sorted(race(attempt, range(20)))
    assert outcomes[16:] == ["ok"] * 4
    assert all(outcome.startswith("You have made all the requests") for outcome in outcomes[:16])
    assert Battle.objects.count() == 4
    start(other, team)


def test_requests_count_each_turn_once():
    left, right = make.model(), paid_model()
    person = make.user()
    team = team_of(person, member_month_requests=2)
    battle = start(person, team, mode=Battle.Mode.COMPARE, models=(left.slug, right.slug))
    make.complete_answers(battle)
    actions.follow_up(actor=fresh(person), battle=battle, prompt="and then?")
    assert accounts()[f"team:{team.pk}/user:{person.pk}/requests"] == (200, 0)
    make.complete_answers(battle)
    assert "requests" in refusal(lambda: actions.follow_up(actor=fresh(person), battle=battle, prompt="and then?"))


def test_budget_of_each_person_protects_the_site_in_a_team_too(settings: Any):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "member": cents(6)}
    for _ in range(2):
        paid_model()
    person = make.user()
    start(person, team_of(person))
    assert refusal(lambda: start(person, team_of(person))).startswith("You have reached your budget for today")


def test_month_of_the_reservation_pays(monkeypatch: pytest.MonkeyPatch, fake_provider: FakeProvider, engine: Engine):
    for name in "ab":
        paid_model(f"honest-{name}", at=fake_provider.base_url)
    chosen = paid_model("honest-c", at=fake_provider.base_url)
    person = make.user()
    team = team_of(person, member_month_budget=cents(7))
    monkeypatch.setattr(timezone, "now", lambda: NOVEMBER)
    blind, direct = start(person, team), None
    Team.objects.update(member_month_budget=cents(9))
    direct = start(person, team, mode=Battle.Mode.DIRECT, models=(chosen.slug,))
    monkeypatch.setattr(timezone, "now", lambda: DECEMBER)
    for battle in (blind, direct):
        engine.answer(battle.turns.get().pk)
    rows = SpendingDay.objects.filter(account__startswith=f"team:{team.pk}")
    assert {row.day for row in rows} == {date(2026, 11, 1), date(2026, 11, 30)}
    assert all(row.reserved == 0 < row.spent for row in rows)
    assert len({row.spent for row in rows}) == 1
    assert list(BlindCharge.objects.values_list("account", "month").distinct()) == [("", date(2026, 11, 1))]
    start(person, team)  # December has a quota of its own


def test_month_begins_in_the_time_zone_of_the_site(monkeypatch: pytest.MonkeyPatch, settings: Any):
    settings.TIME_ZONE = "Pacific/Auckland"
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))
    payer = Payer("user:1")
    assert (payer.day, payer.month) == (date(2026, 11, 30), date(2026, 12, 1))


def test_raise_while_a_call_waits_for_the_account():
    model, person = paid_model(), make.user()
    team = team_of(person, month_budget=cents(3))
    spending.settle({charge.pk: Decimal(0) for charge in spending.reserve([bill(model, person, team)])})
    is_reserved, outcomes = Event(), []

    def second() -> None:
        is_reserved.wait(30)
        try:
            outcomes.append(len(spending.reserve([bill(model, person, team)])))
        except OverBudget as error:
            outcomes.append(error.account)
        finally:
            connection.close()

    waiting = Thread(target=second)
    waiting.start()
    with transaction.atomic():
        spending.reserve([bill(model, person, team)])
        is_reserved.set()
        waiting.join(0.5)
        assert waiting.is_alive()
        race(lambda _: Team.objects.update(month_budget=cents(6)), [None])
    waiting.join(30)
    assert outcomes == [1]


def test_turn_after_the_vote_costs_the_team_what_it_costs(fake_provider: FakeProvider, engine: Engine):
    for name in "ab":
        paid_model(f"honest-{name}", at=fake_provider.base_url)
    person = make.user()
    team = team_of(person)
    battle = start(person, team)
    engine.answer(battle.turns.get().pk)
    actions.cast_vote(actor=fresh(person), battle=battle, choice=Vote.Choice.LEFT)
    before = accounts()
    engine.answer(actions.follow_up(actor=fresh(person), battle=battle, prompt="four").pk)
    after = accounts()
    [grown] = {after[name][1] - before[name][1] for name in after}
    assert grown > 0
    assert Charge.objects.filter(team=team, month=None).count() == 2  # those of the blind answers


@pytest.mark.parametrize("column", ["day_budget", "month_budget", "member_month_budget", "member_month_requests"])
@pytest.mark.parametrize("value", [-1, 1_000_001])
def test_database_refuses_impossible_budgets(column: str, value: int):
    team = team_of()
    with pytest.raises(IntegrityError), transaction.atomic():
        Team.objects.filter(pk=team.pk).update(**{column: value})
    Team.objects.filter(pk=team.pk).update(**{column: 0})


def test_call_with_a_teams_own_key_is_not_the_sites(settings: Any):
    settings.ARENA_BUDGETS = dict.fromkeys(settings.ARENA_BUDGETS, cents(0))
    model, person = paid_model(), make.user()
    team = team_of(person)
    charge = bill(model, person, team)
    charge.site_pays = False
    [reserved] = spending.reserve([charge])
    spending.settle({reserved.pk: cents(2)})
    names = [f"team:{team.pk}", f"team:{team.pk}/month", f"team:{team.pk}/user:{person.pk}"]
    names.append(provider_account(model.provider_id))
    assert accounts() == dict.fromkeys(names, (0, 2))
    assert [account.name for account in Charge.objects.get().accounts] == names


def test_blind_battle_of_a_teams_own_models_is_not_the_persons(
    monkeypatch: pytest.MonkeyPatch, settings: Any, fake_provider: FakeProvider, engine: Engine
):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "member": cents(0)}
    for name in "ab":
        paid_model(f"honest-{name}", at=fake_provider.base_url)

    def quote(*arguments: Any, **options: Any) -> BlindQuote | None:
        quoted = quote_battle(*arguments, **options)
        return quoted and replace(quoted, site_pays=False)

    monkeypatch.setattr("battles.actions.battles.quote_battle", quote)
    person = make.user()
    team = team_of(person, member_month_budget=cents(6))
    battle = start(person, team)
    engine.answer(battle.turns.get().pk)
    balances = accounts()
    assert person_account(f"user:{person.pk}") not in balances
    spent = balances[f"team:{team.pk}/user:{person.pk}"]
    assert spent == balances[f"team:{team.pk}"] == balances[f"team:{team.pk}/month"]
    assert spent[0] == 0 < spent[1]
    assert "quota" in refusal(lambda: start(person, team))

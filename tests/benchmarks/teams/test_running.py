"""Runs of a team: its models, its money, answers that are given again, and members that leave."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.utils import timezone

from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.models import Role, Team, User
from accounts.open_streams import StreamRight, find_lost
from accounts.teams import actions as team_actions
from accounts.teams.budgets import Budgets, change_budgets
from battles.models import ModerationCase, ModerationRule
from battles.worker.runner import Engine
from benchmarks import actions, streaming
from benchmarks.actions import EntrantRequest
from benchmarks.errors import RunsOpen
from benchmarks.models import ItemReply, Reply, Run, TemplateVersion
from benchmarks.preparation.run_preparation import prepare
from benchmarks.sweep import sweep
from benchmarks.worker import claims, plan, progress
from benchmarks.worker.claims import Claim
from benchmarks.worker.runner import drive
from models_registry.models import Charge, LanguageModel, Price, SpendingDay
from models_registry.models.ledger import this_month
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
Ask = Callable[..., Run]


@pytest.fixture
def member() -> User:
    return make.user()


@pytest.fixture
def team(member: User) -> Team:
    return make.team(slug="physics", name="Physics", members={Role.MEMBER: [member]})


@pytest.fixture
def ask(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Run a version, or a run of it, to its end."""
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)
    monkeypatch.setattr("benchmarks.worker.runner.PLAN_TTL_S", 0.1)

    def run_to_end(what: TemplateVersion | Run, *models: LanguageModel, **options: str) -> Run:
        run = what if isinstance(what, Run) else factory.run(what, *models, **options)
        engine.run(partial(drive, run.pk), "run")
        return factory.wait_until_ended(run)

    return run_to_end


def priced(model: LanguageModel) -> LanguageModel:
    """Let a call reserve 0.01 dollars, and cost 0.002."""
    LanguageModel.of_every_owner.filter(pk=model.pk).update(parameters={"max_tokens": 10})
    Price.objects.create(model=model, input_per_million=0, output_per_million=1000)
    model.refresh_from_db()
    return model


def claim(run: Run) -> Claim:
    read = plan.read_plan(run.pk)
    return claims.claim_items(run.pk, read.entrants, wanted=dict.fromkeys(read.shares, 16), paces=read.paces)


def accounts() -> dict[str, tuple[Decimal, Decimal]]:
    return {row.account: (row.reserved, row.spent) for row in SpendingDay.objects.all()}


def test_team_pays_for_its_run(team: Team, member: User, fake_provider: FakeProvider, ask: Ask):
    own = priced(make.team_model(team, at=fake_provider.base_url))
    of_site = priced(make.model(at=fake_provider.base_url))
    version = factory.version(2, owner=member, team=team)

    run = ask(version, own, of_site, budget="1")

    assert (run.state, run.team, run.reserved) == ("done", team, 0)
    charges = Charge.objects.all()
    assert {(charge.team_id, charge.month, charge.person) for charge in charges} == {
        (team.pk, this_month(), f"user:{member.pk}")
    }
    spent = {name: spent for name, (_reserved, spent) in accounts().items()}
    quota = f"team:{team.pk}/user:{member.pk}"
    assert spent[f"team:{team.pk}"] == spent[f"team:{team.pk}/month"] == spent[quota] == run.spent > 0
    assert (
        spent["site"]
        == spent[f"person:user:{member.pk}"]
        == sum(charge.cost or 0 for charge in charges if charge.model == of_site)
    )
    assert set(Reply.objects.values_list("team", flat=True)) == {team.pk}


def test_run_goes_on_without_a_retired_site_model(
    team: Team, member: User, fake_provider: FakeProvider, ask: Ask, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("benchmarks.worker.runner.MAX_STANDSTILL_S", 0.0)
    own, of_site = make.team_model(team, at=fake_provider.base_url), make.model(at=fake_provider.base_url)
    run = factory.run(factory.version(2, owner=member, team=team), own, of_site)
    LanguageModel.objects.filter(pk=of_site.pk).update(status=LanguageModel.Status.RETIRED)

    run = ask(run)

    assert (run.state, run.reason) == (Run.State.PAUSED, Run.Reason.MODELS_AWAY)
    assert factory.counts(run) == {"scored": 2, "queued": 2}
    page = make.browser(Actor(user=member)).get(f"/benchmarks/r/{run.public_id}/").content.decode()
    assert "A model is inactive or fails all the time." in page


@pytest.mark.parametrize(
    ("budgets", "reason", "sentence", "waits"),
    [
        ({"day_budget": Decimal("0.009")}, "team_day", "The team has reached its budget for today.", "day"),
        ({"month_budget": Decimal("0.009")}, "team_month", "The team has reached its budget for this month.", "month"),
        ({"member_month_budget": Decimal("0.009")}, "quota", "The quota for this month is used up.", "month"),
        ({"member_month_requests": 0}, "requests", "The requests for this month are used up.", "month"),
    ],
)
def test_refused_run_waits_and_goes_on_when_raised(
    team: Team, member: User, budgets: Budgets, reason: str, sentence: str, waits: str
):
    owner = team.created_by
    assert owner is not None
    run = factory.run(factory.version(2, owner=member, team=team), priced(make.team_model(team)), budget="1")
    change_budgets(by=owner, team=team, budgets=budgets)

    found = claim(run)
    assert (found.items, found.pause_reason) == ([], reason)
    assert progress.pause(run.pk, found.pause_reason, run.paced_from)

    run.refresh_from_db()
    assert sentence in run.reason_sentence
    assert str(owner) in run.reason_sentence
    now = timezone.now()
    midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
    next_month = datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)
    assert run.day_wait_until == (midnight if waits == "day" else next_month)
    page = make.browser(Actor(user=member)).get(f"/benchmarks/r/{run.public_id}/").content.decode()
    assert str(owner) in page

    change_budgets(by=owner, team=team, budgets=dict.fromkeys(budgets))  # type: ignore[arg-type]
    run.refresh_from_db()
    assert (run.state, run.reason, run.day_wait_until) == ("running", "", None)
    assert len(claim(run).items) == 2


def test_requests_of_a_month_are_counted_by_calls(team: Team, member: User, fake_provider: FakeProvider, ask: Ask):
    Team.objects.filter(pk=team.pk).update(member_month_requests=5)
    free = make.team_model(team, at=fake_provider.base_url)

    run = ask(factory.version(8, owner=member, team=team), free)

    assert (run.state, run.reason, fake_provider.calls) == ("paused", "requests", {"honest": 5})
    assert accounts()[f"team:{team.pk}/user:{member.pk}/requests"] == (5, 0)
    Run.objects.update(day_wait_until=timezone.now())
    sweep()
    assert Run.objects.get().state == "running"


def test_answers_are_given_again_in_their_place_only(team: Team, member: User, fake_provider: FakeProvider, ask: Ask):
    model, colleague = make.model(at=fake_provider.base_url), make.user()
    team_actions.add_member(by=member, team=team, user=colleague, role=Role.MEMBER)

    def asked(place: Team | None, person: User) -> int:
        before = fake_provider.calls.total()
        ask(factory.version(2, owner=person, team=place), model, reuse_days=1)
        return fake_provider.calls.total() - before

    assert [asked(team, member), asked(team, colleague)] == [2, 0]
    assert [asked(None, member), asked(make.team(member), member)] == [2, 2]
    assert [asked(None, member), asked(team, member)] == [0, 0]
    mixed = ItemReply.objects.exclude(reply__team=None).filter(item__run__team=None)
    assert not mixed.exists()


def test_run_goes_on_without_its_maker(team: Team, member: User):
    priced_model = priced(make.team_model(team))
    run = factory.run(factory.version(3, owner=member, team=team), priced_model, budget="1")
    actor = Actor(user=User.signed_in.get(pk=member.pk))
    token = streaming.RunToken.read_or_404(streaming.token_for(run, actor))
    assert token.team == team.pk

    team_actions.remove_member(by=member, member=team.members.get(user=member))

    right = StreamRight(token.owner, token.token, team=token.team, since=token.since)
    assert find_lost([right]) == {right}
    assert make.browser(Actor(user=member)).get(f"/benchmarks/r/{run.public_id}/").status_code == 404
    assert len(claim(run).items) == 3
    assert {charge.team_id for charge in Charge.objects.all()} == {team.pk}
    owner = team.created_by
    assert owner is not None
    cancel = make.browser(Actor(user=owner)).post(f"/benchmarks/r/{run.public_id}/do/cancel/")
    run.refresh_from_db()
    assert (cancel.status_code, run.state) == (303, "cancelled")


def test_deleted_account_leaves_the_teams_things(team: Team, member: User):
    run = factory.run(factory.version(1, owner=member, team=team), make.team_model(team))
    delete_account(member)
    run.refresh_from_db()
    assert (run.owner, run.team, run.state, run.version.template.team) == (None, team, "running", team)
    assert len(claim(run).items) == 1


def test_team_with_open_runs_is_not_archived(team: Team, member: User):
    owner = team.created_by
    assert owner is not None
    run = factory.run(factory.version(1, owner=member, team=team), make.team_model(team), name="Nightly")
    with pytest.raises(RunsOpen, match="Nightly"):
        team_actions.archive_team(by=owner, team=team)
    client = make.browser(Actor(user=owner))
    page = client.post("/teams/physics/archive/", follow=True).content.decode()
    assert "Runs of the team are open: “Nightly”." in page
    actions.cancel_run(run)
    team_actions.archive_team(by=owner, team=team)
    with pytest.raises(Exception, match="You are no longer in the team"):
        actions.create_run(
            owner=member, team=team, version=run.version, entrants=[EntrantRequest(make.team_model(team))]
        )


def test_rules_of_a_team_refuse_its_runs_only(team: Team, member: User):
    ModerationRule.of_every_owner.create(team=team, category="Homework", patterns=["word1"], action="block")
    of_team = factory.run(factory.version(3, owner=member, team=team), make.model(), is_prepared=False)
    personal = factory.run(factory.version(3, owner=member), make.model(), is_prepared=False)

    assert (prepare(of_team.pk), prepare(personal.pk)) == (False, True)

    of_team.refresh_from_db()
    assert of_team.detail == "case-1: This arena does not allow “Homework”."
    assert not ModerationCase.objects.exists()  # moderators learn nothing

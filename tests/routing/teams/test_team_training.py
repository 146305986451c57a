"""Routers of teams learn from the site's votes and their own; the site's never from a team's."""

import pytest
from django.db import IntegrityError, ProgrammingError, transaction
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Team
from battles.auto.port import RoutingRequest, route
from leaderboard.models import AggregationRun
from models_registry.models import LanguageModel
from routing.deciding import router_cache
from routing.deciding.router_cache import held_router
from routing.models import RouterSnapshot
from routing.training import job, vote_log
from tests import make
from tests.leaderboard.vote_factory import contestants
from tests.routing.prompted_votes import cast_with_prompts
from tests.routing.trained import publish

pytestmark = pytest.mark.django_db
State = RouterSnapshot.State


@pytest.fixture
def pair() -> list[LanguageModel]:
    return contestants("ada", "bob")


def cast_in(team: Team, pair: list[LanguageModel], size: int, **facts: object):
    return cast_with_prompts(*pair, size, team=team, **{"on_site_boards": False, **facts})


def orders(votes) -> list[int]:
    return [vote.order for vote in votes]


def test_team_votes_train_their_team_alone(pair):
    team, other = make.team(), make.team()
    of_site = cast_with_prompts(*pair, 4)
    own = cast_in(team, pair, 3, team_categories=["optics"])
    counting = cast_in(team, pair, 2, on_site_boards=True)
    cast_in(other, pair, 2)
    assert vote_log.read_votes().order.tolist() == orders(of_site)
    log = vote_log.read_votes(team.pk)
    assert log.order.tolist() == orders([*of_site, *own, *counting])
    assert ["~optics" in labels for labels in log.labels] == [False] * 4 + [True] * 3 + [False] * 2
    Team.objects.filter(pk=team.pk).update(uses_site_models=False)
    assert vote_log.read_votes(team.pk).order.tolist() == orders([*own, *counting])


def test_teams_with_enough_new_votes_are_trained(pair, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(job, "MIN_VOTES", 6)
    busy, quiet = make.team(), make.team()
    cast_in(busy, pair, 6)
    cast_in(quiet, pair, 5)
    job.train_if_due()
    job.train_teams_if_due()
    assert RouterSnapshot.objects.in_place(None).get().state == State.FEW_VOTES
    snapshot = RouterSnapshot.objects.exclude(team=None).get()
    assert (snapshot.team, snapshot.state, snapshot.votes) == (busy, State.PUBLISHED, 6)
    monkeypatch.setattr(job, "_today", lambda: "tomorrow")
    job.train_teams_if_due()
    assert RouterSnapshot.objects.in_place(busy.pk).count() == 1
    cast_in(busy, pair, 6)
    job.train_teams_if_due()
    assert [row.votes for row in RouterSnapshot.objects.in_place(busy.pk)] == [12, 6]


def test_failure_of_one_team_leaves_the_others(pair, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(job, "MIN_VOTES", 4)
    teams = [make.team(), make.team()]
    for team in teams:
        cast_in(team, pair, 4)
    trained = job._train

    def train(slot: str, team_id: int | None) -> RouterSnapshot:
        if team_id == teams[0].pk:
            raise ArithmeticError("no")
        return trained(slot, team_id)

    monkeypatch.setattr(job, "_train", train)
    job.train_teams_if_due()
    states = {row.team: row.state for row in RouterSnapshot.objects.all()}
    assert states == {teams[0]: State.FAILED, teams[1]: State.PUBLISHED}


def policy(team: Team | None) -> str:
    person = team.members.get(role="owner").user if team is not None else make.user()
    request = RoutingRequest(("Hello",), team_id=None if team is None else team.pk, allow_battle=False)
    return route(request, Actor(user=person)).policy


def test_team_without_a_training_uses_the_sites(pair):
    team, other = make.team(), make.team()
    assert held_router(team.pk).router is None
    publish("1", pair, [[0.0, 0.0], [1.0, -2.0]])
    publish("2", pair, [[3.0, 0.0], [1.0, 0.0]], team=team)
    router_cache.forget()
    of_site, of_team = (RouterSnapshot.objects.get(slot=slot).pk for slot in "12")
    assert [policy(place) for place in (None, other)] == [f"learned {of_site}"] * 2
    assert policy(team) == f"learned {of_team}"


def test_trainings_of_a_team_are_listed_for_its_members(pair, client: Client):
    team = make.team(slug="physics")
    publish("1", pair, [[0.0, 0.0], [1.0, -2.0]])
    publish("2", pair, [[3.0, 0.0], [1.0, 0.0]], team=team)
    of_site, of_team = (RouterSnapshot.objects.get(slot=slot).public_id for slot in "12")
    member = make.browser(Actor(user=team.members.get().user))
    address = "/api/v1/route/snapshots/"

    def listed(client: Client, query: str = "") -> list[str]:
        return [row["id"] for row in client.get(address + query).json()["results"]]

    assert listed(client) == listed(member) == [of_site]
    assert listed(member, "?team=physics") == [of_team]
    for outsider in (client, make.browser(make.member())):
        assert outsider.get(f"{address}?team=physics").status_code == 404


def test_database_keeps_snapshots_in_their_place(pair):
    team = make.team()
    publish("1", pair, [[0.0, 0.0], [1.0, -2.0]], team=team)
    with pytest.raises(ProgrammingError, match="Cannot update"), transaction.atomic():
        RouterSnapshot.objects.update(team=None)
    now = timezone.now()
    facts = {"slot": "x", "state": "done", "started_at": now, "finished_at": now, "duration_ms": 1}
    board = AggregationRun.objects.create(scope=f"team:{team.pk}/overall", team=team, **facts)
    for place in (None, make.team()):
        with pytest.raises(IntegrityError, match="a_router_snapshots_board_is_of_its_place"), transaction.atomic():
            RouterSnapshot.objects.create(slot="2", state="failed", board=board, team=place)
    RouterSnapshot.objects.create(slot="2", state="failed", board=board, team=team)

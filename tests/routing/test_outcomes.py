"""Outcomes that applications report: of own decisions only, without an effect on boards and trainings."""

from typing import Any

import pytest
from django.test import Client

from accounts.actions import delete_account
from accounts.models import Scope
from battles.models import RoutingDecision
from routing.models import DecisionOutcome
from routing.training import job
from tests import make
from tests.leaderboard.tally_checks import aggregate_and_read_results
from tests.leaderboard.vote_factory import cast_many, contestants
from tests.routing.rows import decision

pytestmark = pytest.mark.django_db


def application(user: Any) -> Client:
    secret = make.token(user, scopes=[Scope.BATTLE])
    return Client(headers={"Authorization": f"Bearer {secret}"})


def report(client: Client, routed: RoutingDecision, **headers: str) -> Any:
    path = f"/api/v1/route/decisions/{routed.public_id}/outcome/"
    return client.post(path, {"better": "runner_up"}, content_type="application/json", headers=headers)


@pytest.mark.slow
def test_outcomes_move_no_board_and_no_training():
    member, (ada, bob) = make.member(), contestants("ada", "bob")
    cast_many(ada, bob, left=12)
    before = aggregate_and_read_results()
    client = application(member.user)
    for _ in range(40):
        routed = decision(ada, runner_up=bob, person=member.key)
        assert report(client, routed).status_code == 200
    assert aggregate_and_read_results() == before
    assert job.train_router(slot="today").state == "few_votes"


def test_outcome_of_another_ones_decision_is_not_found():
    member, model = make.member(), make.model()
    for person in (make.member().key, make.visitor().key, ""):
        assert report(application(member.user), decision(model, person=person)).status_code == 404
    assert not DecisionOutcome.objects.exists()


def test_deleted_member_reports_nothing():
    make.user(is_superuser=True)
    member, model = make.member(), make.model()
    client, routed = application(member.user), decision(model, person=member.key)
    delete_account(member.user)
    assert report(client, routed).status_code == 401
    assert not DecisionOutcome.objects.exists()


def test_replayed_outcome_does_not_replace_a_later_one():
    member, model = make.member(), make.model()
    client, routed = application(member.user), decision(model, person=member.key)
    key = {"Idempotency-Key": "k"}
    first = report(client, routed, **key)
    DecisionOutcome.objects.update(good=True, better="")
    assert report(client, routed, **key).json() == first.json()
    assert DecisionOutcome.objects.get().good is True


@pytest.mark.parametrize("name", ["query_type", "session", "target"])
@pytest.mark.parametrize("value", ["%00", "%ED%A0%80", "a" * 5_000, "%F0%9F%8C%8A", "'; --"])
def test_hostile_filters_of_decisions_are_no_errors(name: str, value: str):
    client = make.browser(make.member())
    assert client.get(f"/api/v1/route/decisions/?{name}={value}").status_code in (200, 400)

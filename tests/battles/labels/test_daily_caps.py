from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from accounts.actor import Actor
from accounts.models import LimitGroup
from battles import actions
from battles.models import Vote, VoteNetwork
from leaderboard.aggregation.job import aggregate
from leaderboard.models import AggregationRun
from tests import make
from tests.concurrency import race

pytestmark = pytest.mark.django_db
OVER = Vote.ExcludedReason.OVER_DAILY_CAP


@pytest.fixture(autouse=True)
def _caps(settings: Any) -> None:
    settings.ARENA_DAILY_VOTES = {"person": 3, "network": 5}


@pytest.fixture
def models() -> tuple[Any, Any]:
    return make.model(), make.model()


def visitor(network: str = "2026-11:one") -> Actor:
    return replace(make.visitor(), network=network)


def cast(actor: Actor, models: tuple[Any, Any]) -> Vote:
    battle = make.answered_battle(*models, actor=actor)
    return actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)


def reasons() -> list[str]:
    return list(Vote.objects.order_by("order").values_list("excluded_reason", flat=True))


def test_votes_over_person_cap_are_marked(models: tuple[Any, Any]):
    actor = visitor()
    assert [cast(actor, models).excluded_reason for _ in range(5)] == ["", "", "", OVER, OVER]
    assert cast(visitor("2026-11:two"), models).excluded_reason == ""


def test_votes_over_network_cap_are_marked(models: tuple[Any, Any]):
    marked = [cast(visitor(), models).excluded_reason for _ in range(7)]
    assert marked == [""] * 5 + [OVER] * 2
    assert cast(visitor("2026-11:two"), models).excluded_reason == ""


def test_networks_of_one_ipv6_48_share_a_cap(models: tuple[Any, Any]):
    actors = [replace(visitor(f"2026-11:{n}"), network48="2026-11:wide") for n in range(6)]
    assert [cast(actor, models).excluded_reason for actor in actors] == [""] * 5 + [OVER]


def test_named_network_has_a_wider_cap_in_every_count(models: tuple[Any, Any], settings: Any):
    settings.ARENA_DAILY_VOTES = {"person": 0, "network": 2}
    in_class = [replace(visitor(), address="203.0.113.7") for _ in range(9)]
    assert [cast(actor, models).excluded_reason for actor in in_class[:3]] == ["", "", OVER]
    group = LimitGroup.objects.create(name="class", networks=["203.0.113.0/24"], times=2)
    assert [cast(actor, models).excluded_reason for actor in map(replace, in_class[3:5])] == ["", OVER]
    group.times = 3
    group.save()
    assert cast(replace(in_class[5]), models).excluded_reason == ""
    settings.ARENA_DAILY_VOTES = {"person": 0, "network": 0}
    cast(replace(in_class[6]), models)
    settings.ARENA_DAILY_VOTES = {"person": 0, "network": 2}
    aggregate(slot="one")
    assert reasons() == ["", "", OVER, "", OVER, "", OVER]


def test_votes_of_yesterday_do_not_count_today(models: tuple[Any, Any]):
    actor = visitor()
    for _ in range(3):
        cast(actor, models)
    with connection.cursor() as cursor:  # the facts of a vote are protected from updates
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE battles_vote DISABLE TRIGGER USER")
        cursor.execute("UPDATE battles_vote SET created_at = created_at - interval '1 day'")
        cursor.execute("UPDATE battles_votenetwork SET day = day - 1")
        cursor.execute("ALTER TABLE battles_vote ENABLE TRIGGER USER")
    assert cast(actor, models).excluded_reason == ""


def test_cap_of_zero_is_unlimited(settings: Any, models: tuple[Any, Any]):
    settings.ARENA_DAILY_VOTES = {"person": 0, "network": 0}
    actor = visitor()
    assert [cast(actor, models).excluded_reason for _ in range(6)] == [""] * 6


def test_page_explains_vote_over_cap(models: tuple[Any, Any], settings: Any):
    settings.ARENA_DAILY_VOTES = {"person": 1, "network": 0}
    actor = visitor()
    cast(actor, models)
    battle = make.answered_battle(*models, actor=actor)
    client = make.browser(actor)
    client.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"})
    page = client.get(battle.session.get_absolute_url()).text
    assert "This vote does not count:" in page
    assert "you or your network reached the daily limit." in page
    assert Vote.objects.get(battle=battle).excluded_reason == OVER


def test_snapshot_counts_votes_over_cap(client: Any, models: tuple[Any, Any]):
    actor = visitor()
    for _ in range(5):
        cast(actor, models)
    run = aggregate(slot="one")
    assert (run.votes_counted, run.votes_excluded) == (3, {OVER: 2})
    assert "over the daily cap" in client.get("/leaderboard/snapshots/" + run.public_id + "/").text


def test_aggregation_marks_votes_that_passed_the_cap(models: tuple[Any, Any], settings: Any):
    settings.ARENA_DAILY_VOTES = {"person": 0, "network": 0}
    first, second = visitor(), visitor()
    for _ in range(4):
        cast(first, models)
    for _ in range(3):
        cast(second, models)
    settings.ARENA_DAILY_VOTES = {"person": 3, "network": 5}
    aggregate(slot="one")
    assert reasons() == ["", "", "", OVER, "", OVER, OVER]
    cast(second, models)
    aggregate(slot="two")
    assert reasons()[-1] == OVER
    call_command("rebuild_tallies")
    assert AggregationRun.objects.latest("pk").votes_counted == 4


def test_vote_restored_by_staff_stays_counted(models: tuple[Any, Any], moderator: Any):
    from leaderboard.counting.vote_changes import include_votes

    actor = visitor()
    for _ in range(4):
        cast(actor, models)
    include_votes(Vote.objects.filter(excluded_reason=OVER), by=moderator, because="a workshop")
    aggregate(slot="one")
    assert reasons() == [""] * 4


@pytest.mark.django_db(transaction=True)
def test_concurrent_votes_count_exactly_the_cap(models: tuple[Any, Any], settings: Any):
    settings.ARENA_DAILY_VOTES = {"person": 0, "network": 5}
    actors = [visitor() for _ in range(24)]
    battles = [make.answered_battle(*models, actor=actor) for actor in actors]

    def vote(number: int) -> None:
        actions.cast_vote(actor=actors[number], battle=battles[number], choice=Vote.Choice.LEFT)

    race(vote, range(len(actors)))
    aggregate(slot="one")
    assert Counter(reasons()) == {"": 5, OVER: 19}
    assert reasons()[:5] == [""] * 5


def test_networks_of_votes_expire(models: tuple[Any, Any], settings: Any):
    from arena_site import retention

    cast(visitor(), models)
    retention.purge()
    assert VoteNetwork.objects.count() == 1
    VoteNetwork.objects.update(day="2020-01-01")
    retention.purge()
    assert not VoteNetwork.objects.exists()

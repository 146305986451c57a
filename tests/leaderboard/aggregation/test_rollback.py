"""The last release can run on this release's database after `migrate leaderboard 0002` (ADR 43)."""

from collections.abc import Iterator
from datetime import date

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from battles.models import Vote
from leaderboard import actions
from leaderboard.counting import reviews, tallies
from leaderboard.models import AnomalyReview
from tests import database_reset, make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import cast_many, contestants

TRIGGER = "SELECT 1 FROM pg_trigger WHERE tgname = 'a_vote_is_counted_once'"
RELEASED = ("leaderboard", "0002_functions_and_triggers")


@pytest.fixture
def own_database(transactional_db: None) -> Iterator[None]:
    """Connect to a copy of the test database."""
    name, creation = connection.settings_dict["NAME"], connection.creation
    database_reset.close()
    creation.clone_test_db("rollback", verbosity=0, autoclobber=True)
    connection.settings_dict["NAME"] = creation.get_test_db_clone_settings("rollback")["NAME"]
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = name
        creation.destroy_test_db(suffix="rollback", verbosity=0)


def migrate(*target: tuple[str, str]) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(list(target) or executor.loader.graph.leaf_nodes("leaderboard"))


def rows(sql: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def suspect(held: list[Vote], group: str) -> reviews.Suspect:
    orders = [vote.order for vote in held]
    of_group = reviews.SuspectGroup(group, date(2026, 3, 18), "", held[0].model_left_id, orders)
    return reviews.Suspect(max(orders), 12.3, 2, {"kind": "model"}, [], of_group)


@pytest.mark.slow
def test_votes_and_group_reviews_outlast_rollback(own_database: None, settings):
    settings.ARENA_MAX_HELD_SHARE = {"voters": 1.0, "groups": 1.0}
    gold, tin = contestants("gold", "tin")
    cast_many(gold, tin, left=2)
    held = {group: cast_many(gold, tin, right=2) for group in ("day", "week")}
    aggregate()
    assert [reviews.open_review(suspect(votes, group)) for group, votes in held.items()] == [True, True]
    first, second = AnomalyReview.objects.order_by("pk")
    cast_many(gold, tin, tie=1)

    migrate(RELEASED)
    # The last release counts pending votes, and its constraint allows one open review per voter.
    assert rows('SELECT processing, excluded_reason FROM battles_vote ORDER BY "order"') == [
        *[("processed", "")] * 2, *[("excluded", "anomaly")] * 4, ("pending", ""),
    ]  # fmt: skip
    assert rows("SELECT voter, state FROM leaderboard_anomalyreview ORDER BY id") == [
        (f"group:{first.pk}", "open"), (f"group:{second.pk}", "open"),
    ]  # fmt: skip
    assert rows(TRIGGER) == []

    migrate()
    assert len(rows(TRIGGER)) == 1
    assert aggregate().votes_counted == 3
    actions.decide_review(AnomalyReview.objects.get(pk=first.pk), "dismissed", by=make.user(), because="a class")
    assert (aggregate().votes_counted, tallies.rebuild()) == (5, 0)

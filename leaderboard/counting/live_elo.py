"""Live Elo: a trigger (leaderboard/sql/elo.sql) moves both ratings with a vote on Overall."""

from typing import TYPE_CHECKING

from django.db import transaction

from battles.models import Vote, VoteCounter
from leaderboard.counting import tallies
from leaderboard.counting.board_keys import DRAWN_PAIRS, ON_OVERALL
from leaderboard.models import EloRating, EloSettings
from leaderboard.models.elo_settings import elo_settings

if TYPE_CHECKING:
    from leaderboard.counting.columns import Column
    from leaderboard.rating.elo_replay import Replay

LEFT_SHARE: dict[str, float] = {
    Vote.Choice.LEFT: 1.0,
    Vote.Choice.RIGHT: 0.0,
    Vote.Choice.TIE: 0.5,
    Vote.Choice.BOTH_BAD: 0.5,
}


def choose_elo(settings: EloSettings) -> None:
    """Store start and K, and recompute every rating with them. An aggregation sees both changes or none."""
    with transaction.atomic():
        tallies.lock()
        settings.save()
        replay_elo()


def new_replay() -> "Replay":
    from leaderboard.rating.elo_replay import Replay  # imports numpy, which a web process needs only here

    settings = elo_settings()
    return Replay(settings.start, settings.k)


def replay_elo() -> None:
    """Recompute every rating from the log, after votes were excluded or included."""
    elo_settings.invalidate()
    replay = new_replay()
    last = _replay_votes(replay, after=0)
    # The long replay ran without a lock. The counter's lock now stops new votes while the few newer ones are replayed.
    list(VoteCounter.objects.select_for_update())
    _replay_votes(replay, after=last)
    EloRating.objects.exclude(pk__in=replay.rating).delete()
    EloRating.objects.bulk_create(
        [
            EloRating(model_id=model, rating=rating, votes=replay.votes[model], last_order=replay.last_order[model])
            for model, rating in sorted(replay.rating.items())
        ],
        update_conflicts=True,
        unique_fields=["model"],
        update_fields=["rating", "votes", "last_order"],
    )


def elo_ratings_after(last: int) -> dict[int, float]:
    """Return {model id: rating} after vote `last`.

    The caller holds the lock of the tallies, and every vote up to `last` is committed.
    """
    ratings = list(EloRating.objects.values_list("pk", "rating", "last_order"))
    if all(order <= last for _, _, order in ratings):
        return {model: rating for model, rating, _ in ratings}
    replay = new_replay()  # later votes have moved the stored ratings
    _replay_votes(replay, after=0, until=last)
    return replay.rating


def elo_of_teams(teams: list[int], last: int) -> dict[int, dict[int, float]]:
    """Return {team: {model id: rating}} after the teams' votes up to `last`."""
    from leaderboard.counting.columns import read_columns_by

    source = f"""
        FROM battles_vote WHERE team_id = ANY(%(teams)s) AND "order" <= %(last)s AND {DRAWN_PAIRS}
        AND excluded_reason IN ('', 'anomaly')
    """
    ratings = {}
    for team, votes in read_columns_by("team_id", _replayed_columns(), source, {"teams": teams, "last": last}).items():
        replay = new_replay()
        replay.add(**votes)
        ratings[team] = replay.rating
    return ratings


def _replayed_columns() -> "dict[str, Column]":
    from leaderboard.counting.columns import Column, outcome_column

    return {
        "order": Column('"order"', 8),
        "left": Column("model_left_id"),
        "right": Column("model_right_id"),
        "outcome": outcome_column("choice"),
    }


def _replay_votes(replay: "Replay", *, after: int, until: int = 2**63 - 1) -> int:
    """Replay counted votes with numbers in (after, until]; return the last number."""
    from leaderboard.counting.columns import read_columns

    counted = f"""
        FROM battles_vote WHERE "order" > %(after)s AND "order" <= %(until)s AND {ON_OVERALL}
        AND excluded_reason IN ('', 'anomaly')
    """
    votes = read_columns(_replayed_columns(), counted, {"after": after, "until": until}, numbered_by='"order"')
    if len(votes["order"]):
        replay.add(**votes)
    return int(votes["order"].max(initial=after))

"""Star ratings as comparisons: of two answers to one prompt, the one with more stars won.

A later rating of an answer replaces an earlier one, so new stars recount all comparisons. The side with the lower
position is left.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TypedDict

from django.db import connection
from django.db.models import Max

from battles.models import StarRating
from common.db.reading import read_cursor
from common.payload_types import JsonObject
from leaderboard.counting.board_keys import ARE_OF_PLACE, Board
from leaderboard.counting.contestants import name_sql
from leaderboard.export_rows import VoteRow
from leaderboard.models import COMPARE, AggregationRun
from leaderboard.rating.mean_stars import mean_stars

BATCH = 5_000

# Rows with the columns of votes, from stars with numbers up to %(last_star)s; the site's, or those of %(team)s.
COMPARISONS = f"""
WITH latest AS (
    SELECT DISTINCT ON (answer_id) answer_id, stars, voter, created_at
    FROM battles_starrating WHERE "order" <= %(last_star)s AND ({ARE_OF_PLACE}) ORDER BY answer_id, "order" DESC
), rated AS (
    SELECT answer.turn_id, side.position, side.model_id, side.battle_id, latest.*
    FROM latest JOIN battles_answer AS answer ON answer.id = latest.answer_id
    JOIN battles_side AS side ON side.id = answer.side_id
)
SELECT row_number() OVER (ORDER BY one.turn_id, one.position, other.position) AS "order",
    one.voter, one.model_id AS model_left_id, other.model_id AS model_right_id,
    CASE WHEN one.stars > other.stars THEN 'left' WHEN one.stars < other.stars THEN 'right' ELSE 'tie' END AS choice,
    greatest(one.created_at, other.created_at) AS created_at, one.battle_id, NULL::jsonb AS style
FROM rated AS one JOIN rated AS other ON other.turn_id = one.turn_id AND other.position > one.position
"""  # noqa: S608 (constants, here and below)
_DELETE_TALLIES = "DELETE FROM leaderboard_pairtally WHERE scope = %(scope)s"
_COUNT_TALLIES = f"""
INSERT INTO leaderboard_pairtally (scope, left_id, right_id, outcome, n)
SELECT %(scope)s, model_left_id, model_right_id, choice, count(*) FROM ({COMPARISONS}) AS vote GROUP BY 2, 3, 4
"""  # noqa: S608
_LATEST_STARS = f"""
SELECT {name_sql("model")}, latest.voter, latest.stars
FROM (
    SELECT DISTINCT ON (answer_id) answer_id, stars, voter
    FROM battles_starrating WHERE "order" <= %(last_star)s AND ({ARE_OF_PLACE}) ORDER BY answer_id, "order" DESC
) AS latest
JOIN battles_answer AS answer ON answer.id = latest.answer_id JOIN battles_side AS side ON side.id = answer.side_id
JOIN models_registry_languagemodel AS model ON model.id = side.model_id
"""  # noqa: S608
_ROWS = f"""
SELECT vote."order", vote.voter, {name_sql("model_left")}, {name_sql("model_right")}, vote.choice, vote.created_at,
    battle.categories, battle.language
FROM ({COMPARISONS}) AS vote JOIN battles_battle AS battle ON battle.id = vote.battle_id
JOIN models_registry_languagemodel AS model_left ON model_left.id = vote.model_left_id
JOIN models_registry_languagemodel AS model_right ON model_right.id = vote.model_right_id
ORDER BY 1
"""  # noqa: S608


def last_star(team: int | None = None) -> int:
    of_place = {"on_site_boards": True} if team is None else {"team": team}
    return StarRating.objects.filter(**of_place).aggregate(last=Max("order"))["last"] or 0


class StarPosition(TypedDict):
    """The board has the number of comparisons as last_order, and the last star's as last_change."""

    last_order: int
    last_change: int
    skipped_changes: int


def position(comparisons: int, last: int, team: int | None = None) -> StarPosition:
    up_to = StarRating.objects.filter(order__lte=last)
    skipped = up_to.filter(on_site_boards=False).count() if team is None else last - up_to.filter(team=team).count()
    return {"last_order": comparisons, "last_change": last, "skipped_changes": skipped}


def recount(last: int, team: int | None = None) -> None:
    """Recount the board's tallies from stars up to this number. The caller holds the lock of the tallies."""
    with connection.cursor() as cursor:
        scope = Board(COMPARE, team).scope
        cursor.execute(_DELETE_TALLIES, {"scope": scope})
        cursor.execute(_COUNT_TALLIES, {"scope": scope, "last_star": last, "team": team})


def mean_stars_by_model(last: int, team: int | None = None) -> dict[str, JsonObject]:
    """Return {contestant_name: fields of leaderboard.rating.mean_stars.MeanStars}."""
    ratings: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    with connection.cursor() as cursor:
        cursor.execute(_LATEST_STARS, {"last_star": last, "team": team})
        for name, voter, stars in cursor.fetchall():
            ratings[name][voter].append(stars)
    return {name: mean_stars(by_voter.values())._asdict() for name, by_voter in sorted(ratings.items())}


def count_renamed_since(run: AggregationRun) -> int:
    """Return how many of a snapshot's stars changed their voter since."""
    of_place = {"on_site_boards": True} if run.team_id is None else {"team": run.team_id}
    renamed = StarRating.objects.filter(order__lte=run.last_change, renamed_at__gt=run.finished_at)
    return renamed.filter(**of_place).count()


def batches(last: int, name_of: Callable[[str], str], team: int | None = None) -> Iterator[list[VoteRow]]:
    with read_cursor() as cursor:
        cursor.execute(_ROWS, {"last_star": last, "team": team})
        comparisons = cursor.fetchall()
    for start in range(0, len(comparisons), BATCH):
        yield [
            VoteRow(
                order=order,
                voter=name_of(voter),
                model_left=left,
                model_right=right,
                choice=choice,
                created_at=created_at,
                board=COMPARE,
                categories=categories,
                language=language,
                turn_count=1,
                style=None,
                excluded_reason=None,
                excluded_at=None,
                origin=None,
            )
            for order, voter, left, right, choice, created_at, categories, language in comparisons[
                start : start + BATCH
            ]
        ]

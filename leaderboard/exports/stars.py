"""Stars as rows of an export, under pseudonyms, with a mark for the latest of each answer."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from common.db.reading import read_cursor
from leaderboard.counting.board_keys import ARE_OF_PLACE, Board
from leaderboard.counting.contestants import name_sql
from leaderboard.counting.site_numbers import SiteNumbers
from leaderboard.exports.votes import BATCH, ExportRange, new_pseudonyms


class StarRow(msgspec.Struct, frozen=True):
    """Stars of an answer; turn and answer are pseudonyms like voter. Answers of one turn were compared."""

    order: int
    voter: str
    turn: str
    answer: str
    side: str
    model: str
    stars: int
    created_at: datetime
    latest: bool


_ROWS = f"""
SELECT star."order", star.voter, answer.turn_id, answer.id, side.position, {name_sql("model")}, star.stars,
    star.created_at,
    NOT EXISTS (
        SELECT FROM battles_starrating AS later
        WHERE later.answer_id = star.answer_id AND later."order" > star."order" AND later."order" <= %(last)s
    )
FROM (SELECT * FROM battles_starrating WHERE {ARE_OF_PLACE}) AS star
JOIN battles_answer AS answer ON answer.id = star.answer_id JOIN battles_side AS side ON side.id = answer.side_id
JOIN models_registry_languagemodel AS model ON model.id = side.model_id
WHERE star."order" > %(after)s AND star."order" <= %(last)s
    AND (%(since)s::timestamptz IS NULL OR star.created_at >= %(since)s)
ORDER BY 1 LIMIT %(batch)s
"""  # noqa: S608 (constants)


def batches(export_range: ExportRange) -> Iterator[list[StarRow]]:
    """Yield the rows in order, in batches with one query each. export_range.last_change: number of the last star."""
    pseudonym, team = new_pseudonyms(), Board.parse(export_range.scope).team
    numbers = _numbers(export_range, team)
    after = numbers.in_log(export_range.after_number)
    parameters = {"last": export_range.last_change, "since": export_range.since, "batch": BATCH, "team": team}
    while True:
        with read_cursor() as cursor:
            cursor.execute(_ROWS, {**parameters, "after": after})
            batch = cursor.fetchall()
        if not batch:
            return
        after = batch[-1][0]
        yield [
            StarRow(
                numbers.shown(order), pseudonym(voter), pseudonym(f"turn:{turn}"), pseudonym(f"answer:{answer}"), *rest
            )
            for order, voter, turn, answer, *rest in batch
        ]


def _numbers(export_range: ExportRange, team: int | None) -> SiteNumbers:
    if team is None:
        return SiteNumbers.read("battles_starrating", until=export_range.last_change)
    return SiteNumbers.outside_of_team("battles_starrating", team, until=export_range.last_change)

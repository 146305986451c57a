"""Stars as rows of an export: all that were ever given, under pseudonyms, and which of an answer are the latest."""

from collections.abc import Iterator
from datetime import datetime

import msgspec
from django.db import connection

from leaderboard.exports.votes import BATCH, Moment, new_pseudonyms


class StarRow(msgspec.Struct, frozen=True):
    """`turn` and `answer` are pseudonyms, as `voter` is: answers of one turn were compared with each other."""

    order: int
    voter: str
    turn: str
    answer: str
    side: str
    model: str
    stars: int
    created_at: datetime
    latest: bool


_ROWS = """
SELECT star."order", star.voter, answer.turn_id, answer.id, side.position, model.slug, star.stars, star.created_at,
    NOT EXISTS (
        SELECT FROM battles_starrating AS later
        WHERE later.answer_id = star.answer_id AND later."order" > star."order" AND later."order" <= %(last)s
    )
FROM battles_starrating AS star
JOIN battles_answer AS answer ON answer.id = star.answer_id JOIN battles_side AS side ON side.id = answer.side_id
JOIN models_registry_languagemodel AS model ON model.id = side.model_id
WHERE star."order" > %(after)s AND star."order" <= %(last)s
    AND (%(since)s::timestamptz IS NULL OR star.created_at >= %(since)s)
ORDER BY 1 LIMIT %(batch)s
"""


def batches(moment: Moment) -> Iterator[list[StarRow]]:
    """The rows in order, some thousands at a time, with a query for each piece. `moment.last_change`: the last star."""
    name_of = new_pseudonyms()
    after = moment.after_order
    while True:
        asked = {"after": after, "last": moment.last_change, "since": moment.since, "batch": BATCH}
        with connection.cursor() as cursor:
            cursor.execute(_ROWS, asked)
            found = cursor.fetchall()
        if not found:
            return
        after = found[-1][0]
        yield [
            StarRow(order, name_of(voter), name_of(f"turn:{turn}"), name_of(f"answer:{answer}"), *said)
            for order, voter, turn, answer, *said in found
        ]

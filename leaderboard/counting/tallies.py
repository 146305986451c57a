"""Counting votes: integers added and taken away, so that any order or batching gives the same.

Whoever changes tallies first takes the one lock, for its whole transaction. Pairs are counted on every board, pairs
of a voter on Overall only: elsewhere intervals by voter are made seldom, and then from the log of votes.
"""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from django.db import connection, transaction

from leaderboard.counting.board_keys import BOARDS_OF_VOTE, boards_of
from leaderboard.errors import TalliesDisagree
from leaderboard.models import OVERALL
from leaderboard.sql import read_sql

_TALLIES = "leaderboard_pairtally"
_VOTER_TALLIES = "leaderboard_voterpairtally"
_LOCK = 0x7A11_1E5  # any number that nobody else in this database uses

# Locks the pending votes and gives the last number up to which all of them are ours: a vote that somebody
# else holds waits for the next run, and so do those after it, so that a run counts exactly up to one number.
_TAKE_PENDING = """
WITH taken AS MATERIALIZED (
    SELECT "order" FROM battles_vote WHERE processing = 'pending' ORDER BY "order" FOR UPDATE SKIP LOCKED
), held AS (
    SELECT "order" FROM battles_vote WHERE processing = 'pending' EXCEPT SELECT "order" FROM taken
)
SELECT COALESCE((SELECT min("order") - 1 FROM held), (SELECT max("order") FROM taken), 0)
"""

_PAIRS = f"""
SELECT scope, model_left_id AS left_id, model_right_id AS right_id, choice AS outcome, count(*) AS n
FROM {{votes}} AS vote CROSS JOIN {BOARDS_OF_VOTE} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""  # noqa: S608 (constants)
_PAIRS_OF_VOTERS = """
SELECT 'overall' AS scope, voter, model_left_id AS left_id, model_right_id AS right_id, choice AS outcome, count(*) AS n
FROM {votes} AS vote WHERE mode = 'blind' GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
"""
_PAIR = "scope, left_id, right_id, outcome"
_PAIR_OF_VOTER = "scope, voter, left_id, right_id, outcome"
_add = partial(read_sql, "add_to_tallies.sql")
_COUNT_TAKEN = read_sql(
    "count_taken.sql",
    add_pairs_of_voters=_add(
        table=_VOTER_TALLIES, key=_PAIR_OF_VOTER, counted=_PAIRS_OF_VOTERS.format(votes="counted")
    ),
    add_pairs=_add(table=_TALLIES, key=_PAIR, counted=_PAIRS.format(votes="counted")),
)

_LOG = "(SELECT * FROM battles_vote WHERE processing = 'processed')"
_DIFFERENCES = """
SELECT count(*) FROM log FULL JOIN (SELECT * FROM {table} WHERE n > 0 AND scope <> 'compare') AS stored USING ({key})
WHERE log.n IS DISTINCT FROM stored.n
"""


class CountedVote(NamedTuple):
    """All that a vote's place in the tallies depends on."""

    voter: str
    left: int
    right: int
    choice: str
    mode: str
    categories: tuple[str, ...]
    language: str


def lock() -> None:
    """Until the transaction ends, nobody else changes tallies."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def try_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])


def count_pending() -> int:
    """Add every pending vote to its boards, or set it aside when it is excluded. Returns how many were taken."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_PENDING)
        [last] = cursor.fetchone()
        cursor.execute(_COUNT_TAKEN, [last])
        return int(cursor.fetchone()[0])


def move(*, out: Iterable[CountedVote] = (), into: Iterable[CountedVote] = ()) -> None:
    """Take votes away from where they are counted and count others, on all their boards, in a few statements.

    Raises TalliesDisagree when the tallies do not hold what is taken away.
    """
    pairs: Counter[tuple[object, ...]] = Counter()
    voters: Counter[tuple[object, ...]] = Counter()
    for votes, by in ((out, -1), (into, 1)):
        for vote in votes:
            pair = (vote.left, vote.right, vote.choice)
            for scope in boards_of(vote.mode, vote.categories, vote.language):
                pairs[(scope, *pair)] += by
                if scope == OVERALL:
                    voters[(scope, vote.voter, *pair)] += by
    _shift(_VOTER_TALLIES, _PAIR_OF_VOTER, voters)
    _shift(_TALLIES, _PAIR, pairs)


def _shift(table: str, key: str, changes: Counter[tuple[object, ...]]) -> None:
    names = key.split(", ")
    arrays = ", ".join("%s::bigint[]" if name.endswith("_id") else "%s::text[]" for name in names)
    tally_key, given_key = (", ".join(f"{row}.{name}" for name in names) for row in ("tally", "given"))
    given = f"SELECT * FROM unnest({arrays}, %s::int[]) AS given ORDER BY 1, 2, 3, 4"  # noqa: S608
    less = read_sql(
        "subtract_from_tallies.sql", table=table, key=key, arrays=arrays, tally_key=tally_key, given_key=given_key
    )
    more = _add(table=table, key=key, counted=given)
    for sql, by in ((less, -1), (more, 1)):
        places = {place: by * n for place, n in sorted(changes.items()) if by * n > 0}
        if places:
            with connection.cursor() as cursor:
                cursor.execute(sql, [*map(list, zip(*places, strict=True)), list(places.values())])
                if cursor.rowcount != len(places):
                    raise TalliesDisagree


@transaction.atomic
def rebuild() -> int:
    """Count again from the log of votes. Returns how many tallies were wrong; 0 means nothing was changed.

    Those of stars are left alone: they are counted from the beginning whenever there are new ones.
    """
    lock()
    return sum(
        _rebuild(table, key, counted.format(votes=_LOG))
        for table, key, counted in ((_TALLIES, _PAIR, _PAIRS), (_VOTER_TALLIES, _PAIR_OF_VOTER, _PAIRS_OF_VOTERS))
    )


def _rebuild(table: str, key: str, counted: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL work_mem = '256MB'")
        cursor.execute(f"CREATE TEMPORARY TABLE log ON COMMIT DROP AS {counted}")
        cursor.execute("ANALYZE log")
        cursor.execute(_DIFFERENCES.format(table=table, key=key))
        wrong = int(cursor.fetchone()[0])
        if wrong:
            cursor.execute(f"DELETE FROM {table} WHERE scope <> 'compare'")  # noqa: S608
            cursor.execute(f"INSERT INTO {table} ({key}, n) SELECT {key}, n FROM log")  # noqa: S608
        cursor.execute("DROP TABLE log")
    return wrong

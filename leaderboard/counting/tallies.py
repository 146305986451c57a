"""Tallies of votes: integers, so any order or batching of additions gives the same result.

A transaction that changes tallies first takes one advisory lock. Pairs by voter are counted on Overall only;
other boards read them from the log of votes.
"""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from django.db import connection, transaction

from leaderboard.counting.board_keys import ARE_OF_SITE, BOARDS_OF_VOTE, ON_OVERALL, board_keys
from leaderboard.counting.vote_log import PendingVotes, last_counted
from leaderboard.errors import TalliesDisagree
from leaderboard.models import OVERALL, TallyCopy
from leaderboard.sql import read_sql

_TALLIES = "leaderboard_pairtally"
_VOTER_TALLIES = "leaderboard_voterpairtally"
_LOCK_ID = 0x7A11_1E5  # arbitrary, unique in this database

_COUNT_PAIRS = f"""
SELECT scope, model_left_id AS left_id, model_right_id AS right_id, choice AS outcome, count(*) AS n
FROM {{votes}} AS vote CROSS JOIN {BOARDS_OF_VOTE} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""  # noqa: S608 (constants)
_COUNT_VOTER_PAIRS = f"""
SELECT 'overall' AS scope, voter, model_left_id AS left_id, model_right_id AS right_id, choice AS outcome, count(*) AS n
FROM {{votes}} AS vote WHERE {ON_OVERALL} GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
"""  # noqa: S608
_PAIR_KEY = "scope, left_id, right_id, outcome"
_VOTER_PAIR_KEY = "scope, voter, left_id, right_id, outcome"
_insert_sql = partial(read_sql, "add_to_tallies.sql")
_COUNT_TAKEN = read_sql(
    "count_taken.sql",
    add_pairs_of_voters=_insert_sql(
        table=_VOTER_TALLIES, key=_VOTER_PAIR_KEY, counted=_COUNT_VOTER_PAIRS.format(votes="counted")
    ),
    add_pairs=_insert_sql(table=_TALLIES, key=_PAIR_KEY, counted=_COUNT_PAIRS.format(votes="counted")),
)

_COUNTED_VOTES = "(SELECT * FROM battles_vote WHERE excluded_reason = '' AND on_site_boards AND \"order\" <= {last:d})"
_ARE_COUNTED_HERE = f"scope <> 'compare' AND {ARE_OF_SITE}"
_DIFFERENCES = f"""
SELECT count(*) FROM log
FULL JOIN (SELECT * FROM {{table}} WHERE n > 0 AND {_ARE_COUNTED_HERE}) AS stored USING ({{key}})
WHERE log.n IS DISTINCT FROM stored.n
"""  # noqa: S608 (constants)


class CountedVote(NamedTuple):
    voter: str
    left: int
    right: int
    choice: str
    mode: str
    origin: str
    categories: tuple[str, ...]
    language: str


def lock() -> None:
    """Hold until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_ID])


def try_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK_ID])
        return bool(cursor.fetchone()[0])


def count_pending(pending: PendingVotes) -> int:
    """Count pending votes on their boards; return their number, with excluded ones.

    The caller stores a run with the last number in the same transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_TAKEN, pending._asdict())
        return int(cursor.fetchone()[0])


def move(*, removed: Iterable[CountedVote] = (), added: Iterable[CountedVote] = ()) -> None:
    """Raises TalliesDisagree if a removed vote was not counted."""
    pairs: Counter[tuple[object, ...]] = Counter()
    voters: Counter[tuple[object, ...]] = Counter()
    for votes, by in ((removed, -1), (added, 1)):
        for vote in votes:
            pair = (vote.left, vote.right, vote.choice)
            for scope in board_keys(vote.mode, vote.origin, vote.categories, vote.language):
                pairs[(scope, *pair)] += by
                if scope == OVERALL:
                    voters[(scope, vote.voter, *pair)] += by
    _apply_changes(_VOTER_TALLIES, _VOTER_PAIR_KEY, voters)
    _apply_changes(_TALLIES, _PAIR_KEY, pairs)


def _apply_changes(table: str, key: str, changes: Counter[tuple[object, ...]]) -> None:
    names = key.split(", ")
    arrays = ", ".join("%s::bigint[]" if name.endswith("_id") else "%s::text[]" for name in names)
    tally_key, given_key = (", ".join(f"{row}.{name}" for name in names) for row in ("tally", "given"))
    given = f"SELECT * FROM unnest({arrays}, %s::int[]) AS given ORDER BY 1, 2, 3, 4"  # noqa: S608
    subtract = read_sql(
        "subtract_from_tallies.sql", table=table, key=key, arrays=arrays, tally_key=tally_key, given_key=given_key
    )
    add = _insert_sql(table=table, key=key, counted=given)
    for sql, sign in ((subtract, -1), (add, 1)):
        rows = {row: sign * n for row, n in sorted(changes.items()) if sign * n > 0}
        if rows:
            with connection.cursor() as cursor:
                cursor.execute(sql, [*map(list, zip(*rows, strict=True)), list(rows.values())])
                if cursor.rowcount != len(rows):
                    raise TalliesDisagree


@transaction.atomic
def rebuild() -> int:
    """Recount from the log of votes; return how many tallies were wrong.

    Tallies of stars and of teams stay: runs recount them.
    """
    lock()
    votes = _COUNTED_VOTES.format(last=last_counted())
    return sum(
        _rebuild(table, key, counted.format(votes=votes))
        for table, key, counted in (
            (_TALLIES, _PAIR_KEY, _COUNT_PAIRS),
            (_VOTER_TALLIES, _VOTER_PAIR_KEY, _COUNT_VOTER_PAIRS),
        )
    )


def _rebuild(table: str, key: str, counted: str) -> int:
    TallyCopy.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL work_mem = '256MB'")
        cursor.execute(f"CREATE TEMPORARY TABLE log ON COMMIT DROP AS {counted}")
        cursor.execute("ANALYZE log")
        cursor.execute(_DIFFERENCES.format(table=table, key=key))
        wrong = int(cursor.fetchone()[0])
        if wrong:
            cursor.execute(f"DELETE FROM {table} WHERE {_ARE_COUNTED_HERE}")  # noqa: S608
            cursor.execute(f"INSERT INTO {table} ({key}, n) SELECT {key}, n FROM log")  # noqa: S608
        cursor.execute("DROP TABLE log")
    return wrong

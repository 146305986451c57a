"""Counting votes: integers added and taken away, so that any order or batching gives the same.

Whoever changes tallies first takes the one lock, for its whole transaction.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import F
from django.dispatch import receiver

from battles.models import Vote, VoteQuerySet
from battles.signals import voter_changes
from leaderboard.errors import TalliesDisagree
from leaderboard.models import OVERALL, PairTally, VoterPairTally
from leaderboard.rating.bradley_terry import Floats
from models_registry.models import LanguageModel

OUTCOMES = [choice.value for choice in (Vote.Choice.LEFT, Vote.Choice.RIGHT, Vote.Choice.TIE, Vote.Choice.BOTH_BAD)]

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

# Bounded by a number and not joined with what was taken: the planner expects one pending vote, whatever there is.
_COUNT_TAKEN = """
WITH marked AS (
    UPDATE battles_vote
    SET processing = CASE excluded_reason WHEN '' THEN 'processed' ELSE 'excluded' END
    WHERE processing = 'pending' AND "order" <= %(last)s
    RETURNING voter, model_left_id, model_right_id, choice, processing
), counted AS (
    SELECT voter, model_left_id, model_right_id, choice, count(*) AS n
    FROM marked WHERE processing = 'processed' GROUP BY 1, 2, 3, 4
), by_voter AS (
    INSERT INTO leaderboard_voterpairtally AS tally (scope, voter, left_id, right_id, outcome, n)
    SELECT %(scope)s, voter, model_left_id, model_right_id, choice, n FROM counted ORDER BY 2, 3, 4, 5
    ON CONFLICT (scope, voter, left_id, right_id, outcome) DO UPDATE SET n = tally.n + excluded.n
), by_pair AS (
    INSERT INTO leaderboard_pairtally AS tally (scope, left_id, right_id, outcome, n)
    SELECT %(scope)s, model_left_id, model_right_id, choice, sum(n) FROM counted GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
    ON CONFLICT (scope, left_id, right_id, outcome) DO UPDATE SET n = tally.n + excluded.n
)
SELECT count(*) FROM marked
"""

_FROM_THE_LOG = """
    SELECT {key}, count(*) FROM battles_vote WHERE processing = 'processed' GROUP BY {key}
"""
_STORED = "SELECT {columns}, n FROM {table} WHERE scope = %(scope)s AND n > 0"
_DIFFERENCES = """
SELECT count(*) FROM (({log} EXCEPT {stored}) UNION ALL ({stored} EXCEPT {log})) AS difference
"""
_RECOUNT = """
INSERT INTO {table} (scope, {columns}, n) SELECT %(scope)s, log.* FROM ({log}) AS log
"""


@dataclass(frozen=True)
class BoardTallies:
    """One board's counts. counts[k, i, j]: how often OUTCOMES[k] came of models[i] left and models[j] right."""

    models: list[LanguageModel]
    counts: Floats
    checksum: str

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    @property
    def wins(self) -> Floats:
        """W, shape (models, models): row over column."""
        wins: Floats = self.counts[0] + self.counts[1].T
        return wins

    @property
    def ties(self) -> Floats:
        ties: Floats = self.counts[2] + self.counts[2].T
        return ties

    @property
    def both_bad(self) -> Floats:
        both_bad: Floats = self.counts[3] + self.counts[3].T
        return both_bad


def lock() -> None:
    """Until the transaction ends, nobody else changes tallies."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def try_to_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])


def count_pending() -> int:
    """Add every pending vote to the tallies, or set it aside when it is excluded. Returns how many were taken."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_PENDING)
        [last] = cursor.fetchone()
        cursor.execute(_COUNT_TAKEN, {"scope": OVERALL, "last": last})
        return int(cursor.fetchone()[0])


def add(vote: Vote, by: int) -> None:
    """Count one vote once more (by=1) or once less (by=-1). Raises TalliesDisagree."""
    _shift(PairTally, _pair_of(vote), by)
    _shift(VoterPairTally, {**_pair_of(vote), "voter": vote.voter}, by)


@receiver(voter_changes)
def rename_voter(votes: VoteQuerySet, voter: str, **_: Any) -> None:
    """Counted votes move with their voter, so that they can still be taken away. Raises TalliesDisagree."""
    lock()
    for vote in votes.filter(processing=Vote.Processing.PROCESSED):
        _shift(VoterPairTally, {**_pair_of(vote), "voter": vote.voter}, -1)
        _shift(VoterPairTally, {**_pair_of(vote), "voter": voter}, 1)


def _pair_of(vote: Vote) -> dict[str, object]:
    return {
        "scope": OVERALL,
        "left_id": vote.model_left_id,
        "right_id": vote.model_right_id,
        "outcome": vote.choice,
    }


def _shift(tally: type[PairTally] | type[VoterPairTally], key: dict[str, object], by: int) -> None:
    rows = tally.objects.filter(**key)
    if by > 0:
        if not rows.update(n=F("n") + by):
            tally.objects.create(**key, n=by)
    elif not rows.filter(n__gte=-by).update(n=F("n") + by):
        raise TalliesDisagree


def rebuild() -> int:
    """Count again from the log of votes. Returns how many tallies were wrong; 0 means nothing was changed."""
    lock()
    return sum(
        _rebuild(table, columns, key)
        for table, columns, key in (
            ("leaderboard_pairtally", "left_id, right_id, outcome", "model_left_id, model_right_id, choice"),
            (
                "leaderboard_voterpairtally",
                "voter, left_id, right_id, outcome",
                "voter, model_left_id, model_right_id, choice",
            ),
        )
    )


def _rebuild(table: str, columns: str, key: str) -> int:
    log = _FROM_THE_LOG.format(key=key)
    stored = _STORED.format(columns=columns, table=table)
    with connection.cursor() as cursor:
        cursor.execute(_DIFFERENCES.format(log=log, stored=stored), {"scope": OVERALL})
        wrong = int(cursor.fetchone()[0])
        if wrong:
            cursor.execute(f"DELETE FROM {table} WHERE scope = %s", [OVERALL])  # noqa: S608 (two constants)
            cursor.execute(_RECOUNT.format(table=table, columns=columns, log=log), {"scope": OVERALL})
    return wrong


def read() -> BoardTallies:
    """The counts of the board, with models ordered by slug.

    The checksum is SHA-256, in hex, over the lines "left right outcome n" (slugs, tab-separated, each line
    ended by a newline) in ascending order, so that anybody with the votes can compute it.
    """
    rows = list(PairTally.objects.filter(scope=OVERALL, n__gt=0).values_list("left_id", "right_id", "outcome", "n"))
    contestants = {left for left, *_ in rows} | {right for _, right, *_ in rows}
    models = sorted(LanguageModel.objects.filter(pk__in=contestants), key=lambda model: model.slug)
    place = {model.pk: index for index, model in enumerate(models)}
    slug = {model.pk: model.slug for model in models}
    counts = np.zeros((len(OUTCOMES), len(models), len(models)))
    for left, right, outcome, n in rows:
        counts[OUTCOMES.index(outcome), place[left], place[right]] = n
    lines = sorted(f"{slug[left]}\t{slug[right]}\t{outcome}\t{n}\n" for left, right, outcome, n in rows)
    return BoardTallies(models, counts, hashlib.sha256("".join(lines).encode()).hexdigest())

"""Of a person's votes of a day (UTC), and of a network's, only the first count; the others are kept and marked.

A vote's place among the day's votes is their order in the log, so that every later count agrees. Votes are marked as
they are cast: live Elo does not move, and the page says so. Votes cast at the same moment may pass unmarked; `beyond`
finds them before they are counted, under the lock of the tallies.
"""

from django.conf import settings
from django.db import connection

from accounts.actor import Actor
from battles.models import Vote, VoteNetwork, VoteQuerySet

UNLIMITED = 2**31 - 1
# True once this process has seen the table; before its migration votes are stored without a network.
_table_exists = False

_TODAY = "date_trunc('day', now() AT TIME ZONE 'UTC')"

# Each reads no more of an index than the cap.
_PERSON_IS_OVER = f"""
SELECT count(*) >= %(person)s FROM (
    SELECT 1 FROM battles_vote WHERE voter = %(voter)s AND created_at >= {_TODAY} AT TIME ZONE 'UTC' LIMIT %(person)s
) AS votes
"""  # noqa: S608 (constants)
_NETWORK_IS_OVER = f"""
SELECT count(*) >= %(network)s FROM (
    SELECT 1 FROM battles_votenetwork WHERE network = %(word)s AND day = {_TODAY}::date LIMIT %(network)s
) AS votes
"""  # noqa: S608 (constants)

# The place of a pending vote: after those of its day that were taken, which are all before it, and among the pending.
_BEYOND = """
WITH pending AS (
    SELECT id, voter, network, vote_day AS day, excluded_reason,
        row_number() OVER (PARTITION BY voter, vote_day ORDER BY "order") AS of_voter,
        row_number() OVER (PARTITION BY network, vote_day ORDER BY "order") AS of_network
    FROM battles_vote AS vote
    CROSS JOIN LATERAL (SELECT (created_at AT TIME ZONE 'UTC')::date AS vote_day) AS days
    LEFT JOIN battles_votenetwork AS origin ON origin.vote_id = vote.id
    WHERE processing = 'pending'
), voters AS (
    SELECT voter, day, (SELECT count(*) FROM (
        SELECT 1 FROM battles_vote AS taken
        WHERE taken.voter = days.voter AND taken.processing <> 'pending'
            AND taken.created_at >= days.day::timestamp AT TIME ZONE 'UTC'
            AND taken.created_at < (days.day + 1)::timestamp AT TIME ZONE 'UTC'
        LIMIT %(person)s
    ) AS found) AS taken
    FROM (SELECT DISTINCT voter, day FROM pending) AS days
), networks AS (
    SELECT network, day, (SELECT count(*) FROM (
        SELECT 1 FROM battles_votenetwork AS origin JOIN battles_vote AS taken ON taken.id = origin.vote_id
        WHERE origin.network = days.network AND origin.day = days.day AND taken.processing <> 'pending'
        LIMIT %(network)s
    ) AS found) AS taken
    FROM (SELECT DISTINCT network, day FROM pending WHERE network IS NOT NULL) AS days
)
SELECT pending.id FROM pending
JOIN voters USING (voter, day)
LEFT JOIN networks ON networks.network = pending.network AND networks.day = pending.day
WHERE pending.excluded_reason = ''
    AND (of_voter + voters.taken > %(person)s OR of_network + networks.taken > %(network)s)
"""


def is_reached(actor: Actor) -> bool:
    """Whether the actor's next vote is beyond the cap of the person or of the network."""
    caps = _caps()
    with connection.cursor() as cursor:
        if caps["person"] < UNLIMITED:
            cursor.execute(_PERSON_IS_OVER, {**caps, "voter": actor.key})
            if cursor.fetchone()[0]:
                return True
        word = _network_of(actor)
        if word and caps["network"] < UNLIMITED and _has_table():
            cursor.execute(_NETWORK_IS_OVER, {**caps, "word": word})
            return bool(cursor.fetchone()[0])
    return False


def note_network(vote: Vote, actor: Actor) -> None:
    """Remember where a vote came from, in its own transaction."""
    word = _network_of(actor)
    if word and _has_table():
        VoteNetwork.objects.create(vote=vote, network=word, day=vote.created_at.date())


def beyond() -> VoteQuerySet:
    """Pending votes that are beyond a cap and not marked. Under the lock of the tallies."""
    caps = _caps()
    if min(caps.values()) == UNLIMITED or not _has_table():
        return Vote.objects.none()
    with connection.cursor() as cursor:
        cursor.execute(_BEYOND, caps)
        return Vote.objects.filter(pk__in=[pk for (pk,) in cursor.fetchall()])


def _caps() -> dict[str, int]:
    return {whose: cap or UNLIMITED for whose, cap in settings.ARENA_DAILY_VOTES.items()}


def _network_of(actor: Actor) -> str:
    """The IPv4 address's or the IPv6 /48's: one person may have a whole /48. Empty where no request was made."""
    return actor.network48 or ("" if actor.network == "unknown" else actor.network)


def _has_table() -> bool:
    global _table_exists
    if not _table_exists:
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass('battles_votenetwork') IS NOT NULL")
            [_table_exists] = cursor.fetchone()
    return _table_exists

"""Daily caps (UTC) on counted votes per person and network, outside of reviews; further votes are excluded.

The order in the log decides, so every count agrees. Votes are marked when cast: live Elo then does not move. Votes cast
at the same moment may pass unmarked; `votes_over_cap` finds them before they are counted, under the lock of the
tallies.
"""

from datetime import date

from django.conf import settings
from django.db import connection

from accounts.actor import Actor
from battles.models import NetworkCap, Vote, VoteNetwork, VoteQuerySet

UNLIMITED = 2**31 - 1

_TODAY = "date_trunc('day', now() AT TIME ZONE 'UTC')"

# The LIMIT keeps both from reading more of an index than the cap.
_PERSON_REACHED_CAP = f"""
SELECT count(*) >= %(person)s FROM (
    SELECT 1 FROM battles_vote
    WHERE voter = %(voter)s AND created_at >= {_TODAY} AT TIME ZONE 'UTC' AND series = '' LIMIT %(person)s
) AS votes
"""  # noqa: S608 (constants)
_NETWORK_REACHED_CAP = f"""
SELECT count(*) >= %(network)s FROM (
    SELECT 1 FROM battles_votenetwork WHERE network = %(network_hash)s AND day = {_TODAY}::date LIMIT %(network)s
) AS votes
"""  # noqa: S608 (constants)

# Rank of each pending vote in its day: the number of earlier votes plus its rank among the pending ones.
# Materialized: earlier votes are counted once for all pending votes of a day.
_PENDING_OVER_CAP = """
WITH pending AS (
    SELECT id, voter, network, vote_day AS day, excluded_reason,
        row_number() OVER (PARTITION BY voter, vote_day ORDER BY "order") AS of_voter,
        row_number() OVER (PARTITION BY network, vote_day ORDER BY "order") AS of_network
    FROM battles_vote AS vote
    CROSS JOIN LATERAL (SELECT (created_at AT TIME ZONE 'UTC')::date AS vote_day) AS days
    LEFT JOIN battles_votenetwork AS origin ON origin.vote_id = vote.id
    WHERE "order" > %(after)s AND "order" <= %(until)s AND series = ''
), voters AS MATERIALIZED (
    SELECT voter, day, (SELECT count(*) FROM (
        SELECT 1 FROM battles_vote AS taken
        WHERE taken.voter = days.voter AND taken."order" <= %(after)s
            AND taken.created_at >= days.day::timestamp AT TIME ZONE 'UTC'
            AND taken.created_at < (days.day + 1)::timestamp AT TIME ZONE 'UTC' AND taken.series = ''
        LIMIT %(person)s
    ) AS found) AS taken
    FROM (SELECT DISTINCT voter, day FROM pending) AS days
), networks AS MATERIALIZED (
    SELECT network, day, cap, (SELECT count(*) FROM (
        SELECT 1 FROM battles_votenetwork AS origin JOIN battles_vote AS taken ON taken.id = origin.vote_id
        WHERE origin.network = days.network AND origin.day = days.day AND taken."order" <= %(after)s
        LIMIT cap
    ) AS found) AS taken
    FROM (
        SELECT DISTINCT network, day, %(network)s * coalesce(wider.times, 1)::bigint AS cap
        FROM pending LEFT JOIN battles_networkcap AS wider USING (network, day) WHERE network IS NOT NULL
    ) AS days
)
SELECT pending.id FROM pending
JOIN voters USING (voter, day)
LEFT JOIN networks ON networks.network = pending.network AND networks.day = pending.day
WHERE pending.excluded_reason = ''
    AND (of_voter + voters.taken > %(person)s OR of_network + networks.taken > networks.cap)
"""


def is_reached(actor: Actor) -> bool:
    """Return whether the next vote would be over a cap."""
    caps = _caps()
    with connection.cursor() as cursor:
        if caps["person"] < UNLIMITED:
            cursor.execute(_PERSON_REACHED_CAP, {**caps, "voter": actor.key})
            if cursor.fetchone()[0]:
                return True
        network = _network_hash(actor)
        if network and caps["network"] < UNLIMITED:
            cap = caps["network"] * actor.network_times
            cursor.execute(_NETWORK_REACHED_CAP, {"network": cap, "network_hash": network})
            return bool(cursor.fetchone()[0])
    return False


def record_network(vote: Vote, actor: Actor) -> None:
    """Store the network for later counts. Call in the vote's transaction."""
    network, day = _network_hash(actor), vote.created_at.date()
    if not network:
        return
    VoteNetwork.objects.create(vote=vote, network=network, day=day)
    if actor.network_times > 1:
        _record_wider_cap(network, day, actor.network_times)


def _record_wider_cap(network: str, day: date, times: int) -> None:
    # Read first: an upsert would lock the row, and the network's votes would wait for each other.
    if not NetworkCap.objects.filter(network=network, day=day, times=times).exists():
        NetworkCap.objects.bulk_create(
            [NetworkCap(network=network, day=day, times=times)],
            update_conflicts=True, unique_fields=["network", "day"], update_fields=["times"],
        )  # fmt: skip


def votes_over_cap(*, after: int, until: int) -> VoteQuerySet:
    """Return unmarked votes over a cap, numbered in (after, until]. Needs the lock of the tallies."""
    caps = _caps()
    if min(caps.values()) == UNLIMITED:
        return Vote.objects.none()
    with connection.cursor() as cursor:
        cursor.execute(_PENDING_OVER_CAP, {**caps, "after": after, "until": until})
        return Vote.objects.with_ids([pk for (pk,) in cursor.fetchall()])


def _caps() -> dict[str, int]:
    return {scope: cap or UNLIMITED for scope, cap in settings.ARENA_DAILY_VOTES.items()}


def _network_hash(actor: Actor) -> str:
    """Hash the IPv4 address or IPv6 /48 (one person may have it all); "" without a request."""
    return "" if actor.network == "unknown" else actor.wide_network

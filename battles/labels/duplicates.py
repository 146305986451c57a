"""Exclude excess votes on prompts that occur far more often than others in blind battles.

Otherwise one greeting could outweigh all other prompts. An aggregation finds them; later votes are excluded when cast.
"""

import itertools
import math
from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter

from django.db import connection
from django.db.models import Exists, OuterRef, Q, Window
from django.db.models.functions import Coalesce, RowNumber

from battles.models import Vote, VoteQuerySet

# A prompt is overused if its number of votes is above this percentile of all prompts' and above MAX_COUNTED_VOTES.
PERCENTILE = 0.999
MAX_COUNTED_VOTES = 25

# Votes excluded for another reason are not counted as repetitions.
_RELEVANT_REASONS = ["", Vote.ExcludedReason.DUPLICATE_PROMPT]

_PROMPTS_BY_VOTES = """
SELECT team_id, origin, votes, count(*), array_agg(prompt_digest) FILTER (WHERE votes > %(kept)s)
FROM (
    SELECT team_id, origin, prompt_digest, count(*) AS votes FROM battles_vote
    WHERE prompt_digest <> '' AND mode = 'blind' AND excluded_reason = ANY(%(reasons)s)
    GROUP BY team_id, origin, prompt_digest
) AS prompts
GROUP BY team_id, origin, votes ORDER BY team_id, origin, votes
"""


def excess_duplicates() -> VoteQuerySet:
    """Return votes on overused prompts after the first MAX_COUNTED_VOTES of each.

    Reads every vote's digest: some seconds per million votes.
    """
    with connection.cursor() as cursor:
        cursor.execute(_PROMPTS_BY_VOTES, {"kept": MAX_COUNTED_VOTES, "reasons": _RELEVANT_REASONS})
        prompts_by_votes = cursor.fetchall()
    is_overused = Q(pk__in=[])
    # Votes on drawn pairs and others, and those of each team, count on different boards.
    for (team, origin), of_origin in itertools.groupby(prompts_by_votes, key=itemgetter(0, 1)):
        rows = [(votes, prompts, digests or ()) for _, _, votes, prompts, digests in of_origin]
        threshold = _percentile([(votes, prompts) for votes, prompts, _ in rows])
        overused = [digest for votes, _, digests in rows if votes > threshold for digest in digests]
        if overused:
            is_overused |= Q(team=team, origin=origin, prompt_digest__in=overused)
    rank = Window(RowNumber(), partition_by=["team", "origin", "prompt_digest"], order_by="order")
    votes = Vote.objects.blind().filter(is_overused, excluded_reason__in=_RELEVANT_REASONS)
    excess = votes.annotate(rank=rank).filter(rank__gt=MAX_COUNTED_VOTES, excluded_reason="")
    return Vote.objects.with_ids(list(excess.values_list("pk", flat=True)))


def has_overused_prompt() -> Exists:
    """Annotate battles: votes on the prompt are excluded."""
    # The database has no number 0: without a team both are equal.
    excluded = Vote.objects.annotate(place=Coalesce("team", 0)).filter(
        prompt_digest=OuterRef("prompt_digest"), origin=OuterRef("origin"),
        place=Coalesce(OuterRef("session__team"), 0), excluded_reason=Vote.ExcludedReason.DUPLICATE_PROMPT,
    )  # fmt: skip
    return Exists(excluded.exclude(prompt_digest=""))


def _percentile(prompts_by_votes: Sequence[tuple[int, int]]) -> float:
    """Return PERCENTILE of votes per prompt, interpolated so that one of few prompts can exceed it.

    prompts_by_votes: (number of votes, number of prompts with it), ascending.
    """
    ends = list(itertools.accumulate(prompts for _, prompts in prompts_by_votes))  # ranks from 0 that follow each row
    position = PERCENTILE * (ends[-1] - 1)
    lower, upper = (prompts_by_votes[bisect_right(ends, n)][0] for n in (math.floor(position), math.ceil(position)))
    return lower + (upper - lower) * (position - math.floor(position))

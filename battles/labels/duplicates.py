"""Prompts that are voted on far more often than others in blind battles keep their first votes only.

Otherwise one greeting, or one prompt that somebody's favourite answers well, would weigh more than the rest together.
Which prompts these are is looked up now and then, over all votes; who goes on repeating one is told with the vote, so
that live Elo does not move.
"""

import itertools
import math
from collections.abc import Sequence

from django.db import connection
from django.db.models import Exists, OuterRef, Window
from django.db.models.functions import RowNumber

from battles.models import Vote, VoteQuerySet

# A prompt is repeated too often beyond this percentile of all prompts' numbers of votes, and above this many votes.
PERCENTILE = 0.999
KEPT = 25

# Votes set aside for another reason neither repeat anything nor take a place among the first.
_ASKED = ["", Vote.ExcludedReason.DUPLICATE_PROMPT]

_PROMPTS_BY_VOTES = """
SELECT votes, count(*), array_agg(prompt_digest) FILTER (WHERE votes > %(kept)s)
FROM (
    SELECT prompt_digest, count(*) AS votes FROM battles_vote
    WHERE prompt_digest <> '' AND mode = 'blind' AND excluded_reason = ANY(%(asked)s) GROUP BY prompt_digest
) AS prompts
GROUP BY votes ORDER BY votes
"""


def repetitions() -> VoteQuerySet:
    """Votes that still count although their prompt was repeated too often, pending and counted ones.

    Reads every vote's digest: some seconds per million votes.
    """
    with connection.cursor() as cursor:
        cursor.execute(_PROMPTS_BY_VOTES, {"kept": KEPT, "asked": _ASKED})
        prompts_by_votes = cursor.fetchall()
    if not prompts_by_votes:
        return Vote.objects.none()
    usual = _percentile([(votes, prompts) for votes, prompts, _ in prompts_by_votes])
    too_often = [digest for votes, _, digests in prompts_by_votes if votes > usual for digest in digests or ()]
    place = Window(RowNumber(), partition_by="prompt_digest", order_by="order")
    asked = Vote.objects.blind().filter(prompt_digest__in=too_often, excluded_reason__in=_ASKED).annotate(place=place)
    late = asked.filter(place__gt=KEPT, excluded_reason="").values_list("pk", flat=True)
    return Vote.objects.filter(pk__in=list(late))


def repeats_too_often() -> Exists:
    """For annotating battles: whether votes on its prompt were set aside for that, and are. Asks an index."""
    set_aside = Vote.objects.filter(
        prompt_digest=OuterRef("prompt_digest"), excluded_reason=Vote.ExcludedReason.DUPLICATE_PROMPT
    )
    return Exists(set_aside.exclude(prompt_digest=""))


def _percentile(prompts_by_votes: Sequence[tuple[int, int]]) -> float:
    """The percentile of the prompts' numbers of votes, interpolated: where few prompts are known, one can be above it.

    prompts_by_votes: (a number of votes, how many prompts have it), ascending.
    """
    position = PERCENTILE * (sum(prompts for _, prompts in prompts_by_votes) - 1)
    lower, upper = (_nth(prompts_by_votes, n) for n in (math.floor(position), math.ceil(position)))
    return lower + (upper - lower) * (position - math.floor(position))


def _nth(prompts_by_votes: Sequence[tuple[int, int]], n: int) -> int:
    """The number of votes of the prompt at place n, from 0."""
    passed = itertools.accumulate(prompts for _, prompts in prompts_by_votes)
    return next(votes for (votes, _), until in zip(prompts_by_votes, passed, strict=True) if until > n)

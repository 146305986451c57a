"""Prompts that are voted on far more often than others keep their first votes only.

Otherwise one greeting, or one prompt that somebody's favourite answers well, would weigh more than the rest together.
"""

from django.db import connection

from battles.models import Vote, VoteQuerySet

# A prompt is repeated too often beyond this share of all prompts' numbers of votes, and above this number of votes.
PERCENTILE = 0.999
KEPT = 25

# Votes that are set aside for another reason neither count as repetitions nor take a place among the first. The
# percentile is interpolated, as in PERCENTILE_CONT, so that in a small arena the one most frequent prompt can be it.
_REPEATED = """
WITH asked AS MATERIALIZED (
    SELECT prompt_digest, count(*) AS votes FROM battles_vote
    WHERE prompt_digest <> '' AND excluded_reason IN ('', 'duplicate_prompt') GROUP BY 1
), too_often AS (
    SELECT prompt_digest FROM asked
    WHERE votes > %(kept)s AND votes > (SELECT percentile_cont(%(percentile)s) WITHIN GROUP (ORDER BY votes) FROM asked)
)
SELECT id FROM (
    SELECT id, excluded_reason, row_number() OVER (PARTITION BY prompt_digest ORDER BY "order") AS place
    FROM battles_vote
    WHERE prompt_digest IN (SELECT prompt_digest FROM too_often) AND excluded_reason IN ('', 'duplicate_prompt')
) AS repetitions
WHERE place > %(kept)s AND excluded_reason = ''
"""


def repetitions() -> VoteQuerySet:
    """Votes that still count although their prompt was repeated too often, pending and counted ones."""
    with connection.cursor() as cursor:
        cursor.execute(_REPEATED, {"kept": KEPT, "percentile": PERCENTILE})
        return Vote.objects.filter(pk__in=[pk for (pk,) in cursor.fetchall()])

"""How soon a model's first words come."""

from django.db import connection

CALLS_PER_MODEL = 1000

_MEDIANS = """
SELECT model.id, percentile_cont(0.5) WITHIN GROUP (ORDER BY recent.first_token_ms)
FROM unnest(%s::bigint[]) AS model (id) CROSS JOIN LATERAL (
    SELECT first_token_ms FROM battles_call
    WHERE model_id = model.id AND state = 'done' AND first_token_ms IS NOT NULL
    ORDER BY id DESC LIMIT %s
) AS recent GROUP BY model.id
"""


def median_first_token_ms(model_ids: list[int]) -> dict[int, int]:
    """By model id, over its last 1,000 finished calls; models without any are left out."""
    with connection.cursor() as cursor:
        cursor.execute(_MEDIANS, [model_ids, CALLS_PER_MODEL])
        return {model_id: round(median) for model_id, median in cursor.fetchall()}

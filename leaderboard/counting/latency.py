from django.db import connection

from leaderboard.counting.revealed_calls import CALLS_OF_MODEL, RevealCutoff

# Each call is joined with its battle and vote: a board of 300 models reads 30,000 calls in every run.
CALLS_PER_MODEL = 100

_MEDIANS = f"""
SELECT model.id, percentile_cont(0.5) WITHIN GROUP (ORDER BY recent.first_token_ms)
FROM unnest(%(models)s::bigint[]) AS model (id) CROSS JOIN LATERAL (
    SELECT call.first_token_ms FROM {CALLS_OF_MODEL.format(model="model.id")}
    AND call.state = 'done' AND call.first_token_ms IS NOT NULL
    ORDER BY call.started_at DESC LIMIT %(limit)s
) AS recent GROUP BY model.id
"""  # noqa: S608 (constants)


def median_first_token_ms(model_ids: list[int], revealed: RevealCutoff) -> dict[int, int]:
    """Return {model id: median over its last CALLS_PER_MODEL finished calls} of models with calls."""
    with connection.cursor() as cursor:
        cursor.execute(_MEDIANS, {"models": model_ids, "limit": CALLS_PER_MODEL, **revealed._asdict()})
        return {model_id: round(median) for model_id, median in cursor.fetchall()}

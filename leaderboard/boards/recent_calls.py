from typing import cast

from django.db import connection

from common.text.money import plain_decimal
from leaderboard.counting.revealed_calls import RevealCutoff, calls_of_model_sql
from leaderboard.payload_types import CallsPayload
from models_registry.spending import COST_QUANTUM

MAX_CALLS = 1000

_SUMMARY = f"""
SELECT
    count(*) AS calls,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY first_token_ms) FILTER (WHERE state = 'done') AS first_token_p50_ms,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY first_token_ms) FILTER (WHERE state = 'done') AS first_token_p95_ms,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms) FILTER (WHERE state = 'done') AS total_p50_ms,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY total_ms) FILTER (WHERE state = 'done') AS total_p95_ms,
    avg(completion_tokens) FILTER (WHERE state = 'done') AS mean_tokens,
    avg(cost) FILTER (WHERE state = 'done') AS mean_cost,
    count(*) FILTER (WHERE finish_reason = 'content_filter' OR error = 'filtered') AS refused,
    count(*) FILTER (WHERE finish_reason = 'length') AS cut_short,
    count(*) FILTER (WHERE state = 'failed') AS failed
FROM (
    SELECT call.* FROM {calls_of_model_sql("%(model)s")} AND call.state IN ('done', 'stopped', 'failed')
    ORDER BY call.started_at DESC LIMIT %(limit)s
) AS recent
"""  # noqa: S608 (constants)


def recent_calls(model_id: int) -> CallsPayload | None:
    """Return figures of the last MAX_CALLS revealed calls (milliseconds, US dollars), or None without calls."""
    with connection.cursor() as cursor:
        cutoff = RevealCutoff.of_newest_snapshot()
        cursor.execute(_SUMMARY, {"model": model_id, "limit": MAX_CALLS, **cutoff._asdict()})
        names = [column.name for column in cursor.description or []]
        figures = dict(zip(names, cursor.fetchone(), strict=True))
    if not figures["calls"]:
        return None
    for name in ("first_token_p50_ms", "first_token_p95_ms", "total_p50_ms", "total_p95_ms", "mean_tokens"):
        figures[name] = None if figures[name] is None else round(figures[name])
    if figures["mean_cost"] is not None:
        figures["mean_cost"] = plain_decimal(figures["mean_cost"].quantize(COST_QUANTUM))
    return cast(CallsPayload, figures)

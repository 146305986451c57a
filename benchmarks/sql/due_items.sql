-- Numbers of due items by entrant, counted up to `maximum` of each.
SELECT wanted.entrant_id, due.n
FROM jsonb_to_recordset(%(entrants)s::jsonb) AS wanted (entrant_id bigint, maximum integer)
CROSS JOIN LATERAL (
    SELECT count(*) AS n
    FROM (
        SELECT
        FROM benchmarks_runitem
        WHERE entrant_id = wanted.entrant_id AND state = 'queued' AND due_at <= now()
        LIMIT wanted.maximum
    ) AS first
) AS due

-- Rows of MetricDay from the facts of one family: facts (metric, team, span, dim, key, n, total, bucket).
WITH facts AS (
{facts}
), cells AS (
    SELECT metric, team, span, dim, key, bucket, sum(n)::bigint AS n, sum(total)::numeric(24, 8) AS total
    FROM facts
    GROUP BY metric, team, span, dim, key, bucket
)
SELECT metric, team, span, dim, key,
    (sum(n) FILTER (WHERE place = 1))::bigint,
    sum(total) FILTER (WHERE place = 1),
    coalesce(array_agg(number ORDER BY bucket, place) FILTER (WHERE bucket IS NOT NULL), ARRAY[]::integer[])
FROM cells CROSS JOIN LATERAL (VALUES (1, bucket), (2, n::integer)) AS pair (place, number)
GROUP BY metric, team, span, dim, key

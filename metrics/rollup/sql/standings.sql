-- The last snapshot of Overall that was published on the day.
SELECT figure.metric, NULL::bigint AS team, 'day' AS span, 'model' AS dim, standing.model_id::text AS key, 1 AS n,
    figure.total::numeric AS total, NULL::integer AS bucket
FROM (
    SELECT id FROM leaderboard_aggregationrun
    WHERE scope = 'overall' AND team_id IS NULL AND state = 'done'
        AND finished_at >= %(start)s AND finished_at < %(end)s
    ORDER BY id DESC LIMIT 1
) AS run
JOIN leaderboard_standing AS standing ON standing.run_id = run.id
CROSS JOIN LATERAL (VALUES ('score', standing.score), ('elo', standing.elo)) AS figure (metric, total)
WHERE figure.total IS NOT NULL

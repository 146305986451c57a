WITH vote AS (
    SELECT vote.*,
        -- Held by the site's moderators, of which voters are not told: in their team it is shown as counted.
        excluded_reason = 'anomaly' AND on_site_boards AS is_held,
        extract(epoch FROM vote.created_at - (
        SELECT max(turn.finished_at) FROM battles_turn AS turn
        WHERE turn.battle_id = vote.battle_id AND NOT turn.after_vote AND turn.finished_at <= vote.created_at
    )) AS seconds
    FROM battles_vote AS vote
    WHERE vote.created_at >= %(start)s AND vote.created_at < %(end)s AND vote.mode <> 'review'
)
SELECT figure.metric, place.team, 'day' AS span, part.dim, part.key, 1 AS n, figure.total, figure.bucket
FROM vote
CROSS JOIN LATERAL unnest(
    CASE WHEN vote.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, vote.team_id] END
) AS place (team)
CROSS JOIN LATERAL (VALUES ('', ''), ('mode', vote.mode), ('language', vote.language)) AS part (dim, key)
CROSS JOIN LATERAL (
    VALUES (
            'counted_share',
            (vote.excluded_reason = '' OR (vote.is_held AND place.team IS NOT NULL))::integer::numeric, NULL::integer
        ),
        (CASE WHEN vote.seconds IS NOT NULL THEN 'time_to_vote' END, vote.seconds,
            floor(ln(greatest(vote.seconds, 0.1)::float8) / ln(%(ratio)s::float8))::integer)
) AS figure (metric, total, bucket)
WHERE figure.metric IS NOT NULL
UNION ALL
SELECT 'excluded_votes', place.team, 'day', part.dim, part.key, 1, 1, NULL
FROM vote
CROSS JOIN LATERAL unnest(
    CASE WHEN vote.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, vote.team_id] END
) AS place (team)
CROSS JOIN LATERAL (VALUES ('', ''), ('reason', vote.excluded_reason)) AS part (dim, key)
WHERE vote.excluded_reason <> '' AND NOT (vote.is_held AND place.team IS NOT NULL)
UNION ALL
SELECT 'win_rate', place.team, 'day', 'model', side.model::text, 1, side.points, NULL
FROM vote
CROSS JOIN LATERAL (VALUES (NULL::bigint, vote.on_site_boards), (vote.team_id, vote.team_id IS NOT NULL))
    AS place (team, counts)
CROSS JOIN LATERAL (
    VALUES (vote.model_left_id, CASE vote.choice WHEN 'left' THEN 1 WHEN 'right' THEN 0 ELSE 0.5 END),
        (vote.model_right_id, CASE vote.choice WHEN 'right' THEN 1 WHEN 'left' THEN 0 ELSE 0.5 END)
) AS side (model, points)
WHERE place.counts AND vote.excluded_reason = '' AND vote.mode = 'blind' AND vote.origin = 'draw'
    AND vote."order" <= %(last_order)s AND vote.created_at < %(until)s

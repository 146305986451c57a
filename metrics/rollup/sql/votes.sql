-- Votes are first summed by place and what they are counted by, which are few.
WITH vote AS (
    SELECT vote.team_id AS place_id, vote.mode, vote.language, vote.excluded_reason AS reason,
        -- Held by the site's moderators, of which voters are not told: in their team it is shown as counted.
        vote.excluded_reason = 'anomaly' AND vote.on_site_boards AS is_held,
        extract(epoch FROM vote.created_at - (
            SELECT max(turn.finished_at) FROM battles_turn AS turn
            WHERE turn.battle_id = vote.battle_id AND NOT turn.after_vote AND turn.finished_at <= vote.created_at
        )) AS seconds
    FROM battles_vote AS vote
    WHERE vote.created_at >= %(start)s AND vote.created_at < %(end)s AND vote.mode <> 'review'
), sums AS (
    SELECT place_id, mode, language, reason, is_held, count(*) AS n
    FROM vote
    GROUP BY place_id, mode, language, reason, is_held
), times AS (
    SELECT place_id, mode, language, count(*) AS n, sum(seconds) AS seconds,
        floor(ln(greatest(seconds, 0.1)::float8) / ln(%(ratio)s::float8))::integer AS bucket
    FROM vote
    WHERE seconds IS NOT NULL
    GROUP BY place_id, mode, language, bucket
), figure AS (
    SELECT 'counted_share' AS metric, place.team, sums.mode, sums.language, NULL AS reason, sums.n,
        CASE WHEN sums.reason = '' OR (sums.is_held AND place.team IS NOT NULL) THEN sums.n ELSE 0 END AS total,
        NULL::integer AS bucket
    FROM sums
    CROSS JOIN LATERAL unnest(
        CASE WHEN sums.place_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, sums.place_id] END
    ) AS place (team)
    UNION ALL
    SELECT 'time_to_vote', place.team, times.mode, times.language, NULL, times.n, times.seconds, times.bucket
    FROM times
    CROSS JOIN LATERAL unnest(
        CASE WHEN times.place_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, times.place_id] END
    ) AS place (team)
)
SELECT figure.metric, figure.team, 'day' AS span, part.dim, part.key, figure.n, figure.total, figure.bucket
FROM figure
CROSS JOIN LATERAL (VALUES ('', ''), ('mode', figure.mode), ('language', figure.language)) AS part (dim, key)
UNION ALL
SELECT 'excluded_votes', place.team, 'day', part.dim, part.key, sums.n, sums.n, NULL
FROM sums
CROSS JOIN LATERAL unnest(
    CASE WHEN sums.place_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, sums.place_id] END
) AS place (team)
CROSS JOIN LATERAL (VALUES ('', ''), ('reason', sums.reason)) AS part (dim, key)
WHERE sums.reason <> '' AND NOT (sums.is_held AND place.team IS NOT NULL)
UNION ALL
SELECT 'win_rate', place.team, 'day', 'model', side.model::text, pair.n, side.points * pair.n, NULL
FROM (
    SELECT team_id, on_site_boards, model_left_id, model_right_id, choice, count(*) AS n
    FROM battles_vote
    WHERE created_at >= %(start)s AND created_at < least(%(end)s, %(until)s) AND "order" <= %(last_order)s
        AND excluded_reason = '' AND mode = 'blind' AND origin = 'draw'
    GROUP BY team_id, on_site_boards, model_left_id, model_right_id, choice
) AS pair
CROSS JOIN LATERAL (VALUES (NULL::bigint, pair.on_site_boards), (pair.team_id, pair.team_id IS NOT NULL))
    AS place (team, counts)
CROSS JOIN LATERAL (
    VALUES (pair.model_left_id, CASE pair.choice WHEN 'left' THEN 1 WHEN 'right' THEN 0 ELSE 0.5 END),
        (pair.model_right_id, CASE pair.choice WHEN 'right' THEN 1 WHEN 'left' THEN 0 ELSE 0.5 END)
) AS side (model, points)
WHERE place.counts

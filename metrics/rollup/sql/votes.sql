-- Votes are first summed by place and what they are counted by, which are few.
WITH vote AS (
    SELECT place.team, vote.mode, vote.language, vote.excluded_reason AS reason,
        -- Voters are not told which votes the site's moderators hold: in their team they are shown as counted.
        vote.excluded_reason = ''
        OR (vote.excluded_reason = 'anomaly' AND vote.on_site_boards AND place.team IS NOT NULL) AS is_counted,
        extract(epoch FROM vote.created_at - (
            SELECT max(turn.finished_at) FROM battles_turn AS turn
            WHERE turn.battle_id = vote.battle_id AND NOT turn.after_vote AND turn.finished_at <= vote.created_at
        )) AS seconds
    FROM battles_vote AS vote
    CROSS JOIN LATERAL unnest(
        CASE WHEN vote.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, vote.team_id] END
    ) AS place (team)
    WHERE vote.created_at >= %(start)s AND vote.created_at < %(end)s AND vote.mode <> 'review'
), sums AS (
    SELECT team, mode, language, reason, is_counted, count(*) AS n
    FROM vote
    GROUP BY team, mode, language, reason, is_counted
), times AS (
    SELECT team, mode, language, count(*) AS n, sum(seconds) AS seconds,
        floor(ln(greatest(seconds, 0.1)::float8) / ln(%(ratio)s::float8))::integer AS bucket
    FROM vote
    WHERE seconds IS NOT NULL
    GROUP BY team, mode, language, bucket
), figure AS (
    SELECT 'counted_share' AS metric, team, mode, language, n, CASE WHEN is_counted THEN n ELSE 0 END AS total,
        NULL::integer AS bucket
    FROM sums
    UNION ALL
    SELECT 'time_to_vote', team, mode, language, n, seconds, bucket
    FROM times
)
SELECT figure.metric, figure.team, 'day' AS span, part.dim, part.key, figure.n, figure.total, figure.bucket
FROM figure
CROSS JOIN LATERAL (VALUES ('', ''), ('mode', figure.mode), ('language', figure.language)) AS part (dim, key)
UNION ALL
SELECT 'excluded_votes', sums.team, 'day', part.dim, part.key, sums.n, sums.n, NULL
FROM sums
CROSS JOIN LATERAL (VALUES ('', ''), ('reason', sums.reason)) AS part (dim, key)
WHERE NOT sums.is_counted
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

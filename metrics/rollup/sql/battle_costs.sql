-- Battles are first summed by place and mode, which are few.
WITH battle AS (
    SELECT battle.id, battle.mode, place.team,
        vote.excluded_reason = ''
        -- See votes.sql.
        OR (vote.excluded_reason = 'anomaly' AND vote.on_site_boards AND place.team IS NOT NULL) AS is_counted
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
    CROSS JOIN LATERAL unnest(
        CASE WHEN session.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, session.team_id] END
    ) AS place (team)
    WHERE battle.created_at >= %(start)s AND battle.created_at < least(%(end)s, %(until)s)
        AND (battle.mode NOT IN ('blind', 'review') OR vote."order" <= %(last_order)s
            OR battle.voided_at < %(moment)s)
        AND battle.mode <> 'review'
), sums AS (
    SELECT team, mode, count(*) AS battles, count(*) FILTER (WHERE is_counted) AS counted
    FROM battle
    GROUP BY team, mode
), costs AS (
    SELECT battle.team, battle.mode, sum(call.cost) AS cost
    FROM battle
    JOIN battles_turn AS turn ON turn.battle_id = battle.id
    JOIN battles_answer AS answer ON answer.turn_id = turn.id
    JOIN battles_call AS call ON call.answer_id = answer.id AND call.started_at < %(until)s
    GROUP BY battle.team, battle.mode
)
SELECT figure.metric, sums.team, 'day' AS span, part.dim, part.key, figure.n, coalesce(costs.cost, 0) AS total,
    NULL::integer AS bucket
FROM sums
LEFT JOIN costs ON costs.mode = sums.mode AND costs.team IS NOT DISTINCT FROM sums.team
CROSS JOIN LATERAL (VALUES ('', ''), ('mode', sums.mode)) AS part (dim, key)
CROSS JOIN LATERAL (
    VALUES ('cost_per_battle', sums.battles),
        (CASE WHEN sums.mode IN ('blind', 'side_by_side') THEN 'cost_per_vote' END, sums.counted)
) AS figure (metric, n)
WHERE figure.metric IS NOT NULL

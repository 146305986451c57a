-- Battles are first summed by place and mode, which are few.
WITH battle AS (
    SELECT battle.id, battle.mode, session.team_id AS place_id,
        coalesce(vote.excluded_reason = '', FALSE) AS is_counted,
        -- See votes.sql.
        coalesce(vote.excluded_reason = 'anomaly' AND vote.on_site_boards, FALSE) AS is_held
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
    WHERE battle.created_at >= %(start)s AND battle.created_at < least(%(end)s, %(until)s)
        AND (battle.mode NOT IN ('blind', 'review') OR vote."order" <= %(last_order)s
            OR battle.voided_at < %(moment)s)
        AND battle.mode <> 'review'
), sums AS (
    SELECT place_id, mode, count(*) AS battles, count(*) FILTER (WHERE is_counted) AS counted,
        count(*) FILTER (WHERE is_held) AS held
    FROM battle
    GROUP BY place_id, mode
), costs AS (
    SELECT battle.place_id, battle.mode, sum(call.cost) AS cost
    FROM battle
    JOIN battles_turn AS turn ON turn.battle_id = battle.id
    JOIN battles_answer AS answer ON answer.turn_id = turn.id
    JOIN battles_call AS call ON call.answer_id = answer.id AND call.started_at < %(until)s
    GROUP BY battle.place_id, battle.mode
)
SELECT figure.metric, place.team, 'day' AS span, part.dim, part.key, figure.n, coalesce(costs.cost, 0) AS total,
    NULL::integer AS bucket
FROM sums
LEFT JOIN costs ON costs.mode = sums.mode AND costs.place_id IS NOT DISTINCT FROM sums.place_id
CROSS JOIN LATERAL unnest(
    CASE WHEN sums.place_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, sums.place_id] END
) AS place (team)
CROSS JOIN LATERAL (VALUES ('', ''), ('mode', sums.mode)) AS part (dim, key)
CROSS JOIN LATERAL (
    VALUES ('cost_per_battle', sums.battles),
        (CASE WHEN sums.mode IN ('blind', 'side_by_side') THEN 'cost_per_vote' END,
            sums.counted + CASE WHEN place.team IS NULL THEN 0 ELSE sums.held END)
) AS figure (metric, n)
WHERE figure.metric IS NOT NULL

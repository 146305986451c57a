SELECT figure.metric, place.team, 'day' AS span, part.dim, part.key, figure.n, battle.cost AS total,
    NULL::integer AS bucket
FROM (
    SELECT battle.mode, session.team_id,
        (vote.id IS NOT NULL AND vote.excluded_reason = '')::integer AS counted,
        -- See votes.sql.
        coalesce(vote.excluded_reason = 'anomaly' AND vote.on_site_boards, FALSE)::integer AS held,
        coalesce(sum(call.cost), 0) AS cost
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
    LEFT JOIN battles_turn AS turn ON turn.battle_id = battle.id
    LEFT JOIN battles_answer AS answer ON answer.turn_id = turn.id
    LEFT JOIN battles_call AS call ON call.answer_id = answer.id AND call.started_at < %(until)s
    WHERE battle.created_at >= %(start)s AND battle.created_at < least(%(end)s, %(until)s)
        AND (battle.mode NOT IN ('blind', 'review') OR vote."order" <= %(last_order)s
            OR battle.voided_at < %(moment)s)
        AND battle.mode <> 'review'
    GROUP BY battle.id, session.team_id, vote.id
) AS battle
CROSS JOIN LATERAL unnest(
    CASE WHEN battle.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, battle.team_id] END
) AS place (team)
CROSS JOIN LATERAL (VALUES ('', ''), ('mode', battle.mode)) AS part (dim, key)
CROSS JOIN LATERAL (
    VALUES ('cost_per_battle', 1),
        (CASE WHEN battle.mode IN ('blind', 'side_by_side') THEN 'cost_per_vote' END,
            battle.counted + CASE WHEN place.team IS NULL THEN 0 ELSE battle.held END)
) AS figure (metric, n)
WHERE figure.metric IS NOT NULL

SELECT figure.metric, place.team, 'day' AS span, part.dim, part.key, figure.n, figure.total, NULL::integer AS bucket
FROM (
    SELECT battle.mode, battle.language, session.team_id, battle.voided_at IS NOT NULL AS is_void,
        vote.id IS NOT NULL AS is_voted,
        count(side.id) AS models
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
    LEFT JOIN battles_side AS side ON side.battle_id = battle.id
    WHERE battle.created_at >= %(start)s AND battle.created_at < %(end)s
    GROUP BY battle.id, session.team_id, vote.id
) AS battle
CROSS JOIN LATERAL unnest(
    CASE WHEN battle.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, battle.team_id] END
) AS place (team)
CROSS JOIN LATERAL (
    VALUES ('', ''), ('mode', battle.mode), ('language', battle.language), ('models', battle.models::text)
) AS part (dim, key)
CROSS JOIN LATERAL (
    VALUES ('battles', 1, 1),
        (CASE WHEN battle.mode IN ('blind', 'side_by_side', 'review') AND NOT battle.is_void THEN 'votes_per_battle' END,
            1, battle.is_voted::integer)
) AS figure (metric, n, total)
WHERE figure.metric IS NOT NULL

-- Battles are first summed by place and what they are counted by, which are few.
WITH battle AS (
    SELECT session.team_id AS place_id, battle.mode, battle.language, battle.voided_at IS NOT NULL AS is_void,
        (SELECT count(*) FROM battles_side AS side WHERE side.battle_id = battle.id) AS models,
        EXISTS (SELECT FROM battles_vote AS vote WHERE vote.battle_id = battle.id) AS is_voted
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    WHERE battle.created_at >= %(start)s AND battle.created_at < %(end)s
), sums AS (
    SELECT place_id, mode, language, is_void, models, count(*) AS n, count(*) FILTER (WHERE is_voted) AS voted
    FROM battle
    GROUP BY place_id, mode, language, is_void, models
)
SELECT figure.metric, place.team, 'day' AS span, part.dim, part.key, sums.n, figure.total, NULL::integer AS bucket
FROM sums
CROSS JOIN LATERAL unnest(
    CASE WHEN sums.place_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, sums.place_id] END
) AS place (team)
CROSS JOIN LATERAL (
    VALUES ('', ''), ('mode', sums.mode), ('language', sums.language), ('models', sums.models::text)
) AS part (dim, key)
CROSS JOIN LATERAL (
    VALUES ('battles', sums.n),
        (CASE WHEN sums.mode IN ('blind', 'side_by_side', 'review') AND NOT sums.is_void THEN 'votes_per_battle' END,
            sums.voted)
) AS figure (metric, total)
WHERE figure.metric IS NOT NULL

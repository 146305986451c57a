-- Battles whose person began another one in the same place on one of the next seven days. A person's number: negative for
-- visitors. A team's number: 0 for the whole arena.
WITH back AS (
    SELECT DISTINCT coalesce(session.owner_user_id, -session.owner_visitor_id) AS person, place.team
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    CROSS JOIN LATERAL (VALUES (0), (session.team_id)) AS place (team)
    WHERE battle.created_at >= %(end)s AND battle.created_at < %(end)s + interval '7 days'
)
SELECT 'funnel_back' AS metric, place.team, 'day' AS span, part.dim, part.key, 1 AS n,
    (back.person IS NOT NULL)::integer AS total, NULL::integer AS bucket
FROM (
    SELECT battle.mode, battle.language, session.team_id,
        coalesce(session.owner_user_id, -session.owner_visitor_id) AS person
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    WHERE battle.created_at >= %(start)s AND battle.created_at < %(end)s AND battle.mode IN ('blind', 'side_by_side')
        AND coalesce(session.owner_user_id, session.owner_visitor_id) IS NOT NULL
) AS battle
CROSS JOIN LATERAL unnest(
    CASE WHEN battle.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, battle.team_id] END
) AS place (team)
LEFT JOIN back ON back.person = battle.person AND back.team = coalesce(place.team, 0)
CROSS JOIN LATERAL (VALUES ('', ''), ('mode', battle.mode), ('language', battle.language)) AS part (dim, key)
-- The row that marks the day as counted, also without a battle.
UNION ALL SELECT 'funnel_back', NULL, 'day', '', '', 0, 0, NULL

SELECT 'funnel_back' AS metric, place.team, 'day' AS span, part.dim, part.key, 1 AS n,
    (EXISTS (
        SELECT FROM battles_session AS other
        JOIN battles_battle AS later ON later.session_id = other.id
        WHERE (other.owner_user_id = battle.owner_user_id OR other.owner_visitor_id = battle.owner_visitor_id)
            AND later.created_at >= %(end)s AND later.created_at < %(end)s + interval '7 days'
    ))::integer AS total,
    NULL::integer AS bucket
FROM (
    SELECT battle.mode, battle.language, session.team_id, session.owner_user_id, session.owner_visitor_id
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    WHERE battle.created_at >= %(start)s AND battle.created_at < %(end)s AND battle.mode IN ('blind', 'side_by_side')
        AND coalesce(session.owner_user_id, session.owner_visitor_id) IS NOT NULL
) AS battle
CROSS JOIN LATERAL unnest(
    CASE WHEN battle.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, battle.team_id] END
) AS place (team)
CROSS JOIN LATERAL (VALUES ('', ''), ('mode', battle.mode), ('language', battle.language)) AS part (dim, key)

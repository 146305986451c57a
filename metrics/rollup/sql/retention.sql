-- Persons of earlier weeks' first battles, and whether they have a battle in the week from start until end.
WITH person AS (
    SELECT session.owner_user_id, session.owner_visitor_id, place.team,
        min(battle.created_at) AS first_at,
        bool_or(battle.created_at >= %(start)s) AS is_active
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    CROSS JOIN LATERAL unnest(
        CASE WHEN session.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, session.team_id] END
    ) AS place (team)
    WHERE battle.created_at < %(end)s
        AND coalesce(session.owner_user_id, session.owner_visitor_id) IS NOT NULL
    GROUP BY session.owner_user_id, session.owner_visitor_id, place.team
)
SELECT 'retention' AS metric, team, 'week' AS span, 'week' AS dim, weeks::text AS key, 1 AS n,
    is_active::integer AS total, NULL::integer AS bucket
FROM (
    SELECT team, is_active,
        (%(start)s::date - date_trunc('week', first_at AT TIME ZONE 'UTC')::date) / 7 AS weeks
    FROM person
) AS aged
WHERE weeks BETWEEN 0 AND 26

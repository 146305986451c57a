-- Persons with a battle from start until end, and on the last day of these.
SELECT figure.metric, begun.team, figure.span, begun.dim, begun.key, 1 AS n, figure.total, figure.bucket
FROM (
    SELECT place.team, part.dim, part.key,
        count(*) AS battles, bool_or(battle.created_at >= %(last_day)s) AS is_active_on_last_day
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    CROSS JOIN LATERAL unnest(
        CASE WHEN session.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, session.team_id] END
    ) AS place (team)
    CROSS JOIN LATERAL (VALUES ('', ''), ('mode', battle.mode), ('language', battle.language)) AS part (dim, key)
    WHERE battle.created_at >= %(start)s AND battle.created_at < %(end)s
        AND coalesce(session.owner_user_id, session.owner_visitor_id) IS NOT NULL
    GROUP BY session.owner_user_id, session.owner_visitor_id, place.team, part.dim, part.key
) AS begun
CROSS JOIN LATERAL (
    VALUES ('active_people', %(span)s, 1, NULL::integer),
        ('battles_per_person', %(span)s, begun.battles, least(begun.battles, 1000)::integer),
        (CASE WHEN %(span)s = '28d' THEN 'stickiness' END, 'day', begun.is_active_on_last_day::integer, NULL)
) AS figure (metric, span, total, bucket)
WHERE figure.metric IS NOT NULL

-- Public statistics: nothing of teams, of reviews and by models. Votes are those on the battles begun.
SELECT figure.metric, NULL::bigint AS team, %(span)s AS span, begun.dim, begun.key, figure.n, figure.n AS total,
    NULL::integer AS bucket
FROM (
    -- One row for each person; one for all battles of deleted sessions.
    SELECT part.dim, part.key, count(*) AS battles, count(vote.id) AS votes,
        coalesce(session.owner_user_id, session.owner_visitor_id) IS NOT NULL AS is_person
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id AND session.team_id IS NULL
    LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
    CROSS JOIN LATERAL (
        VALUES ('', ''), ('language', battle.language)
        UNION ALL SELECT 'category', unnest(battle.categories)
    ) AS part (dim, key)
    WHERE battle.created_at >= %(start)s AND battle.created_at < %(end)s AND battle.mode <> 'review'
    GROUP BY session.owner_user_id, session.owner_visitor_id, part.dim, part.key
) AS begun
CROSS JOIN LATERAL (
    VALUES ('site_battles', begun.battles),
        ('site_people', begun.is_person::integer::bigint),
        (CASE WHEN begun.dim = '' THEN 'site_votes' END, begun.votes),
        (CASE WHEN begun.dim = '' THEN 'site_voters' END, (begun.is_person AND begun.votes > 0)::integer::bigint)
) AS figure (metric, n)
WHERE figure.metric IS NOT NULL AND figure.n > 0

SELECT figure.metric, sums.team, 'day' AS span, sums.dim, sums.key, sums.begun AS n, figure.total,
    NULL::integer AS bucket
FROM (
    SELECT place.team, part.dim, part.key, count(*) AS begun,
        count(*) FILTER (WHERE is_whole) AS whole, count(*) FILTER (WHERE is_voted) AS voted,
        count(*) FILTER (WHERE has_feedback) AS feedback, count(*) FILTER (WHERE is_followed) AS followed,
        count(*) FILTER (WHERE is_void) AS void, count(*) FILTER (WHERE is_stopped) AS stopped,
        count(*) FILTER (WHERE NOT is_void AND NOT is_voted) AS open
    FROM (
        SELECT battle.mode, battle.language, session.team_id,
            battle.voided_at IS NOT NULL AS is_void,
            vote.id IS NOT NULL AS is_voted,
            vote.tags <> '{}'::jsonb AS has_feedback,
            EXISTS (
                SELECT FROM battles_turn AS turn JOIN battles_answer AS answer ON answer.turn_id = turn.id
                WHERE turn.battle_id = battle.id AND turn.index = 0
                HAVING bool_and(answer.state = 'done')
            ) AS is_whole,
            EXISTS (
                SELECT FROM battles_turn AS turn
                WHERE turn.battle_id = battle.id AND turn.stop_requested_at IS NOT NULL
            ) AS is_stopped,
            EXISTS (
                SELECT FROM battles_battle AS later
                WHERE later.session_id = battle.session_id AND later.created_at > battle.created_at
                    AND later.created_at < %(until)s
            ) AS is_followed
        FROM battles_battle AS battle
        JOIN battles_session AS session ON session.id = battle.session_id
        LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
        WHERE battle.created_at >= %(start)s AND battle.created_at < least(%(end)s, %(until)s)
            AND battle.mode IN ('blind', 'side_by_side')
    ) AS battle
    CROSS JOIN LATERAL unnest(
        CASE WHEN battle.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, battle.team_id] END
    ) AS place (team)
    CROSS JOIN LATERAL (VALUES ('', ''), ('mode', battle.mode), ('language', battle.language)) AS part (dim, key)
    GROUP BY place.team, part.dim, part.key
) AS sums
CROSS JOIN LATERAL (
    VALUES ('funnel_begun', sums.begun), ('funnel_whole', sums.whole), ('funnel_voted', sums.voted),
        ('funnel_feedback', sums.feedback), ('funnel_again', sums.followed), ('funnel_void', sums.void),
        ('funnel_stopped', sums.stopped), ('funnel_open', sums.open)
) AS figure (metric, total)

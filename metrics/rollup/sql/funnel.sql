SELECT figure.metric, place.team, 'day' AS span, part.dim, part.key, 1 AS n,
    coalesce(figure.is_so, FALSE)::integer AS total, NULL::integer AS bucket
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
CROSS JOIN LATERAL (
    VALUES ('funnel_begun', TRUE), ('funnel_whole', battle.is_whole), ('funnel_voted', battle.is_voted),
        ('funnel_feedback', battle.has_feedback), ('funnel_again', battle.is_followed),
        ('funnel_void', battle.is_void), ('funnel_stopped', battle.is_stopped),
        ('funnel_open', NOT battle.is_void AND NOT battle.is_voted)
) AS figure (metric, is_so)

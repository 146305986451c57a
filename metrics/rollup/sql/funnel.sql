WITH battle AS (
    SELECT battle.*, session.team_id
    FROM battles_battle AS battle
    JOIN battles_session AS session ON session.id = battle.session_id
    WHERE battle.created_at >= %(start)s AND battle.created_at < least(%(end)s, %(until)s)
        AND battle.mode IN ('blind', 'side_by_side')
), answers AS (
    SELECT turn.battle_id, bool_or(turn.stop_requested_at IS NOT NULL) AS is_stopped,
        bool_and(answer.state = 'done') FILTER (WHERE turn.index = 0) AS is_whole
    FROM battle
    JOIN battles_turn AS turn ON turn.battle_id = battle.id
    LEFT JOIN battles_answer AS answer ON answer.turn_id = turn.id
    GROUP BY turn.battle_id
), session AS (
    SELECT session_id AS id, max(created_at) AS last_at
    FROM battles_battle
    WHERE session_id IN (SELECT session_id FROM battle) AND created_at < %(until)s
    GROUP BY session_id
)
SELECT figure.metric, sums.team, 'day' AS span, sums.dim, sums.key, sums.begun AS n, figure.total,
    NULL::integer AS bucket
FROM (
    SELECT place.team, part.dim, part.key, count(*) AS begun,
        count(*) FILTER (WHERE is_whole) AS whole, count(*) FILTER (WHERE is_voted) AS voted,
        count(*) FILTER (WHERE has_feedback) AS feedback, count(*) FILTER (WHERE is_followed) AS followed,
        count(*) FILTER (WHERE is_void) AS void, count(*) FILTER (WHERE is_stopped) AS stopped,
        count(*) FILTER (WHERE NOT is_void AND NOT is_voted) AS open
    FROM (
        SELECT battle.mode, battle.language, battle.team_id,
            battle.voided_at IS NOT NULL AS is_void,
            vote.id IS NOT NULL AS is_voted,
            vote.tags <> '{}'::jsonb AS has_feedback,
            answers.is_whole, answers.is_stopped,
            battle.created_at < session.last_at AS is_followed
        FROM battle
        LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
        LEFT JOIN answers ON answers.battle_id = battle.id
        JOIN session ON session.id = battle.session_id
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

-- Calls whose models are known (docs/adr/0029), an hour late.
WITH call AS (
    SELECT call.*, battle.mode, session.team_id AS place_id, model.team_id AS model_team_id,
        call.completion_tokens / nullif((call.total_ms - call.first_token_ms) / 1000.0, 0) AS speed,
        coalesce(call.prompt_tokens, 0) + coalesce(call.completion_tokens, 0) AS tokens
    FROM battles_call AS call
    JOIN models_registry_languagemodel AS model ON model.id = call.model_id
    LEFT JOIN battles_answer AS answer ON answer.id = call.answer_id
    LEFT JOIN battles_turn AS turn ON turn.id = answer.turn_id
    LEFT JOIN battles_battle AS battle ON battle.id = turn.battle_id
    LEFT JOIN battles_session AS session ON session.id = battle.session_id
    LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
    WHERE call.started_at >= %(start)s AND call.started_at < least(%(end)s, %(until)s)
        AND call.state IN ('done', 'stopped', 'failed')
        AND call.purpose = 'answer'
        AND (battle.mode NOT IN ('blind', 'review') OR vote."order" <= %(last_order)s
            OR battle.voided_at < %(moment)s)
), part AS (
    SELECT call.*, place.team, part.dim, part.key
    FROM call
    CROSS JOIN LATERAL unnest(
        CASE WHEN call.place_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, call.place_id] END
    ) AS place (team)
    CROSS JOIN LATERAL (VALUES ('', ''), ('mode', call.mode), ('model', call.model_id::text)) AS part (dim, key)
    -- The models of a team are unknown outside of it.
    WHERE part.dim <> 'model' OR call.model_team_id IS NULL OR place.team IS NOT NULL
)
SELECT figure.metric, part.team, 'day' AS span, part.dim, part.key, figure.n, figure.total::numeric AS total,
    CASE WHEN figure.is_histogram THEN floor(ln(figure.total::float8) / ln(1.12::float8))::integer END AS bucket
FROM part
CROSS JOIN LATERAL (
    VALUES
        (CASE WHEN part.state = 'done' AND part.first_token_ms IS NOT NULL THEN 'first_token' END,
            1, greatest(part.first_token_ms, 1)::numeric, TRUE),
        (CASE WHEN part.state = 'done' AND part.total_ms IS NOT NULL THEN 'answer_time' END,
            1, greatest(part.total_ms, 1)::numeric, TRUE),
        (CASE WHEN part.state = 'done' AND part.speed > 0 THEN 'tokens_per_second' END, 1, part.speed, TRUE),
        ('failed_share', 1, (part.state = 'failed')::integer::numeric, FALSE),
        ('empty_share', 1, (part.error = 'empty')::integer::numeric, FALSE),
        ('cut_off_share', 1, (part.finish_reason = 'length')::integer::numeric, FALSE),
        ('refused_share', 1,
            (part.finish_reason = 'content_filter' OR part.error = 'filtered')::integer::numeric, FALSE),
        (CASE WHEN part.cost IS NOT NULL THEN 'cost' END, 1, part.cost, FALSE),
        (CASE WHEN part.cost IS NOT NULL AND part.tokens > 0 THEN 'cost_per_1000_tokens' END,
            part.tokens, 1000 * part.cost, FALSE)
) AS figure (metric, n, total, is_histogram)
WHERE figure.metric IS NOT NULL
UNION ALL
SELECT 'failures', part.team, 'day', code.dim, code.key, 1, 1, NULL
FROM part
CROSS JOIN LATERAL (VALUES ('', ''), ('code', part.error)) AS code (dim, key)
WHERE part.state = 'failed' AND part.dim = ''

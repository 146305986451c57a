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
SELECT figure.metric, sums.team, 'day' AS span, sums.dim, sums.key, figure.n, figure.total, NULL::integer AS bucket
FROM (
    SELECT team, dim, key, count(*) AS calls,
        count(*) FILTER (WHERE state = 'failed') AS failed,
        count(*) FILTER (WHERE error = 'empty') AS empty,
        count(*) FILTER (WHERE finish_reason = 'length') AS cut_off,
        count(*) FILTER (WHERE finish_reason = 'content_filter' OR error = 'filtered') AS refused,
        count(cost) AS priced, sum(cost) AS cost,
        sum(tokens) FILTER (WHERE cost IS NOT NULL) AS tokens,
        1000 * sum(cost) FILTER (WHERE tokens > 0) AS cost_of_tokens
    FROM part
    GROUP BY team, dim, key
) AS sums
CROSS JOIN LATERAL (
    VALUES ('failed_share', sums.calls, sums.failed::numeric), ('empty_share', sums.calls, sums.empty),
        ('cut_off_share', sums.calls, sums.cut_off), ('refused_share', sums.calls, sums.refused),
        (CASE WHEN sums.priced > 0 THEN 'cost' END, sums.priced, sums.cost),
        (CASE WHEN sums.tokens > 0 THEN 'cost_per_1000_tokens' END, sums.tokens, sums.cost_of_tokens)
) AS figure (metric, n, total)
WHERE figure.metric IS NOT NULL
UNION ALL
SELECT 'first_token', team, 'day', dim, key, count(*), sum(value),
    floor(ln(value::float8) / ln(%(ratio)s::float8))::integer AS bucket
FROM (
    SELECT team, dim, key, greatest(first_token_ms, 1) AS value FROM part
    WHERE state = 'done' AND first_token_ms IS NOT NULL
) AS measured
GROUP BY team, dim, key, bucket
UNION ALL
SELECT 'answer_time', team, 'day', dim, key, count(*), sum(value),
    floor(ln(value::float8) / ln(%(ratio)s::float8))::integer AS bucket
FROM (
    SELECT team, dim, key, greatest(total_ms, 1) AS value FROM part WHERE state = 'done' AND total_ms IS NOT NULL
) AS measured
GROUP BY team, dim, key, bucket
UNION ALL
SELECT 'tokens_per_second', team, 'day', dim, key, count(*), sum(speed),
    floor(ln(speed::float8) / ln(%(ratio)s::float8))::integer AS bucket
FROM part
WHERE state = 'done' AND speed > 0
GROUP BY team, dim, key, bucket
UNION ALL
SELECT 'failures', part.team, 'day', code.dim, code.key, 1, 1, NULL
FROM part
CROSS JOIN LATERAL (VALUES ('', ''), ('code', part.error)) AS code (dim, key)
WHERE part.state = 'failed' AND part.dim = ''

-- Calls whose models are known (docs/adr/0029), an hour late; first summed by place, mode and model, which are few.
WITH call AS (
    SELECT call.state, call.error, call.finish_reason, call.cost, call.first_token_ms, call.total_ms,
        session.team_id AS place_id, battle.mode, call.model_id, model.team_id AS model_team_id,
        call.completion_tokens / nullif((call.total_ms - call.first_token_ms) / 1000.0, 0) AS speed,
        coalesce(call.prompt_tokens, 0) + coalesce(call.completion_tokens, 0) AS tokens
    FROM battles_call AS call
    JOIN models_registry_languagemodel AS model ON model.id = call.model_id
    JOIN battles_answer AS answer ON answer.id = call.answer_id
    JOIN battles_turn AS turn ON turn.id = answer.turn_id
    JOIN battles_battle AS battle ON battle.id = turn.battle_id
    JOIN battles_session AS session ON session.id = battle.session_id
    LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
    WHERE call.started_at >= %(start)s AND call.started_at < least(%(end)s, %(until)s)
        AND call.state IN ('done', 'stopped', 'failed')
        AND call.purpose = 'answer'
        AND (battle.mode NOT IN ('blind', 'review') OR vote."order" <= %(last_order)s
            OR battle.voided_at < %(moment)s)
), sums AS (
    SELECT place_id, mode, model_id, model_team_id, count(*) AS calls,
        count(*) FILTER (WHERE state = 'failed') AS failed,
        count(*) FILTER (WHERE error = 'empty') AS empty,
        count(*) FILTER (WHERE finish_reason = 'length') AS cut_off,
        count(*) FILTER (WHERE finish_reason = 'content_filter' OR error = 'filtered') AS refused,
        count(cost) AS priced, sum(cost) AS cost,
        sum(tokens) FILTER (WHERE cost IS NOT NULL) AS tokens,
        1000 * sum(cost) FILTER (WHERE tokens > 0) AS cost_of_tokens
    FROM call
    GROUP BY place_id, mode, model_id, model_team_id
), figure AS (
    SELECT sums.place_id, sums.mode, sums.model_id, sums.model_team_id, figure.*, NULL::integer AS bucket
    FROM sums
    CROSS JOIN LATERAL (
        VALUES ('failed_share', sums.calls, sums.failed::numeric), ('empty_share', sums.calls, sums.empty),
            ('cut_off_share', sums.calls, sums.cut_off), ('refused_share', sums.calls, sums.refused),
            (CASE WHEN sums.priced > 0 THEN 'cost' END, sums.priced, sums.cost),
            (CASE WHEN sums.tokens > 0 THEN 'cost_per_1000_tokens' END, sums.tokens, sums.cost_of_tokens)
    ) AS figure (metric, n, total)
    WHERE figure.metric IS NOT NULL
    UNION ALL
    SELECT call.place_id, call.mode, call.model_id, call.model_team_id, measured.metric, count(*), sum(measured.value),
        floor(ln(measured.value::float8) / ln(%(ratio)s::float8))::integer AS bucket
    FROM call
    CROSS JOIN LATERAL (
        VALUES ('first_token', CASE WHEN call.first_token_ms IS NOT NULL THEN greatest(call.first_token_ms, 1) END::numeric),
            ('answer_time', CASE WHEN call.total_ms IS NOT NULL THEN greatest(call.total_ms, 1) END),
            ('tokens_per_second', call.speed)
    ) AS measured (metric, value)
    WHERE call.state = 'done' AND measured.value > 0
    GROUP BY call.place_id, call.mode, call.model_id, call.model_team_id, measured.metric, bucket
)
SELECT figure.metric, place.team, 'day' AS span, part.dim, part.key, figure.n, figure.total, figure.bucket
FROM figure
CROSS JOIN LATERAL unnest(
    CASE WHEN figure.place_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, figure.place_id] END
) AS place (team)
CROSS JOIN LATERAL (
    VALUES ('', ''), ('mode', figure.mode), ('model', figure.model_id::text)
) AS part (dim, key)
-- The models of a team are unknown outside of it.
WHERE part.dim <> 'model' OR figure.model_team_id IS NULL OR place.team IS NOT NULL
UNION ALL
SELECT 'failures', place.team, 'day', code.dim, code.key, failed.n, failed.n, NULL
FROM (SELECT place_id, error, count(*) AS n FROM call WHERE state = 'failed' GROUP BY place_id, error) AS failed
CROSS JOIN LATERAL unnest(
    CASE WHEN failed.place_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, failed.place_id] END
) AS place (team)
CROSS JOIN LATERAL (VALUES ('', ''), ('code', failed.error)) AS code (dim, key)

-- Medians of the last finished calls of each model, by category of the battle and, as '', over all of them.
-- Calls of a blind battle count from the first snapshot after its vote or its end as void, as in
-- leaderboard/counting/revealed_calls.py: earlier, a figure that moves would reveal the models.
SELECT model.id, label.name,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY recent.completion_tokens) AS completion_tokens,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY recent.first_token_ms) AS first_token_ms
FROM unnest(%(models)s::bigint[]) AS model (id)
CROSS JOIN LATERAL (
    SELECT call.completion_tokens, call.first_token_ms, battle.categories
    FROM battles_call AS call
    LEFT JOIN battles_answer AS answer ON answer.id = call.answer_id
    LEFT JOIN battles_turn AS turn ON turn.id = answer.turn_id
    LEFT JOIN battles_battle AS battle ON battle.id = turn.battle_id
    LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
    WHERE call.model_id = model.id AND call.state = 'done'
        AND (
            call.purpose = 'gateway' OR battle.mode <> 'blind'
            OR vote."order" <= %(last_order)s OR battle.voided_at < %(moment)s
        )
    ORDER BY call.started_at DESC LIMIT %(limit)s
) AS recent
CROSS JOIN LATERAL unnest(ARRAY['']::varchar[] || coalesce(recent.categories, '{}')) AS label (name)
GROUP BY model.id, label.name

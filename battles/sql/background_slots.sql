-- Count calls that hold a slot of these providers, or wait for one, by model, purpose and state.
SELECT call.model_id, model.provider_id, call.purpose, call.state, count(*)
FROM battles_call AS call
JOIN models_registry_languagemodel AS model ON model.id = call.model_id
LEFT JOIN battles_answer AS answer ON answer.id = call.answer_id
LEFT JOIN battles_turn AS turn ON turn.id = answer.turn_id
WHERE model.provider_id = ANY(%s)
    AND call.state IN ('running', 'waiting')
    AND (
        (turn.fence = call.fence AND turn.lease_until > now())
        OR (call.answer_id IS NULL AND call.lease_until > now())
    )
GROUP BY call.model_id, model.provider_id, call.purpose, call.state

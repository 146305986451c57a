-- Store an exchange whose call has ended, or the facts of its later call. Token and person may be deleted meanwhile:
-- the call is settled without them, and without texts.
WITH token AS (SELECT id FROM accounts_apitoken WHERE id = %(token_id)s FOR KEY SHARE),
     person AS (SELECT id FROM accounts_user WHERE id = %(user_id)s FOR KEY SHARE)
INSERT INTO gateway_exchange (
    public_id, user_id, token_id, asked_model, decision_id, call_id, fallbacks, is_stream, is_cached, prompt_tokens,
    completion_tokens, cost, finish_reason, error, session_digest, team_id, texts
) VALUES (
    %(public_id)s, (SELECT id FROM person), (SELECT id FROM token), %(asked_model)s, %(decision_id)s, %(call_id)s,
    %(fallbacks)s, %(is_stream)s, false, %(prompt_tokens)s, %(completion_tokens)s, %(cost)s, %(finish_reason)s, %(error)s,
    %(session_digest)s, %(team_id)s, (SELECT %(texts)s::jsonb FROM token)
)
ON CONFLICT (public_id) DO UPDATE SET
    decision_id = excluded.decision_id, call_id = excluded.call_id, fallbacks = excluded.fallbacks,
    prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens, cost = excluded.cost,
    finish_reason = excluded.finish_reason, error = excluded.error, texts = excluded.texts

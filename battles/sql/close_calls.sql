-- Store the outcomes of calls (a JSON array of objects), and the answers of those that have one; return the ids of the
-- calls that were still open.
WITH outcome AS (
    SELECT *
    FROM jsonb_to_recordset(%s::jsonb) AS outcome (
        id bigint, state text, error text, finish_reason text, first_token_ms integer, total_ms integer,
        prompt_tokens integer, completion_tokens integer, reasoning_tokens integer, tokens_estimated boolean,
        cost numeric, provider_request_id text,
        answer_id bigint, answer_state text, answer_error text, text text, html text, reasoning text,
        leaks_identity boolean
    )
),
stored AS (
    UPDATE battles_answer AS answer
    SET state = outcome.answer_state,
        error = outcome.answer_error,
        text = outcome.text,
        html = outcome.html,
        reasoning = outcome.reasoning,
        leaks_identity = answer.leaks_identity OR outcome.leaks_identity,
        call_id = outcome.id
    FROM outcome
    WHERE answer.id = outcome.answer_id
)
UPDATE battles_call AS call
SET state = outcome.state,
    error = outcome.error,
    finish_reason = outcome.finish_reason,
    first_token_ms = outcome.first_token_ms,
    total_ms = outcome.total_ms,
    prompt_tokens = outcome.prompt_tokens,
    completion_tokens = outcome.completion_tokens,
    reasoning_tokens = outcome.reasoning_tokens,
    tokens_estimated = outcome.tokens_estimated,
    cost = outcome.cost,
    provider_request_id = outcome.provider_request_id
FROM outcome
WHERE call.id = outcome.id AND call.state IN ('waiting', 'running')
RETURNING call.id

-- Insert calls (a JSON array of objects); return their ids in the array's order.
INSERT INTO battles_call (
    answer_id, purpose, lease_until, model_id, attempt, fence, state, request, price_id, charge_id, tokens_estimated,
    finish_reason, error, provider_request_id
)
SELECT
    call.answer_id, call.purpose, now() + call.lease_s * interval '1 second', call.model_id, call.attempt, call.fence,
    call.state, call.request, call.price_id, call.charge_id, false, '', '', ''
FROM ROWS FROM (
    jsonb_to_recordset(%s::jsonb) AS (
        answer_id bigint, purpose text, lease_s double precision, model_id bigint, attempt smallint, fence bigint,
        state text, request jsonb, price_id bigint, charge_id bigint
    )
) WITH ORDINALITY AS call
ORDER BY call.ordinality
RETURNING id

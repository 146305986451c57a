-- Move items whose claim still holds, and store their replies and scores. Returns the ids of these items.
WITH outcome AS (
    SELECT * FROM jsonb_to_recordset(%(outcomes)s::jsonb) AS outcome (
        id bigint, fence bigint, turn integer, next_turn integer, state text, attempt integer, due_s double precision,
        error text, preempted integer, score double precision, passed boolean, scored_by text,
        call_id bigint, model_id bigint, text text, reasoning text, finish_reason text,
        answer_key text, scores jsonb
    )
),
held AS (
    UPDATE benchmarks_runitem AS item
    SET state = outcome.state, turn = outcome.next_turn, attempt = outcome.attempt, lease_until = NULL,
        due_at = CASE WHEN outcome.state = 'queued' THEN now() + outcome.due_s * interval '1 second' ELSE due_at END,
        error = outcome.error, preempted = outcome.preempted, score = outcome.score, passed = outcome.passed,
        scored_by = outcome.scored_by,
        finished_at = CASE WHEN outcome.state IN ('scored', 'failed', 'skipped', 'left_out') THEN now() END
    FROM outcome
    WHERE item.id = outcome.id AND item.fence = outcome.fence AND item.state = 'answering'
    RETURNING item.id
),
reply AS (
    INSERT INTO benchmarks_reply (model_id, owner_id, team_id, text, reasoning, finish_reason, answer_key, call_id)
    SELECT model_id, %(owner)s, %(team)s, text, reasoning, finish_reason, answer_key, call_id
    FROM outcome JOIN held USING (id)
    WHERE text IS NOT NULL
    RETURNING id, call_id
),
item_reply AS (
    INSERT INTO benchmarks_itemreply (item_id, turn, reply_id)
    SELECT outcome.id, outcome.turn, reply.id
    FROM outcome JOIN reply USING (call_id)
),
score AS (
    INSERT INTO benchmarks_score (
        item_id, check_key, source, value, passed, error, label, detail, version, metric, weight
    )
    SELECT
        outcome.id, given.check_key, 'check', given.value, given.passed, given.error, given.label, given.detail,
        given.version, given.metric, given.weight
    FROM outcome
    JOIN held USING (id)
    CROSS JOIN LATERAL jsonb_to_recordset(outcome.scores) AS given (
        check_key text, value double precision, passed boolean, error text, label text, detail jsonb, version text,
        metric text, weight double precision
    )
    ON CONFLICT (item_id, check_key, source) DO UPDATE
    SET value = excluded.value, passed = excluded.passed, error = excluded.error, label = excluded.label,
        detail = excluded.detail, version = excluded.version, metric = excluded.metric, weight = excluded.weight
    WHERE benchmarks_score.version <> excluded.version
)
SELECT id FROM held

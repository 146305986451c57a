-- One batch of an entrant's items after a place, with all that a report needs, and with texts all that an export needs.
-- Usage is that of the calls that gave a reply; the other calls are lost.
SELECT
    item.id, item.case_id, item.repeat, item.state, item.error, item.score, item.passed, item.attempt,
    reply.prompt_tokens, reply.completion_tokens, reply.reasoning_tokens, reply.cost::double precision,
    reply.first_token_ms, reply.total_ms, reply.price_id, reply.finish_reason, reply.text, reply.started_at,
    lost.cost::double precision, lost.calls, coalesce(reply.is_reused, false), checks.results,
    graded.means
FROM (
    SELECT *
    FROM benchmarks_runitem
    WHERE entrant_id = %(entrant)s AND (case_id, repeat) > (%(case)s, %(repeat)s)
    ORDER BY case_id, repeat
    LIMIT %(maximum)s
) AS item
LEFT JOIN LATERAL (
    SELECT
        sum(call.prompt_tokens) AS prompt_tokens, sum(call.completion_tokens) AS completion_tokens,
        sum(call.reasoning_tokens) AS reasoning_tokens,
        sum(CASE WHEN asked.is_reused THEN 0 ELSE call.cost END) AS cost,
        sum(call.total_ms) FILTER (WHERE NOT asked.is_reused) AS total_ms, bool_or(asked.is_reused) AS is_reused,
        min(call.started_at) AS started_at,
        (array_agg(CASE WHEN NOT asked.is_reused THEN call.first_token_ms END ORDER BY asked.turn))[1] AS first_token_ms,
        (array_agg(call.price_id ORDER BY asked.turn DESC))[1] AS price_id,
        (array_agg(reply.finish_reason ORDER BY asked.turn DESC))[1] AS finish_reason,
        CASE WHEN %(texts)s THEN (array_agg(reply.text ORDER BY asked.turn DESC))[1] END AS text
    FROM benchmarks_itemreply AS asked
    JOIN benchmarks_reply AS reply ON reply.id = asked.reply_id
    LEFT JOIN battles_call AS call ON call.id = reply.call_id
    WHERE asked.item_id = item.id
) AS reply ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS calls, sum(call.cost) AS cost
    FROM benchmarks_itemcall AS made
    JOIN battles_call AS call ON call.id = made.call_id
    WHERE made.item_id = item.id
        AND NOT EXISTS (SELECT FROM benchmarks_reply AS answer WHERE answer.call_id = made.call_id)
) AS lost ON true
LEFT JOIN LATERAL (
    SELECT
        jsonb_object_agg(
            check_key,
            jsonb_build_object(
                'value', value, 'passed', passed, 'metric', metric, 'weight', weight,
                'error', CASE WHEN label = 'not_extracted' THEN label ELSE error END
            )
        ) AS results
    FROM benchmarks_score
    WHERE item_id = item.id AND source = 'check'
) AS checks ON true
LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(kind, mean) AS means
    FROM (
        SELECT kind, avg(value) AS mean
        FROM (
            SELECT DISTINCT ON (grader_id) kind, value
            FROM benchmarks_grade
            WHERE item_id = item.id
            ORDER BY grader_id, id DESC
        ) AS latest
        GROUP BY kind
    ) AS kinds
) AS graded ON true
ORDER BY item.case_id, item.repeat

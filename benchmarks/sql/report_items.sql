-- An entrant's items with the numbers of a report, which read_items.sql reads with all else. Kinds are those of
-- benchmarks.statistics.scores. Joined as sets, because a lateral query for each item takes five times as long.
WITH items AS MATERIALIZED (
    SELECT * FROM benchmarks_runitem WHERE entrant_id = %(entrant)s
)
SELECT
    items.id AS item, case_id, repeat,
    CASE
        WHEN error = ANY(%(wrong)s) THEN 1
        WHEN state IN ('answered', 'scored') THEN 0
        WHEN state IN ('queued', 'answering', 'left_out') THEN 4
        ELSE 2
    END AS kind,
    (error = 'not_extracted')::integer AS not_extracted, score, passed::integer AS passed,
    used.cost, coalesce(lost.cost, 0) AS lost_cost, coalesce(lost.calls, 0) AS lost_calls, used.first_token_ms,
    used.total_ms, used.prompt_tokens, used.completion_tokens, used.reasoning_tokens,
    coalesce(used.is_reused, 0) AS is_reused
FROM items
LEFT JOIN (
    SELECT
        asked.item_id AS id, sum(CASE WHEN asked.is_reused THEN 0 ELSE call.cost END) AS cost,
        max(call.first_token_ms) FILTER (WHERE asked.turn = 0 AND NOT asked.is_reused) AS first_token_ms,
        sum(call.total_ms) FILTER (WHERE NOT asked.is_reused) AS total_ms,
        sum(call.prompt_tokens) AS prompt_tokens, sum(call.completion_tokens) AS completion_tokens,
        sum(call.reasoning_tokens) AS reasoning_tokens, max(asked.is_reused::integer) AS is_reused
    FROM items
    JOIN benchmarks_itemreply AS asked ON asked.item_id = items.id
    JOIN benchmarks_reply AS reply ON reply.id = asked.reply_id
    LEFT JOIN battles_call AS call ON call.id = reply.call_id
    GROUP BY asked.item_id
) AS used USING (id)
LEFT JOIN (
    SELECT made.item_id AS id, count(*) AS calls, sum(call.cost) AS cost
    FROM items
    JOIN benchmarks_itemcall AS made ON made.item_id = items.id
    JOIN battles_call AS call ON call.id = made.call_id
    WHERE NOT EXISTS (SELECT FROM benchmarks_reply AS reply WHERE reply.call_id = made.call_id)
    GROUP BY made.item_id
) AS lost USING (id)

-- Lock due items of entrants in the run's order, at most `maximum` of each and `total` in all.
SELECT
    item.id, item.entrant_id, item.case_id, item.turn, item.attempt, item.fence, item.preempted, item.repeat,
    rendered.messages, rendered.turns
FROM (
    SELECT due.id
    FROM jsonb_to_recordset(%(entrants)s::jsonb) AS wanted (entrant_id bigint, maximum integer)
    CROSS JOIN LATERAL (
        SELECT id, due_at, position
        FROM benchmarks_runitem
        WHERE entrant_id = wanted.entrant_id AND state = 'queued' AND due_at <= now()
        ORDER BY due_at, position
        LIMIT wanted.maximum
    ) AS due
    ORDER BY due.due_at, due.position
    LIMIT %(total)s
) AS chosen
JOIN benchmarks_runitem AS item ON item.id = chosen.id
JOIN benchmarks_entrant AS entrant ON entrant.id = item.entrant_id
JOIN benchmarks_renderedprompt AS rendered
    ON rendered.prompt_id = entrant.prompt_id AND rendered.case_id = item.case_id
WHERE item.state = 'queued'
ORDER BY item.id
FOR NO KEY UPDATE OF item SKIP LOCKED

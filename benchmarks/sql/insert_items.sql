-- Insert the items of a run for some cases. Cases follow the seed's order, the entrants of a case stand together.
-- A case that is too long for an entrant's context has failed before its first call.
INSERT INTO benchmarks_runitem (
    run_id, entrant_id, case_id, repeat, turn, position, state, attempt, fence, due_at, error, preempted, scored_by,
    finished_at
)
SELECT
    run.id, entrant.id, wanted.case_id, wanted.repeat, 0,
    wanted.place * run.entrant_count + entrant.position,
    CASE WHEN too_long THEN 'failed' ELSE 'queued' END,
    0, 0, run.created_at,
    CASE WHEN too_long THEN 'prompt_too_long' ELSE '' END,
    0, '',
    CASE WHEN too_long THEN now() END
FROM benchmarks_run AS run
JOIN jsonb_to_recordset(%(cases)s::jsonb) AS wanted (case_id bigint, repeat integer, place integer) ON true
JOIN benchmarks_entrant AS entrant ON entrant.run_id = run.id AND entrant.model_id IS NOT NULL
JOIN benchmarks_renderedprompt AS rendered
    ON rendered.prompt_id = entrant.prompt_id AND rendered.case_id = wanted.case_id
JOIN jsonb_to_recordset(%(contexts)s::jsonb) AS context (entrant_id bigint, characters bigint)
    ON context.entrant_id = entrant.id
CROSS JOIN LATERAL (SELECT coalesce(rendered.characters > context.characters, false) AS too_long) AS fit
WHERE run.id = %(run)s
ORDER BY wanted.place, entrant.position
ON CONFLICT (entrant_id, case_id, repeat) DO NOTHING

SELECT figure.metric, place.team, 'day' AS span, part.dim, part.key, 1 AS n, figure.total, NULL::integer AS bucket
FROM (
    SELECT *, policy NOT LIKE 'rule %%' AND policy <> 'stay' AND target IN ('model', 'arena') AS is_free,
        target = 'model' AND cost_expected IS NOT NULL AND cost_best IS NOT NULL AS is_compared
    FROM battles_routingdecision
    WHERE created_at >= %(start)s AND created_at < least(%(end)s, %(until)s)
) AS decision
CROSS JOIN LATERAL unnest(
    CASE WHEN decision.team_id IS NULL THEN ARRAY[NULL::bigint] ELSE ARRAY[NULL, decision.team_id] END
) AS place (team)
CROSS JOIN LATERAL (VALUES ('', ''), ('target', decision.target), ('type', decision.query_type)) AS part (dim, key)
CROSS JOIN LATERAL (
    VALUES ('decisions', 1),
        (CASE WHEN decision.is_free THEN 'explored_share' END, decision.explored::integer),
        (CASE WHEN decision.target IN ('model', 'stay', 'fallback') THEN 'fallback_share' END,
            (decision.target = 'fallback')::integer),
        (CASE WHEN decision.is_compared THEN 'saved' END, decision.cost_best - decision.cost_expected),
        (CASE WHEN decision.is_compared THEN 'best_cost' END, decision.cost_best)
) AS figure (metric, total)
WHERE figure.metric IS NOT NULL AND (part.dim = '' OR figure.metric = 'decisions')

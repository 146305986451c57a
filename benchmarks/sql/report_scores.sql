-- Scores of an entrant's metrics, and answers from which a check could extract nothing.
SELECT
    score.check_key, score.metric, score.item_id AS item, score.value, score.weight,
    ('not_extracted' IN (score.label, score.error))::integer AS not_extracted,
    (score.label = 'not_extracted' OR score.error <> 'not_measured')::integer AS is_measured
FROM benchmarks_runitem AS item
JOIN benchmarks_score AS score ON score.item_id = item.id
WHERE item.entrant_id = %(entrant)s AND score.source = 'check'
    AND (score.metric <> '' OR 'not_extracted' IN (score.label, score.error))

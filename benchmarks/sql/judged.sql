-- Numbers of a judge's judgements on the replies of a run, also of those that were made for another run with the same
-- replies. States: 0 answered, 1 waiting, 2 ended without an answer. is_stopped: 1 if its judging was cancelled or waits.
SELECT
    first_item.case_id, first_item.repeat, one.position AS first, other.position AS second, item.score AS value,
    CASE judgement.own_family WHEN 'first' THEN 1 WHEN 'second' THEN 2 WHEN 'both' THEN 3 ELSE 0 END AS own,
    CASE WHEN item.state = 'scored' THEN 0 WHEN item.state IN ('queued', 'answering', 'answered') THEN 1 ELSE 2 END
        AS state,
    CASE WHEN item.state != 'scored' AND asked.state IN ('paused', 'cancelled') THEN 1 ELSE 0 END AS is_stopped
FROM benchmarks_judgement AS judgement
JOIN benchmarks_runitem AS item ON item.id = judgement.item_id
JOIN benchmarks_run AS asked ON asked.id = item.run_id
JOIN benchmarks_itemreply AS first_reply ON first_reply.reply_id = judgement.first_reply_id
JOIN benchmarks_runitem AS first_item ON first_item.id = first_reply.item_id AND first_item.run_id = %(run)s
JOIN benchmarks_entrant AS one ON one.id = first_item.entrant_id
LEFT JOIN (
    benchmarks_itemreply AS second_reply
    JOIN benchmarks_runitem AS second_item ON second_item.id = second_reply.item_id
    JOIN benchmarks_entrant AS other ON other.id = second_item.entrant_id
) ON second_reply.reply_id = judgement.second_reply_id AND second_item.run_id = %(run)s
    AND second_item.case_id = first_item.case_id AND second_item.repeat = first_item.repeat
    AND other.prompt_id = one.prompt_id
WHERE judgement.judge_id = %(judge)s AND judgement.control = ''
    AND (judgement.second_reply_id IS NULL OR second_item.id IS NOT NULL)

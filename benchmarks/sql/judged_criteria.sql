-- Grades of each criterion by a judge on the replies of a run.
SELECT
    score.check_key AS criterion, graded.case_id, graded.repeat, entrant.position AS first, NULL::integer AS second,
    score.value, 0 AS own
FROM benchmarks_judgement AS judgement
JOIN benchmarks_score AS score ON score.item_id = judgement.item_id AND score.value IS NOT NULL
JOIN benchmarks_itemreply AS reply ON reply.reply_id = judgement.first_reply_id
JOIN benchmarks_runitem AS graded ON graded.id = reply.item_id AND graded.run_id = %(run)s
JOIN benchmarks_entrant AS entrant ON entrant.id = graded.entrant_id
WHERE judgement.judge_id = %(judge)s AND judgement.control = ''

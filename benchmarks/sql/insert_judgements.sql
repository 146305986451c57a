-- Insert the judgements of questions that are cases and items already.
INSERT INTO benchmarks_judgement (
    judging_id, judge_id, item_id, first_reply_id, second_reply_id, is_swapped, control, own_family
)
SELECT
    %(judging)s, %(judge)s, item.id, question.first_reply, question.second_reply, question.is_swapped,
    question.control, question.own_family
FROM jsonb_to_recordset(%(questions)s::jsonb) AS question (
    case_id bigint, first_reply bigint, second_reply bigint, is_swapped boolean, control text, own_family text
)
JOIN benchmarks_runitem AS item ON item.case_id = question.case_id AND item.run_id = %(run)s

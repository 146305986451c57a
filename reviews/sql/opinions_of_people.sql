-- Opinions of people who did not know the answers, on pairs of a run's answers. Categories are 0 left, 1 tie, 2 right,
-- seen with the entrant that comes first in the run on the left.
SELECT
    vote.id AS vote, item.case_id, item.repeat, least(one.position, other.position) AS first,
    greatest(one.position, other.position) AS second, dense_rank() OVER (ORDER BY battle.person) AS person,
    CASE
        WHEN vote.choice NOT IN ('left', 'right') THEN 1
        WHEN ((vote.choice = 'left') = (vote.model_left_id = item.first_model_id)) = (one.position < other.position)
            THEN 0
        ELSE 2
    END AS category
FROM reviews_review AS review
JOIN reviews_reviewbattle AS battle ON battle.review_id = review.id AND NOT battle.knew_answers
JOIN reviews_reviewitem AS item ON item.id = battle.review_item_id
JOIN battles_vote AS vote ON vote.battle_id = battle.battle_id AND vote.excluded_reason = ''
JOIN benchmarks_runitem AS first_item ON first_item.id = item.first_item_id
JOIN benchmarks_runitem AS second_item ON second_item.id = item.second_item_id
JOIN benchmarks_entrant AS one ON one.id = first_item.entrant_id
JOIN benchmarks_entrant AS other ON other.id = second_item.entrant_id
WHERE review.public_id = ANY(%(reviews)s)

-- Pairs of a run's answers in reviews, with the scores of both; `first` is the entrant that comes first in the run.
SELECT
    item.case_id, item.repeat, item.cell, least(one.position, other.position) AS first,
    greatest(one.position, other.position) AS second,
    CASE WHEN one.position < other.position THEN first_item.score ELSE second_item.score END AS first_score,
    CASE WHEN one.position < other.position THEN second_item.score ELSE first_item.score END AS second_score
FROM reviews_review AS review
JOIN reviews_reviewitem AS item ON item.review_id = review.id
JOIN benchmarks_runitem AS first_item ON first_item.id = item.first_item_id
JOIN benchmarks_runitem AS second_item ON second_item.id = item.second_item_id
JOIN benchmarks_entrant AS one ON one.id = first_item.entrant_id
JOIN benchmarks_entrant AS other ON other.id = second_item.entrant_id
WHERE review.public_id = ANY(%(reviews)s)

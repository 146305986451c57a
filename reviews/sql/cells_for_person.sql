-- Cells of a review with items for a person: number, models, opinions with leases of the whole cell, items to draw.
-- The person sees no item twice, and not the prompt of last time. A person whose opinions count nowhere needs no room.
SELECT cell, model_id, other_model_id, sum(opinions + leases)::integer, count(*) FILTER (WHERE is_open)::integer
FROM (
    SELECT
        item.cell, item.opinions, item.leases, least(item.first_model_id, item.second_model_id) AS model_id,
        greatest(item.first_model_id, item.second_model_id) AS other_model_id,
        (item.opinions + item.leases < %(most)s OR NOT %(counts)s)
        AND (item.case_id IS NULL OR item.case_id IS DISTINCT FROM %(last_case)s)
        AND item.id NOT IN (
            SELECT review_item_id FROM reviews_reviewbattle WHERE review_id = %(review)s AND person = ANY(%(keys)s)
        ) AS is_open
    FROM reviews_reviewitem AS item
    WHERE item.review_id = %(review)s
) AS items
GROUP BY cell, model_id, other_model_id
HAVING count(*) FILTER (WHERE is_open) > 0

-- Cells of a review with items for a person: number, models, opinions with leases of the whole cell, items to draw.
-- The person sees no item twice, and not the prompt of last time. A person whose opinions count nowhere needs no room.
WITH closed AS (
    SELECT cell, count(*) AS n
    FROM reviews_reviewitem
    WHERE (opinions + leases < %(most)s OR NOT %(counts)s)
        AND id IN (
            SELECT review_item_id FROM reviews_reviewbattle WHERE review_id = %(review)s AND person = ANY(%(keys)s)
            UNION
            SELECT id FROM reviews_reviewitem WHERE review_id = %(review)s AND case_id = %(last_case)s
        )
    GROUP BY cell
)
SELECT cell, model_id, other_model_id, taken, (room - coalesce(closed.n, 0))::integer
FROM (
    SELECT
        cell, min(least(first_model_id, second_model_id)) AS model_id,
        max(greatest(first_model_id, second_model_id)) AS other_model_id,
        sum(opinions + leases)::integer AS taken,
        count(*) FILTER (WHERE opinions + leases < %(most)s OR NOT %(counts)s) AS room
    FROM reviews_reviewitem
    WHERE review_id = %(review)s
    GROUP BY cell
) AS cells
LEFT JOIN closed USING (cell)
WHERE room > coalesce(closed.n, 0)

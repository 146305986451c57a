-- Reserve an item of a cell for a person; return the new battle's id, no row if others have just reserved all of them.
WITH item AS (
    SELECT id
    FROM reviews_reviewitem
    WHERE review_id = %(review)s AND cell = %(cell)s
        AND (opinions + leases < %(most)s OR NOT %(counts)s)
        AND (case_id IS NULL OR case_id IS DISTINCT FROM %(last_case)s)
        AND id NOT IN (
            SELECT review_item_id FROM reviews_reviewbattle WHERE review_id = %(review)s AND person = ANY(%(keys)s)
        )
    ORDER BY random()
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
),
leased AS (
    UPDATE reviews_reviewitem AS counted SET leases = counted.leases + 1
    FROM item WHERE counted.id = item.id AND %(counts)s
)
INSERT INTO reviews_reviewbattle (
    review_id, review_item_id, person, propensity, pair_propensity, lease_until, knew_answers
)
SELECT
    %(review)s, item.id, %(person)s, %(propensity)s, %(pair_propensity)s,
    CASE WHEN %(counts)s THEN statement_timestamp() + make_interval(secs => %(lease_s)s) END, NOT %(counts)s
FROM item
RETURNING id

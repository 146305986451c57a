-- Reserve an answer to grade for a person: one of those with the fewest grades, among these not of the cluster of last
-- time if there are others. Return the new grade's id; no row if nothing is left, or if others have just reserved the rest.
WITH answer AS (
    SELECT id
    FROM reviews_gradedanswer
    WHERE review_id = %(review)s AND item_id IS NOT NULL
        AND (grades + leases < %(most)s OR NOT %(counts)s)
        AND id NOT IN (
            SELECT answer_id FROM reviews_reviewgrade WHERE review_id = %(review)s AND person = %(person)s
        )
    ORDER BY grades + leases, cluster IS NOT DISTINCT FROM %(last_cluster)s, random()
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED
),
leased AS (
    UPDATE reviews_gradedanswer AS counted SET leases = counted.leases + 1
    FROM answer WHERE counted.id = answer.id AND %(counts)s
)
INSERT INTO reviews_reviewgrade (review_id, answer_id, person, lease_until, excluded_reason)
SELECT
    %(review)s, answer.id, %(person)s,
    CASE WHEN %(counts)s THEN statement_timestamp() + make_interval(secs => %(lease_s)s) END,
    CASE WHEN %(counts)s THEN '' ELSE 'knew_answers' END
FROM answer
RETURNING id

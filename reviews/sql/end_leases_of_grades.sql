-- Give answers back whose leases expired. They stay with their people, who can still grade them.
WITH expired AS (
    SELECT id, answer_id
    FROM reviews_reviewgrade
    WHERE lease_until < statement_timestamp()
    ORDER BY id
    FOR NO KEY UPDATE SKIP LOCKED
),
ended AS (
    UPDATE reviews_reviewgrade AS grade SET lease_until = NULL
    FROM expired WHERE grade.id = expired.id
),
counted AS (
    SELECT answer_id, count(*) AS n FROM expired GROUP BY answer_id
)
UPDATE reviews_gradedanswer AS answer SET leases = answer.leases - counted.n
FROM counted WHERE answer.id = counted.answer_id

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
),
-- The order of reviews.actions.people, which updates many answers, too.
locked AS (
    SELECT answer.id, counted.n
    FROM reviews_gradedanswer AS answer
    JOIN counted ON counted.answer_id = answer.id
    ORDER BY answer.id
    FOR NO KEY UPDATE OF answer
)
UPDATE reviews_gradedanswer AS answer SET leases = answer.leases - locked.n
FROM locked WHERE answer.id = locked.id

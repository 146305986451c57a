-- Give items back whose leases expired. The battles stay with their people, who can still vote.
WITH expired AS (
    SELECT id, review_item_id
    FROM reviews_reviewbattle
    WHERE lease_until < statement_timestamp()
    ORDER BY id
    FOR NO KEY UPDATE SKIP LOCKED
),
ended AS (
    UPDATE reviews_reviewbattle AS battle SET lease_until = NULL
    FROM expired WHERE battle.id = expired.id
),
counted AS (
    SELECT review_item_id, count(*) AS n FROM expired GROUP BY review_item_id
),
-- The order of reviews.actions.people, which updates many items, too.
locked AS (
    SELECT item.id, counted.n
    FROM reviews_reviewitem AS item
    JOIN counted ON counted.review_item_id = item.id
    ORDER BY item.id
    FOR NO KEY UPDATE OF item
)
UPDATE reviews_reviewitem AS item SET leases = item.leases - locked.n
FROM locked WHERE item.id = locked.id

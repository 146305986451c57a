-- The number bounds the update instead of a join with the locked votes: the planner estimates one pending vote, however
-- many there are.
WITH marked AS (
    UPDATE battles_vote
    SET processing = CASE excluded_reason WHEN '' THEN 'processed' ELSE 'excluded' END
    WHERE processing = 'pending' AND "order" <= %s
    RETURNING voter, model_left_id, model_right_id, choice, mode, categories, language, processing
), counted AS (
    SELECT * FROM marked WHERE processing = 'processed'
), by_voter AS (
    {add_pairs_of_voters}
), by_pair AS (
    {add_pairs}
)
SELECT count(*) FROM marked

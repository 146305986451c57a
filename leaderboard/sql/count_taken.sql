-- The condition on the number replaces a join with the locked votes: the planner expects a single pending vote and
-- would choose a slow join.
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

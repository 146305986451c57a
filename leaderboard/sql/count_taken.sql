-- Materialized, so that the votes are read once for both tallies.
WITH taken AS MATERIALIZED (
    SELECT voter, model_left_id, model_right_id, choice, mode, origin, categories, language, excluded_reason,
        on_site_boards
    FROM battles_vote WHERE "order" > %(after)s AND "order" <= %(until)s
), counted AS (
    SELECT * FROM taken WHERE excluded_reason = '' AND on_site_boards
), by_voter AS (
    {add_pairs_of_voters}
), by_pair AS (
    {add_pairs}
)
SELECT count(*) FROM taken

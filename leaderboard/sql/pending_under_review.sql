-- Numbers of pending votes by review: all votes of a voter, and a group's votes on Overall with its model. A vote that
-- several reviews hold is the newest one's. Reviews of a team judge its votes that do not count for the site. Votes on
-- stored answers (series) are judged by the owners of those.
WITH pending AS MATERIALIZED (
    SELECT "order", voter, mode, origin, model_left_id, model_right_id,
        CASE WHEN NOT on_site_boards THEN team_id END AS judged_by
    FROM battles_vote
    WHERE "order" > %(after)s AND "order" <= %(until)s AND excluded_reason = '' AND series = ''
), subject AS (
    SELECT id, voter, NULL AS model_id, team_id FROM leaderboard_anomalyreview
    WHERE id = ANY(%(reviews)s) AND "group" = ''
    UNION
    SELECT review.id, held.voter, review.model_id, review.team_id
    FROM leaderboard_anomalyreview AS review CROSS JOIN unnest(review.orders) AS number
    JOIN battles_vote AS held ON held."order" = number
    WHERE review.id = ANY(%(reviews)s) AND review."group" <> '' AND held.voter IN (SELECT voter FROM pending)
), matched AS (
    SELECT DISTINCT ON (pending."order") pending."order", subject.id
    FROM pending JOIN subject USING (voter)
    WHERE pending.judged_by IS NOT DISTINCT FROM subject.team_id AND (
        subject.model_id IS NULL
        OR (
            pending.mode = 'blind' AND pending.origin = 'draw'
            AND subject.model_id IN (pending.model_left_id, pending.model_right_id)
        )
    )
    ORDER BY pending."order", subject.id DESC
)
SELECT id, array_agg("order") FROM matched GROUP BY id

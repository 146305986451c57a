-- leaderboard.rating.elo.after_vote in SQL. This vote has taken its number and therefore holds the counter's lock, like
-- every transaction that writes ratings: both ratings are those after the previous vote.
CREATE OR REPLACE FUNCTION leaderboard_move_elo() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    start float8 := coalesce((SELECT chosen.start FROM leaderboard_elosettings AS chosen), {start});
    k float8 := coalesce((SELECT chosen.k FROM leaderboard_elosettings AS chosen), {k});
    share float8 := CASE NEW.choice WHEN 'left' THEN 1 WHEN 'right' THEN 0 ELSE 0.5 END;
BEGIN
    INSERT INTO leaderboard_elorating (model_id, rating, votes, last_order)
    SELECT id, start, 0, 0 FROM unnest(ARRAY[NEW.model_left_id, NEW.model_right_id]) AS id
    WHERE NOT EXISTS (SELECT FROM leaderboard_elorating WHERE model_id = id);

    UPDATE leaderboard_elorating AS mine
    SET rating = mine.rating + side.sign * k * (
            share - 1 / (1 + power(10::float8, side.sign * (other.rating - mine.rating) / {scale}))
        ),
        votes = mine.votes + 1, last_order = NEW."order"
    FROM leaderboard_elorating AS other,
        (VALUES (1, NEW.model_left_id, NEW.model_right_id), (-1, NEW.model_right_id, NEW.model_left_id))
            AS side (sign, me, you)
    WHERE mine.model_id = side.me AND other.model_id = side.you;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER elo_moves_with_a_votes_number AFTER UPDATE OF "order" ON battles_vote FOR EACH ROW
WHEN (
    OLD."order" IS NULL AND NEW."order" IS NOT NULL AND NEW.mode = 'blind' AND NEW.origin = 'draw'
    AND NEW.on_site_boards AND NEW.excluded_reason IN ('', 'anomaly')
)
EXECUTE FUNCTION leaderboard_move_elo()

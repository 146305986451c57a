-- The last release marks the votes that it counts; later ones count up to a number instead. Votes up to that number must
-- not be counted again by processes of the last release that run beside newer ones.
CREATE OR REPLACE FUNCTION leaderboard_refuse_second_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."order" <= (SELECT max(last_order) FROM leaderboard_aggregationrun WHERE scope = 'overall') THEN
        RAISE EXCEPTION 'vote % was counted by a newer release', NEW."order";
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER a_vote_is_counted_once BEFORE UPDATE OF processing ON battles_vote FOR EACH ROW
WHEN (OLD.processing = 'pending' AND NEW.processing IN ('processed', 'excluded'))
EXECUTE FUNCTION leaderboard_refuse_second_count()

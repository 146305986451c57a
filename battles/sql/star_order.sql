CREATE OR REPLACE FUNCTION battles_next_star_order() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    INSERT INTO battles_votecounter AS counter (id, last_order) VALUES (2, 1)
    ON CONFLICT (id) DO UPDATE SET last_order = counter.last_order + 1
    RETURNING last_order
$$

-- Settle the blind charges of turns that just ended, by the visible characters (docs/adr/0063). A turn that was never
-- claimed, and a side that failed without a word, cost nothing. Accounts are locked in the order of
-- models_registry/sql/settle.sql, which follows in the same transaction for the provider and the site.
CREATE OR REPLACE FUNCTION battles_settle_blind_charges() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM changed WHERE state = 'done') THEN
        RETURN NULL;
    END IF;
    WITH ended AS MATERIALIZED (
        SELECT
            charge.id, charge.account, charge.day, charge.team_id, charge.month, charge.most,
            CASE
                WHEN changed.attempt = 0 OR (answer.state = 'failed' AND answer.text = '') THEN 0
                ELSE least(charge.most, round(
                    (
                        charge.prompt_characters * charge.input_price
                        + char_length(answer.text) * charge.output_price
                    ) / 1000000, 8
                ))
            END AS cost
        FROM changed
        JOIN battles_answer AS answer ON answer.turn_id = changed.id
        JOIN battles_blindcharge AS charge ON charge.answer_id = answer.id
        WHERE changed.state = 'done' AND charge.cost IS NULL
    ), settled AS (
        UPDATE battles_blindcharge AS charge SET cost = ended.cost, account = ''
        FROM ended
        WHERE charge.id = ended.id
    ), totals AS (
        SELECT account.name AS account, account.day, sum(ended.most) AS released, sum(ended.cost) AS spent
        FROM ended
        CROSS JOIN LATERAL (
            VALUES
                (CASE WHEN ended.account LIKE 'person:%' THEN ended.account END, ended.day),
                ('team:' || ended.team_id, ended.day),
                ('team:' || ended.team_id || '/month', ended.month),
                ('team:' || ended.team_id || '/' || substring(ended.account FROM 'user:[0-9]+$'), ended.month)
        ) AS account (name, day)
        WHERE account.name IS NOT NULL
        GROUP BY account.name, account.day
    ), held AS MATERIALIZED (
        SELECT day.id, totals.released, totals.spent
        FROM models_registry_spendingday AS day JOIN totals ON totals.account = day.account AND totals.day = day.day
        ORDER BY
            array_position(ARRAY['team', 'person', 'provider', 'site'], split_part(day.account, ':', 1)),
            day.account COLLATE "C", day.day
        FOR NO KEY UPDATE OF day
    )
    UPDATE models_registry_spendingday AS day
    SET reserved = day.reserved - held.released, spent = day.spent + held.spent
    FROM held
    WHERE day.id = held.id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER an_ended_turn_settles_its_blind_charges AFTER UPDATE ON battles_turn
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT
EXECUTE FUNCTION battles_settle_blind_charges()

-- Reserve money for charges (a JSON array of objects) in accounts, whose names, amounts and budgets are three arrays;
-- return the charges' ids in the array's order. Nothing happens where an account has no row of the day yet or too little
-- money, or paid calls are halted. Rows are locked in the order of names, as Python compares them.
WITH asked AS (
    SELECT * FROM unnest(%(accounts)s::text[], %(amounts)s::numeric[], %(budgets)s::numeric[])
        AS asked (account, amount, budget)
), held AS MATERIALIZED (
    SELECT
        day.id, asked.amount,
        asked.budget IS NULL OR day.reserved + day.spent + asked.amount <= asked.budget AS is_affordable
    FROM models_registry_spendingday AS day JOIN asked USING (account)
    WHERE day.day = %(day)s AND (SELECT count(*) FROM asked) = (
        -- Without locks if a row is missing: it is inserted first, in the order of names.
        SELECT count(*) FROM models_registry_spendingday AS known JOIN asked USING (account) WHERE known.day = %(day)s
    )
    ORDER BY account COLLATE "C"
    FOR NO KEY UPDATE OF day
), verdict AS (
    SELECT
        count(*) FILTER (WHERE held.is_affordable) = (SELECT count(*) FROM asked)
        AND NOT EXISTS (SELECT FROM models_registry_paidcallshalt) AS is_granted
    FROM held
), reserved AS (
    UPDATE models_registry_spendingday AS day SET reserved = day.reserved + held.amount
    FROM held CROSS JOIN verdict
    WHERE day.id = held.id AND verdict.is_granted
)
INSERT INTO models_registry_charge (day, model_id, provider_id, price_id, person, most)
SELECT %(day)s, charge.model_id, charge.provider_id, charge.price_id, charge.person, charge.most
FROM ROWS FROM (
    jsonb_to_recordset(%(charges)s::jsonb) AS (
        model_id bigint, provider_id bigint, price_id bigint, person text, most numeric
    )
) WITH ORDINALITY AS charge
CROSS JOIN verdict
WHERE verdict.is_granted
ORDER BY charge.ordinality
RETURNING id

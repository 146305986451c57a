-- Reserve money for charges (a JSON array of objects) in accounts, given as arrays of names, first days of periods, amounts
-- and budgets; a team's budget is the named column of its row. Return whether it is granted, and the charges' ids in the
-- array's order. Nothing happens where an account has no row of the period yet or too little money, or paid calls are
-- halted. Rows are locked in the order of lock_order, in the module models.ledger.
WITH asked AS (
    SELECT
        asked.account, asked.day, asked.amount,
        CASE asked.limited_by
            WHEN 'day_budget' THEN team.day_budget
            WHEN 'month_budget' THEN team.month_budget
            WHEN 'member_month_budget' THEN team.member_month_budget
            WHEN 'member_month_requests' THEN team.member_month_requests
            ELSE asked.budget
        END AS budget
    FROM unnest(
        %(accounts)s::text[], %(days)s::date[], %(amounts)s::numeric[], %(budgets)s::numeric[], %(teams)s::bigint[],
        %(limits)s::text[]
    ) AS asked (account, day, amount, budget, team_id, limited_by)
    LEFT JOIN accounts_team AS team ON team.id = asked.team_id
), held AS MATERIALIZED (
    SELECT
        day.id, asked.amount,
        asked.budget IS NULL OR day.reserved + day.spent + asked.amount <= asked.budget AS is_affordable
    FROM models_registry_spendingday AS day JOIN asked USING (account, day)
    WHERE (SELECT count(*) FROM asked) = (
        -- Without locks if a row is missing: it is inserted first, in the order of locks.
        SELECT count(*) FROM models_registry_spendingday AS known JOIN asked USING (account, day)
    )
    ORDER BY
        array_position(ARRAY['team', 'person', 'provider', 'site'], split_part(account, ':', 1)), account COLLATE "C", day.day
    FOR NO KEY UPDATE OF day
), charge AS (
    SELECT * FROM ROWS FROM (
        jsonb_to_recordset(%(charges)s::jsonb) AS (
            model_id bigint, provider_id bigint, price_id bigint, person text, team_id bigint, month date, site_pays boolean,
            most numeric
        )
    ) WITH ORDINALITY
), verdict AS (
    SELECT
        count(*) FILTER (WHERE held.is_affordable) = (SELECT count(*) FROM asked)
        AND NOT (EXISTS (SELECT FROM charge) AND EXISTS (SELECT FROM models_registry_paidcallshalt)) AS is_granted
    FROM held
), reserved AS (
    UPDATE models_registry_spendingday AS day SET reserved = day.reserved + held.amount
    FROM held CROSS JOIN verdict
    WHERE day.id = held.id AND verdict.is_granted
), inserted AS (
    INSERT INTO models_registry_charge (day, model_id, provider_id, price_id, person, team_id, month, site_pays, most)
    SELECT
        %(day)s, charge.model_id, charge.provider_id, charge.price_id, charge.person, charge.team_id, charge.month,
        charge.site_pays, charge.most
    FROM charge CROSS JOIN verdict
    WHERE verdict.is_granted
    ORDER BY charge.ordinality
    RETURNING id
)
SELECT verdict.is_granted, ARRAY(SELECT id FROM inserted ORDER BY id) FROM verdict

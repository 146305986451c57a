-- Store the costs of charges (arrays of ids and US dollars) and release their reservations; skip settled charges.
-- Charges are locked by id, then accounts in the order of lock_order, in the module models.ledger.
WITH ended AS (
    SELECT * FROM unnest(%(charges)s::bigint[], %(costs)s::numeric[]) AS ended (id, cost)
), unsettled AS MATERIALIZED (
    SELECT charge.id, ended.cost
    FROM models_registry_charge AS charge JOIN ended ON ended.id = charge.id
    WHERE charge.cost IS NULL
    ORDER BY charge.id
    FOR UPDATE OF charge
), settled AS (
    UPDATE models_registry_charge AS charge SET cost = unsettled.cost
    FROM unsettled
    WHERE charge.id = unsettled.id
    RETURNING
        charge.day, charge.person, charge.provider_id, charge.team_id, charge.month, charge.site_pays, charge.most,
        charge.cost
), totals AS (
    SELECT account.name AS account, account.day, sum(settled.most) AS released, sum(settled.cost) AS spent
    FROM settled
    CROSS JOIN LATERAL (
        VALUES
            ('site', CASE WHEN settled.site_pays THEN settled.day END),
            ('provider:' || settled.provider_id, settled.day),
            ('person:' || nullif(settled.person, ''), CASE WHEN settled.site_pays THEN settled.day END),
            ('team:' || settled.team_id, CASE WHEN settled.month IS NOT NULL THEN settled.day END),
            ('team:' || settled.team_id || '/month', settled.month),
            ('team:' || settled.team_id || '/' || nullif(settled.person, ''), settled.month)
    ) AS account (name, day)
    WHERE account.name IS NOT NULL AND account.day IS NOT NULL
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
WHERE day.id = held.id

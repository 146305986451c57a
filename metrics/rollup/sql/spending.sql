-- Money of the ledger: of the site, and of each team, whose blind answers are quoted (docs/adr/0063).
SELECT figure.metric, account.team, 'day' AS span, '' AS dim, '' AS key, 1 AS n, figure.total, NULL::integer AS bucket
FROM (
    SELECT spent, reserved, CASE WHEN account <> 'site' THEN substr(account, length('team:') + 1)::bigint END AS team
    FROM models_registry_spendingday
    WHERE day = (%(start)s AT TIME ZONE 'UTC')::date AND (account = 'site' OR account ~ '^team:[0-9]+$')
) AS account
CROSS JOIN LATERAL (VALUES ('spent', account.spent), ('unsettled', account.reserved)) AS figure (metric, total)

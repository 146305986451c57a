-- Claim the queued ones of these turns; one that another transaction has locked is being claimed or ended there.
WITH claimable AS (
    SELECT id
    FROM battles_turn
    WHERE id = ANY(%(ids)s) AND state = 'queued' AND attempt < %(attempts)s
    ORDER BY id
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE battles_turn AS turn
SET state = 'answering',
    attempt = turn.attempt + 1,
    fence = turn.fence + 1,
    lease_until = statement_timestamp() + %(lease_s)s * interval '1 second'
FROM claimable
WHERE turn.id = claimable.id
RETURNING turn.id

-- Renew the leases of claims; return the ids of those that hold, and whether a stop was requested. A turn that was just
-- closed counts as held: cancelling its task would lose its `end`.
WITH held AS (
    SELECT turn.id, turn.state, turn.stop_requested_at IS NOT NULL AS must_stop
    FROM unnest(%(ids)s::bigint[], %(fences)s::bigint[]) AS claim (id, fence)
    JOIN battles_turn AS turn ON turn.id = claim.id AND turn.fence = claim.fence
    WHERE turn.state IN ('answering', 'done')
),
renewed AS (
    UPDATE battles_turn AS turn
    SET lease_until = statement_timestamp() + %(lease_s)s * interval '1 second'
    FROM unnest(%(ids)s::bigint[], %(fences)s::bigint[]) AS claim (id, fence)
    WHERE turn.id = claim.id AND turn.fence = claim.fence AND turn.state = 'answering'
)
SELECT id, must_stop FROM held

-- Mark locked items as claimed and store which call each of them makes.
WITH claimed AS (
    UPDATE benchmarks_runitem AS item
    SET state = 'answering', attempt = item.attempt + 1, fence = item.fence + 1,
        lease_until = now() + %(lease)s * interval '1 second'
    FROM jsonb_to_recordset(%(calls)s::jsonb) AS made (item_id bigint, call_id bigint)
    WHERE item.id = made.item_id
    RETURNING item.id, item.turn, item.fence, made.call_id
)
INSERT INTO benchmarks_itemcall (item_id, turn, fence, call_id)
SELECT id, turn, fence, call_id FROM claimed

-- Give locked items the answers of earlier equal calls. An item with a further turn is due again.
WITH found AS (
    SELECT * FROM jsonb_to_recordset(%(replies)s::jsonb) AS found (item_id bigint, reply_id bigint, is_last boolean)
),
given AS (
    UPDATE benchmarks_runitem AS item
    SET state = CASE WHEN found.is_last THEN 'answered' ELSE 'queued' END,
        turn = CASE WHEN found.is_last THEN item.turn ELSE item.turn + 1 END, attempt = 0, fence = item.fence + 1
    FROM found
    WHERE item.id = found.item_id
    RETURNING item.id, CASE WHEN found.is_last THEN item.turn ELSE item.turn - 1 END AS turn, found.reply_id
)
INSERT INTO benchmarks_itemreply (item_id, turn, reply_id, is_reused)
SELECT id, turn, reply_id, TRUE FROM given

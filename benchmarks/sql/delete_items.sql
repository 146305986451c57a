-- Delete items with all that is theirs, and replies that no other item has. The calls stay.
WITH scores AS (
    DELETE FROM benchmarks_score WHERE item_id = ANY(%(items)s)
),
made AS (
    DELETE FROM benchmarks_itemcall WHERE item_id = ANY(%(items)s)
),
judgements AS (
    DELETE FROM benchmarks_judgement WHERE item_id = ANY(%(items)s)
),
grades AS (
    DELETE FROM benchmarks_grade WHERE item_id = ANY(%(items)s)
),
given AS (
    DELETE FROM benchmarks_itemreply WHERE item_id = ANY(%(items)s) RETURNING reply_id
),
replies AS (
    DELETE FROM benchmarks_reply AS reply
    WHERE id IN (SELECT reply_id FROM given)
        AND NOT EXISTS (
            SELECT FROM benchmarks_itemreply AS other
            WHERE other.reply_id = reply.id AND other.item_id <> ALL(%(items)s)
        )
)
DELETE FROM benchmarks_runitem WHERE id = ANY(%(items)s)

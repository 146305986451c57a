-- Close locked turns whose sides are all stored; void battles whose first turn cannot be judged. In modes without a vote
-- one answer that can be judged is enough.
WITH finished AS (
    SELECT turn_id, bool_and(can_be_judged) AS all_can, bool_or(can_be_judged) AS some_can
    FROM (
        SELECT turn_id, state, state = 'done' OR (state = 'stopped' AND text ~ '\S') AS can_be_judged
        FROM battles_answer
        WHERE turn_id = ANY(%(ids)s)
    ) AS answer
    GROUP BY turn_id
    HAVING bool_and(state <> 'queued')
),
closed AS (
    UPDATE battles_turn AS turn
    SET state = 'done', finished_at = statement_timestamp(), lease_until = NULL
    FROM finished
    WHERE turn.id = finished.turn_id
    RETURNING turn.battle_id, turn.index, finished.all_can, finished.some_can
)
UPDATE battles_battle AS battle
SET voided_at = statement_timestamp()
FROM closed
WHERE battle.id = closed.battle_id
    AND battle.voided_at IS NULL
    AND closed.index = 0
    AND NOT closed.all_can
    AND (NOT closed.some_can OR battle.mode = ANY(%(voted_modes)s))

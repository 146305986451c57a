-- Insert a battle with its sides, first turn and answers, and its session unless that has an id (rows: a JSON object).
-- Return a row per side: its position, ids of session, battle and turn, the time, ids of side and answer.
WITH given AS (
    SELECT %s::jsonb AS rows
),
new_session AS (
    INSERT INTO battles_session (public_id, owner_user_id, owner_visitor_id, team_id, title, archived)
    SELECT
        session.public_id, session.owner_user_id, session.owner_visitor_id, session.team_id, session.title,
        session.archived
    FROM given, jsonb_populate_record(NULL::battles_session, given.rows -> 'session') AS session
    WHERE session.id IS NULL
    RETURNING id
),
new_battle AS (
    INSERT INTO battles_battle (
        public_id, session_id, mode, origin, categories, language, labelled_by, prompt_digest, propensity, filters,
        needs_images, consent
    )
    SELECT
        battle.public_id, coalesce(battle.session_id, new_session.id), battle.mode, battle.origin, battle.categories,
        battle.language, battle.labelled_by, battle.prompt_digest, battle.propensity, battle.filters,
        battle.needs_images, battle.consent
    FROM given
    CROSS JOIN jsonb_populate_record(NULL::battles_battle, given.rows -> 'battle') AS battle
    LEFT JOIN new_session ON true
    RETURNING id, session_id
),
new_turn AS (
    INSERT INTO battles_turn (battle_id, index, prompt, after_vote, context_from, state, attempt, fence, trace)
    SELECT new_battle.id, 0, given.rows ->> 'prompt', false, 0, 'queued', 0, 0, given.rows ->> 'trace'
    FROM given, new_battle
    RETURNING id
),
side AS (
    SELECT side.*
    FROM given, jsonb_to_recordset(given.rows -> 'sides') AS side (
        position text, model_id bigint, chosen boolean, answer_public_id text, charge_id bigint
    )
),
new_side AS (
    INSERT INTO battles_side (battle_id, position, model_id, chosen, redrawn)
    SELECT new_battle.id, side.position, side.model_id, side.chosen, false
    FROM side, new_battle
    RETURNING id, position
),
new_answer AS (
    INSERT INTO battles_answer (public_id, turn_id, side_id, charge_id, state, text, html, reasoning, error)
    SELECT side.answer_public_id, new_turn.id, new_side.id, side.charge_id, 'queued', '', '', '', ''
    FROM side JOIN new_side ON new_side.position = side.position, new_turn
    RETURNING id, side_id
)
SELECT
    new_side.position, new_battle.session_id, new_battle.id, new_turn.id, statement_timestamp(), new_side.id,
    new_answer.id
FROM new_battle, new_turn, new_side JOIN new_answer ON new_answer.side_id = new_side.id

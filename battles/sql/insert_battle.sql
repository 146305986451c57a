-- Insert a battle with its sides, turns and answers, and its session (rows: a JSON object). A session with an id has it
-- already, and has just been active.
-- Return a row per answer: ids of session and battle, the time, its public id, ids of its side, its turn and itself.
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
active_session AS (
    UPDATE battles_session AS session SET last_active_at = statement_timestamp()
    FROM given
    WHERE session.id = (given.rows #>> '{session,id}')::bigint
),
new_battle AS (
    INSERT INTO battles_battle (
        public_id, session_id, mode, origin, series, conceals_names, categories, language, labelled_by, prompt_digest,
        propensity, filters, needs_images, consent
    )
    SELECT
        battle.public_id, coalesce(battle.session_id, new_session.id), battle.mode, battle.origin, battle.series,
        battle.conceals_names, battle.categories, battle.language, battle.labelled_by, battle.prompt_digest,
        battle.propensity, battle.filters, battle.needs_images, battle.consent
    FROM given
    CROSS JOIN jsonb_populate_record(NULL::battles_battle, given.rows -> 'battle') AS battle
    LEFT JOIN new_session ON true
    RETURNING id, session_id
),
new_turn AS (
    INSERT INTO battles_turn (
        battle_id, index, prompt, after_vote, context_from, state, attempt, fence, trace, finished_at
    )
    SELECT
        new_battle.id, turn.index, turn.prompt, false, 0, turn.state, 0, 0, turn.trace,
        CASE WHEN turn.state = 'done' THEN statement_timestamp() END
    FROM given, new_battle, jsonb_populate_recordset(NULL::battles_turn, given.rows -> 'turns') AS turn
    RETURNING id, index
),
new_side AS (
    INSERT INTO battles_side (battle_id, position, model_id, chosen, redrawn)
    SELECT new_battle.id, side.position, side.model_id, side.chosen, false
    FROM given, new_battle, jsonb_populate_recordset(NULL::battles_side, given.rows -> 'sides') AS side
    RETURNING id, position
),
new_answer AS (
    INSERT INTO battles_answer (
        public_id, turn_id, side_id, charge_id, call_id, state, text, html, reasoning, error, leaks_identity
    )
    SELECT
        answer.public_id, new_turn.id, new_side.id, answer.charge_id, answer.call_id, answer.state, answer.text,
        answer.html, answer.reasoning, '', answer.leaks_identity
    FROM given
    CROSS JOIN jsonb_to_recordset(given.rows -> 'answers') AS answer (
        index smallint, position text, public_id text, charge_id bigint, call_id bigint, state text, text text,
        html text, reasoning text, leaks_identity boolean
    )
    JOIN new_turn ON new_turn.index = answer.index
    JOIN new_side ON new_side.position = answer.position
    RETURNING public_id, side_id, turn_id, id
)
SELECT
    new_battle.session_id, new_battle.id, statement_timestamp(), new_answer.public_id, new_answer.side_id,
    new_answer.turn_id, new_answer.id
FROM new_battle, new_answer

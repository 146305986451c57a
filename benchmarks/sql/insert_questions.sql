-- Insert questions to a judge as cases with their requests; return the positions and ids of the cases.
-- Cluster and tags are those of the judged cases.
WITH question AS (
    SELECT *
    FROM jsonb_to_recordset(%(questions)s::jsonb) AS question (
        place integer, key text, judged_case bigint, variables jsonb, messages jsonb, turns jsonb, digest text,
        characters integer
    )
),
inserted AS (
    INSERT INTO benchmarks_case (
        version_id, position, key, variables, expected, messages, checks, cluster, tags, metadata, weight, threshold,
        digest
    )
    SELECT
        %(version)s, question.place, question.key, question.variables, '[]', NULL, NULL,
        coalesce(nullif(judged.cluster, ''), judged.key), judged.tags, jsonb_build_object('case', judged.key), 1, NULL,
        ''
    FROM question
    JOIN benchmarks_case AS judged ON judged.id = question.judged_case
    ORDER BY question.place
    RETURNING id, position
),
rendered AS (
    INSERT INTO benchmarks_renderedprompt (prompt_id, case_id, messages, turns, digest, characters)
    SELECT %(prompt)s, inserted.id, question.messages, question.turns, question.digest, question.characters
    FROM inserted
    JOIN question ON question.place = inserted.position
    ORDER BY inserted.position
)
SELECT position, id FROM inserted ORDER BY position

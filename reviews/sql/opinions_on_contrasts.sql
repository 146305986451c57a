-- Direct opinions of people who ended on the contrasts of a review, by person: 1 for the first model, ½ for a tie.
-- First opinions alone, and none that came after the person's end.
SELECT
    contrast.id AS contrast, reviewer.person, reviewer.ended_at,
    array_agg(
        CASE
            WHEN vote.choice NOT IN ('left', 'right') THEN 0.5
            WHEN (vote.choice = 'left') = (vote.model_left_id = contrast.first_model_id) THEN 1.0
            ELSE 0.0
        END::double precision ORDER BY battle.id
    ) AS opinions
FROM reviews_contrast AS contrast
JOIN reviews_reviewitem AS item
    ON item.review_id = contrast.review_id
    AND least(item.first_model_id, item.second_model_id) = least(contrast.first_model_id, contrast.second_model_id)
    AND greatest(item.first_model_id, item.second_model_id)
    = greatest(contrast.first_model_id, contrast.second_model_id)
JOIN reviews_reviewbattle AS battle
    ON battle.review_item_id = item.id AND NOT battle.knew_answers AND battle.repeats_id IS NULL
JOIN reviews_reviewer AS reviewer
    ON reviewer.review_id = contrast.review_id AND reviewer.person = battle.person
    AND battle.ended_at <= reviewer.ended_at
JOIN battles_vote AS vote ON vote.battle_id = battle.battle_id AND vote.excluded_reason = ''
WHERE contrast.review_id = %(review)s
GROUP BY contrast.id, reviewer.person, reviewer.ended_at

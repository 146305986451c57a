-- Votes for the same outcome between the same sides have the same effect: the newest are listed.
SELECT vote.id, vote."order", kind."left", kind."right", vote.choice
FROM unnest(%(left)s::text[], %(right)s::text[], %(outcome)s::text[], %(votes)s::int[])
    AS kind ("left", "right", outcome, votes)
JOIN models_registry_languagemodel AS model_left ON model_left.slug = ltrim(kind."left", '~')
    AND model_left.team_id IS NOT DISTINCT FROM CASE WHEN kind."left" LIKE '~%%' THEN %(team)s::bigint END
JOIN models_registry_languagemodel AS model_right ON model_right.slug = ltrim(kind."right", '~')
    AND model_right.team_id IS NOT DISTINCT FROM CASE WHEN kind."right" LIKE '~%%' THEN %(team)s::bigint END
CROSS JOIN LATERAL (
    SELECT id, "order", choice FROM battles_vote
    WHERE model_left_id = model_left.id AND model_right_id = model_right.id
        AND CASE choice WHEN 'both_bad' THEN 'tie' ELSE choice END = kind.outcome
        AND excluded_reason = '' AND "order" <= %(last)s AND {is_on_board}
    ORDER BY "order" DESC LIMIT kind.votes
) AS vote
ORDER BY vote."order"

-- Move the pace of a provider: a refusal halves it, once per burst; an answer raises it by one until the first refusal,
-- and some answers do so afterwards.
INSERT INTO benchmarks_providerpace AS pace (provider_id, allowed, answers, halved_at, blocked_until)
VALUES (
    %(provider)s,
    CASE WHEN %(refusals)s > 0 THEN %(start)s / 2 ELSE least(%(start)s + %(answered)s, %(maximum)s) END,
    0,
    CASE WHEN %(refusals)s > 0 THEN now() END,
    CASE WHEN %(refusals)s > 0 THEN now() + %(retry_after)s * interval '1 second' END
)
ON CONFLICT (provider_id) DO UPDATE
SET allowed = CASE
        WHEN %(refusals)s > 0 AND coalesce(pace.halved_at < now() - %(burst)s * interval '1 second', true)
            THEN greatest(pace.allowed / 2, 1)
        WHEN %(refusals)s > 0 THEN pace.allowed
        WHEN pace.halved_at IS NULL THEN least(pace.allowed + %(answered)s, %(maximum)s)
        ELSE least(pace.allowed + (pace.answers + %(answered)s) / %(step)s, %(maximum)s)
    END,
    answers = CASE
        WHEN %(refusals)s > 0 OR pace.halved_at IS NULL THEN 0
        ELSE (pace.answers + %(answered)s) %% %(step)s
    END,
    halved_at = CASE
        WHEN %(refusals)s > 0 AND coalesce(pace.halved_at < now() - %(burst)s * interval '1 second', true) THEN now()
        ELSE pace.halved_at
    END,
    blocked_until = CASE
        WHEN %(refusals)s > 0 THEN greatest(pace.blocked_until, now() + %(retry_after)s * interval '1 second')
        ELSE pace.blocked_until
    END

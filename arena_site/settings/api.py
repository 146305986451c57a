REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.api.authentication.ActorAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.api.authentication.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.api.reading.ReadLimit"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["common.api.parsers.Utf8JsonParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "common.api.negotiation.IgnoreAcceptHeader",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_PAGINATION_CLASS": "common.api.pagination.ArenaPagination",
    "EXCEPTION_HANDLER": "common.api.errors.api_exception_handler",
    "UNAUTHENTICATED_USER": None,
    "COERCE_DECIMAL_TO_STRING": True,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Arena",
    "DESCRIPTION": (
        "Blind battles between language models, votes, and boards that anyone can recompute.\n\n"
        "A program sends a token with every call, `Authorization: Bearer arena_…`; members make them under "
        "*Account → API tokens*. Try-it-out uses your session, or a token after *Authorize*. Each operation names the "
        "token scope that it requires. An error is always `{code, detail, fields?}`; an object that you may not see is "
        "404. A `POST` with an `Idempotency-Key` can be repeated. Counted calls have the headers `RateLimit-Policy`, "
        "`RateLimit`, `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`."
    ),
    "TAGS": [
        {"name": "sessions", "description": "Start battles; find, rename, export and delete sessions."},
        {"name": "battles", "description": "Follow up, stop, vote, publish."},
        {"name": "answers", "description": "Stars for the answers of a comparison."},
        {"name": "shares", "description": "Published battles, for anyone with the link."},
        {"name": "gallery", "description": "Published battles that their owners listed."},
        {"name": "uploads", "description": "Files attached to prompts, and their text as models receive it."},
        {"name": "models", "description": "Models that can be chosen."},
        {"name": "boards", "description": "All boards."},
        {"name": "leaderboard", "description": "Standings of models, and the computation behind them."},
        {"name": "exports", "description": "The votes behind the boards, under pseudonyms."},
        {"name": "benchmarks", "description": "Templates of questions, and runs that ask models all of them."},
        {"name": "judges", "description": "Models that judge the answers of runs."},
        {"name": "reviews", "description": "People compare a run's stored answers, without the models' names."},
        {"name": "reports", "description": "A question, the results that answer it, and what they were computed from."},
        {"name": "route", "description": "Which model suits a prompt: decisions of auto mode and its trainings."},
        {"name": "metrics", "description": "Figures over time, for operators and owners of teams."},
        {"name": "statistics", "description": "How much the arena is used, if it publishes that."},
        {"name": "site", "description": "The operator's name, colour and pages."},
        {"name": "suggestions", "description": "Prompts that the start page suggests."},
        {"name": "feedback-tags", "description": "Tags of feedback on answers."},
        {"name": "releases", "description": "Dated sets of files with these votes, and their checksums."},
        {"name": "me", "description": "Your account, its tokens and browsers."},
        {"name": "teams", "description": "Teams that you are in, their members and invitations."},
    ],
    "VERSION": "v1",
    "OAS_VERSION": "3.1.0",
    "DEFAULT_GENERATOR_CLASS": "arena_site.openapi.schema.ArenaGenerator",
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "POSTPROCESSING_HOOKS": ["arena_site.openapi.schema.add_payload_components"],
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "token": {"type": "http", "scheme": "bearer", "description": "A member's token; its scopes are named."},
            "browser": {
                "type": "apiKey",
                "in": "header",
                "name": "X-CSRFToken",
                "description": "Cookies of a browser, with the value of the cookie `csrftoken` in this header.",
            },
        }
    },
}

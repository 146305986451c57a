"""The API, and how it is described."""

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.api.authentication.ActorAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.api.authentication.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["common.api.parsers.Utf8JsonParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "common.api.negotiation.AddressDecides",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_PAGINATION_CLASS": "common.api.pagination.ArenaPagination",
    "EXCEPTION_HANDLER": "common.api.errors.api_exception_handler",
    "UNAUTHENTICATED_USER": None,
    "COERCE_DECIMAL_TO_STRING": True,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Arena",
    "DESCRIPTION": (
        "Blind battles between language models, votes, and boards that anybody can recompute.\n\n"
        "A program sends a token with every call, `Authorization: Bearer arena_…`; members make them under "
        "*Account → API tokens*. Here, calls are tried as the person who is signed in, or with a token after "
        "*Authorize*. Each names the token's scope that it needs. A refusal is always `{code, detail, fields?}`; what "
        "belongs to somebody else is 404. A `POST` with an `Idempotency-Key` can be repeated."
    ),
    "TAGS": [
        {"name": "sessions", "description": "Start battles; find, rename, export and delete what was said."},
        {"name": "battles", "description": "Follow up, stop, vote, publish: all that is done in one."},
        {"name": "answers", "description": "Stars, where many models are compared."},
        {"name": "shares", "description": "Battles that somebody published, for whoever has the address."},
        {"name": "uploads", "description": "Files that go with prompts, and what models are sent of them."},
        {"name": "models", "description": "Who is asked."},
        {"name": "boards", "description": "Which boards there are."},
        {"name": "leaderboard", "description": "How models stand, and how that was computed."},
        {"name": "exports", "description": "The votes behind the boards, under pseudonyms."},
        {"name": "me", "description": "Who asks: the account, its tokens and browsers."},
    ],
    "VERSION": "v1",
    "OAS_VERSION": "3.1.0",
    "DEFAULT_GENERATOR_CLASS": "arena_site.openapi.schema.ArenaGenerator",
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "POSTPROCESSING_HOOKS": ["arena_site.openapi.schema.add_shapes"],
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

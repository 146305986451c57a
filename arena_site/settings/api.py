"""The API, and how it is described."""

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.ActorAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.authentication.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["common.parsers.Utf8JsonParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "common.negotiation.AddressDecides",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_PAGINATION_CLASS": "common.pagination.ArenaPagination",
    "EXCEPTION_HANDLER": "common.api_errors.api_exception_handler",
    "UNAUTHENTICATED_USER": None,
    "COERCE_DECIMAL_TO_STRING": True,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Arena",
    "DESCRIPTION": "Blind battles between language models, votes, and boards that anybody can recompute.",
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

"""Secrets, hosts, and what browsers and machines elsewhere may do."""

from arena_site.settings.environment import env

# Commands that need no secret run without one: Django refuses an empty key when it is used.
SECRET_KEY = env.str("SECRET_KEY", default="")
ARENA_ENCRYPTION_KEYS = env.list("ARENA_ENCRYPTION_KEYS", default=[])
ALLOWED_HOSTS = env.list("ARENA_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
ARENA_PORT = env.int("ARENA_PORT", default=8000)
ARENA_TRUSTED_PROXIES = env.list("ARENA_TRUSTED_PROXIES", default=[])

# Who may read /metrics: networks, and whoever sends the token.
ARENA_METRICS_NETWORKS = env.list("ARENA_METRICS_NETWORKS", default=["127.0.0.0/8", "::1/128"])
ARENA_METRICS_TOKEN = env.str("ARENA_METRICS_TOKEN", default="")

CORS_ALLOWED_ORIGINS = env.list("ARENA_CORS_ORIGINS", default=[])
CORS_URLS_REGEX = r"^/(api|stream)/.*$"
CORS_ALLOW_HEADERS = [
    "accept", "authorization", "content-type", "idempotency-key", "last-event-id",
]  # fmt: skip
CORS_EXPOSE_HEADERS = ["Retry-After"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "worker-src": ["'self'"],
        "manifest-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
ARENA_VISITOR_COOKIE = "arena_visitor"
ARENA_DEVICE_COOKIE = "arena_device"
CSRF_FAILURE_VIEW = "arena_site.pages.csrf_failure"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000

"""A public site behind a TLS proxy: everything explicit, cookies bound to the host."""

from django.core.exceptions import ImproperlyConfigured

from arena_site.settings.base import *  # noqa: F403
from arena_site.settings.base import LOGGING, env

for _name in ("SECRET_KEY", "ARENA_ENCRYPTION_KEYS", "DATABASE_URL", "REDIS_URL", "ARENA_HOSTS"):
    if not env.str(_name, default=""):
        raise ImproperlyConfigured(f"{_name} must be set in the environment")

# On a public site, addresses of providers must not reach its private network unless the operator allows it.
ARENA_ALLOW_PRIVATE_PROVIDERS = env.bool("ARENA_ALLOW_PRIVATE_PROVIDERS", default=False)
ARENA_STAFF_SECOND_FACTOR = env.bool("ARENA_STAFF_SECOND_FACTOR", default=True)
SECURE_SSL_REDIRECT = env.bool("ARENA_SSL_REDIRECT", default=True)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = 31_536_000
# HSTS covers the host alone by default, because its subdomains may not have HTTPS.
_hsts = env.str("ARENA_HSTS", default="host", choices=("host", "subdomains", "preload"))
SECURE_HSTS_INCLUDE_SUBDOMAINS = _hsts in ("subdomains", "preload")
SECURE_HSTS_PRELOAD = _hsts == "preload"
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # they demand subdomains and preload
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = True
# With this prefix browsers send a cookie to this host only. csrftoken has none, because the API documents that name.
SESSION_COOKIE_NAME = "__Host-sessionid"
ARENA_VISITOR_COOKIE = "__Host-arena_visitor"
ARENA_DEVICE_COOKIE = "__Host-arena_device"
LOGGING["handlers"]["console"]["formatter"] = env.str("ARENA_LOG_FORMAT", default="json", choices=("json", "text"))

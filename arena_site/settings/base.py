"""Settings that every way of running the arena shares; each value can come from the environment."""

from typing import Any

from arena_site.settings.api import *  # noqa: F403
from arena_site.settings.arena import *  # noqa: F403
from arena_site.settings.backends import *  # noqa: F403
from arena_site.settings.env_file import BASE_DIR as BASE_DIR
from arena_site.settings.environment import ARENA_DATA_DIR as ARENA_DATA_DIR
from arena_site.settings.environment import env as env
from arena_site.settings.files import *  # noqa: F403
from arena_site.settings.people import *  # noqa: F403
from arena_site.settings.security import *  # noqa: F403

DEBUG = False

INSTALLED_APPS = [
    "accounts",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "corsheaders",
    "csp",
    "django_htmx",
    "drf_spectacular",
    "pgtrigger",
    "rest_framework",
    "template_partials",
    "common",
    "models_registry",
    "uploads",
    "battles",
    "leaderboard",
    "arena_site",
]

MIDDLEWARE = [
    "common.caching.CacheControlMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "arena_site.requests.RequestMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "csp.middleware.CSPMiddleware",
    "common.nul_bytes.refuse_nul",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "accounts.middleware.ActorMiddleware",
    "common.error_pages.ArenaErrorMiddleware",
    "accounts.access.AccessMiddleware",
    "accounts.middleware.SeenMiddleware",
]

ROOT_URLCONF = "arena_site.urls"
ASGI_APPLICATION = "arena_site.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.context_processors.admission",
                "battles.context_processors.sidebar",
            ],
        },
    },
]

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Each in its own words. Whoever has not chosen one gets the browser's, or else the site's.
LANGUAGES = [("en", "English"), ("fr", "Français")]
LANGUAGE_CODE = env.str("ARENA_LANGUAGE", default="en", choices=[code for code, _name in LANGUAGES])
LANGUAGE_COOKIE_NAME = "arena_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE = "Lax"
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {style: {"()": "common.logs.formatter", "style": style} for style in ("json", "text")},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": env.str("ARENA_LOG_FORMAT", default="text", choices=("json", "text")),
        }
    },
    "root": {"handlers": ["console"], "level": env.str("ARENA_LOG_LEVEL", default="INFO")},
    "loggers": {
        "httpx2": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
        # Two lines for each task would bury what tasks say themselves.
        "celery": {"level": "WARNING"},
        # Every request has a line already, with its status.
        "django.request": {"level": "ERROR"},
    },
}
DEFAULT_EXCEPTION_REPORTER = "common.text.redaction.RedactedReporter"

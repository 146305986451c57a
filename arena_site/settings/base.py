"""Settings that every way of running the arena shares; each value can come from the environment."""

import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import environ
from celery.schedules import crontab

from arena_site.settings.services import redis_url_for, service_file_values

BASE_DIR = Path(__file__).resolve().parents[2]

env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env", overwrite=False)

ARENA_DATA_DIR = Path(env.str("ARENA_DATA_DIR", default=".arena"))
if not ARENA_DATA_DIR.is_absolute():
    ARENA_DATA_DIR = BASE_DIR / ARENA_DATA_DIR
for _key, _value in service_file_values(ARENA_DATA_DIR).items():
    os.environ[_key] = os.environ.get(_key) or _value  # set and empty is not given

# Ratings are fitted beside everything else: on two busy cores, more threads made a board of 300 models ten times
# slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Commands that need neither service nor secret (makemigrations, type checks) run without them;
# the port in these two leads nowhere, and an empty secret key is refused by Django when it is used.
NOWHERE_DATABASE, NOWHERE_REDIS = "postgres://arena@127.0.0.1:1/arena", "redis://127.0.0.1:1/0"

SECRET_KEY = env.str("SECRET_KEY", default="")
ARENA_ENCRYPTION_KEYS = env.list("ARENA_ENCRYPTION_KEYS", default=[])
DEBUG = False
ALLOWED_HOSTS = env.list("ARENA_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
ARENA_PORT = env.int("ARENA_PORT", default=8000)
ARENA_TRUSTED_PROXIES = env.list("ARENA_TRUSTED_PROXIES", default=[])

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
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "arena_site.requests.RequestMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "csp.middleware.CSPMiddleware",
    "common.storable_addresses.refuse_nul",
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

ARENA_DATABASE_POOL = env.int("ARENA_DATABASE_POOL", default=12)
# A connection is lent by the pool for as long as a request or a piece of work needs it.
DATABASES = {"default": env.db("DATABASE_URL", default=NOWHERE_DATABASE)}
DATABASES["default"]["OPTIONS"] = {
    **DATABASES["default"].get("OPTIONS", {}),
    "pool": {
        "min_size": 0,
        "max_size": ARENA_DATABASE_POOL,
        "timeout": 3,
        # Its pauses between two tries double until it gives up; then the next request tries at once.
        "reconnect_timeout": 2,
    },
    "connect_timeout": 5,
    # The server parses and plans a statement once per connection instead of with every request: half its work.
    "server_side_binding": True,
    "prepare_threshold": 2,
}
DATABASES["default"]["ENGINE"] = "common.postgresql"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = redis_url_for("redis-py", env.str("REDIS_URL", default=NOWHERE_REDIS))
LIMITS_URL = redis_url_for("limits", REDIS_URL)
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
    }
}

CELERY_BROKER_URL = redis_url_for("celery", REDIS_URL)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    # A task is only a wake-up call: what a dead worker had fetched, the sweeper and the schedule find again. Keeping
    # account of it in Valkey cost a worker a third of its time and brought it back after an hour.
    "ack_emulation": False,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = {"battles.tasks.*": {"queue": "answers"}}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
ARENA_AGGREGATE_EVERY_S = env.int("ARENA_AGGREGATE_EVERY_S", default=3600)
CELERY_BEAT_SCHEDULE = {
    "aggregate": {
        "task": "leaderboard.tasks.aggregate_votes",
        # Asked more often than it is due: each slot of the schedule has one run, soon after it begins.
        "schedule": min(ARENA_AGGREGATE_EVERY_S, 15),
        "options": {"expires": 15},
    },
    "look-for-anomalies": {"task": "leaderboard.tasks.look_for_anomalies", "schedule": crontab(hour=3, minute=30)},
    "refresh-catalogues": {
        "task": "models_registry.tasks.refresh_catalogues",
        "schedule": crontab(hour=4, minute=10),
        "options": {"expires": 3600},
    },
    "tidy-up-uploads": {"task": "uploads.tasks.tidy_up", "schedule": 3600},
    "purge": {"task": "arena_site.tasks.purge", "schedule": crontab(hour=3, minute=50)},
    "forget-old-idempotency-keys": {"task": "accounts.tasks.forget_old_idempotency_keys", "schedule": 3600},
}

# Who may read /metrics: networks, and whoever sends the token.
ARENA_METRICS_NETWORKS = env.list("ARENA_METRICS_NETWORKS", default=["127.0.0.0/8", "::1/128"])
ARENA_METRICS_TOKEN = env.str("ARENA_METRICS_TOKEN", default="")

# Who is let in, and who may make an account (accounts.access).
ARENA_ACCESS = env.str("ARENA_ACCESS", default="open", choices=("open", "members", "private"))
ARENA_SIGNUP = env.str("ARENA_SIGNUP", default="open", choices=("open", "invitation", "closed"))
# Whether the administration opens only to staff with a second factor.
ARENA_STAFF_SECOND_FACTOR = env.bool("ARENA_STAFF_SECOND_FACTOR", default=False)
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "optional"
# Passwords are counted in accounts.sign_in_limit; this is for wrong second factors.
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": "5/15m/key,20/15m/ip"}
ACCOUNT_ADAPTER = "accounts.adapter.ArenaAccountAdapter"
ACCOUNT_SIGNUP_FORM_CLASS = "accounts.forms.SignUpForm"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
LOGIN_REDIRECT_URL = "battles:new"
ACCOUNT_LOGOUT_REDIRECT_URL = "battles:new"
LOGIN_URL = "account_login"
EMAIL_CONFIG = env.email_url("EMAIL_URL", default="consolemail://")
vars().update(EMAIL_CONFIG)
DEFAULT_FROM_EMAIL = env.str("ARENA_FROM_EMAIL", default="arena@localhost")

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
CORS_ALLOWED_ORIGINS = env.list("ARENA_CORS_ORIGINS", default=[])
CORS_URLS_REGEX = r"^/(api|stream)/.*$"
CORS_ALLOW_HEADERS = [
    "accept", "authorization", "content-type", "idempotency-key", "last-event-id",
]  # fmt: skip
CORS_EXPOSE_HEADERS = ["Retry-After"]

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

# Each in its own words. Whoever has not chosen one gets the browser's, or else the site's.
LANGUAGES = [("en", "English"), ("fr", "Français")]
LANGUAGE_CODE = env.str("ARENA_LANGUAGE", default="en", choices=[code for code, _name in LANGUAGES])
LANGUAGE_COOKIE_NAME = "arena_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE = "Lax"
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("ARENA_STATIC_ROOT", default=str(ARENA_DATA_DIR / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = Path(env.str("ARENA_UPLOADS_DIR", default=str(ARENA_DATA_DIR / "uploads")))
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "arena_site.static_files.PackagedFilesFinder",
]
# Uploaded files: in a directory, or in a bucket of S3 or anything that speaks as it does.
ARENA_S3_BUCKET = env.str("ARENA_S3_BUCKET", default="")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    if not ARENA_S3_BUCKET
    else {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": ARENA_S3_BUCKET,
            "endpoint_url": env.str("ARENA_S3_ENDPOINT", default="") or None,
            "region_name": env.str("ARENA_S3_REGION", default="") or None,
            "access_key": env.str("ARENA_S3_ACCESS_KEY", default="") or None,
            "secret_key": env.str("ARENA_S3_SECRET_KEY", default="") or None,
            "default_acl": None,
        },
    },
    "staticfiles": {"BACKEND": "arena_site.static_files.SiteStaticFiles"},
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
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
CSRF_FAILURE_VIEW = "arena_site.pages.csrf_failure"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000

ARENA_MODELS_FILE = BASE_DIR / env.str("ARENA_MODELS_FILE", default="config/models.yaml")

# Battles. Times in seconds; sizes in characters or bytes as named.
ARENA_PROMPT_CHARACTERS = 20_000
ARENA_TURNS_PER_BATTLE = 50
ARENA_MAX_TOKENS = env.int("ARENA_MAX_TOKENS", default=2048)
ARENA_PAIR_WEIGHTS = env.str("ARENA_PAIR_WEIGHTS", default="battles.pairing.uniform_pair_weights")
ARENA_EQUAL_PACE = env.bool("ARENA_EQUAL_PACE", default=False)
ARENA_LOCAL_MODEL_URL = env.str("ARENA_LOCAL_MODEL_URL", default="")
ARENA_ANSWER_CONCURRENCY = env.int("ARENA_ANSWER_CONCURRENCY", default=100)
ARENA_DEADLINES = {
    "connect": env.float("ARENA_DEADLINE_CONNECT_S", default=5),
    "first": env.float("ARENA_DEADLINE_FIRST_S", default=30),
    "idle": env.float("ARENA_DEADLINE_IDLE_S", default=30),
    "total": env.float("ARENA_DEADLINE_TOTAL_S", default=180),
}
ARENA_LIMITS = {
    (action, who): env.str(f"ARENA_LIMIT_{action.upper()}_{who.upper()}", default=default)
    for action, who, default in [
        ("battle", "visitor", "30/hour,150/day"),
        ("battle", "member", "120/hour"),
        ("turn", "visitor", "120/hour"),
        ("turn", "member", "480/hour"),
        ("vote", "visitor", "60/hour"),
        ("vote", "member", "240/hour"),
        ("star", "visitor", "360/hour"),
        ("star", "member", "1440/hour"),
        ("upload", "visitor", "5/hour"),
        ("upload", "member", "40/hour"),
        ("export", "visitor", "6/hour"),
        ("export", "member", "30/hour"),
        # Wrong passwords for one e-mail address and from one network, new accounts, wrong API tokens.
        ("signin", "address", "5/15 minutes"),
        ("signin", "network", "20/15 minutes"),
        ("signup", "network", "20/hour"),
        ("token", "network", "60/minute"),
    ]
}
# Bytes of all the files that somebody keeps.
ARENA_UPLOAD_QUOTAS = {
    "visitor": env.int("ARENA_UPLOAD_QUOTA_VISITOR_MB", default=50) * 1_000_000,
    "member": env.int("ARENA_UPLOAD_QUOTA_MEMBER_MB", default=500) * 1_000_000,
}
# Characters of all the files that go with one prompt.
ARENA_ATTACHED_CHARACTERS = env.int("ARENA_ATTACHED_CHARACTERS", default=200_000)
# US dollars a day (until midnight UTC); None is no cap. Providers have their own, in the administration.
ARENA_BUDGETS = {
    whose: Decimal(dollars) if dollars else None
    for whose, dollars in [
        ("visitor", env.str("ARENA_BUDGET_VISITOR_DAY", default="")),
        ("member", env.str("ARENA_BUDGET_MEMBER_DAY", default="")),
        ("site", env.str("ARENA_BUDGET_SITE_DAY", default="")),
    ]
}
ARENA_PAID_CALLS = env.bool("ARENA_PAID_CALLS", default=True)
# Whether providers may be on this machine and in private networks; link-local and metadata addresses never are.
ARENA_ALLOW_PRIVATE_PROVIDERS = env.bool("ARENA_ALLOW_PRIVATE_PROVIDERS", default=True)
# Days after which something is forgotten (arena_site.retention); 0 is for ever.
ARENA_KEEP_DAYS = {
    "networks": env.int("ARENA_KEEP_NETWORKS_DAYS", default=60),
    "visitor_sessions": env.int("ARENA_KEEP_VISITOR_SESSIONS_DAYS", default=0),
    "member_sessions": env.int("ARENA_KEEP_MEMBER_SESSIONS_DAYS", default=0),
}
ARENA_BREAKER_FAILURES = env.int("ARENA_BREAKER_FAILURES", default=3)
ARENA_BREAKER_COOLDOWN_S = env.float("ARENA_BREAKER_COOLDOWN_S", default=30)
# Whether anybody may fetch the votes, under pseudonyms; otherwise members with a token for it.
ARENA_PUBLISH_VOTES = env.bool("ARENA_PUBLISH_VOTES", default=False)
# Whether search engines may list battles that people published.
ARENA_INDEX_SHARED = env.bool("ARENA_INDEX_SHARED", default=False)
ARENA_LISTED_FROM_VOTES = env.int("ARENA_LISTED_FROM_VOTES", default=5)
ARENA_ESTABLISHED_FROM_VOTES = env.int("ARENA_ESTABLISHED_FROM_VOTES", default=30)

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
        # Every request has a line already, with its status.
        "django.request": {"level": "ERROR"},
    },
}
DEFAULT_EXCEPTION_REPORTER = "common.redaction.RedactedReporter"

"""Settings of Django and libraries, shared by local, production and test."""

import os
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from celery.schedules import crontab

from arena_site.settings.api import *  # noqa: F403
from arena_site.settings.arena import *  # noqa: F403
from arena_site.settings.env import BASE_DIR as BASE_DIR
from arena_site.settings.env import data_dir, load_env, redis_url_for
from arena_site.settings.single_sign_on import *  # noqa: F403

env = load_env()
ARENA_DATA_DIR = data_dir(env)
# Ratings are fitted while other processes are busy: on two busy cores, more threads made the fit of 300 models ten
# times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

DEBUG = False

INSTALLED_APPS = [
    "accounts",
    "common.admin.apps.ArenaAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "arena_site.static_files.SiteStaticFilesConfig",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
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
    "site_content",
    "battles",
    "leaderboard",
    "benchmarks",
    "routing",
    "reviews",
    "gateway",
    "metrics",
    "arena_site",
]

MIDDLEWARE = [
    "common.caching.CacheControlMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "arena_site.requests.RequestMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "common.content_policy.ContentPolicyMiddleware",
    "common.nul_bytes.NulByteMiddleware",
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
    "accounts.middleware.RateLimitMiddleware",
    "common.error_pages.ArenaErrorMiddleware",
    "accounts.access.AccessMiddleware",
    "accounts.middleware.LastSeenMiddleware",
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
                "accounts.context_processors.access_flags",
                "battles.context_processors.sidebar",
            ],
        },
    },
]

# PostgreSQL, Valkey and the queue

# For commands that need no services (makemigrations, type checks); nothing listens on port 1.
UNREACHABLE_DATABASE_URL, UNREACHABLE_REDIS_URL = "postgres://arena@127.0.0.1:1/arena", "redis://127.0.0.1:1/0"

ARENA_DATABASE_POOL = env.int("ARENA_DATABASE_POOL", default=12)
# A pooler that gives each transaction another connection needs it off.
ARENA_PREPARED_STATEMENTS = env.bool("ARENA_PREPARED_STATEMENTS", default=True)
DATABASES = {"default": env.db("DATABASE_URL", default=UNREACHABLE_DATABASE_URL)}
if env.str("DATABASE_REPLICA_URL", default=""):
    DATABASES["replica"] = env.db("DATABASE_REPLICA_URL") | {"TEST": {"MIRROR": "default"}}
    DATABASE_ROUTERS = ["arena_site.replica.ReplicaRouter"]
for _alias, _database in DATABASES.items():
    _options = _database.get("OPTIONS", {})
    _is_replica = _alias == "replica"  # requests do not wait long for it, because the other database can answer them
    if "host" in _options:  # of a socket: `manage.py dbshell` reads HOST only
        _database["HOST"] = _options.pop("host")
    _database["OPTIONS"] = {
        **_options,
        "pool": {
            "min_size": 0,
            "max_size": ARENA_DATABASE_POOL,
            "timeout": 1 if _is_replica else 3,
            # While connections are unused, one is closed in each period of so many seconds; PostgreSQL needs 5 MB for
            # each.
            "max_idle": 30,
            # The pool's pauses between two attempts double until this timeout; the next request then connects at once.
            "reconnect_timeout": 2,
        },
        "connect_timeout": 2 if _is_replica else 5,
        "server_side_binding": True,
        # Prepared statements are parsed and planned once per connection, which halves the server's work.
        "prepare_threshold": 2 if ARENA_PREPARED_STATEMENTS else None,
    }
    # Cursors of the server live as long as their connection, too.
    _database["DISABLE_SERVER_SIDE_CURSORS"] = not ARENA_PREPARED_STATEMENTS
    _database["ENGINE"] = "common.db.postgresql"
# Seconds by which the replica may be behind.
ARENA_REPLICA_MAX_LAG_S = env.int("ARENA_REPLICA_MAX_LAG_S", default=60)
# The site's database role where it does not own the tables. `prepare`, which runs as their owner, grants its rights
# (arena_site/site_role.sql) if the role exists.
ARENA_SITE_ROLE = env.str("ARENA_SITE_ROLE", default="arena_site")

REDIS_URL = redis_url_for("redis-py", env.str("REDIS_URL", default=UNREACHABLE_REDIS_URL))
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
    }
}

# File that background processes touch with each heartbeat, for the health checks of containers; empty: none.
ARENA_HEARTBEAT_FILE = env.str("ARENA_HEARTBEAT_FILE", default="")

CELERY_BROKER_URL = redis_url_for("celery", REDIS_URL)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    # A task only wakes a worker: the sweeper and beat repeat tasks that a dead worker had fetched. Acknowledging tasks
    # in Valkey took a third of a worker's time and redelivered them after an hour only.
    "ack_emulation": False,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # no maximum
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = {
    "battles.tasks.*": {"queue": "answers"},
    # Answer workers consume it, too, unless the operator gives it a worker of its own.
    "benchmarks.tasks.drive_run": {"queue": "benchmarks"},
    "benchmarks.tasks.judge_battles": {"queue": "benchmarks"},
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
ARENA_AGGREGATE_EVERY_S = env.int("ARENA_AGGREGATE_EVERY_S", default=3600)
CELERY_BEAT_SCHEDULE = {
    "aggregate": {
        "task": "leaderboard.tasks.aggregate_votes",
        # Queued more often than it is due, so that each slot's one run starts soon after the slot begins, and the first
        # votes of a board are on it within a minute (leaderboard.counting.schedule.EARLY_RUN_DELAY_S).
        "schedule": min(ARENA_AGGREGATE_EVERY_S, 15),
        "options": {"expires": 15},
    },
    "look-for-anomalies": {"task": "leaderboard.tasks.look_for_anomalies", "schedule": crontab(hour=3, minute=30)},
    "train-router": {"task": "routing.tasks.train_router", "schedule": crontab(hour=4, minute=40)},
    "publish-reviews": {"task": "reviews.tasks.publish_boards", "schedule": 60, "options": {"expires": 60}},
    "release-data": {"task": "leaderboard.tasks.release_data", "schedule": 300, "options": {"expires": 300}},
    "refresh-catalogues": {
        "task": "models_registry.tasks.refresh_catalogues",
        "schedule": crontab(hour=4, minute=10),
        "options": {"expires": 3600},
    },
    "tidy-up-uploads": {"task": "uploads.tasks.tidy_up", "schedule": 3600},
    "purge": {"task": "arena_site.tasks.purge", "schedule": crontab(hour=3, minute=50)},
    # Runs before the purge, after which people of deleted sessions are not counted any more.
    "roll-up-night": {"task": "metrics.tasks.roll_up_night", "schedule": crontab(hour=2, minute=20)},
    "roll-up-today": {"task": "metrics.tasks.roll_up_today", "schedule": 600, "options": {"expires": 600}},
    "count-activity": {"task": "arena_site.tasks.count_activity", "schedule": 300, "options": {"expires": 300}},
    "tell-owners-of-spending": {
        "task": "arena_site.tasks.tell_owners_of_spending",
        "schedule": 300,
        "options": {"expires": 300},
    },
    "send-due-emails": {"task": "accounts.tasks.send_due_emails", "schedule": 60, "options": {"expires": 60}},
    "forget-old-idempotency-keys": {"task": "accounts.tasks.forget_old_idempotency_keys", "schedule": 3600},
}

# Files

# An address of another origin must have the arena's own below the same path, and serve what it gets from there.
STATIC_URL = env.str("ARENA_STATIC_URL", default="/static/").rstrip("/") + "/"
_collected = BASE_DIR / "collected"  # in images
STATIC_ROOT = _collected if _collected.is_dir() else ARENA_DATA_DIR / "static"


def _package(name: str) -> Path:
    """Return the directory of an installed package without importing it."""
    found = find_spec(name)
    if found is None or found.origin is None:
        raise ImportError(f"the package {name} is not installed")
    return Path(found.origin).parent


# Two packages have scripts that pages load; arena_site.static_files excludes their other files.
STATICFILES_DIRS: list[Path | tuple[str, Path]] = [
    BASE_DIR / "static",
    ("plotly", _package("plotly") / "package_data"),
    ("swagger-ui", _package("drf_spectacular_sidecar") / "static/drf_spectacular_sidecar/swagger-ui-dist"),
]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "arena_site.static_files.MathFontFinder",
]
MATH_FONT = _package("ziamath") / "fonts/STIXTwoMath-Regular.ttf"
MEDIA_ROOT = ARENA_DATA_DIR / "uploads"
# Uploads are stored in this bucket, or else in MEDIA_ROOT. boto3 reads endpoint, region and keys from AWS's variables.
ARENA_S3_BUCKET = env.str("ARENA_S3_BUCKET", default="")
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        # Readable by the arena's own user only.
        "OPTIONS": {"directory_permissions_mode": 0o700, "file_permissions_mode": 0o600},
    }
    if not ARENA_S3_BUCKET
    else {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {"bucket_name": ARENA_S3_BUCKET, "default_acl": None},
    },
    "staticfiles": {"BACKEND": "arena_site.static_files.SiteStaticFiles"},
}

# Hosts, secrets and browsers

# Empty for commands that need no secret: Django raises when an empty key is used.
SECRET_KEY = env.str("SECRET_KEY", default="")
# Former secrets, whose signatures are still accepted.
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
ARENA_ENCRYPTION_KEYS = env.list("ARENA_ENCRYPTION_KEYS", default=[])
ALLOWED_HOSTS = env.list("ARENA_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
# Seconds after which a request to the gateway without a stream is sent blanks until its answer; 0: never.
ARENA_GATEWAY_BLANKS_AFTER_S = env.int("ARENA_GATEWAY_BLANKS_AFTER_S", default=45)
ARENA_PORT = env.int("ARENA_PORT", default=8000)
ARENA_TRUSTED_PROXIES = env.list("ARENA_TRUSTED_PROXIES", default=[])

# Networks that may read /metrics, and the token for clients elsewhere.
ARENA_METRICS_NETWORKS = env.list("ARENA_METRICS_NETWORKS", default=["127.0.0.0/8", "::1/128"])
ARENA_METRICS_TOKEN = env.str("ARENA_METRICS_TOKEN", default="")

CORS_ALLOWED_ORIGINS = env.list("ARENA_CORS_ORIGINS", default=[])
CORS_URLS_REGEX = r"^/(api|stream|v1)/.*$"
CORS_ALLOW_HEADERS = [
    "accept", "authorization", "content-type", "idempotency-key", "last-event-id", "x-arena-session",
    # Sent by Anthropic's client, and by both it and OpenAI's, in browsers.
    "anthropic-beta", "anthropic-dangerous-direct-browser-access", "anthropic-version", "x-api-key",
    "x-stainless-arch", "x-stainless-lang", "x-stainless-os", "x-stainless-package-version", "x-stainless-retry-count",
    "x-stainless-runtime", "x-stainless-runtime-version", "x-stainless-timeout",
]  # fmt: skip
CORS_EXPOSE_HEADERS = [
    "Retry-After", "RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
    "X-Request-ID", "X-Arena-Battle", "X-Arena-Cached", "X-Arena-Decision", "X-Arena-Dropped", "X-Arena-Fallback",
    "X-Arena-Model", "X-Arena-Reason",
]  # fmt: skip

_static = urlsplit(STATIC_URL)
_static_origins = [f"{_static.scheme}://{_static.netloc}"] if _static.netloc else []
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'", *_static_origins],
        "style-src": ["'self'", *_static_origins],
        "img-src": ["'self'", "data:", *_static_origins],
        "font-src": ["'self'", *_static_origins],
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

# Accounts and e-mail

# See accounts.access.
ARENA_ACCESS = env.str("ARENA_ACCESS", default="open", choices=("open", "members", "private"))
ARENA_SIGNUP = env.str("ARENA_SIGNUP", default="open", choices=("open", "invitation", "closed"))
# Creators of teams: administrators, or all members.
ARENA_TEAMS = env.str("ARENA_TEAMS", default="administrators", choices=("administrators", "members"))
# Administrators may read prompts and answers of teams, which is shown to the teams' members.
ARENA_OPERATORS_READ_TEAMS = env.bool("ARENA_OPERATORS_READ_TEAMS", default=False)
# The administration requires a second factor.
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
# accounts.sign_in.rate_limit limits passwords; `login_failed` limits wrong second factors per account, not per network,
# so that others behind the same address are not locked out. A school class may sign up within a minute.
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": "5/15m/key", "signup": "60/m/ip"}
ACCOUNT_ADAPTER = "accounts.adapter.ArenaAccountAdapter"
ACCOUNT_FORMS = {
    "signup": "accounts.forms.SignUpForm",
    "add_email": "accounts.forms.NewAddressForm",
    "reset_password": "accounts.forms.ResetForm",
    "change_password": "accounts.forms.PasswordForm",
    "set_password": "accounts.forms.FirstPasswordForm",
}
SOCIALACCOUNT_ADAPTER = "accounts.single_sign_on.adapter.ArenaSocialAccountAdapter"
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"provider_class": "accounts.single_sign_on.provider.Provider"}}
SOCIALACCOUNT_SOCIALACCOUNT_STR = attrgetter("provider")  # the name of a row; allauth's shows an e-mail address
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ADAPTER = "site_content.mfa_adapter.ArenaMFAAdapter"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
LOGIN_REDIRECT_URL = "battles:new"
ACCOUNT_LOGOUT_REDIRECT_URL = "battles:new"
LOGIN_URL = "account_login"
EMAIL_CONFIG = env.email_url("EMAIL_URL", default="consolemail://")
vars().update(EMAIL_CONFIG)
EMAIL_TIMEOUT = 10
# Sends the queued messages (accounts.outgoing_email).
ARENA_EMAIL_BACKEND = EMAIL_CONFIG["EMAIL_BACKEND"]
_sends_email = ARENA_EMAIL_BACKEND.split(".")[-2] not in ("console", "dummy")
EMAIL_BACKEND = "accounts.email_backend.QueuedBackend" if _sends_email else ARENA_EMAIL_BACKEND
# Sign-up can hide whether an address has an account only where addresses are confirmed by e-mail.
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if _sends_email else "optional"
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
DEFAULT_FROM_EMAIL = env.str("ARENA_FROM_EMAIL", default="arena@localhost")

# Languages and logs

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Each name in its own language. Without a choice, the browser's language is used, or else the site's.
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
        "fontTools": {"level": "WARNING"},
        # common.tracing.pipeline logs a collector that is away, once.
        "opentelemetry": {"level": "CRITICAL"},
        # Celery logs two lines per task, among which the tasks' own lines are hard to find.
        "celery": {"level": "WARNING"},
        # arena_site.requests logs a line with the status of every request.
        "django.request": {"level": "ERROR"},
    },
}
DEFAULT_EXCEPTION_REPORTER = "common.text.redaction.RedactedReporter"

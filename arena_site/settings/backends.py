"""PostgreSQL, Valkey, and the queue with what is done on a schedule."""

from celery.schedules import crontab

from arena_site.settings.environment import env
from arena_site.settings.services import redis_url_for

# Commands that need no service (makemigrations, type checks) run without one: this port leads nowhere.
NOWHERE_DATABASE, NOWHERE_REDIS = "postgres://arena@127.0.0.1:1/arena", "redis://127.0.0.1:1/0"

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
DATABASES["default"]["ENGINE"] = "common.db.postgresql"
# Where the site does not run as the owner of the tables: its role. `prepare`, which runs as their owner, gives it its
# rights (arena_site/site_role.sql); where there is no such role it does nothing.
ARENA_SITE_ROLE = env.str("ARENA_SITE_ROLE", default="arena_site")

REDIS_URL = redis_url_for("redis-py", env.str("REDIS_URL", default=NOWHERE_REDIS))
LIMITS_URL = redis_url_for("limits", REDIS_URL)
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
    }
}

# Touched by background processes with each heartbeat, for the health checks of containers; empty: none is.
ARENA_HEARTBEAT_FILE = env.str("ARENA_HEARTBEAT_FILE", default="")

CELERY_BROKER_URL = redis_url_for("celery", REDIS_URL)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    # A task is only a wake-up call: what a dead worker had fetched, the sweeper and the schedule find again. Keeping
    # account of it in Valkey cost a worker a third of its time and brought it back after an hour.
    "ack_emulation": False,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # for ever
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = {"battles.tasks.*": {"queue": "answers"}}
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
    "send-due-emails": {"task": "accounts.tasks.send_due_emails", "schedule": 60, "options": {"expires": 60}},
    "forget-old-idempotency-keys": {"task": "accounts.tasks.forget_old_idempotency_keys", "schedule": 3600},
}

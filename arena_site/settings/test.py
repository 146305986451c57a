import os

os.environ.setdefault("SECRET_KEY", "only-for-tests")
os.environ.setdefault("ARENA_ENCRYPTION_KEYS", "dGVzdHMtb25seS10ZXN0cy1vbmx5LXRlc3RzLW9ubHk=")

from arena_site.settings.base import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # noqa: F405
DATABASES["default"]["OPTIONS"].pop("pool")  # noqa: F405 (pytest drops the database, which fails while a connection is open)
DATABASES["default"]["OPTIONS"]["connect_timeout"] = 60  # noqa: F405 (the machine is busy)
CACHES["default"]["OPTIONS"] = {"socket_timeout": 20, "socket_connect_timeout": 20}  # noqa: F405 (the machine is busy)
ARENA_DAILY_VOTES = {"person": 0, "network": 0}  # tests and benchmarks cast many votes within a day
ARENA_GALLERY = ARENA_PUBLIC_STATISTICS = True  # off by default; tests open every page
ARENA_REVIEWS = {"repeats_percent": 0, "least_seconds": 0}  # tests vote at once
# A task must not be lost on a busy machine: no sweeper runs that would queue its turn again.
CELERY_BROKER_TRANSPORT_OPTIONS |= {"socket_timeout": 60, "socket_connect_timeout": 60}  # noqa: F405

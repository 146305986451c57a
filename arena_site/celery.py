"""Background work: the Celery app of the workers and of beat."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_ready

from common import heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")

app = Celery("arena")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def say_that_the_worker_lives(sender: Any, **_: object) -> None:
    name = sender.hostname.split("@")[0]
    if name == "answers":
        from battles.engine import engine  # brings the SDK: now, not while the first person waits

        engine()
    heartbeat.start(f"worker-{name}")


@beat_init.connect
def say_that_beat_lives(**_: object) -> None:
    heartbeat.start("beat")

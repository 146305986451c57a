"""Background work: the Celery app of the workers and of beat."""

import os
from typing import Any

from celery import Celery
from celery.app.amqp import AMQP
from celery.signals import beat_init, before_task_publish, setup_logging, task_postrun, task_prerun, worker_ready
from kombu import Connection

from common import logs
from common.valkey import counters, heartbeat

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")

# Pauses between two tries to reach the broker; kombu's own grow from 2 to 30 s.
RECONNECT_INTERVALS = {"interval_start": 0.5, "interval_step": 0.5, "interval_max": 2}


class QuickConnection(Connection):
    """Broker connection that is back soon after a broker that was restarted several times."""

    def _ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        return super()._ensure_connection(*args, **RECONNECT_INTERVALS | kwargs)


class Amqp(AMQP):
    """Celery's messaging with QuickConnection."""

    Connection = QuickConnection


app = Celery("arena", amqp=Amqp)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def leave_logging_to_the_settings(**_: object) -> None:
    """With nobody here, Celery gives the root logger a level of its own."""


@worker_ready.connect
def say_that_the_worker_lives(sender: Any, **_: object) -> None:
    name = sender.hostname.split("@")[0]
    if name == "answers":
        from battles.worker.runner import get_engine  # brings the SDK: now, not while the first person waits

        get_engine()
    counters.start()
    heartbeat.start(f"worker-{name}")


@beat_init.connect
def say_that_beat_lives(**_: object) -> None:
    heartbeat.start("beat")


@before_task_publish.connect
def say_on_whose_behalf(headers: dict[str, Any], **_: object) -> None:
    if request_id := logs.current_request_id():
        headers[logs.REQUEST_ID] = request_id


@task_prerun.connect
def remember_on_whose_behalf(task: Any, **_: object) -> None:
    """The engine's loop, to which a turn is handed on, takes it over with the thread's context."""
    if request_id := getattr(task.request, logs.REQUEST_ID, None):
        logs.begin_request(request_id)


@task_postrun.connect
def forget_on_whose_behalf(**_: object) -> None:
    logs.end_request()

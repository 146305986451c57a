import os
from typing import Any

from celery import Celery
from celery.app.amqp import AMQP
from celery.signals import (
    beat_init,
    before_task_publish,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_ready,
    worker_shutdown,
)
from kombu import Connection

from arena_site.version import VERSION
from common import logs
from common.tracing import service as tracing_service
from common.valkey import counters, heartbeat
from models_registry.health import oddities

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
# Django's checks import pages, which take half a second and memory in each worker; `prepare` has run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

# Seconds between two attempts to reach the broker; kombu's own grow from 2 to 30.
RECONNECT_INTERVALS = {"interval_start": 0.5, "interval_step": 0.5, "interval_max": 2}


class QuickConnection(Connection):
    """Broker connection that reconnects quickly, also after several restarts of the broker."""

    def _ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        return super()._ensure_connection(*args, **RECONNECT_INTERVALS | kwargs)


class Amqp(AMQP):
    Connection = QuickConnection


app = Celery("arena", amqp=Amqp)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_logging_settings(**_: object) -> None:
    """Connecting a receiver stops Celery from reconfiguring the root logger."""


@worker_ready.connect
def start_worker_services(sender: Any, **_: object) -> None:
    tracing_service.start(VERSION)
    queues = sender.app.amqp.queues.consume_from
    if not queues.keys().isdisjoint(("answers", "benchmarks")):
        from battles.worker.runner import get_engine  # imports the SDK, which would delay the first answer

        engine = get_engine()
        if "answers" in queues:
            engine.take_turns()
    kind = f"worker-{sender.hostname.split('@')[0]}"
    counters.start(kind)
    oddities.start()
    heartbeat.start(kind)


@worker_shutdown.connect
def send_last_spans(**_: object) -> None:
    tracing_service.stop()


@beat_init.connect
def start_beat_heartbeat(**_: object) -> None:
    counters.start("beat")
    heartbeat.start("beat")


@before_task_publish.connect
def send_request_id(headers: dict[str, Any], **_: object) -> None:
    if request_id := logs.current_request_id():
        headers[logs.REQUEST_ID] = request_id


@task_prerun.connect
def restore_request_id(task: Any, **_: object) -> None:
    """Log under the id of the request that queued the task; the engine's loop copies this thread's context."""
    if request_id := getattr(task.request, logs.REQUEST_ID, None):
        logs.begin_request(request_id)


@task_postrun.connect
def clear_request_id(**_: object) -> None:
    logs.end_request()

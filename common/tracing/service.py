"""Start and end of traces in a program that serves, and the check of their settings."""

import logging
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register

from common.text.redaction import register_secret
from common.tracing import spans

if TYPE_CHECKING:
    from common.tracing.pipeline import Pipeline

logger = logging.getLogger(__name__)
_pipeline: "Pipeline | None" = None


def preload() -> None:
    """Import the packages in the launcher, whose forks share them."""
    if settings.ARENA_TRACES_ENDPOINT and not _problem():
        from common.tracing import pipeline  # noqa: F401


def start(version: str) -> None:
    """Trace this process if a collector is set. Call after the fork, and before work begins."""
    global _pipeline
    if not settings.ARENA_TRACES_ENDPOINT or _pipeline is not None:
        return
    if problem := _problem():
        logger.warning("traces are off: %s", problem)
        return
    from common.tracing.pipeline import Pipeline

    for header in settings.ARENA_TRACES_SECRET_HEADERS.split(","):
        register_secret(unquote(header.partition("=")[2].strip()))
    _pipeline = Pipeline(
        settings.ARENA_TRACES_ENDPOINT,
        ratio=settings.ARENA_TRACES_RATIO,
        service=settings.ARENA_TRACES_SERVICE,
        version=version,
    )
    spans.use(_pipeline)


def stop() -> None:
    """Export what waits, within pipeline.SHUTDOWN_TIMEOUT_S."""
    global _pipeline
    spans.use(None)
    if _pipeline is not None:
        _pipeline.export.shutdown()
        _pipeline = None


@register()
def check_traces(**_: object) -> list[CheckMessage]:
    problem = _problem() if settings.ARENA_TRACES_ENDPOINT else ""
    return [Warning(f"Traces are off: {problem}", id="common.W001")] if problem else []


def _problem() -> str:
    """Return why the configured traces cannot be sent, or ""."""
    url = urlsplit(settings.ARENA_TRACES_ENDPOINT)
    if url.scheme not in ("http", "https") or not url.hostname:
        return "OTEL_EXPORTER_OTLP_ENDPOINT is not an address like http://collector:4318."
    if not 0 <= settings.ARENA_TRACES_RATIO <= 1:
        return "OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1."
    if not _is_installed():
        return "their packages are not installed. Install the extra “otel” (docs/operating.md, Traces)."
    return ""


def _is_installed() -> bool:
    try:
        return all(find_spec(f"opentelemetry.{name}") for name in ("sdk.trace", "exporter.otlp.proto.http"))
    except ModuleNotFoundError:
        return False

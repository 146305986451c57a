"""Log format: structlog renders `logging` records as JSON or text, with the request's id."""

import re
import secrets
from typing import Any

from structlog.contextvars import bind_contextvars, get_contextvars, merge_contextvars, unbind_contextvars
from structlog.processors import ExceptionRenderer, JSONRenderer, TimeStamper
from structlog.stdlib import ExtraAdder, ProcessorFormatter, add_log_level, add_logger_name
from structlog.typing import EventDict, Processor

from common.text.redaction import redact
from common.tracing.spans import current_place

REQUEST_ID = "request_id"
_WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,64}")


def begin_request(given: str = "") -> str:
    """Bind the request's id to this thread's log lines: `given` if it is well formed, otherwise a new one."""
    request_id = given if _WELL_FORMED.fullmatch(given) else secrets.token_hex(12)
    bind_contextvars(**{REQUEST_ID: request_id})
    return request_id


def current_request_id() -> str:
    return str(get_contextvars().get(REQUEST_ID, ""))


def end_request() -> None:
    unbind_contextvars(REQUEST_ID)


def formatter(style: str) -> ProcessorFormatter:
    """style: json or text. A record's `extra` becomes fields of the line."""
    before: list[Processor] = [
        merge_contextvars, _add_trace, add_log_level, add_logger_name, ExtraAdder(),
        TimeStamper(fmt="iso", utc=True, key="time"), ExceptionRenderer(), _redact_secrets,
    ]  # fmt: skip
    last: Processor = JSONRenderer(ensure_ascii=False, default=str) if style == "json" else _as_text
    return ProcessorFormatter(
        foreign_pre_chain=before, processors=[ProcessorFormatter.remove_processors_meta, _in_order, last]
    )


def _add_trace(logger: object, method: str, line: EventDict) -> EventDict:
    place = current_place()
    if place is not None:
        line["trace_id"], line["span_id"] = f"{place.trace_id:032x}", f"{place.span_id:016x}"
    return line


def _redact_secrets(logger: Any, method: str, line: EventDict) -> EventDict:
    """Redact secrets; values other than numbers and booleans become text first."""
    for name, value in line.items():
        if not isinstance(value, (int, float, bool, type(None))) and not name.startswith("_"):
            line[name] = redact(str(value))
    return line


def _in_order(logger: Any, method: str, line: EventDict) -> EventDict:
    line.pop("color_message", None)  # uvicorn's, for terminals
    first = {name: line.pop(name) for name in ("time", "level", "logger")}
    return {**first, "message": line.pop("event"), **line}


def _as_text(logger: Any, method: str, line: EventDict) -> str:
    head = f"{line.pop('time')} {line.pop('level').upper()} {line.pop('logger')} {line.pop('message')}"
    exception = line.pop("exception", "")
    fields = "".join(f" {name}={value}" for name, value in line.items())
    return f"{head}{fields}\n{exception}" if exception else head + fields

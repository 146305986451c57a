"""Server-sent events of a turn: htmx fragments or JSON."""

from collections.abc import AsyncIterator

import msgspec
from django.utils.html import escape
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from battles.streaming.protocol import BEGINNING, EVENTS_OF_PAGES, TurnEvent, TurnToken
from battles.streaming.reader import NumberedEvent, StreamExpired, follow
from common import sse

STATE_LABELS = {
    "streaming": _("answering"),
    "done": _("complete"),
    "stopped": _("stopped"),
    "failed": _("could not answer"),
}


async def page_events(token: TurnToken, after: str, *, language: str) -> AsyncIterator[bytes]:
    """Yield fragments until `end`, also of an expired stream: the page then fetches the stored turn.

    A new connection clears the panes, except those of a regenerated turn: the worker clears the failed sides only.
    """
    with override(language):
        labels = {state: str(label) for state, label in STATE_LABELS.items()}
    if after == BEGINNING and not token.regenerated:
        for side in token.sides:
            yield sse.event("reset", _fragment(token, TurnEvent("reset", side), labels))
    try:
        async for numbered in follow(token.key, after=after):
            events = [sse.event(event.name, _fragment(token, event, labels), id=id) for id, event in numbered]
            yield b"".join(events) or sse.KEEP_ALIVE
    except StreamExpired:
        yield sse.end()


async def api_events(token: TurnToken, after: str) -> AsyncIterator[bytes]:
    """Yield JSON events until `end` or until the stream has expired."""
    try:
        async for numbered in follow(token.key, after=after):
            events = [_as_api_event(each) for each in numbered if each.event.name not in EVENTS_OF_PAGES]
            yield b"".join(events) or sse.KEEP_ALIVE
    except StreamExpired:
        return


def _fragment(token: TurnToken, event: TurnEvent, labels: dict[str, str]) -> str:
    pane = f"a-{token.battle}-{token.turn_index}-{event.side}"
    nothing_open = f'<div hx-swap-oob="innerHTML:#{pane}-open"><span id="{pane}-tip"></span></div>'
    match event.name:
        case "text":
            return f'<span hx-swap-oob="beforeend:#{pane}-tip">{escape(event.value)}</span>'
        case "block":
            # The value was sanitised before it was published.
            block = f'<div hx-swap-oob="beforeend:#{pane}-done">{event.value}</div>'
            return block + nothing_open
        case "form":
            form = event.value.replace('<span class="tip">', f'<span id="{pane}-tip">')
            return f'<div hx-swap-oob="innerHTML:#{pane}-open">{form}</div>'
        case "whole":
            return f'<div hx-swap-oob="innerHTML:#{pane}-done">{event.value}</div>{nothing_open}'
        case "reset":
            parts = (f'<div hx-swap-oob="innerHTML:#{pane}-{part}"></div>' for part in ("done", "state"))
            return "".join(parts) + nothing_open
        case "state":
            badge = f'<span data-state="{event.value}">{labels[event.value]}</span>'
            return f'<span hx-swap-oob="innerHTML:#{pane}-state">{badge}</span>'
        case "end":
            return ""


def _as_api_event(numbered: NumberedEvent) -> bytes:
    event = numbered.event
    data: dict[str, str] = {"side": event.side} if event.side else {}
    match event.name:
        case "text":
            data["text"] = event.value
        case "block":
            data["html"] = event.value
        case "state":
            data["state"] = event.value
    return sse.event(event.name, msgspec.json.encode(data).decode(), id=numbered.id)

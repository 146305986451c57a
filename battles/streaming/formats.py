"""What a page's stream carries: the same events as the API's, as fragments that htmx puts where they belong."""

from collections.abc import AsyncIterator

import msgspec
from django.utils.html import escape
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from battles.streaming.protocol import BEGINNING, StreamToken, TurnEvent
from battles.streaming.reader import Gone, Numbered, follow
from common import sse

STATE_WORDS = {
    "streaming": _("answering"),
    "done": _("complete"),
    "stopped": _("stopped"),
    "failed": _("could not answer"),
}


async def page_events(token: StreamToken, after: str, *, language: str) -> AsyncIterator[bytes]:
    """Fragments until `end`, their words in `language`. Begins with cleared panes unless it continues a connection.

    A later round's stream clears by itself the panes it fills again; the other keeps what it says.

    When the stream is gone (Valkey was emptied, or the hour is over) the page is told to fetch the turn again.
    """
    with override(language):
        words = {state: str(said) for state, said in STATE_WORDS.items()}
    if after == BEGINNING and not token.round:
        for side in token.sides:
            yield sse.event("reset", _fragment(token, TurnEvent("reset", side), words))
    try:
        async for numbered in follow(token.key, after=after):
            yield b"".join([_as_page_event(token, event, words) for event in numbered]) or sse.KEEP_ALIVE
    except Gone:
        yield sse.event("end", "")


async def api_events(token: StreamToken, after: str) -> AsyncIterator[bytes]:
    """JSON until `end`; a stream that is gone just closes."""
    try:
        async for numbered in follow(token.key, after=after):
            yield b"".join([_as_api_event(event) for event in numbered]) or sse.KEEP_ALIVE
    except Gone:
        return


def _as_page_event(token: StreamToken, numbered: Numbered, words: dict[str, str]) -> bytes:
    return sse.event(numbered.event.name, _fragment(token, numbered.event, words), id=numbered.id)


def _fragment(token: StreamToken, event: TurnEvent, words: dict[str, str]) -> str:
    pane = f"a-{token.battle}-{token.turn_index}-{event.side}"
    match event.name:
        case "text":
            return f'<span hx-swap-oob="beforeend:#{pane}-open">{escape(event.value)}</span>'
        case "block":
            # The value was made safe before it was published.
            done = f'<div hx-swap-oob="beforeend:#{pane}-done">{event.value}</div>'
            return done + f'<div hx-swap-oob="innerHTML:#{pane}-open"></div>'
        case "reset":
            parts = (f'<div hx-swap-oob="innerHTML:#{pane}-{part}"></div>' for part in ("done", "open", "state"))
            return "".join(parts)
        case "state":
            said = f'<span data-state="{event.value}">{words[event.value]}</span>'
            return f'<span hx-swap-oob="innerHTML:#{pane}-state">{said}</span>'
        case "end":
            return ""


def _as_api_event(numbered: Numbered) -> bytes:
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

"""Writer of turn streams to Valkey, once per tick."""

import asyncio
import logging
from collections.abc import Iterable, Sequence

import redis.asyncio
from django.utils.safestring import SafeString

from battles.streaming.pacing import EqualPace, Progress
from battles.streaming.protocol import STREAM_TTL_S, TurnEvent, entry
from battles.streaming.side_text import SideText
from common.rendering.renderer import Renderer, RenderingCost
from common.text.markdown import insert_at_tip
from common.valkey.connections import UNREACHABLE

logger = logging.getLogger(__name__)

# A tick grows with the number of turns to write, so that entries become fewer and larger under load.
TICK_S = 0.05
TICK_PER_TURN_S = 0.004
# A turn's first text does not wait for a tick, but so long for those of other turns.
FIRST_TEXT_DELAY_S = 0.01
MAX_TICK_S = 0.25
# Streams are read so long before a tick that publishes their text.
READ_BEFORE_TICK_S = 0.01
# A slow write prolongs the tick too, so that publishing takes at most about this share of the loop's time.
MAX_LOOP_SHARE = 0.3
# The TTL is set again while the stream grows, because Valkey may lose the key and recreate it with the next entry.
TTL_RENEWAL_S = 60
# Both panes start together, unless one side has no text this long after the other's first piece.
OTHER_SIDE_TIMEOUT_S = 3.0
# Budget for rendering the growing blocks of one turn; later blocks are shown as text until the turn ends.
MAX_CPU_S_PER_TURN = 1.0
MAX_HTML_CHARACTERS_PER_TURN = 800_000


class TurnChannel:
    """Events of one turn. Belongs to the event loop."""

    def __init__(
        self,
        publisher: "Publisher",
        key: str,
        sides: Iterable[str],
        *,
        equal_pace: bool = False,
        is_plain: bool = False,
        lifetime_s: int = STREAM_TTL_S,
    ) -> None:
        """is_plain: text without HTML, and no side waits for another."""
        self.key = key
        self.lifetime_s = lifetime_s
        self._is_plain = is_plain
        self._equal_pace = equal_pace
        self._publisher = publisher
        self._sides = {side: SideText() for side in sides}
        self._has_started = False
        self._start_at: float | None = None
        self._pace: EqualPace | None = None
        self._is_end_pending = False
        # Set by cut(): the state in which all sides end.
        self._common_state = ""
        self._resets: list[TurnEvent] = []
        self._ttl_renewal_at = 0.0
        self.rendering_cost = RenderingCost()

    def add(self, side: str, text: str) -> float:
        """Return for how many seconds no further piece is published."""
        if self.is_cut:
            return 0.0
        pane = self._sides[side]
        pane.text += text
        pane.unsent += text
        self._publisher.schedule(self)
        if self._has_started:
            return self._publisher.seconds_to_next_read()
        now = asyncio.get_running_loop().time()
        if self._start_at is None:
            self._start_at = now + OTHER_SIDE_TIMEOUT_S
        if self._may_start(now):
            self._publisher.publish_soon(self)
        return 0.0

    def take_ttl_renewal(self, now: float) -> bool:
        if now < self._ttl_renewal_at:
            return False
        self._ttl_renewal_at = now + TTL_RENEWAL_S
        return True

    def was_shown(self, side: str) -> bool:
        """Return whether readers may have seen text of this side."""
        return self._has_started and bool(self._sides[side].text)

    def reset_side(self, side: str) -> None:
        self._sides[side].stop_rendering()
        self._sides[side] = SideText()
        self._resets.append(TurnEvent("reset", side))
        self._publisher.schedule(self)

    def finish_side(self, side: str, state: str, html: str = "") -> None:
        """Publish `state` and HTML after the last text of a stored answer."""
        self._sides[side].is_finished = True
        self._sides[side].html = str.__str__(html)
        self._sides[side].last_state = self._common_state or state
        self._publisher.schedule(self)

    def end(self) -> None:
        """Publish `end` after the last text of a stored turn."""
        self._is_end_pending = True
        self._publisher.schedule(self)

    def is_published(self) -> bool:
        return all(pane.is_fully_sent and not pane.last_state for pane in self._sides.values())

    def show_more(self, *, at_once: bool) -> None:
        """Send text held back by the equal pace on the next tick: as much as is due, or all."""
        if at_once:
            self._pace = None
        self._publisher.schedule(self)

    @property
    def is_cut(self) -> bool:
        return bool(self._common_state)

    def cut(self, state: str) -> None:
        """End each side with its sent text and this state, unless all are finished."""
        if self.is_cut or all(pane.is_finished for pane in self._sides.values()):
            return
        self._common_state = state
        for pane in self._sides.values():
            pane.text, pane.unsent = pane.sent, ""
            if pane.is_finished:
                pane.last_state = state
        self._publisher.schedule(self)

    def sent_text(self, side: str) -> str:
        return self._sides[side].sent

    def abandon(self) -> None:
        """Discard unpublished text: another worker publishes the turn now."""
        self._stop_rendering()
        self._sides = {}
        self._publisher.unschedule(self)

    def take_events(self) -> list[TurnEvent]:
        """Return events to publish now; none while a side waits for the other's first text."""
        now = asyncio.get_running_loop().time()
        if not self._may_start(now):
            self._publisher.schedule(self)
            return []
        events: list[TurnEvent] = []
        if not self._has_started:
            self._has_started = True
            self._pace = EqualPace(now) if self._equal_pace else None
            events += [
                TurnEvent("state", side, "streaming")
                for side, pane in self._sides.items()
                if self._equal_pace or not pane.is_finished
            ]
        events += self._resets
        self._resets = []
        visible = self._visible_characters(now)
        for side, pane in self._sides.items():
            text, html = pane.take(visible), pane.take_rendered()
            if text or html is not None:
                events += self._text_events(side, pane, text, html)
            events += self._form_events(side, pane)
        # The last states are published together at equal pace: the first one would reveal the faster model.
        are_all_sent = all(pane.is_fully_sent for pane in self._sides.values())
        if not self._equal_pace or are_all_sent:
            for side, pane in self._sides.items():
                if state := pane.take_last_state():
                    # The page fetches the stored turn after the last answer.
                    if pane.html and not are_all_sent:
                        events.append(TurnEvent("whole", side, pane.html))
                    events.append(TurnEvent("state", side, state))
        if any(pane.unsent for pane in self._sides.values()):
            self._publisher.schedule(self)
        elif self._is_end_pending:
            self._is_end_pending = False
            self._stop_rendering()
            events.append(TurnEvent("end"))
        return events

    def _visible_characters(self, now: float) -> int | None:
        if self._pace is None:
            return None
        return self._pace.visible_characters(
            [Progress(len(pane.text), pane.is_finished) for pane in self._sides.values()], now
        )

    def _text_events(self, side: str, pane: SideText, text: str, html: SafeString | None) -> list[TurnEvent]:
        """Return blocks whose HTML is ready, and new text.

        A slow block is sent as text and replaced later. After the last text none is rendered: the page fetches HTML.
        """
        if self._is_plain:
            return [TurnEvent("text", side, text)]
        if complete := "".join(pane.markdown.feed(text)):
            pane.unrendered += complete
            pane.formed = 0
        blocks = [] if html is None else [html]
        # No event may show which side finished first at equal pace.
        is_last = pane.is_fully_sent and not self._equal_pace
        if pane.unrendered and pane.rendering is None and not is_last and self._may_render():
            inline = self._publisher.renderer.render_inline(pane.unrendered)
            if inline is None:
                self._start_rendering(pane)
            else:
                blocks.append(inline)
                pane.unrendered = ""
        if not blocks:
            return [TurnEvent("text", side, text)]
        still_open = pane.being_rendered + pane.unrendered + pane.markdown.open
        # msgspec encodes exact strings only, not SafeString.
        events = [TurnEvent("block", side, str.__str__(block)) for block in blocks]
        return [*events, TurnEvent("text", side, still_open)] if still_open else events

    def _form_events(self, side: str, pane: SideText) -> list[TurnEvent]:
        """Return the open block as HTML when its form changes; pages show further text inside it."""
        is_last = pane.is_fully_sent and not self._equal_pace
        if pane.unrendered or pane.being_rendered or is_last or not self._may_render():
            return []
        html = pane.take_form()
        if html is None and (markdown := pane.take_text_to_form()):
            html = self._publisher.renderer.render_inline(markdown)
            if html is None:
                rendering = asyncio.create_task(self._publisher.renderer.render(markdown, self.rendering_cost))
                rendering.add_done_callback(self._on_rendered)
                pane.forming = pane.formed, rendering
        form = html and insert_at_tip(html, pane.markdown.open[pane.formed :])
        if not form:
            return []
        pane.form_characters += len(form)
        return [TurnEvent("form", side, str.__str__(form))]

    def _may_render(self) -> bool:
        cost = self.rendering_cost
        return cost.cpu_s < MAX_CPU_S_PER_TURN and cost.html_characters < MAX_HTML_CHARACTERS_PER_TURN

    def _start_rendering(self, pane: SideText) -> None:
        pane.being_rendered, pane.unrendered = pane.unrendered, ""
        pane.rendering = asyncio.create_task(self._publisher.renderer.render(pane.being_rendered, self.rendering_cost))
        pane.rendering.add_done_callback(self._on_rendered)

    def _on_rendered(self, rendering: asyncio.Task[SafeString]) -> None:
        if not rendering.cancelled():
            self._publisher.schedule(self)

    def _stop_rendering(self) -> None:
        for pane in self._sides.values():
            pane.stop_rendering()

    def _may_start(self, now: float) -> bool:
        if self._has_started or self._is_plain or self._is_end_pending:
            return True
        if all(pane.text or pane.is_finished for pane in self._sides.values()):
            return True
        return self._start_at is not None and now >= self._start_at


class Publisher:
    """Writes a process's scheduled turns in one round trip per tick."""

    def __init__(self, valkey: redis.asyncio.Redis, renderer: Renderer) -> None:
        self._valkey = valkey
        self.renderer = renderer
        self._scheduled: dict[TurnChannel, None] = {}
        self._first_texts: dict[TurnChannel, None] = {}
        self._unwritten: list[tuple[TurnChannel, list[TurnEvent]]] = []
        self._wake, self._has_first_texts = asyncio.Event(), asyncio.Event()
        self.tick_s = TICK_S
        self._next_tick_at = 0.0

    def seconds_to_next_read(self) -> float:
        """All streams are read at one moment."""
        remaining_s = self._next_tick_at - READ_BEFORE_TICK_S - asyncio.get_running_loop().time()
        return remaining_s if remaining_s > 0 else max(remaining_s + self.tick_s, TICK_S / 2)

    def schedule(self, channel: TurnChannel) -> None:
        self._scheduled[channel] = None
        self._wake.set()

    def publish_soon(self, channel: TurnChannel) -> None:
        """Write a scheduled turn before the next tick."""
        self._first_texts[channel] = None
        self._has_first_texts.set()

    def unschedule(self, channel: TurnChannel) -> None:
        self._scheduled.pop(channel, None)
        self._first_texts.pop(channel, None)
        if not self._first_texts:
            self._has_first_texts.clear()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            self._wake.clear()
            began, turns = loop.time(), len(self._scheduled)
            await self._publish(list(self._scheduled))
            took = loop.time() - began
            self.tick_s = min(max(TICK_S + turns * TICK_PER_TURN_S, took / MAX_LOOP_SHARE), MAX_TICK_S)
            self._next_tick_at = loop.time() + self.tick_s
            while await self._has_first_texts_before_tick():
                await asyncio.sleep(FIRST_TEXT_DELAY_S)
                await self._publish(list(self._first_texts))

    async def _has_first_texts_before_tick(self) -> bool:
        """Wait; return False if the next tick comes first."""
        try:
            async with asyncio.timeout_at(self._next_tick_at):
                await self._has_first_texts.wait()
        except TimeoutError:
            return False
        return True

    async def flush(self) -> None:
        """Write everything scheduled, before the process ends."""
        while self._scheduled:  # long text takes several ticks
            self._collect(list(self._scheduled))
        await self._write()

    async def _publish(self, channels: Sequence[TurnChannel]) -> None:
        """Also write events whose earlier write failed."""
        try:
            self._collect(channels)
            await self._write()
        except Exception:
            logger.exception("a tick was lost")
            self._unwritten = []
        if self._scheduled or self._unwritten:
            self._wake.set()

    def _collect(self, channels: Sequence[TurnChannel]) -> None:
        for channel in channels:
            self.unschedule(channel)
            try:
                events = channel.take_events()
            except Exception:
                # One turn's error must not stop the others; its readers get the stored text at the end.
                logger.exception("events of %s were lost", channel.key)
                continue
            if events:
                self._unwritten.append((channel, events))

    async def _write(self) -> None:
        if not self._unwritten:
            return
        try:
            # A transaction, or each blocked reader would wake with the first turn's entry and read the others again.
            async with self._valkey.pipeline(transaction=True) as pipeline:
                now = asyncio.get_running_loop().time()
                for channel, events in self._unwritten:
                    pipeline.xadd(channel.key, entry(events))
                    if channel.take_ttl_renewal(now):
                        pipeline.expire(channel.key, channel.lifetime_s)
                await pipeline.execute()
        except UNREACHABLE as error:
            # The events are kept for the next tick.
            logger.warning("turn streams wait for Valkey (%s)", error)
            await asyncio.sleep(0.5)
        else:
            self._unwritten = []

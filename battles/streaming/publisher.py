"""The writing end of turn streams: pieces are gathered and leave together on a tick."""

import asyncio
import logging
from collections.abc import Iterable

import redis.asyncio
from django.utils.safestring import SafeString

from battles.streaming.markdown_blocks import GrowingMarkdown
from battles.streaming.pacing import EqualPace, Progress
from battles.streaming.protocol import LIFETIME_S, TurnEvent, entry
from common.rendering.renderer import Renderer, Spending
from common.valkey.connections import UNREACHABLE

logger = logging.getLogger(__name__)

# Pieces leave every TICK_S, and a little later for each turn that has news: fewer, larger entries under load.
TICK_S = 0.05
TICK_PER_TURN_S = 0.0015
LONGEST_TICK_S = 0.25
# A slow flush stretches the tick too, so that publishing takes at most about this share of the loop.
MOST_OF_THE_TIME = 0.3
# A stream's lifetime is renewed this often while it grows: also one that was emptied on the way will end.
RENEW_LIFETIME_S = 60
# Both panes start together; this long after the first piece of one side the other is no longer waited for.
WAIT_FOR_OTHER_SIDE_S = 3.0
# More text of one side waits for the next tick, so that one long piece does not hold up the others.
MAX_CHARACTERS_PER_TICK = 16_000
# What the growing blocks of one turn may cost; those beyond it are shown as text until the turn is over.
MAX_CPU_S_PER_TURN = 1.0
MAX_HTML_CHARACTERS_PER_TURN = 800_000


class SideText:
    """One pane as its readers see it grow."""

    def __init__(self) -> None:
        self.text = ""
        self.markdown = GrowingMarkdown()
        self.finished = ""  # blocks that were sent as text, to be rendered after those of `rendering`
        self.being_rendered = ""
        self.rendering: asyncio.Task[SafeString] | None = None
        self.unsent = ""
        self.is_over = False
        self.last_state = ""  # to be announced after the last text

    @property
    def has_begun(self) -> bool:
        return bool(self.text) or self.is_over

    @property
    def is_sent(self) -> bool:
        """Whether the answer is stored and all of its text was sent; its last state may follow."""
        return self.is_over and not self.unsent

    def take(self, reach: int | None) -> str:
        """What is to be sent now: everything, or as much as lies within `reach` characters of the answer."""
        most = MAX_CHARACTERS_PER_TICK
        if reach is not None:
            most = min(most, max(0, reach - (len(self.text) - len(self.unsent))))
        text, self.unsent = self.unsent[:most], self.unsent[most:]
        return text

    def take_last_state(self) -> str:
        """The state to announce now that everything before it was sent; empty while it was not, and afterwards."""
        if self.unsent:
            return ""
        state, self.last_state = self.last_state, ""
        if state:
            self.stop_rendering()  # the whole answer is rendered already
        return state

    def take_rendered(self) -> SafeString | None:
        """HTML of blocks that were sent as text before; None while there is none."""
        if self.rendering is None or not self.rendering.done():
            return None
        rendering, self.rendering = self.rendering, None
        self.being_rendered = ""
        return rendering.result()

    def stop_rendering(self) -> None:
        if self.rendering is not None:
            self.rendering.cancel()
            self.rendering = None


class TurnChannel:
    """What one turn says. Everything is called on the event loop."""

    def __init__(
        self,
        publisher: "Publisher",
        key: str,
        sides: Iterable[str],
        *,
        equal_pace: bool = False,
        is_plain: bool = False,
        lifetime_s: int = LIFETIME_S,
    ) -> None:
        """is_plain: text without HTML, and no side waits for another."""
        self.key = key
        self.lifetime_s = lifetime_s
        self._is_plain = is_plain
        self._equal_pace = equal_pace
        self._publisher = publisher
        self._sides = {side: SideText() for side in sides}
        self._released = False
        self._release_at: float | None = None
        self._pace: EqualPace | None = None
        self._end_is_due = False
        self._ready: list[TurnEvent] = []
        self._lives_until = 0.0
        self.spending = Spending()

    def add(self, side: str, text: str) -> float:
        """One piece; returns for how many seconds the next one would not be published anyway."""
        pane = self._sides[side]
        pane.text += text
        pane.unsent += text
        if self._release_at is None:
            self._release_at = asyncio.get_running_loop().time() + WAIT_FOR_OTHER_SIDE_S
        self._publisher.has_news(self)
        return self._publisher.tick_s if self._released else 0.0

    def lifetime_is_due(self, now: float) -> bool:
        """Whether the stream's lifetime has to be set with its next entry."""
        if now < self._lives_until:
            return False
        self._lives_until = now + RENEW_LIFETIME_S
        return True

    def was_shown(self, side: str) -> bool:
        """Whether a reader may have seen text of this side."""
        return self._released and bool(self._sides[side].text)

    def begin_again(self, side: str) -> None:
        """Forget what a side said before; a pane that shows something is cleared."""
        self._sides[side].stop_rendering()
        self._sides[side] = SideText()
        self._ready.append(TurnEvent("reset", side))
        self._publisher.has_news(self)

    def side_is_over(self, side: str, state: str) -> None:
        """The side's answer is stored. Its state is announced after its last text."""
        self._sides[side].is_over = True
        self._sides[side].last_state = state
        self._publisher.has_news(self)

    def end(self) -> None:
        """The turn is stored."""
        self._end_is_due = True
        self._publisher.has_news(self)

    def is_shown(self) -> bool:
        """Whether every side is over and was sent to its end, its last state too."""
        return all(pane.is_sent and not pane.last_state for pane in self._sides.values())

    def show_more(self, *, at_once: bool) -> None:
        """Send what the equal pace holds back on the next tick: as much as is due, or all of it."""
        if at_once:
            self._pace = None
        self._publisher.has_news(self)

    def abandon(self) -> None:
        """Somebody else publishes this turn now: what is held back here stays unsaid."""
        self._stop_rendering()
        self._sides = {}
        self._publisher.forget(self)

    def take_events(self) -> list[TurnEvent]:
        """Everything to be published now; empty while the panes wait for each other."""
        now = asyncio.get_running_loop().time()
        if not self._may_release(now):
            self._publisher.has_news(self)  # looked at again on the next tick
            return []
        events: list[TurnEvent] = []
        if not self._released:
            self._released = True
            self._pace = EqualPace(now) if self._equal_pace else None
            events += [
                TurnEvent("state", side, "streaming")
                for side, pane in self._sides.items()
                if self._equal_pace or not pane.is_over
            ]
        said, self._ready = self._ready, []
        events += said
        reach = self._reach(now)
        for side, pane in self._sides.items():
            text, html = pane.take(reach), pane.take_rendered()
            if text or html is not None:
                events += self._grow(side, pane, text, html)
        # With equal pace the last states leave together: the first one would name the faster model.
        if not self._equal_pace or all(pane.is_sent for pane in self._sides.values()):
            for side, pane in self._sides.items():
                if state := pane.take_last_state():
                    events.append(TurnEvent("state", side, state))
        if any(pane.unsent for pane in self._sides.values()):
            self._publisher.has_news(self)  # held back: the next tick shows more
        elif self._end_is_due:
            self._end_is_due = False
            self._stop_rendering()
            events.append(TurnEvent("end"))
        return events

    def _reach(self, now: float) -> int | None:
        if self._pace is None:
            return None
        return self._pace.reach([Progress(len(pane.text), pane.is_over) for pane in self._sides.values()], now)

    def _grow(self, side: str, pane: SideText, text: str, html: SafeString | None) -> list[TurnEvent]:
        """Return the text, and blocks whose HTML is ready.

        Text never waits for its HTML: a block that takes long is sent as text, and replaced when it is rendered. After
        a side's last text no rendering begins: the page then fetches the whole answer as HTML.
        """
        if self._is_plain:
            return [TurnEvent("text", side, text)]
        pane.finished += "".join(pane.markdown.feed(text))
        blocks = [] if html is None else [html]
        is_last = pane.is_sent and not self._equal_pace  # at equal pace nothing may tell which side is over first
        if pane.finished and pane.rendering is None and not is_last and self._may_spend():
            here = self._publisher.renderer.render_here(pane.finished)
            if here is None:
                self._start_rendering(pane)
            else:
                blocks.append(here)
                pane.finished = ""
        if not blocks:
            return [TurnEvent("text", side, text)]
        still_open = pane.being_rendered + pane.finished + pane.markdown.open
        # msgspec encodes exact strings only, not SafeString.
        events = [TurnEvent("block", side, str.__str__(block)) for block in blocks]
        return [*events, TurnEvent("text", side, still_open)] if still_open else events

    def _may_spend(self) -> bool:
        spent = self.spending
        return spent.cpu_s < MAX_CPU_S_PER_TURN and spent.html_characters < MAX_HTML_CHARACTERS_PER_TURN

    def _start_rendering(self, pane: SideText) -> None:
        pane.being_rendered, pane.finished = pane.finished, ""
        pane.rendering = asyncio.create_task(self._publisher.renderer.render(pane.being_rendered, self.spending))
        pane.rendering.add_done_callback(self._has_rendered)

    def _has_rendered(self, rendering: asyncio.Task[SafeString]) -> None:
        if not rendering.cancelled():
            self._publisher.has_news(self)

    def _stop_rendering(self) -> None:
        for pane in self._sides.values():
            pane.stop_rendering()

    def _may_release(self, now: float) -> bool:
        if self._released or self._is_plain or self._end_is_due or all(pane.has_begun for pane in self._sides.values()):
            return True
        return self._release_at is not None and now >= self._release_at


class Publisher:
    """One per process: writes the news of all its turns to Valkey in one round trip a tick."""

    def __init__(self, valkey: redis.asyncio.Redis, renderer: Renderer) -> None:
        self._valkey = valkey
        self.renderer = renderer
        self._news: dict[TurnChannel, None] = {}
        self._unwritten: list[tuple[TurnChannel, list[TurnEvent]]] = []
        self._wake = asyncio.Event()
        self.tick_s = TICK_S

    def has_news(self, channel: TurnChannel) -> None:
        self._news[channel] = None
        self._wake.set()

    def forget(self, channel: TurnChannel) -> None:
        self._news.pop(channel, None)

    async def run(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            self._wake.clear()
            began, turns = loop.time(), len(self._news)
            try:
                self._gather()
                await self._write()
            except Exception:
                logger.exception("a tick was lost")
                self._unwritten = []
            if self._news or self._unwritten:
                self._wake.set()
            took = loop.time() - began
            self.tick_s = min(max(TICK_S + turns * TICK_PER_TURN_S, took / MOST_OF_THE_TIME), LONGEST_TICK_S)
            await asyncio.sleep(self.tick_s)

    async def flush(self) -> None:
        """Write all that is left; used before the process ends, when every turn is stored or given up."""
        while self._news:  # a long text is taken over several ticks
            self._gather()
        await self._write()

    def _gather(self) -> None:
        channels, self._news = list(self._news), {}
        for channel in channels:
            try:
                events = channel.take_events()
            except Exception:
                # One turn's defect must not silence the others; its readers get the stored text at the end.
                logger.exception("the news of %s were lost", channel.key)
                continue
            if events:
                self._unwritten.append((channel, events))

    async def _write(self) -> None:
        if not self._unwritten:
            return
        try:
            async with self._valkey.pipeline(transaction=False) as pipeline:
                now = asyncio.get_running_loop().time()
                for channel, events in self._unwritten:
                    pipeline.xadd(channel.key, entry(events))
                    if channel.lifetime_is_due(now):
                        pipeline.expire(channel.key, channel.lifetime_s)
                await pipeline.execute()
        except UNREACHABLE as error:
            # Kept for the next tick: the answers go on, their readers see them when Valkey is back.
            logger.warning("turn streams wait: Valkey is away (%s)", error)
            await asyncio.sleep(0.5)
        else:
            self._unwritten = []

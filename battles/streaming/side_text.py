import asyncio

from django.utils.safestring import SafeString

from battles.streaming.markdown_blocks import BlockSplitter
from common.text.markdown import TIP

# Further text of one side waits for the next tick, so that a long piece does not delay other turns.
MAX_CHARACTERS_PER_TICK = 16_000
# HTML of open blocks that one side may be sent, beyond a multiple of its text: rows of a long table come in groups.
FREE_FORM_CHARACTERS = 1_000
FORM_CHARACTERS_PER_CHARACTER = 2


class SideText:
    def __init__(self) -> None:
        self.text = ""
        self.markdown = BlockSplitter()
        self.unrendered = ""  # complete blocks, sent as text, that wait for `rendering` to end
        self.being_rendered = ""
        self.rendering: asyncio.Task[SafeString] | None = None
        self.formed = 0  # up to here, a form of markdown.open was rendered
        self.form_characters = 0
        self.forming: tuple[int, asyncio.Task[SafeString]] | None = None
        self.unsent = ""
        self.is_finished = False
        self.last_state = ""  # published after the last text
        self.html = ""  # of the whole answer, published with its last state

    @property
    def is_fully_sent(self) -> bool:
        return self.is_finished and not self.unsent

    def take(self, visible: int | None) -> str:
        """Return the text to send now, within the first `visible` characters of the answer."""
        length = MAX_CHARACTERS_PER_TICK
        if visible is not None:
            length = min(length, max(0, visible - (len(self.text) - len(self.unsent))))
        text, self.unsent = self.unsent[:length], self.unsent[length:]
        return text

    @property
    def sent(self) -> str:
        return self.text[: len(self.text) - len(self.unsent)]

    def take_last_state(self) -> str:
        """Return the last state once, after all text; otherwise ""."""
        if self.unsent:
            return ""
        state, self.last_state = self.last_state, ""
        if state:
            self.stop_rendering()  # the stored answer is rendered as a whole
        return state

    def take_rendered(self) -> SafeString | None:
        """Return HTML of blocks that were sent as text, or None."""
        if self.rendering is None or not self.rendering.done():
            return None
        rendering, self.rendering = self.rendering, None
        self.being_rendered = ""
        return rendering.result()

    def take_text_to_form(self) -> str:
        """Return Markdown of a new form within its budget, or ""."""
        budget = FREE_FORM_CHARACTERS + FORM_CHARACTERS_PER_CHARACTER * len(self.sent)
        if self.markdown.form_end <= self.formed or self.forming is not None or self.form_characters > budget:
            return ""
        self.formed = self.markdown.form_end
        return self.markdown.form.replace(TIP, "") + TIP

    def take_form(self) -> SafeString | None:
        """Return a rendered form, unless its block was completed meanwhile."""
        if self.forming is None or not self.forming[1].done():
            return None
        (formed, rendering), self.forming = self.forming, None
        return rendering.result() if formed == self.formed else None

    def stop_rendering(self) -> None:
        if self.rendering is not None:
            self.rendering.cancel()
            self.rendering = None
        if self.forming is not None:
            self.forming[1].cancel()
            self.forming = None

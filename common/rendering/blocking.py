"""Renderer for synchronous code, on an event loop in a thread."""

import asyncio
import threading
from functools import cache

from django.utils.safestring import SafeString

from common.rendering.renderer import CHILD_TIMEOUT_S, Renderer, RenderingCost
from common.text.markdown import plain


@cache
def _loop_and_renderer() -> tuple[asyncio.AbstractEventLoop, Renderer]:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="rendering", daemon=True).start()
    return loop, Renderer()


def render(text: str) -> SafeString:
    """Return safe HTML of a model's answer; as plain text if it takes too long."""
    loop, renderer = _loop_and_renderer()
    rendering = asyncio.run_coroutine_threadsafe(renderer.render(text, RenderingCost()), loop)
    try:
        return rendering.result(CHILD_TIMEOUT_S)
    except TimeoutError:
        rendering.cancel()
        return plain(text)

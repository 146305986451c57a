"""Servers that need no key (Ollama, vLLM, the local model) are drawn from only while they answer."""

import asyncio
import logging
import threading
from dataclasses import dataclass, field
from datetime import timedelta

import aiohttp
from django.db.models.functions import Now
from django.utils import timezone

from models_registry.models import Provider
from models_registry.providers import connections

PATIENCE_S = 2.0
WRITE_AT_LEAST_EVERY = timedelta(minutes=1)
logger = logging.getLogger(__name__)


def probe_keyless_providers() -> set[str]:
    """Ask every provider without a key whether it answers, all at once, and store what is new.

    Returns the endpoints at addresses that this arena does not call. Takes about PATIENCE_S at most and never raises:
    the sweep that calls it has turns to save.
    """
    replies = Replies()
    try:
        providers = list(Provider.objects.filter(needs_key=False))
        _ask({provider.endpoint for provider in providers} - {""}, replies)
        answering = set(replies.answering)
        for provider in providers:
            _store(provider, is_answering=provider.endpoint in answering)
    except Exception:
        logger.exception("providers were not probed")
    return set(replies.refused)


@dataclass
class Replies:
    """Endpoints that answered, and those at addresses that are not called; a thread may still add to both."""

    answering: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)


def _store(provider: Provider, *, is_answering: bool) -> None:
    known_since = provider.probed_at
    is_fresh = known_since is not None and timezone.now() - known_since < WRITE_AT_LEAST_EVERY
    if provider.is_answering == is_answering and is_fresh:
        return
    if provider.is_answering != is_answering:
        logger.info("provider %s %s", provider, "answers" if is_answering else "does not answer")
    Provider.objects.filter(pk=provider.pk).update(is_answering=is_answering, probed_at=Now())


def _ask(endpoints: set[str], replies: Replies) -> None:
    """Note in `replies` which of the endpoints answer: any reply below 500 shows that a server is there."""
    if endpoints:
        # A name lookup cannot be cancelled: whoever is still in one after the deadline is left behind.
        asking = threading.Thread(target=lambda: asyncio.run(_ask_all(endpoints, replies)), daemon=True)
        asking.start()
        asking.join(PATIENCE_S + 0.5)


async def _ask_all(endpoints: set[str], replies: Replies) -> None:
    timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
    async with connections.new_session(timeout) as session:

        async def ask(endpoint: str) -> None:
            try:
                async with session.get(f"{endpoint.rstrip('/')}/models", allow_redirects=False) as response:
                    if response.status < 500:
                        replies.answering.add(endpoint)
            except Exception as error:  # one server's reply must not hide the others
                if connections.was_refused(error):
                    replies.refused.add(endpoint)
                logger.debug("%s does not answer: %r", endpoint, error)

        await asyncio.gather(*(ask(endpoint) for endpoint in endpoints))

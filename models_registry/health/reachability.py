"""Probe servers without a key (Ollama, vLLM, the local model); they are drawn only while they answer."""

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

PROBE_TIMEOUT_S = 2.0
MAX_PROBED_AT_AGE = timedelta(minutes=1)
logger = logging.getLogger(__name__)


def probe_keyless_providers() -> set[str]:
    """Probe providers without a key concurrently; store changes; return endpoints with refused addresses.

    Takes about PROBE_TIMEOUT_S and never raises, because the calling sweep must go on.
    """
    replies = Replies()
    try:
        providers = list(Provider.objects.filter(needs_key=False))
        _probe({provider.endpoint for provider in providers} - {""}, replies)
        answering = set(replies.answering)
        for provider in providers:
            _store(provider, is_answering=provider.endpoint in answering)
    except Exception:
        logger.exception("providers were not probed")
    return set(replies.refused)


@dataclass
class Replies:
    """Endpoints that answered, and those with refused addresses. Late threads may still add to both."""

    answering: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)


def _store(provider: Provider, *, is_answering: bool) -> None:
    probed_at = provider.probed_at
    is_fresh = probed_at is not None and timezone.now() - probed_at < MAX_PROBED_AT_AGE
    if provider.is_answering == is_answering and (is_fresh or not is_answering):
        return
    if provider.is_answering != is_answering:
        logger.info("provider %s %s", provider, "answers" if is_answering else "does not answer")
    Provider.objects.filter(pk=provider.pk).update(is_answering=is_answering, probed_at=Now())


def _probe(endpoints: set[str], replies: Replies) -> None:
    """Add endpoints that reply with a status below 500 to `replies`."""
    if endpoints:
        # Name lookups cannot be cancelled, so the thread is abandoned if it is still in one at the deadline.
        thread = threading.Thread(target=lambda: asyncio.run(_probe_all(endpoints, replies)), daemon=True)
        thread.start()
        thread.join(PROBE_TIMEOUT_S + 0.5)


async def _probe_all(endpoints: set[str], replies: Replies) -> None:
    timeout = aiohttp.ClientTimeout(total=PROBE_TIMEOUT_S)
    async with connections.new_session(timeout) as session:

        async def probe(endpoint: str) -> None:
            try:
                async with session.get(f"{endpoint.rstrip('/')}/models", allow_redirects=False) as response:
                    if response.status < 500:
                        replies.answering.add(endpoint)
            except Exception as error:  # an error of one server must not end the other probes
                if connections.is_address_refused(error):
                    replies.refused.add(endpoint)
                logger.debug("%s does not answer: %r", endpoint, error)

        await asyncio.gather(*(probe(endpoint) for endpoint in endpoints))

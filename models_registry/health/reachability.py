"""Probe servers without a key (Ollama, vLLM, the local model); they are drawn only while they answer."""

import asyncio
import logging
import threading
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

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
        providers = list(Provider.of_every_owner.filter(needs_key=False).select_related("team"))
        _probe({_target(provider) for provider in providers if provider.endpoint}, replies)
        answering = set(replies.answering)
        for provider in providers:
            _store(provider, is_answering=_target(provider) in answering)
    except Exception:
        logger.exception("providers were not probed")
    return {target.endpoint for target in set(replies.refused)}


class Target(NamedTuple):
    endpoint: str
    allows_private: bool | None = None


def _target(provider: Provider) -> Target:
    return Target(provider.endpoint, provider.allows_private)


@dataclass
class Replies:
    """Endpoints that answered, and those with refused addresses. Late threads may still add to both."""

    answering: set[Target] = field(default_factory=set)
    refused: set[Target] = field(default_factory=set)


def _store(provider: Provider, *, is_answering: bool) -> None:
    probed_at = provider.probed_at
    is_fresh = probed_at is not None and timezone.now() - probed_at < MAX_PROBED_AT_AGE
    if provider.is_answering == is_answering and (is_fresh or not is_answering):
        return
    if provider.is_answering != is_answering:
        logger.info("provider %s %s", provider, "answers" if is_answering else "does not answer")
    Provider.of_every_owner.filter(pk=provider.pk).update(is_answering=is_answering, probed_at=Now())


def _probe(targets: set[Target], replies: Replies) -> None:
    """Add endpoints that reply with a status below 500 to `replies`."""
    if targets:
        # Name lookups cannot be cancelled, so the thread is abandoned if it is still in one at the deadline.
        thread = threading.Thread(target=lambda: asyncio.run(_probe_all(targets, replies)), daemon=True)
        thread.start()
        thread.join(PROBE_TIMEOUT_S + 0.5)


async def _probe_all(targets: set[Target], replies: Replies) -> None:
    timeout = aiohttp.ClientTimeout(total=PROBE_TIMEOUT_S)
    async with AsyncExitStack() as stack:
        sessions = {
            answer: await stack.enter_async_context(connections.new_session(timeout, allows_private=answer))
            for answer in {target.allows_private for target in targets}
        }

        async def probe(target: Target) -> None:
            url = f"{target.endpoint.rstrip('/')}/models"
            try:
                async with sessions[target.allows_private].get(url, allow_redirects=False) as response:
                    if response.status < 500:
                        replies.answering.add(target)
            except Exception as error:  # an error of one server must not end the other probes
                if connections.is_address_refused(error):
                    replies.refused.add(target)
                logger.debug("%s does not answer: %r", target.endpoint, error)

        await asyncio.gather(*(probe(target) for target in targets))

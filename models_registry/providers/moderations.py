"""Asking an OpenAI-compatible `/moderations` what a text is about: one request, within seconds, without redirects.

Source: OpenAI's and Mistral's references of their moderation endpoints, read in autumn 2026: `results`, one for each
text, with `category_scores` from 0 to 1, or only with `categories` that are true or false.
"""

import json
import math
from dataclasses import dataclass
from typing import Any

import aiohttp

from common.payload_types import JsonObject
from common.text import redaction
from common.text.storable import storable
from models_registry.providers import connections
from models_registry.providers.base import FailureCode, ProviderError
from models_registry.providers.refusals import refusal
from models_registry.providers.waiting import wait_for

MOST_BYTES = 2_000_000
# Of what a refusal says, for the log.
_MOST_OF_A_REFUSAL = 300


@dataclass(frozen=True)
class Judgement:
    """By category, the highest score that any of the texts got; and which model says it judged."""

    scores: dict[str, float]
    version: str


def judge(base_url: str, *, key: str, model: str, texts: list[str], seconds: float) -> Judgement:
    """Raises ProviderError and nothing else, however broken the response. `seconds` is all that it takes."""
    try:
        return wait_for(lambda: _judge(base_url, key, model, texts, seconds), seconds=seconds + 0.5)
    except ProviderError:
        raise
    except TimeoutError:
        raise ProviderError(FailureCode.TOTAL_TIMEOUT) from None
    except Exception as error:
        raise ProviderError(_code_of(error), type(error).__name__) from None


def _code_of(error: Exception) -> FailureCode:
    if connections.was_refused(error):
        return FailureCode.ADDRESS_REFUSED
    is_readable = not isinstance(error, aiohttp.ClientResponseError)  # aiohttp's error for bytes that are not HTTP
    is_of_the_network = isinstance(error, aiohttp.ClientError | OSError | UnicodeError) and is_readable
    return FailureCode.UNREACHABLE if is_of_the_network else FailureCode.MALFORMED


async def _judge(base_url: str, key: str, model: str, texts: list[str], seconds: float) -> Judgement:
    body = {"input": texts, **({"model": model} if model else {})}
    headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {key}"} if key else {})}
    async with (
        connections.new_session(aiohttp.ClientTimeout(total=seconds)) as session,
        session.post(
            f"{base_url}/moderations", json=body, headers=headers, allow_redirects=False, auto_decompress=False
        ) as response,
    ):
        said = await response.content.read(MOST_BYTES if response.status == 200 else _MOST_OF_A_REFUSAL)
        if response.status != 200:
            raise refusal(response.status, redaction.mask_secret(key, said).decode(errors="replace"))
        while len(said) < MOST_BYTES and (more := await response.content.read(MOST_BYTES)):
            said += more
        return _read(redaction.mask_secret(key, said))


def _read(said: bytes) -> Judgement:
    """Raises ProviderError for what is no judgement."""
    try:
        answer: Any = json.loads(said)
        results = answer["results"]
        scores: dict[str, float] = {}
        for result in results:
            for category, score in _scores(result):
                scores[category] = max(score, scores.get(category, 0.0))
        version = answer.get("model")
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        raise ProviderError(FailureCode.MALFORMED) from None
    if not scores:
        raise ProviderError(FailureCode.EMPTY)
    return Judgement(scores, storable(version)[:200] if isinstance(version, str) else "")


def _scores(result: JsonObject) -> list[tuple[str, float]]:
    said = result.get("category_scores") or result["categories"]
    found = [(str(category), float(score)) for category, score in said.items() if isinstance(score, bool | int | float)]
    return [(category, score) for category, score in found if math.isfinite(score)]

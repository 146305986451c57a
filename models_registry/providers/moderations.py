"""Scores of texts from an OpenAI-compatible `/moderations` endpoint.

Source: OpenAI's and Mistral's references, read in autumn 2026: `results`, one per text, with `category_scores` from 0
to 1, or only with boolean `categories`.
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
from models_registry.providers.refusals import error_for_status
from models_registry.providers.timeouts import run_with_timeout

MAX_BYTES = 2_000_000
# Bytes of a refusal that are logged.
_MAX_REFUSAL_BYTES = 300


@dataclass(frozen=True)
class ModerationScores:
    """Highest score of the texts by category, and the model's name as reported."""

    scores: dict[str, float]
    version: str


def request_moderation(base_url: str, *, key: str, model: str, texts: list[str], seconds: float) -> ModerationScores:
    """Raises ProviderError and no other exception for any response. Takes `seconds` at most."""
    try:
        return run_with_timeout(lambda: _request(base_url, key, model, texts, seconds), seconds=seconds + 0.5)
    except ProviderError:
        raise
    except TimeoutError:
        raise ProviderError(FailureCode.TOTAL_TIMEOUT) from None
    except Exception as error:
        raise ProviderError(_code_of(error), type(error).__name__) from None


def _code_of(error: Exception) -> FailureCode:
    if connections.is_address_refused(error):
        return FailureCode.ADDRESS_REFUSED
    is_readable = not isinstance(error, aiohttp.ClientResponseError)  # aiohttp's error for bytes that are not HTTP
    is_network_error = isinstance(error, aiohttp.ClientError | OSError | UnicodeError) and is_readable
    return FailureCode.UNREACHABLE if is_network_error else FailureCode.MALFORMED


async def _request(base_url: str, key: str, model: str, texts: list[str], seconds: float) -> ModerationScores:
    body = {"input": texts, **({"model": model} if model else {})}
    headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {key}"} if key else {})}
    async with (
        connections.new_session(aiohttp.ClientTimeout(total=seconds)) as session,
        session.post(
            f"{base_url}/moderations", json=body, headers=headers, allow_redirects=False, auto_decompress=False
        ) as response,
    ):
        content = await response.content.read(MAX_BYTES if response.status == 200 else _MAX_REFUSAL_BYTES)
        if response.status != 200:
            raise error_for_status(response.status, redaction.mask_secret(key, content).decode(errors="replace"))
        while len(content) < MAX_BYTES and (more := await response.content.read(MAX_BYTES)):
            content += more
        return _parse(redaction.mask_secret(key, content))


def _parse(content: bytes) -> ModerationScores:
    """Raises ProviderError for invalid content."""
    try:
        answer: Any = json.loads(content)
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
    return ModerationScores(scores, storable(version)[:200] if isinstance(version, str) else "")


def _scores(result: JsonObject) -> list[tuple[str, float]]:
    reported = result.get("category_scores") or result["categories"]
    scores = [
        (str(category), float(score)) for category, score in reported.items() if isinstance(score, bool | int | float)
    ]
    return [(category, score) for category, score in scores if math.isfinite(score)]

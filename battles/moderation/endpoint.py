import logging
import time
from collections.abc import Iterable, Iterator, Sequence

from battles.errors import NotExamined
from battles.models import ModerationEndpoint
from battles.moderation.findings import Finding
from battles.moderation.policy import Policy
from battles.text.normalization import strip_invisible
from models_registry.encryption import KeyUnreadable
from models_registry.providers.base import FailureCode, ProviderError

logger = logging.getLogger(__name__)

# Longer texts are split: endpoints score them less well and limit their length.
PIECE_CHARACTERS, OVERLAP_CHARACTERS = 20_000, 200
# The endpoint is not called for this time after a failure.
PAUSE_S = 10.0

_away_until = 0.0


def scored_findings(policy: Policy, passages: Iterable[Sequence[str]]) -> list[Finding]:
    """Return the highest score of each rule whose threshold was reached.

    While the endpoint fails, return no findings or raise NotExamined, by the setting refuses_when_away.
    """
    global _away_until
    if policy.endpoint is None:
        return []
    try:
        if time.monotonic() < _away_until:
            raise ProviderError(FailureCode.INTERRUPTED, "it failed a moment ago")
        return request_findings(policy.endpoint, policy, passages)
    except ProviderError as error:
        logger.warning("the moderation endpoint did not score a prompt: %s", error)
        if error.code is not FailureCode.INTERRUPTED:
            _away_until = time.monotonic() + PAUSE_S
        if policy.endpoint.refuses_when_away:
            raise NotExamined(retry_after=PAUSE_S) from error
        return []


def request_findings(endpoint: ModerationEndpoint, policy: Policy, passages: Iterable[Sequence[str]]) -> list[Finding]:
    """Call the endpoint, even shortly after a failure. Raises ProviderError."""
    # Imported here, so that web processes start without aiohttp.
    from models_registry.providers.moderations import request_moderation

    provider = endpoint.provider
    try:
        key = provider.read_key()
    except KeyUnreadable:
        raise ProviderError(FailureCode.NO_KEY) from None
    if not provider.endpoint or (provider.needs_key and not key):
        raise ProviderError(FailureCode.NO_KEY if provider.endpoint else FailureCode.UNREACHABLE)
    texts = [piece for passage in passages for piece in _pieces("\n".join(passage))]
    judgement = request_moderation(
        provider.endpoint, key=key, model=endpoint.model, texts=texts, seconds=endpoint.seconds
    )
    highest: dict[int, Finding] = {}
    for category, rule in policy.scored:
        score = judgement.scores.get(category, 0.0)
        previous = highest.get(rule.pk)
        if score >= rule.threshold and (previous is None or score > (previous.score or 0.0)):
            highest[rule.pk] = Finding(rule, score, endpoint.model, judgement.version)
    return list(highest.values())


def _pieces(text: str) -> Iterator[str]:
    text = strip_invisible(text)
    for start in range(0, len(text), PIECE_CHARACTERS):
        yield text[max(0, start - OVERLAP_CHARACTERS) : start + PIECE_CHARACTERS]

"""The contract between the arena and a scorer, which a plug-in implements too (docs/benchmarks.md, "Plug-ins")."""

from typing import Literal, Protocol, TypeAlias

import msgspec

from benchmarks.scoring.refusals import Refusal

PORT_VERSION = 1
MAX_DETAIL_BYTES = 4000
MAX_LABEL_CHARACTERS = 100

# not_measured: nothing to judge, such as the latency of a reused answer. The others: the check itself failed.
ErrorCode = Literal["", "scorer_failed", "scorer_timeout", "not_measured"]
NOT_EXTRACTED = "not_extracted"

# References of one item: JSON values, mostly texts.
Target: TypeAlias = list[object]


class ScoredAnswer(msgspec.Struct, kw_only=True):
    """One reply and what is known about it; None where the provider did not tell. Times in ms, cost in dollars."""

    text: str
    reasoning: str = ""
    variables: dict[str, object] = {}
    metadata: dict[str, object] = {}
    finish_reason: str = ""
    first_token_ms: float | None = None
    total_ms: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    # An earlier run's reply: its times and cost belong to another day.
    is_reused: bool = False
    # Values of the item's other checks by key, for expressions.
    scores: dict[str, float] = {}


class Verdict(msgspec.Struct, kw_only=True):
    """Result of one check: a value from 0 to 1 or an error, never both."""

    value: float | None = None
    passed: bool | None = None
    label: str = ""
    detail: str = ""
    error: ErrorCode = ""


class Settings(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Base of a scorer's settings; `__post_init__` raises ValueError for bad ones."""


class Scorer(Protocol):
    """Compares an answer with its target. Raises any exception to leave the answer unscored."""

    name: str
    version: str = "1"
    settings: type[msgspec.Struct] = Settings
    # True for what may take long or much memory: it runs in a child process, and may import there only.
    needs_child: bool = False

    def load(self) -> None:
        """Import what the scorer needs, before its time starts to run."""
        return

    def target_error(self, target: Target) -> Refusal | str:
        """Return why a target is refused, or ""; a plug-in, in its own words."""
        return ""

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict: ...


def decided(passed: bool, detail: str = "", label: str = "") -> Verdict:
    """Return 1 or 0."""
    return Verdict(value=float(passed), passed=passed, detail=detail, label=label)


def not_extracted(detail: str = "") -> Verdict:
    """Return 0 with the label that separates wrong form from wrong knowledge."""
    return Verdict(value=0.0, passed=False, label=NOT_EXTRACTED, detail=detail)


def texts_of(target: Target) -> list[str]:
    """Return a target's values as texts; numbers and objects as JSON."""
    return [value if isinstance(value, str) else msgspec.json.encode(value).decode() for value in target]


def empty_target_error(target: Target) -> Refusal | str:
    return "" if target else Refusal("target_empty")


def absent_target_error(target: Target) -> Refusal | str:
    """Return why a target without a visible text is refused, or ""."""
    is_blank = any(not text.strip() for text in texts_of(target))
    return Refusal("target_text_empty") if is_blank else empty_target_error(target)

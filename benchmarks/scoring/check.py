"""A check as a person writes it, and prepared to score many answers."""

from typing import Annotated

import msgspec

from benchmarks.scoring.extraction import AnyStep
from benchmarks.scoring.ports import ScoredAnswer, Scorer, Verdict


class Check(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """One check of a version or a case.

    target: a list of its own; None for the item's. threshold: value from which the check passes; None for the scorer's
    own rule. weight: 0 for a check that is shown, but is no part of the item's score; a gate decides also then.
    """

    scorer: str
    key: str = ""
    target: list[object] | None = None
    settings: dict[str, object] = {}
    extract: Annotated[tuple[AnyStep, ...], msgspec.Meta(max_length=20)] = ()
    weight: Annotated[float, msgspec.Meta(ge=0, le=1e6)] = 1.0
    negate: bool = False
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    is_gate: bool = False
    metric: str = ""


class Group:
    """Combines the verdicts of other checks."""

    name: str
    version = "1"
    settings: type[msgspec.Struct]

    def nested(self, settings: msgspec.Struct) -> tuple[Check, ...]:
        raise NotImplementedError

    def narrow(self, answer: ScoredAnswer, settings: msgspec.Struct) -> ScoredAnswer | None:
        """Return the answer that the nested checks see, or None if it cannot be extracted."""
        return answer

    def combine(self, checks: tuple[Check, ...], verdicts: list[Verdict], settings: msgspec.Struct) -> Verdict:
        raise NotImplementedError


class Prepared(msgspec.Struct, frozen=True):
    """A check with its validated settings; None for both where only the child may import the scorer."""

    check: Check
    scorer: Scorer | Group | None
    settings: msgspec.Struct | None
    nested: "tuple[Prepared, ...]" = ()
    needs_child: bool = False

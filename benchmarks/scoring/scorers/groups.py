"""Checks of checks: all, any, a number of them, and one on a part of a JSON answer."""

from typing import Annotated

import msgspec

from benchmarks.scoring.check import Check, Group
from benchmarks.scoring.json_texts import NotJson, read_json, resolve_pointer, write_json
from benchmarks.scoring.ports import ScoredAnswer, Settings, Verdict
from benchmarks.scoring.refusals import Refusal

MAX_NESTED = 50


class GroupSettings(Settings, frozen=True):
    checks: Annotated[tuple[Check, ...], msgspec.Meta(min_length=1, max_length=MAX_NESTED)]


class CountSettings(GroupSettings, frozen=True):
    count: Annotated[int, msgspec.Meta(ge=1)]

    def __post_init__(self) -> None:
        if self.count > len(self.checks):
            raise Refusal("count_above_checks")


class CheckGroup(Group):
    """Has an error if one of its checks has; a check without a measure is left out."""

    version = "2"
    settings: type[msgspec.Struct] = GroupSettings

    def __init__(self, name: str) -> None:
        self.name = name

    def nested(self, settings: msgspec.Struct) -> tuple[Check, ...]:
        assert isinstance(settings, GroupSettings)
        return settings.checks

    def combine(self, checks: tuple[Check, ...], verdicts: list[Verdict], settings: msgspec.Struct) -> Verdict:
        failed = next((verdict for verdict in verdicts if verdict.error not in ("", "not_measured")), None)
        if failed is not None:
            return failed
        scored = [(check, verdict) for check, verdict in zip(checks, verdicts, strict=True) if not verdict.error]
        if not scored:
            return Verdict(error="not_measured")
        return self._combined(scored, settings)

    def _combined(self, scored: list[tuple[Check, Verdict]], settings: msgspec.Struct) -> Verdict:
        """Return the weighted mean; passes if all checks do that can pass and have a weight or are gates."""
        is_weighted = any(check.weight for check, _ in scored)
        weights = [check.weight if is_weighted else 1.0 for check, _ in scored]
        # Divided last: six sixths are less than 1.
        value = sum(weight * (verdict.value or 0.0) for weight, (_, verdict) in zip(weights, scored, strict=True))
        counted = [verdict for check, verdict in scored if check.weight or check.is_gate or not is_weighted]
        return Verdict(value=value / sum(weights), passed=all(verdict.passed is not False for verdict in counted))


class AnyOf(CheckGroup):
    def _combined(self, scored: list[tuple[Check, Verdict]], settings: msgspec.Struct) -> Verdict:
        return Verdict(
            value=max(verdict.value or 0.0 for _, verdict in scored),
            passed=any(verdict.passed for _, verdict in scored),
        )


class AtLeast(CheckGroup):
    settings = CountSettings

    def _combined(self, scored: list[tuple[Check, Verdict]], settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, CountSettings)
        passed = sum(bool(verdict.passed) for _, verdict in scored)
        return Verdict(
            value=min(1.0, passed / settings.count),
            passed=passed >= settings.count,
            detail=f"{passed} of {len(scored)}",
        )


class FieldSettings(Settings, frozen=True):
    """pointer: RFC 6901, such as `/person/name`."""

    pointer: str
    check: Check
    anywhere: bool = False

    def __post_init__(self) -> None:
        if self.pointer and not self.pointer.startswith("/"):
            raise Refusal("pointer_without_slash")


class JsonField(Group):
    """Gives one value of a JSON answer to another check."""

    name = "json_field"
    settings = FieldSettings

    def nested(self, settings: msgspec.Struct) -> tuple[Check, ...]:
        assert isinstance(settings, FieldSettings)
        return (settings.check,)

    def narrow(self, answer: ScoredAnswer, settings: msgspec.Struct) -> ScoredAnswer | None:
        assert isinstance(settings, FieldSettings)
        try:
            value = resolve_pointer(read_json(answer.text, anywhere=settings.anywhere), settings.pointer)
        except (NotJson, LookupError):
            return None
        return msgspec.structs.replace(answer, text=write_json(value))

    def combine(self, checks: tuple[Check, ...], verdicts: list[Verdict], settings: msgspec.Struct) -> Verdict:
        [verdict] = verdicts
        return verdict


_OF_CHECKS = (CheckGroup("all_of"), AnyOf("any_of"), AtLeast("at_least"))
NAMES = frozenset(group.name for group in _OF_CHECKS)
GROUPS: tuple[Group, ...] = (*_OF_CHECKS, JsonField())

"""Scorers by name, and checks refused or prepared."""

import hashlib
from collections.abc import Callable, Mapping, Sequence

import msgspec

from benchmarks.scoring.check import Check, Group, Prepared
from benchmarks.scoring.ports import Scorer, Target
from benchmarks.scoring.refusals import CheckError, Refusal, read_refusal
from benchmarks.scoring.scorers import (
    choice,
    expression,
    groups,
    instructions,
    json_answers,
    limits,
    markup,
    mathematics,
    number,
    overlap,
    refusal,
    rules,
    similarity,
    text,
)

_FAMILIES = (
    text, similarity, choice, number, mathematics, json_answers, markup, overlap, rules, instructions, refusal, limits,
    expression,
)  # fmt: skip
BUILT_IN: Mapping[str, Scorer | Group] = {
    scorer.name: scorer for scorer in (*(member for family in _FAMILIES for member in family.SCORERS), *groups.GROUPS)
}
MAX_DEPTH = 4

FindErrors = Callable[[Check, str], list[CheckError]]


class Registry:
    """Finds scorers. In the child, it has plug-ins and reads all settings."""

    def __init__(self, find_plugin: Callable[[str], Scorer] | None = None) -> None:
        self._find_plugin = find_plugin

    def prepare(self, check: Check, depth: int = 0) -> Prepared:
        """Raises ValueError, for which read_refusal finds the reason, for a check that must be refused."""
        scorer = BUILT_IN.get(check.scorer)
        if isinstance(scorer, Group):
            if depth == MAX_DEPTH:
                raise Refusal("nested_too_deep", depth=MAX_DEPTH)
            settings = msgspec.convert(check.settings, scorer.settings)
            nested = tuple(self.prepare(inner, depth + 1) for inner in scorer.nested(settings))
            return Prepared(check, scorer, settings, nested, needs_child=any(inner.needs_child for inner in nested))
        if scorer is not None and check.target is not None and (refusal := _target_refusal(scorer, check.target)):
            raise refusal
        if self._find_plugin is None and (scorer is None or scorer.needs_child):
            return Prepared(check, scorer, None, needs_child=True)
        if scorer is None:
            assert self._find_plugin is not None
            scorer = self._find_plugin(check.scorer)
        return Prepared(check, scorer, msgspec.convert(check.settings, scorer.settings), (), scorer.needs_child)

    def errors(self, check: Check, position: str, depth: int = 0) -> list[CheckError]:
        """Return reasons to refuse a check and those nested in it."""
        scorer = BUILT_IN.get(check.scorer)
        try:
            if not isinstance(scorer, Group) or depth == MAX_DEPTH:
                self.prepare(check, depth)
                return []
            nested = scorer.nested(msgspec.convert(check.settings, scorer.settings))
        except ValueError as error:
            refusal = read_refusal(error)
            if depth:
                refusal.field = "settings"  # of the check in which this one is nested
            return [refusal.at(position)]
        return [
            error
            for index, inner in enumerate(nested)
            for error in self.errors(inner, f"{position}.settings.checks[{index}]", depth + 1)
        ]


_registry = Registry()
prepare = _registry.prepare


def errors_of_checks(raw_checks: Sequence[object], ask_child: FindErrors) -> list[CheckError]:
    """Return every reason to refuse a list of checks when a version is frozen.

    raw_checks: as read from JSON. ask_child: ScoringChildren.errors, for settings that only the child may read.
    """
    errors: list[CheckError] = []
    keys: set[str] = set()
    for index, raw in enumerate(raw_checks):
        position = f"checks[{index}]"
        try:
            check = msgspec.convert(raw, Check)
        except msgspec.ValidationError as error:
            refusal = read_refusal(error)
            refusal.field = next(
                (name for name in Check.__struct_fields__ if refusal.places and refusal.places[0].startswith(name)),
                refusal.field,
            )
            errors.append(refusal.at(position))
            continue
        if check.key and check.key in keys:
            errors.append(Refusal("key_used_twice", field="key", key=repr(check.key)).at(position))
        keys.add(check.key)
        problems = _registry.errors(check, position)
        if not problems and prepare(check).needs_child:
            problems = ask_child(check, position)
        errors += problems
    return errors


def target_error(prepared: Prepared, target: Target) -> Refusal | None:
    """Return why a check refuses a case's target."""
    if prepared.check.target is not None:
        target = prepared.check.target
    if prepared.nested:
        return next(filter(None, (target_error(nested, target) for nested in prepared.nested)), None)
    if prepared.scorer is None or isinstance(prepared.scorer, Group):
        return None
    return _target_refusal(prepared.scorer, target)


def _target_refusal(scorer: Scorer, target: Target) -> Refusal | None:
    reason = scorer.target_error(target)
    if not reason:
        return None
    refusal = reason if isinstance(reason, Refusal) else Refusal("other", text=reason)
    refusal.field = "target"
    return refusal


def checks_digest(checks: Sequence[Check]) -> str:
    """Return SHA-256 of checks and their scorers' versions: scores of the same digest are the same."""
    versions = [(check, _version(check)) for check in checks]
    return hashlib.sha256(msgspec.json.encode(versions, order="deterministic")).hexdigest()


def _version(check: Check) -> str:
    scorer = BUILT_IN.get(check.scorer)
    if scorer is None:
        return ""
    if not isinstance(scorer, Group):
        return scorer.version
    nested = scorer.nested(msgspec.convert(check.settings, scorer.settings))
    return f"{scorer.version}({','.join(map(_version, nested))})"

"""Scoring of answers by the checks of a version and of its cases."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Protocol, Self

import msgspec

from benchmarks.checks.targets import templates_of, with_targets
from benchmarks.models import Case, TemplateVersion
from benchmarks.scoring import item_checks
from benchmarks.scoring.check import Check, Prepared
from benchmarks.scoring.evaluation import failed
from benchmarks.scoring.item_score import item_score
from benchmarks.scoring.ports import ScoredAnswer, Target, Verdict
from benchmarks.scoring.registry import checks_digest, prepare
from common.payload_types import JsonObject

# They compare facts of the call, which are stored with the answer.
_SCORERS_OF_CALLS = {"latency", "first_token", "cost", "tokens"}
_CACHED_CASES = 1_000
MAX_KEY = 80


@dataclass(frozen=True)
class ScoredItem:
    """Scores of one answer; value and passed: None if not known, never 0. checks: rows of Score."""

    value: float | None = None
    passed: bool | None = None
    digest: str = ""
    checks: list[JsonObject] = field(default_factory=list)


@dataclass(frozen=True)
class CaseFacts:
    """A case as its checks need it. targets: rendered ones."""

    expected: Target
    variables: JsonObject
    metadata: JsonObject
    own_checks: list[JsonObject]
    threshold: float | None
    targets: list[list[object]] | None


@dataclass(frozen=True)
class CaseChecks:
    """Checks of one case, with a target for each."""

    prepared: Sequence[Prepared]
    targets: Sequence[Target]
    digest: str

    @property
    def checks(self) -> list[Check]:
        return [prepared.check for prepared in self.prepared]


def raw_check(row: object) -> JsonObject:
    """Return the values of a row with a check's fields; a draft's may be invalid."""
    return {name: getattr(row, name) for name in Check.__struct_fields__}


def case_checks(version_checks: Sequence[JsonObject], own: Sequence[JsonObject]) -> list[JsonObject]:
    """Return all checks of a case with unique keys, by default the scorers' names."""
    checks = list(version_checks)
    keys = {check["key"] for check in checks}
    for check in own:
        name = key = str(check.get("key") or check.get("scorer"))[:MAX_KEY]
        number = 2
        while key in keys:
            key = f"{name[: MAX_KEY - 5]} ({number})"
            number += 1
        keys.add(key)
        checks.append(check | {"key": key})
    return checks


class AnswerScoring(Protocol):
    """Scores the answers of a run."""

    # The version whose cases and checks are used.
    version_id: int
    # An answer with a score is the item's last: no further turn is asked.
    ends_with_a_score: bool

    def copy(self) -> Self:
        """Return the same for another thread."""

    def read_cases(self, case_ids: Collection[int]) -> Mapping[int, CaseFacts]:
        """Return facts of this version's cases by ids of the run's cases, which have the same keys."""

    def score_at_once(self, case: CaseFacts, answer: ScoredAnswer) -> ScoredItem | None:
        """Return None if this needs a child process or facts of the stored call."""

    def score(self, case: CaseFacts, answer: ScoredAnswer, child: item_checks.Child) -> ScoredItem:
        """Score an answer within seconds for each check; an error leaves it without a score."""


class CheckSet(AnswerScoring):
    ends_with_a_score = False

    def __init__(self, version: TemplateVersion) -> None:
        self.version_id, self._threshold = version.pk, version.threshold
        self.raw = [raw_check(check) for check in version.checks.all()]
        self._cases: dict[int, CaseFacts] = {}

    def copy(self) -> Self:
        copied = copy(self)
        copied._cases = {}
        return copied

    @cached_property
    def _shared(self) -> CaseChecks:
        prepared = [_prepared(raw) for raw in self.raw]
        return CaseChecks(prepared, (), checks_digest([entry.check for entry in prepared]))

    @cached_property
    def _has_templates(self) -> bool:
        return bool(templates_of(self.raw))

    def read_cases(self, case_ids: Collection[int]) -> Mapping[int, CaseFacts]:
        missing = {pk for pk in case_ids if pk not in self._cases}
        if missing:
            if len(self._cases) + len(missing) > _CACHED_CASES:
                self._cases = {pk: facts for pk, facts in self._cases.items() if pk in case_ids}
            id_by_key = dict(Case.objects.filter(pk__in=missing).values_list("key", "pk"))
            own = Case.objects.filter(version=self.version_id, key__in=id_by_key).select_related("rendered_targets")
            self._cases |= {id_by_key[case.key]: facts_of(case) for case in own}
        return {pk: self._cases[pk] for pk in case_ids}

    def of_case(self, case: CaseFacts) -> CaseChecks:
        """Raises ValueError if a target was not rendered."""
        if not case.own_checks and not self._has_templates:
            shared = self._shared
            return CaseChecks(shared.prepared, [case.expected] * len(shared.prepared), shared.digest)
        raw = case_checks(self.raw, case.own_checks)
        written = msgspec.convert(raw, list[Check])
        if case.targets is not None:
            raw = with_targets(raw, case.targets)
        elif templates_of(raw):
            raise ValueError("the targets were not rendered")
        prepared = [_prepared(check) for check in raw]
        return CaseChecks(prepared, [case.expected] * len(prepared), checks_digest(written))

    def score_at_once(self, case: CaseFacts, answer: ScoredAnswer) -> ScoredItem | None:
        checks = self.of_case(case)
        if any(map(_needs_call, checks.prepared)) or item_checks.needs_child(checks.prepared, checks.targets, answer):
            return None
        return self._score(case, checks, answer, _no_child)

    def score(self, case: CaseFacts, answer: ScoredAnswer, child: item_checks.Child) -> ScoredItem:
        try:
            return self._score(case, self.of_case(case), answer, child)
        except Exception as error:
            verdict = failed(f"{type(error).__name__}: {error}")
            written = msgspec.convert(case_checks(self.raw, case.own_checks), list[Check])
            return ScoredItem(checks=[_row(check, verdict, "") for check in written])

    def _score(self, case: CaseFacts, checks: CaseChecks, answer: ScoredAnswer, child: item_checks.Child) -> ScoredItem:
        verdicts = item_checks.score_item(checks.prepared, checks.targets, answer, child)
        threshold = self._threshold if case.threshold is None else case.threshold
        score = item_score(checks.checks, verdicts, threshold)
        rows = [_row(check, verdict, checks.digest) for check, verdict in zip(checks.checks, verdicts, strict=True)]
        return ScoredItem(score.score, score.passed, checks.digest, rows)


class _NoChild:
    def score(self, check: Check, answer: ScoredAnswer, target: Target) -> Verdict:
        raise RuntimeError("this check needs a child")


_no_child = _NoChild()


def facts_of(case: Case) -> CaseFacts:
    rendered = getattr(case, "rendered_targets", None)
    return CaseFacts(
        target_of(case.expected), case.variables, case.metadata, case.checks or [], case.threshold,
        rendered.targets if rendered else None,
    )  # fmt: skip


def target_of(expected: object) -> Target:
    return expected if isinstance(expected, list) else [expected]


@lru_cache(maxsize=512)
def _prepared_from(encoded: bytes) -> Prepared:
    check = msgspec.json.decode(encoded, type=Check)
    try:
        return prepare(check)
    except ValueError:  # refused by a newer release: the child gives the reason
        return Prepared(check, None, None, needs_child=True)


def _prepared(raw: JsonObject) -> Prepared:
    return _prepared_from(msgspec.json.encode(raw))


def _needs_call(prepared: Prepared) -> bool:
    return prepared.check.scorer in _SCORERS_OF_CALLS or any(map(_needs_call, prepared.nested))


def _row(check: Check, verdict: Verdict, digest: str) -> JsonObject:
    return {
        "check_key": check.key, "value": verdict.value, "passed": verdict.passed, "error": verdict.error,
        "label": verdict.label, "detail": {"text": verdict.detail} if verdict.detail else {}, "version": digest,
        "metric": check.metric, "weight": check.weight,
    }  # fmt: skip

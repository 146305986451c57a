"""Checks of a draft, tried on a pasted answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from benchmarks.checks.check_set import case_checks, raw_check, target_of
from benchmarks.checks.children import scoring_children
from benchmarks.checks.reasons import check_reason, error_sentence
from benchmarks.checks.targets import fill_templates, template_texts, templates_of, with_targets, without_templates
from benchmarks.editing.case_choice import case_at
from benchmarks.models import Case, Check, TemplateVersion
from benchmarks.preparation import guard
from benchmarks.preparation.frames import RenderTexts, TextsOfCase
from benchmarks.queries.cases import expected_text
from benchmarks.scoring.check import Check as ScoringCheck
from benchmarks.scoring.item_checks import score_item
from benchmarks.scoring.item_score import ItemScore, item_score
from benchmarks.scoring.ports import ScoredAnswer, Verdict
from benchmarks.scoring.refusals import read_refusal
from benchmarks.scoring.registry import errors_of_checks, prepare
from common.payload_types import JsonObject


@dataclass(frozen=True)
class Trial:
    """number: of the case, from 1; case: None without cases. problems: of checks and targets, without verdicts."""

    answer: str
    number: int
    total: int
    case: Case | None
    verdicts: list[tuple[str, Verdict]] = field(default_factory=list)
    score: ItemScore | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def expected(self) -> str:
        return "" if self.case is None else expected_text(self.case.expected)


def try_checks(version: TemplateVersion, checks: Sequence[Check], answer: str, number: int) -> Trial:
    """Return verdicts as a run would; checks may be unsaved. Takes seconds for each check that needs a child."""
    number, total, case = case_at(version, number)
    case = case or Case(version=version, position=0)
    raw = case_checks([raw_check(check) for check in checks], case.checks or [])
    trial = Trial(answer, number, total, case if case.pk else None)
    errors = errors_of_checks([without_templates(check) for check in raw], scoring_children().errors)
    if errors:
        trial.problems.extend(map(error_sentence, errors))
        return trial
    try:
        written = [msgspec.convert(check, ScoringCheck) for check in _rendered(raw, case)]
        prepared = [prepare(check) for check in written]
    except ValueError as error:
        trial.problems.append(check_reason(read_refusal(error)))
        return trial
    scored = ScoredAnswer(text=answer, variables=case.variables, metadata=case.metadata, finish_reason="stop")
    verdicts = score_item(prepared, [target_of(case.expected)] * len(prepared), scored, scoring_children())
    threshold = version.threshold if case.threshold is None else case.threshold
    score = item_score(written, verdicts, threshold)
    named = [(check.key, verdict) for check, verdict in zip(written, verdicts, strict=True)]
    return Trial(answer, number, total, trial.case, named, score)


def _rendered(raw: list[JsonObject], case: Case) -> list[JsonObject]:
    """Return checks with rendered targets. Raises ValueError if one cannot be rendered."""
    targets = templates_of(raw)
    if not targets:
        return raw
    texts = template_texts(targets)
    [result] = guard.render_texts(RenderTexts([], [TextsOfCase(case.key, case.variables, case.expected, texts)]))
    if result.problem:
        raise ValueError(result.problem)
    return with_targets(raw, fill_templates(targets, result.texts))

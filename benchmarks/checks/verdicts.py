"""Verdicts of a judge, read in the place of checks."""

import hashlib
from collections.abc import Collection, Mapping
from typing import Self

import msgspec

from benchmarks.checks.check_set import AnswerScoring, CaseFacts, ScoredItem
from benchmarks.judging.prompts import PROMPT_VERSION
from benchmarks.judging.rubrics import Kind, Rubric
from benchmarks.judging.verdicts import Verdict, read_verdict
from benchmarks.models import Judging, Run
from benchmarks.scoring import item_checks
from benchmarks.scoring.ports import ScoredAnswer
from common.payload_types import JsonObject

# Key of the one score of a comparison. Grades have a score for each criterion, by its name.
VERDICT = "verdict"
# Error of an answer without exactly one verdict.
UNPARSED = "unparsed"
MAX_REASON_CHARACTERS = 1_000
_NO_FACTS = CaseFacts([], {}, {}, [], None, None)


class VerdictReading(AnswerScoring):
    """Values are seen from the reply that was shown first; an unparsed answer has none."""

    ends_with_a_score = True

    def __init__(self, run: Run) -> None:
        judging = Judging.objects.select_related("judge").get(run=run)
        self.version_id = run.version_id
        self._rubric = msgspec.convert(judging.judge.rubric, Rubric)
        versions = f"{self._rubric.digest()} {PROMPT_VERSION}"
        self._digest = hashlib.sha256(versions.encode()).hexdigest()

    def copy(self) -> Self:
        return self

    def read_cases(self, case_ids: Collection[int]) -> Mapping[int, CaseFacts]:
        return dict.fromkeys(case_ids, _NO_FACTS)

    def score_at_once(self, case: CaseFacts, answer: ScoredAnswer) -> ScoredItem:
        verdict = read_verdict(answer.text, self._rubric, finish_reason=answer.finish_reason)
        if self._rubric.kind == Kind.PAIRWISE:
            rows = [self._row(VERDICT, verdict, None if verdict is None else verdict.outcome)]
        else:
            rows = [
                self._row(
                    criterion.name, verdict,
                    None if verdict is None else (verdict.scores[criterion.name] - 1) / (criterion.points - 1),
                    label="" if verdict is None else f"{verdict.scores[criterion.name]:g}",
                    has_reason=not number, metric=criterion.name, weight=criterion.weight,
                )
                for number, criterion in enumerate(self._rubric.criteria)
            ]  # fmt: skip
        return ScoredItem(None if verdict is None else verdict.outcome, None, self._digest, rows)

    def score(self, case: CaseFacts, answer: ScoredAnswer, child: item_checks.Child) -> ScoredItem:
        return self.score_at_once(case, answer)

    def _row(
        self, key: str, verdict: Verdict | None, value: float | None, *, label: str = "", has_reason: bool = True,
        metric: str = "", weight: float = 1,
    ) -> JsonObject:  # fmt: skip
        reason = verdict.reason[:MAX_REASON_CHARACTERS] if verdict is not None and has_reason else ""
        label = label or (verdict.label if verdict is not None else "")
        return {
            "check_key": key, "value": value, "passed": None, "error": UNPARSED if verdict is None else "",
            "label": label, "detail": {"text": reason} if reason else {}, "version": self._digest, "metric": metric,
            "weight": weight,
        }  # fmt: skip

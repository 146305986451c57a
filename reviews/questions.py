"""Questions that people answer after their choice."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from common.errors import InvalidInput
from reviews.payload_types import QuestionPayload

MAX_QUESTIONS, MAX_TEXT, MAX_STEP = 3, 200, 60
MIN_STEPS, MAX_STEPS = 2, 5


def problem_of(questions: Sequence[QuestionPayload]) -> str:
    """Return a sentence, or "" if all can be asked."""
    if len(questions) > MAX_QUESTIONS:
        return _("A review has at most %(most)s questions.") % {"most": MAX_QUESTIONS}
    return next(filter(None, (problem_of_steps(question["steps"]) for question in questions)), "")


def problem_of_steps(steps: Sequence[str]) -> str:
    if not MIN_STEPS <= len(steps) <= MAX_STEPS:
        return _("Write %(least)s to %(most)s answers.") % {"least": MIN_STEPS, "most": MAX_STEPS}
    if len(set(steps)) < len(steps):
        return _("Two answers are the same.")
    return ""


def checked_answers(questions: Sequence[QuestionPayload], answers: Sequence[int | None]) -> list[int | None] | None:
    """Return a step's number or None for each question; None of a review without questions. Raises InvalidInput."""
    if answers and len(answers) != len(questions):
        sentence = _("Give %(n)s answers, one for each question; null for none.") % {"n": len(questions)}
        raise InvalidInput(fields={"answers": [sentence]})
    for question, answer in zip(questions, answers, strict=False):
        if answer is not None and not 1 <= answer <= len(question["steps"]):
            raise InvalidInput(fields={"answers": [_("A question has no answer with this number.")]})
    if not questions:
        return None
    return list(answers) or [None] * len(questions)


@dataclass
class PairAnswers:
    """counts: see PairAnswersPayload."""

    first: int
    second: int
    counts: list[int]

    @property
    def n(self) -> int:
        return sum(self.counts)


@dataclass
class ModelMean:
    """mean: see ModelMeanPayload."""

    model: int
    n: int
    mean: float


@dataclass
class QuestionResult:
    """without: votes that left the question out."""

    question: QuestionPayload
    pairs: list[PairAnswers] = field(default_factory=list)
    models: list[ModelMean] = field(default_factory=list)
    without: int = 0

    @property
    def n(self) -> int:
        return sum(pair.n for pair in self.pairs)


# Answers of one battle, its models on the left and on the right, and the number of such battles.
AnswerRow = tuple[Sequence[int | None], int, int, int]


def summarize(questions: Sequence[QuestionPayload], rows: Iterable[AnswerRow]) -> list[QuestionResult]:
    stored = list(rows)
    return [_summary(question, number, stored) for number, question in enumerate(questions)]


def _summary(question: QuestionPayload, number: int, rows: Sequence[AnswerRow]) -> QuestionResult:
    steps, result = len(question["steps"]), QuestionResult(question)
    counts: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for answers, left, right, n in rows:
        step = answers[number]
        if step is None:
            result.without += n
            continue
        is_turned = question["compares"] and left > right
        counts[min(left, right), max(left, right)][steps + 1 - step if is_turned else step] += n
    for (first, second), of_steps in counts.items():
        result.pairs.append(PairAnswers(first, second, [of_steps[step] for step in range(1, steps + 1)]))
    result.pairs.sort(key=lambda pair: (-pair.n, pair.first, pair.second))
    result.models = sorted(_means(question, result.pairs), key=lambda row: (-row.mean, row.model))
    return result


def _means(question: QuestionPayload, pairs: Iterable[PairAnswers]) -> Iterable[ModelMean]:
    sums: dict[int, float] = defaultdict(float)
    numbers: Counter[int] = Counter()
    for pair in pairs:
        for model, side in ((pair.first, 1), (pair.second, -1)):
            numbers[model] += pair.n
            sums[model] += sum(n * _value(question, step, side) for step, n in enumerate(pair.counts, start=1))
    return [ModelMean(model, n, sums[model] / n) for model, n in numbers.items() if n]


def _value(question: QuestionPayload, step: int, side: int) -> float:
    """side: 1 for the first model, -1 for the second."""
    if not question["compares"]:
        return step
    return side * (1 - 2 * (step - 1) / (len(question["steps"]) - 1))

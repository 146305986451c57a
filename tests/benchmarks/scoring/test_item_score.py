import pytest

from benchmarks.scoring.check import Check
from benchmarks.scoring.item_checks import needs_child, score_item
from benchmarks.scoring.item_score import item_score
from benchmarks.scoring.ports import ScoredAnswer, Target, Verdict
from benchmarks.scoring.registry import prepare
from tests.benchmarks.scoring.scoring_one import registry

RIGHT, WRONG = Verdict(value=1.0, passed=True), Verdict(value=0.0, passed=False)
HALF = Verdict(value=0.5)
FAILED, UNMEASURED = Verdict(error="scorer_failed"), Verdict(error="not_measured")


def check(**fields: object) -> Check:
    return Check(scorer="equals", **fields)


@pytest.mark.parametrize(
    ("rows", "threshold", "expected"),
    [
        ([], None, (None, None)),
        ([(check(), RIGHT)], None, (1, True)),
        ([(check(weight=3), RIGHT), (check(), WRONG)], None, (0.75, False)),
        ([(check(weight=3), RIGHT), (check(), WRONG)], 0.7, (0.75, True)),
        ([(check(weight=3), RIGHT), (check(is_gate=True), WRONG)], 0.7, (0.75, False)),
        ([(check(), RIGHT), (check(weight=0, is_gate=True), WRONG)], None, (1, False)),
        ([(check(), RIGHT), (check(weight=0), WRONG)], None, (1, True)),
        ([(check(), HALF)], None, (0.5, None)),
        ([(check(), HALF), (check(), RIGHT)], None, (0.75, True)),
        ([(check(), RIGHT), (check(), FAILED)], None, (None, None)),
        ([(check(), RIGHT), (check(weight=0), FAILED)], None, (1, True)),
        ([(check(), RIGHT), (check(weight=0, is_gate=True), FAILED)], None, (None, None)),
        ([(check(), RIGHT), (check(is_gate=True), UNMEASURED)], None, (1, True)),
        ([(check(), UNMEASURED)], 0.5, (None, None)),
    ],
)
def test_item_score_weighs_and_gates(rows, threshold, expected):
    result = item_score([check for check, _ in rows], [verdict for _, verdict in rows], threshold)
    assert (result.score, result.passed) == expected


def test_metrics_have_values_of_their_own():
    rows = [
        (check(key="a", metric="form", weight=3), RIGHT),
        (check(key="b", metric="form"), WRONG),
        (check(key="c", metric="shown", weight=0), HALF),
        (check(key="d", metric="broken", weight=0), FAILED),
        (check(key="e", metric="time", weight=0), UNMEASURED),
    ]
    result = item_score([check for check, _ in rows], [verdict for _, verdict in rows])
    assert result.metrics == {"form": 0.75, "shown": 0.5, "broken": None, "time": None}
    assert result.unscored == ("d",)
    assert result.score == 0.75


class HereInstead:
    """Child that scores in this process."""

    def __init__(self) -> None:
        self.scorers: list[str] = []

    def score(self, check: Check, answer: ScoredAnswer, target: Target) -> Verdict:
        from benchmarks.scoring.evaluation import evaluate

        self.scorers.append(check.scorer)
        return evaluate(registry.prepare(check), answer, target)


def test_expressions_see_other_checks_values():
    checks = [
        prepare(Check(scorer="expression", settings={"expression": "scores.near / 2.0"})),
        prepare(Check(scorer="fuzzy", key="near")),
        prepare(Check(scorer="all_of", settings={"checks": [{"scorer": "rouge_l"}]})),
        prepare(Check(scorer="latency", key="time", settings={"max_ms": 1})),
        prepare(Check(scorer="expression", settings={"expression": "scores.time == 1.0"})),
    ]
    child = HereInstead()
    verdicts = score_item(checks, [["abcd"]] * 5, ScoredAnswer(text="abcd"), child)
    assert [verdict.value for verdict in verdicts] == [0.5, 1.0, 1.0, None, None]
    assert verdicts[4].error == "scorer_failed"
    assert child.scorers == ["all_of", "expression", "expression"]


def test_long_texts_go_to_the_child():
    checks, targets = [prepare(Check(scorer="contains"))], [["a"]]
    assert not needs_child(checks, targets, ScoredAnswer(text="a" * 20_000))
    assert needs_child(checks, targets, ScoredAnswer(text="a" * 20_001))
    assert needs_child(checks, [["a" * 20_001]], ScoredAnswer(text="a"))
    assert needs_child([prepare(Check(scorer="json_schema"))], targets, ScoredAnswer(text="{}"))

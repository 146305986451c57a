"""Figures of judges whose taste is known."""

import numpy as np
import pytest
from msgspec import structs

from benchmarks.judges.actions import JudgeContent, edit_judge
from benchmarks.judges.results import judges_of, read_jury, read_results, read_styled_board
from benchmarks.models import Judge, Run
from benchmarks.statistics.judged import Verdicts, board_of, styled_board
from models_registry.models import LanguageModel
from tests import make
from tests.worlds.benchmarks import judged_runs

pytestmark = pytest.mark.django_db
NAMES = ("ada", "bob", "cyd")


@pytest.fixture
def subject() -> Run:
    return judged_runs.answered_run(make.user(), [make.model(slug=slug) for slug in NAMES], cases=12)


def rotated(entrant: int, case: int) -> str:
    """Return an answer; each entrant has the best one in a third of the cases."""
    return judged_runs.by_quality((entrant + case) % 3, case)


def judged_by(rule: str, subject: Run, **options: object) -> Judge:
    judge = judged_runs.judge(make.model(), subject.owner, name=rule)
    judged_runs.answer(judged_runs.judging(judge, subject, **options), rule)
    return judge


def test_fair_judge_finds_the_order_of_entrants(subject: Run):
    [result] = read_results(subject, [judged_by("judge-fair", subject)])
    assert (result.asked, result.judged, result.waiting, result.failed, result.unparsed) == (72, 72, 0, 0, 0)
    comparisons = result.comparisons
    assert comparisons is not None
    assert [(pair.first, pair.second, pair.pairs, pair.outcome.value) for pair in comparisons.pairs] == [
        (0, 1, 12, 1.0), (0, 2, 12, 1.0), (1, 2, 12, 1.0),
    ]  # fmt: skip
    assert comparisons.pairs[0].outcome.low < 1  # 12 cases prove no certainty
    assert [line.entrant for line in comparisons.board] == [0, 1, 2]
    assert (comparisons.flips.value, comparisons.first_side.value) == (0.0, 0.0)
    assert not result.is_doubtful
    assert not result.is_stopped


def test_judge_of_the_first_side_sees_no_difference(subject: Run):
    [result] = read_results(subject, [judged_by("judge-first", subject)])
    comparisons = result.comparisons
    assert (comparisons.pairs_in_both_orders, comparisons.flips.value) == (36, 1.0)
    assert {pair.outcome.value for pair in comparisons.pairs} == {0.5}
    assert comparisons.first_side.value == 0.5
    assert comparisons.first_side.low > 0.2
    assert {round(line.score) for line in comparisons.board} == {1500}


def test_order_of_entrants_does_not_change_the_board():
    owner, models = make.user(), [make.model(slug=slug) for slug in NAMES]

    def answer(of: int, case: int) -> str:
        return judged_runs.by_quality((of + case // 5) % 3, case)

    boards = []
    for order in ([0, 1, 2], [2, 0, 1]):
        run = judged_runs.answered_run(
            owner, [models[number] for number in order], lambda entrant, case, o=order: answer(o[entrant], case),
            cases=12,
        )  # fmt: skip
        [result] = read_results(run, [judged_by("judge-fair", run)])
        boards.append(
            {result.entrants[line.entrant].model.slug: round(line.score, 6) for line in result.comparisons.board}
        )
    assert boards[0] == boards[1]
    assert len(set(boards[0].values())) == 3


def test_unparsed_verdicts_are_counted_and_doubtful(subject: Run):
    [result] = read_results(subject, [judged_by("judge-prose", subject)])
    assert (result.asked, result.judged, result.unparsed, result.unparsed_share) == (72, 0, 72, 1.0)
    assert result.is_doubtful
    assert result.comparisons.board == []


def test_longer_answers_win_with_a_judge_of_length(subject: Run):
    def answer(entrant: int, case: int) -> str:
        return "word " * (entrant + 1)

    run = judged_runs.answered_run(subject.owner, [make.model() for _ in NAMES], answer)
    [result] = read_results(run, [judged_by("judge-longer", run)])
    assert [line.entrant for line in result.comparisons.board] == [2, 1, 0]


def test_board_at_equal_length_sees_through_a_taste_for_length():
    draw = np.random.default_rng(5)
    tokens = draw.integers(20, 80, size=(150, 3)) * np.array([1, 2, 3])  # of cases and entrants
    case, first, second = (part.ravel() for part in np.meshgrid(range(150), range(3), range(3), indexing="ij"))
    case, first, second = (part[first != second] for part in (case, first, second))
    styles = np.zeros((2, len(case), 4))
    styles[:, :, 0] = tokens[case, first], tokens[case, second]
    share = (styles[0, :, 0] - styles[1, :, 0]) / styles[:, :, 0].sum(axis=0)
    value = (draw.random(len(case)) < 1 / (1 + np.exp(-4 * share))).astype(float)
    verdicts = Verdicts(case, case, first, second, value, np.zeros_like(case))
    raw = {line.entrant: line.score for line in board_of(verdicts, 3)}
    styled = styled_board(verdicts, 3, styles)
    controlled = {line.entrant: line.score for line in styled.board}
    assert raw[2] - raw[0] > 150
    assert abs(controlled[2] - controlled[0]) < 75
    assert styled.effects["tokens"].low > 0
    assert styled.effects["bold"] is None  # no answer has it


def test_board_at_equal_length_reads_the_answers_of_the_run(subject: Run):
    judge = judged_by("judge-fair", subject)
    assert read_styled_board(subject, judge) is None  # who wins all is established nowhere
    run = judged_runs.answered_run(subject.owner, [make.model() for _ in NAMES], rotated, cases=12)
    styled = read_styled_board(run, judged_by("judge-fair", run))
    assert {line.entrant for line in styled.board} == {0, 1, 2}


def test_cut_judging_says_that_it_is_no_whole(subject: Run):
    judge = judged_runs.judge(make.model(), subject.owner)
    judging = judged_runs.answer(judged_runs.judging(judge, subject), "judge-fair", most=30)
    Run.objects.filter(pk=judging.run_id).update(state="paused", reason="budget")
    [result] = read_results(subject, [judge])
    assert (result.asked, result.judged, result.waiting, result.is_stopped) == (72, 30, 42, True)


def test_card_shows_controls_that_the_judge_fails(subject: Run):
    fair, longer, first = (
        judged_by(rule, subject, with_card=True, is_card=True) for rule in ("judge-fair", "judge-longer", "judge-first")
    )
    results = read_results(subject, [fair, longer, first])
    cards = [{row.kind.value: (row.n, row.passed) for row in result.card.rows} for result in results]
    assert cards[0] == {"twins": (5, 5), "halved": (5, 5), "padded": (5, 5), "injected": (5, 5)}
    assert cards[1] == {"twins": (5, 5), "halved": (5, 5), "padded": (5, 0), "injected": (5, 0)}
    assert cards[2] == {"twins": (5, 0), "halved": (5, 0), "padded": (5, 0), "injected": (5, 0)}
    assert (results[1].card.n, results[1].card.passed, len(results[1].card.failed)) == (20, 10, 10)
    assert [result.asked for result in results] == [0, 0, 0]  # controls are no judgements
    assert judges_of(subject) == []


def test_grades_give_means_of_entrants_and_criteria(subject: Run):
    judge = judged_runs.judge(make.model(), subject.owner, judged_runs.SCORES)
    judged_runs.answer(judged_runs.judging(judge, subject), "judge-grades")
    [result] = read_results(subject, [judge])
    assert [(mean.entrant, mean.answers, mean.mean.value) for mean in result.means] == [
        (0, 12, 1.0), (1, 12, 0.75), (2, 12, 0.5),
    ]  # fmt: skip
    assert result.criteria == {"right": result.means}
    assert result.comparisons is None


def test_own_family_is_held_against_the_other_judges(subject: Run):
    subject.entrants.get(position=2).model.__class__.objects.filter(slug="cyd").update(organization="Acme")
    model = make.model(organization="acme")
    own = judged_runs.judge(model, subject.owner, own_family="flag")
    judged_runs.answer(judged_runs.judging(own, subject), "judge-first")  # sees its family as equal
    other = judged_by("judge-fair", subject)
    results = read_results(subject, [own, other])
    assert results[0].own_family.value == 0.5  # ½, where the other judge sees 0
    assert results[1].own_family is None


def test_own_family_is_not_held_against_itself(subject: Run):
    """An earlier number of the judge, and another judge of the same organization, are no other judges."""
    LanguageModel.objects.filter(slug="cyd").update(organization="Acme")
    own = judged_runs.judge(make.model(organization="acme"), subject.owner, own_family="allow")
    earlier = replaced(own, subject)
    relative = judged_runs.judge(make.model(organization="Acme"), subject.owner, own_family="allow")
    judged_runs.answer(judged_runs.judging(relative, subject), "judge-fair")
    assert [result.own_family for result in read_results(subject, [relative, *earlier])] == [None] * 3
    other = judged_by("judge-fair", subject)
    results = read_results(subject, [other, relative, *earlier])
    assert [result.own_family and result.own_family.value for result in results] == [None, 0.0, 0.5, 0.5]


def replaced(judge: Judge, subject: Run) -> list[Judge]:
    """Have two numbers of a judge read the run, both for the first side; return the newest first."""
    judged_runs.answer(judged_runs.judging(judge, subject), "judge-first")
    rubric = structs.replace(judged_runs.PAIRWISE, instructions="Prefer the better one.")
    changed = edit_judge(judge, JudgeContent("Judge", judge.model, rubric, {"temperature": 0}, judge.own_family))
    judged_runs.answer(judged_runs.judging(changed, subject), "judge-first")
    return [changed, judge]


def test_jury_has_each_judge_once(subject: Run):
    fair = judged_by("judge-fair", subject)
    changed, judge = replaced(judged_runs.judge(make.model(), subject.owner), subject)
    silent = judged_by("judge-prose", subject)
    assert read_jury(subject, [silent, changed, judge]) is None
    jury = read_jury(subject, [silent, changed, judge, fair])
    assert (jury.judges, {line.verdicts for line in jury.board}) == ([changed, fair], {2 * 48})


def test_jury_joins_the_verdicts_of_its_judges(subject: Run):
    fair, first = (judged_by(rule, subject) for rule in ("judge-fair", "judge-first"))
    jury = read_jury(subject, [fair, first])
    assert (jury.judges, [line.entrant for line in jury.board]) == ([fair, first], [0, 1, 2])
    assert jury.alpha.value < 0.2  # one sees no difference anywhere
    assert read_jury(subject, [fair]) is None


def test_judges_of_one_opinion_agree_fully(subject: Run):
    run = judged_runs.answered_run(subject.owner, [make.model() for _ in NAMES], rotated, cases=12)
    jury = read_jury(run, [judged_by("judge-fair", run) for _ in range(2)])
    assert jury.alpha.value == 1.0
    assert jury.alpha.low < 1.0

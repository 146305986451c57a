"""Questions of a judging, and what it leaves out."""

from decimal import Decimal

import pytest
from django.conf import settings
from django.db import IntegrityError, transaction

from benchmarks import actions
from benchmarks.actions.deletion import delete_run
from benchmarks.checks.verdicts import VerdictReading
from benchmarks.errors import RunNotPossible, WrongState
from benchmarks.judges.actions import JudgeContent, JudgingRequest, archive_judge, edit_judge, start_judging
from benchmarks.judges.estimates import estimate_judging
from benchmarks.models import Judge, Judgement, Judging, RenderedPrompt, Reply, Run, Template
from benchmarks.preparation.run_preparation import prepare
from benchmarks.scoring.ports import ScoredAnswer
from tests import make
from tests.models_registry.paid_models import set_price
from tests.worlds.benchmarks import judged_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def subject() -> Run:
    return judged_runs.answered_run(make.user(), [make.model(slug=slug) for slug in ("ada", "bob", "cyd")])


def judge_of(subject: Run, **options: object) -> Judge:
    return judged_runs.judge(make.model(), subject.owner, **options)


def test_second_judging_asks_what_is_missing(subject: Run):
    judge = judge_of(subject)
    first = judged_runs.judging(judge, subject, plan="baseline")
    assert first.run.item_count == 16  # 4 cases, 2 pairs, 2 orders
    second = judged_runs.judging(judge, subject)
    assert second.run.item_count == 8
    with pytest.raises(RunNotPossible, match="has judged all of it"):
        judged_runs.judging(judge, subject)


def test_questions_without_an_answer_are_asked_again(subject: Run):
    judge = judge_of(subject)
    first = judged_runs.answer(judged_runs.judging(judge, subject), "judge-fair", most=20)
    with pytest.raises(RunNotPossible):
        judged_runs.judging(judge, subject)  # the first one is under way
    actions.cancel_run(first.run)
    assert judged_runs.judging(judge, subject).run.item_count == 4
    with pytest.raises(WrongState, match="another judging"):  # it would be paid for twice
        actions.retry_failed(first.run)


def test_pair_is_asked_once_in_each_order(subject: Run):
    judging = judged_runs.judging(judge_of(subject), subject)
    known = judging.judgements.all()[0]
    with pytest.raises(IntegrityError, match="a_judge_sees_a_pair_once_in_each_order"), transaction.atomic():
        Judgement.objects.create(
            judging=judging, judge=judging.judge, item=judged_runs.spare_item(judging),
            first_reply=known.first_reply, second_reply=known.second_reply,
        )  # fmt: skip


def test_failed_and_cut_answers_are_left_out():
    def answer(entrant: int, case: int) -> str:
        return "" if (entrant, case) == (0, 0) else judged_runs.by_quality(entrant, case)

    run = judged_runs.answered_run(make.user(), [make.model() for _ in range(3)], answer)
    cut = Reply.objects.filter(items__item__entrant__position=1, items__item__case__position=1)
    cut.update(finish_reason="length")
    judging = judged_runs.judging(judge_of(run), run)
    judging.refresh_from_db()
    assert (judging.run.item_count, judging.left_out) == (16, {"no_whole_answer": 4})


def test_answers_that_name_themselves_are_left_out(subject: Run):
    reply = Reply.objects.filter(model__slug="bob").earliest("pk")
    Reply.objects.filter(pk=reply.pk).update(text="I am ChatGPT, and the answer is Paris.")
    judging = judged_runs.judging(judge_of(subject), subject)
    judging.refresh_from_db()
    assert (judging.run.item_count, judging.left_out) == (20, {"names_itself": 2})


@pytest.mark.parametrize(("own_family", "items", "marked"), [("exclude", 8, 0), ("flag", 24, 16), ("allow", 24, 16)])
def test_own_family_is_left_out_or_marked(subject: Run, own_family: str, items: int, marked: int):
    of_family = subject.entrants.get(position=0).model
    type(of_family).objects.filter(pk=of_family.pk).update(organization="Acme")
    judge = judged_runs.judge(make.model(organization=" ACME"), subject.owner, own_family=own_family)
    judging = judged_runs.judging(judge, subject)
    judging.refresh_from_db()
    assert (judging.run.item_count, judging.judgements.exclude(own_family="").count()) == (items, marked)
    assert judging.left_out == ({"own_family": 8} if own_family == "exclude" else {})


def test_answers_to_different_prompts_are_not_compared():
    run = judged_runs.answered_run(make.user(), [make.model() for _ in range(4)], prompts=2)
    judging = judged_runs.judging(judge_of(run), run)
    assert judging.run.item_count == 4 * 2 * 2  # a pair for each prompt
    first = judging.judgements.select_related("first_reply", "second_reply")[0]
    entrants = run.entrants.filter(items__replies__reply__in=[first.first_reply, first.second_reply])
    assert len(set(entrants.values_list("prompt", flat=True))) == 1


def test_request_has_the_texts_as_data(subject: Run):
    judging = judged_runs.judging(judge_of(subject), subject)
    judgement = judging.judgements.select_related("item", "first_reply", "second_reply")[0]
    rendered = RenderedPrompt.objects.get(case=judgement.item.case_id)
    [system, user] = rendered.messages
    texts = [judgement.first_reply.text, judgement.second_reply.text]
    assert [user["content"].count(text) for text in texts] == [1, 1]
    assert user["content"].index(texts[0]) < user["content"].index(texts[1])
    assert "Question " in user["content"]
    assert not any(slug in system["content"] + user["content"] for slug in ("ada", "bob", "cyd"))
    assert len(rendered.turns) == 1


def test_killed_preparation_goes_on(subject: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("benchmarks.preparation.judging_items.QUESTIONS_PER_BATCH", 1)
    judging = judged_runs.judging(judge_of(subject), subject, is_prepared=False, with_card=True)
    renewed = []

    def renew(run_id: int, *, is_first: bool = False) -> bool:
        renewed.append(run_id)
        if len(renewed) == 4:
            raise SystemExit  # in the third case
        return Run.objects.filter(pk=run_id, state="preparing").update(driven_until=None) == 1

    monkeypatch.setattr("benchmarks.preparation.run_preparation._renew_lease", renew)
    with pytest.raises(SystemExit):
        prepare(judging.run_id)
    assert prepare(judging.run_id)
    judging.run.refresh_from_db()
    assert (judging.run.item_count, judging.run.version.state) == (64, "frozen")
    assert judging.judgements.exclude(control="").count() == 40
    assert len(set(judging.run.version.cases.values_list("position", flat=True))) == 64


def test_many_characters_are_stored_by_several_statements(subject: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("benchmarks.preparation.judging_items.CHARACTERS_PER_STATEMENT", 1)
    judging = judged_runs.judging(judge_of(subject), subject)
    cases = judging.run.version.cases.order_by("position").values_list("position", "key", "metadata__case", "cluster")
    asked = list(cases)
    assert [(position, key) for position, key, *_ in asked] == [(n, f"{n + 1:06}") for n in range(24)]
    assert all(cluster == case for *_, case, cluster in asked)
    for judgement in judging.judgements.select_related("item", "first_reply"):
        [_system, user] = RenderedPrompt.objects.get(case=judgement.item.case_id).messages
        assert judgement.first_reply.text in user["content"]


def test_too_long_question_fails_before_its_call(subject: Run):
    model = make.model(context_length=settings.ARENA_MAX_TOKENS + 1_200)
    Reply.objects.filter(model__slug="cyd").update(text="word " * 1_000)
    judging = judged_runs.judging(judged_runs.judge(model, subject.owner), subject)
    failed = judging.run.items.filter(state="failed", error="prompt_too_long")
    assert (failed.count(), judging.run.item_count) == (16, 24)


def test_paid_judge_needs_a_budget(subject: Run):
    model = make.model()
    set_price(model, Decimal(1), Decimal(1))
    judge = judged_runs.judge(model, subject.owner)
    with pytest.raises(RunNotPossible, match="needs a budget"):
        judged_runs.judging(judge, subject)
    estimated = estimate_judging(Judging(judge=judge, subject=subject))
    assert (estimated.questions, estimated.controls, estimated.judged) == (24, 0, 0)
    assert 0 < estimated.expected < estimated.maximum


def test_changed_judge_is_a_new_number(subject: Run):
    judge = judge_of(subject)
    content = JudgeContent("Stricter", judge.model, judged_runs.PAIRWISE, {"temperature": 0})
    assert edit_judge(judge, content).pk == judge.pk
    changed = edit_judge(judge, JudgeContent("Stricter", judge.model, judged_runs.SCORES, {"temperature": 0}))
    assert (changed.number, changed.series, changed.name) == (2, judge.series, "Stricter")
    judge.refresh_from_db()
    assert judge.archived_at is not None
    with pytest.raises(WrongState):
        start_judging(JudgingRequest(judge, subject), owner=subject.owner)
    archive_judge(changed)
    with pytest.raises(WrongState):
        edit_judge(changed, content)


def test_judge_of_earlier_words_is_saved_again(subject: Run, monkeypatch: pytest.MonkeyPatch):
    judge = judge_of(subject)
    monkeypatch.setattr("benchmarks.judges.actions.PROMPT_VERSION", "2")
    with pytest.raises(WrongState, match="new words"):
        judged_runs.judging(judge, subject)
    content = JudgeContent(judge.name, judge.model, judged_runs.PAIRWISE, {"temperature": 0})
    assert edit_judge(judge, content).number == 2


def test_deleted_run_takes_its_judgings_along(subject: Run):
    judging = judged_runs.judging(judge_of(subject), subject, with_card=True)
    with pytest.raises(WrongState, match="at work"):
        delete_run(subject)
    judged_runs.answer(judging, "judge-fair")
    delete_run(subject)
    kept = {model.__name__ for model in (Run, Judging, Judgement, Reply, Judge) if model.objects.exists()}
    assert kept == {"Judge"}
    assert list(Template.objects.values_list("kind", flat=True)) == ["text"]


@pytest.mark.parametrize(
    ("finish_reason", "value"), [("stop", 1.0), ("", 1.0), ("length", None), ("content_filter", None)]
)
def test_answer_that_was_cut_off_has_no_verdict(subject: Run, finish_reason: str, value: float | None):
    reading = VerdictReading(judged_runs.judging(judge_of(subject), subject).run)
    scored = reading.score_at_once(
        reading.read_cases([0])[0], ScoredAnswer(text="Both are short.\nA", finish_reason=finish_reason)
    )
    assert scored.value == value

"""Agreement of people with a judge, with checks and with each other, on pages and in the API."""

import re

import pytest
from django.test import Client

from accounts.actor import Actor
from benchmarks.actions import cancel_run
from benchmarks.actions.deletion import delete_run
from benchmarks.judges.results import read_results
from benchmarks.models import ItemReply, Judge, Reply, Run
from benchmarks.statistics.agreement import LEFT, RIGHT
from models_registry.models import LanguageModel
from reviews import actions
from reviews.agreement.disagreements import find_disagreements, read_disagreements
from reviews.agreement.results import read_agreement
from reviews.models import Review
from tests import make
from tests.reviews.agreement.conftest import vote_as_checks, vote_for
from tests.worlds.benchmarks import judged_runs, samples

pytestmark = pytest.mark.django_db


def text_of(page: bytes) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.decode()).split())


def address_of(review: Review, judge: Judge | None = None) -> str:
    return f"/review/{review.public_id}/agreement/" + (f"{judge.public_id}/" if judge else "")


def test_known_agreement_is_found(closed: Review, judge: Judge):
    found = make.browser(make.member()).get(f"/api/v1/reviews/{closed.public_id}/agreement/").json()
    assert (found["pairs"], found["opinions"]) == (11, 33)
    assert (found["people"]["raw"]["value"], found["people"]["opinions"]) == (pytest.approx(1 / 3), 33)
    [of_judge] = found["judges"]
    assert (of_judge["judge"], of_judge["name"], of_judge["no_board"]) == (judge.public_id, "The longer one", "")
    assert of_judge["agreement"]["raw"]["value"] == pytest.approx(2 / 3)
    assert of_judge["agreement"]["confusion"] == [[12, 0, 6], [0, 10, 5], [0, 0, 0]]
    assert found["checks"]["agreement"]["confusion"] == of_judge["agreement"]["confusion"]
    assert found["checks"]["above_people"]["value"] == of_judge["above_people"]["value"] > 0
    board = of_judge["board"]
    assert (board["opinions"], board["people"], board["cases"]) == (33, 3, 11)
    assert [line["name"] for line in board["lines"]] == ["Gazelle ada", "Gazelle bob"]
    first = board["lines"][0]
    assert first["checks"]["value"] == 1.0
    for name in ("judge", "people", "calibrated"):
        assert first[name]["low"] < first[name]["value"] < first[name]["high"]
    assert first["judge"]["value"] > 1500


def test_owner_reads_agreement_and_disagreements(closed: Review, judge: Judge, browser: Client):
    results = browser.get(f"/review/{closed.public_id}/results/").content.decode()
    assert f'href="{address_of(closed)}"' in results
    page = browser.get(address_of(closed)).content
    text = text_of(page)
    assert "Two people name the same winner in 33.3 %" in text
    assert "The longer one with people Not checked by control pairs yet 66.7 %" in text
    assert "33 opinions on what the judge read · 3 people · 11 cases" in text
    link = f"{address_of(closed, judge)}?judged=0&amp;said=2"
    assert f'<a href="{link}">6</a>' in page.decode()

    shown = text_of(browser.get(link.replace("&amp;", "&")).content)
    assert "Not checked by control pairs yet · 6 pairs of answers" in shown
    assert "Judge Answer 1 People 2 × Answer 1 1 × Answer 2" in shown
    assert "It is LongCapital0 ." in shown
    assert "Answer 1 is better They differ." in shown
    everything = text_of(browser.get(address_of(closed, judge)).content)
    assert "11 pairs of answers" in everything
    assert "Page 1 of 2" in everything
    assert "agree on every pair" in text_of(browser.get(f"{address_of(closed, judge)}?judged=2&said=0").content)
    assert browser.get(f"{address_of(closed, judge)}?judged=x&said=9").status_code == 200


def test_people_who_were_asked_read_figures_but_no_answers(closed: Review, judge: Judge):
    other = make.browser(make.member())
    page = other.get(address_of(closed)).content.decode()
    assert "The longer one" in page
    assert address_of(closed, judge) not in page
    assert other.get(address_of(closed, judge)).status_code == 404


def test_disagreements_follow_the_order_of_the_shown_run(
    judge: Judge, run: Run, owner: Actor, models: list[LanguageModel]
):
    """The judge read the answers of a run whose entrants are in the other order."""
    again = samples.reusing_run(owner.user, run, is_reversed=True)
    review = actions.open_review(actions.create_review(owner=owner.user, run=again))
    vote_for(review, make.member(), models[1])
    found = find_disagreements(review, judge, category=RIGHT, opinion=LEFT)
    assert len(found.rows) == 6
    for _row, pair in read_disagreements(found.answers, judge, found.rows):
        assert [answer.entrant.model for answer in pair.answers] == [models[1], models[0]]
        assert [(verdict.label, verdict.is_swapped) for verdict in pair.verdicts] == [("B>A", False), ("B>A", True)]


def test_hidden_results_hide_agreement(review: Review, judge: Judge, browser: Client, run: Run):
    vote_as_checks(review, make.member())
    page = browser.get(address_of(review))
    assert "The results are hidden" in page.content.decode()
    assert "The longer one" not in page.content.decode()
    assert browser.get(address_of(review, judge)).status_code == 404
    refused = browser.get(f"/api/v1/reviews/{review.public_id}/agreement/")
    assert (refused.status_code, refused.json()["code"]) == (409, "results_hidden")
    judged = browser.get(f"/benchmarks/r/{run.public_id}/judgements/").content.decode()
    assert "Not yet compared with people" in judged


def test_judges_of_the_run_stand_beside_people(closed: Review, judge: Judge, browser: Client, run: Run):
    for path in ("", f"{judge.public_id}/"):
        page = browser.get(f"/benchmarks/r/{run.public_id}/judgements/{path}").content
        text = text_of(page)
        assert "Names people’s winner in 66.7 %" in text
        assert "people each other’s in 33.3 %" in text
        assert "ot yet compared with people" not in text
        for address in (address_of(closed), address_of(closed, judge)):
            assert f'href="{address}"' in page.decode()
    assert "First look · Names people’s winner in 66.7 %" in text_of(
        browser.get(f"/benchmarks/judges/{judge.public_id}/").content
    )


def test_votes_that_do_not_count_are_no_opinions(review: Review, owner: Actor):
    vote_as_checks(review, owner)  # knows the answers
    actions.close_review(review)
    review.refresh_from_db()
    figures = read_agreement(review)
    assert (figures.opinions, figures.people, figures.checks) == (0, None, None)
    page = make.browser(owner).get(address_of(review)).content.decode()
    assert "No opinions to compare" in page


def test_one_person_has_no_ceiling(review: Review):
    vote_as_checks(review, make.member())
    actions.close_review(review)
    review.refresh_from_db()
    figures = read_agreement(review)
    assert (figures.opinions, figures.people) == (11, None)
    [of_judge] = figures.judges
    assert of_judge.comparison.agreement.raw.value == 1.0
    assert (of_judge.board.is_calibrated, of_judge.board.opinions) == (False, 11)
    page = text_of(make.browser(make.member()).get(address_of(review)).content)
    assert "No pair of answers has opinions of two people" in page
    assert "A calibrated score needs 30 opinions about 10 cases." in page
    assert "checks’ means" not in page


def test_sample_of_cases_says_what_checks_are_about(run: Run, judge: Judge, owner: Actor):
    review = actions.open_review(actions.create_review(owner=owner.user, run=run, cases=5))
    vote_as_checks(review, make.member())
    actions.close_review(review)
    page = text_of(make.browser(owner).get(address_of(review)).content)
    assert "The checks’ means are of all questions of the run" in page


def test_adaptive_plans_have_no_calibrated_board(owner: Actor, run: Run, judge: Judge, models: list[LanguageModel]):
    made = actions.create_review(owner=owner.user, run=run, plan="adaptive", hides_results=False)
    review = actions.open_review(made)
    vote_for(review, make.member(), models[0])
    [of_judge] = read_agreement(review).judges
    assert (of_judge.board, of_judge.no_board) == (None, "adaptive")
    assert "which pairs people were shown depended on their votes" in text_of(
        make.browser(owner).get(address_of(review)).content
    )


def test_judge_that_stopped_half_way_has_no_calibrated_board(closed: Review, run: Run, owner: Actor):
    half = judged_runs.judge(make.model(), owner.user, name="Half way")
    judging = judged_runs.answer(judged_runs.judging(half, run), "judge-longer", most=8)
    Run.objects.filter(pk=judging.run_id).update(state="paused", reason="budget")
    by_name = {each.judge.name: each for each in read_agreement(closed).judges}
    assert (by_name["Half way"].board, by_name["Half way"].no_board) == (None, "partial")
    assert by_name["The longer one"].board is not None


def test_cancelled_judge_is_partial_until_all_is_answered(closed: Review, run: Run, owner: Actor):
    half = judged_runs.judge(make.model(), owner.user, name="Half way")
    first = judged_runs.answer(judged_runs.judging(half, run), "judge-longer", most=8)
    cancel_run(first.run)

    def is_partial() -> tuple[str, bool]:
        [result] = read_results(run, [half])
        [board] = [each.no_board for each in read_agreement(closed).judges if each.judge == half]
        return board, result.is_stopped

    assert is_partial() == ("partial", True)
    judged_runs.answer(judged_runs.judging(half, run, is_card=True), "judge-longer")
    assert is_partial() == ("partial", True)
    fewer = judged_runs.answer(judged_runs.judging(half, run, orders="random"), "judge-longer")
    assert 0 < fewer.run.item_count < 22 - 8
    assert is_partial() == ("partial", True)
    cancel_run(judged_runs.judging(half, run, is_prepared=False).run)  # stopped before it stored any question
    assert is_partial() == ("partial", True)
    rest = judged_runs.answer(judged_runs.judging(half, run), "judge-longer")
    assert 8 + fewer.run.item_count + rest.run.item_count == 22
    assert is_partial() == ("", False)


def run_with_one_new_answer(owner: Actor, run: Run) -> Run:
    again = samples.reusing_run(owner.user, run)
    asked_anew = ItemReply.objects.get(item__run=again, item__case__key="land-3", item__entrant__position=0)
    asked_anew.reply = Reply.objects.create(
        model=asked_anew.item.entrant.model,
        owner=owner.user,
        text="It is **LongCapital3**, surely.",
        finish_reason="stop",
    )
    asked_anew.save()
    return again


def test_judge_asked_about_another_run_alone_is_partial(run: Run, judge: Judge, owner: Actor):
    again = run_with_one_new_answer(owner, run)
    review = actions.open_review(actions.create_review(owner=owner.user, run=again))
    vote_as_checks(review, make.member())
    review.refresh_from_db()
    [of_judge] = read_agreement(review).judges
    assert of_judge.comparison is not None
    assert (of_judge.board, of_judge.no_board) == (None, "partial")
    judged_runs.answer(judged_runs.judging(judge, again), "judge-longer")
    assert read_agreement(review).judges[0].no_board == ""


def test_judge_that_lost_judgements_is_partial(run: Run, judge: Judge, owner: Actor, browser: Client):
    again = run_with_one_new_answer(owner, run)
    judged_runs.answer(judged_runs.judging(judge, again), "judge-longer")
    review = actions.open_review(actions.create_review(owner=owner.user, run=again))
    vote_as_checks(review, make.member())
    review.refresh_from_db()

    def lost() -> tuple[int, str]:
        [result], [of_judge] = read_results(again, [judge]), read_agreement(review).judges
        return result.lost, of_judge.no_board

    assert lost() == (0, "")
    delete_run(run)
    assert lost() == (20, "partial")
    page = browser.get(f"/benchmarks/r/{again.public_id}/judgements/").content
    assert "20 judgements were deleted with another run of the same answers" in text_of(page)
    cancel_run(judged_runs.judging(judge, again, is_prepared=False).run)  # stopped before it stored any question
    assert lost() == (20, "partial")
    judged_runs.answer(judged_runs.judging(judge, again), "judge-longer")
    assert lost() == (0, "")


def test_judge_cancelled_on_another_run_is_partial(closed: Review, run: Run, owner: Actor):
    half = judged_runs.judge(make.model(), owner.user, name="Half way")
    other = judged_runs.with_the_same_replies(run)
    judging = judged_runs.answer(judged_runs.judging(half, other), "judge-longer", most=8)
    cancel_run(judging.run)
    by_name = {each.judge.name: each for each in read_agreement(closed).judges}
    assert (by_name["Half way"].board, by_name["Half way"].no_board) == (None, "partial")
    assert read_results(run, [half])[0].is_stopped
    judged_runs.answer(judged_runs.judging(half, run), "judge-longer")
    by_name = {each.judge.name: each for each in read_agreement(closed).judges}
    assert by_name["Half way"].board is not None


def test_judge_that_grades_is_compared_by_its_grades(closed: Review, run: Run, owner: Actor):
    grades = judged_runs.judge(make.model(), owner.user, judged_runs.SCORES, name="Grades")
    judged_runs.answer(judged_runs.judging(grades, run), "judge-grades")
    figures = read_agreement(closed)
    by_name = {each.judge.name: each for each in figures.judges}
    # It gives all answers the same grade.
    assert by_name["Grades"].comparison.agreement.confusion.tolist() == [[0, 0, 0], [12, 10, 11], [0, 0, 0]]
    assert len(figures.between_judges) == 1
    browser = make.browser(owner)
    page = browser.get(address_of(closed)).content.decode()
    assert address_of(closed, grades) in page
    assert "More coefficients" in page
    # People's own α is below that of chance.
    assert "−0." in page
    shown = browser.get(address_of(closed, grades))
    # The grades are equal, and people named a winner on each of eleven pairs.
    assert shown.context["page_obj"].paginator.count == 11
    pairs = shown.context["pairs"]
    assert {(len(pair.answers), len(pair.verdicts)) for _row, pair in pairs} == {(2, 2)}
    assert [answer.entrant.position for answer in pairs[0][1].answers] == [0, 1]
    assert "Answer 1 · right" in text_of(shown.content)


def test_deleted_run_leaves_no_figures(closed: Review, browser: Client):
    Review.objects.filter(pk=closed.pk).update(run=None)
    closed.refresh_from_db()
    figures = read_agreement(closed)
    assert (figures.people, figures.pairs, figures.opinions) == (None, 11, 33)
    page = text_of(browser.get(address_of(closed)).content)
    assert "The run was deleted. Agreement of its 33 opinions is no longer computed" in page
    assert "No opinions to compare" not in page
    in_api = browser.get(f"/api/v1/reviews/{closed.public_id}/agreement/").json()
    assert (in_api["people"], in_api["opinions"]) == (None, 33)

"""Reviews that ask for grades of single answers."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.personal_data import collect_personal_data
from benchmarks.actions.deletion import delete_run
from benchmarks.models import CaseFile, Run
from reviews import actions
from reviews.actions.people import set_aside, take_back
from reviews.errors import AlreadyGraded, NoSuchGrade, ReviewTakesNoVotes
from reviews.models import GradedAnswer, Review, Reviewer, ReviewGrade
from reviews.sweep import sweep
from tests import make
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db
ANSWERS = 15


def opened(owner: Actor, run: Run, asks_for: str = "pass", **terms: object) -> Review:
    made = actions.create_review(owner=owner.user, run=run, asks_for=asks_for, **terms)  # type: ignore[arg-type,misc]
    return actions.open_review(made)


@pytest.fixture
def graded(owner: Actor, sample: Sample) -> Review:
    """An open review that asks all members for one grade of each answer."""
    return opened(owner, sample.run)


def sums(review: Review) -> tuple[int, int]:
    """Return the sums of grades and of leases."""
    rows = GradedAnswer.objects.filter(review=review).values_list("grades", "leases")
    return sum(grades for grades, _leases in rows), sum(leases for _grades, leases in rows)


def grade(person: Actor, review: Review, value: int = 1) -> ReviewGrade:
    drawn = actions.next_answer(person, review)
    assert drawn is not None
    return actions.grade_answer(person, review, drawn.pk, value)


def grade_by_checks(person: Actor, review: Review) -> None:
    while (drawn := actions.next_answer(person, review)) is not None:
        assert drawn.answer.item is not None
        actions.grade_answer(person, review, drawn.pk, int(drawn.answer.item.score == 1))


def test_each_answer_is_graded_once(graded: Review, django_capture_on_commit_callbacks):
    assert (graded.item_count, graded.left_out) == (ANSWERS, {"failed": 1})
    person = make.member()
    drawn = actions.next_answer(person, graded)
    assert drawn == actions.next_answer(person, graded)
    assert sums(graded) == (0, 1)
    with django_capture_on_commit_callbacks(execute=True):
        seen = [grade(person, graded).answer_id for _n in range(ANSWERS)]
    assert len(set(seen)) == ANSWERS
    assert sums(graded) == (ANSWERS, 0)
    with pytest.raises(ReviewTakesNoVotes):  # complete
        actions.next_answer(make.member(), Review.objects.get(pk=graded.pk))


def test_answers_with_the_fewest_grades_come_first(owner: Actor, sample: Sample):
    review = opened(owner, sample.run, opinions_per_item=3)
    for _n in range(3):
        person = make.member()
        for _answer in range(5):
            grade(person, review)
    assert set(GradedAnswer.objects.values_list("grades", flat=True)) == {1}


def test_one_case_does_not_come_twice_in_a_row(graded: Review):
    person = make.member()
    clusters = [grade(person, graded).answer.cluster for _n in range(8)]
    assert all(clusters[n] != clusters[n + 1] for n in range(7))


def test_expired_lease_gives_the_answer_to_others(owner: Actor, sample: Sample):
    review, asleep = opened(owner, sample.run), make.member()
    held = actions.next_answer(asleep, review)
    assert held is not None
    ReviewGrade.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    sweep()
    assert sums(review) == (0, 0)
    assert actions.next_answer(asleep, review) == held
    assert sums(review) == (0, 1)


def test_wrong_second_and_foreign_grades_are_refused(graded: Review):
    person, other = make.member(), make.member()
    drawn = actions.next_answer(person, graded)
    assert drawn is not None
    with pytest.raises(NoSuchGrade):
        actions.grade_answer(person, graded, drawn.pk, 5)
    with pytest.raises(AlreadyGraded):
        actions.grade_answer(other, graded, drawn.pk, 1)
    actions.grade_answer(person, graded, drawn.pk, 1)
    with pytest.raises(AlreadyGraded):
        actions.grade_answer(person, graded, drawn.pk, 0)
    with pytest.raises(DatabaseError, match="a_given_grade"), transaction.atomic():
        ReviewGrade.objects.filter(pk=drawn.pk).update(value=0)


def test_grades_that_do_not_count(owner: Actor, sample: Sample):
    review = opened(owner, sample.run, least_seconds=60)
    assert grade(owner, review).excluded_reason == "knew_answers"
    hasty = make.member()
    assert grade(hasty, review).excluded_reason == "too_fast"
    ReviewGrade.objects.filter(person=hasty.key).delete()
    Review.objects.filter(pk=review.pk).update(state="closed", ended_by="owner", ended_at=timezone.now())
    calm = opened(owner, sample.run)
    assert grade(hasty, calm).excluded_reason == ""
    person = Reviewer.objects.get(review=calm, person=hasty.key)
    set_aside(person, by=owner.user, because="asleep", evidence={})
    assert sums(calm) == (0, 0)
    assert ReviewGrade.objects.get(person=hasty.key).excluded_reason == "set_aside"
    take_back(person, by=owner.user)
    assert sums(calm) == (1, 0)


def test_most_per_person_ends_the_grades(owner: Actor, sample: Sample):
    review, person = opened(owner, sample.run, most_per_person=2), make.member()
    grade(person, review), grade(person, review)
    assert actions.next_answer(person, review) is None


def test_page_grades_without_names_and_scripts(owner: Actor, sample: Sample):
    review = opened(owner, sample.run, audience="everyone", opinions_per_item=2, instructions="Be **strict**.")
    visitor, address = Client(), f"/review/{review.public_id}/grade/"
    assert visitor.get(address)["Location"] == review.get_absolute_url()
    assert "F say that it is correct or incorrect" in visitor.get(review.get_absolute_url()).text
    assert visitor.post(f"/review/{review.public_id}/next/")["Location"] == address
    for _n in range(ANSWERS):
        page = visitor.get(address).text
        assert "What is the capital of" in page
        assert "Expected answer" in page
        assert not any(word in page.lower() for word in ("gazelle", "acme", "900 ms", "names the capital"))
        drawn = ReviewGrade.objects.get(ended_at=None)
        done = visitor.post(address, {"answer": drawn.pk, "value": "1"})
        again = visitor.post(address, {"answer": drawn.pk, "value": "0"})  # a second press
        assert done["Location"] == again["Location"]
    assert done["Location"] == f"{review.get_absolute_url()}?done"
    assert ReviewGrade.objects.filter(value=1).count() == ANSWERS
    assert "Results" in visitor.get(f"/review/{review.public_id}/results/").text
    assert "Gazelle" not in visitor.get(f"/review/{review.public_id}/results/").text


def test_file_of_a_question_is_shown_to_its_people(owner: Actor, sample: Sample):
    review, person = opened(owner, sample.run), make.member()
    browser = make.browser(person)
    upload = CaseFile.objects.get(case__version=sample.run.version_id).upload
    address = f"/uploads/{upload.public_id}/text/"
    assert browser.get(address).status_code == 404
    grade_by_checks(person, review)
    assert browser.get(address).status_code == 200


def test_results_appear_at_the_close(owner: Actor, sample: Sample):
    review = opened(owner, sample.run, opinions_per_item=3)
    for _n in range(2):
        grade_by_checks(make.member(), review)
    browser, address = make.browser(make.member()), f"/review/{review.public_id}/results/"
    assert "Gazelle" not in browser.get(address).text
    api = make.api(owner.user)
    assert api.get(f"/api/v1/reviews/{review.public_id}/results/").status_code == 409
    actions.close_review(review)

    page = browser.get(address).text
    assert page.index("Gazelle ada") < page.index("Gazelle bob")
    assert "30 counted grades" in page
    results = api.get(f"/api/v1/reviews/{review.public_id}/results/").json()
    assert (results["votes_counted"], results["people"], results["results"]) == (2 * ANSWERS, 2, [])
    grades = results["grades"]
    ada, bob = grades["entrants"]
    assert (ada["name"], ada["mean"]["value"], ada["answers"], ada["grades"]) == ("Gazelle ada", 1.0, 8, 16)
    assert (bob["answers"], bob["cases"], bob["mean"]["low"] < bob["mean"]["value"] < bob["mean"]["high"]) == (
        7,
        7,
        True,
    )
    assert (grades["people"]["raw"]["value"], grades["people"]["opinions"]) == (1.0, ANSWERS)
    assert (grades["checks"]["raw"]["value"], grades["checks"]["opinions"]) == (1.0, 2 * ANSWERS)
    agreement = browser.get(f"/review/{review.public_id}/agreement/")
    assert agreement["Location"] == address
    assert api.get(f"/api/v1/reviews/{review.public_id}/agreement/").json()["opinions"] == 0


def test_results_stay_when_the_run_is_deleted(owner: Actor, sample: Sample):
    review = opened(owner, sample.run, asks_for="stars")
    person = make.member()
    for stars in (5, 4, 3):
        grade(person, review, stars)
    actions.close_review(review)
    delete_run(sample.run)
    page = make.browser(make.member()).get(f"/review/{review.public_id}/results/").text
    assert "Gazelle" in page
    assert "3 counted grades" in page


def test_api_gives_answers_and_takes_grades(graded: Review):
    api, address = make.api(make.user()), f"/api/v1/reviews/{graded.public_id}/"
    assert (api.get(address).json()["asks_for"], api.get(address).json()["items"]) == ("pass", ANSWERS)
    shown = api.post(f"{address}next/").json()
    assert sorted(shown) == ["answer", "answers", "expected", "files", "prompts", "values"]
    assert (shown["values"], len(shown["prompts"]), len(shown["answers"])) == ([0, 1], 1, 1)
    body = {"answer": shown["answer"], "value": 1}
    given = api.post(f"{address}grades/", body, "application/json")
    assert (given.status_code, given.json()) == (201, body)
    assert api.post(f"{address}grades/", body, "application/json").json()["code"] == "already_graded"
    assert api.get(address).json()["voted"] == 1


def test_own_grades_are_exported_and_lose_their_person(graded: Review):
    person = make.member()
    given = grade(person, graded)
    [exported] = collect_personal_data(person.user)["grades_in_reviews"]
    assert (exported["review"], exported["asks_for"], exported["value"]) == (graded.public_id, "pass", 1)
    delete_account(person.user)
    given.refresh_from_db()
    assert given.person.startswith("deleted:")


def test_owner_sees_people_who_grade(graded: Review, owner: Actor):
    grade(make.member(), graded)
    browser = make.browser(owner)
    assert browser.get(graded.people_url).status_code == 200
    assert "1 of 15 opinions" in " ".join(browser.get(graded.settings_url).text.split())

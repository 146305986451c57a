"""Grades by hand."""

import re

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from accounts.actor import Actor
from benchmarks import actions
from benchmarks.models import Grade, Run, RunItem
from benchmarks.reports.item_rows import item_rows
from tests import make
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


@pytest.fixture
def member() -> Actor:
    return make.member()


@pytest.fixture
def sample(member: Actor) -> Sample:
    return samples.sample(member.user, [make.model(name=name, slug=name) for name in ("ada", "bob")])


def test_latest_grade_counts(member: Actor, sample: Sample):
    run, item, browser = f"/benchmarks/r/{sample.run.public_id}/", sample.item, make.browser(member)
    assert "Grade answers by hand" in browser.get(run).text
    address = f"{run}items/{item.pk}/grade/"
    assert browser.post(address, {"grade": "fail", "comment": "too short"})["Location"] == f"{run}items/{item.pk}/"
    assert browser.get(f"{run}items/{item.pk}/").context["chosen"] == "fail"
    fragment = browser.post(address, {"grade": "pass", "comment": "<b>fine</b>"}, headers={"HX-Request": "true"}).text
    assert ("<html" in fragment, "&lt;b&gt;fine" in fragment) == (False, True)
    other = RunItem.objects.filter(entrant__run=sample.run, state="scored").exclude(pk=item.pk)[0]
    browser.post(f"{run}items/{other.pk}/grade/", {"grade": "4"})
    page = browser.get(run)
    grades = page.context["grades"]
    assert (grades.items, grades.passed, grades.failed, grades.stars) == (2, 1, 0, 4.0)
    assert grades.next_id not in (None, item.pk, other.pk)
    assert Grade.objects.count() == 3
    rows = browser.get(f"{run}matrix/?only=graded").context["page"].rows
    assert {row.case.pk for row in rows} == {item.case_id, other.case_id}


def test_grading_hides_names_and_shows_the_expected_answer(member: Actor, sample: Sample):
    run, browser = f"/benchmarks/r/{sample.run.public_id}/", make.browser(member)
    first = browser.get(run).context["grades"].next_id
    address = f"{run}items/{first}/"
    assert f'href="{address}?names=hidden"' in browser.get(run).text

    def words(page: str) -> list[bool]:
        return [re.search(rf"\b{word}\b", page) is not None for word in ("ada", "bob", "names the capital")]

    hidden, shown = (browser.get(address + query).text for query in ("?names=hidden", ""))
    case = RunItem.objects.get(pk=first).case
    assert (words(hidden), any(words(shown))) == ([False] * 3, True)
    assert [f'<p class="expected" dir="auto">{case.expected[0]}</p>' in page for page in (hidden, shown)] == [True] * 2
    assert browser.post(f"{address}grade/?names=hidden", {"grade": "pass"})["Location"] == f"{address}?names=hidden"
    graded = browser.get(f"{address}?names=hidden")
    assert graded.context["next_to_grade"] == browser.get(run).context["grades"].next_id != first
    Run.objects.update(published_at=sample.run.created_at)
    assert any(words(Client().get(f"{address}?names=hidden").text))


def test_last_grade_leads_back_to_the_run(member: Actor, sample: Sample):
    answered = RunItem.objects.filter(entrant__run=sample.run, replies__turn=0)
    for item in answered:
        actions.grade_item(grader=member.user, item=item, kind="pass", value=1)
    page = make.browser(member).get(f"/benchmarks/r/{sample.run.public_id}/items/{item.pk}/?names=hidden").text
    assert "Every answer has your grade." in page


def test_export_has_means_of_latest_grades(member: Actor, sample: Sample):
    for grader, value in ((member.user, 1), (member.user, 5), (make.user(), 2)):
        actions.grade_item(grader=grader, item=sample.item, kind="stars", value=value)
    assert [row.grades for row in item_rows(sample.run) if row.grades] == [{"stars": 3.5}]


def test_grade_of_nothing_is_refused(member: Actor, sample: Sample):
    browser, items = make.browser(member), f"/benchmarks/r/{sample.run.public_id}/items/"
    failed = RunItem.objects.get(error="cut", entrant__run=sample.run)
    assert "Only an answer can be graded." in browser.post(f"{items}{failed.pk}/grade/", {"grade": "pass"}).text
    wrong = [{"grade": "6"}, {}, {"grade": "1", "comment": "a" * 2_001}]
    assert [browser.post(f"{items}{sample.item.pk}/grade/", data).status_code for data in wrong] == [422] * 3
    assert browser.post(f"{items}999999/grade/", {"grade": "pass"}).status_code == 404
    assert not Grade.objects.exists()


def test_grades_are_append_only_and_comments_private(member: Actor, sample: Sample):
    grade = Grade.objects.create(item=sample.item, grader=member.user, kind="stars", value=2, comment="my notes")
    for change in ({"value": 3}, {"comment": ""}, {"grader": make.user()}):
        with pytest.raises(DatabaseError, match="a_grade"), transaction.atomic():
            Grade.objects.filter(pk=grade.pk).update(**change)
    Run.objects.update(published_at=sample.run.created_at)
    page = Client().get(f"/benchmarks/r/{sample.run.public_id}/items/{sample.item.pk}/").text
    assert ("2 stars" in page, "my notes" in page, "grade-p" in page) == (True, False, False)
    member.user.delete()
    assert Grade.objects.get().grader is None

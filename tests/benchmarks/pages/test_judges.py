"""Pages: judges, their editor and its trial."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.actor import Actor
from benchmarks.models import Judge
from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.benchmarks import judged_runs

NEW = "/benchmarks/judges/new/"


def form_data(**changes: str) -> dict[str, str]:
    """Return what a browser sends for a new judge with one criterion."""
    anchors = {f"criteria-0-anchor_{point}": "" for point in range(1, 11)}
    data = {
        "name": "Fair", "models": "ada", "kind": "pairwise", "instructions": "Prefer sources.",
        "own_family": "exclude", "temperature": "0", "max_tokens": "", "criteria-TOTAL_FORMS": "1",
        "criteria-INITIAL_FORMS": "0", "criteria-0-name": "Facts", "criteria-0-question": "True?",
        "criteria-0-weight": "2", "criteria-0-points": "3", "question": "", "reference": "", "first": "", "second": "",
    }  # fmt: skip
    return data | anchors | changes


@pytest.mark.django_db
def test_judge_is_made_and_shown(member: Actor, models: list[LanguageModel], browser: Client):
    page = browser.get(NEW).text
    assert ("Correctness" in page, 'name="models" value="ada"' in page) == (True, True)
    made = browser.post(NEW, form_data())
    judge = Judge.objects.get()
    assert made["Location"] == f"/benchmarks/judges/{judge.public_id}/"
    assert (judge.owner_user, judge.model, judge.parameters) == (member.user, models[0], {"temperature": 0})
    assert judge.rubric == {
        "kind": "pairwise", "instructions": "Prefer sources.", "uses_reference": False,
        "criteria": [{"name": "Facts", "question": "True?", "points": 3, "anchors": [], "weight": 2.0}],
    }  # fmt: skip
    shown = browser.get(made["Location"]).text
    for part in ("Fair", "Prefer sources.", "Facts", "Not yet compared with people", "Not checked yet"):
        assert part in shown
    assert "Not checked by control pairs yet" in browser.get("/benchmarks/judges/").text


@pytest.mark.django_db
def test_grades_have_anchors_as_fields(models: list[LanguageModel], browser: Client):
    anchors = {"criteria-0-anchor_1": "wrong", "criteria-0-anchor_3": "right", "criteria-0-anchor_4": "unused"}
    browser.post(NEW, form_data(kind="scores", **anchors))
    judge = Judge.objects.get()
    assert judge.rubric["criteria"][0]["anchors"] == ["wrong", "", "right"]
    edited = browser.get(f"/benchmarks/judges/{judge.public_id}/edit/").text
    assert 'value="right"' in edited
    assert 'value="unused"' not in edited


@pytest.mark.django_db
def test_changed_judge_gets_the_next_number(models: list[LanguageModel], browser: Client):
    browser.post(NEW, form_data())
    first = Judge.objects.get()
    address = f"/benchmarks/judges/{first.public_id}/edit/"
    browser.post(address, form_data(name="Renamed"))
    assert Judge.objects.get().name == "Renamed"
    moved = browser.post(address, form_data(name="Renamed", instructions="Prefer short ones."))
    second = Judge.objects.get(number=2)
    assert moved["Location"] == f"/benchmarks/judges/{second.public_id}/"
    assert "not in use" in browser.get(f"/benchmarks/judges/{first.public_id}/").text
    assert browser.get(address).status_code == 404
    assert [row.judge for row in browser.get("/benchmarks/judges/").context["rows"]] == [second]
    browser.post(f"/benchmarks/judges/{second.public_id}/archive/")
    assert "No judges yet" in browser.get("/benchmarks/judges/").text


@pytest.mark.django_db
def test_criteria_are_added_and_removed_unsaved(models: list[LanguageModel], browser: Client):
    more = browser.post(NEW, form_data(add_criterion="1"))
    assert (more.status_code, 'name="criteria-1-name"' in more.text) == (200, True)
    fewer = browser.post(NEW, form_data(remove_criterion="0"), headers={"HX-Request": "true"})
    assert ("criteria-0-name" in fewer.text, "<html" in fewer.text) == (False, False)
    full = form_data(**{"criteria-TOTAL_FORMS": "10"})
    assert 'name="add_criterion"' not in browser.post(NEW, full).text
    assert not Judge.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": ""}, "This field is required"),
        ({"models": "unknown"}, "Select a valid choice"),
        ({"models": ""}, "Choose the model that judges."),
        ({"criteria-0-name": ""}, "This field is required"),
        ({"criteria-0-weight": "0"}, "greater than or equal to 0.01"),
        ({"criteria-0-points": "11"}, "Select a valid choice"),
        ({"kind": "scores", "criteria-TOTAL_FORMS": "0"}, "Grades need at least one criterion."),
        ({"temperature": "3"}, "less than or equal to 2"),
    ],
)
def test_errors_of_a_judge_are_named(
    models: list[LanguageModel], browser: Client, changes: dict[str, str], sentence: str
):
    refused = browser.post(NEW, form_data(**changes))
    assert (refused.status_code, sentence in refused.text) == (422, True)
    assert not Judge.objects.exists()


@pytest.mark.django_db
def test_two_criteria_of_one_name_are_refused(models: list[LanguageModel], browser: Client):
    again = {f"criteria-1-{name}": value for name, value in (("name", "Facts"), ("weight", "1"), ("points", "5"))}
    refused = browser.post(NEW, form_data(**{"criteria-TOTAL_FORMS": "2"}, **again))
    assert "Another criterion has this name." in refused.text


@pytest.mark.django_db
def test_judges_of_others_are_absent(models: list[LanguageModel], browser: Client):
    browser.post(NEW, form_data())
    address, stranger = f"/benchmarks/judges/{Judge.objects.get().public_id}/", make.browser(make.member())
    assert "No judges yet" in stranger.get("/benchmarks/judges/").text
    assert [stranger.get(f"{address}{path}").status_code for path in ("", "edit/")] == [404, 404]
    assert stranger.post(f"{address}archive/").status_code == 404


@pytest.mark.django_db
def test_list_of_judges_takes_few_queries(
    member: Actor, models: list[LanguageModel], browser: Client, django_assert_max_num_queries: DjangoAssertNumQueries
):
    for number in range(12):
        judged_runs.judge(models[0], member.user, name=f"Judge {number}")
    with django_assert_max_num_queries(12):
        assert "Judge 11" in browser.get("/benchmarks/judges/").text


@pytest.mark.django_db
def test_answer_of_a_run_is_there_to_try_the_judge(member: Actor, models: list[LanguageModel], browser: Client):
    run = judged_runs.answered_run(member.user, models, cases=1)
    first, second = run.items.order_by("entrant__position")
    page = browser.get(f"{NEW}?run={run.public_id}&item={second.pk}").text
    for part in ("Question 0?", "reference 0", "quality 3", "quality 4"):
        assert part in page
    address = f"/benchmarks/judges/new/?run={run.public_id}&amp;item={first.pk}"
    assert address in browser.get(f"/benchmarks/r/{run.public_id}/items/{first.pk}/").text
    assert make.browser(make.member()).get(f"{NEW}?run={run.public_id}&item={first.pk}").status_code == 404


@pytest.mark.django_db
def test_trial_without_texts_names_them(models: list[LanguageModel], browser: Client):
    asked = browser.post(NEW, form_data(name="", **{"try": "1"}), headers={"HX-Request": "true"}).text
    assert ("Question: This field is required." in asked, "Name:" in asked) == (True, False)
    texts = {"question": "Why?", "first": "So."}
    alone = browser.post(NEW, form_data(**{"try": "1"}, **texts)).text
    assert "A judge that compares needs two answers." in alone


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("upstream", "kind", "shown"),
    [
        ("judge-longer", "pairwise", "B is better"),
        ("judge-prose", "pairwise", "The answer does not end with exactly one verdict."),
        ("judge-grades", "scores", "4 of 5"),
        ("judge-cut", "pairwise", "The answer was cut off at its greatest length."),
        ("judge-cut", "scores", "The answer was cut off at its greatest length."),
        ("content-filter", "pairwise", "content filter cut the answer off."),
        ("later-5", "pairwise", "The judge did not answer"),
    ],
)
def test_judge_is_tried_on_pasted_answers(
    reader: Reader, fake_provider: FakeProvider, upstream: str, kind: str, shown: str
):
    make.model(upstream, slug="ada", at=fake_provider.base_url)
    make.user("judging@example.org")
    reader.post("/accounts/login/", data={"login": "judging@example.org", "password": "a-good-password"})
    end = "That is the end."
    texts = {"question": "Why?", "first": f"Its quality 3. {end}", "second": f"Its quality 3 in more words. {end}"}
    criterion = {"criteria-0-name": "right", "criteria-0-points": "5"}
    page = reader.post(NEW, data=form_data(kind=kind, name="", **{"try": "1"}, **criterion, **texts)).text
    found = re.search(r'/benchmarks/judges/trials/[^/"]+/', page)
    assert found, page
    wait_for(lambda: shown in reader.get(found[0]).text)
    again = reader.post(NEW, data=form_data(kind=kind, look=found[0].split("/")[-2], **texts)).text
    assert shown in again
    assert 'value="Fair"' in again
    make.user("another@example.org")
    reader.post("/accounts/logout/")
    reader.post("/accounts/login/", data={"login": "another@example.org", "password": "a-good-password"})
    assert reader.get(found[0]).status_code == 404

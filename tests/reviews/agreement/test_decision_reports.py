"""Decision reports on reviews, and agreement with people in those on runs."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test import Client
from msgspec import UNSET

from accounts.actor import Actor
from benchmarks.actions.deletion import delete_run
from benchmarks.errors import RunInUse
from benchmarks.models import Judge, Run
from models_registry.models import LanguageModel
from reviews import actions as reviews
from reviews.models import DecisionReport, Review
from reviews.publishing import publish
from reviews.reports import actions
from reviews.reports.document import canonical, read
from reviews.reports.figures import figures_of
from reviews.reports.naming import without_names
from tests import make
from tests.reviews.agreement.conftest import vote_as_checks
from tests.reviews.reports.reporting import file_of, page_of
from tests.reviews.reports.test_recompute import recompute

pytestmark = [pytest.mark.django_db, pytest.mark.processes]
QUESTION = "Which one do people prefer?"


@pytest.fixture
def published(closed: Review) -> Review:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # votes are numbered at COMMIT
    publish(closed)
    return closed


@pytest.fixture
def of_review(published: Review, owner: Actor) -> DecisionReport:
    return actions.report_on_review(owner=owner.user, review=published, question=QUESTION)


def test_report_says_who_was_asked_and_how_they_agree(published: Review, browser: Client):
    form = f"/reports/new/?review={published.public_id}"
    assert form in browser.get(f"/review/{published.public_id}/results/").text
    assert "do people prefer" in browser.get(form).context["form"].initial["question"]
    made = browser.post("/reports/new/", {"review": published.public_id, "question": QUESTION}, follow=True)
    report = DecisionReport.objects.get()
    assert (report.subject, made.redirect_chain[-1][0]) == ("campaign", page_of(report))
    for part in (
        QUESTION, "3 people have counted votes: too few to decide anything", "33 counted votes on 11 pairs",
        "Asked were all members of the site.", "closed early by its owner", "Gazelle ada",
        "People with each other", "33.3 %", "The longer one with people", "66.7 %", "Checks with people",
        "Board of The longer one, corrected by 33 opinions", "version 1", report.checksum,
    ):  # fmt: skip
        assert part in made.text, part
    assert "of a review" in browser.get("/reports/").text


def test_report_on_a_sample_says_so(published: Review, owner: Actor, browser: Client, tmp_path: Path):
    whole = actions.report_on_review(owner=owner.user, review=published, question=QUESTION)
    assert read(whole.document).subject.cases is UNSET
    published.cases = 6
    report = actions.report_on_review(owner=owner.user, review=published, question=QUESTION)
    page = browser.get(page_of(report)).text
    assert "It asked about 6 of the run’s cases, drawn at random." in page
    assert "The report agrees" in recompute(tmp_path, file_of(browser, report))


def test_report_of_run_has_agreement_of_its_reviews(published: Review, run: Run, owner: Actor, tmp_path: Path):
    report = actions.report_on_run(owner=owner.user, run=run, question="Which one?")
    figures = read(report.document).figures
    assert [(one.source, one.opinions, round(one.raw.value, 3)) for one in figures.agreement] == [
        ("people", 33, 0.333), ("checks", 33, 0.667), (Judge.objects.get().public_id, 33, 0.667),
    ]  # fmt: skip
    browser = make.browser(owner)
    assert "The longer one with people" in browser.get(page_of(report)).text
    assert "The report agrees" in recompute(tmp_path, file_of(browser, report))


def test_hidden_results_enter_no_report(review: Review, judge: Judge, run: Run, browser: Client, owner: Actor):
    vote_as_checks(review, make.member())
    refused = browser.post("/reports/new/", {"review": review.public_id, "question": QUESTION})
    assert (refused.status_code, "no results yet" in refused.text) == (409, True)
    of_run = actions.report_on_run(owner=owner.user, run=run, question=QUESTION)
    assert read(of_run.document).subject.agreement is None
    assert review.public_id not in of_run.document


def test_report_is_recomputed_without_its_run(of_review: DecisionReport, browser: Client, tmp_path: Path):
    delete_run(Run.objects.filter(is_judging=False).get())
    content = file_of(browser, of_review)
    assert "The report agrees: 2 lines" in recompute(tmp_path, content)
    assert browser.get(page_of(of_review)).status_code == 200
    file = json.loads(content)
    file["report"]["subject"]["agreement"]["people"]["tables"][0][0] += 1
    with pytest.raises(CommandError, match=r"\.figures\.agreement\[0\]\.raw\.value"):
        recompute(tmp_path, json.dumps(file).encode())


def test_report_is_recomputed_while_its_run_is_kept(
    of_review: DecisionReport,
    run: Run,
    browser: Client,
    owner: Actor,
    tmp_path: Path,
):
    reviews.open_review(reviews.create_review(owner=owner.user, run=run))
    with pytest.raises(RunInUse):
        delete_run(run)
    assert "The report agrees" in recompute(tmp_path, file_of(browser, of_review))


def test_numbers_only_name_neither_models_nor_judges(
    of_review: DecisionReport, published: Review, browser: Client, client: Client, tmp_path: Path
):
    browser.post(f"{page_of(of_review)}publish/", {"readers": "numbers"})
    page, file = client.get(page_of(of_review)).text, file_of(client, of_review).decode()
    ids = [published.public_id, published.run.public_id, Judge.objects.get().public_id]
    for text in (page, file):
        assert [name for name in ("Gazelle", "The longer one", '"ada"', '"bob"', *ids) if name in text] == []
    assert "Judge 1 with people" in page
    assert "The report agrees" in recompute(tmp_path, file.encode())


def test_retired_models_are_named(published: Review, models: list[LanguageModel], owner: Actor, browser: Client):
    LanguageModel.objects.filter(pk=models[1].pk).update(status="retired")
    sentence = "Gazelle bob was retired since: it is asked no more."
    assert sentence in " ".join(browser.get(f"/review/{published.public_id}/results/").text.split())
    report = actions.report_on_review(owner=owner.user, review=published, question=QUESTION)
    document = read(report.document)
    assert canonical(document) == report.document
    assert sentence in browser.get(page_of(report)).text
    # It would tell the model's number.
    assert "retired" not in canonical(without_names(document))


def test_report_of_others_is_not_made(published: Review):
    asked = make.browser(make.member())
    form = {"review": published.public_id, "question": QUESTION}
    assert asked.get(f"/reports/new/?review={published.public_id}").status_code == 404
    assert asked.post("/api/v1/reports/", form, content_type="application/json").status_code == 404
    assert not DecisionReport.objects.exists()


def test_report_of_nothing_counted_is_refused(owner: Actor, review: Review):
    reviews.close_review(review)
    answer = make.api(owner.user).post(
        "/api/v1/reports/", {"review": review.public_id, "question": QUESTION}, content_type="application/json"
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_to_report")


def test_document_survives_reading(of_review: DecisionReport, models: list[LanguageModel]):
    document = read(of_review.document)
    assert canonical(document) == of_review.document
    assert figures_of(document.subject) == document.figures
    assert {line.key for line in document.figures.lines} == {model.slug for model in models}

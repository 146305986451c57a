"""Stop rules in decision reports on campaigns."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test import Client
from msgspec import UNSET, structs

from models_registry.models import LanguageModel
from reviews import actions as reviews
from reviews.models import DecisionReport, Review
from reviews.publishing import publish
from reviews.reports import actions
from reviews.reports.document import ContrastInputs, StopRuleInputs, canonical, read
from reviews.reports.figures import figures_of
from reviews.reports.naming import without_names
from tests.reviews.reports.reporting import QUESTION, file_of, page_of
from tests.reviews.reports.test_figures import board, document, line
from tests.reviews.reports.test_printing import campaign
from tests.reviews.reports.test_recompute import recompute
from tests.reviews.test_stop_rule import people, ruled
from tests.worlds.benchmarks.samples import Sample


@pytest.fixture
def review(sample: Sample, models: list[LanguageModel]) -> Review:
    """A review that ended because people preferred the first model, one of them the second."""
    review = ruled(sample)
    people(review, 1, models[1])
    while review.state == Review.State.OPEN:
        people(review, 1, models[0])
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # votes are numbered at COMMIT
    publish(review)
    return review


@pytest.fixture
def report(review: Review, sample: Sample) -> DecisionReport:
    return actions.report_on_review(owner=sample.run.owner, review=review, question=QUESTION)


@pytest.mark.django_db
def test_report_states_what_the_stop_rule_decided(report: DecisionReport, review: Review, browser: Client):
    [stored], [decided] = read(report.document).figures.contrasts, review.contrasts.all()
    assert (stored.first, stored.second, stored.decision) == ("ada", "bob", "better")
    for name in ("decision", "decided_after", "people", "opinions", "mean", "low", "high"):
        assert getattr(stored, name) == pytest.approx(getattr(decided, name)), name
    page, file = browser.get(page_of(report)).text, browser.get(f"{page_of(report)}report.html").text
    for text in (page, file):
        for part in ("What the stop rule decided", "60 : 40 matters", "at most 5 %", "<td>better</td>", "Gazelle ada"):
            assert part in text, part


@pytest.mark.django_db
@pytest.mark.processes
def test_stop_rule_is_recomputed_also_without_names(
    report: DecisionReport, browser: Client, client: Client, tmp_path: Path
):
    content = file_of(browser, report)
    assert "The report agrees" in recompute(tmp_path, content)
    file = json.loads(content)
    contrast = file["report"]["subject"]["stop_rule"]["contrasts"][0]
    assert contrast["means"] == [0.0, *[1.0] * (len(contrast["means"]) - 1)]
    contrast["means"][-1] = 0.5
    with pytest.raises(CommandError, match=r"\.figures\.contrasts\[0\]\.mean"):
        recompute(tmp_path, json.dumps(file).encode())
    actions.publish_report(report, with_names=False)
    nameless = file_of(client, report)
    assert "The report agrees" in recompute(tmp_path, nameless)
    assert [name for name in (b"ada", b"bob", b"Gazelle") if name in nameless] == []
    assert "<td>better</td>" in client.get(page_of(report)).text


@pytest.mark.django_db
def test_review_without_a_rule_has_no_decisions(sample: Sample, models: list[LanguageModel]):
    review = reviews.open_review(reviews.create_review(owner=sample.run.owner, run=sample.run))
    people(review, 1, models[0])
    reviews.close_review(review)
    review.refresh_from_db()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    publish(review)
    report = actions.report_on_review(owner=sample.run.owner, review=review, question=QUESTION)
    assert '"stop_rule"' not in report.document
    assert '"contrasts"' not in report.document


def test_each_word_follows_from_means_of_people():
    means = {
        "better": [1.0] * 30, "worse": [0.0] * 30, "equal": [0.5] * 200, "not_decided": [1.0] * 7,
    }  # fmt: skip
    stop_rule = StopRuleInputs(
        share=60, level=5,
        contrasts=[ContrastInputs(first="a", second=word, means=of, opinions=400) for word, of in means.items()],
    )  # fmt: skip
    subject = structs.replace(campaign(board(line("a", 1600.0))), agreement=None, stop_rule=stop_rule)
    figures = figures_of(subject).contrasts
    assert [one.decision for one in figures] == [one.second for one in figures] == list(means)
    assert [(one.people, one.mean) for one in figures][2:] == [(200, 0.5), (7, 1.0)]
    assert all(one.low <= one.mean <= one.high for one in figures)
    names = {key: key.title() for key in ("a", *means)}
    nameless = without_names(document(subject, names))
    assert sorted(one.decision for one in nameless.figures.contrasts) == sorted(means)
    assert [name for name in names.values() if f'"{name}"' in canonical(nameless)] == []


def test_document_before_stop_rules_keeps_its_text():
    old = document(campaign(board(line("a", 1600.0))), {"a": "Ada"})
    text = canonical(old)
    assert "stop_rule" not in text
    assert canonical(read(text)) == text
    assert read(text).figures.contrasts is UNSET
    assert figures_of(read(text).subject) == read(text).figures

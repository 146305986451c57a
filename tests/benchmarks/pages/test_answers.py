"""Pages: answers of a run."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks.models import Run, RunItem, Template
from benchmarks.queries.matrix import excerpts
from tests import make
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def test_matrix_filters_rows(sample: Sample, browser: Client):
    address = f"/benchmarks/r/{sample.run.public_id}/matrix/"

    def keys(query: str) -> list[str]:
        page = browser.get(f"{address}?{query}", headers={"HX-Request": "true"}).context["page"]
        return [row.case.key for row in page.rows]

    with CaptureQueriesContext(connection) as queries:
        assert len(keys("")) == 8
    assert len(queries) <= 12
    assert keys("only=failed") == ["japan"]
    assert keys("only=disagree") == ["france", "peru", "norway", "ghana"]
    assert "No case matches" in browser.get(f"{address}?only=failures-0").text
    assert keys("only=failures-1") == ["france", "japan", "peru", "norway", "ghana"]
    assert len(keys("only=failures-x")) == 8
    assert keys("tag=europe") == ["france", "norway"]
    assert keys("search=unknown") == ["france", "peru", "norway", "ghana"]
    assert keys("search=nairobi") == ["kenya"]
    assert keys("after=7") == ["nepal"]
    signs = [cell.sign for cell in browser.get(address).context["page"].rows[1].cells]
    assert signs == ["right", "failed"]


def test_partly_correct_answers_disagree_with_wrong_ones(sample: Sample, browser: Client):
    run, items = sample.run, RunItem.objects.filter(entrant__run=sample.run, case__key="ghana")
    address = f"/benchmarks/r/{run.public_id}/matrix/?only=disagree&search=ghana"
    for scores, disagree in (((0.5, 0), True), ((0.5, 0.7), False), ((0, 0), False)):
        for position, score in enumerate(scores):
            items.filter(entrant__position=position).update(passed=False, score=score)
        assert len(browser.get(address).context["page"].rows) == disagree


def test_item_and_case_show_answers_safely(sample: Sample, browser: Client):
    item = sample.item
    item.replies.get().reply.__class__.objects.update(text="**Paris** <script>alert(1)</script>")
    page = browser.get(f"/benchmarks/r/{sample.run.public_id}/items/{item.pk}/").text
    for part in ("What is the capital of France?", "<strong>Paris</strong>", "Let me think.", "names the capital"):
        assert part in page
    assert "<script>alert" not in page
    both = browser.get(f"/benchmarks/r/{sample.run.public_id}/case/{item.case_id}/")
    assert [reply.entrant.model.slug for reply in both.context["replies"]] == ["ada", "bob"]
    failed = RunItem.objects.get(error="cut", entrant__run=sample.run)
    assert "broke before" in browser.get(f"/benchmarks/r/{sample.run.public_id}/items/{failed.pk}/").text
    assert browser.get(f"/benchmarks/r/{sample.run.public_id}/items/999999/").status_code == 404


def test_published_run_is_read_only_and_holds_out(sample: Sample):
    run, address = sample.run, f"/benchmarks/r/{sample.run.public_id}/"
    paths = ["", "matrix/", f"items/{sample.item.pk}/", f"case/{sample.item.case_id}/"]
    statuses = [Client().get(address + path).status_code for path in paths]
    assert statuses == [404] * 4
    Run.objects.filter(pk=run.pk).update(published_at=run.created_at)
    assert [Client().get(address + path).status_code for path in paths] == [200] * 4
    stranger = make.browser(make.member())
    assert stranger.post(f"{address}do/retry/").status_code == 404
    assert "Retry what failed" not in stranger.get(address).text
    Template.objects.update(held_out=True)
    assert [stranger.get(address + path).status_code for path in paths] == [200, 200, 404, 404]
    assert "france" not in stranger.get(f"{address}matrix/?search=paris").text


def test_matrix_shows_wrong_and_unscored_answers(sample: Sample, browser: Client):
    item = sample.run.items.get(case__key="kenya", entrant__position=1)
    RunItem.objects.filter(pk=item.pk).update(score=None, passed=None)

    def keys(only: str) -> list[str]:
        page = browser.get(f"/benchmarks/r/{sample.run.public_id}/matrix/?only={only}").context["page"]
        return [row.case.key for row in page.rows]

    assert (keys("wrong"), keys("unscored")) == (["france", "peru", "norway", "ghana"], ["kenya"])


def test_matrix_shows_beginnings_of_answers(sample: Sample, browser: Client):
    address = f"/benchmarks/r/{sample.run.public_id}/matrix/"
    page = browser.get(address)
    assert "only failures of" in page.text
    for part in (
        "What is the capital of France?", ">Paris</p>",
        "It is <mark>Paris</mark>.", "It is <mark>unknown</mark>.", "It is Nairobi.",
        "The connection broke before the answer was complete.",
    ):  # fmt: skip
        assert part in page.text, part
    Run.objects.filter(pk=sample.run.pk).update(published_at=sample.run.created_at)
    Template.objects.update(held_out=True)
    strangers = Client().get(address).text
    assert [part for part in ("capital of", "Paris", "It is", "unknown") if part in strangers] == []


def test_words_of_one_answer_are_told_from_shared_ones():
    texts = ["It is  **Lyon**, a city.", "it is PARIS, the big city", ""]
    assert excerpts(texts) == [
        (("It is  ", False), ("Lyon, a", True), (" city.", False)),
        (("it is ", False), ("PARIS, the big", True), (" city", False)),
        (),
    ]
    assert excerpts(["2**10 is **1,024**", ""]) == [(("2**10 is 1,024", False),), ()]
    assert excerpts(["word" * 40]) == [(("word" * 24 + "wor…", False),)]

"""Changes between versions of a template."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks import actions
from benchmarks.editing.changes import FieldChange, read_changes
from benchmarks.editing.text_diffs import diff
from benchmarks.models import Case, Template
from benchmarks.pasting import PastedCase
from tests import make
from tests.worlds.benchmarks import samples


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("one two", "one three", "one -two+three"),
        ("", "new", "+new"),
        ("a\n" * 900, "a\n" * 899 + "b\n", "a\n" * 899 + "-a\n+b\n"),
        ("a\n" * 3_000, "b", "-" + "a\n" * 3_000 + "+b"),
    ],
)
def test_texts_are_compared(before: str, after: str, shown: str):
    signs = {"same": "", "added": "+", "removed": "-"}
    assert "".join(signs[part.kind] + part.text for part in diff(before, after)) == shown


def texts(field: FieldChange) -> list[str]:
    return [part.text for part in field.parts if part.kind != "same"]


@pytest.mark.processes
@pytest.mark.django_db
def test_changes_of_versions_are_listed():
    member = make.member()
    sample = samples.sample(member.user, [make.model()])
    samples.change_draft(sample)
    before, after = sample.template.versions.order_by("number")
    actions.add_cases(after, [PastedCase("Mali", {"country": "Mali"}, ["Bamako"])])
    with CaptureQueriesContext(connection) as queries:
        changes = read_changes(before, after)
    assert len(queries) <= 13
    assert [texts(field) for field in changes.settings] == [['"max_tokens":50,']]
    [prompt] = changes.prompts
    assert (prompt.kind, prompt.name) == ("changed", "plain")
    [check] = changes.checks
    assert [(field.label, texts(field)) for field in check.fields] == [("Passes from", ["0.5"])]
    assert [(case.kind, case.name) for case in changes.cases.listed] == [
        ("changed", "japan"), ("added", "Mali"), ("removed", "france"),
    ]  # fmt: skip
    [country, expected] = changes.cases.listed[0].fields
    assert (texts(country), texts(expected)) == (["Japan", "Canada"], ["Tokyo", "Ottawa"])
    Case.objects.filter(version=after, key="peru").update(tags=["far", "<b>"], checks=[])
    page = make.browser(member).get(f"/benchmarks/t/{sample.template.public_id}/changes/")
    assert "<ins>Canada</ins>" in page.text
    assert "&lt;b&gt;" in page.text
    assert (page.context["before"], page.context["after"]) == (before, after)


@pytest.mark.processes
@pytest.mark.django_db
def test_changed_checks_are_shown_in_words_of_their_fields():
    sample = samples.sample(make.user(), [make.model()])
    samples.change_draft(sample)
    before, after = sample.template.versions.order_by("number")
    settings, steps = {"ignore_case": True}, [{"step": "last_line"}]
    after.checks.update(target=["Oslo", "Bergen"], settings=settings, extract=steps, threshold=None, negate=True)
    [check] = read_changes(before, after).checks
    assert {field.label: texts(field) for field in check.fields} == {
        "Capital and small letters are the same": ["yes"], "Right answers": ["Oslo\nBergen"],
        "Look at": ["whole", "last", "answer", "line"], "Swap right and wrong": ["yes"],
    }  # fmt: skip
    after.checks.update(settings={"unknown": 1})
    [check] = read_changes(before, after).checks
    assert ("Settings", ['{\n  "unknown": 1\n}']) in [(field.label, texts(field)) for field in check.fields]


@pytest.mark.processes
@pytest.mark.django_db
def test_changes_need_two_visible_versions():
    member = make.member()
    sample = samples.sample(member.user, [make.model()])
    Template.objects.update(visibility="site")
    owner, stranger = make.browser(member), make.browser(make.member())
    address = f"/benchmarks/t/{sample.template.public_id}/changes/"
    assert "Nothing differs" in owner.get(address).text
    assert stranger.get(address).status_code == 404
    assert [owner.get(f"{address}?{query}").status_code for query in ("before=9", "after=x")] == [404, 404]

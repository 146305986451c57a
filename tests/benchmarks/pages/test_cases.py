"""Pages: table of cases."""

import pytest
from django.test import Client

from accounts.actor import Actor
from benchmarks import actions
from benchmarks.models import Case, Template
from benchmarks.pasting import PastedCase
from tests.worlds.benchmarks import samples

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


@pytest.fixture
def template(member: Actor) -> Template:
    return samples.template(member.user, cases=False)


@pytest.fixture
def cases(template: Template) -> list[Case]:
    rows = [PastedCase(key="fr", variables={"country": "France"}, tags=["near"]),
            PastedCase(key="2", variables={"country": "Peru"})]  # fmt: skip
    actions.add_cases(template.versions.get(), rows)
    return list(Case.objects.order_by("position"))


def test_pasted_table_becomes_cases(template: Template, browser: Client):
    table = 'key\tcountry\texpected\ttags\nfr\t"France\nis big"\tParis\tnear, big\n\tPeru\t["Lima", "lima"]\t'
    assert browser.post(f"/benchmarks/t/{template.public_id}/paste/", {"table": table}).status_code == 302
    first, second = Case.objects.order_by("position")
    assert (first.variables, first.expected, first.tags) == ({"country": "France\nis big"}, ["Paris"], ["near", "big"])
    assert (second.key, second.expected) == ("2", ["Lima", "lima"])


def test_pasted_table_with_errors_is_refused_whole(template: Template, browser: Client):
    table = "key\tcountry\na\tx\na\ty\nb\tz\textra"
    bad = browser.post(f"/benchmarks/t/{template.public_id}/paste/", {"table": table})
    assert bad.status_code == 422
    assert "Line 3: the key “a” is that of line 2." in bad.text
    assert "Line 4 has more cells than the first row." in bad.text
    assert Case.objects.count() == 0


def test_cells_are_edited_and_rows_deleted(template: Template, cases: list[Case], browser: Client):
    first, second = cases
    cells = {
        f"{first.pk}-key": "france", f"{first.pk}-0": "La France", f"{first.pk}-expected": "Paris",
        f"{first.pk}-tags": "", f"{second.pk}-key": "2", f"{second.pk}-delete": "on",
    }  # fmt: skip
    assert browser.post(f"/benchmarks/t/{template.public_id}/cases/", cells).status_code == 302
    assert list(Case.objects.values_list("key", "variables", "expected", "tags")) == [
        ("france", {"country": "La France"}, ["Paris"], [])
    ]


def test_refused_cells_keep_the_typed_text(template: Template, cases: list[Case], browser: Client):
    cells = {f"{cases[0].pk}-key": "", f"{cases[0].pk}-0": "typed"}
    empty = browser.post(f"/benchmarks/t/{template.public_id}/cases/", cells)
    assert empty.status_code == 422
    assert "typed" in empty.text

"""Pages: a template from a spreadsheet, without a line of JSON."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.actor import Actor
from benchmarks.models import ImportLook, Template
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.processes]

TABLE = "id\tFrage\tAntwort\tThema\nfr\tHauptstadt von Frankreich?\tParis\tgeo\njp\tHauptstadt von Japan?\tTokio\tgeo\n"
CHOSEN = {"question": "Frage", "answer": "Antwort", "rule": "contains_any", "name": "Hauptstädte"}


def pasted(browser: Client, table: str = TABLE) -> dict[str, str]:
    """Return the id of the table that the page shows."""
    page = browser.post("/benchmarks/new/", {"table": table})
    assert page.status_code == 200
    assert [page.context["columns"][name].value() for name in ("question", "answer")] == ["Frage", "Antwort"]
    assert page.context["columns"]["name"].value()
    return {"source": page.context["source_id"]}


def test_pasted_table_has_name_of_first_question(browser: Client):
    names = []
    for question in ("Hauptstadt von Japan?", "Wie viele Inseln hat " + "sehr " * 20, ""):
        page = browser.post("/benchmarks/new/", {"table": f"Frage\tAntwort\n{question}\tviele\nx\ty\n"})
        names.append(page.context["columns"]["name"].value())
    assert names[0] == "Hauptstadt von Japan?"
    assert (names[1][:30], len(names[1]), names[1][-1]) == ("Wie viele Inseln hat sehr sehr", 60, "…")
    assert names[2]


def test_pasted_table_becomes_template_in_two_steps(member: Actor, browser: Client):
    start = browser.get("/benchmarks/new/")
    assert "Paste from a spreadsheet" in start.text
    source = pasted(browser)
    assert Template.objects.count() == 0
    stored = browser.post("/benchmarks/new/", source | CHOSEN)
    template = Template.objects.get(owner_user=member.user)
    assert stored["Location"] == f"/benchmarks/t/{template.public_id}/"
    draft = template.versions.get()
    assert template.name == "Hauptstädte"
    assert [message["template"] for message in draft.prompts.get().messages] == ["{{ Frage }}"]
    [check] = draft.checks.all()
    assert (check.key, check.scorer, check.settings) == (
        "contains the expected text", "contains_any", {"ignore_case": True},
    )  # fmt: skip
    cases = [(case.key, case.variables, case.expected, case.tags) for case in draft.cases.all()]
    assert cases == [
        ("fr", {"Frage": "Hauptstadt von Frankreich?"}, ["Paris"], ["geo"]),
        ("jp", {"Frage": "Hauptstadt von Japan?"}, ["Tokio"], ["geo"]),
    ]
    page = browser.get(stored["Location"])
    assert "The template is ready." in page.text
    assert "Start a run" in page.text
    assert browser.get(f"{stored['Location']}edit/").context["editor"].checks.forms[0]["kind"].value() == "contains_any"


def test_file_is_read_and_columns_are_guessed(member: Actor, browser: Client):
    file = SimpleUploadedFile("sums.csv", b"answer,question\n4,2 + 2?\n6,3 + 3?\n")
    page = browser.post("/benchmarks/new/", {"table": "", "file": file})
    form = page.context["columns"]
    assert [form[name].value() for name in ("name", "answer", "rule")] == ["sums", "answer", "contains_any"]
    assert form["question"].value() == "question"
    stored = {"source": page.context["source_id"], "question": "question", "answer": "answer", "name": "Sums"}
    assert browser.post("/benchmarks/new/", stored | {"rule": "number"}).status_code == 302
    assert Template.objects.get().versions.get().checks.get().scorer == "number"


@pytest.mark.parametrize(
    ("rule", "answers", "settings"),
    [("choice", ("B", "F"), {"choices": 6}), ("choice", ("a", "b"), {"choices": 4}), ("by_hand", ("x", "y"), None)],
)
def test_rule_becomes_the_check(
    member: Actor, browser: Client, rule: str, answers: tuple[str, str], settings: dict[str, int] | None
):
    source = pasted(browser, f"Frage\tAntwort\nA?\t{answers[0]}\nB?\t{answers[1]}\n")
    assert browser.post("/benchmarks/new/", source | CHOSEN | {"rule": rule}).status_code == 302
    checks = Template.objects.get().versions.get().checks.all()
    assert [check.settings for check in checks] == ([] if settings is None else [settings])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"answer": ""}, "or judge by hand"),
        ({"answer": "Frage"}, "another column"),
        ({"name": ""}, "This field is required"),
        ({"rule": "number"}, "Case fr: &#x27;Paris&#x27; is not one number."),
    ],
)
def test_refused_choice_keeps_the_table(member: Actor, browser: Client, changed: dict[str, str], sentence: str):
    source = pasted(browser)
    refused = browser.post("/benchmarks/new/", source | CHOSEN | changed)
    assert (refused.status_code, Template.objects.count()) == (422, 0)
    assert sentence in refused.text
    assert browser.post("/benchmarks/new/", source | CHOSEN).status_code == 302


def test_bad_tables_are_refused_with_their_lines(member: Actor, browser: Client):
    assert "Paste a table, or choose a file." in browser.post("/benchmarks/new/", {"table": " "}).text
    ragged = browser.post("/benchmarks/new/", {"table": "a\tb\n1\t2\t3\n"})
    assert (ragged.status_code, "Row 2:" in ragged.text) == (422, True)
    empty = browser.post("/benchmarks/new/", {"table": "", "file": SimpleUploadedFile("a.csv", b"\xff\xfe\x00")})
    assert empty.status_code == 422
    source = pasted(browser)
    stranger = make.browser(make.member())
    assert stranger.post("/benchmarks/new/", source | CHOSEN)["Location"] == "/benchmarks/new/"
    ImportLook.objects.all().delete()
    assert "This import is gone." in browser.post("/benchmarks/new/", source | CHOSEN, follow=True).text


def test_parts_of_a_table_that_are_not_read_are_named(member: Actor, browser: Client):
    file = SimpleUploadedFile("sums.csv", b"Our sums,\nquestion,answer\n2 + 2?,4\n,\n,\n3 + 3?,6\n")
    page = browser.post("/benchmarks/new/", {"table": "", "file": file})
    assert sorted(line["code"] for line in page.context["left_out"]) == ["empty_rows", "title_row"]
    for line in page.context["left_out"]:
        assert line["sentence"] in page.text

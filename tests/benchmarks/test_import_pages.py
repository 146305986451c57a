"""Pages of imports."""

import io
import json

import pytest
import xlsxwriter
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from benchmarks.models import ImportLook, Run, Template
from tests import make
from tests.worlds.benchmarks import samples

pytestmark = [pytest.mark.django_db, pytest.mark.processes]

TABLE = b"id,country,expected\nfr,France,Paris\njp,Japan,Tokyo\n"


def upload(browser: Client, content: bytes, name: str = "cases.csv", **data: str) -> tuple[int, str, str]:
    """Return status, page and the id of the preview, "" if the file is refused."""
    response = browser.post("/benchmarks/import/", {"file": SimpleUploadedFile(name, content), **data})
    preview = response.context["preview"] if response.context and "preview" in response.context else None
    return response.status_code, response.text, preview.id if preview else ""


def test_file_is_previewed_then_stored():
    member = make.member()
    browser, stranger = make.browser(member), make.browser(make.member())
    assert "/benchmarks/import/" in browser.get("/benchmarks/").text
    status, page, preview = upload(browser, TABLE)
    assert (status, "2 cases" in page, Template.objects.count()) == (200, True, 0)
    assert stranger.post("/benchmarks/import/apply/", {"preview": preview})["Location"] == "/benchmarks/import/"
    stored = browser.post("/benchmarks/import/apply/", {"preview": preview})
    template = Template.objects.get(owner_user=member.user)
    assert stored["Location"] == f"/benchmarks/t/{template.public_id}/edit/"
    assert list(template.versions.get().cases.values_list("key", flat=True)) == ["fr", "jp"]
    again = browser.post("/benchmarks/import/apply/", {"preview": preview}, follow=True)
    assert "This import is gone." in again.text


def test_refused_file_shows_its_lines():
    browser = make.browser(make.member())
    status, page, preview = upload(browser, b"id,country\nfr,France\nfr,<b>Japan\n")
    assert (status, preview, bytes(ImportLook.objects.get().content)) == (422, "", b"")
    assert "line 3" in page
    assert "The file was refused: nothing is stored." in page
    assert "<b>Japan" not in page
    assert upload(browser, b"")[0] == 422
    assert browser.post("/benchmarks/import/", {}).status_code == 422


def test_columns_get_other_roles_and_answers_a_run():
    member = make.member()
    browser = make.browser(member)
    table = b"Frage,Antwort,Land,ada\n2 + 2?,4,FR,vier\n3 + 3?,6,DE,6\n"
    _status, page, _look = upload(browser, table)
    source = ImportLook.objects.get().public_id
    assert 'name="role-3"' in page
    roles = {"role-0": "prompt", "role-1": "expected", "role-2": "metadata", "role-3": "reply", "name-2": "country"}
    names = {f"name-{number}": "" for number in (0, 1, 3)}
    wrong = browser.post("/benchmarks/import/columns/", {**names, **roles, "role-2": "weight", "source": source})
    assert (wrong.status_code, "This is not a number." in wrong.text) == (422, True)
    again = {**names, **roles, "source": ImportLook.objects.get().public_id}
    assert make.browser(make.member()).post("/benchmarks/import/columns/", again).status_code == 302
    shown = browser.post("/benchmarks/import/columns/", again)
    assert ("Also store the 2 answers" in shown.text, 'value="country"' in shown.text) == (True, True)
    preview = shown.context["preview"]
    [prompt] = preview.imported.template.prompts
    assert prompt.messages[0].text == "{{ Frage }}"
    stored = browser.post("/benchmarks/import/apply/", {"preview": preview.id, "with_answers": "on"})
    run = Run.objects.get(owner=member.user)
    assert stored["Location"] == f"/benchmarks/r/{run.public_id}/"
    case = run.version.cases.all()[0]
    assert (case.variables, case.expected, case.metadata) == ({"Frage": "2 + 2?"}, ["4"], {"country": "FR"})
    items = run.items.order_by("case__position")
    assert list(items.values_list("entrant__imported", "replies__reply__text")) == [("ada", "vier"), ("ada", "6")]


def test_another_sheet_is_chosen_without_the_file():
    member, out = make.member(), io.BytesIO()
    browser = make.browser(member)
    with xlsxwriter.Workbook(out) as book:
        book.add_worksheet("Deckblatt")
        for name in ("Fragen", "Mehr"):
            book.add_worksheet(name).write_column(0, 0, ["Frage", f"{name}?"])
    status, page, _preview = upload(browser, out.getvalue(), name="fragen.xlsx")
    assert (status, "The file is empty." in page) == (422, True)
    for name in ("Fragen", "Mehr"):
        source = ImportLook.objects.get().public_id
        shown = browser.post("/benchmarks/import/columns/", {"source": source, "sheet": name, "role-0": "ignore"})
        assert (shown.status_code, f"The sheet “{name}” is read." in shown.text) == (200, True)
        assert f"<bdi>{name}?</bdi>" in shown.text
    wrong = browser.post("/benchmarks/import/columns/", {"source": source, "sheet": "None", "role-0": "prompt"})
    assert wrong.status_code in (302, 422)


def test_another_encoding_is_chosen_without_the_file():
    browser = make.browser(make.member())
    status, page, _preview = upload(browser, "Frage;Antwort\nmañana?;s\xed\n".encode("cp1252"))
    assert (status, "seems to be in the encoding Windows-1252" in page) == (200, True)
    assert "mañana?;sí (Windows-1252)" in page
    sent = {"source": ImportLook.objects.get().public_id, "encoding": "Windows-1250", "role-0": "prompt",
            "role-1": "expected"}  # fmt: skip
    shown = browser.post("/benchmarks/import/columns/", sent)
    assert (shown.status_code, "mańana?" in shown.text, "Windows-1250" in shown.text) == (200, True, True)
    again = {**sent, "source": ImportLook.objects.get().public_id, "role-1": "metadata"}
    assert "mańana?" in browser.post("/benchmarks/import/columns/", again).text
    file = SimpleUploadedFile("cases.csv", "q\nmañana\n".encode("cp1252"))
    told = browser.post("/api/v1/benchmarks/imports/", {"file": file, "encoding": "IBM850"}).json()["report"]
    assert [line["sentence"] for line in told if line["code"] == "encoding_assumed"] == [
        "The text seems to be in the encoding IBM850."
    ]


@pytest.mark.parametrize("role", ["weight", "variable:", "nothing", "nothing:a"])
def test_api_takes_the_same_roles(role: str):
    api = make.browser(make.member())

    def preview(mapping: object) -> HttpResponse:
        file = SimpleUploadedFile("cases.csv", b"Frage,Zahl\nwhat?,2\n")
        return api.post("/api/v1/benchmarks/imports/", {"file": file, "mapping": json.dumps(mapping)})

    response = preview({"Frage": "variable:question", "Zahl": role})
    if role != "weight":
        assert (response.status_code, "role" in response.text) == (422, True)
        assert preview({"Frage": 1}).status_code == 400
        return
    assert response.json()["columns"] == [
        {"name": "Frage", "role": "variable:question"}, {"name": "Zahl", "role": "weight"},
    ]  # fmt: skip
    stored = api.post(
        f"/api/v1/benchmarks/imports/{response.json()['id']}/apply/", "{}", content_type="application/json"
    )
    assert (stored.status_code, stored.json()["prompts"][0]["messages"][0]["template"]) == (201, "{{ question }}")


def test_import_becomes_next_draft_of_own_template():
    member = make.member()
    browser = make.browser(member)
    sample = samples.sample(member.user, [make.model()])
    public_id = sample.template.public_id
    assert "next draft" in browser.get(f"/benchmarks/import/?template={public_id}").text
    assert make.browser(make.member()).get(f"/benchmarks/import/?template={public_id}").status_code == 404
    _status, _page, preview = upload(browser, TABLE, template=public_id)
    sent = {"preview": preview, "template": public_id}
    assert "The template has a draft." in browser.post("/benchmarks/import/apply/", sent, follow=True).text
    sample.template.versions.get(state="draft").delete()
    browser.post("/benchmarks/import/apply/", sent)
    assert sample.template.versions.get(state="draft").case_count == 2


@pytest.mark.parametrize(("columns", "is_offered"), [(300, True), (301, False)])
def test_roles_are_offered_for_300_columns(columns: int, is_offered: bool):
    names, cells = (",".join(f"{sign}{number}" for number in range(columns)) for sign in "cx")
    _status, page, _look = upload(make.browser(make.member()), f"{names}\n{cells}\n".encode())
    assert ('name="role-0"' in page) is is_offered

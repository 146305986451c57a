"""Pages of imports."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from benchmarks.models import ImportLook, Template
from tests import make
from tests.benchmarks import samples

pytestmark = pytest.mark.django_db

TABLE = b"id,country,expected\nfr,France,Paris\njp,Japan,Tokyo\n"


def upload(browser: Client, content: bytes, **data: str) -> tuple[int, str, str]:
    """Return status, page and the id of the look, "" if the file is refused."""
    response = browser.post("/benchmarks/import/", {"file": SimpleUploadedFile("cases.csv", content), **data})
    look = response.context["look"] if response.context and "look" in response.context else None
    return response.status_code, response.text, look.id if look else ""


def test_file_is_looked_at_then_stored():
    member = make.member()
    browser, stranger = make.browser(member), make.browser(make.member())
    assert "/benchmarks/import/" in browser.get("/benchmarks/").text
    status, page, look = upload(browser, TABLE)
    assert (status, "2 cases" in page, Template.objects.count()) == (200, True, 0)
    assert stranger.post("/benchmarks/import/apply/", {"look": look})["Location"] == "/benchmarks/import/"
    stored = browser.post("/benchmarks/import/apply/", {"look": look})
    template = Template.objects.get(owner_user=member.user)
    assert stored["Location"] == f"/benchmarks/t/{template.public_id}/edit/"
    assert list(template.versions.get().cases.values_list("key", flat=True)) == ["fr", "jp"]
    again = browser.post("/benchmarks/import/apply/", {"look": look}, follow=True)
    assert "This import is gone." in again.text


def test_refused_file_shows_its_lines():
    browser = make.browser(make.member())
    status, page, look = upload(browser, b"id,country\nfr,France\nfr,<b>Japan\n")
    assert (status, look, ImportLook.objects.count()) == (422, "", 0)
    assert "line 3" in page
    assert "The file was refused: nothing is stored." in page
    assert "<b>Japan" not in page
    assert upload(browser, b"")[0] == 422
    assert browser.post("/benchmarks/import/", {}).status_code == 422


def test_import_becomes_next_draft_of_own_template():
    member = make.member()
    browser = make.browser(member)
    sample = samples.sample(member.user, [make.model()])
    public_id = sample.template.public_id
    assert "next draft" in browser.get(f"/benchmarks/import/?template={public_id}").text
    assert make.browser(make.member()).get(f"/benchmarks/import/?template={public_id}").status_code == 404
    _status, _page, look = upload(browser, TABLE, template=public_id)
    sent = {"look": look, "template": public_id}
    assert "The template has a draft." in browser.post("/benchmarks/import/apply/", sent, follow=True).text
    sample.template.versions.get(state="draft").delete()
    browser.post("/benchmarks/import/apply/", sent)
    assert sample.template.versions.get(state="draft").case_count == 2

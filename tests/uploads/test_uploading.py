import errno
import hashlib
import threading
from pathlib import Path

import pytest
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Scope
from tests import make
from tests.site import Reader
from tests.uploads import kinds, offices, pdfs, pictures
from tests.uploads.conftest import stored_files
from tests.waiting import wait_for
from uploads.files.names import sanitize_name
from uploads.models import Extraction, Upload

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = b"A lighthouse by the sea.\nIt blinks.\n"


def send(reader: Reader, content: bytes = TEXT, name: str = "notes.txt", **options):
    return reader.post("/api/v1/uploads/", files={"file": (name, content)}, **options)


def refusal(response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


@pytest.fixture
def member(site: str) -> Reader:
    token = make.token(scopes=[Scope.READ, Scope.BATTLE])
    return Reader(site, token)


def test_text_file_is_stored_unchanged_and_ready(reader: Reader):
    response = send(reader)
    assert response.status_code == 201
    upload = response.json()
    assert upload | {"id": "", "created_at": ""} == {
        "id": "", "name": "notes.txt", "media_type": "text/plain", "kind": "document", "size": len(TEXT),
        "sha256": hashlib.sha256(TEXT).hexdigest(), "state": "ready", "pages": 1, "pages_read": None,
        "characters": len(TEXT) - 1, "encoding": "UTF-8", "notes": [], "error": None, "created_at": "",
    }  # fmt: skip
    assert reader.api("GET", f"uploads/{upload['id']}/").json() == upload
    assert reader.api("GET", "uploads/").json()["results"] == [upload]
    original = reader.get(f"/api/v1/uploads/{upload['id']}/file/")
    assert original.content == TEXT
    assert original.headers["content-disposition"] == 'attachment; filename="notes.txt"'
    assert original.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in original.headers["content-security-policy"]
    sent = reader.get(f"/api/v1/uploads/{upload['id']}/text/").text
    assert sent == "--- File “notes.txt” ---\nA lighthouse by the sea.\nIt blinks.\n--- End of “notes.txt” ---"


@pytest.mark.processes
def test_pdf_is_read_by_a_worker_page_by_page(reader: Reader):
    response = send(reader, pdfs.with_text("first page", "second page"), "report.pdf")
    assert response.status_code == 202
    upload = wait_until_read(reader, response.json())
    assert (upload["state"], upload["media_type"], upload["pages"]) == ("ready", "application/pdf", 2)
    sent = reader.get(f"/api/v1/uploads/{upload['id']}/text/").text
    assert "[Page 1]\nfirst page\n\n[Page 2]\nsecond page" in sent


def wait_until_read(reader: Reader, upload: dict) -> dict:
    def seen() -> dict:
        return reader.api("GET", f"uploads/{upload['id']}/").json()

    wait_for(lambda: seen()["state"] != "extracting")
    return seen()


@pytest.mark.processes
def test_scanned_pdf_fails_without_text(reader: Reader):
    upload = wait_until_read(reader, send(reader, pdfs.scanned(), "scan.pdf").json())
    assert (upload["state"], upload["error"]) == ("failed", "no_text")
    assert "scanned" in reader.get(f"/uploads/{upload['id']}/").text
    assert refusal(reader.api("GET", f"uploads/{upload['id']}/text/")) == (409, "upload_failed")
    assert reader.get(f"/api/v1/uploads/{upload['id']}/file/").content == pdfs.scanned()


@pytest.mark.processes
def test_picture_is_re_encoded_and_original_is_kept(reader: Reader):
    original = pictures.photograph_with_metadata()
    upload = wait_until_read(reader, send(reader, original, "tower.jpg").json())
    assert (upload["kind"], upload["state"], upload["pages"]) == ("image", "ready", None)
    shown = reader.get(f"/uploads/{upload['id']}/image/")
    assert (shown.headers["content-type"], pictures.opened(shown.content).size) == ("image/jpeg", (523, 1568))
    assert pictures.SECRET not in shown.content
    assert reader.api("GET", f"uploads/{upload['id']}/image/").content == shown.content
    assert reader.get(f"/uploads/{upload['id']}/file/").content == original
    assert refusal(reader.api("GET", f"uploads/{upload['id']}/text/")) == (404, "not_found")


def test_unsupported_file_is_refused_by_its_kind(reader: Reader):
    response = send(reader, kinds.zip_of("a.txt"), "all.zip")
    assert refusal(response) == (415, "unsupported_media_type")
    assert response.json()["detail"] == "This is an archive (ZIP). Upload the files in it."
    assert send(reader, b"\x01\x02\x03", "a.bin").json()["detail"].startswith("Unsupported file type. Supported: PDF")


@pytest.mark.processes
def test_mail_is_read_by_a_worker_without_base64(reader: Reader):
    upload = wait_until_read(reader, send(reader, kinds.mail().as_bytes(), "hello.eml").json())
    assert (upload["state"], upload["media_type"]) == ("ready", "message/rfc822")
    assert [note["message"] for note in upload["notes"]] == [
        "The file inside it is left out: Größe.pdf",
        "1 picture in the file is left out.",
    ]
    assert kinds.MAIL_TEXT in reader.get(f"/api/v1/uploads/{upload['id']}/text/").text


@pytest.mark.processes
def test_file_once_refused_for_macros_is_read_again(reader: Reader):
    content = offices.macros()
    upload = wait_until_read(reader, send(reader, content, "a.docm").json())
    Upload.objects.update(state="failed", error="macros")
    Extraction.objects.all().delete()
    again = wait_until_read(reader, send(reader, content, "a.docm").json())
    assert (again["id"], again["state"], len(again["notes"])) == (upload["id"], "ready", 1)


@pytest.mark.processes
def test_left_out_parts_are_named_at_the_file(reader: Reader):
    upload = wait_until_read(reader, send(reader, pictures.animation(), "blink.gif").json())
    message = "Models receive the first picture only; 2 more are left out."
    assert upload["notes"] == [{"kind": "frames_left_out", "count": 2, "detail": "", "message": message}]
    for page in (f"/uploads/{upload['id']}/", f"/uploads/{upload['id']}/chip/", "/uploads/"):
        assert f'<li dir="auto">{message}</li>' in reader.get(page).text


@pytest.mark.processes
def test_content_decides_the_type_of_a_file(reader: Reader):
    assert wait_until_read(reader, send(reader, pictures.picture(), "letter.pdf").json())["media_type"] == "image/png"
    assert send(reader, b"%!PS\nhello", "drawing.png").json()["media_type"] == "text/plain"
    assert refusal(send(reader, b"MZ\x90\x00\x03\x00\x00", "notes.txt")) == (415, "unsupported_media_type")
    assert refusal(send(reader, b"", "nothing.txt")) == (400, "invalid")
    assert refusal(reader.post("/api/v1/uploads/", data={"file": "not a file"})) in [
        (400, "invalid"),
        (415, "unsupported_media_type"),
    ]
    assert Upload.objects.count() == 2 == len(stored_files())


def test_same_bytes_are_stored_once_per_owner(reader: Reader, member: Reader):
    first = send(reader).json()
    assert send(reader, name="another-name.txt").json() == first
    assert send(member).json()["id"] != first["id"]
    assert len(stored_files()) == Upload.objects.count() == 2


def test_concurrent_equal_uploads_are_stored_once(member: Reader, site: str):
    ids: set[str] = set()

    def upload() -> None:
        ids.add(send(Reader(site, member.token)).json()["id"])

    threads = [threading.Thread(target=upload) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 1
    assert len(stored_files()) == Upload.objects.count() == 1


def test_files_of_others_are_not_found(reader: Reader, member: Reader):
    theirs = send(member).json()["id"]
    send(reader, b"mine")
    for method, path in [
        ("GET", ""), ("DELETE", ""), ("GET", "text/"), ("GET", "file/"), ("GET", "image/"),
    ]:  # fmt: skip
        assert refusal(reader.api(method, f"uploads/{theirs}/{path}")) == (404, "not_found")
    for path in ("", "chip/", "text/", "file/", "image/", "delete/"):
        assert reader.get(f"/uploads/{theirs}/{path}").status_code == 404
    assert reader.post(f"/uploads/{theirs}/delete/").status_code == 404
    assert theirs not in reader.get("/uploads/").text
    assert Upload.objects.get(public_id=theirs).deleted_at is None


def test_deleted_file_leaves_a_record(reader: Reader):
    upload = send(reader).json()
    assert reader.api("DELETE", f"uploads/{upload['id']}/").status_code == 204
    assert stored_files() == []
    row = Upload.objects.get()
    assert (row.name, row.sha256, row.stored_as) == ("notes.txt", upload["sha256"], "")
    assert refusal(reader.api("GET", f"uploads/{upload['id']}/")) == (404, "not_found")
    assert "This file was deleted" in reader.get(f"/uploads/{upload['id']}/").text
    again = send(reader).json()
    assert again["id"] != upload["id"]
    assert len(stored_files()) == 1


def test_idempotency_key_uploads_once(member: Reader):
    headers = {"Idempotency-Key": "u-1"}
    first = send(member, headers=headers)
    again = send(member, headers=headers)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert refusal(send(member, b"something else", headers=headers)) == (422, "idempotency_key_reused")
    assert Upload.objects.count() == 1


def test_read_only_token_cannot_upload(reader: Reader, site: str):
    token = make.token(scopes=[Scope.READ])
    assert refusal(send(Reader(site, token))) == (403, "permission_denied")


def test_visitor_uploads_are_limited(reader: Reader, settings):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("upload", "visitor"): "2/hour"}
    assert [send(reader, content).status_code for content in (b"one", b"two", b"three")] == [201, 201, 429]
    assert Upload.objects.count() == 2


def test_concurrent_uploads_stay_within_quota(member: Reader, site: str, settings):
    settings.ARENA_UPLOAD_QUOTAS = {"visitor": 0, "member": 2500}
    codes: list[str] = []

    def upload(number: int) -> None:
        response = send(Reader(site, member.token), b"%d" % number * 1000)
        codes.append("kept" if response.status_code == 201 else response.json()["code"])

    threads = [threading.Thread(target=upload, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == ["kept"] * 2 + ["quota_reached"] * 4
    assert len(stored_files()) == 2


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\notes.txt", "notes.txt"),
        ("a\r\nSet-Cookie: x=1.txt", "a Set-Cookie: x=1.txt"),
        ("x" * 300 + ".md", "x" * 117 + ".md"),
        ("\u202egpj.exe", "gpj.exe"),
        ("...", "file"),
        ("a\x00b.txt", "a b.txt"),
        ("<b>“ö”</b>.txt", "b>.txt"),
    ],
)
def test_file_name_is_sanitized(sent: str, kept: str):
    assert sanitize_name(sent) == kept


def test_hostile_name_reaches_no_header_or_directory(reader: Reader):
    upload = send(reader, name='a";x=y\u202e<script>.txt').json()
    page = reader.get(f"/uploads/{upload['id']}/").text
    assert "<script>.txt" not in page
    head = reader.get(f"/uploads/{upload['id']}/file/").headers["content-disposition"]
    assert "\n" not in head
    assert head.startswith("attachment")
    assert all(set(name) <= set("0123456789abcdef/") for name in stored_files())


def test_full_disk_returns_503_and_leaves_nothing(reader: Reader, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(FileSystemStorage, "_save", _write_partially)
        response = send(reader)
    assert refusal(response) == (503, "storage_full")
    assert "retry-after" in response.headers
    assert (Upload.objects.count(), stored_files()) == (0, [])
    assert send(reader).status_code == 201


def _write_partially(storage: FileSystemStorage, name: str, content: File) -> str:
    """Write a few bytes and fail, like a full disk."""
    path = Path(storage.path(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.read(7))
    raise OSError(errno.ENOSPC, "No space left on device")


def test_library_has_fixed_query_count(client, settings):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("upload", "visitor"): "off"}

    def query_count(files: int) -> int:
        for number in range(files):
            client.post("/uploads/", {"file": SimpleUploadedFile("a.txt", b"text %d" % number)})
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/uploads/").content.count(b">a.txt</a>") == files
        return len(queries)

    assert query_count(2) == query_count(20) <= 12

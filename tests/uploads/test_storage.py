import os
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, connection
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.claims import visitor_claimed
from accounts.models import Visitor
from battles import actions as battle_actions
from battles.models import Attachment
from battles.prompting.lineup import BattleRequest
from tests import make
from tests.uploads import pdfs
from tests.uploads.conftest import stored_files
from tests.uploads.s3 import FakeS3
from uploads import actions, extraction
from uploads.errors import StorageAway
from uploads.files import cleanup, storage
from uploads.files.deletion import delete_upload
from uploads.message_parts import sent_text
from uploads.models import Upload
from uploads.reading.findings import Text
from uploads.reading.guard import OnProgress
from uploads.sweep import sweep

pytestmark = pytest.mark.django_db(transaction=True)


def upload_file(actor: Actor, content: bytes = b"some text", name: str = "notes.txt") -> Upload:
    return actions.keep_upload(actor=actor, content=content, name=name)


@pytest.fixture
def _constraint_against_uploads() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE uploads_upload ADD CONSTRAINT no_file_is_kept CHECK (size < 0)")
        yield
        cursor.execute("ALTER TABLE uploads_upload DROP CONSTRAINT no_file_is_kept")


@pytest.mark.usefixtures("_constraint_against_uploads")
def test_upload_refused_by_other_constraint_raises_it():
    with pytest.raises(IntegrityError, match="no_file_is_kept"):
        upload_file(make.member())
    assert list(stored_files()) == []


@pytest.mark.processes
def test_expired_lease_requeues_upload(monkeypatch):
    upload = upload_file(make.member(), pdfs.with_text("hello"), "letter.pdf")
    assert Upload.objects.claim(upload.pk) is not None  # this worker then dies
    woken: list[int] = []
    monkeypatch.setattr("uploads.sweep.wake", woken.append)
    sweep()
    assert woken == []
    Upload.objects.update(
        lease_until=timezone.now() - timedelta(seconds=1), queued_at=timezone.now() - timedelta(hours=1)
    )
    sweep()
    sweep()
    assert woken == [upload.pk]
    extraction.read_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.pages) == ("ready", 1)


@pytest.mark.processes
def test_upload_fails_after_last_attempt_and_can_be_repeated():
    actor = make.member()
    upload = upload_file(actor, pdfs.with_text("hello"), "letter.pdf")
    Upload.objects.update(attempt=2, lease_until=timezone.now() - timedelta(seconds=1))
    sweep()
    upload.refresh_from_db()
    assert (upload.state, upload.error) == ("failed", "interrupted")
    assert upload_file(actor, pdfs.with_text("hello"), "letter.pdf").state == "extracting"
    extraction.read_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "ready"


@pytest.mark.processes
def test_reader_without_lease_stores_nothing(monkeypatch):
    upload = upload_file(make.member(), pdfs.with_text("hello"), "letter.pdf")
    read = extraction.read

    def lose_lease(content: bytes, kind: str, media_type: str, on_progress: OnProgress):
        Upload.objects.update(attempt=2)
        on_progress(1, 2)
        return read(content, kind, media_type)

    monkeypatch.setattr(extraction, "read", lose_lease)
    extraction.read_upload(upload.pk)
    extraction.read_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.pages) == ("extracting", None)


def test_progress_is_shown_and_renews_lease(monkeypatch):
    upload = upload_file(make.visitor(), pdfs.with_text("hello"), "letter.pdf")

    def read_slowly(content: bytes, kind: str, media_type: str, on_progress: OnProgress) -> Text:
        Upload.objects.update(lease_until=timezone.now())
        on_progress(120, 500)
        upload.refresh_from_db()
        assert (upload.pages_read, upload.pages) == (120, 500)
        assert not Upload.objects.waiting().exists()
        assert "page 120 of 500" in render_to_string("uploads/chip.html", {"upload": upload})
        return Text(["hello"], "reader")

    monkeypatch.setattr(extraction, "read", read_slowly)
    extraction.read_upload(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.pages_read, upload.pages) == ("ready", None, 1)


def test_cleanup_deletes_only_expired_uploads():
    visitor, member = make.visitor(), make.member()
    for number in range(2):
        make.model(f"honest-{number}")
    unused, used = upload_file(visitor, b"unused"), upload_file(visitor, b"used")
    theirs, new = upload_file(member, b"a member's"), upload_file(visitor, b"new")
    battle_actions.start_session(
        actor=visitor, prompt="What?", battle_request=BattleRequest(attachments=(used.public_id,))
    )
    two_days_ago = timezone.now() - timedelta(days=2)
    Upload.objects.exclude(pk=new.pk).update(created_at=two_days_ago)
    cleanup.delete_expired()
    uploads = set(Upload.objects.kept().values_list("pk", flat=True))
    assert uploads == {used.pk, theirs.pk, new.pk}
    assert len(stored_files()) == 3
    assert Upload.objects.get(pk=unused.pk).stored_as == ""


def test_stored_files_are_private_to_the_user_account(settings):
    name = upload_file(make.member()).stored_as
    paths = [settings.MEDIA_ROOT, (settings.MEDIA_ROOT / name).parent, settings.MEDIA_ROOT / name]
    assert [oct(path.stat().st_mode & 0o777) for path in paths] == ["0o700", "0o700", "0o600"]


def test_cleanup_removes_orphans_and_retries_deletions(monkeypatch):
    """A deletion succeeds also while the storage is unreachable."""
    upload = upload_file(make.member())
    stray = default_storage.save("ab/stray", ContentFile(b"x"))
    with monkeypatch.context() as patch:
        patch.setattr(storage, "delete", lambda name: (_ for _ in ()).throw(OSError("away")))
        delete_upload(upload)
    assert Upload.objects.get().deleted_at is not None
    assert len(stored_files()) == 2
    cleanup.delete_expired()
    assert stored_files() == [stray]
    monkeypatch.setattr(cleanup, "MAX_UNUSED_AGE", timedelta(seconds=-5))
    cleanup.delete_expired()
    assert stored_files() == []


def stray_files(count: int, age: timedelta) -> list[str]:
    names = [default_storage.save(f"{number:02x}/stray", ContentFile(b"x")) for number in range(count)]
    for name in names:
        stored_at = (timezone.now() - age).timestamp()
        os.utime(default_storage.path(name), (stored_at, stored_at))
    return names


@pytest.mark.parametrize(
    ("uploads", "strays", "age"),
    [
        (0, 2, timedelta(days=2)),  # a new database beside the files of another one
        (5, 2, timedelta(days=9)),  # some days later
        (5, 8, timedelta(days=2)),  # an old state of the database
    ],
)
def test_cleanup_keeps_files_of_another_database(uploads: int, strays: int, age: timedelta, caplog):
    names, member = stray_files(strays, age), make.member()
    known = [upload_file(member, f"{number}".encode()).stored_as for number in range(uploads)]
    Upload.objects.update(created_at=timezone.now() - timedelta(days=5))
    cleanup.delete_expired()
    assert set(stored_files()) == {*names, *known}
    assert f"{strays} stored files are unknown to this database and were kept" in caplog.text


def test_cleanup_continues_after_a_failed_deletion(monkeypatch, caplog):
    visitor = make.visitor()
    first, second = upload_file(visitor, b"first"), upload_file(visitor, b"second")
    delete = storage.delete

    def fail_for_first(name: str) -> None:
        if name == first.stored_as:
            raise OSError("this one is locked")
        delete(name)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "delete", lambda name: (_ for _ in ()).throw(OSError("away")))
        for upload in (first, second):
            delete_upload(upload)
    monkeypatch.setattr(storage, "delete", fail_for_first)
    stray = default_storage.save("ff/stray", ContentFile(b"x"))
    monkeypatch.setattr(cleanup, "MAX_UNUSED_AGE", timedelta(seconds=-5))
    cleanup.delete_expired()
    assert stored_files() == [first.stored_as]
    assert not default_storage.exists(stray)
    assert "this one is locked" in caplog.text


def test_unreachable_storage_returns_503(monkeypatch, client: Client):
    member = make.member()
    upload = upload_file(member)
    assert member.user is not None
    client.force_login(member.user)
    monkeypatch.setattr(default_storage, "open", lambda name: (_ for _ in ()).throw(OSError("away")))
    response = client.get(f"/api/v1/uploads/{upload.public_id}/file/")
    assert (response.status_code, response.json()["code"]) == (503, "service_unavailable")
    assert client.get(f"/uploads/{upload.public_id}/file/").status_code == 503


def test_visitors_uploads_move_to_member_at_sign_in():
    visitor, member = make.visitor(), make.member()
    for number in range(2):
        make.model(f"honest-{number}")
    mine, twin = upload_file(member, b"both have it"), upload_file(visitor, b"both have it")
    other = upload_file(visitor, b"only the visitor has it")
    battle_actions.start_session(
        actor=visitor, prompt="What?", battle_request=BattleRequest(attachments=(twin.public_id, other.public_id))
    )
    visitor_claimed.send(sender=Visitor, visitor=visitor.visitor, user=member.user)
    uploads = Upload.objects.owned_by(member).kept()
    assert set(uploads) == {mine, other}
    assert list(Attachment.objects.order_by("position").values_list("upload_id", flat=True)) == [mine.pk, other.pk]
    assert len(stored_files()) == 2


@pytest.mark.processes
def test_files_can_be_stored_in_s3(settings, monkeypatch):
    with FakeS3("arena-files") as bucket:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", bucket.url)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "nowhere-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        options = {"bucket_name": "arena-files", "default_acl": None}
        settings.STORAGES = {
            **settings.STORAGES,
            "default": {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options},
        }
        actor = make.member()
        upload = upload_file(actor, pdfs.with_text("in a bucket"), "letter.pdf")
        assert bucket.objects == {upload.stored_as: pdfs.with_text("in a bucket")}
        extraction.read_upload(upload.pk)
        upload.refresh_from_db()
        assert "in a bucket" in sent_text(upload)
        assert [name for name, _ in storage.files_older_than(timedelta(seconds=-5))] == [upload.stored_as]
        owner, page = make.browser(actor), f"/uploads/{upload.public_id}/"
        original = owner.get(f"{page}file/")
        assert (original.content, original["Content-Disposition"][:10]) == (pdfs.with_text("in a bucket"), "attachment")
        assert "in a bucket" in owner.get(page).text
        delete_upload(upload)
        assert bucket.objects == {}
        bucket.is_full = True
        with pytest.raises(StorageAway):
            upload_file(actor, b"no room")
        assert Upload.objects.kept().count() == 0

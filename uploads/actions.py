import codecs
import hashlib
from contextlib import suppress

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.models import Team, User, Visitor
from common.db.execution import violates
from uploads import extraction
from uploads.errors import (
    TEAM_FULL,
    EncodingFixed,
    EncodingUnfit,
    FileGone,
    FileTooLarge,
    NoFile,
    QuotaReached,
    UnknownFileType,
    unsupported_message,
)
from uploads.files import storage
from uploads.files.names import sanitize_name
from uploads.limits import MAX_FILE_MB
from uploads.models import Extraction, Upload, UploadQuerySet
from uploads.reading.findings import Unreadable
from uploads.reading.kinds import READ_BY_WORKER, name_unsupported
from uploads.reading.sniffing import FileType, detect_type
from uploads.reading.texts import read_text
from uploads.tasks import wake_after_commit

_BLANK = b" \t\r\n\0" + codecs.BOM_UTF8 + codecs.BOM_UTF16
MAX_BYTES = MAX_FILE_MB * 1_000_000


def keep_upload(*, actor: Actor, content: bytes, name: str) -> Upload:
    """Text is read at once. Equal bytes return the same upload.

    Raises NoFile, FileTooLarge, UnknownFileType, QuotaReached, StorageFull, StorageAway, TooManyRequests, and
    ServiceAway for visitors while limits cannot be counted.
    """
    if not content.strip(_BLANK):
        raise NoFile(_("The file is empty."))
    if len(content) > MAX_BYTES:
        raise FileTooLarge
    actor.count("upload", fail_open=actor.user is not None)
    return store_upload(actor, content, name)


def store_upload(actor: Actor, content: bytes, name: str) -> Upload:
    """Keep one of the files of a counted request as keep_upload does. content: MAX_BYTES at most."""
    file_type = detect_type(content, name)
    if file_type is None:
        raise UnknownFileType(unsupported_message(name_unsupported(content, name)))
    sha256 = hashlib.sha256(content).hexdigest()
    upload = Upload.objects.owned_by(actor).kept().filter(sha256=sha256).first()
    if upload is None:
        upload = _create_upload(actor, content, sanitize_name(name), file_type, sha256)
    elif upload.may_be_read_now:
        _queue_again(upload)
    return upload


def _create_upload(actor: Actor, content: bytes, name: str, file_type: FileType, sha256: str) -> Upload:
    stored_as = storage.save(content)
    upload = Upload(
        owner_user=actor.user, owner_visitor=actor.visitor, name=name, size=len(content), sha256=sha256,
        media_type=file_type.media_type, kind=file_type.kind, stored_as=stored_as,
    )  # fmt: skip
    try:
        _store_row(actor, upload, content)
    except BaseException as error:
        with suppress(Exception):
            storage.delete(stored_as)
        is_duplicate = isinstance(error, IntegrityError) and violates(
            error, "a_member_keeps_a_file_once", "a_visitor_keeps_a_file_once"
        )
        if not is_duplicate:
            raise
        return Upload.objects.owned_by(actor).kept().get(sha256=sha256)  # a concurrent request stored the same file
    return upload


@transaction.atomic
def copy_upload(upload: Upload, *, user: User, team: Team | None) -> Upload:
    """Return the same file as the member's own, or as a team's, given by the member.

    Raises FileGone, QuotaReached, StorageFull, StorageAway and ServiceAway.
    """
    actor = Actor(user=user)
    if team is not None:
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    else:
        _lock_owner(actor)
    owned = Upload.objects.filter(team=team) if team is not None else Upload.objects.owned_by(actor)
    copy = owned.kept().filter(sha256=upload.sha256).first()
    if copy is not None:
        return copy
    if owned.kept().bytes_kept() + upload.size > settings.ARENA_UPLOAD_QUOTAS["member"]:
        raise QuotaReached(TEAM_FULL if team is not None else "")
    try:
        content = storage.read(upload.stored_as) if upload.is_kept else None
    except FileNotFoundError:
        content = None
    if content is None:
        raise FileGone(FileGone.message % {"file": upload.name})
    return _insert_copy(upload, user, team, storage.save(content))


def _insert_copy(upload: Upload, user: User, team: Team | None, stored_as: str) -> Upload:
    names = (
        "name", "size", "sha256", "media_type", "kind", "state", "error", "pages", "characters", "encoding", "notes",
    )  # fmt: skip
    facts = {name: getattr(upload, name) for name in names}
    copy = Upload.objects.create(owner_user=user, team=team, stored_as=stored_as, **facts)
    if copy.state == Upload.State.EXTRACTING:
        wake_after_commit(copy.pk)
    for extraction_row in Extraction.objects.filter(upload=upload):
        extraction_row.pk, extraction_row.upload = None, copy
        extraction_row.save(force_insert=True)
    return copy


@transaction.atomic
def _store_row(actor: Actor, upload: Upload, content: bytes) -> None:
    _lock_owner(actor)  # concurrent uploads must not share the same free space
    if Upload.objects.owned_by(actor).kept().bytes_kept() + upload.size > settings.ARENA_UPLOAD_QUOTAS[actor.kind]:
        raise QuotaReached
    upload.save(force_insert=True)
    if upload.is_image or upload.media_type in READ_BY_WORKER:
        wake_after_commit(upload.pk)
    else:
        _read_text(upload, content)


def _lock_owner(actor: Actor) -> None:
    """Lock the owner's row until COMMIT; foreign keys to it can still be inserted."""
    if actor.user is not None:
        User.objects.select_for_update(no_key=True).get(pk=actor.user.pk)
    elif actor.visitor is not None:
        Visitor.objects.select_for_update(no_key=True).get(pk=actor.visitor.pk)


def _read_text(upload: Upload, content: bytes) -> None:
    try:
        text = read_text(content)
    except Unreadable as error:
        upload.state, upload.error = Upload.State.FAILED, error.reason
        upload.save(update_fields=["state", "error"])
        return
    extraction.store(upload, text)
    upload.refresh_from_db()


@transaction.atomic
def read_in_encoding(*, upload: Upload, encoding: str) -> Upload:
    """Read a text again in one of `common.text.encodings.CODECS`. Raises EncodingFixed, EncodingUnfit."""
    upload = Upload.objects.select_for_update(of=("self",)).select_related("extraction").get(pk=upload.pk)
    if upload.used_at is not None or not upload.has_encoding_choice:
        raise EncodingFixed
    try:
        text = read_text(storage.read(upload.stored_as), encoding)
    except (Unreadable, FileNotFoundError) as error:
        raise EncodingUnfit from error
    extraction.store_again(upload, text)
    return upload


@transaction.atomic
def _queue_again(upload: Upload) -> None:
    failed = Upload.objects.filter(pk=upload.pk, state=Upload.State.FAILED)
    if failed.update(state=Upload.State.EXTRACTING, error="", attempt=0, lease_until=None, queued_at=Now()):
        wake_after_commit(upload.pk)
    upload.refresh_from_db()


def mark_used(uploads: UploadQuerySet) -> None:
    uploads.update(used_at=Coalesce("used_at", Now()))

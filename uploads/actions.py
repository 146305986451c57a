"""Keep the files that people bring, and note that a prompt uses them."""

import hashlib
from contextlib import suppress

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.models import User, Visitor
from common.db.execution import violates
from common.valkey import limits
from uploads import extraction, storage
from uploads.errors import FileTooLarge, NoFile, QuotaReached, UnknownFileType
from uploads.file_names import harmless_name
from uploads.limits import MAX_FILE_MB
from uploads.models import Upload, UploadQuerySet
from uploads.reading.findings import MOST_CHARACTERS, Reason, Text
from uploads.reading.sniffing import PDF, FileType, decoded, type_of
from uploads.tasks import wake_after_commit

MOST_BYTES = MAX_FILE_MB * 1_000_000


def keep_upload(*, actor: Actor, content: bytes, name: str) -> Upload:
    """Keep a file as it came, and have it read; text is read at once. The same bytes again are the same upload.

    Raises NoFile, FileTooLarge, UnknownFileType, QuotaReached, StorageFull, StorageAway, TooManyRequests, and
    ServiceAway for visitors while limits cannot be counted.
    """
    if not content:
        raise NoFile(_("The file is empty."))
    if len(content) > MOST_BYTES:
        raise FileTooLarge
    limits.count("upload", actor.limit_keys, fail_open=actor.user is not None)
    found = type_of(content, name)
    if found is None:
        raise UnknownFileType
    sha256 = hashlib.sha256(content).hexdigest()
    known = Upload.objects.owned_by(actor).kept().filter(sha256=sha256).first()
    if known is None:
        known = _keep_new(actor, content, harmless_name(name), found, sha256)
    elif known.was_interrupted:
        _read_again(known)
    return known


def _keep_new(actor: Actor, content: bytes, name: str, found: FileType, sha256: str) -> Upload:
    stored_as = storage.keep(content)
    upload = Upload(
        owner_user=actor.user, owner_visitor=actor.visitor, name=name, size=len(content), sha256=sha256,
        media_type=found.media_type, kind=found.kind, stored_as=stored_as,
    )  # fmt: skip
    try:
        _store_row(actor, upload, content)
    except BaseException as error:
        with suppress(Exception):
            storage.forget(stored_as)
        kept_already = isinstance(error, IntegrityError) and violates(
            error, "a_member_keeps_a_file_once", "a_visitor_keeps_a_file_once"
        )
        if not kept_already:
            raise
        return Upload.objects.owned_by(actor).kept().get(sha256=sha256)  # the same file came twice at once
    return upload


@transaction.atomic
def _store_row(actor: Actor, upload: Upload, content: bytes) -> None:
    _lock_owner(actor)  # two at once must not both fit into what is left
    if Upload.objects.owned_by(actor).kept().bytes_kept() + upload.size > settings.ARENA_UPLOAD_QUOTAS[actor.kind]:
        raise QuotaReached
    upload.save(force_insert=True)
    if upload.is_image or upload.media_type == PDF:
        wake_after_commit(upload.pk)
    else:
        _read_text(upload, content)


def _lock_owner(actor: Actor) -> None:
    """For the rest of the transaction; others may still refer to the row."""
    if actor.user is not None:
        User.objects.select_for_update(no_key=True).get(pk=actor.user.pk)
    elif actor.visitor is not None:
        Visitor.objects.select_for_update(no_key=True).get(pk=actor.visitor.pk)


def _read_text(upload: Upload, content: bytes) -> None:
    text = (decoded(content) or "").strip("\n")
    if len(text) > MOST_CHARACTERS:
        upload.state, upload.error = Upload.State.FAILED, Reason.TOO_LONG
    elif not text.strip():
        upload.state, upload.error = Upload.State.FAILED, Reason.NO_TEXT
    else:
        extraction.store(upload, Text([text], "text"))
        upload.refresh_from_db()
        return
    upload.save(update_fields=["state", "error"])


@transaction.atomic
def _read_again(upload: Upload) -> None:
    failed = Upload.objects.filter(pk=upload.pk, state=Upload.State.FAILED)
    if failed.update(state=Upload.State.EXTRACTING, error="", attempt=0, lease_until=None, queued_at=Now()):
        wake_after_commit(upload.pk)
    upload.refresh_from_db()


def note_use(uploads: UploadQuerySet) -> None:
    """A prompt uses them."""
    uploads.update(used_at=Coalesce("used_at", Now()))

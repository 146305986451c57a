from datetime import timedelta

import msgspec
import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from accounts.models import Team, User, Visitor
from common.ids import new_public_id
from uploads.notes import note_message
from uploads.reading.findings import Note, Reason

# A worker that reads renews it every second, so one whose lease expires has died.
LEASE = timedelta(seconds=60)
MAX_ATTEMPTS = 2
REASON_MESSAGES = {
    Reason.ENCRYPTED: _("The file is protected by a password. Upload a copy without one."),
    Reason.NO_TEXT: _(
        "The file has no text; its pages seem to be scanned. Upload the pages as images, or a version with text."
    ),
    Reason.TOO_MANY_PAGES: _("The file has more than 1,000 pages. Upload a part of it."),
    Reason.TOO_LONG: _("The file has more than a million characters. Upload a part of it."),
    Reason.TOO_DEMANDING: _("The file is too large to process."),
    Reason.TOO_MANY_PIXELS: _("The image has more than 24 megapixels. Upload a smaller one."),
    Reason.MACROS: _("The file has macros. Upload a copy without them, saved as DOCX, XLSX or PPTX."),
    Reason.EXTERNAL_LINKS: _("The file loads content from other files. Upload a copy without these links."),
    Reason.DAMAGED: _("It is damaged."),
    Reason.INTERRUPTED: _("Processing was interrupted. Please upload the file again."),
}


class UploadQuerySet(models.QuerySet["Upload"]):
    def owned_by(self, actor: Actor) -> "UploadQuerySet":
        if actor.user is not None:
            return self.filter(owner_user=actor.user, team=None)
        return self.filter(owner_visitor=actor.visitor) if actor.visitor is not None else self.none()

    def kept(self) -> "UploadQuerySet":
        """Filter uploads that are not deleted."""
        return self.filter(deleted_at=None)

    def bytes_kept(self) -> int:
        return self.aggregate(sum=models.Sum("size"))["sum"] or 0

    def waiting(self) -> "UploadQuerySet":
        """Filter unread uploads without a valid lease."""
        unheld = Q(lease_until=None) | Q(lease_until__lt=Now())
        return self.filter(unheld, state=Upload.State.EXTRACTING, deleted_at=None)

    def claim(self, pk: int) -> "Upload | None":
        """Lease a waiting upload and return it with its new attempt; None if not waiting."""
        claimable = self.waiting().filter(pk=pk, attempt__lt=MAX_ATTEMPTS)
        is_claimed = claimable.update(attempt=F("attempt") + 1, lease_until=Now() + LEASE, pages=None, pages_read=None)
        return self.get(pk=pk) if is_claimed else None

    def held(self, upload: "Upload") -> "UploadQuerySet":
        """Filter the upload while its fencing token, `attempt`, is current."""
        return self.filter(pk=upload.pk, attempt=upload.attempt, state=Upload.State.EXTRACTING)

    def record_progress(self, pages_read: int, pages: int) -> None:
        """Store how far the upload has been read, and renew its lease."""
        self.update(pages_read=pages_read or None, pages=pages or None, lease_until=Now() + LEASE)

    def fail(self, reason: Reason) -> int:
        """Mark the uploads as failed and return how many there were."""
        return self.update(state=Upload.State.FAILED, error=reason, lease_until=None, pages=None, pages_read=None)

    def queued_longer_than(self, age: timedelta) -> "UploadQuerySet":
        """Filter waiting uploads whose message may be lost."""
        return self.waiting().filter(queued_at__lt=Now() - age)

    def mark_woken(self, pk: int, age: timedelta) -> bool:
        """Restart the upload's time in the queue; False if another sweeper has just done so."""
        return self.queued_longer_than(age).filter(pk=pk).update(queued_at=Now()) == 1

    def out_of_attempts(self) -> "UploadQuerySet":
        return self.waiting().filter(attempt__gte=MAX_ATTEMPTS)

    def expired(self, max_unused_age: timedelta) -> "UploadQuerySet":
        """Filter visitors' uploads unused for so long, and uploads without an owner."""
        never_used = Q(owner_user=None, used_at=None, created_at__lt=Now() - max_unused_age)
        without_owner = Q(owner_user=None, owner_visitor=None)
        return self.filter(never_used | without_owner, deleted_at=None, team=None)


class Upload(models.Model):
    """A file, stored once per owner. When it is deleted, this record stays."""

    class Kind(models.TextChoices):
        DOCUMENT = "document", _("document")
        IMAGE = "image", _("image")

    class State(models.TextChoices):
        EXTRACTING = "extracting", _("being read")
        READY = "ready", _("ready")
        FAILED = "failed", _("cannot be used")

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner_user = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="uploads")
    owner_visitor = models.ForeignKey(Visitor, models.SET_NULL, null=True, blank=True, related_name="uploads")
    # The owner, if there is one: a team's template uses it; owner_user is then who gave it.
    team = models.ForeignKey(Team, models.PROTECT, null=True, blank=True, related_name="+", db_index=False)
    name = models.CharField(max_length=120)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=100)
    kind = models.CharField(max_length=8, choices=Kind)
    # The name in the storage; empty after the file was removed from it.
    stored_as = models.CharField(max_length=60, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.EXTRACTING)
    error = models.CharField(
        max_length=20, blank=True, choices=[(reason.value, message) for reason, message in REASON_MESSAGES.items()]
    )
    pages = models.PositiveIntegerField(null=True)
    # Counts while the file is being read.
    pages_read = models.PositiveIntegerField(null=True)
    characters = models.PositiveIntegerField(null=True)
    # A name in common.text.encodings.CODECS; empty if the file is no plain text.
    encoding = models.CharField(max_length=30, blank=True, db_default="")
    # Fields of each uploads.reading.findings.Note.
    notes = models.JSONField(default=list, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(db_default=Now())
    # When a prompt first used it.
    used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True)

    objects = UploadQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner_user", "sha256"],
                condition=Q(deleted_at=None, team=None),
                name="a_member_keeps_a_file_once",
            ),
            models.UniqueConstraint(
                fields=["team", "sha256"],
                condition=Q(deleted_at=None, team__isnull=False),
                name="a_team_keeps_a_file_once",
            ),
            models.CheckConstraint(
                condition=Q(team=None) | Q(owner_visitor=None), name="an_upload_of_a_team_is_no_visitors"
            ),
            models.UniqueConstraint(
                fields=["owner_visitor", "sha256"], condition=Q(deleted_at=None), name="a_visitor_keeps_a_file_once"
            ),
            models.CheckConstraint(
                condition=Q(owner_user=None) | Q(owner_visitor=None), name="an_upload_has_one_owner_at_most"
            ),
            models.CheckConstraint(condition=Q(state="failed") | Q(error=""), name="only_a_failed_upload_has_an_error"),
            models.CheckConstraint(
                condition=Q(deleted_at__isnull=False) | ~Q(stored_as=""), name="an_upload_that_is_kept_has_a_file"
            ),
        ]
        indexes = [
            # Used by the sweeper: UploadQuerySet.waiting.
            models.Index(fields=["queued_at"], name="uploads_being_read", condition=Q(state="extracting")),
            # Used by the library, and to add up the bytes of an owner.
            models.Index(fields=["owner_user", "-created_at"], name="uploads_of_a_user"),
            models.Index(fields=["owner_visitor", "-created_at"], name="uploads_of_a_visitor"),
        ]  # fmt: skip
        triggers = [pgtrigger.ReadOnly(name="an_upload_stays_with_its_owner", fields=["team"])]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("uploads:upload", args=[self.public_id])

    @property
    def is_kept(self) -> bool:
        """Return False for a deleted file, and for one of a deleted account, which the next cleanup deletes."""
        has_owner = (self.team_id, self.owner_user_id, self.owner_visitor_id) != (None, None, None)
        return self.deleted_at is None and has_owner

    @property
    def is_ready(self) -> bool:
        return self.state == self.State.READY

    @property
    def is_image(self) -> bool:
        return self.kind == self.Kind.IMAGE

    @property
    def may_be_read_now(self) -> bool:
        """Return whether the same bytes are worth another try: earlier versions refused macros and links."""
        return self.error in (Reason.INTERRUPTED, Reason.MACROS, Reason.EXTERNAL_LINKS)

    @property
    def has_encoding_choice(self) -> bool:
        """Return whether its encoding is no Unicode, which needs no choice."""
        return self.is_ready and bool(self.encoding) and not self.encoding.startswith("UTF-")

    @property
    def error_message(self) -> str:
        return str(REASON_MESSAGES[Reason(self.error)]) if self.error else ""

    @property
    def note_messages(self) -> list[str]:
        return [note_message(note) for note in msgspec.convert(self.notes, list[Note])]


class Extraction(models.Model):
    """Content of an upload as models receive it: a document's text by page, or a re-encoded image."""

    upload = models.OneToOneField(Upload, models.CASCADE, related_name="extraction")
    pages = ArrayField(models.TextField(), default=list)
    image = models.BinaryField(null=True)
    image_type = models.CharField(max_length=20, blank=True)
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    # The library that read the file, with its version.
    version = models.CharField(max_length=40)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(Q(image=None) & ~Q(pages=[])) | Q(image__isnull=False, pages=[]),
                name="an_extraction_is_text_or_an_image",
            )
        ]

    def __str__(self) -> str:
        return f"{self.upload_id} {self.version}"

"""Uploads as responses. Browsers save original files and never display them."""

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from accounts.actor import Actor
from common.errors import NotFound
from uploads.errors import CannotBeRead, NotReadYet
from uploads.files import storage
from uploads.message_parts import sent_text
from uploads.models import Upload
from uploads.signals import upload_shown

SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-store",
}


def find_readable(actor: Actor, public_id: str) -> Upload | None:
    """Return the actor's upload, or another's whose content something shows to the actor."""
    upload = Upload.objects.kept().select_related("extraction").filter(public_id=public_id).first()
    if upload is None or Upload.objects.owned_by(actor).filter(pk=upload.pk).exists():
        return upload
    answers = upload_shown.send(sender=Upload, upload=upload, actor=actor)
    return upload if any(is_shown for _, is_shown in answers) else None


def original(upload: Upload) -> HttpResponse:
    """Raises NotFound if the storage has lost the file, ServiceAway while the storage is unreachable."""
    try:
        content = storage.read(upload.stored_as)
    except FileNotFoundError as error:
        raise NotFound from error
    disposition = content_disposition_header(as_attachment=True, filename=upload.name) or "attachment"
    return HttpResponse(
        content, content_type=upload.media_type, headers={**SAFE_HEADERS, "Content-Disposition": disposition}
    )


def image(upload: Upload) -> HttpResponse:
    """Return the re-encoded image that models receive. Raises NotFound, NotReadYet and CannotBeRead."""
    require_ready(upload)
    if upload.extraction.image is None:
        raise NotFound
    return HttpResponse(upload.extraction.image, content_type=upload.extraction.image_type, headers=SAFE_HEADERS)


def text(upload: Upload) -> HttpResponse:
    """Return exactly the text that goes into prompts. Raises NotFound for an image, NotReadYet and CannotBeRead."""
    require_ready(upload)
    if upload.is_image:
        raise NotFound(_("An image has no text."))
    return HttpResponse(sent_text(upload), content_type="text/plain; charset=utf-8", headers=SAFE_HEADERS)


def require_ready(upload: Upload) -> None:
    """Raises NotReadYet and CannotBeRead."""
    if upload.state == Upload.State.EXTRACTING:
        raise NotReadYet(retry_after=1)
    if upload.state == Upload.State.FAILED:
        raise CannotBeRead(_("“%(file)s” cannot be used.") % {"file": upload.name} + f" {upload.error_message}")

"""Icons of models, encoded anew in the guarded child process."""

import hashlib

from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from models_registry.models import ModelIcon
from uploads.reading import guard
from uploads.reading.findings import Picture, Reason, Unreadable
from uploads.reading.sniffing import detect_type

MAX_BYTES = 500_000
_REFUSALS = {
    Reason.TOO_MANY_PIXELS: _("The picture has more than 4 megapixels. Upload a smaller one."),
    Reason.TOO_DEMANDING: _("The picture is too large to process."),
}
_DAMAGED = _("The picture is damaged.")


def read_icon(file: "UploadedFile[bytes]") -> bytes:
    """Return the picture as a small square PNG. Raises ValidationError with a code."""
    if (file.size or 0) > MAX_BYTES:
        raise ValidationError(_("The picture is larger than 500 kB."), code="icon_too_large")
    content = file.read()
    file_type = detect_type(content, "")
    if file_type is None or file_type.kind != "image":
        raise ValidationError(_("Upload a PNG, JPEG, WebP or GIF."), code="icon_unsupported")
    try:
        picture = guard.read(content, "icon")
    except Unreadable as error:
        raise ValidationError(_REFUSALS.get(error.reason, _DAMAGED), code=f"icon_{error.reason}") from error
    assert isinstance(picture, Picture)
    return picture.content


def store_icon(content: bytes) -> ModelIcon:
    digest = hashlib.sha256(content).hexdigest()[:32]
    return ModelIcon.objects.get_or_create(digest=digest, defaults={"content": content})[0]

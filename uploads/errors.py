from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from common.errors import ArenaError, InvalidInput, ServiceAway, TooLarge, UnsupportedMediaType
from uploads.limits import MAX_FILE_MB
from uploads.reading.kinds import Unsupported, UnsupportedKind

_UNSUPPORTED = {
    Unsupported.AUDIO: _("This is an audio file. Models receive text and images: upload a transcript."),
    Unsupported.VIDEO: _("This is a video. Models receive text and images: upload a transcript, or pictures of it."),
    Unsupported.ARCHIVE: _("This is an archive ({format}). Upload the files in it."),
    Unsupported.PROGRAM: _("This is a program. Upload its source code instead."),
    Unsupported.DATABASE: _("This is a database. Export its tables as CSV and upload them."),
    Unsupported.HEIC: _("This picture is in HEIC, the format of some phones. Export it as JPEG and upload that."),
    Unsupported.PICTURE: _("This picture is in a format that cannot be read here: {format}. Save it as JPEG or PNG."),
    Unsupported.OLD_DOCUMENT: _("This file was saved by {format}. Save it as {save_as} and upload that."),
    Unsupported.OTHER_DOCUMENT: _("This format cannot be read here: {format}. Export it as {save_as} and upload that."),
    Unsupported.PROTECTED_BOOK: _("This book is protected against copying. Upload a copy without protection."),
}


class NoFile(InvalidInput):
    message = _("Choose a file first.")

    def __init__(self, message: str = "") -> None:
        super().__init__(message, fields={"file": [message or str(self.message)]})


class FileTooLarge(TooLarge):
    message = format_lazy(_("The file is larger than {megabytes} MB."), megabytes=MAX_FILE_MB)


class UnknownFileType(UnsupportedMediaType):
    message = _(
        "Unsupported file type. Supported: PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, RTF, mails, notebooks, "
        "web pages, text, and images (PNG, JPEG, WebP, GIF, AVIF, TIFF, BMP)."
    )


class QuotaReached(ArenaError):
    code = "quota_reached"
    message = _("Your storage is full. Delete files that you no longer need, or upload a smaller one.")
    http_status = 409


TEAM_FULL = _("The team’s storage is full. Delete templates with files that it no longer needs.")


class FileGone(InvalidInput):
    message = _("“%(file)s” was deleted.")


class StorageFull(ServiceAway):
    code = "storage_full"
    message = _("File storage is full. Your file was not saved. Please try again later.")

    def __init__(self, message: str = "", *, retry_after: float = 300) -> None:
        super().__init__(message, retry_after=retry_after)


class StorageAway(ServiceAway):
    code = "storage_away"
    message = _("File storage is temporarily unavailable. Your file was not saved. Please try again.")


class NotReadYet(ArenaError):
    code = "upload_not_ready"
    message = _("A file is still being processed. Please wait a moment.")
    http_status = 409


class CannotBeRead(ArenaError):
    code = "upload_failed"
    message = _("A file cannot be used.")
    http_status = 409


class EncodingFixed(ArenaError):
    code = "encoding_fixed"
    message = _(
        "The encoding of this file cannot be chosen: it is no text, or a prompt has used it. To use another encoding, "
        "delete the file and upload it again."
    )
    http_status = 409


class EncodingUnfit(InvalidInput):
    message = _("In this encoding, the file is no text. Choose another one.")

    def __init__(self) -> None:
        super().__init__(fields={"encoding": [str(self.message)]})


class UploadInUse(ArenaError):
    code = "upload_in_use"
    message = _("Models are still using this file. Wait until they have answered, then delete it.")
    http_status = 409


def unsupported_message(unsupported: UnsupportedKind | None) -> str:
    """Return the sentence for a known kind of file, "" for others."""
    if unsupported is None:
        return ""
    return str(_UNSUPPORTED[unsupported.kind]).format(format=unsupported.format, save_as=unsupported.save_as)

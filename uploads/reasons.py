from django.utils.translation import gettext_lazy as _

from uploads.reading.findings import Reason

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


def reason_message(reason: str) -> str:
    return str(REASON_MESSAGES[Reason(reason)]) if reason else ""

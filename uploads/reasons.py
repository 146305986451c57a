"""Why a file cannot be used, for people."""

from django.utils.translation import gettext_lazy as _

from uploads.reading.findings import Reason

WORDS = {
    Reason.ENCRYPTED: _("It is protected with a password. Save it without one and upload that."),
    Reason.NO_TEXT: _(
        "It has no text: its pages seem to be scanned. Upload the pages as pictures, or with their text."
    ),
    Reason.TOO_MANY_PAGES: _("It has more than 1,000 pages. Upload the part you ask about."),
    Reason.TOO_LONG: _("It has more than a million characters. Upload the part you ask about."),
    Reason.TOO_DEMANDING: _("Reading it takes more time or memory than there is for one file."),
    Reason.TOO_MANY_PIXELS: _("It has more than 24 megapixels. Upload a smaller version."),
    Reason.DAMAGED: _("It is damaged."),
    Reason.INTERRUPTED: _("Reading it was interrupted. Please upload it again."),
}


def reason_words(reason: str) -> str:
    return str(WORDS[Reason(reason)]) if reason else ""
